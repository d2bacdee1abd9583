//! The event loop: it handles everything that happens at an instant, asks for rates once, then moves the clock.

use std::sync::atomic::Ordering;

use weir_plugin_api::{CallError, Flags, RateArbiter, SimDuration, SimTime};

use crate::answer::AnswerError;
use crate::instant::Instant;
use crate::mover::Mover;
use crate::outcome::{Outcome, PhaseRecord, SimError, Stop};
use crate::recorder::{Listener, PhaseRecorder};
use crate::setup::{RunOptions, Sharing, Simulation};
use crate::store::{Store, Whole};
use crate::stream::{Streamed, Traffic};
use crate::tasks::{TaskGraph, TaskId};

/// Most arbitrations without a start or an end, if they are less than [`LEAST_STEP`] apart on average or nothing comes to an
/// end: an arbiter that wants to be asked again so often does not let the run go on (*assumed*: a second or so of computing, some
/// seconds in a process of its own).
pub const MOST_ROUNDS: u32 = 200_000;
/// A time in which a link of 1 TB/s carries a kilobyte: no policy decides anew so often (*assumed*).
pub const LEAST_STEP: SimDuration = SimDuration(1000);

impl Simulation<'_> {
    /// Runs until nothing is left to do, or until `options` stop it. The arbiter must be fresh, or have been reset.
    ///
    /// # Errors
    /// A wrong answer of the arbiter, a deadlock, the horizon, or an instant without end.
    pub fn run(
        &self,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
    ) -> Result<Outcome, SimError> {
        self.run_listened(arbiter, flags, options, None)
    }

    /// Runs, and tells `listener` what it hears of. The outcome has none of it, so memory does not grow with that.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with_listener(
        &self,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
        listener: Listener<'_>,
    ) -> Result<Outcome, SimError> {
        self.run_listened(arbiter, flags, RunOptions { phases: false, ..options }, Some(listener))
    }

    fn run_listened(
        &self,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
        listener: Option<Listener<'_>>,
    ) -> Result<Outcome, SimError> {
        let places = &self.tasks.places;
        if !places.is_set() {
            return self.run_as_labelled(arbiter, flags, options, listener);
        }
        let tasks = &places.relabelled(self.tasks);
        match listener {
            None => self.restored(tasks, arbiter, flags, options, None),
            Some(Listener::Phases(take)) => {
                let take = &mut |phase| take(places.phase(phase));
                self.restored(tasks, arbiter, flags, options, Some(Listener::Phases(take)))
            }
            Some(Listener::Progress { every, take }) => {
                let take = &mut |time, sent: &[(TaskId, u64)]| take(time, &places.progress(sent));
                self.restored(tasks, arbiter, flags, options, Some(Listener::Progress { every, take }))
            }
        }
    }

    /// Runs tasks that have other ids, and gives the outcome theirs back.
    fn restored(
        &self,
        tasks: &TaskGraph,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
        listener: Option<Listener<'_>>,
    ) -> Result<Outcome, SimError> {
        let places = &self.tasks.places;
        let outcome = Simulation { tasks, ..*self }.run_as_labelled(arbiter, flags, options, listener);
        outcome.map(|o| places.restored(o)).map_err(|e| places.restored_error(e))
    }

    fn run_as_labelled(
        &self,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
        listener: Option<Listener<'_>>,
    ) -> Result<Outcome, SimError> {
        let flows = Mover::new(self, None, arbiter, flags, &options)?;
        // A listener has heard of what would begin again.
        let may_begin_again = flows.is_incremental() && listener.is_none();
        match self.run_to_the_end(flows, options, listener) {
            Err(error) if may_begin_again && is_refused(&error) => {
                tracing::debug!(%error, "phase by phase: from the beginning");
                let options = RunOptions { sharing: Sharing::ByArbiter, ..options };
                self.run_to_the_end(Mover::new(self, None, arbiter, flags, &options)?, options, None)
            }
            ended => ended,
        }
    }

    fn run_to_the_end(
        &self,
        flows: Mover<'_>,
        options: RunOptions<'_>,
        listener: Option<Listener<'_>>,
    ) -> Result<Outcome, SimError> {
        let instant = Instant::new(self, Whole::new(self.tasks), &options);
        let end = End::of(instant, flows, options, listener)?;
        end.instant.outcome(end.stop, end.now, end.flows, end.phases)
    }

    /// Runs transfers that arrive one by one, until the end or until `options` stop it. `tasks` has their classes and
    /// engines, but no task. The outcome is that of the same transfers as tasks of a graph, except that times of single
    /// transfers go to the departures.
    ///
    /// # Errors
    /// As [`Self::run`]; also if the next transfer cannot be read, or one that has ended cannot be written.
    pub fn stream(
        &self,
        traffic: Traffic<'_>,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
    ) -> Result<Outcome, SimError> {
        let flows = Mover::new(self, Some(traffic.census), arbiter, flags, &options)?;
        let instant = Instant::new(self, Streamed::new(traffic), &options);
        let end = End::of(instant, flows, options, None)?;
        end.instant.leave(end.stop, end.now, end.flows, end.phases)
    }
}

/// The state of a run at its end.
struct End<'a, 'm, S> {
    stop: Stop,
    now: SimTime,
    instant: Instant<'a, S>,
    flows: Mover<'m>,
    phases: Option<Vec<PhaseRecord>>,
}

