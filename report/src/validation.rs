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
