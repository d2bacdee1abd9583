//! Networks: switches and the links between them and to the ends, from a line that says which shape they have.

mod read;
mod shape;

use self::shape::Shape;
use super::lateral::{End, MadeOf};
use super::limits::{NODES, too_many_links, too_many_nodes};
use super::link_type::{LINK, LinkTypes};
use crate::brackets::NAME_BYTES;
use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::format::{Key, KeyTable, Shape as Form, optional, required};
use crate::source::Span;
use crate::yaml::{Data, Entry, Value};

/// A network: its switches are roots below its name.
#[derive(Debug)]
pub(crate) struct Network {
    pub(super) name: Box<str>,
    pub(super) shape: Shape,
    /// Where its name stands.
    pub(super) span: Span,
    pub(super) ends: Vec<End>,
    /// What the links of each level are made of.
    pub(super) levels: Vec<MadeOf>,
}

/// A size of a network.
const fn size(name: &'static str, about: &'static str) -> Key {
    required(name, Form::Whole(&[("minimum", 1), ("maximum", NODES as i64)]), about)
}

static STAR: KeyTable = KeyTable::new("star", "One switch.", &[]);

static LEAF_SPINE: KeyTable = KeyTable::new(
    "leaf_spine",
    "Leaves, each joined to every spine.",
    &[
        size("leaves", "Switches with ends."),
        size("spines", "Switches between leaves."),
        Key {
            required: false,
            ..size("links", "Links from a leaf to a spine, made one link of so much bandwidth; 1.")
        },
    ],
);

static FAT_TREE: KeyTable =
    KeyTable::new("fat_tree", "A k-ary fat tree.", &[size("k", "Ports of a switch, and pods; even.")]);

static DRAGONFLY: KeyTable = KeyTable::new(
    "dragonfly",
    "Groups of routers, a link between each two groups.",
    &[
        size("a", "Routers of a group."),
        size("h", "Links of a router to other groups."),
        size("p", "Ends of a router at most."),
    ],
);

/// Link types by level; which levels there are depends on the shape.
static LEVELS: KeyTable = KeyTable::new(
    "network_types",
    "The link type of each level.",
    &[
        optional("end", Form::Named(&LINK), "From an end to its switch."),
        optional("spine", Form::Named(&LINK), "From a leaf to a spine."),
        optional("edge", Form::Named(&LINK), "From an edge switch to an aggregation switch."),
        optional("core", Form::Named(&LINK), "From an aggregation switch to a core."),
        optional("local", Form::Named(&LINK), "In a group."),
        optional("global", Form::Named(&LINK), "Between groups."),
        optional("torus", Form::Named(&LINK), "Between neighbours."),
    ],
);

/// An item of `networks`.
pub(super) static NETWORK: KeyTable = KeyTable::new(
    "network",
    "A network of one shape: its switches, with links between them and to the ends.",
    &[
        optional("star", Form::Map(&STAR), ""),
        optional("leaf-spine", Form::Map(&LEAF_SPINE), ""),
        optional("fat-tree", Form::Map(&FAT_TREE), ""),
        optional("dragonfly", Form::Map(&DRAGONFLY), ""),
        optional(
            "torus",
            Form::List(1, &Form::Whole(&[("minimum", 1), ("maximum", NODES as i64)])),
            "Routers along each dimension.",
        ),
        required(
            "ends",
            Form::OneOrMore(1, &Form::Text),
            "What it joins; names with brackets stand for several nodes.",
        ),
        required("types", Form::Either(&[Form::Text, Form::Map(&LEVELS)]), "The link type of all levels, or of each."),
    ],
)
.in_one_of(&[&["star"], &["leaf-spine"], &["fat-tree"], &["dragonfly"], &["torus"]]);

/// Reads `networks`.
pub(super) fn read(context: &mut Context, types: &mut LinkTypes, value: Option<&Value>) -> Read<Vec<Network>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Data::Mapping(entries) = &value.data else {
        let message = format!("`networks` must be a map from names to networks, not {}", value.describe());
        let help = "write `networks: { net: { star: {}, ends: \"host[0-7]\", types: ib } }`";
        return Err(context.error(value.span, message, help));
    };
    context.each(entries, |context, entry| network(context, types, entry))
}

fn network(context: &mut Context, types: &mut LinkTypes, entry: &Entry) -> Read<Network> {
    let what = format!("network {}", quoted(&entry.key));
    if entry.key.is_empty() || entry.key.len() > NAME_BYTES || entry.key.contains(['/', '\n', '\t', '[', ']']) {
        let help = format!("names of networks have 1 to {NAME_BYTES} bytes, no `/` and no brackets");
        return Err(context.error(entry.key_span, format!("{what}: not a name"), help));
    }
    let fields = context.fields(&entry.value, &what, &NETWORK)?;
    let (shape, parallel) = read::shape(context, &fields, &what)?;
    if shape.nodes() > NODES {
        return Err(too_many_nodes(context, entry.key_span));
    }
    let ends = read::ends(context, &fields);
    let levels = read::levels(context, types, &fields, &shape, parallel);
    let network = Network { name: entry.key.clone(), shape, span: entry.key_span, ends: ends?, levels: levels? };
    if let Some(most) = network.shape.most_ends().filter(|most| network.count() > *most) {
        let message = format!("{what} has room for {most} ends, and is given {}", network.count());
        return Err(context.error(fields.span_of("ends"), message, "give fewer, or a larger network"));
    }
    if network.links() > NODES {
        return Err(too_many_links(context, entry.key_span));
    }
    Ok(network)
}

impl Network {
    /// Number of ends.
    pub(super) fn count(&self) -> u64 {
        self.ends.iter().fold(0, |sum, end| sum.saturating_add(end.names.count()))
    }

    pub(super) fn links(&self) -> u64 {
        self.count().saturating_add(self.shape.links())
    }
}
