//! Walks the tree of a topology, with its machines, and writes down what could be better.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use weir_plugin_api::NodeKind;

use super::values::{Written, of_generation, scalar, text_entry};
use super::{Resource, ResourceKind, Value};
use crate::context::{Context, Read};
use crate::files::Files;
use crate::reach;
use crate::topology::NESTED;
use crate::yaml::{self, Data, Entry, key_of_path};

/// Resources at most, beyond which a list helps nobody; *assumed*.
const MOST: usize = 10_000;

/// A walk over a topology.
pub(super) struct Walk<'a> {
    context: &'a mut Context,
    files: &'a mut Files,
    packets: bool,
    /// Link types and memories, with their latencies.
    links: ByName,
    /// What devices of a kind have together.
    of_kinds: ByName,
    /// Places with a type, by name or not.
    places: ByName,
}

/// Resources by name, in the order of the file.
type ByName = IndexMap<String, (ResourceKind, Vec<Value>), FxBuildHasher>;

impl<'a> Walk<'a> {
    pub(super) fn new(context: &'a mut Context, files: &'a mut Files, packets: bool) -> Self {
        Self {
            context,
            files,
            packets,
            links: ByName::default(),
            of_kinds: ByName::default(),
            places: ByName::default(),
        }
    }

    /// All that was found, in its order.
    pub(super) fn found(mut self) -> Vec<Resource> {
        self.of_kinds.sort_by_key(|_, (kind, _)| matches!(kind, ResourceKind::Engines(..)));
        let all = self.links.into_iter().chain(self.of_kinds).chain(self.places);
        all.map(|(name, (kind, values))| Resource { name, kind, values }).collect()
    }

    /// A topology at a path, in so many others.
    pub(super) fn topology(&mut self, topology: &yaml::Value, path: &str, level: usize) -> Read<()> {
        if level > NESTED {
            return Ok(());
        }
        for entry in entries(topology.get("link_types")) {
            self.link(&entry.value, &below(path, "link_types", &entry.key));
        }
        for entry in entries(topology.get("machines")) {
            self.machine(&entry.value, &below(path, "machines", &entry.key), level)?;
        }
        let types = entries(topology.get("link_types"));
        self.nodes(topology.get("tree"), types, &key(path, "tree"), level)?;
        if let Some(Data::Sequence(items)) = topology.get("links").map(|links| &links.data) {
            for (at, item) in items.iter().enumerate() {
                let path = format!("{}[{at}].type", key(path, "links"));
                self.link_in_place(item.get("type"), &path);
                self.place(item.get("type"), types, &path, true);
            }
        }
        for entry in entries(topology.get("networks")) {
            let path = format!("{}.types", below(path, "networks", &entry.key));
            let types = entry.value.get("types");
            match types.is_some_and(is_link) {
                true => self.link_in_place(types, &path),
                false => entries(types).iter().for_each(|e| self.link_in_place(Some(&e.value), &key(&path, &e.key))),
            }
        }
        Ok(())
    }

    /// A machine: a file, or a topology in its place. One that names another is found where that is.
    fn machine(&mut self, machine: &yaml::Value, path: &str, level: usize) -> Read<()> {
        if machine.get("file").is_some() {
            let tree = reach::named_file(self.context, self.files, machine)?;
            return self.topology(&tree, path, level + 1);
        }
        self.topology(machine, path, level + 1)
    }

    fn nodes(&mut self, nodes: Option<&yaml::Value>, types: &[Entry], path: &str, level: usize) -> Read<()> {
        for entry in entries(nodes) {
            let (node, path) = (&entry.value, key(path, &entry.key));
            if let Some(machine) = node.get("machine") {
                self.machine(machine, &key(&path, "machine"), level)?;
                continue;
            }
            self.link_in_place(node.get("link"), &key(&path, "link"));
            self.place(node.get("link"), types, &key(&path, "link"), false);
            if let Some(text) = node.get("memory").and_then(|memory| scalar(memory.get("bandwidth")?)) {
                let (name, written) = (key(&path, "memory"), Written::Bandwidth(text.to_owned()));
                self.add(&name, ResourceKind::Memory, key(&name, "bandwidth"), written);
            }
            self.device(node, &path);
            self.nodes(node.get("children"), types, &key(&path, "children"), level)?;
        }
        Ok(())
    }

    fn link_in_place(&mut self, link: Option<&yaml::Value>, path: &str) {
        if let Some(link) = link.filter(|link| is_link(link)) {
            self.link(link, path);
        }
    }

    /// A place with its type, which is one of these by name or stands there; a lateral link has the name as its kind where the
    /// type gives none.
    fn place(&mut self, link: Option<&yaml::Value>, types: &[Entry], path: &str, lateral: bool) {
        let name = link.and_then(scalar);
        let named = |name: &str| types.iter().find(|entry| &*entry.key == name).map(|entry| &entry.value);
        let Some(of) = name.map_or(link.filter(|link| is_link(link)), named) else { return };
        let by_bandwidth =
            if of.get("generation").is_some() { of_generation(of, self.packets) } else { Some(of.clone()) };
        let Some(mut of) = by_bandwidth else { return };
        let (span, no_kind) = (of.span, of.get("kind").is_none());
        let Data::Mapping(keys) = &mut of.data else { return };
        if let Some(name) = name.filter(|_| lateral && no_kind) {
            keys.push(text_entry("kind", name, span));
        }
        let value = Value { path: path.to_owned(), written: Written::InPlace(of) };
        add(&mut self.places, path.to_owned(), ResourceKind::Place, value);
    }

