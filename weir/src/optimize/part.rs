//! Parts of a split search as data: a line of JSON per arbiter.

use serde::{Deserialize, Serialize};
use weir_optimize::order::Part as OrderPart;
use weir_optimize::parameters::Part as GridPart;
use weir_report::SearchSubject;

/// Version of the format of part files.
const FORMAT: u32 = 2;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a part holds beside its makespans: what else the result names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderNames {
    /// Makespan of the scenario as it is, ps.
    pub(super) baseline: u64,
    /// The best order of the part.
    pub(super) best: Vec<(String, Vec<String>)>,
}

/// One shard of a search, with the names that its result needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartFile {
    weir_part: u32,
    version: String,
    subject: SearchSubject,
    part: PartOf,
}

/// The shard, by what is varied.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PartOf {
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
    #[must_use]
    pub fn new(subject: SearchSubject, part: PartOf) -> Self {
        Self { weir_part: FORMAT, version: VERSION.to_owned(), subject, part }
    }

    /// The file of the scenario that was searched.
    pub(super) fn file(&self) -> &str {
        &self.subject.file
    }

    /// What the shard holds.
    #[must_use]
    pub fn contents(self) -> (SearchSubject, PartOf) {
        (self.subject, self.part)
    }

    /// As a line of JSON.
    #[must_use]
    pub fn line(&self) -> String {
        // Texts, whole numbers and lists: there is nothing that JSON cannot hold.
        let text = serde_json::to_string(self).unwrap_or_default();
        text + "\n"
    }

    /// Parses a line.
    ///
    /// # Errors
    /// It is no part of this version of weir.
    pub fn read(line: &str) -> Result<Self, Unread> {
        #[derive(Deserialize)]
        struct Head {
            weir_part: u32,
            version: String,
        }
        let other = |error: serde_json::Error| Unread::Other(error.to_string());
        let first = line.lines().next().unwrap_or_default();
        let grid = |error| if is_grid_checkpoint(first) { Unread::Grid } else { other(error) };
        let head: Head = serde_json::from_str(first).map_err(grid)?;
        if (head.weir_part, head.version.as_str()) != (FORMAT, VERSION) {
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
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The version that wrote it.
    #[error("was written by weir {0}, this is {VERSION} (format {FORMAT})")]
    Version(String),
    /// A checkpoint of a search over parameters.
    #[error("is a checkpoint, not a part of a search")]
    Grid,
    /// What is wrong with it.
    #[error("is not a part of a search ({0})")]
    Other(String),
}
