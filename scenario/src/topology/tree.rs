//! Reads the tree: one template for all nodes that a name with brackets or `repeat` stands for, counted before anything
//! is expanded.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use weir_plugin_api::{NodeKind, SimDuration};

use super::engines::EnginesText;
use super::limits::{NODES, too_many_nodes};
use super::link_type::{LINK, LinkType, LinkTypes};
use super::node_packets::{self, INTERLEAVE};
use super::template::{Each, NodeTemplate, Template, TopologyTemplate};
use super::{Place, TOPOLOGY};
use crate::brackets::{NAME_BYTES, NamePattern};
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Definition, KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::{Data, Entry, Value};

static NODE: KeyTable = KeyTable::new(
    "node",
    "A node, or several that are alike.",
    &[
        required("kind", Shape::Choice(|| NodeKind::ALL.map(|kind| kind.word().into()).to_vec()), "What it is."),
        optional("link", Shape::Named(&LINK), "The link to its parent; a root has none."),
        optional(
            "engines",
            Shape::Either(&[Shape::Whole(&[("minimum", 1)]), Shape::Map(&ENGINES)]),
            "Transfers that it sends at once, or how much each of its engines does.",
        ),
        optional(
            "overhead",
            Shape::Named(&units::TIME),
            "Time that it needs to issue a transfer, before the bytes flow; 0s by default.",
        ),
        optional("memory", Shape::Map(&MEMORY), "A bandwidth that all transfers to, from and through it share."),
        optional(
            "split",
            Shape::Named(&units::BYTES),
            "Largest payload of packets that it forwards downwards; larger ones are cut. In runs with `fidelity: packet`.",
        ),
        optional(
            "interleave",
            INTERLEAVE,
            "Order in which transfers that it sends at once take turns; in runs with `fidelity: packet`.",
        ),
        optional("repeat", Shape::Whole(&[("minimum", 1)]), "Node `x` becomes x0, x1, ..."),
        optional("bus_id", Shape::Pattern(|| BUS_ID.to_owned()), "The node's PCI address; no effect on a run."),
        optional(
            "numa",
            Shape::Whole(&[("minimum", 0), ("maximum", NUMA_NODES as i64)]),
            "The NUMA node that it is near to; no effect on a run.",
        ),
        optional("children", Shape::Named(&NODES_BY_NAME), "The nodes below it."),
    ],
);

static ENGINES: KeyTable = KeyTable::new(
    "engines",
    "How many tasks the engines of a device serve at once.",
    &[
        optional(
            "copy",
            Shape::Whole(&[("minimum", 1), ("maximum", 2)]),
            "One copy engine for both directions, or two.",
        ),
        optional("send", Shape::Whole(&[("minimum", 1)]), "Transfers that leave it at once."),
        optional("compute", Shape::Whole(&[("minimum", 1)]), "Computations at once; 1 by default."),
    ],
);

static MEMORY: KeyTable = KeyTable::new(
    "memory",
    "A bandwidth that all links of a node share.",
    &[required(
        "bandwidth",
        Shape::Named(&units::BANDWIDTH),
        "Of all transfers to, from and through the node together.",
    )],
);

/// `tree`, and `children` of a node.
pub(super) static NODES_BY_NAME: Definition = Definition {
    name: "nodes",
    about: "Nodes by name; `gpu[0-3]` is four of them.",
    shape: Shape::ByName(&Shape::Map(&NODE)),
};

/// `tree`.
pub(super) static ROOTS_BY_NAME: Definition = Definition {
    name: "roots",
    about: "Roots and machines by name; `node[0-3]` is four of them.",
    shape: Shape::ByName(&Shape::Either(&[Shape::Map(&NODE), Shape::Map(&INSTANCE)])),
};

/// A root of `tree` that is a machine.
static INSTANCE: KeyTable = KeyTable::new(
    "instance",
    "A machine, or several that are alike.",
    &[
        required("machine", Shape::Named(&MACHINE), "What it is."),
        optional("repeat", Shape::Whole(&[("minimum", 1)]), "Machine `x` becomes x0, x1, ..."),
    ],
);

/// `machine` of a root, and what `machines` has under a name.
pub(super) static MACHINE: Definition = Definition {
    name: "machine",
    about: "A machine: a name under `machines`, a file, or a topology in its place.",
    shape: Shape::Either(&[Shape::Text, Shape::Map(&FILE), Shape::Map(&TOPOLOGY)]),
};

