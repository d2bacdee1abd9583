//! Bandwidths that the directions of a link, or the links of a node, share: found where rows cross them at once, and written.

use crate::common::{group, machine_of, measure_under};
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, Fit, FitOptions, fit, write_topology};
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
    let (a, b) = (
        [("rc0/cpu", "rc0/gpu0", GB), ("rc0/gpu0", "rc0/cpu", GB)],
        [("rc0/cpu", "rc0/gpu1", GB), ("rc0/gpu1", "rc0/cpu", GB)],
    );
    vec![group(machine, "one", &a), group(machine, "two", &[a, b].concat())]
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
    let mut experiments = [lone(&truth), both_ways(&truth)].concat();
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
    let text = sockets(", shared: 101GB/s", ", memory: { bandwidth: 250GB/s }");
    let start = machine_of(&text);
    let found = fitted(&start, &experiments);
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
    assert_eq!(value(&found, "shared of pcie").1, Known::NoLimit, "{:#?}", found.parameters);
    let written = write(&text, &start, &found);
    assert!(!written.contains("shared:"), "{written}");
}
