//! All routes of the fewest links between two nodes, and those through nodes that a transfer must pass.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use weir_plugin_api::{LinkId, NodeId, NodeKind};

use super::search::{climb, useful_links};
use super::{RouteError, Selection};
use crate::fabric::Fabric;

/// Branches of a route at most: those between two pods of a fat tree of 64-port switches (*assumed*).
pub const MOST_BRANCHES: usize = 1024;

/// The routes that a selection takes through nodes, in the order of their links.
pub(super) fn through(fabric: &Fabric, nodes: &[NodeId], selection: Selection) -> Result<Vec<Vec<LinkId>>, RouteError> {
    let inner = nodes.get(1..nodes.len().saturating_sub(1)).unwrap_or_default();
    if let Some(&node) = inner.iter().find(|&&node| !fabric.node(node).kind.forwards()) {
        return Err(RouteError::NotForwarded(node));
    }
    let mut hash = if let Selection::Hashed(hash) = selection { hash } else { 0 };
    let mut ways: Vec<Vec<LinkId>> = vec![Vec::new()];
    for leg in nodes.windows(2) {
        let (from, to) = (leg[0], leg[1]);
        let equal = EqualRoutes::find(fabric, from, to).ok_or(RouteError::Unreachable(from, to))?;
        let next = match selection {
            Selection::All => equal.all(MOST_BRANCHES / ways.len()).ok_or(RouteError::TooMany(from, to))?,
            Selection::First | Selection::Hashed(_) => vec![equal.one(&mut hash)],
        };
        ways = ways.iter().flat_map(|way| next.iter().map(move |leg| [&way[..], leg].concat())).collect();
    }
    ways.iter().try_for_each(|way| goes_on(fabric, way))?;
    Ok(ways)
}

/// Refuses a route that takes a link twice, or turns back at a node that is no network card.
fn goes_on(fabric: &Fabric, way: &[LinkId]) -> Result<(), RouteError> {
    let turns = |pair: &&[LinkId]| {
        let node = fabric.link(pair[1]);
        fabric.link(pair[0]).from == node.to && fabric.node(node.from).kind != NodeKind::Nic
    };
    if let Some(pair) = way.windows(2).find(turns) {
        return Err(RouteError::TurnsBack(fabric.link(pair[1]).from));
    }
    let mut sorted = way.to_vec();
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map_or(Ok(()), |pair| Err(RouteError::TurnsBack(fabric.link(pair[0]).to)))
}

/// The routes of the fewest links between two nodes.
pub(super) struct EqualRoutes<'a> {
    fabric: &'a Fabric,
    from: NodeId,
    to: NodeId,
    /// Per node on such a route: the links on which one goes on, ascending.
    next: FxHashMap<NodeId, SmallVec<[LinkId; 4]>>,
}

impl<'a> EqualRoutes<'a> {
    /// `None` where the destination cannot be reached, or is the source.
    pub(super) fn find(fabric: &'a Fabric, from: NodeId, to: NodeId) -> Option<Self> {
        let mut routes = Self { fabric, from, to, next: FxHashMap::default() };
        if from == to {
            return None;
        }
        if !fabric.has_laterals() {
            let mut only = Vec::new();
            let found = climb(fabric, from, to, &mut only);
            routes.next.extend(only.iter().map(|&link| (fabric.link(link).from, smallvec![link])));
            return found.then_some(routes);
        }
        let (mut ahead, mut back) = (Search::new(fabric, from, to), Search::new(fabric, to, from));
        let passes = |node: &NodeId| *node == from || *node == to || fabric.node(*node).kind.forwards();
        // From both ends by turns, the smaller circle first: through a wide network one would reach all of it.
        while !ahead.last.iter().any(|node| back.hops.contains_key(node) && passes(node)) {
            let smaller = if ahead.last.len() <= back.last.len() { &mut ahead } else { &mut back };
            if !smaller.widen() {
                return None;
            }
        }
        let (depth, rest) = (ahead.depth, back.depth);
        let meets = |node: &NodeId| ahead.hops.get(node) == Some(&depth) && back.hops.get(node) == Some(&rest);
        let mut middle: Vec<NodeId> =
            ahead.last.iter().chain(&back.last).copied().filter(passes).filter(meets).collect();
        middle.sort_unstable();
        middle.dedup();
        ahead.home(&middle, |link| routes.add(LinkId(link.0 ^ 1)));
        back.home(&middle, |link| routes.add(link));
        routes.next.values_mut().for_each(|links| links.sort_unstable());
        Some(routes)
    }