/// A machine that is a file.
pub(super) static FILE: KeyTable =
    KeyTable::new("machine_file", "A topology file.", &[required("file", Shape::Path, "The file's path.")]);

/// A PCI address as a regular expression; [`bus_id`] reads it.
const BUS_ID: &str = r"^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]$";

/// Highest number of a NUMA node; Linux knows at most 1024 (`CONFIG_NODES_SHIFT`).
const NUMA_NODES: u64 = 1023;

/// Gives the machine that a value names, or is.
type ReadMachine<'r> = dyn FnMut(&mut Context, &mut LinkTypes, &Value) -> Read<Rc<TopologyTemplate>> + 'r;

pub(super) fn roots(
    context: &mut Context,
    types: &mut LinkTypes,
    value: &Value,
    machine: &mut ReadMachine<'_>,
) -> Read<Vec<Template>> {
    let entries = entries(context, value, "`tree`")?;
    if entries.is_empty() {
        return Err(context.error(value.span, "`tree` has no node", "give at least one root"));
    }
    let templates = context.each(entries, |context, entry| match entry.value.get("machine") {
        Some(_) => instance(context, types, entry, machine),
        None => template(context, types, entry, true),
    });
    checked(context, value, templates?)
}

/// Reads the children of a node.
fn children(context: &mut Context, types: &mut LinkTypes, value: &Value) -> Read<Vec<Template>> {
    let entries = entries(context, value, "`children`")?;
    let templates = context.each(entries, |context, entry| template(context, types, entry, false))?;
    checked(context, value, templates)
}

fn entries<'v>(context: &mut Context, value: &'v Value, what: &str) -> Read<&'v [Entry]> {
    let Data::Mapping(entries) = &value.data else {
        let message = format!("{what} must be a map from names to nodes, not {}", value.describe());
        return Err(context.error(value.span, message, "write `{ gpu0: { kind: gpu, link: pcie } }`"));
    };
    Ok(entries)
}

/// Templates below one parent whose nodes are not too many and have distinct names.
fn checked(context: &mut Context, value: &Value, templates: Vec<Template>) -> Read<Vec<Template>> {
    let total = templates.iter().fold(0, |sum: u64, t| sum.saturating_add(t.total));
    if total > NODES {
        return Err(too_many_nodes(context, value.span));
    }
    distinct(context, &templates)?;
    Ok(templates)
}

/// Reads a root that is a machine.
fn instance(
    context: &mut Context,
    types: &mut LinkTypes,
    entry: &Entry,
    machine: &mut ReadMachine<'_>,
) -> Read<Template> {
    let what = format!("machine {}", quoted(&entry.key));
    for key in NODE.names().filter(|key| INSTANCE.names().all(|own| own != *key)) {
        if let Some(value) = entry.value.get(key) {
            let help = format!("remove `{key}`: the machine's own topology says what it is made of");
            return Err(context.error(value.span, format!("{what} has `machine` and `{key}`"), help));
        }
    }
    let fields = context.fields(&entry.value, &what, &INSTANCE)?;
    let names = node_names(context, entry, fields.entry("repeat"));
    let value = fields.require(context, "machine")?;
    let machine = machine(context, types, value)?;
    let names = names?;
    let total = machine.nodes.saturating_mul(names.count());
    if total > NODES {
        return Err(too_many_nodes(context, fields.get("repeat").map_or(entry.key_span, |v| v.span)));
    }
    Ok(Template { names, each: Each::Machine(machine), span: entry.key_span, total })
}

