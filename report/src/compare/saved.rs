//! What a comparison reads of saved results.

use serde::Deserialize;
use serde_json::{Map, Value};
use weir_plugin_api::PS_PER_S;

use crate::ResultKind;
use crate::schemas::time;

/// What a comparison reads of a saved result.
#[derive(Deserialize)]
pub(super) struct SavedRun {
    pub(super) file: String,
    pub(super) arbiter: SavedArbiter,
    pub(super) complete: bool,
    pub(super) makespan_ps: u64,
    transfers: Vec<SavedTransfer>,
    #[serde(default)]
    operations: Vec<SavedOperation>,
}

impl SavedRun {
    pub(super) fn read(text: &str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Marked {
            kind: ResultKind,
        }
        let Marked { kind } = serde_json::from_str(text)?;
        match kind {
            ResultKind::Run => crate::saved::read(kind, text).map_err(serde::de::Error::custom),
            other => Err(serde::de::Error::custom(format!("`{}` wrote it", other.command()))),
        }
    }

    /// Per transfer: id, and the time from ready to end in ps where it ended.
    pub(super) fn transfer_times(&self) -> Vec<(String, Option<u64>)> {
        self.transfers.iter().map(|t| (t.id.clone(), since(t.ready_s, t.end_ps))).collect()
    }

    /// Per operation that a model planned: id, and the time from release to end in ps where it ended.
    pub(super) fn operation_times(&self) -> Vec<(String, Option<u64>)> {
        let planned = self.operations.iter().filter(|operation| operation.details.model.is_some());
        planned.map(|operation| (operation.id.clone(), since(operation.start_s, operation.end_ps))).collect()
    }
}

#[derive(Deserialize)]
pub(super) struct SavedArbiter {
    pub(super) name: String,
    #[serde(default)]
    pub(super) params: Map<String, Value>,
}

#[derive(Deserialize)]
struct SavedTransfer {
    id: String,
    #[serde(deserialize_with = "time")]
    ready_s: Option<f64>,
    end_ps: Option<u64>,
}

#[derive(Deserialize)]
struct SavedOperation {
    id: String,
    #[serde(deserialize_with = "time")]
    start_s: Option<f64>,
    end_ps: Option<u64>,
    #[serde(default)]
    details: SavedDetails,
}

/// Computations and barriers have no model.
#[derive(Deserialize, Default)]
struct SavedDetails {
    model: Option<serde::de::IgnoredAny>,
}

/// Seconds carry whole picoseconds exactly enough below two hours; the ends are exact always.
fn since(start_s: Option<f64>, end_ps: Option<u64>) -> Option<u64> {
    let start = (start_s? * PS_PER_S as f64).round() as u64;
    Some(end_ps?.saturating_sub(start))
}
