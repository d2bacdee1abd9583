//! The network cards of machines. A machine is what stays connected without nodes and links of the kind `network`; its cards
//! are those nodes of the kind `nic` that such a link, or a link to such a node, leaves.
//!
//! ```text
//! source ── links of its machine ──► card ── links of the network ──► card ── links of its machine ──► destination
//! ```

use std::collections::hash_map::Entry;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use weir_plugin_api::{LinkId, LinkKind, NodeId, NodeKind};
use weir_sim_core::{DisjointSets, Fabric, Leg, Link, Over};

use super::rules::NicRule;
use crate::topology::is_inner;
use crate::workload::attributes::Ends;

/// The area of links of the network; others have that of their machine.
const NETWORK: u32 = u32::MAX;

/// The machines of a fabric.
pub(in crate::workload) struct Nics {
    /// Per pair of links: the machine that it lies in, or [`NETWORK`].
    areas: Vec<u32>,
    /// Per node: its machine.
    machine: Vec<u32>,
    /// Per machine, and network that it reaches: the nodes that lead there, in the order of nodes.
    exits: FxHashMap<u32, Vec<Exit>>,
    /// Per machine and some of its cards: the nearest to each device.
    nearest: FxHashMap<(u32, Vec<NodeId>), Rc<Dealt>>,
}

/// The card of each device.
type Dealt = FxHashMap<NodeId, NodeId>;

/// A node that a link of a network leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Exit {
    node: NodeId,
    network: u32,
    is_card: bool,
}

/// Whether a link is one of the network.
fn leaves(fabric: &Fabric, link: &Link) -> bool {
    let is_network = |node: NodeId| fabric.node(node).kind == NodeKind::Network;
    link.kind == LinkKind::NETWORK || is_network(link.from) || is_network(link.to)
}

/// The sets of nodes that links join, by the smallest of each.
fn joined(fabric: &Fabric, joins: impl Fn(&Link) -> bool) -> DisjointSets {
    let mut sets = DisjointSets::default();
    fabric.nodes().iter().for_each(|_| sets.add());
    fabric.links().iter().filter(|link| joins(link)).for_each(|link| sets.join(link.from.0, link.to.0));
    sets
}

