//! Transfers that come one by one and go when they have ended: a run whose memory does not grow with their number.
//!
//! ```text
//! Arrivals ──► the next one ──► active ones (slots) ──► Departures
//! (by start)                    task, times, result     (by end)
//! ```

use rustc_hash::FxHashMap;
use weir_packets::Held;
use weir_plugin_api::{ClassId, SimDuration, SimTime};

use crate::outcome::{Bottleneck, TaskTimes};
use crate::service::ServiceId;
use crate::store::{NO_BOTTLENECK, Store};
use crate::tasks::{EngineId, Task, TaskGraph, TaskId, Work};

/// A transfer that comes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrival {
    /// Its id, which decides among equals; each at most once.
    pub task: TaskId,
    /// Not ready before this instant.
    pub start: SimTime,
    /// Its engine, or [`EngineId::NONE`].
    pub engine: EngineId,
    /// Route, limit, weight and priority.
    pub class: ClassId,
    /// Payload, 1 to 2^53.
    pub bytes: u64,
}

/// A transfer that has ended, or that a run which stops leaves behind.
#[derive(Clone, PartialEq, Debug)]
pub struct Departure {
    /// Its id, with which it came.
    pub task: TaskId,
    /// Route, limit, weight and priority.
    pub class: ClassId,
    /// Its engine, or [`EngineId::NONE`].
    pub engine: EngineId,
    /// The lead of its work on the engine, which is no waiting.
    pub lead: SimDuration,
    /// Its payload, sent or not.
    pub bytes: u64,
    /// What has happened to it.
    pub times: TaskTimes,
    /// Bytes sent: all, unless the run stops before.
    pub sent_bytes: u64,
    /// The link at which it lost most against its full rate, and why.
    pub bottleneck: Bottleneck,
    /// The one that it waited behind for its engine's slot last; [`TaskId::NONE`] for nobody.
    pub queued_behind: TaskId,
    /// Why its source had to wait, from the longest wait on, where it went packet by packet.
    pub held: Vec<Held>,
    /// The instant of this report: its end, or where the run stops.
    pub at: SimTime,
}

/// The caller's side has failed, and knows why: the run ends with [`crate::SimError::Halted`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halt;

/// Where transfers come from.
pub trait Arrivals {
    /// The next one in the order of (start, id); `None` after the last.
    ///
    /// # Errors
    /// It cannot be had: the run ends.
    fn next(&mut self) -> Result<Option<Arrival>, Halt>;
}

/// Takes the transfers of a streamed run as they end.
pub trait Departures {
    /// Takes a transfer that has ended, in the order of (end, id); at last, of a run that stops before, those that have not,
    /// by id: all that have come, and the next one to come, so that such a run leaves at least one without an end.
    ///
    /// # Errors
    /// It cannot be taken: the run ends.
    fn take(&mut self, departure: &Departure) -> Result<(), Halt>;
}

/// What a run must know of all its transfers before the first one comes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Census {
    classes: Vec<OfClass>,
    transfers: usize,
    most_bytes: u64,
}

/// Of one class: how many transfers there are, their payload and the largest one's, how many of them have no engine, and the engines
/// of the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct OfClass {
    pub(crate) transfers: u32,
    bytes: u64,
    most_bytes: u64,
    pub(crate) without_engine: u32,
    pub(crate) engines: Vec<EngineId>,
}

impl Census {
    /// Of all transfers of a graph.
    #[must_use]
    pub fn of(tasks: &TaskGraph) -> Self {
        let mut census = Self { classes: vec![OfClass::default(); tasks.classes.len()], ..Self::default() };
        for task in &tasks.tasks {
            if let Work::Carries { bytes, class } = task.work {
                census.add(class, task.engine, bytes);
            }
        }
        census
    }

    /// Counts one more transfer of this class, with its engine and its payload.
    pub fn add(&mut self, class: ClassId, engine: EngineId, bytes: u64) {
        if self.classes.len() <= class.index() {
            self.classes.resize(class.index() + 1, OfClass::default());
        }
        let own = &mut self.classes[class.index()];
        own.transfers += 1;
        own.bytes = own.bytes.saturating_add(bytes);
        own.most_bytes = own.most_bytes.max(bytes);
        if engine == EngineId::NONE {
            own.without_engine += 1;
        } else if !own.engines.contains(&engine) {
            own.engines.push(engine);
        }
        self.transfers += 1;
        self.most_bytes = self.most_bytes.max(bytes);
    }

