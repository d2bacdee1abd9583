//! The tree of a topology as lines, equal leaves joined.

use weir_plugin_api::{Direction, LinkId, NodeId};
use weir_sim_core::Fabric;

use super::{Canvas, Drawn};
use crate::rate;

/// Most lines; the rest is counted.
const MOST: usize = 200;

/// The tree, a line per node with its kind and the bandwidth of its link; then the lateral links. Leaves that follow each
/// other and differ by name only share a line.
#[must_use]
pub fn tree(drawn: &Drawn<'_>, canvas: Canvas) -> String {
    let mut lines = Lines { drawn, canvas, lines: Vec::new(), left: 0 };
    let fabric = drawn.fabric;
    let roots = (0..fabric.nodes().len()).filter(|&i| fabric.nodes()[i].parent.is_none()).map(NodeId::from_index);
    lines.siblings(&roots.collect::<Vec<_>>(), "");
    lines.laterals();
    if lines.left > 0 {
        lines.lines.push(format!("and {} more", lines.left));
    }
    crate::text::verbatim(lines.lines.iter().map(|line| format!("{}\n", canvas.fit(line, canvas.width))).collect())
}

struct Lines<'a, 'd> {
    drawn: &'a Drawn<'d>,
    canvas: Canvas,
    lines: Vec<String>,
    /// Lines beyond [`MOST`].
    left: usize,
}

impl Lines<'_, '_> {
    fn push(&mut self, line: String) {
        if self.lines.len() < MOST { self.lines.push(line) } else { self.left += 1 }
    }

    fn name(&self, node: NodeId) -> String {
        self.canvas.plain((self.drawn.name)(node))
    }

    /// Nodes under one parent. Recursion is as deep as the tree, which readers bound.
    fn siblings(&mut self, nodes: &[NodeId], indent: &str) {
        // Whatever is below a root is indented.
        let is_root = indent.is_empty();
        let mut at = 0;
        while at < nodes.len() {
            let run = self.equal_leaves(&nodes[at..]);
            let is_last = at + run == nodes.len();
            let (branch, below) = match (is_root, self.canvas.unicode, is_last) {
                (true, ..) => ("", ""),
                (_, true, false) => ("├─ ", "│  "),
                (_, true, true) => ("└─ ", "   "),
                (_, false, false) => ("|- ", "|  "),
                (_, false, true) => ("`- ", "   "),
            };
            self.push(format!("{indent}{branch}{}", self.label(&nodes[at..at + run])));
            let children = children(self.drawn.fabric, nodes[at]);
            // Roots have no branch of their own, but their children do.
            let below = if is_root { " ".to_owned() } else { format!("{indent}{below}") };
            self.siblings(&children, &below);
            at += run;
        }
    }

    /// How many of the nodes, from the first on, are leaves of one kind with equal links.
    fn equal_leaves(&self, nodes: &[NodeId]) -> usize {
        let fabric = self.drawn.fabric;
        let key = |node: NodeId| {
            let record = fabric.node(node);
            let links = (!record.up.is_none()).then(|| {
                [record.up, LinkId(record.up.0 + 1)]
                    .map(|l| (fabric.link(l).bandwidth.to_bits(), fabric.link(l).latency))
            });
            let is_leaf = record.subtree_end as usize == node.index() + 1;
            is_leaf.then_some((record.kind, links))
        };
        let first = key(nodes[0]);
        if first.is_none() { 1 } else { nodes.iter().take_while(|&&node| key(node) == first).count() }
    }

    /// `plx0: switch, 11.600 GB/s`, `gpu0 … gpu7: 8 × gpu, 12.000 GB/s`.
    fn label(&self, nodes: &[NodeId]) -> String {
        let (first, last) = (self.name(nodes[0]), self.name(nodes[nodes.len() - 1]));
        let kind = self.drawn.fabric.node(nodes[0]).kind.word();
        let link = self.bandwidth(nodes[0]).map_or(String::new(), |text| format!(", {text}"));
        match (nodes.len(), self.canvas.unicode) {
            (1, _) => format!("{first}: {kind}{link}"),
            (count, true) => format!("{first} … {last}: {count} × {kind}{link}"),
            (count, false) => format!("{first} .. {last}: {count} x {kind}{link}"),
        }
    }

    fn bandwidth(&self, node: NodeId) -> Option<String> {
        let up = self.drawn.fabric.node(node).up;
        (!up.is_none()).then(|| self.both(up, "up", "down"))
    }

    /// The bandwidths of the two halves of a link, the first one's id given.
    fn both(&self, first: LinkId, there: &str, back: &str) -> String {
        let bandwidth = |link: LinkId| self.drawn.fabric.link(link).bandwidth;
        let (a, b) = (bandwidth(first), bandwidth(LinkId(first.0 + 1)));
        if a.to_bits() == b.to_bits() { rate(a) } else { format!("{} {there}, {} {back}", rate(a), rate(b)) }
    }

    fn laterals(&mut self) {
        let links = self.drawn.fabric.links();
        let arrow = if self.canvas.unicode { "↔" } else { "<->" };
        for first in (0..links.len()).step_by(2).filter(|&first| links[first].direction == Direction::Lateral) {
            let (from, to) = (self.name(links[first].from), self.name(links[first].to));
            self.push(format!("{from} {arrow} {to}: {}", self.both(LinkId::from_index(first), "forth", "back")));
        }
    }
}

fn children(fabric: &Fabric, node: NodeId) -> Vec<NodeId> {
    let end = fabric.node(node).subtree_end as usize;
    let (mut children, mut next) = (Vec::new(), node.index() + 1);
    while next < end {
        children.push(NodeId::from_index(next));
        next = fabric.nodes()[next].subtree_end as usize;
    }
    children
}
