//! Parts of a split search as files: a line of JSON per arbiter. Merged in any order they give the whole result.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_optimize::order::Part as OrderPart;
use weir_optimize::parameters::{self, Part as GridPart};
use weir_report::{SearchReport, SearchSubject};

use super::order::OrderNames;
use super::{order, parameters as grid};
use crate::failure::Failure;

/// Version of the format of part files.
const FORMAT: u32 = 1;

/// One shard of a search, with the names that its result needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartFile {
    weir_part: u32,
    version: String,
    subject: SearchSubject,
    part: PartOf,
}

/// The shard, by what is varied.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum PartOf {
    /// Of all orders.
    Order {
        /// Names of the best of this shard.
        names: OrderNames,
        /// The makespans.
        makespans: OrderPart,
    },
    /// Of a grid.
    Parameters(GridPart),
}

impl PartFile {
    /// A part of this version.
    pub(crate) fn new(subject: SearchSubject, part: PartOf) -> Self {
        Self { weir_part: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), subject, part }
    }

    /// What the shard holds.
    pub(crate) fn contents(self) -> (SearchSubject, PartOf) {
        (self.subject, self.part)
    }

    /// As a line of JSON.
    pub(crate) fn line(&self) -> String {
        // Texts, whole numbers and lists: there is nothing that JSON cannot hold.
        let text = serde_json::to_string(self).unwrap_or_default();
        text + "\n"
    }

    /// Parses a line.
    pub(crate) fn read(line: &str) -> Result<Self, Unread> {
        #[derive(Deserialize)]
        struct Head {
            weir_part: u32,
            version: String,
        }
        let other = |error: serde_json::Error| Unread::Other(error.to_string());
        let first = line.lines().next().unwrap_or_default();
        let grid = |error| if is_grid_checkpoint(first) { Unread::Grid } else { other(error) };
        let head: Head = serde_json::from_str(first).map_err(grid)?;
        if (head.weir_part, head.version.as_str()) != (FORMAT, env!("CARGO_PKG_VERSION")) {
            return Err(Unread::Version(format!("{} (format {})", head.version, head.weir_part)));
        }
        serde_json::from_str(line).map_err(other)
    }
}

/// Whether a line begins a checkpoint of a search over parameters.
fn is_grid_checkpoint(line: &str) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_str(line);
    value.is_ok_and(|value| value.get("weir_parameter_checkpoint").is_some())
}

/// Why a file is no part of this version.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The version that wrote it.
    Version(String),
    /// A checkpoint of a search over parameters.
    Grid,
    /// What is wrong with it.
    Other(String),
}

/// In words that follow a file's name, for parts that are merged.
impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Version(found) => {
                write!(f, "was written by weir {found}, this is {}: run that shard again", env!("CARGO_PKG_VERSION"))
            }
            Self::Grid => {
                write!(f, "is a checkpoint, not a part of a search: let its search end, with --shard i/n -o FILE")
            }
            Self::Other(error) => {
                write!(f, "is not a part of a search ({error}): give files of `optimize --shard`")
            }
        }
    }
}

/// Reads the parts: of each file a line per arbiter.
pub(crate) fn read_parts(files: &[PathBuf]) -> Result<Vec<Vec<PartFile>>, Failure> {
    let mut of_arbiter: Vec<Vec<PartFile>> = Vec::new();
    for (i, file) in files.iter().enumerate() {
        let parts = read_file(file)?;
        if i == 0 {
            of_arbiter.resize_with(parts.len(), Vec::new);
        }
        if parts.len() != of_arbiter.len() {
            let (found, first, count) = (file.display(), files[0].display(), of_arbiter.len());
            let message =
                format!("{found} holds {} parts, {first} holds {count}: give parts of one search", parts.len());
            return Err(Failure::usage(message));
        }
        of_arbiter.iter_mut().zip(parts).for_each(|(all, part)| all.push(part));
    }
    Ok(of_arbiter)
}

fn read_file(file: &Path) -> Result<Vec<PartFile>, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|e| Failure::usage(format!("{name} cannot be read: {e}")))?;
    let parts: Result<Vec<_>, Unread> = text.lines().map(PartFile::read).collect();
    match parts {
        Ok(parts) if parts.is_empty() => Err(Failure::usage(format!("{name} is empty: let its search end first"))),
        Ok(parts) => Ok(parts),
        Err(error) => Err(Failure::usage(format!("{name} {error}"))),
    }
}

/// The whole of all parts of one search.
pub(crate) fn merged(mut parts: Vec<PartFile>) -> Result<SearchReport, Failure> {
    // The result names one file; the order in which the parts are given must not decide which.
    parts.sort_by(|a, b| a.subject.file.cmp(&b.subject.file));
    let (mut orders, mut grids, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let (subject, part) = part.contents();
        subjects.push(subject);
        match part {
            PartOf::Order { names, makespans } => orders.push((names, makespans)),
            PartOf::Parameters(part) => grids.push(part),
        }
    }
    let subject = subjects.swap_remove(0);
    let kinds = (!orders.is_empty() && !grids.is_empty()).then_some("kind: some over orders, some over parameters");
    if let Some(what) = subjects.iter().find_map(|other| subject.differs(other)).or(kinds) {
        let message =
            format!("the parts belong to different searches, with another {what}: give all parts of one search");
        return Err(Failure::usage(message));
    }
    if orders.is_empty() {
        let whole = parameters::merge(&grids).map_err(Failure::usage)?;
        return grid::whole_report(subject, whole);
    }
    order::merged(subject, orders)
}
