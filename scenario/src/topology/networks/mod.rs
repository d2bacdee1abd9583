//! Networks: switches and the links between them and to the ends, from a line that says which shape they have.

mod read;
mod shape;

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use weir_plugin_api::NodeId;

use self::shape::Shape;
use super::expansion::Expansion;
use super::lateral::{self, End, MadeOf};
use super::link_type::{LINK, LinkTypes};
use super::template::{NODES, Template, too_many};
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
    ends: Vec<End>,
    /// What the links of each level are made of.
    levels: Vec<MadeOf>,
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

/// Reads `networks`, beside the roots of a tree.
pub(super) fn read(
    context: &mut Context,
    types: &mut LinkTypes,
    value: Option<&Value>,
    roots: &[Template],
) -> Read<Vec<Network>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Data::Mapping(entries) = &value.data else {
        let message = format!("`networks` must be a map from names to networks, not {}", value.describe());
        let help = "write `networks: { net: { star: {}, ends: \"host[0-7]\", types: ib } }`";
        return Err(context.error(value.span, message, help));
    };
    let networks = context.each(entries, |context, entry| network(context, types, entry))?;
    distinct(context, &networks, roots)?;
    Ok(networks)
}

/// Refuses a network with the name of a root.
fn distinct(context: &mut Context, networks: &[Network], roots: &[Template]) -> Read<()> {
    let names: FxHashMap<&str, Span> = networks.iter().map(|network| (&*network.name, network.span)).collect();
    let mut name = String::new();
    for (root, i) in roots.iter().flat_map(|root| (0..root.names.count()).map(move |i| (root, i))) {
        root.names.write(i, &mut name);
        if let Some(&span) = names.get(name.as_str()) {
            let message = format!("network {} has the name of a root of `tree`", quoted(&name));
            return Err(context.error(span, message, "give it another name"));
        }
    }
    Ok(())
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
        return Err(too_many(context, entry.key_span));
    }
    let ends = read::ends(context, &fields);
    let levels = read::levels(context, types, &fields, &shape, parallel);
    let network = Network { name: entry.key.clone(), shape, span: entry.key_span, ends: ends?, levels: levels? };
    if let Some(most) = network.shape.most_ends().filter(|most| network.count() > *most) {
        let message = format!("{what} has room for {most} ends, and is given {}", network.count());
        return Err(context.error(fields.span_of("ends"), message, "give fewer, or a larger network"));
    }
    if network.links() > NODES {
        return Err(lateral::too_many(context, entry.key_span));
    }
    Ok(network)
}

impl Network {
    /// Number of ends.
    fn count(&self) -> u64 {
        self.ends.iter().fold(0, |sum, end| sum.saturating_add(end.names.count()))
    }

    pub(super) fn links(&self) -> u64 {
        self.count().saturating_add(self.shape.links())
    }

    /// Adds the links from its ends, some of the nodes `within` a topology, and then those between its switches, which
    /// are the nodes from `first` on.
    pub(super) fn add(
        &self,
        context: &mut Context,
        expansion: &mut Expansion<'_>,
        within: &Range<u32>,
        first: u32,
    ) -> Read<()> {
        let switch = |number: u64| NodeId(first + number as u32);
        let (edges, count) = (self.shape.edges(), self.count());
        let (mut seen, mut dealt) = (FxHashSet::default(), 0);
        for end in &self.ends {
            for i in 0..end.names.count() {
                let node = end.node(context, expansion, within, i)?;
                if !seen.insert(node) {
                    let message = format!("`{}` is an end twice", expansion.names.unique_name(node));
                    return Err(context.error(end.span, message, "name each end once"));
                }
                // Consecutive ends, as many on each switch, or one more.
                let at = switch(dealt * edges / count);
                expansion.join(context, end.span, (node, at), &self.levels[0])?;
                dealt += 1;
            }
        }
        self.shape.each_link(|level, from, to| {
            expansion.join(context, self.span, (switch(from), switch(to)), &self.levels[level])
        })
    }
}