impl<'a, 'm, S: Store> End<'a, 'm, S> {
    /// Goes from instant to instant until nothing is left to do.
    fn of(
        instant: Instant<'a, S>,
        flows: Mover<'m>,
        options: RunOptions<'_>,
        listener: Option<Listener<'_>>,
    ) -> Result<Self, SimError> {
        let has_rates = !matches!(options.sharing, Sharing::Packets(_));
        let is_wanted = options.phases || options.explain || listener.is_some();
        let recorder = (has_rates && is_wanted).then(|| PhaseRecorder::new(options.explain, listener));
        let mut run = Running { instant, flows, options, has_rates, recorder, clock: Clock::default() };
        let stop = loop {
            let next = run.next_time()?;
            if let Some(stop) = run.stop_before(next)? {
                break stop;
            }
            run.happen(next)?;
        };
        let Running { instant, flows, recorder, clock, .. } = run;
        let phases = recorder.and_then(|r| r.finish(clock.now));
        Ok(Self { stop, now: clock.now, instant, flows, phases })
    }
}

/// The state of a run between two instants.
struct Running<'a, 'm, 'o, 'l, S> {
    instant: Instant<'a, S>,
    flows: Mover<'m>,
    options: RunOptions<'o>,
    has_rates: bool,
    recorder: Option<PhaseRecorder<'l>>,
    clock: Clock,
}

impl<S: Store> Running<'_, '_, '_, '_, S> {
    /// When something happens next; never where nothing does.
    fn next_time(&mut self) -> Result<SimTime, SimError> {
        if self.instant.halted() {
            return Err(SimError::Halted);
        }
        let (instant, flows) = (&self.instant, &mut self.flows);
        flows.advance(self.clock.now, instant.next_time(), &self.options)?;
        let next = instant.next_time().min(flows.next_end()).min(flows.recheck());
        // Links go on changing when all is done.
        Ok(if flows.heeds_changes() { next.min(flows.next_change()) } else { next })
    }

    /// Why the run ends before `next`, if it does; the clock is then at its end.
    fn stop_before(&mut self, next: SimTime) -> Result<Option<Stop>, SimError> {
        let Self { instant, flows, options, recorder, clock, .. } = self;
        if next.is_never() {
            finished(flows, instant, clock.now)?;
            return Ok(Some(Stop::Finished));
        }
        if let Some(recorder) = recorder {
            recorder.tell(next.min(options.until), flows);
        }
        if next > options.until {
            clock.now = options.until;
            return Ok(Some(Stop::Until));
        }
        if options.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            clock.now = clock.now.max(flows.reached());
            return Ok(Some(Stop::Cancelled));
        }
        if let Some(progress) = options.progress {
            progress.store(instant.events(), Ordering::Relaxed);
        }
        Ok(None)
    }

    /// Does what is due at `next`, and shares the bandwidth anew where that changes rates.
    fn happen(&mut self, next: SimTime) -> Result<(), SimError> {
        let Self { instant, flows, has_rates, recorder, clock, .. } = self;
        debug_assert!(next >= clock.now, "time never falls");
        clock.now = next;
        let before = (instant.events(), flows.len());
        let changes = instant.drain(next, flows)?;
        let has_changed = if flows.is_outdated(next) {
            // Changes of links are bounded by themselves, and so are packets: they hop, wait in a circle, or are done.
            if *has_rates && !changes {
                clock.count_round(instant.events(), flows)?;
            }
            flows.arbitrate(next)?
        } else {
            // A transfer whose links are its own comes and goes without a change of other rates.
            flows.plain().is_none() && (instant.events(), flows.len()) != before
        };
        match recorder.as_mut().filter(|_| has_changed) {
            Some(recorder) => recorder.record(next, flows),
            None => Ok(()),
        }
    }
}

/// The present instant, and how often the arbiter was asked since something happened.
#[derive(Default)]
struct Clock {
    now: SimTime,
    /// Starts and ends until then.
    events: u64,
    since: SimTime,
    rounds: u32,
}

impl Clock {
    fn count_round(&mut self, events: u64, flows: &mut Mover<'_>) -> Result<(), SimError> {
        if events != self.events {
            (self.events, self.since, self.rounds) = (events, self.now, 0);
        }
        self.rounds += 1;
        if self.rounds <= MOST_ROUNDS {
            return Ok(());
        }
        let passed = self.now - self.since;
        // A rate at which nothing ends before the horizon is no progress.
        if passed.0 >= LEAST_STEP.0 * u64::from(MOST_ROUNDS) && !flows.next_end().is_never() {
            (self.since, self.rounds) = (self.now, 0);
            return Ok(());
        }
        let active = flows.rates(self.now).into_iter().map(|(task, _)| task).collect();
        Err(SimError::Stuck { time: self.now, passed, active })
    }
}

/// Whether an incremental arbiter, or its clocks, refused to go on.
fn is_refused(error: &SimError) -> bool {
    matches!(error, SimError::Arbiter(AnswerError::Failed { error: CallError::Refused(_), .. }))
}

/// Nothing is pending: either all is done, or what is left can never end within the horizon.
fn finished<S: Store>(flows: &mut Mover<'_>, instant: &Instant<'_, S>, time: SimTime) -> Result<(), SimError> {
    let mut beyond: Vec<TaskId> =
        flows.rates(time).into_iter().filter(|&(_, rate)| rate > 0.0).map(|(task, _)| task).collect();
    beyond.extend_from_slice(instant.beyond());
    if !beyond.is_empty() {
        beyond.sort_unstable();
        return Err(SimError::BeyondHorizon { time, tasks: beyond });
    }
    if let Some(error) = flows.stays_down(time) {
        return Err(error);
    }
    if flows.len() > 0 || instant.left() > 0 {
        let waiting = flows.rates(time).into_iter().map(|(task, _)| task).collect();
        return Err(SimError::Deadlock { time, waiting, queued: instant.queued() });
    }
    Ok(())
}
