//! The network cards of machines. A machine is what hangs together without nodes of the kind `network` and without links of
//! the kind `network`; its cards are those nodes of the kind `nic` that such a link, or a link to such a node, leaves.

use rustc_hash::{FxHashMap, FxHashSet};
use weir_plugin_api::{LinkId, LinkKind, NodeId, NodeKind};
use weir_sim_core::{DisjointSets, Fabric};

use super::rules::NicRule;
use crate::workload::attributes::Ends;

/// The machines of a fabric.
#[derive(Default)]
pub(in crate::workload) struct Nics {
    /// Per node: its machine.
    machine: Vec<u32>,
    /// Per machine that has any: its cards, in the order of nodes.
    cards: FxHashMap<u32, Vec<NodeId>>,
    /// Per machine that has cards: the links inside of it.
    inside: FxHashMap<u32, Vec<LinkId>>,
    /// Per device that was asked for: the number of its nearest card.
    nearest: FxHashMap<NodeId, usize>,
}

impl Nics {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let is_network = |node: NodeId| fabric.node(node).kind == NodeKind::Network;
        let links = || (0..fabric.links().len()).map(LinkId::from_index).map(|id| (id, fabric.link(id)));
        let leaves =
            |link: &weir_sim_core::Link| link.kind == LinkKind::NETWORK || is_network(link.from) || is_network(link.to);
        let mut sets = DisjointSets::default();
        fabric.nodes().iter().for_each(|_| sets.add());
        links().filter(|(_, link)| !leaves(link)).for_each(|(_, link)| sets.join(link.from.0, link.to.0));
        let machine: Vec<u32> = (0..fabric.nodes().len() as u32).map(|node| sets.root(node)).collect();
        let of = |node: NodeId| machine[node.index()];
        let (mut cards, mut inside) = (FxHashMap::<_, Vec<NodeId>>::default(), FxHashMap::<_, Vec<LinkId>>::default());
        let out = links().filter(|(_, link)| leaves(link)).map(|(_, link)| link.from);
        let leading_out: FxHashSet<NodeId> = out.filter(|&node| fabric.node(node).kind == NodeKind::Nic).collect();
        for node in (0..fabric.nodes().len()).map(NodeId::from_index).filter(|node| leading_out.contains(node)) {
            cards.entry(of(node)).or_default().push(node);
        }
        for (id, link) in links().filter(|(_, link)| !leaves(link) && cards.contains_key(&of(link.from))) {
            inside.entry(of(link.from)).or_default().push(id);
        }
        Self { machine, cards, inside, nearest: FxHashMap::default() }
    }

    /// Whether no machine has a card.
    pub(super) fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// The nodes that a transfer passes, way by way: its ends with the cards between, where they are in two machines.
    pub(super) fn ways(&mut self, fabric: &Fabric, Ends { from, to }: Ends, rule: NicRule) -> Vec<Vec<NodeId>> {
        if self.machine[from.index()] == self.machine[to.index()] {
            return vec![vec![from, to]];
        }
        let numbers: Vec<(usize, usize)> = match rule {
            NicRule::Nearest => vec![(self.nearest(fabric, from), self.nearest(fabric, to))],
            NicRule::Rail => {
                let end = if self.cards(fabric, from).is_empty() { to } else { from };
                let rail = self.nearest(fabric, end);
                vec![(rail, rail)]
            }
            NicRule::All => {
                let most = self.cards(fabric, from).len().max(self.cards(fabric, to).len()).max(1);
                (0..most).map(|card| (card, card)).collect()
            }
        };
        let card = |end: NodeId, number: usize| {
            let cards = self.cards(fabric, end);
            (!cards.is_empty()).then(|| cards[number % cards.len()])
        };
        let way = |(first, last)| [Some(from), card(from, first), card(to, last), Some(to)];
        numbers.into_iter().map(|pair| way(pair).into_iter().flatten().collect()).collect()
    }

    /// The cards of the machine of a device; none for a card, which needs no other.
    fn cards(&self, fabric: &Fabric, end: NodeId) -> &[NodeId] {
        let is_card = fabric.node(end).kind == NodeKind::Nic;
        self.cards.get(&self.machine[end.index()]).filter(|_| !is_card).map_or(&[], |cards| cards)
    }

    /// The number of the card that fewest links part from a device. Equally near ones are dealt to the devices of its kind in
    /// the machine, in the order of nodes.
    fn nearest(&mut self, fabric: &Fabric, end: NodeId) -> usize {
        if let Some(&known) = self.nearest.get(&end) {
            return known;
        }
        let hops = self.hops(fabric, end);
        let distances = self.cards(fabric, end).iter().map(|card| hops.get(card).copied().unwrap_or(u32::MAX));
        let distances: Vec<u32> = distances.collect();
        let least = distances.iter().min().copied().unwrap_or(0);
        let near: Vec<usize> = (0..distances.len()).filter(|&card| distances[card] == least).collect();
        let (machine, kind) = (self.machine[end.index()], fabric.node(end).kind);
        let alike = |&node: &u32| self.machine[node as usize] == machine && fabric.node(NodeId(node)).kind == kind;
        // A machine begins with its smallest node.
        let before = (machine..end.0).filter(alike).count();
        let nearest = near.get(before % near.len().max(1)).copied().unwrap_or(0);
        self.nearest.insert(end, nearest);
        nearest
    }

    /// Per node of the machine of a device: how many links it is away.
    fn hops(&self, fabric: &Fabric, end: NodeId) -> FxHashMap<NodeId, u32> {
        let (mut hops, mut depth) = (FxHashMap::from_iter([(end, 0)]), 0);
        let Some(inside) = self.inside.get(&self.machine[end.index()]) else { return hops };
        loop {
            let known = hops.len();
            for link in inside.iter().map(|&link| fabric.link(link)) {
                let passes = link.from == end || fabric.node(link.from).kind.forwards();
                if passes && hops.get(&link.from) == Some(&depth) {
                    hops.entry(link.to).or_insert(depth + 1);
                }
            }
            depth += 1;
            if hops.len() == known {
                return hops;
            }
        }
    }
}
