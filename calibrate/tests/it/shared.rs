//! Bandwidths that the directions of a link, or the links of a node, share: found where rows cross them at once, and written.

use crate::common::{accepted, group, machine_of, measure_under};
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, Fit, FitOptions, Made, MeasuredEnd, fit, warnings, write_topology};
use weir_scenario::{LoadOptions, Machine};

const GB: u64 = 1_000_000_000;

/// Two sockets with two GPUs each.
fn sockets(pcie: &str, memory: &str) -> String {
    format!(
        "weir: 1\nlink_types:\n  # assumed\n  pcie: {{ up: 55GB/s, down: 50GB/s{pcie} }}\n  \
         mem: {{ bandwidth: 300GB/s, kind: memory }}\ntree:\n  \"rc[0-1]\":\n    kind: root-complex\n    children:\n      \
         cpu: {{ kind: cpu, link: mem{memory} }}\n      \"gpu[0-1]\": {{ kind: gpu, link: pcie }}\n"
    )
}

fn lone(machine: &Machine) -> Vec<Experiment> {
    [("rc0/cpu", "rc0/gpu0"), ("rc0/gpu0", "rc0/cpu"), ("rc1/cpu", "rc1/gpu1"), ("rc1/gpu1", "rc1/cpu")]
        .iter()
        .map(|&(from, to)| group(machine, "lone", &[(from, to, GB)]))
        .collect()
}

fn both_ways(machine: &Machine) -> Vec<Experiment> {
    let ways = |gpu| [("rc0/cpu", gpu, GB), (gpu, "rc0/cpu", GB)];
    let (a, b) = (ways("rc0/gpu0"), ways("rc0/gpu1"));
    vec![group(machine, "one", &a), group(machine, "two", &[a, b].concat())]
}

/// Both GPUs in one direction, so that the link of the memory is not taken for what its directions share.
fn one_way(machine: &Machine) -> Vec<Experiment> {
    let into = [("rc0/cpu", "rc0/gpu0", GB), ("rc0/cpu", "rc0/gpu1", GB)];
    let out = into.map(|(from, to, bytes)| (to, from, bytes));
    vec![group(machine, "in", &into), group(machine, "out", &out)]
}

fn fitted(machine: &Machine, experiments: &[Experiment]) -> Fit {
    let options = FitOptions { latency: Choice::No, ..FitOptions::default() };
    fit(machine, &machine.arbiters[0], experiments, &options).expect("a fit")
}

fn value(fit: &Fit, name: &str) -> (f64, Known) {
    let found = fit.parameters.iter().find(|f| f.parameter.name == name);
    found.map(|f| (f.value, f.known)).unwrap_or_else(|| panic!("no {name} in {:#?}", fit.parameters))
}

fn write(text: &str, machine: &Machine, fit: &Fit) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("machine.yaml");
    std::fs::write(&path, text).expect("a file");
    write_topology(&path, machine, fit, &LoadOptions::default(), &["x.csv".to_owned()]).expect("a text")
}

#[test]
fn what_made_the_rows_is_found_and_written() {
    let truth = machine_of(&sockets(", shared: 80GB/s", ", memory: { bandwidth: 130GB/s }"));
    let mut experiments = [lone(&truth), both_ways(&truth), one_way(&truth)].concat();
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    let text = sockets(", shared: 101GB/s", ", memory: { bandwidth: 250GB/s }");
    let start = machine_of(&text);
    let found = fitted(&start, &experiments);
    accepted("what directions share", &start, &experiments, &found);
    for (name, expected) in [("shared of pcie", 80e9), ("memory of rc0/cpu to rc1/cpu", 130e9)] {
        let (value, known) = value(&found, name);
        assert!((value / expected - 1.0).abs() < 1e-6 && matches!(known, Known::Error(_)), "{name}: {value} {known:?}");
    }
    let written = write(&text, &start, &found);
    assert!(written.contains("{ up: 55GB/s, down: 50GB/s, shared: 80GB/s }"), "{written}");
    assert!(written.contains("memory: { bandwidth: 130GB/s }"), "{written}");
    let again = machine_of(&written);
    let shared =
        |machine: &Machine| machine.fabric.shared().iter().map(|s| (s.bandwidth / 1e3).round()).collect::<Vec<_>>();
    assert_eq!(shared(&again), shared(&truth));
}

