//! What happened when a scenario ran under one of its arbiters.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_plugin_api::{LinkId, NodeId, SimDuration, SimTime};
use weir_report::{CauseKind, Delay, Detail, EndSpread, Spread, TransferCause, bottleneck_link, text, write_run};
use weir_scenario::ArbiterSpec;
use weir_sim_core::{Outcome, Stop, TaskId, Work};

use crate::{Error, Scenario};

/// What happened when a scenario ran under one of its arbiters.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) arbiter: ArbiterSpec,
    pub(crate) outcome: Outcome,
    pub(crate) spread: Option<Spread>,
    /// Stops the runs of operations alone, which are made once results are asked for.
    pub(crate) cancel: Option<Arc<AtomicBool>>,
}

/// A transfer of a run. Times are `None` for what had not happened when the run stopped.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Transfer {
    /// Its id in the scenario.
    pub id: String,
    /// The node it starts from.
    pub from: String,
    /// The node it goes to.
    pub to: String,
    /// Its payload in bytes.
    pub bytes: u64,
    /// When all it waits for had ended.
    pub ready: Option<SimTime>,
    /// When its source began to send it.
    pub start: Option<SimTime>,
    /// When its last byte arrived.
    pub end: Option<SimTime>,
    /// Its end in further runs, where these were asked for ([`crate::RunOptions::jitter`]).
    pub end_spread: Option<EndSpread>,
    /// Bytes sent; of an unfinished transfer, so far.
    pub sent_bytes: u64,
    /// From ready to end of the same transfer alone under the same arbiter, with the time to issue it; `None` where that
    /// has no steady answer, and after a cancelled run.
    pub alone: Option<SimDuration>,
    /// By how much longer it took than alone, in parts; `None` where `alone` is, and until it has ended.
    pub delay: Option<Delay>,
    /// The two nodes of the link that held it back for the largest part of its time; none where its own limit did.
    pub bottleneck: Option<(String, String)>,
    /// Why, as a kind.
    pub cause_kind: Option<CauseKind>,
    /// Why, as a sentence: `link shared with b`.
    pub cause: Option<String>,
}

impl Transfer {
    /// From ready to end, over the time of the same transfer alone; `None` where one of them is not known.
    #[must_use]
    pub fn slowdown(&self) -> Option<f64> {
        let (ready, end, alone) = (self.ready?, self.end?, self.alone?);
        (alone.0 > 0).then(|| (end - ready).seconds() / alone.seconds())
    }
}

/// A directed link of a run.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Link {
    /// The node it leaves.
    pub from: String,
    /// The node it enters.
    pub to: String,
    /// What it can carry, bytes per second.
    pub bandwidth: f64,
    /// Payload bytes that crossed it.
    pub bytes: u64,
    /// Time with a rate above 0.
    pub busy: SimDuration,
    /// Largest sum of rates, bytes per second; `None` where it is not known (see [`crate::RunOptions::peaks`]).
    pub peak: Option<f64>,
    /// Bytes over what it could have carried from 0 to the end of the run, from 0 to 1.
    pub utilisation: f64,
}

impl Run {
    /// The latest end of any task; of an incomplete run, of those that ended.
    #[must_use]
    pub fn makespan(&self) -> SimTime {
        self.outcome.makespan
    }

    /// Until when it ran: its last event, or where it was stopped.
    #[must_use]
    pub fn stopped_at(&self) -> SimTime {
        self.outcome.now
    }

    /// Whether every task ended: false after [`crate::RunOptions::until`] and [`crate::RunOptions::cancel`].
    #[must_use]
    pub fn complete(&self) -> bool {
        self.outcome.stop == Stop::Finished
    }

