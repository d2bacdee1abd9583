//! What the page's writer reads of a result: the rows of its transfers, links and nodes.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::CauseKind;

/// A name as it stands in a text, not copied where that can be.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[serde(transparent)]
pub(super) struct Name<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A transfer, and its row as written.
pub(super) struct Transfer<'a> {
    pub(super) written: &'a RawValue,
    pub(super) row: TransferRow<'a>,
}

#[derive(Deserialize, Debug)]
pub(super) struct TransferRow<'a> {
    #[serde(borrow)]
    pub(super) id: Name<'a>,
    #[serde(borrow)]
    pub(super) from: Name<'a>,
    pub(super) bytes: u64,
    pub(super) ready_s: Option<f64>,
    pub(super) start_s: Option<f64>,
    pub(super) end_s: Option<f64>,
    #[serde(rename = "mean_Bps")]
    pub(super) mean: Option<f64>,
    /// Only of an unfinished transfer.
    pub(super) sent_bytes: Option<u64>,
    #[serde(default)]
    pub(super) alone_s: Option<f64>,
    #[serde(borrow, default)]
    pub(super) bottleneck: Option<Ends<'a>>,
    #[serde(default)]
    pub(super) cause_detail: Option<CauseRow>,
    /// Only in a full result.
    #[serde(default)]
    pub(super) route: Vec<u32>,
}

/// What of a cause is read.
#[derive(Deserialize, Debug)]
pub(super) struct CauseRow {
    pub(super) kind: CauseKind,
}

/// The two nodes of a link.
#[derive(Deserialize, Debug)]
pub(super) struct Ends<'a> {
    #[serde(borrow)]
    pub(super) from: Name<'a>,
    #[serde(borrow)]
    pub(super) to: Name<'a>,
}

impl TransferRow<'_> {
    /// Bytes sent: all, unless the run stopped before.
    pub(super) fn sent(&self) -> u64 {
        self.sent_bytes.unwrap_or(self.bytes)
    }

    /// The time in which it sent, seconds: [start, start + bytes / mean rate); the mean rate is over exactly this time.
    pub(super) fn sending(&self) -> Option<(f64, f64)> {
        let (start, mean) = (self.start_s?, self.mean?);
        (mean > 0.0).then(|| (start, start + self.sent() as f64 / mean))
    }
}

/// A directed link.
#[derive(Deserialize, Debug)]
pub(super) struct LinkRow<'a> {
    /// Only in a full result.
    pub(super) id: Option<u32>,
    #[serde(borrow)]
    pub(super) from: Name<'a>,
    #[serde(borrow)]
    pub(super) to: Name<'a>,
    /// Only in a full result.
    #[serde(rename = "bandwidth_Bps")]
    pub(super) bandwidth: Option<f64>,
}

/// A node of a full result.
#[derive(Deserialize, Debug)]
pub(super) struct NodeRow<'a> {
    pub(super) id: u32,
    #[serde(borrow)]
    pub(super) name: Name<'a>,
    pub(super) parent: Option<u32>,
}

/// The rows of a list of transfers.
pub(super) fn transfers(list: &RawValue) -> serde_json::Result<Vec<Transfer<'_>>> {
    let rows: Vec<&RawValue> = serde_json::from_str(list.get())?;
    rows.into_iter().map(|written| Ok(Transfer { written, row: serde_json::from_str(written.get())? })).collect()
}
