//! Runs packet by packet: golden ends through the whole command, what it refuses, and what it says of waits.
//!
//! The ends are those of packets.md, section 6, and of prototypes; tables are worked out by hand where a test says so.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{self, Ended, json_lines, weir};

/// T2 of Martinasso et al., SC16: a root complex, two switches, four boards, eight GPUs.
pub(crate) fn t2(packet: &str, workload: &[(&str, &str, &str)]) -> String {
    let transfer = |(id, from, to): &(&str, &str, &str)| {
        format!("  - transfer: {{ id: {id}, from: {from}, to: {to}, size: 10MB }}\n")
    };
    let workload: String = workload.iter().map(transfer).collect();
    let board = |name: &str, gpus: &str| {
        format!("{name}: {{ kind: switch, link: pcie, children: {{ '{gpus}': {{ kind: gpu, link: pcie }} }} }}")
    };
    format!(
        "weir: 1
fidelity: {{ packet: {{ {packet} }} }}
topology:
  link_types: {{ pcie: {{ bandwidth: 15.753846153GB/s, latency: 100ns, packet: {{ rate: wire }} }} }}
  tree:
    rc:
      kind: root-complex
      children:
        plx0: {{ kind: switch, link: pcie, children: {{ {}, {} }} }}
        plx1: {{ kind: switch, link: pcie, children: {{ {}, {} }} }}
workload:
{workload}",
        board("a", "gpu[0-1]"),
        board("b", "gpu[2-3]"),
        board("c", "gpu[4-5]"),
        board("d", "gpu[6-7]"),
    )
}

pub(crate) fn ended(text: &str, arguments: &[&str]) -> Ended {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("s.yaml"), text).expect("written");
    let mut command = weir();
    common::ended(command.args(arguments).current_dir(folder.path()).output().expect("the command starts"))
}

