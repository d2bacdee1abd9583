//! All routes of the fewest links between two nodes, and those through nodes that a transfer must pass.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use weir_plugin_api::{LinkId, NodeId, NodeKind};

use super::search::{self, useful_links};
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
struct EqualRoutes<'a> {
    fabric: &'a Fabric,
    from: NodeId,
    to: NodeId,
    /// Per node on such a route: the links on which one goes on, ascending.
    next: FxHashMap<NodeId, SmallVec<[LinkId; 4]>>,
}

impl<'a> EqualRoutes<'a> {
    /// `None` where the destination cannot be reached, or is the source.
    fn find(fabric: &'a Fabric, from: NodeId, to: NodeId) -> Option<Self> {
        if from == to {
            return None;
        }
        let mut next: FxHashMap<NodeId, SmallVec<[LinkId; 4]>> = FxHashMap::default();
        if !fabric.has_laterals() {
            let mut only = Vec::new();
            let found = search::first(fabric, from, to, &mut only);
            next.extend(only.iter().map(|&link| (fabric.link(link).from, smallvec![link])));
            return found.then_some(Self { fabric, from, to, next });
        }
        let entering = entering(fabric, from, to);
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            for &link in &entering.get(&node)?.1 {
                let before = fabric.link(link).from;
                let links = next.entry(before).or_default();
                if links.is_empty() && before != from {
                    queue.push_back(before);
                }
                links.push(link);
            }
        }
        next.values_mut().for_each(|links| links.sort_unstable());
        Some(Self { fabric, from, to, next })
    }

    /// One of them: at each node the link that the hash picks, which loses what it was picked by.
    fn one(&self, hash: &mut u128) -> Vec<LinkId> {
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

/// Per node that is reached with no more links than the destination: how many, and the last links of the ways of that length.
fn entering(fabric: &Fabric, from: NodeId, to: NodeId) -> FxHashMap<NodeId, (u32, SmallVec<[LinkId; 2]>)> {
    let mut reached: FxHashMap<NodeId, (u32, SmallVec<[LinkId; 2]>)> = FxHashMap::default();
    let (mut queue, mut ways) = (VecDeque::from([from]), Vec::new());
    reached.insert(from, (0, SmallVec::new()));
    while let Some(node) = queue.pop_front() {
        let hops = reached[&node].0;
        if reached.get(&to).is_some_and(|&(most, _)| hops >= most) {
            break;
        }
        if node != from && !fabric.node(node).kind.forwards() {
            continue;
        }
        useful_links(fabric, node, to, &mut ways);
        for &link in &ways {
            let next = fabric.link(link).to;
            let (known, links) = reached.entry(next).or_insert_with(|| {
                queue.push_back(next);
                (hops + 1, SmallVec::new())
            });
            if *known == hops + 1 {
                links.push(link);
            }
        }
    }
    reached
}
