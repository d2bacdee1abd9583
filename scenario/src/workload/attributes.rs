//! What operations have in common: ids, starts, and what a transfer is beside its ends and bytes.

use weir_plugin_api::{NodeId, SimDuration, SimTime};
use weir_sim_core::Carriage;

use crate::brackets::NAME_BYTES;
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Definition, Key, Shape, optional};
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::Value;

pub(super) const ID: Key = optional("id", Shape::Named(&ID_TEXT), "");
pub(super) const START: Key = optional("start", Shape::Named(&units::TIME), "Not before this instant; 0s by default.");

pub(crate) static ID_TEXT: Definition =
    Definition { name: "id", about: "A name of at most 256 bytes.", shape: Shape::Text };

/// The highest virtual channel: PCIe has eight.
const MOST_CHANNEL: u64 = 7;

/// The devices at both ends of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

/// What a transfer is, beside its ends and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes {
    pub(crate) start: SimTime,
    /// Highest rate, bytes per second; infinite where there is none.
    pub(crate) limit: f64,
    pub(crate) weight: f64,
    pub(crate) priority: i64,
    pub(crate) carriage: Carriage,
}

impl Attributes {
    /// Those of a transfer that names none.
    pub(crate) const USUAL: Self = Self {
        start: SimTime::ZERO,
        limit: f64::INFINITY,
        weight: 1.0,
        priority: 0,
        carriage: Carriage { channel: 0, is_read: false },
    };
}

/// An id, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct PlacedId {
    pub(crate) text: Box<str>,
    pub(crate) span: Span,
}

/// An id that the user gives.
pub(super) fn read_id(context: &mut Context, value: &Value) -> Read<PlacedId> {
    let id = context.text(value, "an id")?;
    if id.is_empty() || id.len() > NAME_BYTES {
        let message = format!("{} cannot be an id", quoted(id));
        return Err(context.error(value.span, message, format!("ids have 1 to {NAME_BYTES} bytes")));
    }
    Ok(PlacedId { text: id.into(), span: value.span })
}

/// `start`, `limit`, `weight`, `priority`, `channel` and `read`.
pub(super) fn attributes(context: &mut Context, fields: &Fields<'_>) -> Read<Attributes> {
    let start = start(context, fields);
    let limit = fields.parse_or(context, "limit", f64::INFINITY, |text| {
        units::bandwidth(text)?.bytes_per_second(&Decimal::whole(1), text)
    });
    let weight = fields.parse_or(context, "weight", 1.0, units::weight);
    let priority = fields.parse_or(context, "priority", 0, units::integer);
    let channel = fields.parse_or(context, "channel", 0, |text| units::whole_number(text, MOST_CHANNEL));
    let is_read = fields.parse_or(context, "read", false, |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::new(format!("{} is neither", quoted(text)), "write `true` or `false`")),
    });
    let carriage = Carriage { channel: channel? as u8, is_read: is_read? };
    Ok(Attributes { start: start?, limit: limit?, weight: weight?, priority: priority?, carriage })
}

/// `start`, 0 s when not given.
pub(super) fn start(context: &mut Context, fields: &Fields<'_>) -> Read<SimTime> {
    fields.parse_or(context, "start", SimDuration::ZERO, units::duration).map(|d| SimTime(d.0))
}
