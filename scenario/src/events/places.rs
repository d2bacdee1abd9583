//! Which links an event is about.

use rustc_hash::FxHashMap;
use weir_plugin_api::{LinkId, NodeId};

use super::MOST;
use crate::brackets::NamePattern;
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::nearest::suggestion;
use crate::topology::Topology;
use crate::yaml::{Data, Value};

/// Neighbours of a node that an error names, at most.
const NAMED: usize = 8;

/// The links of a topology by their nodes.
pub(super) struct Places<'a> {
    topology: &'a Topology,
    by_ends: FxHashMap<(NodeId, NodeId), LinkId>,
}

impl<'a> Places<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        let links = (0..).map(LinkId).zip(topology.fabric.links());
        Self { topology, by_ends: links.map(|(id, link)| ((link.from, link.to), id)).collect() }
    }

    /// Both directions of each link that `link` or `links` names; all where neither is given.
    pub(super) fn of(&self, context: &mut Context, links: Option<&Value>) -> Read<Vec<[LinkId; 2]>> {
        links.map_or_else(|| Ok(self.where_kind(|_| true)), |links| self.listed(context, links))
    }

    /// The same of an event, which must name some.
    pub(super) fn of_event(&self, context: &mut Context, fields: &Fields<'_>) -> Read<Vec<[LinkId; 2]>> {
        match (fields.get("link"), fields.get("links")) {
            (Some(_), Some(links)) => {
                Err(context.error(links.span, "an event has `link` and `links`", "write one of them"))
            }
            (Some(pair), None) => self.pairs(context, pair),
            (None, Some(links)) => self.listed(context, links),
            (None, None) => {
                let help = "write both its nodes, as in `link: [nic0, leaf1]`, or `links: all`";
                Err(context.error(fields.span, "an event needs `link`", help))
            }
        }
    }

    fn listed(&self, context: &mut Context, value: &Value) -> Read<Vec<[LinkId; 2]>> {
        if let Data::Sequence(items) = &value.data {
            let help = "write both nodes of each link: `links: [[nic0, leaf1]]`";
            if items.is_empty() || items.iter().any(|item| !matches!(item.data, Data::Sequence(_))) {
                return Err(context.error(value.span, "`links` is no list of pairs of nodes", help));
            }
            let all = context.each(items, |context, item| self.pairs(context, item))?;
            // A link that is named from both of its ends is one.
            let ordered = |[a, b]: [LinkId; 2]| [a.min(b), a.max(b)];
            let mut pairs: Vec<[LinkId; 2]> = all.into_iter().flatten().map(ordered).collect();
            pairs.sort_unstable();
            pairs.dedup();
            return Ok(pairs);
        }
        let word = context.text(value, "`links`")?;
        if word == "all" {
            return Ok(self.where_kind(|_| true));
        }
        let found = self.where_kind(|kind| kind == word);
        if found.is_empty() {
            let used = self.topology.kinds.used();
            let help = suggestion(word, used.iter().copied(), "kinds of link");
            let message = format!("no link is of the kind {}", quoted(word));
            return Err(context.error(value.span, message, format!("{help}; `all` names all links")));
        }
        Ok(found)
    }

    fn where_kind(&self, fits: impl Fn(&str) -> bool) -> Vec<[LinkId; 2]> {
        let kinds = self.topology.kinds.words_of_links().step_by(2);
        let firsts = (0..).step_by(2).map(LinkId).zip(kinds).filter(|(_, kind)| fits(kind));
        firsts.map(|(link, _)| [link, LinkId(link.0 + 1)]).collect()
    }

    /// The links between the nodes of two names, which may stand for several.
    fn pairs(&self, context: &mut Context, value: &Value) -> Read<Vec<[LinkId; 2]>> {
        let help = "write both its nodes: `link: [nic0, leaf1]`";
        let [first, second] = context.list(value, "`link`")? else {
            return Err(context.error(value.span, "a link joins two nodes", help));
        };
        let names = |context: &mut Context, end: &Value| context.parse(end, "an end of a link", NamePattern::read);
        let (a, b) = (names(context, first)?, names(context, second)?);
        let count = a.count().max(b.count());
        if a.count() != b.count() && a.count() != 1 && b.count() != 1 {
            let message = format!("{} nodes on one side and {} on the other", a.count(), b.count());
            return Err(context.error(value.span, message, "give as many on both sides, or one node on one side"));
        }
        if count > MOST as u64 {
            return Err(context.error(value.span, format!("{count} links"), format!("name at most {MOST}")));
        }
        let name = |names: &NamePattern, at: u64| names.name(if names.count() == 1 { 0 } else { at });
        (0..count)
            .map(|at| {
                let node = |context: &mut Context, name: &str, value: &Value| {
                    self.node(name).map_err(|problem| context.problem(value.span, "an end of a link", problem))
                };
                let (from, to) = (name(&a, at), name(&b, at));
                let ends = (node(context, &from, first)?, node(context, &to, second)?);
                self.between(ends).map_err(|Problem { message, help }| context.error(value.span, message, help))
            })
            .collect()
    }

    pub(super) fn node(&self, name: &str) -> Result<NodeId, Problem> {
        self.topology.names.resolve(name)
    }

    /// Both directions of the link between two nodes.
    pub(super) fn between(&self, ends: (NodeId, NodeId)) -> Result<[LinkId; 2], Problem> {
        let link = self.by_ends.get(&ends).ok_or_else(|| self.no_link(ends))?;
        // Directed links come in pairs.
        Ok([*link, LinkId(link.0 ^ 1)])
    }

    fn no_link(&self, (a, b): (NodeId, NodeId)) -> Problem {
        let name = |node: NodeId| quoted(self.topology.names.unique_name(node));
        let beside = self.topology.fabric.links().iter().filter(|link| link.from == a);
        let mut names: Vec<String> = beside.clone().take(NAMED).map(|link| name(link.to)).collect();
        if beside.count() > NAMED {
            names.push("others".to_owned());
        }
        let message = format!("no link joins {} and {}", name(a), name(b));
        Problem::new(message, format!("{} has links to {}", name(a), names.join(", ")))
    }
}
