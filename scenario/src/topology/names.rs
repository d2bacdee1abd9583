//! Names of nodes, and nodes of names: `gpu0`, or `p/q/r`, a node `r` below `q` below `p` with gaps allowed.
//!
//! Distinct names are kept once; per name its nodes are in id order, so that "below p" is a binary search.

use std::ops::Range;
use std::sync::OnceLock;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use weir_plugin_api::NodeId;

use crate::context::Problem;
use crate::diagnostic::quoted;
use crate::nearest::suggestion;

/// The names of the nodes of a fabric.
#[derive(Debug, Default)]
pub(crate) struct NodeNames {
    names: IndexSet<Box<str>, FxBuildHasher>,
    name_of: Vec<u32>,
    parent: Vec<NodeId>,
    /// Per node: one past the last node below it.
    end: Vec<u32>,
    /// Per name: its nodes, as compressed rows.
    offsets: Vec<u32>,
    nodes: Vec<NodeId>,
    /// Per node: its full path, written when it is asked for; empty while all names are unique.
    paths: Vec<OnceLock<Box<str>>>,
    /// Machines and networks, depth-first.
    scopes: Vec<Scope>,
    /// Their numbers, by name and then in order.
    scopes_by_name: Vec<u32>,
    /// The scope that the next root is in.
    open: Option<u32>,
}

/// A name that several roots with all below them have in front of their own, and that is no node itself.
#[derive(Debug)]
struct Scope {
    name: u32,
    outer: Option<u32>,
    nodes: Range<u32>,
}