impl Nics {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let mut machines = joined(fabric, |link| !leaves(fabric, link));
        let machine: Vec<u32> = (0..fabric.nodes().len() as u32).map(|node| machines.root(node)).collect();
        let forwards = |node: NodeId| fabric.node(node).kind.forwards();
        let mut networks = joined(fabric, |link| leaves(fabric, link) && forwards(link.from) && forwards(link.to));
        let mut exits: FxHashMap<u32, Vec<Exit>> = FxHashMap::default();
        for link in fabric.links().iter().filter(|link| leaves(fabric, link)) {
            // What does not forward belongs to the network of its neighbours.
            let network = networks.root(if forwards(link.from) { link.from.0 } else { link.to.0 });
            let is_card = fabric.node(link.from).kind == NodeKind::Nic;
            exits.entry(machine[link.from.index()]).or_default().push(Exit { node: link.from, network, is_card });
        }
        exits.values_mut().for_each(|exits| {
            exits.sort_unstable_by_key(|exit| (exit.node, exit.network));
            exits.dedup();
        });
        let area = |link: &Link| if leaves(fabric, link) { NETWORK } else { machine[link.from.index()] };
        let areas = fabric.links().iter().step_by(2).map(area).collect();
        Self { areas, machine, exits, nearest: FxHashMap::default() }
    }

    /// Per pair of links the number of its area.
    pub(super) fn areas(&self) -> &[u32] {
        &self.areas
    }

    /// Whether no machine has a card.
    pub(super) fn is_empty(&self) -> bool {
        !self.exits.values().flatten().any(|exit| exit.is_card)
    }

    /// The legs of a transfer, way by way, through cards where its ends are in two machines; `None` where no network joins
    /// them.
    pub(super) fn ways(&mut self, fabric: &Fabric, ends: Ends, rule: NicRule) -> Option<Vec<Vec<Leg>>> {
        let Ends { from, to } = ends;
        let (home, there) = (self.machine[from.index()], self.machine[to.index()]);
        if home == there {
            return Some(vec![vec![Leg { to, over: Over::Any }]]);
        }
        let pairs = self.pairs(fabric, ends, rule)?;
        let way = |(first, last): (Option<NodeId>, Option<NodeId>)| {
            let mut legs = Vec::with_capacity(3);
            let mut leg = |to: Option<NodeId>, over| legs.extend(to.map(|to| Leg { to, over }));
            leg(first.filter(|&card| card != from), Over::Only(home));
            let across = match (first, last) {
                (Some(_), Some(_)) => Over::Only(NETWORK),
                (Some(_), None) => Over::Not(home),
                (None, Some(_)) => Over::Not(there),
                (None, None) => Over::Any,
            };
            leg(Some(last.unwrap_or(to)), across);
            leg(Some(to).filter(|&to| last.is_some_and(|card| card != to)), Over::Only(there));
            legs
        };
        Some(pairs.into_iter().map(way).collect())
    }

    /// The cards by which a transfer leaves and enters: none of a machine that has none.
    fn pairs(
        &mut self,
        fabric: &Fabric,
        Ends { from, to }: Ends,
        rule: NicRule,
    ) -> Option<Vec<(Option<NodeId>, Option<NodeId>)>> {
        let (all, there) = (self.ways_out(fabric, from), self.ways_out(fabric, to));
        let common = |exit: &Exit, others: &[Exit]| others.iter().any(|other| other.network == exit.network);
        let first: Vec<Exit> = all.iter().copied().filter(|exit| common(exit, &there)).collect();
        let last: Vec<Exit> = there.iter().copied().filter(|exit| common(exit, &all)).collect();
        let has_card = |exits: &[Exit]| exits.iter().any(|exit| exit.is_card);
        match (has_card(&first), has_card(&last)) {
            _ if first.is_empty() => None,
            (false, false) => Some(vec![(None, None)]),
            (true, false) => Some(self.one_sided(fabric, from, &first, rule, |card| (Some(card), None))),
            (false, true) => Some(self.one_sided(fabric, to, &last, rule, |card| (None, Some(card)))),
            (true, true) if rule == NicRule::All => Some(all_pairs(&first, &last)),
            (true, true) => {
                let card = self.nearest(fabric, from, &first)?;
                let number = position(&all, card);
                let network = first.iter().find(|exit| exit.node == card)?.network;
                let last: Vec<Exit> = last.into_iter().filter(|exit| exit.network == network).collect();
                let same = (rule == NicRule::Rail).then(|| {
                    let rail = there.get(number % there.len()).filter(|exit| last.contains(exit));
                    rail.or_else(|| last.get(number % last.len())).map(|exit| exit.node)
                });
                let entered = same.flatten().or_else(|| self.nearest(fabric, to, &last))?;
                Some(vec![(Some(card), Some(entered))])
            }
        }
    }

    /// One card, or all, where only one end has any.
    fn one_sided(
        &mut self,
        fabric: &Fabric,
        end: NodeId,
        cards: &[Exit],
        rule: NicRule,
        pair: impl Fn(NodeId) -> (Option<NodeId>, Option<NodeId>),
    ) -> Vec<(Option<NodeId>, Option<NodeId>)> {
        match rule {
            NicRule::All => cards.iter().map(|exit| pair(exit.node)).collect(),
            _ => self.nearest(fabric, end, cards).into_iter().map(pair).collect(),
        }
    }

    /// The cards of the machine of a device, or what else leads out of it; a card is its own.
    fn ways_out(&self, fabric: &Fabric, end: NodeId) -> Vec<Exit> {
        let exits = self.exits.get(&self.machine[end.index()]).map_or(&[][..], |exits| exits);
        let is_card = fabric.node(end).kind == NodeKind::Nic && exits.iter().any(|exit| exit.node == end);
        let has_card = exits.iter().any(|exit| exit.is_card);
        let fits = |exit: &&Exit| if is_card { exit.node == end } else { exit.is_card == has_card };
        exits.iter().filter(fits).copied().collect()
    }

    /// The card that fewest links of its machine part from a device. Equally near ones are dealt in turn to the devices of
    /// one kind that have the same ones, in the order of nodes.
    fn nearest(&mut self, fabric: &Fabric, end: NodeId, among: &[Exit]) -> Option<NodeId> {
        let machine = self.machine[end.index()];
        let cards: Vec<NodeId> = among.iter().map(|exit| exit.node).collect();
        if cards.contains(&end) {
            return Some(end);
        }
        let key = (machine, cards);
        let known = match self.nearest.get(&key) {
            Some(known) => Rc::clone(known),
            None => {
                let dealt = Rc::new(self.deal(fabric, machine, &key.1));
                self.nearest.insert(key, Rc::clone(&dealt));
                dealt
            }
        };
        known.get(&end).copied()
    }

    /// The nearest of some cards for each device of a machine.
    fn deal(&self, fabric: &Fabric, machine: u32, cards: &[NodeId]) -> Dealt {
        let links = self.inside(fabric, machine);
        let hops: Vec<FxHashMap<NodeId, u32>> = cards.iter().map(|&card| hops(fabric, &links, card)).collect();
        let mut turns: FxHashMap<(NodeKind, Vec<usize>), usize> = FxHashMap::default();
        let devices = (machine..self.machine.len() as u32).map(NodeId);
        let devices =
            devices.filter(|node| self.machine[node.index()] == machine && !is_inner(fabric.node(*node).kind));
        let mut dealt = Dealt::default();
        for device in devices {
            let distance = |card: &usize| hops[*card].get(&device).copied().unwrap_or(u32::MAX);
            let least = (0..cards.len()).map(|card| distance(&card)).min().unwrap_or(u32::MAX);
            let near: Vec<usize> = (0..cards.len()).filter(|card| distance(card) == least).collect();
            let turn = turns.entry((fabric.node(device).kind, near.clone())).or_default();
            dealt.insert(device, cards[near[*turn % near.len()]]);
            *turn += 1;
        }
        dealt
    }

    /// Per node of a machine the nodes to which its links inside lead.
    fn inside(&self, fabric: &Fabric, machine: u32) -> FxHashMap<NodeId, Vec<NodeId>> {
        let mut inside: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        for id in (0..fabric.links().len()).map(LinkId::from_index) {
            if self.areas[id.index() / 2] == machine {
                let link = fabric.link(id);
                inside.entry(link.from).or_default().push(link.to);
            }
        }
        inside
    }
}