    /// How many there are.
    #[must_use]
    pub fn transfers(&self) -> usize {
        self.transfers
    }

    /// The classes that have any, each with the payload of all of its transfers.
    pub fn bytes(&self) -> impl Iterator<Item = (ClassId, u64)> {
        self.classes().map(|(class, own)| (class, own.bytes))
    }

    /// The largest payload of a class; `None` where it has no transfer.
    #[must_use]
    pub fn most_bytes_of(&self, class: ClassId) -> Option<u64> {
        self.classes.get(class.index()).filter(|own| own.transfers > 0).map(|own| own.most_bytes)
    }

    /// The classes that have any.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (ClassId, &OfClass)> {
        let all = self.classes.iter().enumerate().filter(|(_, own)| own.transfers > 0);
        all.map(|(class, own)| (ClassId::from_index(class), own))
    }

    /// The largest payload; 0 where there is none.
    #[must_use]
    pub(crate) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }
}

/// The transfers of a streamed run.
pub struct Traffic<'a> {
    /// What is known of all of them.
    pub census: &'a Census,
    /// Where they come from.
    pub arrivals: &'a mut dyn Arrivals,
    /// Who takes those that have ended.
    pub departures: &'a mut dyn Departures,
}

#[derive(Clone, Debug)]
struct ActiveTransfer {
    id: TaskId,
    task: Task,
    times: TaskTimes,
    sent_bytes: u64,
    bottleneck: Bottleneck,
    queued_behind: TaskId,
    held: Vec<Held>,
}

impl Departure {
    /// How long it was ready and its engine had no slot for it; of one that has not started, so far.
    #[must_use]
    pub fn waited(&self) -> SimDuration {
        let TaskTimes { ready, start, .. } = self.times;
        if ready.is_never() {
            return SimDuration::ZERO;
        }
        (if start.is_never() { self.at } else { start }) - ready.after(self.lead)
    }
}

impl ActiveTransfer {
    fn new(arrival: Arrival) -> Self {
        let Arrival { task: id, start, engine, class, bytes } = arrival;
        let task = Task { start, engine, service: ServiceId::PLAIN, work: Work::Carries { bytes, class } };
        let (times, bottleneck, queued_behind) = (TaskTimes::NEVER, NO_BOTTLENECK, TaskId::NONE);
        Self { id, task, times, sent_bytes: 0, bottleneck, queued_behind, held: Vec::new() }
    }

    fn departure(&mut self, at: SimTime) -> Option<Departure> {
        let Work::Carries { bytes, class } = self.task.work else { return None };
        let Self { id: task, times, sent_bytes, bottleneck, queued_behind, .. } = *self;
        let (engine, lead, held) = (self.task.engine, SimDuration::ZERO, std::mem::take(&mut self.held));
        Some(Departure { task, class, engine, lead, bytes, times, sent_bytes, bottleneck, queued_behind, held, at })
    }
}

/// The active transfers of a streamed run, and the next one.
pub(crate) struct Streamed<'a> {
    arrivals: &'a mut dyn Arrivals,
    departures: &'a mut dyn Departures,
    next: Option<Arrival>,
    transfers: Vec<ActiveTransfer>,
    /// Whether a transfer of `transfers` is in use is whether `slots` leads to it.
    free: Vec<u32>,
    /// For look-up only.
    slots: FxHashMap<TaskId, u32>,
    /// Those that ended at the present instant, or the last one, and were not handed over.
    leaving: Vec<Departure>,
    /// Transfers that have not ended, those that have not come included.
    left: usize,
    halted: bool,
}

impl<'a> Streamed<'a> {
    pub(crate) fn new(traffic: Traffic<'a>) -> Self {
        let Traffic { census, arrivals, departures } = traffic;
        let mut streamed = Self {
            arrivals,
            departures,
            next: None,
            transfers: Vec::new(),
            free: Vec::new(),
            slots: FxHashMap::default(),
            leaving: Vec::new(),
            left: census.transfers(),
            halted: false,
        };
        streamed.advance();
        streamed
    }

