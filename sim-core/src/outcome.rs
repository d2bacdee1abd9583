//! What a run returns: exact times per task, link statistics, and on request phases and explanations.

use weir_packets::Held;
use weir_plugin_api::{Binding, CallError, LinkId, Remark, SimDuration, SimTime};

use crate::changes::{LinkChangeTotals, LinkStep, Reroute};
use crate::packets::PacketCounts;
use crate::tasks::TaskId;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Every task has ended.
    Finished,
    /// The limit of simulated time was reached first.
    Until,
    /// It was cancelled from outside.
    Cancelled,
}

/// Times of one task; [`SimTime::NEVER`] for what had not happened when the run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskTimes {
    /// All it waited for has happened and its `start` has come.
    pub ready: SimTime,
    /// Its work began: it has its engine's slot, and its lead or gap has passed.
    pub start: SimTime,
    /// Its last byte left (carrying tasks), its time has passed (others): the slot is free.
    pub sent: SimTime,
    /// `sent` plus the latencies of its route.
    pub end: SimTime,
}

impl TaskTimes {
    /// Nothing has happened yet.
    pub const NEVER: Self =
        Self { ready: SimTime::NEVER, start: SimTime::NEVER, sent: SimTime::NEVER, end: SimTime::NEVER };
}

/// What limited a transfer while it had rates: the link at which it lost most against its full rate, and why.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bottleneck {
    /// The binding; its `by` is a task id here (`u32::MAX` for none). The transfer itself where a link went down and what it
    /// had sent is lost, but it has not waited for that link.
    pub binding: Binding,
    /// How long this binding held, of all the time that the transfer had rates.
    pub time: SimDuration,
    /// How long its rate was 0; [`SimDuration::FOREVER`] where the way of sharing does not know
    /// ([`crate::Sharing::Incremental`], once any level was 0).
    pub blocked: SimDuration,
}

/// Totals of one directed link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkTotals {
    /// Payload bytes that crossed it; of unfinished transfers, the whole bytes sent so far.
    pub bytes: u64,
    /// Time with a rate above 0.
    pub busy: SimDuration,
    /// Largest sum of rates, bytes per second; `None` where the way of sharing does not know
    /// ([`crate::Sharing::Incremental`] from `peaks_below` on).
    pub peak: Option<f64>,
}

impl Default for LinkTotals {
    fn default() -> Self {
        Self { bytes: 0, busy: SimDuration::ZERO, peak: Some(0.0) }
    }
}

/// A maximal interval in which no rate changes.
#[derive(Clone, PartialEq, Debug)]
pub struct PhaseRecord {
    /// The instant from which the rates hold.
    pub start: SimTime,
    /// The instant of the next change of any rate, after `start`.
    pub end: SimTime,
    /// All active transfers in id order with their rates in bytes per second, rate 0 included.
    pub rates: Vec<(TaskId, f64)>,
    /// The arbiter's steps for each transfer, when explanations were asked for.
    pub steps: Vec<PhaseStep>,
}

/// One line of an explanation.
#[derive(Clone, PartialEq, Debug)]
pub struct PhaseStep {
    /// The transfer whose rate the step changed or fixed.
    pub task: TaskId,
    /// Number of the region in which it was taken; 0 where one policy has the whole fabric. Numbers from that of the regions
    /// on are bandwidths that links share, in the order of [`crate::Fabric::shared`].
    pub region: u32,
    /// Name of the step.
    pub step: String,
    /// The link that decided, or [`LinkId::NONE`].
    pub link: LinkId,
    /// Rate after the step, bytes per second.
    pub rate: f64,
    /// The transfers that are responsible; empty where the policy names none.
    pub because: Vec<TaskId>,
}

/// What the arbiter remarked in some phases.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemarkCount {
    /// The remark, with the number of the region as in [`PhaseStep::region`].
    pub remark: Remark,
    /// In so many phases, those with a remembered answer included.
    pub phases: u64,
    /// Of so many.
    pub of: u64,
}

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How it ended; only [`Stop::Finished`] is complete.
    pub stop: Stop,
    /// The clock at the end: the last event, or the limit.
    pub now: SimTime,
    /// Latest end of any task; of an incomplete run, of those that ended.
    pub makespan: SimTime,
    /// Starts and ends of transfers and counted tasks.
    pub events: u64,
    /// 64-bit digest of (time, kind, ids, bytes) of all events.
    pub fingerprint: u64,
    /// Per task, by its id: when it was ready, started and ended.
    pub tasks: Vec<TaskTimes>,
    /// Per task: bytes sent (0 for tasks that carry none).
    pub sent_bytes: Vec<u64>,
    /// Per task: what limited it ([`Binding::NONE`] for tasks that carry no bytes or never had a rate).
    pub bottlenecks: Vec<Bottleneck>,
    /// Per task: the one that it waited behind for its engine's slot last, which gave one back, or was before it in the queue
    /// and not ready; [`TaskId::NONE`] for one that did not wait behind another.
    pub queued_behind: Vec<TaskId>,
    /// Per task: why its source had to wait, from the longest wait on; empty where nothing went packet by packet.
    pub held: Vec<Vec<Held>>,
    /// Per directed link, by its id: bytes, busy time and peak.
    pub links: Vec<LinkTotals>,
    /// Every phase in order of time; `None` where [`crate::RunOptions`] asked for none.
    pub phases: Option<Vec<PhaseRecord>>,
    /// Times the arbiter was asked (remembered answers excluded).
    pub arbitrations: u64,
    /// What the arbiter remarked on its answers, by region and text.
    pub remarks: Vec<RemarkCount>,
    /// Whether rates were kept up by the arbiter's incremental side instead of being asked for phase by phase.
    pub incremental: bool,
    /// The links that changed, by id; empty where none did.
    pub link_changes: Vec<LinkChangeTotals>,
    /// What these links carried from when on, in order of time: the first [`crate::MOST_STEPS`] changes.
    pub link_steps: Vec<LinkStep>,
    /// The transfers that took another route when a link went down, by id; those of one transfer by time.
    pub reroutes: Vec<Reroute>,
    /// What packets did, where transfers went packet by packet.
    pub packets: Option<PacketCounts>,
}

