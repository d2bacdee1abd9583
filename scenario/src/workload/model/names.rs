//! What operations of models name: devices, also such as the topology lacks, and tables.

use std::io::Read as _;
use std::path::PathBuf;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::Value as Json;
use weir_plugin_api::NodeId;

use super::{nearest, table};
use crate::brackets::NAME_BYTES;
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::schema::{Names, expand};
use crate::source::Span;
use crate::topology::{Missing, Topology};
use crate::workload::ranks::Ranks;
use crate::yaml::{Data, Value};

/// Names that the operations of a scenario list at most, brackets expanded, and rows of tables; *assumed*, so that what
/// models are given stays small in memory.
const LISTED: u64 = 1_000_000;

/// Files that one key of an operation names at most; *assumed*: traces with a file for each rank have thousands.
const FILES: u64 = 100_000;
/// Bytes of a file whose content is given to a model at most; *assumed*: programs of 10^6 operations have about 50 MB.
const FILE_BYTES: u64 = 256 << 20;
/// The same of all files of a scenario's operations; *assumed*, they are in memory several times.
const ALL_FILES_BYTES: u64 = 512 << 20;

/// Devices that operations name and the topology lacks: nodes beyond the end of the fabric, without links.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    names: IndexSet<Box<str>, FxBuildHasher>,
}

impl Outside {
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name of a node beyond a fabric of `nodes`.
    pub(crate) fn name(&self, node: NodeId, nodes: usize) -> Option<&str> {
        self.names.get_index(node.index().checked_sub(nodes)?).map(|name| &**name)
    }

    /// The node of a name, beyond a fabric of `nodes`.
    pub(crate) fn node(&self, name: &str, nodes: usize) -> Option<NodeId> {
        self.names.get_index_of(name).map(|index| NodeId::from_index(nodes + index))
    }
}

/// Names of all operations of a scenario.
#[derive(Default)]
pub(in crate::workload) struct Known {
    /// Devices that the topology lacks.
    pub(in crate::workload) outside: Outside,
    /// Per node its nearest cpu or host, made when it is first asked for.
    nearest: Option<Box<[NodeId]>>,
    /// Names and rows listed so far.
    listed: u64,
    /// Bytes of the files whose contents were given to models.
    file_bytes: u64,
    /// Tables read so far, by path and columns: many operations may name one.
    tables: FxHashMap<(PathBuf, String), table::Table>,
}

/// What an operation may name.
pub(in crate::workload) struct Site<'a> {
    /// The topology; an empty one where the scenario has none, so that no name can be misspelt.
    pub(in crate::workload) topology: &'a Topology,
    /// Whether the scenario has a topology.
    pub(in crate::workload) has_topology: bool,
    /// What earlier operations named.
    pub(in crate::workload) known: &'a mut Known,
    pub(in crate::workload) ranks: &'a mut Ranks,
    pub(in crate::workload) files: &'a mut Files,
}

impl Site<'_> {
    fn resolve(&mut self, context: &mut Context, span: Span, name: &str, what: &str) -> Read<NodeId> {
        let nodes = self.topology.fabric.nodes().len();
        if let Some(node) = self.known.outside.node(name, nodes) {
            return Ok(node);
        }
        let missing = match self.topology.names.find(name) {
            Ok(node) => return Ok(node),
            Err(missing) => missing,
        };
        if matches!(missing, Missing::Ambiguous(..)) {
            return Err(context.problem(span, what, self.topology.names.problem(name, missing)));
        }
        if name.is_empty() || name.len() > NAME_BYTES {
            let problem = Problem::new("not a name", format!("names have 1 to {NAME_BYTES} bytes"));
            return Err(context.problem(span, what, problem));
        }
        if name.contains(['[', ']']) {
            // One name is wanted here, and those of a list have had their brackets expanded.
            let help = "brackets stand for several devices: give one operation for each";
            return Err(context.problem(span, what, Problem::new(format!("{} is not one device", quoted(name)), help)));
        }
        if self.has_topology {
            context.warn_of(span, || {
                let near = self.topology.names.problem(name, missing).help;
                let message = format!("{} is not in the topology; it is taken as a device without links", quoted(name));
                Problem::new(message, format!("correct the name if it is meant to be in the topology: {near}"))
            });
        }
        let (index, _) = self.known.outside.names.insert_full(name.into());
        Ok(NodeId::from_index(nodes + index))
    }
}