    fn add(&mut self, link: LinkId) {
        self.next.entry(self.fabric.link(link).from).or_default().push(link);
    }

    /// One of them: at each node the link that the hash picks, which loses what it was picked by. 0 picks the first.
    pub(super) fn one(&self, hash: &mut u128) -> Vec<LinkId> {
        let (mut node, mut links) = (self.from, Vec::new());
        while node != self.to {
            let choice = &self.next[&node];
            let count = choice.len() as u128;
            let link = choice[(*hash % count) as usize];
            *hash /= count;
            links.push(link);
            node = self.fabric.link(link).to;
        }
        links
    }

    /// All of them, by their links; `None` where there are more than `most`.
    fn all(&self, most: usize) -> Option<Vec<Vec<LinkId>>> {
        let (mut found, mut open) = (Vec::new(), vec![(self.from, Vec::new())]);
        while let Some((node, links)) = open.pop() {
            if node == self.to {
                found.push(links);
                // Each that is open leads to the destination.
                if found.len() + open.len() > most {
                    return None;
                }
                continue;
            }
            let longer = |&link: &LinkId| (self.fabric.link(link).to, [&links[..], &[link]].concat());
            open.extend(self.next[&node].iter().rev().map(longer));
        }
        Some(found)
    }
}

/// The nodes around one end of a route, breadth first.
struct Search<'a> {
    fabric: &'a Fabric,
    end: NodeId,
    /// Where the route comes from, or goes to.
    other: NodeId,
    /// Per node: how many links it is from the end.
    hops: FxHashMap<NodeId, u32>,
    /// The nodes of the largest distance so far.
    last: Vec<NodeId>,
    depth: u32,
    ways: Vec<LinkId>,
}

impl<'a> Search<'a> {
    fn new(fabric: &'a Fabric, end: NodeId, other: NodeId) -> Self {
        let hops = FxHashMap::from_iter([(end, 0)]);
        Self { fabric, end, other, hops, last: vec![end], depth: 0, ways: Vec::new() }
    }

    /// Goes one link further; false where that leads nowhere new.
    fn widen(&mut self) -> bool {
        self.depth += 1;
        for node in std::mem::take(&mut self.last) {
            if node != self.end && !self.fabric.node(node).kind.forwards() {
                continue;
            }
            useful_links(self.fabric, node, self.other, &mut self.ways);
            for &link in &self.ways {
                let next = self.fabric.link(link).to;
                if let Entry::Vacant(slot) = self.hops.entry(next) {
                    slot.insert(self.depth);
                    self.last.push(next);
                }
            }
        }
        !self.last.is_empty()
    }

    /// Hands over the links of the shortest ways from these nodes back to the end, each once.
    fn home(&mut self, from: &[NodeId], mut take: impl FnMut(LinkId)) {
        let (mut layer, mut ways) = (from.to_vec(), Vec::new());
        for depth in (0..self.depth).rev() {
            let mut nearer = Vec::new();
            for &node in &layer {
                useful_links(self.fabric, node, self.end, &mut ways);
                for &link in &ways {
                    let next = self.fabric.link(link).to;
                    let passes = next == self.end || self.fabric.node(next).kind.forwards();
                    if passes && self.hops.get(&next) == Some(&depth) {
                        take(link);
                        nearer.push(next);
                    }
                }
            }
            nearer.sort_unstable();
            nearer.dedup();
            layer = nearer;
        }
    }
}
