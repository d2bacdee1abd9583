//! Random forests with lateral links, and random transfers on them.

use proptest::prelude::*;
use proptest::sample::Index;
use weir_plugin_api::{NodeId, NodeKind};
use weir_sim_core::{Fabric, FabricBuilder, Routes};

use super::{Transfer, link};

/// Kinds of inner nodes.
const INNER: [NodeKind; 4] = [NodeKind::Switch, NodeKind::RootComplex, NodeKind::Switch, NodeKind::Nic];
/// Kinds of leaves.
const LEAVES: [NodeKind; 4] = [NodeKind::Gpu, NodeKind::Gpu, NodeKind::Cpu, NodeKind::Host];
/// Bandwidths in B/s, before noise.
const BANDWIDTHS: [f64; 5] = [11.6e9, 11.6e9, 8e9, 16e9, 25e9];

/// A fabric, and what to send over it.
#[derive(Debug, Clone)]
pub struct Case {
    pub fabric: Fabric,
    pub transfers: Vec<Transfer>,
}

#[derive(Debug, Clone)]
struct NodePlan {
    /// How far up from the last node the parent is.
    parent: Index,
    kind: Index,
    up: f64,
    down: f64,
}

fn bandwidth(unequal: bool) -> impl Strategy<Value = f64> {
    (any::<Index>(), 0.5..2.0_f64, any::<bool>()).prop_map(move |(pick, noise, noisy)| {
        if !unequal {
            return BANDWIDTHS[0];
        }
        *pick.get(&BANDWIDTHS) * if noisy { noise } else { 1.0 }
    })
}

fn node_plan(unequal: bool) -> impl Strategy<Value = NodePlan> {
    (any::<Index>(), any::<Index>(), bandwidth(unequal), bandwidth(unequal))
        .prop_map(|(parent, kind, up, down)| NodePlan { parent, kind, up, down })
}

/// Builds the fabric; its endpoints are the leaves and the NICs. Two GPUs below the root are always there.
fn build(root: Index, plans: &[NodePlan], laterals: &[(Index, Index, f64)]) -> (Fabric, Vec<NodeId>) {
    let mut parents: Vec<usize> = Vec::new();
    for plan in plans {
        let mut chain = vec![parents.len()];
        while let Some(&at) = chain.last().filter(|&&at| at > 0) {
            chain.push(parents[at - 1]);
        }
        parents.push(*plan.parent.get(&chain));
    }
    parents.extend([0, 0]);
    let mut b = FabricBuilder::new();
    b.root(*root.get(&INNER)).expect("a root");
    let mut endpoints = Vec::new();
    for (i, &parent) in parents.iter().enumerate() {
        let inner = parents.contains(&(i + 1));
        let (kind, up, down) = match plans.get(i) {
            Some(plan) => (*plan.kind.get(if inner { &INNER } else { &LEAVES }), plan.up, plan.down),
            None => (NodeKind::Gpu, BANDWIDTHS[0], BANDWIDTHS[0]),
        };
        let node = b.child(NodeId::from_index(parent), kind, link(up, down)).expect("depth-first");
        if !inner || kind == NodeKind::Nic {
            endpoints.push(node);
        }
    }
    for (first, second, bandwidth) in laterals {
        let (first, second) = (first.index(parents.len() + 1), second.index(parents.len() + 1));
        // A pair that is joined already, or a node with itself, is no lateral link.
        let _ = b.lateral(NodeId::from_index(first), NodeId::from_index(second), link(*bandwidth, *bandwidth));
    }
    (b.build(), endpoints)
}

/// Limits and weights of transfers: mostly none, else small exact or arbitrary numbers.
fn limit() -> impl Strategy<Value = f64> {
    prop_oneof![4 => Just(f64::INFINITY), 1 => 1e8..20e9_f64, 1 => Just(3e9), 1 => Just(11.6e9)]
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![4 => Just(1.0), 2 => (1..9_u8).prop_map(f64::from), 1 => 0.1..10.0_f64]
}

type Attributes = (f64, f64, i64, u64);

fn attributes() -> impl Strategy<Value = Attributes> {
    (limit(), weight(), -1..=2_i64, 0..6_u64)
}

/// Cases with up to `most` transfers on trees of up to `nodes` + 3 nodes.
pub fn cases(nodes: usize, most: usize, lateral: usize) -> impl Strategy<Value = Case> {
    any::<bool>().prop_flat_map(move |unequal| {
        let plans = prop::collection::vec(node_plan(unequal), 2..=nodes);
        let laterals = prop::collection::vec((any::<Index>(), any::<Index>(), bandwidth(unequal)), 0..=lateral);
        let ends = (any::<Index>(), any::<Index>(), attributes());
        let transfers = prop::collection::vec(ends, 1..=most);
        (any::<Index>(), plans, laterals, transfers, any::<bool>()).prop_map(
            |(root, plans, laterals, transfers, plain)| {
                let (fabric, endpoints) = build(root, &plans, &laterals);
                Case { transfers: place(&fabric, &endpoints, &transfers, plain), fabric }
            },
        )
    })
}

fn place(fabric: &Fabric, endpoints: &[NodeId], wanted: &[(Index, Index, Attributes)], plain: bool) -> Vec<Transfer> {
    let mut routes = Routes::new();
    let mut transfers = Vec::new();
    for (from, to, (limit, weight, priority, arrival)) in wanted {
        let (from, at) = (from.index(endpoints.len()), to.index(endpoints.len() - 1));
        let to = endpoints[if at >= from { at + 1 } else { at }];
        let from = endpoints[from];
        if routes.between(fabric, from, to).is_none() {
            continue;
        }
        let all = Transfer { from, to, limit: *limit, weight: *weight, priority: *priority, arrival: *arrival };
        transfers.push(if plain { Transfer { arrival: *arrival, ..Transfer::new(from, to) } } else { all });
    }
    if transfers.is_empty() {
        // The two GPUs below the root, which are always connected.
        transfers.push(Transfer::new(endpoints[endpoints.len() - 1], endpoints[endpoints.len() - 2]));
    }
    transfers
}