    /// Whether [`crate::RunOptions::cancel`] stopped it.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.outcome.stop == Stop::Cancelled
    }

    /// The name of the arbiter.
    #[must_use]
    pub fn arbiter(&self) -> &str {
        &self.arbiter.name
    }

    /// The scenario that was run, for names and places.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// A digest of all events, those of packets where they were simulated, as results have it. Two runs with the same digest
    /// had the same events at the same times.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.outcome.packets.as_ref().map_or(self.outcome.fingerprint, |packets| packets.fingerprint)
    }

    /// Whether the phases were recorded ([`crate::RunOptions::phases`]).
    #[must_use]
    pub fn has_phases(&self) -> bool {
        self.outcome.phases.is_some()
    }

    /// All transfers, in the order of the scenario.
    ///
    /// # Errors
    /// A new instance of the arbiter, which is asked how long each transfer takes alone, fails.
    pub fn transfers(&self) -> Result<Vec<Transfer>, Error> {
        self.report(|run| run.transfers().filter_map(|task| self.transfer_of(run, task)).collect())
    }

    /// The transfer of an id; `None` for ids of whole groups, and where the arbiter fails (see [`Self::transfers`]).
    #[must_use]
    pub fn transfer(&self, id: &str) -> Option<Transfer> {
        let task = self.scenario.contents().task(id)?;
        self.report(|run| self.transfer_of(run, task)).ok().flatten()
    }

    /// All directed links, those of the tree first.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        let (fabric, span) = (&self.scenario.contents().fabric, self.outcome.now.seconds());
        let of = |(link, totals): (&weir_sim_core::Link, &weir_sim_core::LinkTotals)| Link {
            from: self.node(link.from),
            to: self.node(link.to),
            bandwidth: link.bandwidth,
            bytes: totals.bytes,
            busy: totals.busy,
            peak: totals.peak,
            utilisation: if span > 0.0 { totals.bytes as f64 / (link.bandwidth * span) } else { 0.0 },
        };
        fabric.links().iter().zip(&self.outcome.links).map(of).collect()
    }

    /// The result as one line of JSON, as `weir run --json` prints it (`weir schema results`); with the phases where they were
    /// recorded.
    ///
    /// # Errors
    /// As [`Self::transfers`].
    pub fn to_json(&self) -> Result<String, Error> {
        let phases = self.has_phases();
        let written = self.report(|run| {
            let mut line = Vec::new();
            write_run(run, Detail { phases, full: false }, &mut line).map(|()| line)
        })?;
        let line = written.map_err(Error::unwritten)?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// The tables that `weir run` prints.
    ///
    /// # Errors
    /// As [`Self::transfers`].
    pub fn to_text(&self) -> Result<String, Error> {
        self.report(text::run)
    }

    /// What `weir explain` prints: the plans of operations, and phase by phase the arbiter's steps, or the grants of ports,
    /// where they were recorded ([`crate::RunOptions::explanations`]).
    ///
    /// # Errors
    /// As [`Self::transfers`].
    pub fn explanation(&self) -> Result<String, Error> {
        self.report(text::explain)
    }

    /// Hands over the result as reports read it.
    ///
    /// # Errors
    /// As [`Self::transfers`].
    #[doc(hidden)]
    pub fn report<T>(&self, take: impl FnOnce(&weir_report::Run<'_>) -> T) -> Result<T, Error> {
        let prepared = self.scenario.prepared(&self.arbiter);
        let alone = prepared.alone(&self.outcome, self.cancel.clone())?;
        let run = prepared.report(&self.outcome, &alone);
        Ok(take(&weir_report::Run { spread: self.spread.as_ref(), ..run }))
    }

    fn transfer_of(&self, run: &weir_report::Run<'_>, task: TaskId) -> Option<Transfer> {
        let scenario = self.scenario.contents();
        let Work::Carries { bytes, .. } = scenario.tasks.tasks()[task.index()].work else { return None };
        let (from, to) = scenario.ends(task)?;
        let times = self.outcome.tasks[task.index()];
        let happened = |time: SimTime| (!time.is_never()).then_some(time);
        let cause = TransferCause::of(run, task);
        Some(Transfer {
            id: scenario.task_name(task).into_owned(),
            from: self.node(from),
            to: self.node(to),
            bytes,
            ready: happened(times.ready),
            start: happened(times.start),
            end: happened(times.end),
            end_spread: self.spread.as_ref().and_then(|spread| Some(spread.transfer(task)?.end)),
            sent_bytes: self.outcome.sent_bytes[task.index()],
            alone: run.time_alone(task),
            bottleneck: bottleneck_link(run, task).map(|link| self.ends(link)),
            delay: Delay::of_task(run, task),
            cause_kind: cause.as_ref().map(|cause| cause.kind),
            cause: cause.map(|cause| cause.to_string()),
        })
    }

    fn ends(&self, link: LinkId) -> (String, String) {
        let link = self.scenario.contents().fabric.link(link);
        (self.node(link.from), self.node(link.to))
    }

    pub(crate) fn node(&self, node: NodeId) -> String {
        self.scenario.contents().node_name(node).to_owned()
    }
}
