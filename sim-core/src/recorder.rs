//! Phases: maximal intervals in which no rate changes.

use weir_plugin_api::{SimDuration, SimTime};

use crate::mover::Mover;
use crate::outcome::{PhaseRecord, SimError};

/// Rates of phases that are kept at once, at most: 16 bytes each, 2.4 GB; *assumed*.
pub const MOST_RATES: usize = 150_000_000;

/// Takes phases one by one, each when it is over, in place of an outcome that has them all.
pub struct PhaseListener<'l> {
    /// A phase is read at most once in so long, and stands for those until the next one that is read; 0 for each.
    pub every: SimDuration,
    /// Takes a phase.
    pub take: &'l mut dyn FnMut(PhaseRecord),
}

/// Records a phase at every change of rates; only on request, since each lists all active transfers.
pub(crate) struct PhaseRecorder<'l> {
    explain: bool,
    phases: Vec<PhaseRecord>,
    /// Of all phases that are kept.
    rates: usize,
    most: usize,
    /// Without one phases are kept.
    listener: Option<PhaseListener<'l>>,
    /// From when on the next phase is read.
    due: SimTime,
    /// Whether rates have changed since the last phase that was read.
    is_behind: bool,
}

impl<'l> PhaseRecorder<'l> {
    pub(crate) fn new(explain: bool, listener: Option<PhaseListener<'l>>) -> Self {
        let (due, is_behind) = (SimTime::ZERO, false);
        Self { explain, phases: Vec::new(), rates: 0, most: MOST_RATES, listener, due, is_behind }
    }

    /// A new phase begins; a phase of no length before it is dropped.
    ///
    /// # Errors
    /// There are more than [`MOST_RATES`].
    pub(crate) fn record(&mut self, now: SimTime, flows: &mut Mover<'_>) -> Result<(), SimError> {
        self.is_behind = now < self.due;
        if self.is_behind {
            return Ok(());
        }
        self.due = now.after(self.listener.as_ref().map_or(SimDuration::ZERO, |listener| listener.every));
        self.end_last(now);
        if flows.len() > 0 {
            let steps = match flows.plain() {
                Some(flows) if self.explain => flows.explain(now)?,
                _ => Vec::new(),
            };
            let rates = flows.rates(now);
            self.begin(PhaseRecord { start: now, end: SimTime::NEVER, rates, steps })?;
        }
        Ok(())
    }

    /// Nothing changes before `next`: rates that last are read late rather than never.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub(crate) fn catch_up(&mut self, next: SimTime, flows: &mut Mover<'_>) -> Result<(), SimError> {
        if self.is_behind && self.due < next { self.record(self.due, flows) } else { Ok(()) }
    }

    fn begin(&mut self, phase: PhaseRecord) -> Result<(), SimError> {
        self.rates += phase.rates.len();
        if self.rates > self.most {
            return Err(SimError::TooManyRates { time: phase.start });
        }
        self.phases.push(phase);
        Ok(())
    }

    /// All phases; `None` where a listener has taken them.
    pub(crate) fn finish(mut self, now: SimTime) -> Option<Vec<PhaseRecord>> {
        self.end_last(now);
        self.listener.is_none().then_some(self.phases)
    }

    fn end_last(&mut self, now: SimTime) {
        if let Some(last) = self.phases.last_mut()
            && last.end.is_never()
        {
            last.end = now;
            if last.start == now {
                self.rates -= last.rates.len();
                self.phases.pop();
            } else if let Some(listener) = &mut self.listener {
                self.rates -= last.rates.len();
                self.phases.pop().into_iter().for_each(&mut *listener.take);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::TaskId;

    fn phase(start: u64) -> PhaseRecord {
        let rates = vec![(TaskId(0), 1.0), (TaskId(1), 1.0)];
        PhaseRecord { start: SimTime(start), end: SimTime::NEVER, rates, steps: Vec::new() }
    }

    /// Begins phases of two rates each at these instants, each when the one before ends.
    fn run(mut recorder: PhaseRecorder<'_>, starts: &[u64]) -> Result<usize, SimError> {
        for &start in starts {
            recorder.end_last(SimTime(start));
            recorder.begin(phase(start))?;
        }
        Ok(recorder.finish(SimTime(100)).map_or(0, |phases| phases.len()))
    }

    #[test]
    fn rates_that_are_kept_are_counted() {
        let recorder = || PhaseRecorder { most: 5, ..PhaseRecorder::new(false, None) };
        assert_eq!(run(recorder(), &[0, 1]), Ok(2));
        assert_eq!(run(recorder(), &[0, 1, 2]), Err(SimError::TooManyRates { time: SimTime(2) }));
        // Phases of no length are not kept, and a listener takes them all.
        assert_eq!(run(recorder(), &[0, 0, 0, 1]), Ok(2));
        let mut taken = 0;
        let mut take = |_: PhaseRecord| taken += 1;
        let listener = PhaseListener { every: SimDuration::ZERO, take: &mut take };
        let recorder = PhaseRecorder { most: 5, ..PhaseRecorder::new(false, Some(listener)) };
        assert_eq!((run(recorder, &[0, 1, 2, 3]), taken), (Ok(0), 4));
    }
}
