//! A scenario held against measured times, as one JSON object.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schemas::time;
use crate::tuned::TunedUnder;
use crate::{ResultKind, TransferCause};

/// The result of a validation: one scenario under one arbiter.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Validated")]
pub struct Validation<'a> {
    /// Version of the format of results.
    pub weir: u32,
    /// Always [`ResultKind::Validation`].
    #[schemars(with = "String")]
    pub kind: ResultKind,
    /// The `name` of the scenario.
    pub scenario: Cow<'a, str>,
    /// The file of the scenario, as the command line has it.
    pub file: Cow<'a, str>,
    /// The policy of the simulated times.
    pub arbiter: TunedUnder,
    /// Part of the pairs whose error is at most 15 %.
    pub within_15_percent: Option<f64>,
    /// Mean of the sizes of errors.
    pub mean_error: Option<f64>,
    /// The least of all `error`s, with its sign.
    pub lowest_error: Option<f64>,
    /// The greatest of all `error`s, with its sign.
    pub highest_error: Option<f64>,
    /// What was measured and simulated.
    #[serde(borrow)]
    pub transfers: Vec<ValidatedTransfer<'a>>,
    /// Places of rows that are of no transfer.
    pub rows_left: Vec<String>,
    /// Places of rows whose transfer has had one.
    pub rows_again: Vec<String>,
    /// Ids of what was not measured.
    pub not_measured: Vec<Cow<'a, str>>,
    /// Measured times that no arbiter explains in this topology.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_explained: Vec<NotExplained>,
    /// With `--histogram`: how the errors are spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<ErrorHistogram>,
}

/// Transfers that were faster together than what all of them cross.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NotExplained {
    /// The link, or what links share, as text.
    pub over: String,
    /// The sum of their bytes over the time until the last of them had ended, bytes per second.
    #[serde(rename = "measured_Bps")]
    pub measured: f64,
    /// The bandwidth there, bytes per second.
    #[serde(rename = "carries_Bps")]
    pub carries: f64,
    /// Their ids in the scenario.
    pub transfers: Vec<String>,
}

/// Errors in bins of equal width.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ErrorHistogram {
    /// Part of the pairs whose error is at most 5 %.
    pub within_5_percent: f64,
    /// Part of the pairs whose error is at most 10 %.
    pub within_10_percent: f64,
    /// Part of the pairs whose error is at most 15 %.
    pub within_15_percent: f64,
    /// The bins, from the lowest error to the highest.
    pub bins: Vec<ErrorBin>,
}

/// The errors between two.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ErrorBin {
    /// The least error of the bin, simulated over measured, less 1; none for all below `to`.
    pub from: Option<f64>,
    /// The error below which it ends; none for all from `from` on.
    pub to: Option<f64>,
    /// The number of pairs.
    pub count: u64,
}

/// A transfer or operation that was measured.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ValidatedTransfer<'a> {
    /// The id of the transfer or operation in the scenario.
    pub id: Cow<'a, str>,
    /// The node that sends; none of an operation, as for the next two.
    pub from: Option<Cow<'a, str>>,
    /// The node that receives.
    pub to: Option<Cow<'a, str>>,
    /// Payload, bytes.
    pub bytes: Option<u64>,
    /// The time that was measured, seconds.
    #[serde(deserialize_with = "time")]
    pub measured_s: f64,
    /// The time that was simulated, seconds.
    #[serde(deserialize_with = "time")]
    pub simulated_s: f64,
    /// Simulated over measured, less 1.
    pub error: f64,
    /// The link that held it back, as text.
    pub bottleneck: Option<String>,
    /// Why it was held back there, in words.
    pub cause: Option<String>,
    /// The cause as its parts; none where `cause` is none.
    #[serde(borrow)]
    pub cause_detail: Option<TransferCause<'a>>,
}
