//! `packet` of a link type and of `fidelity`: how links carry packets.

use std::sync::Arc;

use weir_packets::{Inputs, MOST_HEADER, MOST_PAYLOAD, Queues, Switching};
use weir_plugin_api::SimDuration;

use super::ports::{self, PORTS, PortChoice};
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Key, KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::units;
use crate::yaml::{Entry, Value};

/// What `bandwidth` counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rate {
    /// Payload of full packets: a lone transfer ends as in a fluid run.
    Goodput,
    /// Payload and headers.
    Wire,
}

/// What is given; the rest is as the kind of the link has it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct PacketKeys {
    pub(crate) payload: Option<u32>,
    pub(crate) header: Option<u32>,
    /// Bytes of packets that acknowledge; 0 for none.
    pub(crate) dllp: Option<u32>,
    /// Bytes; the inner `None` for one that is never full.
    pub(crate) buffer: Option<Option<u64>>,
    /// Packets whose headers have credit of their own; `buffer` is then that of data alone.
    pub(crate) headers: Option<u32>,
    /// Where `buffer` or `data` of `credits` is written.
    pub(crate) buffer_place: Option<Span>,
    /// Where `payload` is written, or `header`.
    pub(crate) size_place: Option<Span>,
    pub(crate) credit_return: Option<SimDuration>,
    pub(crate) queues: Option<Queues>,
    pub(crate) inputs: Option<Inputs>,
    pub(crate) switching: Option<Switching>,
    pub(crate) rate: Option<Rate>,
    /// Port arbiters of links towards the root, away from it, and beside the tree.
    pub(crate) ports: [Option<Arc<PortChoice>>; 3],
}

const BUFFER: [Shape; 2] = [Shape::Named(&units::BYTES), Shape::Choice(|| vec!["unlimited".into()])];

/// `credits`.
static CREDITS: KeyTable = KeyTable::new(
    "credits",
    "Credit of an input buffer, for headers and for data.",
    &[
        required("header", Shape::Whole(&[("minimum", 1)]), "Packets, whatever their size."),
        required("data", Shape::Named(&units::BYTES), "Payload."),
    ],
);

/// The keys of both maps.
const LINK_KEYS: [Key; 11] = [
    optional("payload", Shape::Named(&units::BYTES), "Largest payload of a packet."),
    optional("header", Shape::Named(&units::BYTES), "Header of each packet on the wire."),
    optional(
        "dllp",
        Shape::Named(&units::BYTES),
        "DLLP on the opposite link behind each packet; 0B, none, by default.",
    ),
    optional("buffer", Shape::Either(&BUFFER), "Input buffer at the far end; 16KiB by default."),
    optional("credits", Shape::Map(&CREDITS), "In place of `buffer`: credit of headers and of data apart."),
    optional("credit_return", Shape::Named(&units::TIME), "From free room to the sender; the latency by default."),
    optional("queues", Shape::Choice(|| vec!["fifo".into(), "voq".into()]), "Queues of the input buffer."),
    optional("inputs", Shape::Choice(|| vec!["serial".into(), "parallel".into()]), "Outputs it sends to at once."),
    optional(
        "switching",
        Shape::Choice(|| vec!["cut-through".into(), "store-and-forward".into()]),
        "When a packet can be sent on.",
    ),
    optional("rate", Shape::Choice(|| vec!["goodput".into(), "wire".into()]), "What `bandwidth` counts."),
    optional("port_arbiter", Shape::Named(&PORTS), "Which of those that ask for the link is served."),
];

pub(crate) static LINK_PACKET: KeyTable =
    KeyTable::new("link_packet", "How links of the type carry packets.", &LINK_KEYS);

/// Those of links, and what only a run has.
const RUN_KEYS: [Key; 17] = {
    let mut keys =
        [optional("window", Shape::Whole(&[("minimum", 1)]), "Packets of a transfer under way at most."); 17];
    let mut at = 0;
    while at < LINK_KEYS.len() {
        keys[at] = LINK_KEYS[at];
        at += 1;
    }
    let choice = Shape::Choice(|| vec![true.into(), false.into()]);
    keys[LINK_KEYS.len()] = optional("skip_ahead", choice, "Whether periods are skipped; results are the same.");
    keys[LINK_KEYS.len() + 1] =
        optional("request", Shape::Named(&units::BYTES), "Bytes that a request of a read asks for; 512B by default.");
    keys[LINK_KEYS.len() + 2] = optional(
        "tags",
        Shape::Whole(&[("minimum", 1)]),
        "Requests of a read at most that are not answered in full; 256 by default.",
    );
    keys[LINK_KEYS.len() + 3] =
        optional("service", Shape::Named(&units::TIME), "From a request to its answer; 0s by default.");
    keys[LINK_KEYS.len() + 4] = optional(
        "completion_header",
        Shape::Named(&units::BYTES),
        "Header of the packets that answer reads; 20B by default.",
    );
    keys
};

/// `packet` of `fidelity`.
pub(super) static RUN_PACKET: KeyTable =
    KeyTable::new("fidelity_packet", "How links carry packets, unless their types say it.", &RUN_KEYS);

/// Reads `packet` of a link type.
pub(crate) fn read(context: &mut Context, value: &Value, what: &str) -> Read<PacketKeys> {
    let what = format!("`packet` of {what}");
    let fields = context.fields(value, &what, &LINK_PACKET)?;
    keys(context, &fields)
}

