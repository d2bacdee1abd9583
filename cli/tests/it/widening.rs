//! The link that would save most if it were wider, against a run with each link of the scenario widened by hand.

use crate::common::scenario;
use weir::{RunOptions, Scenario, Widening};
use weir_sim_core::{Fabric, Simulation};

/// Scenarios that end in seconds with each of their links widened.
const SCENARIOS: [&str; 10] = [
    "pcie/remote-buffers.yaml",
    "pcie/four-transfers.yaml",
    "pcie/example-1-upstream.yaml",
    "pcie/example-2-downstream.yaml",
    "pcie/example-3-head-of-line.yaml",
    "pcie/host-to-device.yaml",
    "pcie/gather-t1.yaml",
    "pcie/halo-2d-barriers.yaml",
    "pcie/two-socket-all-to-all.yaml",
    "clusters/all-to-all-far-nics.yaml",
];

/// Makespan in ps, and the sum of all ends, with the links between two nodes twice as wide; of the whole fabric for none.
fn by_hand(scenario: &Scenario, fabric: &Fabric) -> (u64, i128) {
    let (contents, spec) = (scenario.contents(), &scenario.arbiters()[0]);
    let mut arbiter = weir_sim_core::make_arbiter(&spec.entry, &spec.params_json(), fabric).expect("it is made");
    let simulation = Simulation { fabric, routes: &contents.routes, tasks: &contents.tasks };
    let outcome =
        simulation.run(&mut *arbiter, spec.entry.flags, weir_sim_core::RunOptions::default()).expect("it runs");
    let ends = contents.tasks.transfers().map(|(task, _)| i128::from(outcome.tasks[task.index()].end.0));
    (outcome.makespan.0, ends.sum())
}

/// Each link, by its first direction, with what it saves: of the makespan, and of the sum of all ends.
fn all_by_hand(scenario: &Scenario) -> Vec<((String, String), u64, i128)> {
    let contents = scenario.contents();
    let (makespan, ends) = by_hand(scenario, &contents.fabric);
    let links = contents.fabric.links();
    let mut saved = Vec::new();
    for (at, link) in links.iter().enumerate() {
        let reverse = links.iter().position(|other| (other.from, other.to) == (link.to, link.from));
        if reverse.is_some_and(|reverse| reverse < at) {
            continue;
        }
        let mut fabric = contents.fabric.clone();
        for id in [Some(at), reverse].into_iter().flatten() {
            let id = weir_plugin_api::LinkId::from_index(id);
            fabric.set_link(id, 2.0 * links[id.index()].bandwidth, links[id.index()].latency).expect("it is finite");
        }
        let (wider, wider_ends) = by_hand(scenario, &fabric);
        let name = |node| contents.node_name(node).to_owned();
        saved.push(((name(link.from), name(link.to)), makespan.saturating_sub(wider), ends - wider_ends));
    }
    saved
}

fn widenings(scenario: &Scenario) -> Vec<Widening> {
    let run = scenario.run_with(&RunOptions::default()).expect("it runs");
    run.widenings(None).expect("it runs again")
}

fn saved_ps(widening: &Widening) -> u64 {
    (widening.saved_s * 1e12).round() as u64
}

/// No link that is left out saves more than the first of the list; what the list says is what a run by hand says.
#[test]
fn no_link_saves_more_than_the_first() {
    for file in SCENARIOS {
        let opened = Scenario::open(scenario(file)).expect("it is a scenario");
        let (all, listed) = (all_by_hand(&opened), widenings(&opened));
        let most = all.iter().map(|&(_, saved, _)| saved).max().expect("links");
        let first = &listed[0];
        // Ends are rounded to picoseconds.
        assert!(saved_ps(first) + 1000 >= most, "{file}: {first:?} saves less than {most} ps: {all:?}");
        for widening in &listed {
            let ends = (widening.from.clone(), widening.to.clone());
            let (_, saved, sum) = all.iter().find(|(link, ..)| *link == ends).expect("a link of the fabric");
            assert_eq!(saved_ps(widening), *saved, "{file}: {ends:?}");
            assert!((widening.sum_saved_s * 1e12 - *sum as f64).abs() <= 1.0, "{file}: {ends:?}");
        }
    }
}