/// Each card of one machine with that of the same number of the other, network by network; the shorter list wraps around.
fn all_pairs(first: &[Exit], last: &[Exit]) -> Vec<(Option<NodeId>, Option<NodeId>)> {
    let networks: IndexSet<u32, FxBuildHasher> = first.iter().map(|exit| exit.network).collect();
    let of = |exits: &[Exit], network: u32| -> Vec<NodeId> {
        exits.iter().filter(|exit| exit.network == network).map(|exit| exit.node).collect()
    };
    let pairs = |network: u32| {
        let (out, into) = (of(first, network), of(last, network));
        let pair = |k: usize| (Some(out[k % out.len()]), Some(into[k % into.len()]));
        (0..out.len().max(into.len())).map(pair).collect::<Vec<_>>()
    };
    networks.into_iter().flat_map(pairs).collect()
}

/// The number of a card.
fn position(cards: &[Exit], card: NodeId) -> usize {
    cards.iter().position(|exit| exit.node == card).unwrap_or(0)
}

/// How many links part nodes from a card.
fn hops(fabric: &Fabric, links: &FxHashMap<NodeId, Vec<NodeId>>, card: NodeId) -> FxHashMap<NodeId, u32> {
    let (mut hops, mut layer, mut depth) = (FxHashMap::from_iter([(card, 0)]), vec![card], 0);
    while !layer.is_empty() {
        depth += 1;
        let passing = layer.iter().filter(|&&node| node == card || fabric.node(node).kind.forwards());
        let mut next = Vec::new();
        for &node in passing.flat_map(|node| links.get(node).into_iter().flatten()) {
            if let Entry::Vacant(slot) = hops.entry(node) {
                slot.insert(depth);
                next.push(node);
            }
        }
        layer = next;
    }
    hops
}