/// Reads the keys that both maps have.
pub(super) fn keys(context: &mut Context, fields: &Fields<'_>) -> Read<PacketKeys> {
    let payload = fields.parse_or(context, "payload", None, payload);
    let header = fields.parse_or(context, "header", None, header);
    let dllp = fields.parse_or(context, "dllp", None, dllp);
    let buffer = fields.parse_or(context, "buffer", None, buffer);
    let credits = fields.entry("credits").map(|entry| credits(context, fields, entry)).transpose();
    let credit_return = fields.parse_or(context, "credit_return", None, |text| units::duration(text).map(Some));
    let queues = choice(context, fields, "queues", [("fifo", Queues::Fifo), ("voq", Queues::Voq)]);
    let inputs = choice(context, fields, "inputs", [("serial", Inputs::Serial), ("parallel", Inputs::Parallel)]);
    let switching = [("cut-through", Switching::CutThrough), ("store-and-forward", Switching::StoreAndForward)];
    let switching = choice(context, fields, "switching", switching);
    let rate = choice(context, fields, "rate", [("goodput", Rate::Goodput), ("wire", Rate::Wire)]);
    let ports = fields.get("port_arbiter").map(|value| ports::read(context, value)).transpose();
    let credits = credits?;
    let buffer_place = fields.get("buffer").map(|given| given.span).or(credits.map(|credits| credits.2));
    let size_place = ["payload", "header"].into_iter().find_map(|key| fields.get(key)).map(|given| given.span);
    Ok(PacketKeys {
        buffer_place,
        size_place,
        payload: payload?,
        header: header?,
        dllp: dllp?,
        buffer: credits.map_or(buffer?, |credits| Some(Some(credits.1))),
        headers: credits.map(|credits| credits.0),
        credit_return: credit_return?,
        queues: queues?,
        inputs: inputs?,
        switching: switching?,
        rate: rate?,
        ports: ports?.unwrap_or_default(),
    })
}

impl PacketKeys {
    /// These, with those of `outer` where nothing is given.
    pub(super) fn or(&self, outer: &Self) -> Self {
        let port = |way: usize| self.ports[way].clone().or_else(|| outer.ports[way].clone());
        Self {
            payload: self.payload.or(outer.payload),
            header: self.header.or(outer.header),
            dllp: self.dllp.or(outer.dllp),
            buffer: self.buffer.or(outer.buffer),
            // A buffer of its own is one for bytes of any kind.
            headers: if self.buffer.is_some() { self.headers } else { outer.headers },
            buffer_place: self.buffer_place.or(outer.buffer_place),
            size_place: self.size_place.or(outer.size_place),
            credit_return: self.credit_return.or(outer.credit_return),
            queues: self.queues.or(outer.queues),
            inputs: self.inputs.or(outer.inputs),
            switching: self.switching.or(outer.switching),
            rate: self.rate.or(outer.rate),
            ports: [port(0), port(1), port(2)],
        }
    }
}

fn payload(text: &str) -> Result<Option<u32>, Problem> {
    match units::byte_size(text)? {
        bytes @ 1.. if bytes <= u64::from(MOST_PAYLOAD) => Ok(Some(bytes as u32)),
        _ => Err(Problem::new(format!("no packet has a payload of {text}"), "give 1B to 64KiB")),
    }
}

/// Headers and bytes of data.
fn credits(context: &mut Context, fields: &Fields<'_>, entry: &Entry) -> Read<(u32, u64, Span)> {
    if fields.entry("buffer").is_some() {
        let message = "`credits` stands in place of `buffer`";
        return Err(context.error(entry.key_span, message, "leave one of them out"));
    }
    let fields = context.fields(&entry.value, "`credits`", &CREDITS)?;
    let header = fields.parse(context, "header", |text| units::at_least_one(text, u64::from(u32::MAX)));
    let data = fields.parse(context, "data", units::byte_size);
    Ok((header? as u32, data?, fields.span_of("data")))
}

pub(super) fn header(text: &str) -> Result<Option<u32>, Problem> {
    match units::byte_size(text)? {
        bytes if bytes <= u64::from(MOST_HEADER) => Ok(Some(bytes as u32)),
        _ => Err(Problem::new(format!("no packet has a header of {text}"), "give at most 4KiB")),
    }
}

fn dllp(text: &str) -> Result<Option<u32>, Problem> {
    if units::size_decimal(text)?.is_zero() {
        return Ok(Some(0));
    }
    match units::byte_size(text)? {
        bytes if bytes <= u64::from(MOST_HEADER) => Ok(Some(bytes as u32)),
        _ => Err(Problem::new(format!("no DLLP has {text}"), "give at most 4KiB; those of PCIe have 8B")),
    }
}

fn buffer(text: &str) -> Result<Option<Option<u64>>, Problem> {
    if text == "unlimited" { Ok(Some(None)) } else { units::byte_size(text).map(|bytes| Some(Some(bytes))) }
}

/// The value of a key that is one of some words.
fn choice<T: Copy, const N: usize>(
    context: &mut Context,
    fields: &Fields<'_>,
    key: &str,
    words: [(&str, T); N],
) -> Read<Option<T>> {
    fields.parse_or(context, key, None, |text| match words.iter().find(|(word, _)| *word == text) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let known = words.map(|(word, _)| format!("`{word}`")).join(" or ");
            Err(Problem::new(format!("{} is not known", quoted(text)), format!("write {known}")))
        }
    })
}
