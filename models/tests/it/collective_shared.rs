//! `collective` where directions of links, or the links of a node, share a bandwidth: the bound, and the order of a ring.

use crate::collective::ALL;
use crate::common::{World, details, estimates, time_of, try_plan};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{LinkKind, NodeId, NodeKind, SimDuration};
use weir_sim_core::{FabricBuilder, LinkSpec, Routes};

fn link(bandwidth: f64) -> LinkSpec {
    LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::PCIE }
}

/// Two switches with two GPUs each below a root complex, all links 8 GB/s; those of the switches are half duplex.
fn half_duplex() -> World {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::RootComplex).unwrap();
    for _ in 0..2 {
        let switch = fabric.child(root, NodeKind::Switch, link(8e9)).unwrap();
        fabric.share_last_link(8e9);
        [0, 1].iter().for_each(|_| _ = fabric.child(switch, NodeKind::Gpu, link(8e9)).unwrap());
    }
    World::new(fabric.build())
}

/// Four GPUs at a root complex by 8 GB/s, and its memory with 10 GB/s.
fn memory() -> World {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::RootComplex).unwrap();
    (0..4).for_each(|_| _ = fabric.child(root, NodeKind::Gpu, link(8e9)).unwrap());
    fabric.share_node(root, 10e9);
    World::new(fabric.build())
}

fn all_gather(ranks: [u32; 4]) -> Value {
    json!({ "kind": "all-gather", "size": 4_000_000, "ranks": ranks, "order": "topology" })
}

/// 2 MB leave two GPUs and 2 MB come to them, over a link that carries 8 GB/s both ways together: 500 µs. A ring crosses it twice.
#[test]
fn both_ways_count_together_where_they_share() {
    let (world, params) = (half_duplex(), all_gather([2, 3, 5, 6]));
    let found = details(&world, "collective", &params);
    assert_eq!(found["order"], json!({ "search": "given", "ring_bandwidth": 4e9, "at_most": 4e9 }));
    let bound = &found["bound"];
    assert_eq!(
        (&bound["seconds"], &bound["cut_bytes"], &bound["cut_bandwidth"]),
        (&json!(5e-4), &json!(4e6), &json!(8e9))
    );
    let at = json!({ "node": 1, "is_machine": false, "is_inwards": false, "shared": "both-ways" });
    assert_eq!(bound["cut_at"], at);
    // In each of three rounds it sends 1 MB over the link each way.
    assert_eq!(time_of(&world, "collective", &params), 3 * 250_000_000);
    // A broadcast crosses it one way: 4 MB by 8 GB/s, as without.
    let broadcast = json!({ "kind": "broadcast", "size": 4_000_000, "ranks": [2, 3, 5, 6] });
    assert_eq!(details(&world, "collective", &broadcast)["bound"]["seconds"], json!(5e-4));
}

/// Each of four GPUs gets 3 MB, all through one memory: 12 MB by 10 GB/s. Each of a ring's four messages passes it.
#[test]
fn all_that_passes_a_memory_counts() {
    let (world, params) = (memory(), all_gather([1, 2, 3, 4]));
    let found = details(&world, "collective", &params);
    assert_eq!(found["order"], json!({ "search": "given", "ring_bandwidth": 2.5e9, "at_most": 2.5e9 }));
    let bound = &found["bound"];
    assert_eq!(
        (&bound["seconds"], &bound["cut_bytes"], &bound["cut_ranks"]),
        (&json!(0.0012), &json!(12e6), &json!(4))
    );
    let at = json!({ "node": 0, "is_machine": false, "is_inwards": false, "shared": "memory" });
    assert_eq!(bound["cut_at"], at);
    assert_eq!(time_of(&world, "collective", &params), 1_200_000_000);
    // 4 MB to each of four sides and back but once: 2 · 3 · 4 MB.
    let reduce = json!({ "kind": "all-reduce", "size": 4_000_000, "ranks": [1, 2, 3, 4] });
    assert_eq!(details(&world, "collective", &reduce)["bound"]["seconds"], json!(0.0024));
}

/// A rank whose own memory is narrow: 3 MB come, 1 MB leaves.
#[test]
fn the_memory_of_a_rank_counts() {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::RootComplex).unwrap();
    (0..4).for_each(|_| _ = fabric.child(root, NodeKind::Gpu, link(8e9)).unwrap());
    fabric.share_node(NodeId(3), 4e9);
    let found = details(&World::new(fabric.build()), "collective", &all_gather([1, 2, 3, 4]));
    assert_eq!(found["bound"]["seconds"], json!(0.001));
    assert_eq!(found["order"]["at_most"], json!(2e9));
}

/// A small tree: of each node its parent and whether it is a GPU, the bandwidth of its link (of 1 to 4 B/ps), what both
/// directions of that share, and its memory; 0 for none. Then lateral links.
#[derive(Debug, Clone)]
struct Tree {
    nodes: Vec<(usize, bool, u64, u64, u64)>,
    laterals: Vec<(usize, usize, u64, u64)>,
}

