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
    pub(crate) fn read(line: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            weir_part: u32,
            version: String,
        }
        let no =
            |error: serde_json::Error| format!("is no part of a search ({error}): give files of `optimize --shard`");
        let head: Head = serde_json::from_str(line).map_err(no)?;
        let own = env!("CARGO_PKG_VERSION");
        if (head.weir_part, head.version.as_str()) != (FORMAT, own) {
            let found = format!("{} (format {})", head.version, head.weir_part);
            return Err(format!("was written by weir {found}, this is {own}: run that shard again"));
        }
        serde_json::from_str(line).map_err(no)
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
    let parts: Result<Vec<_>, String> = text.lines().map(PartFile::read).collect();
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
    let same = |other: &SearchSubject| other.input_sha256 == subject.input_sha256 && other.arbiter == subject.arbiter;
    if !subjects.iter().all(same) || !(orders.is_empty() || grids.is_empty()) {
        return Err(Failure::usage("the parts are of different searches: give all parts of one"));
    }
    if orders.is_empty() {
        let whole = parameters::merge(&grids).map_err(Failure::usage)?;
        return grid::whole_report(subject, whole);
    }
    order::merged(subject, orders)
}