fn template(context: &mut Context, types: &mut LinkTypes, entry: &Entry, root: bool) -> Read<Template> {
    let what = format!("node {}", quoted(&entry.key));
    if let (Some(machine), false) = (entry.value.get("machine"), root) {
        let help = "move it to `tree`, and join it by `links` or `networks`";
        return Err(context.error(machine.span, format!("{what}: a machine has no parent"), help));
    }
    let fields = context.fields(&entry.value, &what, &NODE)?;
    let names = node_names(context, entry, fields.entry("repeat"));
    let kind = fields.require(context, "kind").and_then(|value| kind(context, value));
    let engines = fields.get("engines").map(|value| engines(context, value, &what)).transpose();
    let place = place(context, &fields, &what, names.as_ref().ok());
    let link = link_up(context, types, &fields, (&what, entry.key_span), root);
    let below = fields.get("children").map_or(Ok(Vec::new()), |value| children(context, types, value));
    let overhead = fields.parse_or(context, "overhead", SimDuration::ZERO, units::duration);
    let memory = fields.get("memory").map(|value| memory(context, value, &what)).transpose();
    let (names, kind, engines, link, children) = (names?, kind?, engines?, link?, below?);
    let place = place?;
    for key in ["engines", "overhead"] {
        if let (Some(value), true) = (fields.get(key), is_inner(kind)) {
            let message = format!("{what}: a {} has no {key}", kind.word());
            let help = format!("remove `{key}`; only devices start transfers");
            return Err(context.error(value.span, message, help));
        }
    }
    let packets = node_packets::read(context, &fields, &what, kind)?;
    let below = children.iter().fold(1, |sum: u64, t| sum.saturating_add(t.total));
    let total = below.saturating_mul(names.count());
    if total > NODES {
        return Err(too_many_nodes(context, fields.get("repeat").map_or(entry.key_span, |v| v.span)));
    }
    let node = NodeTemplate { kind, link, engines, overhead: overhead?, memory: memory?, packets, place, children };
    Ok(Template { names, each: Each::Node(Box::new(node)), span: entry.key_span, total })
}

/// Reads `link` of a node with a name and a place: only a root has none.
fn link_up(
    context: &mut Context,
    types: &mut LinkTypes,
    fields: &Fields<'_>,
    (what, node): (&str, Span),
    root: bool,
) -> Read<Option<LinkType>> {
    match (fields.entry("link"), root) {
        (Some(link), false) => types.resolve(context, &link.value).map(|(link, _)| Some(link)),
        (None, true) => Ok(None),
        (Some(link), true) => {
            let help = "remove `link`; two roots are joined by an item of `links`";
            Err(context.error(link.key_span, format!("{what} is a root and has no link upwards"), help))
        }
        (None, false) => {
            let help = "add `link: …`, the type of the link to its parent";
            Err(context.error(node, format!("{what} has no `link`"), help))
        }
    }
}

/// Reads `engines`: a number of send slots, or a map.
fn engines(context: &mut Context, value: &Value, what: &str) -> Read<EnginesText> {
    let what = format!("`engines` of {what}");
    if !matches!(value.data, Data::Mapping(_)) {
        let send = context.parse(value, &what, slots)?;
        return Ok(EnginesText { send: Some(send), ..EnginesText::default() });
    }
    let fields = context.fields(value, &what, &ENGINES)?;
    let copy = fields.parse_or(context, "copy", None, |text| copy_engines(text).map(Some));
    let send = fields.parse_or(context, "send", None, |text| slots(text).map(Some));
    let compute = fields.parse_or(context, "compute", None, |text| slots(text).map(Some));
    let text = EnginesText { send: send?, copy: copy?, compute: compute? };
    if text == EnginesText::default() {
        return Err(context.error(value.span, format!("{what} names none"), "write `{ copy: 2, compute: 1 }`"));
    }
    if let (Some(1), Some(2..)) = (text.copy, text.send) {
        let message = format!("{what}: its one copy engine carries one transfer at a time");
        return Err(context.error(fields.span_of("send"), message, "remove `send`, or give `copy: 2`"));
    }
    Ok(text)
}

/// Reads `memory`, bytes per second.
fn memory(context: &mut Context, value: &Value, what: &str) -> Read<f64> {
    let what = format!("`memory` of {what}");
    let fields = context.fields(value, &what, &MEMORY)?;
    fields.parse(context, "bandwidth", |text| units::bandwidth(text)?.bytes_per_second(&Decimal::whole(1), text))
}

/// Reads `bus_id` and `numa`, which say where a node is in the machine and have no effect on a run.
fn place(context: &mut Context, fields: &Fields<'_>, what: &str, names: Option<&NamePattern>) -> Read<Place> {
    let mut place = Place::default();
    if let Some(value) = fields.get("bus_id") {
        place.bus_id = Some(context.parse(value, &format!("`bus_id` of {what}"), bus_id)?);
        if fields.get("repeat").is_some() || names.is_some_and(|names| names.count() > 1) {
            let message = format!("{what} stands for several nodes, which cannot have one `bus_id`");
            return Err(context.error(value.span, message, "write one node for each bus id"));
        }
    }
    if let Some(value) = fields.get("numa") {
        let numa = |text: &str| units::whole_number(text, NUMA_NODES).map(|numa| numa as u16);
        place.numa = Some(context.parse(value, &format!("`numa` of {what}"), numa)?);
    }
    Ok(place)
}

