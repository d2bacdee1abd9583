//! Permutations of devices that keep the tree and the messages: candidates for symmetries.

use std::collections::BTreeMap;

use weir_sim_core::api::NodeId;

use super::element::Element;
use crate::order::problem::OrderProblem;
use crate::order::problem::sources::Message;

/// Most candidates; with more the search goes on without symmetries; *assumed*.
const MOST_ELEMENTS: usize = 1 << 12;
/// Most steps of the search for candidates; *assumed*.
const MOST_STEPS: usize = 1 << 20;

/// What must be equal of two messages beside their ends.
type Alike = (u64, u64, u64, i64, [u64; 4]);

/// Permutations that keep the tree and the messages, sorted, so that the identity is first; none where there are too
/// many.
pub(crate) fn candidates(problem: &OrderProblem<'_>) -> Vec<Element> {
    let world = World::new(problem);
    let mut found = Vec::new();
    let mut search =
        Search { world: &world, image: vec![None; world.nodes.len()], taken: vec![false; world.nodes.len()], steps: 0 };
    if !search.place(0, &mut found) {
        return Vec::new();
    }
    let mut elements: Vec<Element> = found.iter().filter_map(|image| world.element(problem, image)).collect();
    elements.sort_unstable();
    elements.dedup();
    elements
}

/// Messages from one position to another: what they are, source, position in it.
type Between = BTreeMap<(usize, usize), Vec<(Alike, usize, usize)>>;

/// The nodes on routes, parents before children, and the messages between them.
struct World {
    nodes: Vec<NodeId>,
    /// Per node: position of its parent, if that is on a route.
    parent: Vec<Option<usize>>,
    /// Per node: all that must be equal at its image, as one text of numbers.
    shape: Vec<Vec<u64>>,
    /// Per pair of positions: the sorted messages from the first to the second, each with (source, position).
    between: Between,
}

impl World {
    fn new(problem: &OrderProblem<'_>) -> Self {
        let fabric = problem.fabric;
        let messages = || problem.sources.iter().flat_map(|s| &s.messages);
        let links = messages().flat_map(|m| problem.routes.links(problem.classes.route(m.class)));
        let mut nodes: Vec<NodeId> = links.flat_map(|&l| [fabric.link(l).from, fabric.link(l).to]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let position = |node: NodeId| nodes.binary_search(&node).ok();
        let parent: Vec<Option<usize>> = nodes.iter().map(|&n| position(fabric.node(n).parent)).collect();
        let mut children = vec![0_u64; nodes.len()];
        parent.iter().flatten().for_each(|&p| children[p] += 1);
        let shape = (0..nodes.len()).map(|i| {
            let node = fabric.node(nodes[i]);
            let mut shape = vec![node.kind as u64, children[i]];
            for half in 0..if parent[i].is_some() { 2 } else { 0 } {
                let link = fabric.links()[node.up.index() + half];
                shape.extend([link.bandwidth.to_bits(), link.latency.0, u64::from(link.kind.0)]);
            }
            shape
        });
        let shape = shape.collect();
        let mut between = Between::new();
        for (s, source) in problem.sources.iter().enumerate() {
            for (m, message) in source.messages.iter().enumerate() {
                if let (Some(from), Some(to)) = (position(message.from), position(message.to)) {
                    between.entry((from, to)).or_default().push((alike(problem, message), s, m));
                }
            }
        }
        between.values_mut().for_each(|list| list.sort_unstable());
        Self { nodes, parent, shape, between }
    }

    /// Whether the messages from one node to another are alike to those from a third to a fourth.
    fn equal_messages(&self, here: (usize, usize), there: (usize, usize)) -> bool {
        let (a, b) = (self.between.get(&here), self.between.get(&there));
        match (a, b) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// What a permutation of nodes does to sources and messages; none where it would tear a source apart.
    fn element(&self, problem: &OrderProblem<'_>, image: &[usize]) -> Option<Element> {
        let mut source = vec![None; problem.sources.len()];
        let mut message: Vec<Vec<usize>> = problem.sources.iter().map(|s| vec![0; s.messages.len()]).collect();
        for (&(from, to), here) in &self.between {
            let there = self.between.get(&(image[from], image[to]))?;
            for (&(_, s, m), &(_, to_source, to_message)) in here.iter().zip(there) {
                if *source[s].get_or_insert(to_source) != to_source {
                    return None;
                }
                message[s][m] = to_message;
            }
        }
        let source: Vec<usize> = source.into_iter().collect::<Option<_>>()?;
        let count = |s: usize| problem.sources[s].messages.len();
        source.iter().enumerate().all(|(s, &t)| count(s) == count(t)).then_some(Element { source, message })
    }
}

fn alike(problem: &OrderProblem<'_>, message: &Message) -> Alike {
    let (table, c) = (problem.classes.table(), message.class.index());
    let times = [message.latency, message.lead, message.gap, message.tail];
    (message.bytes, table.limit[c].to_bits(), table.weight[c].to_bits(), table.priority[c], times)
}

/// Search with backtracking: nodes in order, each to a free child of its parent's image.
struct Search<'w> {
    world: &'w World,
    image: Vec<Option<usize>>,
    taken: Vec<bool>,
    steps: usize,
}

impl Search<'_> {
    /// Places the node at a position and all after it; false when the bounds are hit.
    fn place(&mut self, at: usize, found: &mut Vec<Vec<usize>>) -> bool {
        if at == self.image.len() {
            found.push(self.image.iter().flatten().copied().collect());
            return found.len() <= MOST_ELEMENTS;
        }
        for to in 0..self.image.len() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return false;
            }
            if !self.fits(at, to) {
                continue;
            }
            (self.image[at], self.taken[to]) = (Some(to), true);
            let went_on = self.place(at + 1, found);
            (self.image[at], self.taken[to]) = (None, false);
            if !went_on {
                return false;
            }
        }
        true
    }

    fn fits(&self, at: usize, to: usize) -> bool {
        let w = self.world;
        let parent = w.parent[at].map(|p| self.image[p]);
        if self.taken[to] || w.shape[at] != w.shape[to] || parent != w.parent[to].map(Some) {
            return false;
        }
        (0..at).chain([at]).all(|other| {
            let image = if other == at { Some(to) } else { self.image[other] };
            image.is_some_and(|i| w.equal_messages((at, other), (to, i)) && w.equal_messages((other, at), (i, to)))
        })
    }
}
