//! Writes a scenario that has been changed: what is as before stays as its author wrote it, with its comments.

mod entries;
mod links;
mod machines;
pub(crate) mod text;

use crate::context::{Context, Read};
use crate::diagnostic::Diagnostic;
use crate::input::{Input, Parsed};
use crate::load::{self, LoadOptions};
use crate::reach;
use crate::source::Span;
use crate::yaml::{self, Data, Edit, Entry, Scalar, Value};

pub use links::LinkChange;
use links::LinkEdit;

/// A change of a scenario that is to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A path and a YAML text, as in [`LoadOptions::set`].
    Set(String, String),
    /// Send orders in place of those of the file: devices with the ids of what each sends.
    Order(Vec<(String, Vec<String>)>),
    /// The device of each rank.
    Ranks(Vec<String>),
    /// Write the topology in place, if it is a file of its own.
    InlineTopology,
    /// Other types for single links, with the topology in place.
    Links(LinkChange),
}

/// The text of a scenario with the edits and arbiters of `options` and further changes, in their order, and without
/// `optimize`. Edits of a topology file put the topology in place.
///
/// What is not changed stays as it is, comments included. Where that is not possible the whole is written anew, with the
/// comments at the beginning of the file; aliases are then written in full. The names of files stay as they are.
///
/// # Errors
/// A text that cannot be read, a path that does not exist, a topology that cannot be put in place. Whether the scenario
/// is right is not checked.
pub fn rewrite<'a>(
    input: impl Into<Input<'a>>,
    options: &LoadOptions,
    changes: &[Change],
) -> Result<String, Vec<Diagnostic>> {
    let mut context = Context::default();
    let Ok(Changed { source, before, after, topology }) = changed(&mut context, input.into(), options, changes) else {
        return Err(context.finish());
    };
    let text = context.sources.text(source);
    if let Some(topology) = topology.and_then(|source| in_place(&mut context, source, &after)) {
        let written = text::write_with(&text, &before, &after, "topology", &topology);
        if written.is_ok() {
            return written;
        }
    }
    text::write(&text, &before, &after)
}

/// The text of a topology file as it is to stand in a scenario, with its comments; `None` where it cannot.
fn in_place(context: &mut Context, source: u32, after: &Value) -> Option<String> {
    let before = yaml::parse(context, source).ok()?;
    let text = text::write(&context.sources.text(source), &before, after.get("topology")?).ok()?;
    let indented = |line: &str| if line.trim().is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
    Some(text.trim_end().lines().map(indented).collect())
}

/// A scenario before and after all changes.
struct Changed {
    /// The source of the one before.
    source: u32,
    before: Value,
    after: Value,
    /// The source of a topology that came in place.
    topology: Option<u32>,
}

fn changed(context: &mut Context, input: Input<'_>, options: &LoadOptions, changes: &[Change]) -> Read<Changed> {
    let Parsed { mut files, source, root: before } = input.parse(context, options.library.as_deref())?;
    let mut root = before.clone();
    load::edit(context, &mut files, &mut root, options)?;
    load::looks_like_a_scenario(context, &root)?;
    if !options.arbiters.is_empty() {
        set(&mut root, "arbiter", arbiters(context, &options.arbiters)?);
    }
    let (mut inline, mut links) = (false, Vec::new());
    for change in changes {
        match change {
            Change::Set(path, value) => {
                let edit = Edit::read(context, path, value)?;
                reach::apply(context, &mut files, &mut root, &edit)?;
            }
            Change::Order(orders) => {
                let orders = orders.iter().map(|(device, ids)| entry(device, list(ids))).collect();
                set(&mut root, "order", value(Data::Mapping(orders)));
            }
            Change::Ranks(devices) => set(&mut root, "ranks", list(devices)),
            Change::InlineTopology => inline = true,
            Change::Links(change) => links.push(change),
        }
    }
    let file = root.get("topology").filter(|value| matches!(value.data, Data::Scalar(_))).cloned();
    if let Some(file) = file.filter(|_| inline || !links.is_empty()) {
        let tree = load::topology_file(context, &mut files, &file)?;
        set(&mut root, "topology", tree);
    }
    let mut from_file = None;
    if let Some(topology) = root.get_mut("topology") {
        from_file = Some(topology.span.source).filter(|&source| files.is_named(source));
        machines::put_in_place(context, &mut files, topology)?;
        relink(context, topology, &links)?;
    }
    remove(&mut root, "optimize");
    Ok(Changed { source, before, after: root, topology: from_file })
}

/// Gives links of a topology other types.
pub(crate) fn relink(context: &mut Context, topology: &mut Value, changes: &[&LinkChange]) -> Read<()> {
    let alike = topology.get("networks").or_else(|| match &topology.get("tree")?.data {
        Data::Mapping(roots) => roots.iter().find_map(|root| root.value.get("machine")),
        _ => None,
    });
    if let (Some(alike), true) = (alike, changes.iter().any(|change| change.changes_any())) {
        let help = "write a topology without machines and networks, or change their link types";
        return Err(context.error(alike.span, "single links of machines and networks cannot have types", help));
    }
    for change in changes.iter().filter(|change| change.changes_any()) {
        let (given, pairs) = (change.of.len(), links::pairs_of(topology));
        if given < pairs {
            let what = format!("{given} links are given types, of {pairs} pairs of links");
            return Err(context.error(topology.span, what, "name each pair, those that stay as they are, too"));
        }
        let types = context.each(&change.types, |context, text| {
            let source = context.sources.add("the type of a link", text);
            yaml::parse(context, source)
        })?;
        LinkEdit { types, of: &change.of }.apply(topology);
    }
    Ok(())
}

/// The value of `arbiter` that arbiters of the command line make.
fn arbiters(context: &mut Context, options: &[String]) -> Read<Value> {
    let mut all = context.each(options, |context, text| {
        let source = context.sources.add("--arbiter", text);
        yaml::parse(context, source)
    })?;
    Ok(if all.len() == 1 { all.swap_remove(0) } else { value(Data::Sequence(all)) })
}

/// Puts a value in place of that of a key, or before the workload.
fn set(root: &mut Value, key: &str, value: Value) {
    let Data::Mapping(entries) = &mut root.data else { return };
    match entries.iter_mut().find(|e| &*e.key == key) {
        Some(entry) => entry.value = value,
        None => {
            let at = entries.iter().position(|e| &*e.key == "workload").unwrap_or(entries.len());
            entries.insert(at, entry(key, value));
        }
    }
}

fn remove(root: &mut Value, key: &str) {
    if let Data::Mapping(entries) = &mut root.data {
        entries.retain(|e| &*e.key != key);
    }
}

fn value(data: Data) -> Value {
    Value { span: Span::default(), data }
}

fn entry(key: &str, value: Value) -> Entry {
    Entry { key: key.into(), key_span: Span::default(), value }
}

fn list(texts: &[String]) -> Value {
    let item = |text: &String| {
        // Without quotes these texts would mean that nothing is given.
        let plain = !Scalar { text: text.as_str().into(), plain: true }.is_null();
        value(Data::Scalar(Scalar { text: text.as_str().into(), plain }))
    };
    value(Data::Sequence(texts.iter().map(item).collect()))
}
