//! Ranks: rank i runs on the i-th device.

use std::rc::Rc;

use weir_plugin_api::{NodeId, NodeKind};

use super::Expansion;
use crate::brackets::NamePattern;
use crate::context::{Context, Read, Reported};
use crate::source::Span;
use crate::yaml::{Data, Value};

/// Ranks of one list at most; *assumed*, as many as nodes.
const RANKS: u64 = 10_000_000;

/// The scenario's ranks: those given are read at once, all gpus when something first asks for ranks.
#[derive(Default)]
pub(super) struct Ranks {
    given: Option<Span>,
    known: Option<Rc<[NodeId]>>,
    used: bool,
}

impl Ranks {
    /// Where `ranks` is given, when nothing used it.
    pub(super) fn unused(&self) -> Option<Span> {
        self.given.filter(|_| !self.used)
    }
}

impl Expansion<'_> {
    /// The scenario's ranks: `ranks`, else all gpus in file order.
    pub(super) fn scenario_ranks(&mut self, context: &mut Context, span: Span) -> Read<Rc<[NodeId]>> {
        self.ranks.used = true;
        match (&self.ranks.known, self.ranks.given) {
            (Some(known), _) => Ok(Rc::clone(known)),
            // What is wrong with them was said already.
            (None, Some(_)) => Err(Reported),
            (None, None) => {
                let known = self.all_gpus(context, span)?;
                self.ranks.known = Some(Rc::clone(&known));
                Ok(known)
            }
        }
    }

    /// Reads `ranks`, used or not.
    pub(super) fn given_ranks(&mut self, context: &mut Context, value: Option<&Value>) {
        self.ranks.given = value.map(|value| value.span);
        self.ranks.known = value.and_then(|value| self.rank_list(context, value).ok());
    }

    fn all_gpus(&self, context: &mut Context, span: Span) -> Read<Rc<[NodeId]>> {
        let nodes = self.topology.fabric.nodes().iter().enumerate();
        let gpus = nodes.filter(|(_, n)| n.kind == NodeKind::Gpu).map(|(i, _)| NodeId::from_index(i));
        let gpus: Rc<[NodeId]> = gpus.collect();
        if gpus.is_empty() {
            let message = "there are no ranks: the topology has no gpu";
            return Err(context.error(span, message, "say what they run on, as in `ranks: \"host[0-7]\"`"));
        }
        Ok(gpus)
    }

    /// Devices of a list, or of a name with brackets.
    pub(super) fn rank_list(&self, context: &mut Context, value: &Value) -> Read<Rc<[NodeId]>> {
        let items = match &value.data {
            Data::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        if items.is_empty() {
            return Err(context.error(value.span, "`ranks` is empty", "name at least one device"));
        }
        let mut ranks = Vec::new();
        for item in items {
            let pattern = context.parse(item, "`ranks`", NamePattern::read)?;
            if pattern.count().saturating_add(ranks.len() as u64) > RANKS {
                return Err(context.error(item.span, format!("more than {RANKS} ranks"), "give fewer"));
            }
            let mut name = String::new();
            for i in 0..pattern.count() {
                pattern.write(i, &mut name);
                let node = self.topology.names.resolve(&name);
                let node = node.map_err(|problem| context.problem(item.span, "`ranks`", problem))?;
                if let Some(problem) = self.not_an_end(node) {
                    return Err(context.problem(item.span, "`ranks`", problem));
                }
                ranks.push(node);
            }
        }
        Ok(ranks.into())
    }
}
