//! What of a topology could be better, as its files write it: link types, memories of nodes, latencies, overheads, engines.
//! Each comes with the edits that make it so.
//!
//! ```text
//! scenario ─► tree after its edits ─► walk: types, nodes, machines, networks ─► Resource ─► edits, as `--set` takes them
//! ```

mod values;
mod walk;

use weir_plugin_api::NodeKind;

use crate::context::{Context, Read};
use crate::diagnostic::Diagnostic;
use crate::input::{Input, Parsed};
use crate::load::{self, LoadOptions};
use crate::yaml::Data;
use values::Written;

pub use crate::nearest::suggestion;

/// Something of a topology that could be better.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// The path of what it is in the topology, such as `link_types.upi`; of engines and overheads what devices of a kind have,
    /// such as `gpu.engines.send`.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    values: Vec<Value>,
}

/// A value of a resource: where it is, and how it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Value {
    path: String,
    written: Written,
}

/// What a [`Resource`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResourceKind {
    /// The bandwidth of a link type, or of links whose type stands in its place; with what both directions share.
    Bandwidth,
    /// The bandwidth of the memory of nodes.
    Memory,
    /// The bandwidth of the links of one place in the file; a type that it names is written in its place then.
    Place,
    /// The latency of a link type.
    Latency,
    /// The time that devices of this kind need to issue a transfer.
    Overhead(NodeKind),
    /// An engine of all devices of this kind: `send`, `copy` or `compute`.
    Engines(NodeKind, &'static str),
}

/// How a [`Resource`] is made better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Improvement {
    /// Bandwidths are multiplied by so many hundredths.
    Times(u32),
    /// Bandwidths become this one, which is written in GB/s.
    Bandwidth(&'static str),
    /// Latencies and overheads are halved.
    Half,
    /// Each device has one engine more.
    OneMore,
}

impl Resource {
    /// The edits of the scenario that make it better, each a path and a YAML text as in [`LoadOptions::set`]; empty where it
    /// cannot be made better so.
    #[must_use]
    pub fn edits(&self, improvement: Improvement) -> Vec<(String, String)> {
        self.values.iter().filter_map(|value| value.written.edit(&value.path, improvement)).collect()
    }
}

/// What of the topology of a scenario could be better, in the order of its files: link types first, then what nodes have, then
/// overheads and engines by kind of device, and last the places of links. `packets` says whether runs are of packets, whose sizes depend on generations.
///
/// # Errors
/// A file that cannot be read. Whether the scenario is right is not checked.
pub fn resources<'a>(
    input: impl Into<Input<'a>>,
    options: &LoadOptions,
    packets: bool,
) -> Result<Vec<Resource>, Vec<Diagnostic>> {
    let mut context = Context::default();
    let found = read(&mut context, input.into(), options, packets);
    found.map_err(|_| context.finish())
}

fn read(context: &mut Context, input: Input<'_>, options: &LoadOptions, packets: bool) -> Read<Vec<Resource>> {
    let Parsed { mut files, mut root, .. } = input.parse(context, options.library.as_deref())?;
    load::edit(context, &mut files, &mut root, options)?;
    let Some(topology) = root.get("topology") else { return Ok(Vec::new()) };
    let tree = match topology.data {
        Data::Mapping(_) => topology.clone(),
        _ => load::topology_file(context, &mut files, topology)?,
    };
    let mut walk = walk::Walk::new(context, &mut files, packets);
    walk.topology(&tree, "", 0)?;
    Ok(walk.found())
}