impl Names for Site<'_> {
    fn node(&mut self, context: &mut Context, value: &Value, what: &str) -> Read<NodeId> {
        if matches!(value.data, Data::Mapping(_)) {
            return self.ranks.one(context, self.topology, value, what).map(|(_, device)| device);
        }
        let name = context.text(value, what)?;
        self.resolve(context, value.span, name, what)
    }

    fn nodes(&mut self, context: &mut Context, value: &Value, what: &str, found: &mut Vec<Json>) -> Read<()> {
        if matches!(value.data, Data::Mapping(_)) {
            found.push(self.node(context, value, what)?.0.into());
            self.known.listed += 1;
            return Ok(());
        }
        let left = LISTED.saturating_sub(self.known.listed);
        let count = expand(context, value, what, left, |context, name| {
            let node = self.resolve(context, value.span, name, what)?;
            found.push(node.0.into());
            Ok(())
        })?;
        self.known.listed += count;
        Ok(())
    }

    fn table(&mut self, context: &mut Context, value: &Value, columns: &[&str], what: &str) -> Read<Json> {
        let name = context.text(value, what)?;
        let (path, _) = self.files.find(context, value.span, name)?;
        let key = (path, columns.join(","));
        let (rows, places) = match self.known.tables.get(&key) {
            Some(table) => table.clone(),
            None => {
                let table = table::read(context, self.files, value.span, name, columns)?;
                self.known.tables.insert(key, table.clone());
                table
            }
        };
        context.rows.of_table(value.span, places);
        self.known.listed += rows.as_array().map_or(0, |rows| rows.len() as u64);
        if self.known.listed > LISTED {
            let problem = Problem::new("too many rows in the tables of this scenario's operations", "give fewer");
            return Err(context.problem(value.span, what, problem));
        }
        Ok(rows)
    }

    fn files(&mut self, context: &mut Context, value: &Value, what: &str, found: &mut Vec<Json>) -> Read<()> {
        let left = FILES.saturating_sub(found.len() as u64);
        expand(context, value, what, left, |context, name| {
            let (content, bytes) = content(context, self.files, value.span, name)?;
            self.known.file_bytes += bytes;
            if self.known.file_bytes > ALL_FILES_BYTES {
                let message =
                    format!("the files of this scenario's operations have more than {} MiB", ALL_FILES_BYTES >> 20);
                return Err(context.error(value.span, message, "name fewer, or smaller ones"));
            }
            found.push(content);
            Ok(())
        })?;
        Ok(())
    }

    fn nearest(&mut self, node: u64) -> Option<NodeId> {
        let fabric = &self.topology.fabric;
        let all = self.known.nearest.get_or_insert_with(|| nearest::hosts(fabric));
        all.get(usize::try_from(node).ok()?).copied().filter(|host| !host.is_none())
    }

    fn copy_engines(&self, node: u64) -> Option<u32> {
        self.topology.engines.copy_engines(NodeId(u32::try_from(node).ok()?))
    }
}

/// What is in a file, and its bytes: `{ "name": …, "text": … }`, or `"bytes"` with one character from U+0000 to U+00FF for each
/// byte where it is no text.
fn content(context: &mut Context, files: &mut Files, span: Span, name: &str) -> Read<(Json, u64)> {
    let help = "split it, or take a part of it";
    let (file, _) = files.open(context, span, name, FILE_BYTES, help)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| {
        context.error(span, format!("the file {} cannot be read: {error}", quoted(name)), "check the file")
    })?;
    files.add_to_digest(&bytes);
    if bytes.len() as u64 > FILE_BYTES {
        let message = format!("the file {} is larger than {} MiB", quoted(name), FILE_BYTES >> 20);
        return Err(context.error(span, message, help));
    }
    let count = bytes.len() as u64;
    let content = match String::from_utf8(bytes) {
        Ok(text) => serde_json::json!({ "name": name, "text": text }),
        Err(error) => {
            let bytes: String = error.into_bytes().into_iter().map(char::from).collect();
            serde_json::json!({ "name": name, "bytes": bytes })
        }
    };
    Ok((content, count))
}
