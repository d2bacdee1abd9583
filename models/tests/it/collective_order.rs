//! `order: topology`: rings of links beside the tree, hidden among others.

use crate::common::{World, details};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{LinkKind, NodeId, NodeKind, SimDuration};
use weir_sim_core::{FabricBuilder, LinkSpec};

/// GPUs at a switch by links of 2 GB/s, and links of 20 GB/s between some of them.
fn fast_beside_slow(gpus: u32, fast: impl IntoIterator<Item = (u32, u32)>) -> World {
    let link = |bandwidth| LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::NVLINK };
    let mut fabric = FabricBuilder::new();
    let switch = fabric.root(NodeKind::Switch).unwrap();
    (0..gpus).for_each(|_| _ = fabric.child(switch, NodeKind::Gpu, link(2e9)).unwrap());
    for (a, b) in fast {
        // A pair that is drawn twice has one link.
        let _ = fabric.lateral(NodeId(1 + a), NodeId(1 + b), link(20e9));
    }
    World::new(fabric.build())
}

fn found(world: &World, gpus: u32) -> Value {
    let ranks: Vec<u32> = (1..=gpus).collect();
    let params = json!({ "kind": "all-gather", "size": 9_000_000, "ranks": ranks, "order": "topology" });
    details(world, "collective", &params)["order"].clone()
}

fn ring(order: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    order.iter().copied().zip(order.iter().copied().cycle().skip(1))
}

/// Of nine ranks the only ring of fast links is 0 8 4 7 2 3 1 5 6: of 12 links that are given 5 has 1 and 6, and 0 has 6 and 8.
/// Every cut of one GPU has more than 20 GB/s, so that only the search can tell that no ring has more.
#[test]
fn a_ring_of_nine_is_the_best_one() {
    let fast = [(0, 6), (0, 8), (1, 3), (1, 5), (2, 3), (2, 7), (3, 4), (3, 7), (4, 7), (4, 8), (5, 6), (7, 8)];
    let found = found(&fast_beside_slow(9, fast), 9);
    assert_eq!(found, json!({ "search": "exact", "ring_bandwidth": 20e9, "at_most": 20e9 }));
}

/// A star of fast links is no ring: of nine ranks eight have one fast link, to the first, which two messages of a ring use, one
/// each way. Some GPU sends over its slow link then: 2 GB/s, and no ring has more.
#[test]
fn that_there_is_no_ring_is_proved() {
    let found = found(&fast_beside_slow(9, (1..9).map(|gpu| (0, gpu))), 9);
    assert_eq!((&found["ring_bandwidth"], &found["at_most"]), (&json!(2e9), &json!(2e9)), "{found}");
}

/// A ring of fast links among half as many others, of as many ranks as are searched.
#[test]
fn a_ring_of_many_is_found() {
    for gpus in [32_u32, 49, 64] {
        // 37 has no factor of these: each GPU comes once.
        let order: Vec<u32> = (0..gpus).map(|place| place * 37 % gpus).collect();
        let others = (0..gpus / 2).map(|i| ((i * 29 + 3) % gpus, (i * 53 + 17) % gpus)).filter(|(a, b)| a != b);
        let found = found(&fast_beside_slow(gpus, ring(&order).chain(others)), gpus);
        assert_eq!(found["ring_bandwidth"], json!(20e9), "{gpus}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever fast links join all ranks to a ring, among others, one such ring is found.
    #[test]
    fn hidden_rings_are_found(
        order in (9..24_u32).prop_flat_map(|gpus| Just((0..gpus).collect::<Vec<_>>()).prop_shuffle()),
        others in prop::collection::vec((0..24_u32, 0..24_u32), 0..8),
    ) {
        let gpus = order.len() as u32;
        let others = others.iter().map(|(a, b)| (a % gpus, b % gpus)).filter(|(a, b)| a != b);
        let found = found(&fast_beside_slow(gpus, ring(&order).chain(others)), gpus);
        prop_assert_eq!(&found["ring_bandwidth"], &json!(20e9), "{}", found);
    }
}
