//! What a node does with packets: `split` and `interleave`.

use serde_json::Value as Json;
use weir_packets::{Interleave, MOST_PAYLOAD};
use weir_plugin_api::NodeKind;

use super::tree::is_inner;
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::units;
use crate::yaml::{Data, Value};

/// What is given of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct NodePackets {
    /// Largest payload, in bytes, on links that leave it downwards of packets that came in by another port.
    pub(super) split: Option<u32>,
    /// In which order the transfers that it sends at once put their packets on its link, and where that is written.
    pub(super) interleave: Option<(Interleave, Span)>,
}

fn words() -> Vec<Json> {
    vec!["round-robin".into(), "random".into()]
}

static RANDOM: KeyTable = KeyTable::new(
    "interleave_map",
    "An order with a parameter.",
    &[
        required("name", Shape::Choice(words), "Which one."),
        optional("seed", Shape::Whole(&[("minimum", 0)]), "Of the random numbers; 0 by default."),
    ],
);

/// `interleave`.
pub(super) const INTERLEAVE: Shape = Shape::Either(&[Shape::Choice(words), Shape::Map(&RANDOM)]);

/// Reads both keys.
pub(super) fn read(context: &mut Context, fields: &Fields<'_>, what: &str, kind: NodeKind) -> Read<NodePackets> {
    let split = fields.parse_or(context, "split", None, split)?;
    if split.is_some() && !is_inner(kind) {
        let message = format!("{what}: a {} forwards no packets", kind.word());
        return Err(context.error(fields.span_of("split"), message, "remove `split`, or move it to a switch"));
    }
    let interleave =
        fields.get("interleave").map(|value| Ok((interleave(context, value, what)?, value.span))).transpose()?;
    if interleave.is_some() && is_inner(kind) {
        let message = format!("{what}: a {} sends no transfers of its own", kind.word());
        return Err(context.error(fields.span_of("interleave"), message, "move `interleave` to a device"));
    }
    Ok(NodePackets { split, interleave })
}

fn split(text: &str) -> Result<Option<u32>, Problem> {
    match units::byte_size(text)? {
        bytes @ 1.. if bytes <= u64::from(MOST_PAYLOAD) => Ok(Some(bytes as u32)),
        _ => Err(Problem::new(format!("no packet has a payload of {text}"), "give 1B to 64KiB")),
    }
}

fn interleave(context: &mut Context, value: &Value, what: &str) -> Read<Interleave> {
    let what = format!("`interleave` of {what}");
    let (name, seed) = match &value.data {
        Data::Mapping(_) => {
            let fields = context.fields(value, &what, &RANDOM)?;
            let seed = fields.parse_or(context, "seed", 0, |text| units::whole_number(text, u64::MAX))?;
            (fields.require(context, "name")?, seed)
        }
        _ => (value, 0),
    };
    match context.text(name, &what)? {
        "round-robin" => Ok(Interleave::RoundRobin),
        "random" => Ok(Interleave::Random { seed }),
        other => {
            let message = format!("{what}: {} is not known", quoted(other));
            Err(context.error(name.span, message, "write `round-robin` or `random`"))
        }
    }
}