pub(crate) fn result(text: &str) -> Value {
    let ended = ended(text, &["run", "s.yaml", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    json_lines(&ended.stdout).remove(0)
}

pub(crate) fn ends(result: &Value) -> Vec<u64> {
    let transfers = result["transfers"].as_array().expect("a list");
    transfers.iter().map(|transfer| transfer["end_ps"].as_u64().expect("it has ended")).collect()
}

#[test]
fn golden_ends_to_the_picosecond() {
    for (to, end) in [("gpu1", 694_499_161), ("gpu2", 694_702_209), ("gpu4", 694_905_257)] {
        let result = result(&t2("", &[("a", "gpu0", to)]));
        assert_eq!((result["fidelity"].as_str(), ends(&result)), (Some("packet"), vec![end]));
        assert_eq!(result["transfers"][0]["packets"], 39063);
        assert_eq!(result["transfers"][0]["alone_s"], result["transfers"][0]["end_s"]);
    }
}

/// 10 MB at 0.001 B/s take 300 years.
#[test]
fn what_ends_beyond_the_horizon_is_no_deadlock() {
    let text = t2("", &[("a", "gpu0", "gpu2")]).replace("to: gpu2", "limit: 0.001B/s, to: gpu2");
    let ended = ended(&text, &["run", "s.yaml"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("beyond the horizon of 100 days") && !ended.stderr.contains("deadlock"),
        "{}",
        ended.stderr
    );
}

#[test]
fn skipping_ahead_changes_nothing() {
    let workload = [("a", "gpu0", "gpu2"), ("b", "gpu1", "gpu4"), ("c", "gpu3", "gpu2"), ("d", "gpu6", "gpu4")];
    let [mut fast, mut slow] = ["", "skip_ahead: false"].map(|keys| result(&t2(keys, &workload)));
    assert!(fast["skipped_hops"].as_u64() > Some(100_000));
    for result in [&mut fast, &mut slow] {
        let all = result.as_object_mut().expect("an object");
        all.retain(|key, _| !["skipped_hops", "arbiter", "input_sha256"].contains(&key.as_str()));
    }
    assert_eq!(fast, slow);
}

/// Links of 10 GB/s with full packets: `b` and `a` have half of the second link each, and `b` another way out.
#[test]
fn waits_name_the_link_and_the_culprit() {
    let result = result(&t2("", &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")]));
    for (transfer, culprit) in [(0, "b"), (1, "a")] {
        let held = &result["transfers"][transfer]["held"][0];
        assert_eq!((&held["cause"], &held["by"]), (&"arbitration".into(), &culprit.into()), "{result}");
        assert_eq!((&held["link"]["from"], &held["link"]["to"]), (&"a".into(), &"gpu1".into()));
    }
    let link =
        result["links"].as_array().expect("a list").iter().find(|link| link["to"] == "gpu1").expect("it is used");
    assert_eq!((&link["packets"], &link["bytes"]), (&78126.into(), &20_000_000.into()));
    assert_eq!(link["wire_bytes"], 20_000_000 + 78126 * 24);
}

#[test]
fn a_run_that_stops_has_sent_whole_packets() {
    let text = t2("", &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")]);
    let ended = ended(&text, &["run", "s.yaml", "--json", "--until", "100us"]);
    let result = json_lines(&ended.stdout).remove(0);
    assert_eq!((&result["complete"], &result["stopped_ps"]), (&false.into(), &100_000_000.into()), "{}", ended.stderr);
    // At half of 14.4 GB/s, and what the buffers hold.
    let sent = result["transfers"][0]["sent_bytes"].as_u64().expect("it goes on");
    assert!((710_000..760_000).contains(&sent) && sent.is_multiple_of(256), "{sent}");
    let links = result["links"].as_array().expect("a list");
    let shared = links.iter().find(|link| link["to"] == "gpu1").expect("it is used");
    // From when the first header has come on: one link of 100 ns, and 24 B at 15.753846153 GB/s.
    assert_eq!(shared["busy_s"], (100_000_000 - 100_000 - 1524) as f64 / 1e12, "{result}");
}

/// Two copies of a device to two others, of which one is slow: in one queue they wait for each other.
#[test]
fn copies_that_share_a_queue_of_their_device_wait_for_each_other() {
    let text = |interleave: &str| {
        format!(
            "weir: 1
fidelity: {{ packet: {{ buffer: 1120B }} }}
topology:
  link_types: {{ fast: {{ bandwidth: 10GB/s }}, slow: {{ bandwidth: 1GB/s }} }}
  tree:
    sw: {{ kind: root-complex, children: {{ a: {{ kind: gpu, link: fast, engines: 2{interleave} }},
      b: {{ kind: gpu, link: fast }}, c: {{ kind: gpu, link: slow }} }} }}
workload:
  - transfer: {{ id: ab, from: a, to: b, size: 1MB }}
  - transfer: {{ id: ac, from: a, to: c, size: 1MB }}"
        )
    };
    // Packets alternate, and the switch's input sends one after the other: 25.6 and 256 ns for each pair of 256 B.
    let end = ends(&result(&text(", interleave: round-robin")))[0];
    assert!((1_098_000_000..1_101_000_000).contains(&end), "{end}");
    // The sums are the same, whatever the order; only the last packets tell.
    let random = ends(&result(&text(", interleave: { name: random, seed: 3 }")))[0];
    assert!((1_000_000_000..1_101_000_000).contains(&random) && random != end, "{random}");
    // Each asks for itself: the fast one does not wait.
    let apart = ends(&result(&text("")))[0];
    assert!(apart > 150_000_000, "{apart}");
    let limited = text(", interleave: random").replace("size: 1MB }", "size: 1MB, limit: 1GB/s }");
    let ended = ended(&limited, &["run", "s.yaml"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("`a` has `interleave`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("s.yaml:6:95"), "where `interleave` is written: {}", ended.stderr);
}

/// Packets.md, section 6: the fastest halo exchanges of the library on T2, whose root complex forwards 128 B at a time.
#[test]
fn halo_exchanges_take_as_many_lone_messages_as_the_prototype_found() {
    let topology = t2("", &[("a", "gpu0", "gpu1")]);
    let topology = topology.replace("kind: root-complex\n", "kind: root-complex\n      split: 128B\n");
    let lone = ends(&result(&topology.replace("size: 10MB", "size: 300MB")))[0] as f64;
    let (head, _) = topology.split_once("workload:").expect("a workload");
    for (name, messages) in [("2d", 4.34), ("3d", 4.50)] {
        let file = common::library().join(format!("pcie/halo-{name}-fastest.yaml"));
        let halo = std::fs::read_to_string(file).expect("a scenario of the library");
        let (_, workload) = halo.split_once("\nworkload:").expect("a workload");
        let makespan = result(&format!("{head}workload:{workload}"))["makespan_ps"].as_f64().expect("a number");
        assert!((makespan / lone - messages).abs() < 0.005, "{name}: {}", makespan / lone);
    }
}

#[test]
fn an_arbiter_without_effect_is_warned_of() {
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    let words = "the arbiter has no effect";
    let with_key = format!("{text}arbiter: max-min\n");
    for (text, arguments, warns) in [
        (&text, &["run", "s.yaml"][..], false),
        (&with_key, &["run", "s.yaml"], true),
        (&with_key, &["run", "s.yaml", "--fidelity", "packet"], false),
        (&with_key, &["run", "s.yaml", "--fidelity", "fluid,packet"], false),
        (&text, &["run", "s.yaml", "--arbiter", "max-min"], true),
    ] {
        let ended = ended(text, arguments);
        assert_eq!((ended.code, ended.stderr.contains(words)), (0, warns), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn both_fidelities_stand_side_by_side() {
    let text = t2("", &[("a", "gpu0", "gpu1")]);
    let ended = ended(&text, &["run", "s.yaml", "--json", "--fidelity", "fluid,packet"]);
    let results = json_lines(&ended.stdout);
    let names: Vec<_> = results.iter().map(|result| (&result["arbiter"]["name"], result.get("fidelity"))).collect();
    assert_eq!(names, [(&"max-min".into(), None), (&"packet".into(), Some(&"packet".into()))], "{}", ended.stderr);
}

/// Four switches in a ring, each with a host that sends over three links, all the same way round.
fn ring(buffer: &str) -> String {
    let transfer = |i: usize| {
        let (next, after, to) = ((i + 1) % 4, (i + 2) % 4, (i + 3) % 4);
        format!("  - transfer: {{ id: t{i}, from: h{i}, to: h{to}, size: 1MB, via: [sw{next}, sw{after}] }}\n")
    };
    let workload: String = (0..4).map(transfer).collect();
    format!(
        "weir: 1
fidelity: {{ packet: {{ buffer: {buffer}, payload: 256B, header: 24B }} }}
topology:
  link_types: {{ l: {{ bandwidth: 10GB/s, latency: 10ns, kind: network }} }}
  tree: {{ 'h[0-3]': {{ kind: host }}, 'sw[0-3]': {{ kind: network }} }}
  links:
    - {{ between: ['h[0-3]', 'sw[0-3]'], type: l }}
    - {{ between: [sw0, sw1], type: l }}
    - {{ between: [sw1, sw2], type: l }}
    - {{ between: [sw2, sw3], type: l }}
    - {{ between: [sw3, sw0], type: l }}
workload:
{workload}"
    )
}

#[test]
fn a_deadlock_names_the_links_of_its_circle() {
    let deadlock = ended(&ring("280B"), &["run", "s.yaml"]);
    assert_eq!(deadlock.code, 3, "{}{}", deadlock.stdout, deadlock.stderr);
    let words = "full buffers wait for each other: ";
    assert!(deadlock.stderr.contains(words), "{}", deadlock.stderr);
    for link in ["sw0 → sw1", "sw1 → sw2", "sw2 → sw3", "sw3 → sw0"] {
        assert!(deadlock.stderr.contains(link), "{link}: {}", deadlock.stderr);
    }
    let stopped = ended(&ring("280B"), &["run", "s.yaml", "--until", "1s"]);
    assert_eq!((stopped.code, stopped.stderr), (3, deadlock.stderr));
    let roomy = ended(&ring("unlimited"), &["run", "s.yaml"]);
    assert_eq!(roomy.code, 0, "{}", roomy.stderr);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let pair = [("a", "gpu0", "gpu1")];
    for (keys, words) in [
        ("buffer: 200B", "holds 200 B, packets have 280 B"),
        ("payload: 0B", "payload"),
        ("payload: 65KiB", "give 1B to 64KiB"),
        ("header: 5KiB", "give at most 4KiB"),
        ("port_arbiter: round-robbin", "did you mean `round-robin`"),
        ("port_arbiter: { name: random, quantum: 1B }", "`random` has no parameter `quantum`"),
        ("port_arbiter: { name: weighted-round-robin, weights: { gpu9: 2 } }", "gpu9"),
        ("port_arbiter: { name: weighted-round-robin, weights: { a/gpu0: 2, gpu0: 3 } }", "has a value already"),
        ("queues: fifos", "write `fifo` or `voq`"),
        ("buffers: 1KiB", "did you mean `buffer`"),
        ("window: 0", "window"),
    ] {
        let ended = ended(&t2(keys, &pair), &["run", "s.yaml"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{keys}: {}", ended.stderr);
        assert!(ended.stderr.contains(words) && ended.stderr.contains("s.yaml:2:"), "{keys}: {}", ended.stderr);
    }
}

/// A source that never waited has an empty list, not none: it was looked at.
#[test]
fn a_transfer_that_never_waited_has_an_empty_list_of_waits() {
    let both = t2("", &[("a", "gpu0", "gpu1")]).replacen("fidelity: { packet: {  } }", "fidelity: [fluid, packet]", 1);
    let lines = json_lines(&ended(&both, &["run", "s.yaml", "--json"]).stdout);
    let held = |run: &Value| run["transfers"][0].get("held").cloned();
    assert_eq!((held(&lines[0]), held(&lines[1])), (None, Some(Value::Array(Vec::new()))));
}

/// Two streams into one port take turns, 2 · 280 B at 15.753846153 GB/s; the texts with and without skipping are the same.
#[test]
fn explanations_of_packets_show_the_cycle_of_grants() {
    let text = |keys: &str| t2(keys, &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")]);
    let explained = ended(&text(""), &["explain", "s.yaml"]);
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    assert!(explained.stdout.contains("plx0: b, gpu0: a"), "{}", explained.stdout);
    let all = ended(&text("skip_ahead: false"), &["explain", "s.yaml"]).stdout;
    let body = |text: &str| text.split_once("\n\n").expect("a head").1.to_owned();
    assert_eq!(body(&explained.stdout), body(&all));
    let json = ended(&text(""), &["explain", "s.yaml", "--json"]);
    let explanation = json_lines(&json.stdout).remove(0);
    let port = &explanation["port_phases"][0]["ports"][0];
    assert_eq!((&port["link"]["to"], &port["no_credit_s"]), (&"gpu1".into(), &0.0.into()), "{explanation}");
    assert_eq!(port["cycle"]["time_s"], 2.0 * 17_774e-12);
    let grants = port["cycle"]["grants"].as_array().expect("a list");
    let names: Vec<_> = grants.iter().map(|grant| (&grant["transfer"], &grant["payload_bytes"])).collect();
    assert_eq!(names, [(&"b".into(), &256.into()), (&"a".into(), &256.into())], "in the order of links");
    assert_eq!(port["waits"].as_array().map(Vec::len), Some(2), "{port}");
}

#[test]
fn both_fidelities_are_on_one_page() {
    let text = t2("", &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")]);
    let reported = ended(&text, &["report", "s.yaml", "--fidelity", "fluid,packet", "-o", "-"]);
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    assert!(reported.stderr.contains("2 runs"), "{}", reported.stderr);
}

/// Buffers below the credit loop starve links: 1000 B hold three packets of 280 B, of which 200 ns and more are under way.
#[test]
fn a_buffer_below_the_credit_loop_is_warned_of() {
    let text = t2("buffer: 1kB", &[("a", "gpu0", "gpu1")]);
    let warned = ended(&text, &["check", "s.yaml"]);
    assert!(warned.stderr.contains("too small for its latency: it carries at most 24.5 %"), "{}", warned.stderr);
    let end = ends(&result(&text))[0];
    assert!(end.abs_diff(2_855_500_000) < 100_000, "{end}");
}

/// Only full results say how full buffers are over time.
#[test]
fn full_results_have_fills_of_buffers() {
    let text = t2("", &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")]);
    assert!(result(&text).get("fill_bin_s").is_none());
    let full = json_lines(&ended(&text, &["run", "s.yaml", "--full", "--json"]).stdout).remove(0);
    let (width, makespan) = (full["fill_bin_s"].as_f64().expect("a number"), full["makespan_s"].as_f64().expect("one"));
    let links = full["links"].as_array().expect("a list");
    let fills = |from: &str| links.iter().find(|link| link["from"] == from).expect("a link")["fill_bytes"].clone();
    let means: Vec<f64> = serde_json::from_value(fills("gpu0")).expect("a list of numbers");
    assert_eq!(means.len(), (makespan / width).ceil() as usize);
    // Two into one: the buffer of 16 KiB is full but for what is under way back to the source.
    assert!((12_000.0..=16_384.0).contains(&means[means.len() / 2]), "{means:?}");
    assert!(fills("gpu1").is_null() && links.iter().all(|link| link["buffer_bytes"] == 16384));
    for link in links.iter().filter(|link| link["bytes"] != 0) {
        let loads: Vec<f64> = serde_json::from_value(link["load_Bps"].clone()).expect("a list of numbers");
        let most = link["bandwidth_Bps"].as_f64().expect("a number");
        assert!(loads.len() == means.len() && loads.iter().all(|&load| load <= most), "{link}");
        let spans = (0..loads.len()).map(|bin| (makespan - bin as f64 * width).min(width));
        let carried: f64 = loads.iter().zip(spans).map(|(load, span)| load * span).sum();
        assert!((carried / link["bytes"].as_f64().expect("a number") - 1.0).abs() < 1e-6, "{link}");
    }
}

/// Its one packet leaves at once, and waits behind the packets of two others for the link to their common destination.
#[test]
fn a_packet_that_waits_on_its_way_says_for_whom() {
    let text = format!(
        "{}  - transfer: {{ id: late, from: gpu6, to: gpu1, size: 256B, start: 20us }}\n",
        t2("", &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")])
    );
    let result = result(&text);
    let late = &result["transfers"][2];
    let [start, sent, end] = ["start_s", "sent_s", "end_s"].map(|key| late[key].as_f64().expect("a time"));
    assert!(
        end - start > 1.1 * late["alone_s"].as_f64().expect("a time") && sent - start < 0.1 * (end - start),
        "{late}"
    );
    assert_ne!(late["cause_detail"]["kind"], "full-rate", "{late}");
    assert!(late["cause_detail"]["by"] == "a" || late["cause_detail"]["by"] == "b", "{late}");
    let mean = late["mean_Bps"].as_f64().expect("a rate");
    assert!((mean * (end - start) / 256.0 - 1.0).abs() < 1e-6, "{late}");
}
