//! `port_arbiter`: who gets the output of a port.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_packets::arbiter::{BUILT_IN, PortArbiter, PortEntry, PortParams};
use weir_sim_core::api::Flags;

use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Definition, KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::units;
use crate::yaml::{self, Data, Value};

/// A port arbiter with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct PortChoice {
    entry: &'static PortEntry,
    params: PortParams,
    /// Names of the nodes that inputs come from, with their weights.
    pub(super) weights: Vec<(Box<str>, u32, Span)>,
}

impl PartialEq for PortChoice {
    fn eq(&self, other: &Self) -> bool {
        (self.entry.name, &self.params, &self.weights) == (other.entry.name, &other.params, &other.weights)
    }
}

impl PortChoice {
    /// The one of links that say none.
    pub(super) fn default_choice() -> Arc<Self> {
        Arc::new(Self { entry: &BUILT_IN[0], params: PortParams::default(), weights: Vec::new() })
    }

    /// A new instance, with weights by output and requester.
    pub(super) fn make(&self, weights: &BTreeMap<(u32, u32), u32>) -> Box<dyn PortArbiter> {
        (self.entry.make)(&PortParams { weights: weights.clone(), ..self.params.clone() })
    }

    /// What it reads of transfers.
    pub(super) fn flags(&self) -> Flags {
        if self.entry.reads_priority { Flags::READS_PRIORITY } else { Flags(0) }
    }
}

fn names() -> impl Iterator<Item = &'static str> + Clone {
    BUILT_IN.iter().map(|entry| entry.name)
}

static PORT: KeyTable = KeyTable::new(
    "port_arbiter",
    "A port arbiter with parameters.",
    &[
        required("name", Shape::Choice(|| names().map(Into::into).collect()), "Which one."),
        optional("quantum", Shape::Named(&units::BYTES), "Bytes that a visit adds; 512B by default."),
        optional(
            "weights",
            Shape::ByName(&Shape::Whole(&[("minimum", 1)])),
            "Packets in a row, or quanta, by the node that an input comes from; 1 for others.",
        ),
        optional("seed", Shape::Whole(&[("minimum", 0)]), "Of the random numbers; 0 by default."),
    ],
);

const ONE: Shape = Shape::Either(&[Shape::Choice(|| names().map(Into::into).collect()), Shape::Map(&PORT)]);

static BY_WAY: KeyTable = KeyTable::new(
    "port_arbiters",
    "A port arbiter for each way that links lead.",
    &[
        optional("up", ONE, "Links towards the root."),
        optional("down", ONE, "Links away from the root."),
        optional("lateral", ONE, "Links beside the tree."),
    ],
);

/// `port_arbiter`.
pub(super) static PORTS: Definition = Definition {
    name: "port_arbiter_or_ways",
    about: "A port arbiter, or one for each way.",
    shape: Shape::Either(&[ONE, Shape::Map(&BY_WAY)]),
};

/// Reads `port_arbiter`: for links that lead up, down and beside the tree.
pub(super) fn read(context: &mut Context, value: &Value) -> Read<[Option<Arc<PortChoice>>; 3]> {
    let by_way = matches!(&value.data, Data::Mapping(entries) if entries.iter().all(|entry| &*entry.key != "name"));
    if !by_way {
        let one = Arc::new(one(context, value)?);
        return Ok([Some(one.clone()), Some(one.clone()), Some(one)]);
    }
    let fields = context.fields(value, "`port_arbiter`", &BY_WAY)?;
    let mut way = |key: &str| fields.get(key).map(|value| one(context, value).map(Arc::new)).transpose();
    let (up, down, lateral) = (way("up"), way("down"), way("lateral"));
    Ok([up?, down?, lateral?])
}

fn one(context: &mut Context, value: &Value) -> Read<PortChoice> {
    let fields = match &value.data {
        Data::Mapping(_) => Some(context.fields(value, "`port_arbiter`", &PORT)?),
        _ => None,
    };
    let name_value = fields.map_or(Ok(value), |fields| fields.require(context, "name"))?;
    let text = context.text(name_value, "the name of a port arbiter")?;
    let Some(entry) = BUILT_IN.iter().find(|entry| entry.name == text) else {
        let help = context.suggestion(text, names(), "port arbiters");
        return Err(context.error(name_value.span, format!("no port arbiter is named {}", quoted(text)), help));
    };
    let mut choice = PortChoice { entry, params: PortParams::default(), weights: Vec::new() };
    let Some(fields) = fields else { return Ok(choice) };
    for key in ["quantum", "weights", "seed"] {
        if let (Some(given), false) = (fields.entry(key), entry.takes.contains(&key)) {
            let message = format!("port arbiter `{}` has no parameter `{key}`", entry.name);
            return Err(context.error(given.key_span, message, "remove it"));
        }
    }
    choice.params.quantum = fields.parse_or(context, "quantum", choice.params.quantum, quantum)?;
    choice.params.seed = fields.parse_or(context, "seed", 0, |text| units::whole_number(text, u64::MAX))?;
    choice.weights = fields.get("weights").map_or(Ok(Vec::new()), |value| weights(context, value))?;
    Ok(choice)
}

fn quantum(text: &str) -> Result<u64, Problem> {
    match units::byte_size(text)? {
        0 => Err(Problem::new("a quantum of 0", "give at least 1B")),
        bytes => Ok(bytes),
    }
}

fn weights(context: &mut Context, value: &Value) -> Read<Vec<(Box<str>, u32, Span)>> {
    let Data::Mapping(entries) = &value.data else {
        let message = format!("`weights` must be a map, not {}", value.describe());
        return Err(context.error(value.span, message, "write `{ gpu0: 2, gpu1: 1 }`"));
    };
    context.each(entries, |context, entry: &yaml::Entry| {
        let what = format!("the weight of {}", quoted(&entry.key));
        let weight = context.parse(&entry.value, &what, |text| units::at_least_one(text, u64::from(u32::MAX)))?;
        Ok((entry.key.clone(), weight as u32, entry.key_span))
    })
}
