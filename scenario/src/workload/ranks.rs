//! Ranks: rank i runs on the i-th device.

use std::rc::Rc;

use weir_plugin_api::{NodeId, NodeKind};

use crate::brackets::NamePattern;
use crate::context::{Context, Read, Reported};
use crate::format::{Definition, KeyTable, Shape, required};
use crate::source::Span;
use crate::topology::Topology;
use crate::units;
use crate::yaml::{Data, Value};

/// Ranks of one list at most; *assumed*, as many as nodes.
const MOST_RANKS: u64 = 10_000_000;

/// A device by its rank.
static RANK: KeyTable = KeyTable::new(
    "rank",
    "The device of a rank.",
    &[required("rank", Shape::Whole(&[("minimum", 0)]), "Its number, from 0.")],
);

/// Where a transfer starts or ends.
pub(super) static ENDPOINT: Definition = Definition {
    name: "endpoint",
    about: "A device, by name or path, or a rank.",
    shape: Shape::Either(&[Shape::Text, Shape::Map(&RANK)]),
};

/// A device of an operation of a model.
pub(crate) static DEVICE: Definition = Definition {
    name: "device",
    about: "A device by name or path, or a rank; one that the topology lacks has no links.",
    ..ENDPOINT
};

pub(crate) static RANKS: Definition = Definition {
    name: "ranks",
    about: "Devices in rank order: one text with brackets, or a list.",
    shape: Shape::OneOrMore(0, &Shape::Text),
};

/// The scenario's ranks: those given are read at once, all gpus when something first asks for ranks.
pub(super) struct Ranks {
    span: Option<Span>,
    known: Option<Rc<[NodeId]>>,
    used: bool,
}

impl Ranks {
    /// Reads `ranks`, used or not.
    pub(super) fn read(context: &mut Context, topology: &Topology, value: Option<&Value>) -> Self {
        let known = value.and_then(|value| devices(context, topology, value, "`ranks`").ok());
        Self { span: value.map(|value| value.span), known, used: false }
    }

    /// Where `ranks` is given, when nothing used it.
    pub(super) fn unused(&self) -> Option<Span> {
        self.span.filter(|_| !self.used)
    }

    /// Whether something asked for them.
    pub(super) fn are_used(&self) -> bool {
        self.used
    }

    /// The devices, where they were given or asked for.
    pub(super) fn known(&self) -> Option<Rc<[NodeId]>> {
        self.known.clone()
    }

    /// The scenario's ranks: `ranks`, else all gpus in file order.
    pub(super) fn all(&mut self, context: &mut Context, topology: &Topology, span: Span) -> Read<Rc<[NodeId]>> {
        self.used = true;
        match (&self.known, self.span) {
            (Some(known), _) => Ok(Rc::clone(known)),
            // What is wrong with them was said already.
            (None, Some(_)) => Err(Reported),
            (None, None) => {
                let known = all_gpus(context, topology, span)?;
                self.known = Some(Rc::clone(&known));
                Ok(known)
            }
        }
    }

    /// The number and the device of `{ rank: 3 }`.
    pub(super) fn one(
        &mut self,
        context: &mut Context,
        topology: &Topology,
        value: &Value,
        what: &str,
    ) -> Read<(u32, NodeId)> {
        let fields = context.fields(value, what, &RANK)?;
        let rank = fields.parse(context, "rank", |text| units::whole_number(text, u64::from(u32::MAX)))? as u32;
        let ranks = self.all(context, topology, value.span)?;
        ranks.get(rank as usize).map(|&device| (rank, device)).ok_or_else(|| {
            let help = format!("there are {} ranks, numbered from 0", ranks.len());
            context.error(value.span, format!("{what}: there is no rank {rank}"), help)
        })
    }
}

fn all_gpus(context: &mut Context, topology: &Topology, span: Span) -> Read<Rc<[NodeId]>> {
    let nodes = topology.fabric.nodes().iter().enumerate();
    let gpus = nodes.filter(|(_, n)| n.kind == NodeKind::Gpu).map(|(i, _)| NodeId::from_index(i));
    let gpus: Rc<[NodeId]> = gpus.collect();
    if gpus.is_empty() {
        let message = "there are no ranks: the topology has no gpu";
        return Err(context.error(span, message, "say what they run on, as in `ranks: \"host[0-7]\"`"));
    }
    Ok(gpus)
}

/// Devices of a list, or of a name with brackets.
pub(crate) fn devices(context: &mut Context, topology: &Topology, value: &Value, what: &str) -> Read<Rc<[NodeId]>> {
    let items = match &value.data {
        Data::Sequence(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    if items.is_empty() {
        return Err(context.error(value.span, format!("{what} is empty"), "name at least one device"));
    }
    let mut devices = Vec::new();
    for item in items {
        let pattern = context.parse(item, what, NamePattern::read)?;
        if pattern.count().saturating_add(devices.len() as u64) > MOST_RANKS {
            return Err(context.error(item.span, format!("more than {MOST_RANKS} ranks"), "give fewer"));
        }
        let mut name = String::new();
        for i in 0..pattern.count() {
            pattern.write(i, &mut name);
            let node = topology.names.resolve(&name);
            let node = node.map_err(|problem| context.problem(item.span, what, problem))?;
            if let Some(problem) = topology.not_an_end(node) {
                return Err(context.problem(item.span, what, problem));
            }
            devices.push(node);
        }
    }
    Ok(devices.into())
}