/// Why a reference names no node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing<'r> {
    /// No node has this part of it as its name.
    Unknown(&'r str),
    /// Nodes have its last part as their name, but none below the others.
    NotBelow(&'r str),
    Ambiguous(NodeId, NodeId),
}

impl NodeNames {
    /// Adds the next node, depth-first.
    pub(crate) fn push(&mut self, name: &str, parent: NodeId) {
        let index = self.number(name);
        self.name_of.push(index);
        self.parent.push(parent);
        self.end.push(self.len());
    }

    fn number(&mut self, name: &str) -> u32 {
        self.names.get_index_of(name).unwrap_or_else(|| self.names.insert_full(name.into()).0) as u32
    }

    pub(crate) fn len(&self) -> u32 {
        self.name_of.len() as u32
    }

    /// Says that the roots from here on are those of a machine or network.
    pub(crate) fn enter(&mut self, name: &str) {
        let name = self.number(name);
        self.scopes.push(Scope { name, outer: self.open, nodes: self.len()..self.len() });
        self.open = Some(self.scopes.len() as u32 - 1);
    }

    /// Says that the machine or network entered last is complete.
    pub(crate) fn leave(&mut self) {
        let end = self.len();
        if let Some(scope) = self.open.and_then(|open| self.scopes.get_mut(open as usize)) {
            scope.nodes.end = end;
            self.open = scope.outer;
        }
    }

    /// Says that the subtree of a node is complete.
    pub(crate) fn close(&mut self, node: NodeId) {
        self.end[node.index()] = self.name_of.len() as u32;
    }

    /// Makes names ready to be looked up, after the last node.
    pub(crate) fn index(&mut self) {
        self.offsets = vec![0; self.names.len() + 1];
        for &name in &self.name_of {
            self.offsets[name as usize + 1] += 1;
        }
        for i in 1..self.offsets.len() {
            self.offsets[i] += self.offsets[i - 1];
        }
        let mut next = self.offsets.clone();
        self.nodes = vec![NodeId(0); self.name_of.len()];
        for (node, &name) in self.name_of.iter().enumerate() {
            self.nodes[next[name as usize] as usize] = NodeId::from_index(node);
            next[name as usize] += 1;
        }
        self.scopes_by_name = (0..self.scopes.len() as u32).collect();
        self.scopes_by_name.sort_by_key(|&scope| self.scopes[scope as usize].name);
        if (0..self.names.len()).any(|name| self.row(name).len() > 1) {
            self.paths.resize_with(self.name_of.len(), OnceLock::new);
        }
    }

    /// The name where it is unique, else behind its machine or network where it is unique there, else the full path.
    pub(crate) fn unique_name(&self, node: NodeId) -> &str {
        let name = self.name_of[node.index()];
        if self.row(name as usize).len() == 1 {
            return &self.names[name as usize];
        }
        self.paths[node.index()].get_or_init(|| self.name_in_scope(node).unwrap_or_else(|| self.path(node)).into())
    }

    /// `node17/gpu3`, where one node of the machine or network has the name.
    fn name_in_scope(&self, node: NodeId) -> Option<String> {
        let name = self.name_of[node.index()];
        let inner = self.scopes_around(node).next()?;
        let only = self.row_within(name as usize, &inner.nodes).len() == 1;
        only.then(|| self.joined(node, vec![name])).filter(|name| self.find(name) == Ok(node))
    }

    /// The names from the root down, joined by `/`.
    pub(crate) fn path(&self, node: NodeId) -> String {
        let (mut names, mut at) = (Vec::new(), node);
        while !at.is_none() {
            names.push(self.name_of[at.index()]);
            at = self.parent[at.index()];
        }
        self.joined(node, names)
    }

    /// These names, the last first, behind those of the machines and networks around a node.
    fn joined(&self, node: NodeId, mut names: Vec<u32>) -> String {
        names.extend(self.scopes_around(node).map(|scope| scope.name));
        let names: Vec<&str> = names.iter().rev().map(|&name| &*self.names[name as usize]).collect();
        names.join("/")
    }

    /// The machines and networks that a node is in, the innermost first.
    fn scopes_around(&self, node: NodeId) -> impl Iterator<Item = &Scope> {
        // Scopes begin in their order: the last that begins before a node is the innermost around it, or lies in that.
        let last = self.scopes.partition_point(|scope| scope.nodes.start <= node.0).checked_sub(1);
        let outer = |&at: &usize| self.scopes[at].outer.map(|outer| outer as usize);
        let scopes = std::iter::successors(last, outer).map(|at| &self.scopes[at]);
        scopes.filter(move |scope| scope.nodes.contains(&node.0))
    }

    /// The nodes of a name, in id order.
    fn row(&self, name: usize) -> &[NodeId] {
        &self.nodes[self.offsets[name] as usize..self.offsets[name + 1] as usize]
    }

    /// Those of them in a range.
    fn row_within(&self, name: usize, nodes: &Range<u32>) -> &[NodeId] {
        let row = self.row(name);
        &row[row.partition_point(|n| n.0 < nodes.start)..row.partition_point(|n| n.0 < nodes.end)]
    }

    /// The machines and networks of a name, in their order.
    fn scopes_of(&self, name: usize) -> &[u32] {
        let of = |scope: &u32| self.scopes[*scope as usize].name as usize;
        let (first, last) = (
            self.scopes_by_name.partition_point(|s| of(s) < name),
            self.scopes_by_name.partition_point(|s| of(s) <= name),
        );
        &self.scopes_by_name[first..last]
    }

    /// The one node that a reference names.
    pub(crate) fn resolve(&self, reference: &str) -> Result<NodeId, Problem> {
        self.find(reference).map_err(|missing| self.problem(reference, missing))
    }

    /// The one node among some that a reference names: those of a machine, or all.
    pub(crate) fn resolve_within(&self, nodes: &Range<u32>, reference: &str) -> Result<NodeId, Problem> {
        self.find_within(nodes, reference).map_err(|missing| self.problem(reference, missing))
    }

    /// The one node that a reference names, or why there is none.
    pub(crate) fn find<'r>(&self, reference: &'r str) -> Result<NodeId, Missing<'r>> {
        self.find_within(&(0..self.len()), reference)
    }

    fn find_within<'r>(&self, nodes: &Range<u32>, reference: &'r str) -> Result<NodeId, Missing<'r>> {
        // Whole subtrees to look in: disjoint and ascending.
        let mut within = Vec::from([nodes.clone()]);
        let mut parts = reference.split('/').peekable();
        while let Some(part) = parts.next() {
            let name = self.names.get_index_of(part).ok_or(Missing::Unknown(part))?;
            let inside = within.iter().flat_map(|range| self.row_within(name, range));
            if parts.peek().is_none() {
                let found: Vec<NodeId> = inside.copied().take(3).collect();
                return match found[..] {
                    [one] => Ok(one),
                    [] => Err(Missing::NotBelow(part)),
                    [first, second, ..] => Err(Missing::Ambiguous(first, second)),
                };
            }
            within = self.below(name, inside, &within);
        }
        Err(Missing::Unknown(""))
    }

    /// Why a reference names no node, in words.
    pub(crate) fn problem(&self, reference: &str, missing: Missing<'_>) -> Problem {
        match missing {
            Missing::Unknown(part) => self.unknown(reference, part),
            Missing::NotBelow(last) => self.not_below(reference, last),
            Missing::Ambiguous(first, second) => self.ambiguous(reference, first, second),
        }
    }

    /// What lies below any of the nodes (ascending), or in machines and networks of the name.
    fn below<'a>(
        &self,
        name: usize,
        nodes: impl Iterator<Item = &'a NodeId>,
        within: &[Range<u32>],
    ) -> Vec<Range<u32>> {
        let mut below: Vec<Range<u32>> = nodes.map(|node| node.0 + 1..self.end[node.index()]).collect();
        let scopes = self.scopes_of(name);
        if !scopes.is_empty() {
            let nodes = |scope: &u32| self.scopes[*scope as usize].nodes.clone();
            for range in within {
                let first = scopes.partition_point(|s| nodes(s).start < range.start);
                let inside = scopes[first..].iter().map(nodes).take_while(|nodes| nodes.start < range.end);
                below.extend(inside.filter(|nodes| nodes.end <= range.end));
            }
            below.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        }
        outermost(below)
    }

    fn unknown(&self, reference: &str, part: &str) -> Problem {
        let message = if part == reference {
            format!("no node is named {}", quoted(part))
        } else {
            format!("no node is named {} (in {})", quoted(part), quoted(reference))
        };
        if part.contains('[') {
            return Problem::new(message, "one node is meant here: name it, or repeat the item with `for`");
        }
        Problem::new(message, suggestion(part, self.names.iter().map(|n| &**n), "nodes"))
    }

    fn not_below(&self, reference: &str, last: &str) -> Problem {
        let name = self.names.get_index_of(last);
        let somewhere = name.and_then(|name| self.row(name).first());
        if let (None, Some(&scope)) = (somewhere, name.and_then(|name| self.scopes_of(name).first())) {
            let first = NodeId(self.scopes[scope as usize].nodes.start);
            let help = format!("name a node in it, such as `{}`", self.path(first));
            return Problem::new(format!("{} is a machine or network, not a node", quoted(reference)), help);
        }
        let help = somewhere.map_or(String::new(), |&node| format!("there is `{}`", self.path(node)));
        Problem::new(format!("no node fits the path {}", quoted(reference)), help)
    }

    fn ambiguous(&self, reference: &str, first: NodeId, second: NodeId) -> Problem {
        let help = format!("add names of nodes above it: `{}` or `{}`", self.path(first), self.path(second));
        Problem::new(format!("more than one node fits {}", quoted(reference)), help)
    }
}