    /// Looks at the next transfer.
    fn advance(&mut self) {
        match self.arrivals.next() {
            Ok(next) => self.next = next,
            Err(Halt) => (self.next, self.halted) = (None, true),
        }
    }

    fn insert(&mut self, arrival: Arrival) {
        let transfer = ActiveTransfer::new(arrival);
        let slot = if let Some(slot) = self.free.pop() {
            self.transfers[slot as usize] = transfer;
            slot
        } else {
            self.transfers.push(transfer);
            (self.transfers.len() - 1) as u32
        };
        self.slots.insert(arrival.task, slot);
    }

    #[inline]
    fn transfer(&self, task: TaskId) -> &ActiveTransfer {
        &self.transfers[self.slots[&task] as usize]
    }

    #[inline]
    fn transfer_mut(&mut self, task: TaskId) -> &mut ActiveTransfer {
        &mut self.transfers[self.slots[&task] as usize]
    }

    /// The active transfers, by id.
    fn active(&self) -> Vec<&ActiveTransfer> {
        let used = |(slot, transfer): &(usize, &ActiveTransfer)| self.slots.get(&transfer.id) == Some(&(*slot as u32));
        let mut active: Vec<&ActiveTransfer> =
            self.transfers.iter().enumerate().filter(used).map(|(_, transfer)| transfer).collect();
        active.sort_unstable_by_key(|transfer| transfer.id);
        active
    }

    /// Hands over the transfers that ended at the last instant, in id order: a rate that changes at an instant may let one end
    /// there after the others.
    fn hand_over(&mut self) -> Result<(), Halt> {
        self.leaving.sort_unstable_by_key(|departure| departure.task);
        self.leaving.drain(..).try_for_each(|departure| self.departures.take(&departure))
    }

    /// Reports what has not ended, after what has.
    pub(crate) fn leave(&mut self, at: SimTime) -> Result<(), Halt> {
        self.hand_over()?;
        let mut rest: Vec<ActiveTransfer> =
            self.active().into_iter().cloned().chain(self.next.map(ActiveTransfer::new)).collect();
        rest.sort_unstable_by_key(|transfer| transfer.id);
        rest.iter_mut()
            .filter_map(|transfer| transfer.departure(at))
            .try_for_each(|departure| self.departures.take(&departure))
    }
}

impl Store for Streamed<'_> {
    fn task(&self, task: TaskId) -> &Task {
        &self.transfer(task).task
    }

    fn times(&mut self, task: TaskId) -> &mut TaskTimes {
        &mut self.transfer_mut(task).times
    }

    fn all_times(&self) -> &[TaskTimes] {
        // Asked for by engines with leads or gaps only, and streamed transfers have none.
        &[]
    }

    fn note(&mut self, task: TaskId, sent_bytes: u64, bottleneck: Bottleneck) {
        let transfer = self.transfer_mut(task);
        (transfer.sent_bytes, transfer.bottleneck) = (sent_bytes, bottleneck);
    }

    fn note_queued(&mut self, task: TaskId, behind: TaskId) {
        self.transfer_mut(task).queued_behind = behind;
    }

    fn note_held(&mut self, task: TaskId, held: Vec<Held>) {
        self.transfer_mut(task).held = held;
    }

    fn next_release(&self) -> SimTime {
        self.next.map_or(SimTime::NEVER, |arrival| arrival.start)
    }

    fn release(&mut self, now: SimTime) -> Option<TaskId> {
        let arrival = self.next.filter(|arrival| arrival.start <= now)?;
        self.insert(arrival);
        self.advance();
        Some(arrival.task)
    }

    fn ended(&mut self, now: SimTime, task: TaskId) {
        self.left -= 1;
        let Some(slot) = self.slots.remove(&task) else { return };
        self.free.push(slot);
        if self.leaving.first().is_some_and(|last| last.at < now) {
            self.halted |= self.hand_over().is_err();
        }
        self.leaving.extend(self.transfers[slot as usize].departure(now));
    }

    fn left(&self) -> usize {
        self.left
    }

    fn halted(&self) -> bool {
        self.halted
    }

    fn unserved(&self) -> Vec<TaskId> {
        let waits =
            |transfer: &&ActiveTransfer| transfer.task.engine != EngineId::NONE && transfer.times.start.is_never();
        self.active().into_iter().filter(waits).map(|transfer| transfer.id).collect()
    }
}