/// Four GPUs of the other socket read 1 GB each over 62.4 GB/s: 64.1 ms, long after the others.
#[test]
fn buffers_on_the_other_socket_are_held_back_by_the_socket_link() {
    let opened = Scenario::open(scenario("pcie/remote-buffers.yaml")).expect("it is a scenario");
    let first = &widenings(&opened)[0];
    assert_eq!((&*first.from, &*first.to), ("rc0", "rc1"), "{first:?}");
    assert!(first.saved_s > 0.0, "{first:?}");
}

/// Two GPUs read 1 GB each from host memory: 25 ms over their links of 40 GB/s, 100 ms with a memory of 20 GB/s, and 50 ms
/// with twice that. A link whose two directions share 20 GB/s carries 1 GB each way in 100 ms, twice as wide in 50 ms.
#[test]
fn what_links_share_is_widened_too() {
    for arbiter in ["max-min", "{ default: equal-share }"] {
        let open = |topology: &str, workload: &str| {
            let text = format!("weir: 1\narbiter: {arbiter}\ntopology: {topology}\nworkload: {workload}\n");
            Scenario::opener().read(text, ".").expect("it is a scenario")
        };
        let memory = open(
            "{ link_types: { p: { bandwidth: 40GB/s } }, tree: { cpu: { kind: cpu, memory: { bandwidth: 20GB/s }, \
             children: { \"gpu[0-1]\": { kind: gpu, link: p } } } } }",
            "[{ transfer: { from: cpu, to: gpu0, size: 1GB } }, { transfer: { from: cpu, to: gpu1, size: 1GB } }]",
        );
        let all = widenings(&memory);
        assert_eq!((&*all[0].from, &*all[0].to, saved_ps(&all[0])), ("cpu", "cpu", 50_000_000_000), "{all:?}");
        assert!(all[1..].iter().all(|link| link.saved_s == 0.0 && link.from != link.to), "{all:?}");
        let both = open(
            "{ link_types: { p: { bandwidth: 15GB/s, shared: 20GB/s } }, \
             tree: { cpu: { kind: cpu, children: { gpu: { kind: gpu, link: p } } } } }",
            "[{ transfer: { from: cpu, to: gpu, size: 1GB } }, { transfer: { from: gpu, to: cpu, size: 1GB } }]",
        );
        let all = widenings(&both);
        assert_eq!((all.len(), saved_ps(&all[0])), (1, 50_000_000_000), "{all:?}");
        assert_ne!(all[0].from, all[0].to);
    }
}

/// Twenty transfers keep their links busy for 12 ms and lose nothing. Two of 10 ms follow each other to the end at 20 ms: only
/// their own links make the run shorter, each by 5 ms.
#[test]
fn the_critical_path_is_widened_where_nothing_is_lost() {
    let host = |name: String, link: &str| format!("{name}: {{ kind: host, link: {link} }}, ");
    let busy = |i: usize| format!("  - transfer: {{ from: h{i}, to: w, size: 120MB }}\n");
    let text = format!(
        "weir: 1\narbiter: max-min\ntopology:\n  link_types: {{ l: {{ bandwidth: 10GB/s }}, h: {{ bandwidth: 1TB/s }} }}\n  \
         tree: {{ s: {{ kind: switch, children: {{ {}{}{} }} }} }}\nworkload:\n{}  \
         - transfer: {{ id: first, from: w, to: g0, size: 100MB }}\n  \
         - transfer: {{ from: w, to: g1, size: 100MB, after: first }}\n",
        host("\"h[0-19]\"".to_owned(), "l"),
        host("w".to_owned(), "h"),
        host("\"g[0-1]\"".to_owned(), "l"),
        (0..20).map(busy).collect::<String>(),
    );
    let opened = Scenario::opener().read(text, ".").expect("it is a scenario");
    let all = widenings(&opened);
    let saving: Vec<_> = all.iter().filter(|w| w.saved_s > 0.0).map(|w| (&*w.from, saved_ps(w))).collect();
    assert_eq!(saving, [("g0", 5_000_000_000), ("g1", 5_000_000_000)], "{all:?}");
}