/// Rows of lone copies say nothing of it, so that it stays; rows both ways that add up say that there is none.
#[test]
fn no_row_and_no_limit_are_told_apart() {
    let truth = machine_of(&sockets("", ""));
    let text = sockets(", shared: 70GB/s", "");
    let start = machine_of(&text);
    let mut experiments = lone(&truth);
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    assert_eq!(value(&fitted(&start, &experiments), "shared of pcie"), (70e9, Known::Unseen));
    experiments.extend(both_ways(&truth));
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    let found = fitted(&start, &experiments);
    accepted("directions that share nothing", &start, &experiments, &found);
    assert_eq!(value(&found, "shared of pcie").1, Known::NoLimit, "{:#?}", found.parameters);
    let written = write(&text, &start, &found);
    assert!(!written.contains("shared:"), "{written}");
}

/// Lone copies that are slower than expected leave `shared` above what both directions carry, and still say nothing of it.
#[test]
fn lone_copies_do_not_show_that_nothing_is_shared() {
    let slow = machine_of(&sockets("", "").replace("up: 55GB/s, down: 50GB/s", "up: 30GB/s, down: 30GB/s"));
    let text = sockets(", shared: 70GB/s", "");
    let start = machine_of(&text);
    let mut experiments = lone(&slow);
    measure_under(&slow, &slow.arbiters[0], &mut experiments, || 1.0);
    let found = fitted(&start, &experiments);
    assert_eq!(value(&found, "shared of pcie"), (70e9, Known::Unseen));
    let written = write(&text, &start, &found);
    assert!(written.contains("shared: 70GB/s") && written.contains("30GB/s"), "{written}");
}

/// Copies both ways with one time, and no lone ones: each direction or what both share may be the narrowest.
#[test]
fn what_may_be_the_narrowest_is_not_said_to_be_no_limit() {
    let text = sockets(", shared: 70GB/s", "");
    let start = machine_of(&text);
    let both = |gpu: &str, seconds: f64| {
        let mut both = group(&start, "both", &[("rc0/cpu", gpu, GB), (gpu, "rc0/cpu", GB)]);
        both.rows.truncate(1);
        (both.rows[0].end, both.rows[0].seconds) = (MeasuredEnd::Last, seconds);
        both
    };
    let experiments = [both("rc0/gpu0", 0.05), both("rc0/gpu1", 0.0501), both("rc0/gpu0", 0.0499)];
    let found = fitted(&start, &experiments);
    accepted("both ways with one time", &start, &experiments, &found);
    let shared = value(&found, "shared of pcie").1;
    assert_ne!(shared, Known::NoLimit, "{:#?}", found.parameters);
    let written = write(&text, &start, &found);
    assert!(written.contains("shared: "), "{written}");
}

/// As much in as out through a memory: its link in each direction explains that as well as what both share.
#[test]
fn the_link_of_a_memory_may_stand_in_for_what_it_shares() {
    let truth = machine_of(&sockets("", ", memory: { bandwidth: 130GB/s }"));
    let mut experiments = [lone(&truth), both_ways(&truth)].concat();
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    let found = fitted(&machine_of(&sockets("", ", memory: { bandwidth: 250GB/s }")), &experiments);
    accepted("a memory both ways", &truth, &experiments, &found);
    let name = |&i: &usize| found.parameters[i].parameter.name.as_str();
    let groups: Vec<Vec<&str>> =
        found.unclear.iter().map(|group| group.parameters.iter().map(name).collect()).collect();
    let both =
        |group: &Vec<&str>| group.contains(&"bandwidth of mem") && group.contains(&"memory of rc0/cpu to rc1/cpu");
    assert!(groups.iter().any(both), "{groups:?}");
}

