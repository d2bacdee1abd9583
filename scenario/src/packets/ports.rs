//! `port_arbiter`: who gets the output of a port.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use weir_packets::arbiter::RoundRobin;
use weir_plugin_api::{Flags, PortEntry};

use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Definition, KeyTable, Shape, optional};
use crate::schema::{NoNames, Schema};
use crate::source::Span;
use crate::yaml::{Data, Entry, Value};

/// A name of a node, and where it stands.
type Named = (Box<str>, Span);

/// A port arbiter with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct PortChoice {
    pub(super) entry: Arc<PortEntry>,
    /// The parameters as it gets them, but for the names of nodes.
    pub(super) params: Map<String, Json>,
    /// Parameters whose keys are names of nodes: which, and the names.
    pub(super) by_node: Vec<(Box<str>, Vec<Named>)>,
}

impl PartialEq for PortChoice {
    fn eq(&self, other: &Self) -> bool {
        (&self.entry.name, &self.params, &self.by_node) == (&other.entry.name, &other.params, &other.by_node)
    }
}

impl PortChoice {
    /// The one of links that say none.
    pub(super) fn default_choice() -> Arc<Self> {
        let entry = Arc::new(PortEntry::builtin::<RoundRobin>());
        Arc::new(Self { entry, params: Map::new(), by_node: Vec::new() })
    }

    /// What it reads of transfers.
    pub(super) fn flags(&self) -> Flags {
        let of_transfers = Flags::READS_WEIGHT.union(Flags::READS_PRIORITY);
        Flags(self.entry.flags.0 & of_transfers.0)
    }
}

/// One port arbiter: a name, or a map with it.
const ONE: Shape = Shape::Registered("port_arbiter");

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
    if matches!(&value.data, Data::Mapping(entries) if entries.is_empty()) {
        let help =
            "name one, such as `round-robin`, or one for each way, as in `{ up: oldest-first, down: round-robin }`";
        return Err(context.error(value.span, "`port_arbiter` names none", help));
    }
    let mut way = |key: &str| fields.get(key).map(|value| one(context, value).map(Arc::new)).transpose();
    let (up, down, lateral) = (way("up"), way("down"), way("lateral"));
    Ok([up?, down?, lateral?])
}

fn one(context: &mut Context, value: &Value) -> Read<PortChoice> {
    let entries: &[Entry] = if let Data::Mapping(entries) = &value.data { entries } else { &[] };
    let name_value = match (&value.data, entries.iter().find(|entry| &*entry.key == "name")) {
        (_, Some(entry)) => &entry.value,
        (Data::Mapping(_), None) => {
            let help = "write `{ name: NAME, PARAMETER: VALUE }`, or the name alone";
            return Err(context.error(value.span, "a port arbiter needs the key `name`", help));
        }
        _ => value,
    };
    let name = context.text(name_value, "the name of a port arbiter")?;
    let Some(entry) = context.ports.iter().find(|entry| entry.name == name).cloned() else {
        let names: Vec<String> = context.ports.iter().map(|entry| entry.name.clone()).collect();
        let help = context.suggestion(name, names.iter().map(String::as_str), "port arbiters");
        let problem = Problem::new(format!("no port arbiter is named {}", quoted(name)), help);
        return Err(context.unknown(name_value.span, name, problem));
    };
    let root: Json = serde_json::from_str(&entry.params_schema).unwrap_or_else(|_| Json::Object(Map::new()));
    let (schema, own) = (Schema::new(&root), entries.iter().filter(|entry| &*entry.key != "name"));
    let what = format!("port arbiter `{name}`");
    let params = schema.object(context, &mut NoNames, value.span, own.clone(), &what)?;
    let names_of = |entry: &Entry| match &entry.value.data {
        Data::Mapping(names) if schema.property(&entry.key).is_some_and(Schema::is_by_node) => {
            Some((entry.key.clone(), names.iter().map(|name| (name.key.clone(), name.key_span)).collect()))
        }
        _ => None,
    };
    let by_node = own.filter_map(names_of).collect();
    Ok(PortChoice { entry, params, by_node })
}
