//! Saved results as columns of a comparison.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use weir_plugin_api::PS_PER_S;

use super::Column;
use crate::ResultKind;
use crate::run::params_text;

/// What a comparison reads of a saved result.
#[derive(Deserialize)]
pub(super) struct SavedRun {
    file: String,
    arbiter: SavedArbiter,
    complete: bool,
    makespan_ps: u64,
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
            ResultKind::Run => serde_json::from_str(text),
            other => Err(serde::de::Error::custom(format!("`{}` wrote it", other.command()))),
        }
    }

    /// Its column, with the result as it was saved.
    pub(super) fn column(self, file: &str, result: Box<RawValue>) -> Column {
        let transfers =
            self.transfers.into_iter().map(|transfer| (transfer.id, since(transfer.ready_s, transfer.end_ps)));
        let planned = self.operations.into_iter().filter(|operation| operation.details.model.is_some());
        let operations = planned.map(|operation| (operation.id, since(operation.start_s, operation.end_ps)));
        Column {
            file: format!("{file} ({})", self.file),
            arbiter: self.arbiter.name,
            params: params_text(&self.arbiter.params),
            complete: self.complete,
            makespan_ps: self.makespan_ps,
            transfers: transfers.collect(),
            operations: operations.collect(),
            result: Some(result),
        }
    }
}

#[derive(Deserialize)]
struct SavedArbiter {
    name: String,
    #[serde(default)]
    params: Map<String, Value>,
}

#[derive(Deserialize)]
struct SavedTransfer {
    id: String,
    ready_s: Option<f64>,
    end_ps: Option<u64>,
}

#[derive(Deserialize)]
struct SavedOperation {
    id: String,
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