/// One time of both copies, as the two-way matrices of most tools and `ib_write_bw -b` have it; latencies beside them do not count.
#[test]
fn rows_with_one_time_of_both_ways_ask_too() {
    let text = |pcie: &str| {
        format!(
            "weir: 1\nlink_types:\n  pcie: {{ bandwidth: 50GB/s{pcie} }}\n  upi: {{ bandwidth: 30GB/s }}\ntree:\n  \
             \"rc[0-1]\": {{ kind: root-complex, children: {{ \"gpu[0-1]\": {{ kind: gpu, link: pcie }} }} }}\n\
             links:\n  - {{ between: [rc0, rc1], type: upi }}\n"
        )
    };
    let truth = machine_of(&text(", shared: 70GB/s"));
    let (near, far) = (("rc0/gpu0", "rc0/gpu1"), ("rc0/gpu0", "rc1/gpu0"));
    let lone = |(a, b)| [group(&truth, "lone", &[(a, b, GB)]), group(&truth, "lone", &[(b, a, GB)])];
    let both = |(a, b)| {
        let mut both = group(&truth, "both", &[(a, b, GB), (b, a, GB)]);
        both.rows.truncate(1);
        both.rows[0].end = MeasuredEnd::Last;
        both
    };
    let mut experiments = [lone(near).to_vec(), lone(far).to_vec(), vec![both(near), both(far)]].concat();
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    let mut tiny = group(&truth, "tiny", &[(near.0, near.1, 16)]);
    tiny.rows[0].seconds = 2e-6;
    let all = |machine: &Machine, experiments: &[Experiment]| {
        let made = Made { arbiter: "max-min", arbiters: &[], per_link: false };
        warnings(machine, experiments, &fitted(machine, experiments), made).join("\n")
    };
    let start = machine_of(&text(""));
    let asked = all(&start, &experiments);
    assert!(asked.contains("add `shared: 70.000GB/s` to link type `pcie`"), "{asked}");
    experiments.push(tiny);
    assert!(all(&start, &experiments).contains("to link type `pcie`"), "{}", all(&start, &experiments));
    experiments.pop();
    // The same bytes in four messages ask for the same.
    let messages = experiments.iter().cloned().map(|mut e| {
        e.messages = 4;
        e.transfers.iter_mut().for_each(|t| t.bytes /= 4);
        e
    });
    let asked = all(&start, &messages.collect::<Vec<_>>());
    assert!(asked.contains("add `shared: 70.000GB/s` to link type `pcie`"), "{asked}");
    assert!(!all(&truth, &experiments).contains("add `"), "{}", all(&truth, &experiments));
    // Where the link between the sockets is the narrowest, it is what the directions may share.
    experiments[5].rows[0].seconds *= 1.5;
    let asked = all(&truth, &experiments);
    assert!(asked.contains("to link type `upi`"), "{asked}");
}

/// A topology without shared bandwidths, and rows that ask for them: the lines to add, with the figures that made the rows.
#[test]
fn what_a_topology_lacks_is_proposed() {
    let truth = machine_of(&sockets(", shared: 80GB/s", ", memory: { bandwidth: 130GB/s }"));
    let back = [("rc0/cpu", "rc0/gpu1", GB), ("rc0/gpu1", "rc0/cpu", GB)].map(|copy| group(&truth, "lone", &[copy]));
    let mut experiments = [lone(&truth), back.to_vec(), both_ways(&truth), one_way(&truth)].concat();
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    let start = machine_of(&sockets("", ""));
    let all = |machine: &Machine| {
        let found = fitted(machine, &experiments);
        let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
        warnings(machine, &experiments, &found, made).join("\n")
    };
    let text = all(&start);
    assert!(
        text.contains("add `shared: 80.000GB/s` to link type `pcie`") && text.contains("the rows: `one`"),
        "{text}"
    );
    assert!(text.contains("add `memory: { bandwidth: 130.000GB/s }` to `rc0/cpu`"), "{text}");
    assert!(!all(&truth).contains("add `"), "{}", all(&truth));
}