impl Outcome {
    /// The other routes that a transfer took, by time.
    #[must_use]
    pub fn reroutes_of(&self, task: TaskId) -> &[Reroute] {
        let all = &self.reroutes[..];
        let from = all.partition_point(|reroute| reroute.task < task);
        let count = all[from..].partition_point(|reroute| reroute.task == task);
        &all[from..from + count]
    }
}

/// Why a run cannot go on.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SimError {
    /// The arbiter's answer, or the arbiter itself, failed.
    #[error("{0}")]
    Arbiter(#[from] crate::answer::AnswerError),
    /// Tasks are left and nothing is pending: all active transfers have rate 0, or, where none is active, the heads of
    /// the engines' queues wait for tasks that are delayed in such queues.
    #[error("deadlock at {time}: {}", deadlock(.waiting))]
    Deadlock {
        /// When.
        time: SimTime,
        /// The active transfers, in id order; their rates are 0.
        waiting: Vec<TaskId>,
        /// Tasks that have no slot of their engine: those in its queue, and those ready for one. In id order.
        queued: Vec<TaskId>,
    },
    /// A link goes down, and [`crate::OnFailure::Fail`] says that this ends the run.
    #[error("at {time} a link goes down that a transfer is on")]
    LinkDown {
        /// When.
        time: SimTime,
        /// The link.
        link: LinkId,
        /// A transfer on it.
        task: TaskId,
    },
    /// The arbiter refuses the other route of a transfer whose link is down.
    #[error("at {time} a transfer takes another route, which is refused: {error}")]
    DetourRefused {
        /// When.
        time: SimTime,
        /// The transfer.
        task: TaskId,
        /// The arbiter's own words.
        error: CallError,
    },
    /// Links have changed more than [`crate::MOST_CHANGES`] times.
    #[error("at {time} links have changed more than 10000000 times")]
    TooManyChanges {
        /// When.
        time: SimTime,
        /// One that changes.
        link: LinkId,
    },
    /// A link is down for good, and nothing else is pending.
    #[error("deadlock at {time}: a link never comes up again")]
    StaysDown {
        /// When.
        time: SimTime,
        /// The link.
        link: LinkId,
        /// The transfers that wait for a link, in id order.
        waiting: Vec<TaskId>,
    },
    /// The next event lies beyond the horizon of 100 days.
    #[error("after {time} the next event lies beyond the horizon of 100 days")]
    BeyondHorizon {
        /// The last instant.
        time: SimTime,
        /// Tasks whose end lies beyond.
        tasks: Vec<TaskId>,
    },
    /// The phases that are recorded take more than [`crate::MOST_PHASES`].
    #[error("at {time} recorded phases take more than {} bytes", crate::MOST_PHASES)]
    TooManyPhases {
        /// When.
        time: SimTime,
    },
    /// More than [`crate::MOST_ROUNDS`] rounds of arbitration without a start or an end, in next to no time.
    #[error("at {time} the arbiter was asked more than 1000000 times in {} ps", passed.0)]
    Stuck {
        /// The last of them.
        time: SimTime,
        /// From the first to the last.
        passed: SimDuration,
        /// The active transfers, in id order.
        active: Vec<TaskId>,
    },
    /// Packets cannot go on.
    #[error("at {time}: {error}")]
    Packets {
        /// When.
        time: SimTime,
        /// Why.
        error: weir_packets::PacketError,
    },
    /// What came out cannot be.
    #[error("{0}")]
    Audit(#[from] crate::audit_error::AuditError),
    /// The source or the sink of a stream of transfers has failed, and knows why.
    #[error("transfers can be had, or given away, no longer")]
    Halted,
}

fn deadlock(waiting: &[TaskId]) -> &'static str {
    if waiting.is_empty() {
        "the heads of the engines' queues wait for tasks queued behind others"
    } else {
        "every active transfer has rate 0"
    }
}
