//! The rows of a result: borrowed from the run while one is written, or from the text of a saved result.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::link::Ends;
use crate::pairs::Pairs;
use crate::{Delay, TransferCause};

/// A name, not copied where that can be.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> From<&'a str> for Name<'a> {
    fn from(name: &'a str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

/// A transfer.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Transfer")]
pub(crate) struct TransferRow<'a> {
    /// Its id.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// Its source.
    #[serde(borrow)]
    pub(crate) from: Cow<'a, str>,
    /// Its destination.
    #[serde(borrow)]
    pub(crate) to: Cow<'a, str>,
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
    /// By how much longer it took than alone, in parts; null where its time alone is not known, or it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<Delay>,
    /// The link that held it back for the largest part of its time.
    #[serde(borrow)]
    pub(crate) bottleneck: Option<Ends<'a>>,
    /// Why.
    pub(crate) cause: Option<Cow<'a, str>>,
    /// The same for programs; absent where `cause` is null.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) cause_detail: Option<TransferCause<'a>>,
    /// Full results: the ids of its links in order of travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<Vec<u32>>,
}

impl TransferRow<'_> {
    /// Bytes sent: all, unless the run stopped before.
    pub(crate) fn sent(&self) -> u64 {
        self.sent_bytes.unwrap_or(self.bytes)
    }

    /// The time in which it sent, seconds: [start, start + bytes / mean rate); the mean rate is over exactly this time.
    pub(crate) fn sending(&self) -> Option<(f64, f64)> {
        let (start, mean) = (self.start_s?, self.mean_bps?);
        (mean > 0.0).then(|| (start, start + self.sent() as f64 / mean))
    }
}

/// A directed link.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Link")]
pub(crate) struct LinkRow<'a> {
    /// Full results: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    /// The node it leaves.
    #[serde(borrow)]
    pub(crate) from: Cow<'a, str>,
    /// The node it enters.
    #[serde(borrow)]
    pub(crate) to: Cow<'a, str>,
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
    pub(crate) direction: Option<Cow<'a, str>>,
}

/// A maximal interval in which no rate changes.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Phase")]
pub(crate) struct PhaseRow<'a> {
    /// Its begin.
    pub(crate) start_s: f64,
    /// Its end.
    pub(crate) end_s: f64,
    /// The rate of every active transfer by id, rate 0 included.
    #[serde(borrow, rename = "rates_Bps")]
    pub(crate) rates_bps: Pairs<Name<'a>, f64>,
}

/// A node.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "TopologyNode")]
pub(crate) struct NodeRow<'a> {
    /// Its id.
    pub(crate) id: u32,
    /// Its name.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// Its kind.
    #[serde(borrow)]
    pub(crate) kind: Cow<'a, str>,
    /// The id of its parent; null for a root.
    pub(crate) parent: Option<u32>,
}

/// The explanation of one phase.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ExplainedPhase")]
pub(crate) struct ExplainRow<'a> {
    /// Its begin.
    pub(crate) start_s: f64,
    /// Its end.
    pub(crate) end_s: f64,
    /// Every active transfer, in expansion order.
    #[serde(borrow)]
    pub(crate) transfers: Vec<ExplainedRow<'a>>,
}

/// The steps of one transfer in one phase.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ExplainedTransfer")]
pub(crate) struct ExplainedRow<'a> {
    /// Its id.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// The arbiter's steps in order.
    #[serde(borrow)]
    pub(crate) steps: Vec<StepRow<'a>>,
}

/// One step of the arbiter.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Step")]
pub(crate) struct StepRow<'a> {
    /// The region in which it was taken, where parts of the fabric have policies of their own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<Cow<'a, str>>,
    /// Its name; `limited` where another region decides.
    #[serde(borrow)]
    pub(crate) step: Cow<'a, str>,
    /// The link that decided.
    #[serde(borrow)]
    pub(crate) link: Option<Ends<'a>>,
    /// The rate after it.
    #[serde(rename = "rate_Bps")]
    pub(crate) rate_bps: f64,
    /// Ids of the transfers responsible.
    #[serde(borrow)]
    #[schemars(with = "Vec<String>")]
    pub(crate) because: Vec<Name<'a>>,
}