/// The same nodes as disjoint ranges: a range (ascending) in another one adds nothing.
fn outermost(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    let mut end = 0;
    ranges.retain(|range| {
        let outside = range.start >= end;
        end = if outside { range.end } else { end };
        outside
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a0 { b0 { c }, b1 { c } }, a1 { b0 { c }, d }
    fn names() -> NodeNames {
        let mut names = NodeNames::default();
        let none = NodeId::NONE;
        let add = |names: &mut NodeNames, items: &[(&str, NodeId)]| {
            items.iter().for_each(|&(name, parent)| names.push(name, parent));
        };
        add(&mut names, &[("a0", none), ("b0", NodeId(0)), ("c", NodeId(1)), ("b1", NodeId(0)), ("c", NodeId(3))]);
        names.close(NodeId(1));
        names.end[1] = 3;
        names.close(NodeId(3));
        names.close(NodeId(0));
        add(&mut names, &[("a1", none), ("b0", NodeId(5)), ("c", NodeId(6)), ("d", NodeId(5))]);
        names.end[6] = 8;
        names.close(NodeId(5));
        names.index();
        names
    }

    #[test]
    fn resolves_paths_with_gaps() {
        let names = names();
        for (reference, node) in [("d", 8), ("a1/c", 7), ("a0/b1/c", 4), ("b1/c", 4), ("a1/b0/c", 7), ("a0/b0", 1)] {
            assert_eq!(names.resolve(reference), Ok(NodeId(node)), "{reference}");
        }
    }

    #[test]
    fn refuses_unknown_and_ambiguous_paths() {
        let names = names();
        let message = |reference: &str| names.resolve(reference).unwrap_err();
        assert_eq!(message("c").message, "more than one node fits `c`");
        assert_eq!(message("c").help, "add names of nodes above it: `a0/b0/c` or `a0/b1/c`");
        assert_eq!(message("b0/c").message, "more than one node fits `b0/c`");
        assert_eq!(message("e").message, "no node is named `e`");
        assert_eq!(message("a0/d").message, "no node fits the path `a0/d`");
        assert_eq!(message("a0/d").help, "there is `a1/d`");
        assert_eq!(message("c/a0").message, "no node fits the path `c/a0`");
        assert_eq!(message("a2/c").help, "did you mean `a0`? (known nodes: a0, b0, c, b1, a1, d)");
        assert!(message("").message.contains("no node is named"));
        assert_eq!(message("b[0-1]").help, "one node is meant here: name it, or repeat the item with `for`");
        assert!(message("a0//c").message.contains("(in `a0//c`)"));
    }

    #[test]
    fn shows_bare_names_where_unique() {
        let names = names();
        assert_eq!(names.unique_name(NodeId(8)), "d");
        assert_eq!(names.unique_name(NodeId(7)), "a1/b0/c");
    }
}
