//! All routes of the fewest links between two nodes, and those through nodes that a transfer must pass.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use weir_plugin_api::{LinkId, NodeId, NodeKind};

use super::search::{climb, useful_links};
use super::{RouteError, Selection, Way};
use crate::fabric::Fabric;

/// Whether a route may take a link.
type Allows<'a> = dyn Fn(LinkId) -> bool + 'a;

/// Branches of a route at most: those between two pods of a fat tree of 64-port switches (*assumed*).
pub const MOST_BRANCHES: usize = 1024;

/// The routes of a way, in the order of their links, `most` at most.
pub(super) fn routes_of(
    fabric: &Fabric,
    way: &Way,
    areas: &[u32],
    most: usize,
) -> Result<Vec<Vec<LinkId>>, RouteError> {
    let inner = way.legs.split_last().map_or(&[][..], |(_, inner)| inner);
    if let Some(leg) = inner.iter().find(|leg| !fabric.node(leg.to).kind.forwards()) {
        return Err(RouteError::NotForwarded(leg.to));
    }
    let mut hash = if let Selection::Hashed(hash) = way.selection { hash } else { 0 };
    let (mut from, mut routes): (_, Vec<Vec<LinkId>>) = (way.from, vec![Vec::new()]);
    for leg in &way.legs {
        let (to, allows) = (leg.to, |link| leg.over.allows(areas, link));
        let equal = EqualRoutes::find(fabric, from, to, &allows).ok_or(RouteError::Unreachable(from, to))?;
        let next = match way.selection {
            Selection::All => equal.all(most / routes.len()).ok_or(RouteError::TooMany(from, to))?,
            Selection::First | Selection::Hashed(_) if most == 0 => return Err(RouteError::TooMany(from, to)),
            Selection::First | Selection::Hashed(_) => vec![equal.one(&mut hash)],
        };
        routes = routes.iter().flat_map(|route| next.iter().map(move |leg| [&route[..], leg].concat())).collect();
        from = to;
    }
    routes.iter().try_for_each(|route| passes_once(fabric, route))?;
    Ok(routes)
}

/// Refuses a route that passes a node twice. A network card may send back what it got: what lies before and behind it may
/// be the same, but for the destination, which ends a branch.
fn passes_once(fabric: &Fabric, route: &[LinkId]) -> Result<(), RouteError> {
    let (Some(first), Some(last)) = (route.first(), route.last()) else { return Ok(()) };
    let end = fabric.link(*last).to;
    let mut passed = FxHashSet::from_iter([fabric.link(*first).from]);
    for (at, link) in route.iter().map(|&link| fabric.link(link)).enumerate() {
        if !passed.insert(link.to) || (link.to == end && at + 1 < route.len()) {
            return Err(RouteError::Twice(link.to));
        }
        let returns = route.get(at + 1).is_some_and(|&next| fabric.link(next).to == link.from);
        if returns && fabric.node(link.to).kind == NodeKind::Nic {
            passed.retain(|&node| fabric.node(node).kind == NodeKind::Nic);
        }
    }
    Ok(())
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
    pub(super) fn find(fabric: &'a Fabric, from: NodeId, to: NodeId, allows: &Allows<'_>) -> Option<Self> {
        let mut routes = Self { fabric, from, to, next: FxHashMap::default() };
        if from == to {
            return None;
        }
        if !fabric.has_laterals() {
            let mut only = Vec::new();
            let found = climb(fabric, from, to, &mut only) && only.iter().all(|&link| allows(link));
            routes.next.extend(only.iter().map(|&link| (fabric.link(link).from, smallvec![link])));
            return found.then_some(routes);
        }
        let (mut ahead, mut back) = (Search::new(fabric, from, to, allows), Search::new(fabric, to, from, allows));
        let passes = |node: &NodeId| *node == from || *node == to || fabric.node(*node).kind.forwards();
        // From both ends by turns, the smaller frontier first: through a wide network one would reach all of it.
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
        ahead.retrace(&middle, |link| routes.add(LinkId(link.0 ^ 1)));
        back.retrace(&middle, |link| routes.add(link));
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
    allows: &'a Allows<'a>,
    links: Vec<LinkId>,
}

impl<'a> Search<'a> {
    fn new(fabric: &'a Fabric, end: NodeId, other: NodeId, allows: &'a Allows<'a>) -> Self {
        let hops = FxHashMap::from_iter([(end, 0)]);
        Self { fabric, end, other, hops, last: vec![end], depth: 0, allows, links: Vec::new() }
    }

    /// Goes one link further; false where that leads nowhere new.
    fn widen(&mut self) -> bool {
        self.depth += 1;
        for node in std::mem::take(&mut self.last) {
            if node != self.end && !self.fabric.node(node).kind.forwards() {
                continue;
            }
            useful_links(self.fabric, node, self.other, &mut self.links);
            for &link in self.links.iter().filter(|&&link| (self.allows)(link)) {
                let next = self.fabric.link(link).to;
                if let Entry::Vacant(slot) = self.hops.entry(next) {
                    slot.insert(self.depth);
                    self.last.push(next);
                }
            }
        }
        !self.last.is_empty()
    }

    /// Hands over the links of the shortest routes from these nodes back to the end, each once.
    fn retrace(&mut self, from: &[NodeId], mut take: impl FnMut(LinkId)) {
        let (mut layer, mut links) = (from.to_vec(), Vec::new());
        for depth in (0..self.depth).rev() {
            let mut nearer = Vec::new();
            for &node in &layer {
                useful_links(self.fabric, node, self.end, &mut links);
                for &link in links.iter().filter(|&&link| (self.allows)(link)) {
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
