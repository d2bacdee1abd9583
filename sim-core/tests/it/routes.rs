//! Routes against a plain enumeration of all simple ways, on random trees with lateral links.

use crate::common::{fabric, tree};
use proptest::prelude::*;
use weir_sim_core::api::{LinkId, LinkKind, NodeId, NodeKind, SimDuration};
use weir_sim_core::{
    Fabric, FabricBuilder, FabricError, Leg, Link, LinkSpec, Over, RouteError, Routes, Selection, Way, branches,
    divided, shares,
};

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

/// All sequences of the fewest links that may be taken, in order: layers of whole sequences without any pruning.
pub fn brute_all(fabric: &Fabric, from: NodeId, to: NodeId, allows: impl Fn(LinkId) -> bool) -> Vec<Vec<LinkId>> {
    let mut ways: Vec<(NodeId, Vec<LinkId>)> = vec![(from, Vec::new())];
    for _ in 0..fabric.nodes().len() {
        let goes_on = |at: &NodeId| *at == from || fabric.node(*at).kind.forwards();
        let mut next = Vec::new();
        for (at, links) in ways.iter().filter(|(at, _)| goes_on(at)) {
            let taken = |(i, l): &(usize, &Link)| l.from == *at && allows(LinkId(*i as u32));
            for (i, link) in fabric.links().iter().enumerate().filter(taken) {
                next.push((link.to, [&links[..], &[LinkId(i as u32)]].concat()));
            }
        }
        let mut found: Vec<_> = next.iter().filter(|(at, _)| *at == to).map(|(_, links)| links.clone()).collect();
        if !found.is_empty() {
            found.sort();
            return found;
        }
        // No route of the fewest links comes to a node a second time.
        next.retain(|(at, links)| !links[..links.len() - 1].iter().any(|&l| fabric.link(l).to == *at));
        next.truncate(20_000);
        ways = next;
    }
    Vec::new()
}

