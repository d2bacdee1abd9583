//! The keys of patterns, which depend on `kind`.

use serde_json::Value as Json;

use super::order::ORDER;
use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::format::{KeyTable, Shape, optional, required};
use crate::units;
use crate::workload::after::AFTER;
use crate::workload::attributes::{ID, START};
use crate::workload::ranks::RANKS;
use crate::workload::routing::{NIC, ROUTING};
use crate::yaml::{Data, Value};

/// Keys of patterns of all kinds.
pub(in crate::workload) static PATTERN: KeyTable = KeyTable::new(
    "pattern",
    "Transfers between ranks, by a rule.",
    &[
        required("kind", Shape::Choice(|| KINDS.map(|(kind, _)| Json::from(kind)).to_vec()), "The rule."),
        ID,
        optional("ranks", Shape::Named(&RANKS), ""),
        START,
        AFTER,
        ORDER,
        ROUTING,
        NIC,
        optional(
            "model",
            Shape::Registered("transfer_model"),
            "Every transfer becomes an operation, as `transfer` with `model` is.",
        ),
        optional(
            "size",
            Shape::Either(&[Shape::Named(&units::BYTES), Shape::Tuple(2, 2, &Shape::Named(&units::BYTES))]),
            "Payload of each transfer; of `random` also the smallest and the largest.",
        ),
        optional("grid", Shape::List(1, &Shape::Whole(&[("minimum", 1)])), "Ranks along each axis."),
        optional("dimensions", Shape::Whole(&[("minimum", 1)]), "Of the hypercube: it has 2^dimensions ranks."),
        optional(
            "weights",
            Shape::List(0, &Shape::Number(&[("exclusiveMinimum", 0)])),
            "Along each axis `size` times its weight is sent; 1 by default.",
        ),
        optional("axis_order", Shape::List(0, &Shape::Whole(&[("minimum", 0)])), "The axes, fastest first."),
        optional(
            "wrap2",
            Shape::Choice(|| vec!["once".into(), "twice".into()]),
            "Messages from a rank to a neighbour that is the same in both directions; once by default.",
        ),
        optional("root", Shape::Whole(&[("minimum", 0)]), "The rank that sends or receives all; 0 by default."),
        optional(
            "edges",
            Shape::List(0, &Shape::Tuple(2, 3, &Shape::Number(&[]))),
            "Both ranks and, optionally, the weight of each edge.",
        ),
        optional("unit", Shape::Named(&units::BYTES), "Payload along an edge of weight 1, each way."),
        optional("count", Shape::Whole(&[("minimum", 0)]), "Number of transfers."),
        optional("seed", Shape::Whole(&[("minimum", 0)]), "The seed of the random numbers."),
        optional("within", Shape::Named(&units::TIME), "Starts are random within this time."),
    ],
);

/// What is no pattern, but a kind of the operation `collective`.
const COLLECTIVES: [&str; 5] = ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce"];

/// The kinds, each with its keys beside those that all kinds have.
const KINDS: [(&str, &[&str]); 9] = [
    ("halo", &["size", "grid", "weights", "axis_order"]),
    ("torus", &["size", "grid", "weights", "axis_order", "wrap2"]),
    ("hypercube", &["size", "dimensions", "weights"]),
    ("ring", &["size"]),
    ("all-to-all", &["size"]),
    ("scatter", &["size", "root"]),
    ("gather", &["size", "root"]),
    ("graph", &["edges", "unit"]),
    ("random", &["size", "count", "seed", "within"]),
];

/// The keys of a kind with these keys of its own: also those that no kind has as its own.
pub(super) fn with(own: &'static [&'static str]) -> impl Iterator<Item = &'static str> + Clone {
    PATTERN.names().filter(move |key| own.contains(key) || KINDS.iter().all(|(_, keys)| !keys.contains(key)))
}

/// Reads `kind`; returns the keys of its own, too.
pub(super) fn kind(context: &mut Context, value: &Value) -> Read<(&'static str, &'static [&'static str])> {
    let Data::Mapping(entries) = &value.data else {
        let message = format!("a pattern must be a map, not {}", value.describe());
        return Err(context.error(value.span, message, "write `pattern: { kind: ring, size: 4MB }`"));
    };
    let Some(entry) = entries.iter().find(|e| &*e.key == "kind") else {
        let help = format!("add `kind: …`, one of {}", KINDS.map(|(kind, _)| kind).join(", "));
        return Err(context.error(value.span, "a pattern needs the key `kind`", help));
    };
    let word = context.text(&entry.value, "the kind of a pattern")?;
    KINDS.into_iter().find(|(kind, _)| *kind == word).ok_or_else(|| {
        let help = match COLLECTIVES.contains(&word) {
            true => format!("it is an operation of its own: `collective: {{ kind: {word}, … }}` (docs/programs.md)"),
            false => context.suggestion(word, KINDS.map(|(kind, _)| kind), "kinds"),
        };
        context.error(entry.value.span, format!("no pattern has the kind {}", quoted(word)), help)
    })
}
