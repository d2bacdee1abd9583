//! What runs of packets refuse or warn of, and where it is written.

use crate::packets::{ended, t2};

/// It is the transfer that is refused, not the whole run.
#[test]
fn a_priority_beyond_32_bits_is_refused_where_it_is_written() {
    let text = t2("", &[("a", "gpu0", "gpu1"), ("b", "gpu2", "gpu3")]);
    let text = text.replacen("to: gpu3,", "to: gpu3, priority: 3000000000,", 1);
    let ended = ended(&text, &["run", "s.yaml"]);
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("s.yaml:13:") && ended.stderr.contains("not 3000000000"), "{}", ended.stderr);
}

#[test]
fn what_packets_do_not_have_is_refused() {
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    for (old, new, words) in [
        ("rate: wire } }", "rate: wire }, shared: 20GB/s }", "packets know no `shared` of links"),
        (
            "plx0: { kind: switch,",
            "plx0: { memory: { bandwidth: 5GB/s }, kind: switch,",
            "no `memory` of nodes\n --> s.yaml:9:9\n",
        ),
        ("'gpu[0-1]': { kind: gpu,", "'gpu[0-1]': { split: 64B, kind: gpu,", "a gpu forwards no packets"),
        ("plx0: { kind: switch,", "plx0: { interleave: random, kind: switch,", "sends no transfers of its own"),
        ("'gpu[0-1]': { kind: gpu,", "'gpu[0-1]': { interleave: any, kind: gpu,", "write `round-robin` or `random`"),
    ] {
        let ended = ended(&text.replacen(old, new, 1), &["run", "s.yaml"]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

/// What crosses a buffer counts, not what could: a transfer of 70 B has one packet of 94 B.
#[test]
fn a_buffer_has_to_hold_the_packets_that_there_are() {
    let text = |size: &str| {
        let text = t2("header: 24B, buffer: 100B", &[("a", "gpu0", "gpu1")]);
        text.replacen("size: 10MB", &format!("size: {size}"), 1)
    };
    let fits = ended(&text("70B"), &["run", "s.yaml"]);
    assert_eq!(fits.code, 0, "{}", fits.stderr);
    let large = ended(&text("80B"), &["run", "s.yaml"]);
    assert!(large.stderr.contains("holds 100 B, packets have 104 B\n --> s.yaml:2:44\n"), "{}", large.stderr);
}

#[test]
fn keys_at_fault_are_pointed_at() {
    let text = t2("skip_ahead: false", &[("a", "gpu0", "gpu1")]).replacen("size: 10MB", "size: 20TB", 1);
    let hops = ended(&text, &["check", "s.yaml"]);
    assert!(hops.stderr.contains("10^11 packets times links\n --> s.yaml:2:35\n"), "{}", hops.stderr);
    let credits = ended(&t2("credits: { header: 64, data: 200B }", &[("a", "gpu0", "gpu1")]), &["check", "s.yaml"]);
    assert!(credits.stderr.contains("packets 256 B of payload\n --> s.yaml:2:52\n"), "{}", credits.stderr);
    // There is no link beside the tree.
    let weights = "port_arbiter: { lateral: { name: weighted-round-robin, weights: { gpu0: 2 } } }";
    let weights = ended(&t2(weights, &[("a", "gpu0", "gpu1")]), &["check", "s.yaml"]);
    assert!(weights.stderr.contains("has an input from `gpu0`\n --> s.yaml:2:"), "{}", weights.stderr);
}

/// A run has packets on all links or on none, however somebody asks for both.
#[test]
fn packets_on_some_links_alone_are_refused() {
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    for (new, column) in [
        ("fidelity: { pcie: packet, default: fluid }", 13),
        ("fidelity: { pcie: { packet: { } } }", 13),
        ("arbiter: { pcie: packet, default: max-min }", 18),
        ("arbiter: { pcie: { packet: { } }, default: max-min }", 20),
        ("arbiter: { pcie: { fidelity: packet }, default: max-min }", 20),
        ("arbiter: packet", 10),
    ] {
        let ended = ended(&text.replacen("fidelity: { packet: {  } }", new, 1), &["run", "s.yaml"]);
        let place = format!("--> s.yaml:2:{column}\n");
        assert!(ended.code == 2 && ended.stderr.contains(&place), "{new}: {}", ended.stderr);
        assert!(ended.stderr.contains("a run sends packets on all links or on none"), "{new}: {}", ended.stderr);
    }
}

#[test]
fn what_does_nothing_is_warned_of_where_it_is_written() {
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    let other = |line: &str| text.replacen("fidelity: { packet: {  } }", line, 1);
    let both = "fidelity: packet\narbiter: max-min";
    let none = "fidelity: fluid";
    for (line, arguments, words) in [
        (both, &["check", "s.yaml"][..], "go packet by packet\n --> s.yaml:3:1\n"),
        ("fidelity: [packet, packet]", &["check", "s.yaml"], "both runs are the same\n --> s.yaml:2:20\n"),
        ("arbiter: [max-min, max-min]", &["check", "s.yaml"], "both runs are the same\n --> s.yaml:2:20\n"),
        (none, &["run", "s.yaml", "--max-hops", "9"], "`--max-hops` has no effect without packets"),
        (none, &["compare", "s.yaml", "--max-hops", "9"], "`--max-hops` has no effect without packets"),
    ] {
        let ended = ended(&other(line), arguments);
        assert!(ended.code == 0 && ended.stderr.contains(words), "{line}: {}", ended.stderr);
    }
    let fine = ended(&other("fidelity: [fluid, packet]"), &["run", "s.yaml", "--max-hops", "1000000"]);
    assert_eq!((fine.code, &*fine.stderr), (0, ""));
}

#[test]
fn commands_that_need_rates_refuse_packets() {
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    let tuned = ended(&text, &["tune", "s.yaml", "--sizes", "1MB"]);
    assert!(tuned.code == 2 && tuned.stderr.contains("give `--fidelity fluid`"), "{}", tuned.stderr);
    let fitted = ended(&text, &["calibrate", "s.yaml", "--from", "s.yaml", "--fidelity", "packet"]);
    assert!(fitted.code == 2 && fitted.stderr.contains("fitted by rates, not by packets"), "{}", fitted.stderr);
}

/// Three packets of 280 B in 200 ns of latency and credit: 17.774 ns each, of which 13 fill the way there and back.
#[test]
fn a_small_buffer_is_warned_of_with_what_would_do() {
    let checked = ended(&t2("buffer: 1kB", &[("a", "gpu0", "gpu1")]), &["check", "s.yaml"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    for words in ["carries at most 24.5 % of its bandwidth", "3640 B would do"] {
        assert!(checked.stderr.contains(words), "{}", checked.stderr);
    }
}

/// The word `packet` takes keys from the command line, also as an item of a list.
#[test]
fn keys_of_packets_are_set_below_the_word() {
    let text = |fidelity: &str| {
        let text = t2("", &[("a", "gpu0", "gpu1")]);
        text.replacen("fidelity: { packet: {  } }", &format!("fidelity: {fidelity}"), 1)
    };
    for (fidelity, path) in [("packet", "fidelity.packet"), ("[fluid, packet]", "fidelity[1].packet")] {
        let set = format!("{path}.buffer=1kB");
        let ended = ended(&text(fidelity), &["run", "s.yaml", "--set", &set, "--set", &format!("{path}.window=3")]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.contains("packet (buffer 1kB, window 3)"), "{}", ended.stdout);
    }
    for (fidelity, set, words) in [
        ("packet", "fidelity.buffer=1kB", "set a whole key, `fidelity.packet.buffer=64KiB`"),
        ("packet", "fidelity.packet.port_arbiter.up=random", "help: write it as a map, `--fidelity"),
        ("fluid", "fidelity.packet.buffer=1kB", "there is the text `fluid`\n --> --set:1:9\n"),
        ("[fluid, packet]", "fidelity.packet.buffer=1kB", "in a list name the item, `fidelity[1].packet.buffer=64KiB`"),
    ] {
        let ended = ended(&text(fidelity), &["run", "s.yaml", "--set", set]);
        assert!(ended.code == 2 && ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn what_names_no_run_or_arbiter_is_refused_with_what_to_write() {
    let text = t2("port_arbiter: {}", &[("a", "gpu0", "gpu1")]);
    let empty = ended(&text, &["check", "s.yaml"]);
    assert!(empty.stderr.contains("`port_arbiter` names none\n --> s.yaml:2:37\n"), "{}", empty.stderr);
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    let list = ended(&text, &["run", "s.yaml", "--fidelity", "[packet, fluid]"]);
    assert!(list.stderr.contains("`--fidelity` takes no list\n --> --fidelity:1:1\n"), "{}", list.stderr);
    assert!(list.stderr.contains("as in `--fidelity fluid,packet`"), "{}", list.stderr);
    for (more, how) in [
        (&["--fidelity", "fluid,packet"][..], "such as --fidelity fluid or --fidelity packet\n"),
        (
            &["--fidelity", "fluid,packet", "--arbiter", "fcfs", "--arbiter", "max-min"],
            "such as --fidelity packet, or --fidelity fluid --arbiter fcfs\n",
        ),
        (&["--fidelity", "fluid", "--arbiter", "fcfs", "--arbiter", "max-min"], "such as --arbiter fcfs\n"),
    ] {
        let arguments = [&["run", "s.yaml", "--timeline", "t.json"], more].concat();
        let ended = ended(&text, &arguments);
        assert!(ended.code == 2 && ended.stderr.contains(how), "{}", ended.stderr);
    }
}
