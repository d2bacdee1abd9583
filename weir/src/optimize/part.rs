//! Parts of a split search as data: a line of JSON per arbiter.

use serde::{Deserialize, Serialize};
use weir_optimize::order::Part as OrderPart;
use weir_optimize::parameters::Part as GridPart;
use weir_optimize::{DigestedLine, check_digest, with_digest};
use weir_report::SearchSubject;

/// Version of the format of part files.
const FORMAT: u32 = 3;
/// What a checkpoint of a search over parameters begins with.
const GRID_CHECKPOINT: &str = "{\"weir_parameter_checkpoint\":";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a part holds beside its makespans: what else the result names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderNames {
    /// Makespan of the baseline, ps.
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

    /// As a line of JSON, whose last value is a digest of all before.
    #[must_use]
    pub fn line(&self) -> String {
        // Texts, whole numbers and lists: there is nothing that JSON cannot hold.
        with_digest(&serde_json::to_string(self).unwrap_or_default())
    }

    /// Parses a line.
    ///
    /// # Errors
    /// It is no part of this version of weir, or was changed.
    pub fn read(line: &str) -> Result<Self, Unread> {
        let object = match check_digest(line) {
            DigestedLine::Intact(object) => object,
            DigestedLine::Damaged => return Err(Unread::Damaged),
            DigestedLine::Bare => return Err(without_digest(line)),
        };
        if object.starts_with(GRID_CHECKPOINT) {
            return Err(Unread::Grid);
        }
        let other = |error: serde_json::Error| Unread::Other(error.to_string());
        let head: Head = serde_json::from_str(&object).map_err(other)?;
        if (head.weir_part, &*head.version) != (FORMAT, VERSION) {
            return Err(head.unread());
        }
        serde_json::from_str(&object).map_err(other)
    }
}

/// What every format of parts begins with.
#[derive(Deserialize)]
struct Head {
    weir_part: u32,
    version: String,
}

impl Head {
    fn unread(self) -> Unread {
        Unread::Version(format!("{} (format {})", self.version, self.weir_part))
    }
}

/// What a line without a digest at its end is: of an older format, which had none, or no part as it was written.
fn without_digest(line: &str) -> Unread {
    let first = line.lines().next().unwrap_or_default();
    match serde_json::from_str::<Head>(first) {
        Ok(head) if head.weir_part != FORMAT => head.unread(),
        _ if line.starts_with("{\"weir_part\":") => Unread::Damaged,
        _ if first.starts_with(GRID_CHECKPOINT) => Unread::Grid,
        Ok(_) => Unread::Damaged,
        Err(error) => Unread::Other(error.to_string()),
    }
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
    /// Another digest than that of its bytes, or none.
    #[error("was changed or is damaged")]
    Damaged,
    /// What is wrong with it.
    #[error("is not a part of a search ({0})")]
    Other(String),
}