/// The route that a hash picks among equal ones: at each node the (h mod k)-th of the k links on which any of them goes on.
pub fn picked(all: &[Vec<LinkId>], mut hash: u128) -> Vec<LinkId> {
    let mut route: Vec<LinkId> = Vec::new();
    while route.len() < all[0].len() {
        let fits = |way: &&Vec<LinkId>| way.starts_with(&route);
        let mut next: Vec<LinkId> = all.iter().filter(fits).map(|way| way[route.len()]).collect();
        next.sort_unstable();
        next.dedup();
        route.push(next[(hash % next.len() as u128) as usize]);
        hash /= next.len() as u128;
    }
    route
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

proptest! {
    #[test]
    fn equal_routes_are_all_found(
        tree in tree(1..9),
        kinds in prop::collection::vec(0..5_usize, 1..9),
        laterals in prop::collection::vec((0..100_usize, 0..100_usize), 0..12),
        hash in any::<u128>(),
        bytes in 1..100_u64,
        areas in prop::collection::vec(0..3_u32, 40),
        over in prop::sample::select(vec![Over::Any, Over::Only(0), Over::Not(0)]),
    ) {
        let fabric = with_laterals(&fabric(&tree, false).0, &kinds, &laterals);
        let mut routes = Routes::new();
        for from in (0..fabric.nodes().len() as u32).map(NodeId) {
            for to in (0..fabric.nodes().len() as u32).map(NodeId).filter(|&to| to != from) {
                let all = brute_all(&fabric, from, to, |link| match over {
                    Over::Any => true,
                    Over::Only(area) => areas[link.index() / 2] == area,
                    Over::Not(area) => areas[link.index() / 2] != area,
                });
                let mut select = |selection| {
                    let ways = [Way { from, legs: vec![Leg { to, over }], selection }];
                    let found = routes.select(&fabric, &ways, &areas);
                    found.map(|route| routes.links(route).to_vec())
                };
                if all.is_empty() {
                    prop_assert_eq!(select(Selection::All), Err(RouteError::Unreachable(from, to)));
                    continue;
                }
                let spread = select(Selection::All).expect("routes");
                prop_assert_eq!(branches(&fabric, &spread).collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
                prop_assert_eq!(select(Selection::First).expect("a route"), all[0].clone());
                prop_assert_eq!(select(Selection::Hashed(hash)).expect("a route"), picked(&all, hash));
                let parts: Vec<u64> = divided(&fabric, &spread, bytes).map(|(_, bytes)| bytes).collect();
                prop_assert_eq!(parts.iter().sum::<u64>(), bytes);
                prop_assert!(parts.iter().all(|part| bytes / all.len() as u64 <= *part && *part <= parts[0]));
                // What leaves the source is everything.
                let leaving = shares(&fabric, &spread).into_iter().filter(|(link, _)| fabric.link(*link).from == from);
                prop_assert!((leaving.map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_route_through_nodes_goes_there_and_does_not_turn_back() {
    // Two GPUs and a NIC below a switch, a second switch with a NIC, a network beside the tree.
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::RootComplex).expect("root");
    let near = b.child(root, NodeKind::Switch, LINK).expect("a switch");
    let [a, c] = [0, 1].map(|_| b.child(near, NodeKind::Gpu, LINK).expect("a gpu"));
    let nic0 = b.child(near, NodeKind::Nic, LINK).expect("a nic");
    let far = b.child(root, NodeKind::Switch, LINK).expect("a switch");
    let nic1 = b.child(far, NodeKind::Nic, LINK).expect("a nic");
    let (net, store) = (b.root(NodeKind::Network).expect("a root"), b.root(NodeKind::Host).expect("a root"));
    for node in [nic0, nic1, store] {
        b.lateral(node, net, LINK).expect("a link");
    }
    let (fabric, mut routes) = (b.build(), Routes::new());
    let mut through = |nodes: &[NodeId]| {
        let route = routes.select(&fabric, &[Way::through(nodes, Selection::First)], &[])?;
        Ok(routes.links(route).iter().map(|&link| fabric.link(link).to).collect::<Vec<_>>())
    };
    assert_eq!(through(&[a, store]), Ok(vec![near, nic0, net, store]));
    assert_eq!(through(&[a, nic1, store]), Ok(vec![near, root, far, nic1, net, store]));
    assert_eq!(through(&[a, nic0, c]), Ok(vec![near, nic0, near, c]), "a card sends back what it got");
    assert_eq!(through(&[a, far, c]), Err(RouteError::Twice(root)), "the way on is the way back");
    assert_eq!(through(&[a, c, store]), Err(RouteError::NotForwarded(c)));
}

/// Branches of one leg times those of the next: as many as a transfer may have, and a few more.
#[test]
fn a_transfer_has_so_many_branches_and_no_more() {
    let all = |first: usize, second: usize| {
        let mut b = FabricBuilder::new();
        let ends = [NodeKind::Host, NodeKind::Switch, NodeKind::Host].map(|kind| b.root(kind).expect("a root"));
        for (count, from, to) in [(first, ends[0], ends[1]), (second, ends[1], ends[2])] {
            for _ in 0..count {
                let spine = b.root(NodeKind::Switch).expect("a root");
                b.lateral(from, spine, LINK).expect("a link");
                b.lateral(spine, to, LINK).expect("a link");
            }
        }
        let (fabric, mut routes) = (b.build(), Routes::new());
        let found = routes.select(&fabric, &[Way::through(&ends, Selection::All)], &[]);
        found.map(|route| branches(&fabric, routes.links(route)).count())
    };
    assert_eq!(all(32, 32), Ok(1024));
    assert_eq!(all(32, 33), Err(RouteError::TooMany(NodeId(1), NodeId(2))));
    assert_eq!(all(1025, 1), Err(RouteError::TooMany(NodeId(0), NodeId(1))));
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

/// A transfer over several ways at once has arrived when the part over the slowest one has.
#[test]
fn several_ways_at_once_have_the_latency_of_the_slowest() {
    let mut b = FabricBuilder::new();
    let [from, to] = [0, 1].map(|_| b.root(NodeKind::Host).expect("a root"));
    for latency in [5, 70, 20] {
        let spine = b.root(NodeKind::Switch).expect("a root");
        let link = LinkSpec { latency: SimDuration(latency), ..LINK };
        b.lateral(from, spine, link).expect("a link");
        b.lateral(spine, to, link).expect("a link");
    }
    let (fabric, mut routes) = (b.build(), Routes::new());
    let route = routes.select(&fabric, &[Way::through(&[from, to], Selection::All)], &[]).expect("routes");
    assert_eq!((branches(&fabric, routes.links(route)).count(), routes.latency(route)), (3, SimDuration(140)));
}

/// A link that changes, and what links share, keep to what may be built.
#[test]
fn links_are_changed_to_what_may_be_built() {
    let mut b = FabricBuilder::new();
    let [one, other] = [0, 1].map(|_| b.root(NodeKind::Switch).expect("a root"));
    b.lateral(one, other, LINK).expect("a link");
    b.share_last_link(2e9);
    let mut fabric = b.build();
    for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = fabric.set_link(LinkId(0), bandwidth, SimDuration(7));
        assert!(matches!(refused, Err(FabricError::Bandwidth(_))), "{bandwidth}");
        assert!(matches!(fabric.set_shared(0, bandwidth), Err(FabricError::Bandwidth(_))), "{bandwidth}");
    }
    assert_eq!((fabric.set_shared(0, 4e9), fabric.shared()[0].bandwidth), (Ok(()), 4e9));
    assert_eq!(fabric.set_link(LinkId(0), 3e9, SimDuration(7)), Ok(()));
    assert_eq!((fabric.link(LinkId(0)).bandwidth, fabric.link(LinkId(0)).latency), (3e9, SimDuration(7)));
}
