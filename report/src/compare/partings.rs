//! Where rates and packets part: transfers whose times differ much, and what holds each of them back in either run.

use serde::Serialize;
use weir_plugin_api::SimDuration;
use weir_sim_core::TaskId;

use super::{Column, CompareRow, Comparison};
use crate::cause::{CauseKind, cause_text, place_text};
use crate::json::TransferRow;
use crate::{Run, TransferCause};

/// Times of rates and of packets that differ by more than this share are explained (packets.md, section 4).
const PARTING: f64 = 0.05;

/// What held a transfer back longest.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct HeldBack {
    place: String,
    cause: String,
    /// For which share of its time from ready to end.
    share: Option<f64>,
}

impl HeldBack {
    pub(super) fn of(run: &Run<'_>, task: TaskId) -> Option<Self> {
        Some(Self { place: place_text(run, task)?, cause: cause_text(run, task)?, share: share(run, task) })
    }

    /// Saved results do not say for how long.
    pub(super) fn saved(row: &TransferRow<'_>) -> Option<Self> {
        let ends = row.bottleneck.as_ref().map(|ends| format!("{} → {}", ends.from, ends.to));
        let place = ends.unwrap_or_else(|| "its source".to_owned());
        Some(Self { place, cause: row.cause.as_deref()?.to_owned(), share: None })
    }
}

/// For which share of its time a transfer was held back as its cause says; `None` where that is not known.
fn share(run: &Run<'_>, task: TaskId) -> Option<f64> {
    let transfer = run.departure(task)?;
    let whole = (!transfer.times.end.is_never()).then(|| transfer.times.end - transfer.times.ready)?;
    let held = match TransferCause::of(run, task)?.kind {
        CauseKind::EngineBusy => transfer.waited(),
        _ => transfer.bottleneck.time,
    };
    (held > SimDuration::ZERO && held <= whole).then(|| held.0 as f64 / whole.0 as f64)
}

/// A transfer whose times by rates and by packets differ much.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Parting<'a> {
    /// Its id.
    pub transfer: &'a str,
    /// What held it back in the first column, and in the one that differs.
    pub sides: [PartingSide<'a>; 2],
}

/// What held a transfer back longest in one column.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PartingSide<'a> {
    /// The column, from 0.
    pub column: usize,
    /// The link, or the engine or memory.
    pub place: &'a str,
    /// Why.
    pub cause: &'a str,
    /// For which share of its time from ready to end; `None` of saved results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_time: Option<f64>,
}

impl Comparison {
    /// Transfers whose times by rates and by packets differ much, with what held them back.
    #[must_use]
    pub fn partings(&self) -> Vec<Parting<'_>> {
        self.transfers().filter_map(|(id, row)| self.parting(id, row)).collect()
    }

    /// Whether runs by rates stand beside runs of packets.
    #[must_use]
    pub fn has_both_fidelities(&self) -> bool {
        self.columns.iter().any(|column| column.is_packets != self.columns[0].is_packets)
    }

    fn parting<'a>(&'a self, transfer: &'a str, row: &CompareRow) -> Option<Parting<'a>> {
        let first = self.columns.first()?.is_packets;
        let parts = |(column, ratio): (&Column, Option<f64>)| {
            column.is_packets != first && ratio.is_some_and(|ratio| (ratio - 1.0).abs() > PARTING)
        };
        let other = self.columns.iter().zip(row.ratios()).position(parts)?;
        Some(Parting { transfer, sides: [self.side(0, transfer)?, self.side(other, transfer)?] })
    }

    fn side(&self, column: usize, transfer: &str) -> Option<PartingSide<'_>> {
        let HeldBack { place, cause, share } = self.columns[column].held.get(transfer)?;
        Some(PartingSide { column, place, cause, share_of_time: *share })
    }
}