fn trees() -> impl Strategy<Value = Tree> {
    let narrow = || prop_oneof![Just(0), 1..6_u64];
    let node = (0..4_usize, any::<bool>(), 1..5_u64, narrow(), narrow());
    let lateral = (0..12_usize, 0..12_usize, 1..5_u64, narrow());
    (prop::collection::vec(node, 3..11), prop::collection::vec(lateral, 0..3))
        .prop_map(|(nodes, laterals)| Tree { nodes, laterals })
}

impl Tree {
    /// The world, and up to 6 of its GPUs.
    fn world(&self) -> (World, Vec<u32>) {
        let wide = |bandwidth: u64| bandwidth as f64 * 1e12;
        let mut fabric = FabricBuilder::new();
        let mut line = vec![fabric.root(NodeKind::Switch).unwrap()];
        let (mut all, mut ranks) = (line.clone(), Vec::new());
        for &(up, is_gpu, bandwidth, shared, memory) in &self.nodes {
            line.truncate(line.len() - up % line.len());
            // GPUs do not forward, so nothing hangs below them.
            let kind = if is_gpu { NodeKind::Gpu } else { NodeKind::Switch };
            let node = fabric.child(line[line.len() - 1], kind, link(wide(bandwidth))).unwrap();
            if shared > 0 {
                fabric.share_last_link(wide(shared));
            }
            if memory > 0 {
                fabric.share_node(node, wide(memory));
            }
            if is_gpu {
                ranks.push(node.0)
            } else {
                line.push(node)
            }
            all.push(node);
        }
        for &(a, b, bandwidth, shared) in &self.laterals {
            let added = fabric.lateral(all[a % all.len()], all[b % all.len()], link(wide(bandwidth)));
            if added.is_ok() && shared > 0 {
                fabric.share_last_link(wide(shared));
            }
        }
        fabric.share_node(all[0], 3e12);
        ranks.truncate(6);
        (World::new(fabric.build()), ranks)
    }
}

/// Bandwidth of a ring's messages, B/s: for each link, for what both of its directions share, and for each node with a memory,
/// its bandwidth over the number of messages whose route has it.
fn ring_bandwidth(world: &World, order: &[u32]) -> f64 {
    let (fabric, mut routes) = (&world.fabric, Routes::new());
    let mut all = Vec::new();
    for (from, to) in order.iter().zip(order.iter().cycle().skip(1)) {
        let route = routes.between(fabric, NodeId(*from), NodeId(*to)).expect("a route");
        all.push(routes.links(route).to_vec());
    }
    let of_links = (0..fabric.links().len()).map(|at| {
        let times = all.iter().flatten().filter(|link| link.index() == at).count();
        fabric.links()[at].bandwidth / times as f64
    });
    let of_shared = fabric.shared().iter().map(|shared| {
        let crossed = |route: &&Vec<_>| route.iter().any(|link| shared.links.contains(link));
        shared.bandwidth / all.iter().filter(crossed).count() as f64
    });
    of_links.chain(of_shared).fold(f64::INFINITY, f64::min)
}

fn permuted(order: &mut Vec<u32>, fixed: usize, each: &mut impl FnMut(&[u32])) {
    if fixed >= order.len() {
        return each(order);
    }
    for next in fixed..order.len() {
        order.swap(fixed, next);
        permuted(order, fixed + 1, each);
        order.swap(fixed, next);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    /// No algorithm is faster than the bound, whatever is shared.
    #[test]
    fn no_algorithm_is_faster_than_the_bound(tree in trees(), size in 1..40_000_u64) {
        let (world, ranks) = tree.world();
        prop_assume!(ranks.len() > 1);
        for (kind, algorithms) in ALL {
            for algorithm in algorithms {
                let params = json!({ "kind": kind, "algorithm": algorithm, "size": size, "ranks": ranks });
                if try_plan(&world, "collective", &params).is_err() {
                    continue;
                }
                let all = estimates(&world, "collective", &params).list;
                let bound = all.iter().find(|one| one.formula == "bound").map_or(0.0, |bound| bound.seconds * 1e12);
                let time = time_of(&world, "collective", &params) as f64;
                // Each of the rounds ends on a whole picosecond.
                prop_assert!(time + 0.5 >= bound * (1.0 - 1e-9), "{} by {}: {} ps, bound {} ps", kind, algorithm, time, bound);
            }
        }
    }

    /// The ring that is found is the best of all, by the slow way; and no ring is above what is said.
    #[test]
    fn the_best_ring_is_found(tree in trees()) {
        let (world, mut ranks) = tree.world();
        prop_assume!(ranks.len() > 1);
        let params = json!({ "kind": "all-gather", "size": 6000, "ranks": ranks, "order": "topology" });
        let found = details(&world, "collective", &params)["order"].clone();
        let mut best = 0.0_f64;
        permuted(&mut ranks, 1, &mut |order| best = best.max(ring_bandwidth(&world, order)));
        let near = |key: &str| found[key].as_f64().expect("a number") / best;
        prop_assert!((near("ring_bandwidth") - 1.0).abs() < 1e-9, "{} but {} B/s", found, best);
        prop_assert!(near("at_most") > 1.0 - 1e-9, "{} but {} B/s", found, best);
    }
}
