//! The rows of a result, borrowed from the run while one is written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::TransferCause;

/// The two nodes of a directed link.
#[derive(Serialize, JsonSchema, Clone, Copy, Debug)]
#[schemars(deny_unknown_fields, rename = "Ends")]
pub(crate) struct Ends<'a> {
    /// The node it leaves.
    pub(crate) from: &'a str,
    /// The node it enters.
    pub(crate) to: &'a str,
}

/// A transfer.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Transfer")]
pub(crate) struct TransferRow<'a> {
    /// Its id.
    pub(crate) id: Cow<'a, str>,
    /// Its source.
    pub(crate) from: &'a str,
    /// Its destination.
    pub(crate) to: &'a str,
    /// Its size.
    pub(crate) bytes: u64,
    /// All it waited for had ended; null if that did not happen.
    pub(crate) ready_s: Option<f64>,
    /// Its source's engine took it; null if that did not happen.
    pub(crate) start_s: Option<f64>,
    /// Its last byte arrived; null if that did not happen.
    pub(crate) end_s: Option<f64>,
    /// The same in picoseconds, exact.
    pub(crate) end_ps: Option<u64>,
    /// Bytes over the time from its start to its last byte sent; of an unfinished transfer, so far.
    #[serde(rename = "mean_Bps")]
    pub(crate) mean_bps: Option<f64>,
    /// Only of an unfinished transfer: whole bytes sent so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sent_bytes: Option<u64>,
    /// Start to end of the same transfer alone under the same arbiter; null where the arbiter has no steady
    /// answer, and after an interrupt.
    pub(crate) alone_s: Option<f64>,
    /// The link that held it back for the largest part of its time.
    pub(crate) bottleneck: Option<Ends<'a>>,
    /// Why.
    pub(crate) cause: Option<String>,
    /// The same for programs; absent where `cause` is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause_detail: Option<TransferCause<'a>>,
    /// Full results: the ids of its links in order of travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<Vec<u32>>,
}

/// A directed link.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Link")]
pub(crate) struct LinkRow<'a> {
    /// Full results: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    /// The node it leaves.
    pub(crate) from: &'a str,
    /// The node it enters.
    pub(crate) to: &'a str,
    /// Payload bytes that crossed it.
    pub(crate) bytes: u64,
    /// Time with a rate above 0.
    pub(crate) busy_s: f64,
    /// Largest sum of rates; null where it is not known (very large runs).
    #[serde(rename = "peak_Bps")]
    pub(crate) peak_bps: Option<f64>,
    /// Full results: its bandwidth.
    #[serde(rename = "bandwidth_Bps", skip_serializing_if = "Option::is_none")]
    pub(crate) bandwidth_bps: Option<f64>,
    /// Full results: its latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latency_s: Option<f64>,
    /// Full results: `up`, `down` or `lateral`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<&'static str>,
}

/// A maximal interval in which no rate changes.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Phase")]
pub(crate) struct PhaseRow<R> {
    /// Its begin.
    pub(crate) start_s: f64,
    /// Its end.
    pub(crate) end_s: f64,
    /// The rate of every active transfer by id, rate 0 included.
    #[serde(rename = "rates_Bps")]
    pub(crate) rates_bps: R,
}

/// Stands for the rates in the schema.
pub(crate) type RatesSchema = BTreeMap<String, f64>;

/// A node.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "TopologyNode")]
pub(crate) struct NodeRow<'a> {
    /// Its id.
    pub(crate) id: u32,
    /// Its name.
    pub(crate) name: &'a str,
    /// Its kind.
    pub(crate) kind: &'static str,
    /// The id of its parent; null for a root.
    pub(crate) parent: Option<u32>,
}

/// The explanation of one phase.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ExplainedPhase")]
pub(crate) struct ExplainRow<T> {
    /// Its begin.
    pub(crate) start_s: f64,
    /// Its end.
    pub(crate) end_s: f64,
    /// Every active transfer, in expansion order.
    pub(crate) transfers: T,
}

/// The steps of one transfer in one phase.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ExplainedTransfer")]
pub(crate) struct ExplainedRow<'a> {
    /// Its id.
    pub(crate) id: Cow<'a, str>,
    /// The arbiter's steps in order.
    pub(crate) steps: Vec<StepRow<'a>>,
}

/// One step of the arbiter.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Step")]
pub(crate) struct StepRow<'a> {
    /// Its name.
    pub(crate) step: &'a str,
    /// The link that decided.
    pub(crate) link: Option<Ends<'a>>,
    /// The rate after it.
    #[serde(rename = "rate_Bps")]
    pub(crate) rate_bps: f64,
    /// Ids of the transfers responsible.
    pub(crate) because: Vec<Cow<'a, str>>,
}