/// What directions share holds copies of two GPUs back as much as those of one: the memory is asked for nothing. Nor is anything where
/// the links that the topology has explain the rows, as where two copies leave one slot.
#[test]
fn rows_ask_for_no_more_than_is_lacking() {
    let said = |truth: &Machine, experiments: &[Experiment]| {
        let mut experiments = experiments.to_vec();
        measure_under(truth, &truth.arbiters[0], &mut experiments, || 1.0);
        let start = machine_of(&sockets("", ""));
        let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
        warnings(&start, &experiments, &fitted(&start, &experiments), made).join("\n")
    };
    let truth = machine_of(&sockets(", shared: 80GB/s", ""));
    let back = [("rc0/cpu", "rc0/gpu1", GB), ("rc0/gpu1", "rc0/cpu", GB)].map(|copy| group(&truth, "lone", &[copy]));
    let other = group(&truth, "other", &[("rc0/cpu", "rc0/gpu1", GB), ("rc0/gpu1", "rc0/cpu", GB)]);
    // Whether or not the log has both ways of the other GPU alone: it may lose as much as the first.
    for others in [vec![], vec![other]] {
        let text = said(&truth, &[lone(&truth), back.to_vec(), both_ways(&truth), others].concat());
        assert!(
            text.contains("add `shared: 80.000GB/s` to link type `pcie`") && !text.contains("add `memory"),
            "{text}"
        );
    }
    let plain = machine_of(&sockets("", ""));
    let (a, b, c) = ("rc0/gpu0", "rc0/gpu1", "rc0/cpu");
    let mut copies = [(a, b, GB), (b, a, GB), (a, c, GB), (c, a, GB)].map(|one| group(&plain, "lone", &[one])).to_vec();
    copies.push(group(&plain, "two each way", &[(a, b, GB), (b, a, GB), (a, c, GB), (c, a, GB)]));
    assert!(!said(&plain, &copies).contains("add `"), "{}", said(&plain, &copies));
}

/// Both ways together are held back by the memory, which the topology has: nothing is missing.
#[test]
fn what_the_topology_explains_asks_for_nothing() {
    let machine = machine_of(&sockets("", ", memory: { bandwidth: 60GB/s }"));
    let both = group(&machine, "both", &[("rc0/cpu", "rc0/gpu0", GB), ("rc0/gpu0", "rc0/cpu", GB)]);
    let mut experiments = [lone(&machine), vec![both]].concat();
    measure_under(&machine, &machine.arbiters[0], &mut experiments, || 1.0);
    assert!(experiments[4].rows[0].seconds > 1.5 * experiments[0].rows[0].seconds, "they are slower than alone");
    let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
    let text = warnings(&machine, &experiments, &fitted(&machine, &experiments), made).join("\n");
    assert!(!text.contains("add `"), "{text}");
}

/// One direction is slower than the other alone, so that the time of both is its: 1 GB at 20 GB/s. Only what is slower than that asks for
/// something shared.
#[test]
fn one_time_of_both_ways_is_compared_with_the_slower() {
    let machine = machine_of(&sockets("", ""));
    let (a, b) = ("rc0/gpu0", "rc0/gpu1");
    let timed = |copies: &[(&str, &str, u64)], seconds: f64| {
        let mut e = group(&machine, "copies", copies);
        e.rows.truncate(1);
        (e.rows[0].end, e.rows[0].seconds) = (MeasuredEnd::Last, seconds);
        e
    };
    let asked = |slow: f64, both: f64| {
        let copies = [timed(&[(a, b, GB)], slow), timed(&[(b, a, GB)], 0.02), timed(&[(a, b, GB), (b, a, GB)], both)];
        let made = Made { arbiter: "max-min", arbiters: &[], per_link: false };
        warnings(&machine, &copies, &fitted(&machine, &copies), made).join("\n")
    };
    assert!(!asked(0.05, 0.05).contains("add `"), "{}", asked(0.05, 0.05));
    let shared = asked(0.05, 0.08);
    assert!(shared.contains("add `shared: 25.000GB/s` to link type `pcie`"), "2 GB in 80 ms: {shared}");
    // No lone copy says what the slower way has alone.
    let copies = [timed(&[(b, a, GB)], 0.02), timed(&[(a, b, GB), (b, a, GB)], 0.05)];
    let made = Made { arbiter: "max-min", arbiters: &[], per_link: false };
    let text = warnings(&machine, &copies, &fitted(&machine, &copies), made).join("\n");
    assert!(!text.contains("add `"), "{text}");
}