/// A PCI address, `domain:bus:device.function` in hexadecimal; the domain has 4 to 8 digits.
fn bus_id(text: &str) -> Result<Box<str>, Problem> {
    let hexadecimal = |part: &str, digits: std::ops::RangeInclusive<usize>| {
        digits.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = text.split(':').collect();
    let fits = match parts.as_slice() {
        [domain, bus, rest] => rest.split_once('.').is_some_and(|(device, function)| {
            hexadecimal(domain, 4..=8)
                && hexadecimal(bus, 2..=2)
                && hexadecimal(device, 2..=2)
                && hexadecimal(function, 1..=1)
        }),
        _ => false,
    };
    let help = "write it as `lspci -D` does, in quotes: `bus_id: \"0000:07:00.0\"`";
    if fits { Ok(text.into()) } else { Err(Problem::new(format!("{} is not a bus id", quoted(text)), help)) }
}

/// Whether a node never starts or ends a transfer.
pub(crate) fn is_inner(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Switch | NodeKind::RootComplex | NodeKind::Network)
}

fn copy_engines(text: &str) -> Result<u32, Problem> {
    match units::whole_number(text, u64::from(u32::MAX))? {
        count @ (1 | 2) => Ok(count as u32),
        count => {
            Err(Problem::new(format!("`{count}` copy engines"), "give 1, for both directions, or 2, one for each"))
        }
    }
}

fn slots(text: &str) -> Result<u32, Problem> {
    units::at_least_one(text, u64::from(u32::MAX)).map(|slots| slots as u32)
}

/// The names of an entry of the tree.
fn node_names(context: &mut Context, entry: &Entry, repeat: Option<&Entry>) -> Read<NamePattern> {
    let what = format!("node {}", quoted(&entry.key));
    let names = NamePattern::read(&entry.key);
    let mut names = names.map_err(|problem| context.problem(entry.key_span, &what, problem))?;
    if let Some(repeat) = repeat {
        names = repeated(context, entry, repeat, &names)?;
    }
    if entry.key.is_empty() || names.longest() > NAME_BYTES || entry.key.contains(['/', '\n', '\t']) {
        let help = format!("names have 1 to {NAME_BYTES} bytes and no `/`, which separates the names of a path");
        return Err(context.error(entry.key_span, format!("{what}: not a name"), help));
    }
    Ok(names)
}

/// The names of an entry with `repeat`.
fn repeated(context: &mut Context, entry: &Entry, repeat: &Entry, names: &NamePattern) -> Read<NamePattern> {
    let what = format!("node {}", quoted(&entry.key));
    if names.has_brackets() {
        return Err(context.error(repeat.key_span, format!("{what} has brackets and `repeat`"), "use one of the two"));
    }
    // Numbers beyond u64 are as much too many as the largest one.
    let n = context.parse(&repeat.value, &format!("`repeat` of {what}"), |text| units::whole_number(text, u64::MAX))?;
    if n == 0 {
        return Err(context.error(repeat.value.span, format!("`repeat` of {what} is 0"), "give at least 1"));
    }
    Ok(NamePattern::numbered(&entry.key, n))
}

fn kind(context: &mut Context, value: &Value) -> Read<NodeKind> {
    let word = context.text(value, "the kind of a node")?;
    NodeKind::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(|| {
        let help = context.suggestion(word, NodeKind::ALL.iter().map(|kind| kind.word()), "kinds");
        context.error(value.span, format!("no node has the kind {}", quoted(word)), help)
    })
}

/// Refuses two nodes of one name below one parent.
fn distinct(context: &mut Context, templates: &[Template]) -> Read<()> {
    // Plain names are distinct already, being the keys of one map, and so are those of one run of numbers.
    let certain = match templates {
        [one] => one.names.is_one_run(),
        many => many.iter().all(|t| !t.names.has_brackets()),
    };
    if certain {
        return Ok(());
    }
    let mut seen = FxHashSet::default();
    for template in templates {
        for i in 0..template.names.count() {
            let name = template.names.name(i);
            if seen.contains(&name) {
                let message = format!("two nodes named {} below one parent", quoted(&name));
                return Err(context.error(template.span, message, "give nodes below one parent distinct names"));
            }
            seen.insert(name);
        }
    }
    Ok(())
}
