//! Routes against a plain enumeration of all simple ways, on random trees with lateral links.

use crate::common::{fabric, tree};
use proptest::prelude::*;
use weir_sim_core::api::{LinkId, LinkKind, NodeId, NodeKind, SimDuration};
use weir_sim_core::{Fabric, FabricBuilder, FabricError, LinkSpec, Routes};

const LINK: LinkSpec = LinkSpec { up: 1e9, down: 2e9, latency: SimDuration(5), kind: LinkKind::PCIE };

/// Shortest, then lexicographically smallest, by breadth-first layers of whole sequences.
fn brute(fabric: &Fabric, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
    let mut ways: Vec<(NodeId, Vec<LinkId>)> = vec![(from, Vec::new())];
    for _ in 0..fabric.nodes().len() {
        let mut next = Vec::new();
        for (at, links) in &ways {
            if *at != from && !fabric.node(*at).kind.forwards() {
                continue;
            }
            for (i, link) in fabric.links().iter().enumerate().filter(|(_, l)| l.from == *at) {
                let mut longer = links.clone();
                longer.push(LinkId(i as u32));
                next.push((link.to, longer));
            }
        }
        // Only the smallest sequence to each node can begin a smallest one.
        next.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        next.dedup_by_key(|(node, _)| *node);
        if let Some((_, links)) = next.iter().find(|(node, _)| *node == to) {
            return Some(links.clone());
        }
        ways = next;
    }
    None
}

/// Rebuilds a drawn tree with lateral links and other kinds of nodes.
fn with_laterals(plain: &Fabric, kinds: &[usize], laterals: &[(usize, usize)]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut ids = Vec::new();
    for (i, node) in plain.nodes().iter().enumerate() {
        let kind = NodeKind::ALL[kinds[i % kinds.len()] % NodeKind::ALL.len()];
        ids.push(if node.parent.is_none() {
            builder.root(kind).expect("a root")
        } else {
            builder.child(ids[node.parent.index()], kind, LINK).expect("depth-first")
        });
    }
    for &(a, b) in laterals {
        let _ = builder.lateral(ids[a % ids.len()], ids[b % ids.len()], LINK);
    }
    builder.build()
}

proptest! {
    #[test]
    fn are_the_shortest_and_smallest(
        tree in tree(1..14),
        kinds in prop::collection::vec(0..8_usize, 1..14),
        laterals in prop::collection::vec((0..100_usize, 0..100_usize), 0..6),
    ) {
        let fabric = with_laterals(&fabric(&tree, false).0, &kinds, &laterals);
        let mut routes = Routes::new();
        for from in (0..fabric.nodes().len() as u32).map(NodeId) {
            for to in (0..fabric.nodes().len() as u32).map(NodeId).filter(|&to| to != from) {
                let route = routes.between(&fabric, from, to);
                let links = route.map(|r| routes.links(r).to_vec());
                prop_assert_eq!(&links, &brute(&fabric, from, to), "{:?} to {:?}", from, to);
                if let Some(r) = route {
                    prop_assert_eq!(routes.between(&fabric, from, to), Some(r));
                    let latency: u64 = links.iter().flatten().map(|&l| fabric.link(l).latency.0).sum();
                    prop_assert_eq!(routes.latency(r).0, latency);
                }
            }
        }
    }
}

#[test]
fn links_are_numbered_tree_first_up_before_down() {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::Switch).expect("root");
    let a = b.child(root, NodeKind::Switch, LINK).expect("a");
    let leaf = b.child(a, NodeKind::Gpu, LINK).expect("leaf");
    let c = b.child(root, NodeKind::Gpu, LINK).expect("c");
    b.lateral(leaf, c, LINK).expect("lateral");
    let fabric = b.build();
    let ends: Vec<(u32, u32, f64)> = fabric.links().iter().map(|l| (l.from.0, l.to.0, l.bandwidth)).collect();
    let expected =
        [(1, 0, 1e9), (0, 1, 2e9), (2, 1, 1e9), (1, 2, 2e9), (3, 0, 1e9), (0, 3, 2e9), (2, 3, 1e9), (3, 2, 2e9)];
    assert_eq!(ends, expected);
}

#[test]
fn what_cannot_be_built_is_refused() {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::Switch).expect("root");
    let a = b.child(root, NodeKind::Switch, LINK).expect("a");
    let c = b.child(root, NodeKind::Gpu, LINK).expect("c");
    assert_eq!(b.child(a, NodeKind::Gpu, LINK), Err(FabricError::NotDepthFirst(3)));
    for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            b.child(c, NodeKind::Gpu, LinkSpec { down: bandwidth, ..LINK }),
            Err(FabricError::Bandwidth(_))
        ));
    }
    assert_eq!(b.lateral(a, a, LINK), Err(FabricError::Loop(1)));
    assert_eq!(b.lateral(a, c, LINK), Ok(()));
    assert_eq!(b.lateral(c, a, LINK), Err(FabricError::Twice(2, 1)));
}
