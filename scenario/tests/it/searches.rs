//! What searches change in a scenario: the orders in which devices send, and what of its topology could be better.

use weir_scenario::{Improvement, Input, LoadOptions, ResourceKind, Scenario, load, resources};
use weir_sim_core::TaskId;

use crate::common::{good, on_t2, registry};

/// The ids that gpu0 sends, in its order.
fn sent(scenario: &Scenario) -> Vec<String> {
    scenario.sources()[0].tasks.iter().map(|&task| scenario.order_name(task).into_owned()).collect()
}

/// b waits for a: a device that would send b first would wait for itself.
#[test]
fn an_order_is_taken_unless_it_contradicts_what_waits() {
    let transfer = |id: &str, to: &str, after: &str| {
        format!("  - transfer: {{ id: {id}, from: gpu0, to: {to}, size: 1MB{after} }}\n")
    };
    let all = [transfer("a", "gpu1", ""), transfer("b", "gpu2", ", after: [a]"), transfer("c", "gpu3", "")];
    let mut scenario = good(&on_t2(&format!("workload:\n{}", all.concat())));
    let device = scenario.sources()[0].device;
    let order = |scenario: &Scenario, ids: [&str; 3]| -> Vec<TaskId> {
        ids.into_iter().map(|id| scenario.task(id).expect(id)).collect()
    };
    let last_first = order(&scenario, ["c", "a", "b"]);
    assert!(scenario.reorder(vec![(device, last_first)]));
    assert_eq!(sent(&scenario), ["c", "a", "b"]);
    let impossible = order(&scenario, ["b", "a", "c"]);
    assert!(!scenario.reorder(vec![(device, impossible)]));
    assert_eq!(sent(&scenario), ["c", "a", "b"]);
}

/// A lateral link whose type has no kind is of a kind named as its type, which a map of arbiters may rule. Where the type is
/// written in the place of its name, the link keeps that kind; a link of the tree never had one.
#[test]
fn a_wider_link_keeps_its_kind() {
    let text = "weir: 1
topology:
  link_types: { pcie: { bandwidth: 10GB/s }, bridge: { bandwidth: 20GB/s } }
  tree: { rc: { kind: root-complex, children: { 'gpu[0-1]': { kind: gpu, link: pcie } } } }
  links: [{ between: [gpu0, gpu1], type: bridge }]
workload: []
";
    let found = resources(Input::text(text, "-", None), &LoadOptions::default(), false).expect("a topology");
    let places = found.iter().filter(|resource| resource.kind == ResourceKind::Place);
    let wider: Vec<String> = places.flat_map(|place| place.edits(Improvement::Times(200))).map(|edit| edit.1).collect();
    assert_eq!(wider, ["{ bandwidth: 20GB/s }", "{ bandwidth: 40GB/s, kind: bridge }"]);
}

/// A type by generation is written by its bandwidths, with what both directions share, and so is each place of it: generation 3
/// has 8 GT/s, so that 16 lanes carry as much as `8GT/s x16`.
#[test]
fn a_type_by_generation_grows_as_one_by_bandwidth() {
    let with = |bandwidth: &str| {
        let text = format!(
            "weir: 1
topology:
  link_types: {{ p: {{ {bandwidth}, efficiency: 0.5, shared: 16GB/s, latency: 1us }} }}
  tree: {{ rc: {{ kind: root-complex, children: {{ gpu0: {{ kind: gpu, link: p }}, gpu1: {{ kind: gpu, link: p }} }} }} }}
workload: [{{ transfer: {{ from: gpu0, to: gpu1, size: 1MB }} }}]
"
        );
        let input = || Input::text(text.clone(), "-", None);
        let found = resources(input(), &LoadOptions::default(), false).expect("a topology");
        let mut results = Vec::new();
        for resource in found.iter().filter(|found| matches!(found.kind, ResourceKind::Bandwidth | ResourceKind::Place))
        {
            for improvement in [110, 200].map(Improvement::Times).into_iter().chain([Improvement::Bandwidth("1e9GB/s")])
            {
                let options = LoadOptions { set: resource.edits(improvement), ..LoadOptions::default() };
                let fabric = load(input(), &options, &registry()).expect("it takes the values").fabric;
                let links: Vec<u64> = fabric.links().iter().map(|link| link.bandwidth.round() as u64).collect();
                let shared: Vec<u64> = fabric.shared().iter().map(|shared| shared.bandwidth.round() as u64).collect();
                results.push((resource.name.clone(), links, shared));
            }
        }
        results
    };
    let (generation, bandwidth) = (with("generation: 3, width: 16"), with("bandwidth: 8GT/s x16"));
    assert_eq!(generation.len(), 9, "the type and two places: {generation:?}");
    assert!(generation.iter().all(|(.., shared)| shared.iter().any(|&bandwidth| bandwidth > 8_000_000_000)));
    assert_eq!(generation, bandwidth);
}
