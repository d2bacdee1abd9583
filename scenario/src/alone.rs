//! A topology without a workload, to be checked: a topology file, or a file whose only content is `topology`.

use std::path::Path;

use weir_plugin_api::{NodeId, Registry};
use weir_sim_core::Fabric;

use crate::context::{Context, Read};
use crate::diagnostic::{Diagnostic, quoted};
use crate::input::Input;
use crate::load::{self, LoadOptions, Opened};
use crate::scenario::Scenario;
use crate::topology::{self, NodeNames, Place, Topology};
use crate::version;
use crate::yaml::{Data, Value};

/// The keys of a file that holds nothing but `topology`.
const ALONE: [&str; 3] = ["weir", "name", "topology"];

/// What a file holds.
#[derive(Debug)]
pub enum Checked {
    /// A scenario.
    Scenario(Box<Scenario>),
    /// A topology.
    Topology(Box<TopologyAlone>),
}

/// A topology without a workload.
#[derive(Debug)]
pub struct TopologyAlone {
    /// The file as given (`-` for standard input).
    pub file: String,
    /// Nodes and links as the file describes them.
    pub fabric: Fabric,
    /// Where nodes are in the machine, of those that say it, in their order.
    pub places: Vec<(NodeId, Place)>,
    /// What may not mean what its author thinks.
    pub warnings: Vec<Diagnostic>,
    names: NodeNames,
}

impl TopologyAlone {
    /// The name of a node as results print it: alone where it is unique, behind its machine where it is unique there, else the
    /// full path.
    #[must_use]
    pub fn node_name(&self, node: NodeId) -> &str {
        self.names.unique_name(node)
    }
}

/// Reads a scenario, or a topology.
///
/// # Errors
/// As [`load`](crate::load).
pub fn check<'a>(
    input: impl Into<Input<'a>>,
    options: &LoadOptions,
    registry: &Registry,
) -> Result<Checked, Vec<Diagnostic>> {
    let mut context = Context::of(registry);
    let Ok(mut opened) = load::open(&mut context, input.into(), options) else { return Err(context.finish()) };
    if !is_topology(&opened.root) {
        return match load::parts(&mut context, opened, options, registry, options.cancel.as_deref()) {
            Ok(parts) if !context.failed() => Ok(Checked::Scenario(Box::new(Scenario::new(context, parts)))),
            _ => Err(context.finish()),
        };
    }
    match topology(&mut context, &mut opened) {
        Ok(topology) if !context.failed() => {
            let Topology { fabric, places, names, .. } = topology;
            let warnings = context.take_warnings();
            Ok(Checked::Topology(Box::new(TopologyAlone { file: opened.name, fabric, places, warnings, names })))
        }
        _ => Err(context.finish()),
    }
}

/// What a YAML file seems to be, before more of it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A scenario; or a file that is not YAML or cannot be read, which its reader reports.
    Scenario,
    /// A topology without a workload.
    Topology,
    /// Neither: it has none of their keys.
    Other,
}

/// What a file seems to be.
#[must_use]
pub fn file_kind(file: &Path) -> FileKind {
    let root = Input::File(file).parse(&mut Context::default(), None).map(|parsed| parsed.root);
    match root {
        Ok(root) if is_topology(&root) => FileKind::Topology,
        Ok(root) if !has_own_key(&root) => FileKind::Other,
        _ => FileKind::Scenario,
    }
}

/// Whether a file has a key of the format that it cannot do without.
fn has_own_key(root: &Value) -> bool {
    let Data::Mapping(entries) = &root.data else { return false };
    entries.iter().any(|entry| matches!(&*entry.key, "weir" | "topology" | "workload"))
}

/// Whether a file has a tree, or `topology` and nothing else to be run.
fn is_topology(root: &Value) -> bool {
    let Data::Mapping(entries) = &root.data else { return false };
    let has = |key: &str| entries.iter().any(|entry| &*entry.key == key);
    let alone = || entries.iter().all(|entry| ALONE.contains(&&*entry.key));
    (has("tree") && !has("workload")) || (has("topology") && alone())
}

fn topology(context: &mut Context, opened: &mut Opened) -> Read<Topology> {
    let Opened { files, root, .. } = opened;
    let topology = match root.get("topology") {
        None => topology::read(context, files, root, true)?,
        Some(_) => {
            let fields = context.fields_among(root, "the file", ALONE.into_iter())?;
            version::check(context, &fields)?;
            let value = fields.require(context, "topology")?;
            load::topology(context, files, value)?.0
        }
    };
    for (name, span) in &topology.unused_types {
        context.warn(*span, format!("no link has the type {}", quoted(name)), "remove it, or use it");
    }
    Ok(topology)
}
