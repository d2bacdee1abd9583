//! The calibrated topology reads as what was fitted, equal fits write equal bytes, and comments stay.

mod common;

use common::{bandwidth_of, group, library, machine, measure, registry};
use serde_json::Map;
use weir_calibrate::{Experiment, FitOptions, Under, fit, write_topology};
use weir_scenarios::{LoadOptions, Machine};

const T2: &str = "topologies/cs-storm-t2.yaml";

fn written(file: &str, arbiter: &str, experiments: &[Experiment]) -> (String, Machine) {
    let (start, registry) = (machine(file, &[]), registry());
    let entry = registry.get(arbiter).expect("a built-in arbiter");
    let found = fit(&start, Under { entry, params: &Map::new() }, experiments, &FitOptions::default()).expect("a fit");
    let options = LoadOptions::default();
    let text = write_topology(&library(file), &start, &found, (&options, &["x.csv".to_owned()])).expect("a text");
    let again = write_topology(&library(file), &start, &found, (&options, &["x.csv".to_owned()])).expect("a text");
    assert_eq!(text, again);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("calibrated.yaml");
    std::fs::write(&path, &text).expect("a file");
    let read = Machine::load(&path, &options, &registry);
    let read = read.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    for (link, bandwidth) in read.fabric.links().iter().zip(&found.setting.bandwidth) {
        assert!((link.bandwidth / bandwidth - 1.0).abs() < 1e-8, "{text}");
    }
    assert_eq!(read.fabric.nodes().len(), start.fabric.nodes().len());
    (text, read)
}

#[test]
fn types_keep_their_places_and_comments() {
    let truth = machine(T2, &[("link_types.pcie.bandwidth", "13GB/s")]);
    let mut experiments =
        vec![group(&truth, "a", &[("gpu0", "gpu1", 1 << 28)]), group(&truth, "b", &[("gpu0", "gpu4", 1 << 28)])];
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let (text, read) = written(T2, "max-min", &experiments);
    assert!(
        text.contains("# Which links do eight GPUs share") && text.contains("pcie: { bandwidth: 13GB/s }"),
        "{text}"
    );
    assert!(text.starts_with("# Calibrated by `weir calibrate` from x.csv.\n# 2 rows fitted"), "{text}");
    let setting = weir_calibrate::fit::parameter::Setting::of(&read);
    assert!((bandwidth_of(&read, &setting, "pcie") / 13e9 - 1.0).abs() < 1e-8);
}

/// PCIe by generation becomes a measured bandwidth; its latency is added.
#[test]
fn other_forms_of_a_type_are_written_anew() {
    let file = "topologies/two-socket-8gpu.yaml";
    let truth = machine(file, &[("link_types.pcie", "{ up: 20GB/s, down: 22GB/s }")]);
    let mut experiments = Vec::new();
    for bytes in [1_u64 << 24, 1 << 26, 1 << 27] {
        for (a, b) in
            [("gpu0", "cpu0"), ("cpu0", "gpu0"), ("gpu1", "cpu0"), ("cpu0", "gpu1"), ("gpu5", "cpu1"), ("cpu1", "gpu6")]
        {
            experiments.push(group(&truth, "x", &[(a, b, bytes)]));
        }
    }
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let (text, _) = written(file, "max-min", &experiments);
    assert!(text.contains("up: 20GB/s, down: 22GB/s"), "{text}");
}

#[test]
fn single_links_are_written_in_full() {
    let slow = "{ gpu0: { kind: gpu, link: pcie }, gpu1: { kind: gpu, link: { bandwidth: 6GB/s } } }";
    let truth = machine(T2, &[("tree.rc.children.plx0.children.k80a.children", slow)]);
    let names = ["gpu0", "gpu1", "gpu2", "gpu3"];
    let pairs = names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b)));
    let mut experiments: Vec<Experiment> = pairs.map(|(a, b)| group(&truth, "pair", &[(a, b, 300_000_000)])).collect();
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let (text, read) = written(T2, "max-min", &experiments);
    assert!(text.contains("link: { bandwidth: 6GB/s, kind: pcie }"), "{text}");
    assert_eq!(read.send_slots(read.device("gpu1").unwrap()), Some(1));
}
