//! The examples of the format's own description, and files beside files.

use crate::common::{T2, good, on_t2, registry, transfers, write};
use weir_plugin_api::{LinkKind, NodeKind, SimTime};
use weir_scenario::{LoadOptions, TaskKind, load};
use weir_sim_core::{EngineId, TaskId};

const FOUR: &str = "\
weir: 1
name: four transfers on T2
topology: ../topologies/cs-storm-t2.yaml      # or the same map inline
arbiter: { name: pcie-congestion, tau: 0.2 }  # or just a name; a list runs each
workload:
  - transfer: { id: a, from: gpu0, to: gpu2, size: 300MB }
  - transfer: { id: b, from: gpu1, to: gpu4, size: 300MB }
  - transfer: { id: c, from: gpu3, to: gpu2, size: 300MB, start: 0s }
  - transfer: { id: d, from: gpu6, to: gpu4, size: 300MB, after: [] }
";

#[test]
fn reads_the_example_from_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path();
    write(library, &[("weir-library", ""), ("topologies/cs-storm-t2.yaml", T2), ("pcie/four-transfers.yaml", FOUR)]);
    let path = library.join("pcie/four-transfers.yaml");
    let scenario = load(&path, &LoadOptions::default(), &registry()).unwrap();
    assert_eq!(scenario.name, "four transfers on T2");
    assert_eq!(scenario.file, path.display().to_string());
    assert_eq!(
        transfers(&scenario),
        ["a gpu0->gpu2 300000000", "b gpu1->gpu4 300000000", "c gpu3->gpu2 300000000", "d gpu6->gpu4 300000000"]
    );
    assert_eq!(scenario.fabric.nodes().len(), 15);
    assert!(scenario.fabric.bandwidths().iter().all(|&b| b == 11.6e9));
    assert!(scenario.fabric.links().iter().all(|l| l.kind == LinkKind::PCIE && l.latency.0 == 0));
    assert_eq!(scenario.arbiters[0].name, "pcie-congestion");
    assert_eq!(scenario.arbiters[0].params["tau"], 0.2);
    assert_eq!(scenario.arbiters[0].position.as_ref().map(|p| (p.line, p.column)), Some((4, 10)));
    assert_eq!(scenario.task_kind(TaskId(0)), TaskKind::Transfer);
    assert_eq!(scenario.position(TaskId(2)).map(|p| (p.line, p.column)), Some((8, 21)));
    assert_eq!(scenario.tasks.engines().len(), 4);
    assert!(scenario.tasks.tasks().iter().all(|t| t.start == SimTime::ZERO && t.engine != EngineId::NONE));
    assert_eq!(scenario.node("plx0/gpu2"), scenario.node("gpu2"));
    assert_eq!(scenario.fabric.node(scenario.node("rc").unwrap()).kind, NodeKind::RootComplex);
    // SHA-256 of both texts, one after the other.
    use sha2::Digest;
    let digest = sha2::Sha256::digest(format!("{FOUR}{T2}"));
    assert_eq!(scenario.input_sha256, digest.iter().map(|b| format!("{b:02x}")).collect::<String>());
}

#[test]
fn a_topology_in_place_is_the_same() {
    let scenario = good(&on_t2("workload:\n  - transfer: { from: gpu0, to: gpu4, size: 1KiB }\n"));
    assert_eq!(transfers(&scenario), ["workload[0] gpu0->gpu4 1024"]);
    assert_eq!(scenario.arbiters.len(), 1);
    assert_eq!(scenario.arbiters[0].name, "max-min");
    assert_eq!(scenario.file, "-");
}

/// The first transfer's line and column under different spellings of one scenario.
#[test]
fn spellings_of_yaml() {
    let plain = "weir: 1\ntopology: { tree: { a: { kind: host, repeat: 2 } }, links: [{ between: [a0, a1], type: { bandwidth: 1GB/s } }] }\nworkload:\n- transfer: { id: x, from: a0, to: a1, size: 1B }\n";
    let at = |text: &str| {
        let scenario = good(text);
        assert_eq!(transfers(&scenario), ["x a0->a1 1"], "{text}");
        let position = scenario.position(TaskId(0)).unwrap();
        (position.line, position.column)
    };
    assert_eq!(at(plain), (4, 19));
    assert_eq!(at(&plain.replace('\n', "\r\n")), (4, 19));
    assert_eq!(at(&format!("\u{feff}{plain}")), (4, 19));
    assert_eq!(at(&format!("# µ is one column\n---\n{plain}...\n")), (6, 19));
    assert_eq!(at(&plain.replace("id: x", "id: 'x'")), (4, 19));
    assert_eq!(at(&plain.replace("weir: 1", "weir: &one 1").replace("repeat: 2", "repeat: 2, engines: *one")), (4, 19));
    let json = r#"{"weir": 1, "topology": {"tree": {"a": {"kind": "host", "repeat": 2}}, "links": [{"between": ["a0", "a1"],
        "type": {"bandwidth": "1GB/s"}}]}, "workload": [{"transfer": {"id": "x", "from": "a0", "to": "a1", "size": "1B"}}]}"#;
    assert_eq!(at(json), (2, 77));
}