    /// A link type at a path.
    fn link(&mut self, link: &yaml::Value, path: &str) {
        let text = |key: &str| link.get(key).and_then(scalar).map(str::to_owned);
        if link.get("generation").is_some() {
            if let Some(link) = of_generation(link, self.packets) {
                self.add(path, ResourceKind::Bandwidth, path.to_owned(), Written::InPlace(link));
            }
        } else {
            for name in ["bandwidth", "up", "down", "shared"] {
                if let Some(text) = text(name) {
                    self.add(path, ResourceKind::Bandwidth, key(path, name), Written::Bandwidth(text));
                }
            }
        }
        if let Some(text) = text("latency") {
            let path = key(path, "latency");
            self.add(&path, ResourceKind::Latency, path.clone(), Written::Time(text));
        }
    }

    /// The overhead and the engines of a node.
    fn device(&mut self, node: &yaml::Value, path: &str) {
        let word = node.get("kind").and_then(scalar).unwrap_or_default();
        let Some(kind) = NodeKind::ALL.into_iter().find(|kind| kind.word() == word) else { return };
        if let Some(text) = node.get("overhead").and_then(scalar) {
            let written = Written::Time(text.to_owned());
            self.add_of_kind(format!("{word}.overhead"), ResourceKind::Overhead(kind), key(path, "overhead"), written);
        }
        for engine in ["send", "copy", "compute"] {
            if let Some((at, text)) = one_more(node.get("engines"), kind, engine) {
                let (name, path) = (format!("{word}.engines.{engine}"), format!("{path}.engines{at}"));
                self.add_of_kind(name, ResourceKind::Engines(kind, engine), path, Written::OneMore(text));
            }
        }
    }

    fn add(&mut self, name: &str, kind: ResourceKind, path: String, written: Written) {
        add(&mut self.links, name.to_owned(), kind, Value { path, written });
    }

    fn add_of_kind(&mut self, name: String, kind: ResourceKind, path: String, written: Written) {
        add(&mut self.of_kinds, name, kind, Value { path, written });
    }
}

/// Adds a value to the resource of its name.
fn add(all: &mut ByName, name: String, kind: ResourceKind, value: Value) {
    if all.len() < MOST || all.contains_key(&name) {
        all.entry(name).or_insert((kind, Vec::new())).1.push(value);
    }
}

/// Where below `engines` an engine stands, and the text with one more of it; `None` where a device has no such limit.
fn one_more(engines: Option<&yaml::Value>, kind: NodeKind, engine: &str) -> Option<(String, String)> {
    let fpga = kind == NodeKind::Fpga;
    let device = fpga || kind == NodeKind::Gpu;
    let default = match engine {
        "send" => device.then_some(1),
        // Any other device has two unless an operation says less.
        "copy" => fpga.then_some(1),
        _ => Some(1),
    };
    let number = |value: &yaml::Value| scalar(value)?.parse::<u32>().ok();
    let (at, rest, count) = match engines {
        None => (String::new(), String::new(), default?),
        Some(map) if matches!(map.data, Data::Mapping(_)) => {
            let copies = map.get("copy").is_some();
            // One engine for both directions carries one transfer at a time.
            if engine == "send" && map.get("copy").and_then(number) == Some(1) {
                return None;
            }
            let default = default.or((engine == "send" && copies).then_some(1));
            return more(map.get(engine).and_then(number).or(default)?, engine)
                .map(|text| (format!(".{engine}"), text));
        }
        Some(send) => {
            let send = number(send)?;
            let rest = format!("send: {send}, ");
            (String::new(), rest, if engine == "send" { send } else { default? })
        }
    };
    let text = more(count, engine)?;
    Some((at, if engine == "send" { text } else { format!("{{ {rest}{engine}: {text} }}") }))
}

/// One engine more; a device has at most two copy engines.
fn more(count: u32, engine: &str) -> Option<String> {
    let more = count.checked_add(1)?;
    (engine != "copy" || more <= 2).then(|| more.to_string())
}

/// Whether a value is a link type in its place.
fn is_link(value: &yaml::Value) -> bool {
    ["bandwidth", "up", "down", "generation"].iter().any(|key| value.get(key).is_some_and(|v| scalar(v).is_some()))
}

fn entries(value: Option<&yaml::Value>) -> &[Entry] {
    match value.map(|value| &value.data) {
        Some(Data::Mapping(entries)) => entries,
        _ => &[],
    }
}

/// The path of a key below another path, which may be empty.
fn key(path: &str, key: &str) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{}", key_of_path(key))
}

fn below(path: &str, list: &str, name: &str) -> String {
    key(&key(path, list), name)
}
