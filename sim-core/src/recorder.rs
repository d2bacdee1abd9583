//! Phases, maximal intervals in which no rate changes; or what transfers have sent at instants.

use weir_plugin_api::{SimDuration, SimTime};

use crate::mover::Mover;
use crate::outcome::{PhaseRecord, PhaseStep, SimError};
use crate::tasks::TaskId;

/// Memory of the phases that are kept at once, at most, bytes; *assumed*.
pub const MOST_PHASES: usize = 2_400_000_000;

/// Takes an instant, and the bytes that each active transfer has sent until then, by id.
pub type TakeProgress<'l> = dyn FnMut(SimTime, &[(TaskId, u64)]) + 'l;

/// Hears of rates or progress while a run goes on, so that an outcome need not hold them.
pub enum Listener<'l> {
    /// Takes each phase when it is over.
    Phases(&'l mut dyn FnMut(PhaseRecord)),
    /// Takes what has been sent at multiples of a time.
    Progress {
        /// That time, above 0.
        every: SimDuration,
        /// Takes what has been sent.
        take: &'l mut TakeProgress<'l>,
    },
}

/// Records a phase at every change of rates; only on request, since each lists all active transfers.
pub(crate) struct PhaseRecorder<'l> {
    explain: bool,
    phases: Vec<PhaseRecord>,
    /// Bytes of all phases that are kept.
    bytes: usize,
    most: usize,
    /// Without one phases are kept.
    listener: Option<Listener<'l>>,
    /// The next instant of progress.
    due: SimTime,
}

impl<'l> PhaseRecorder<'l> {
    pub(crate) fn new(explain: bool, listener: Option<Listener<'l>>) -> Self {
        let due = match &listener {
            Some(Listener::Progress { every, .. }) => SimTime::ZERO.after(*every),
            _ => SimTime::NEVER,
        };
        Self { explain, phases: Vec::new(), bytes: 0, most: MOST_PHASES, listener, due }
    }

    /// A new phase begins; a phase of no length before it is dropped.
    ///
    /// # Errors
    /// They take more than [`MOST_PHASES`].
    pub(crate) fn record(&mut self, now: SimTime, flows: &mut Mover<'_>) -> Result<(), SimError> {
        if let Some(Listener::Progress { .. }) = self.listener {
            return Ok(());
        }
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

    /// Nothing changes until `next`: tells the progress until then.
    pub(crate) fn tell(&mut self, next: SimTime, flows: &mut Mover<'_>) {
        let Some(Listener::Progress { every, take }) = &mut self.listener else { return };
        while self.due <= next && !self.due.is_never() {
            take(self.due, &flows.sent(self.due));
            self.due = self.due.after(*every);
        }
    }

    fn begin(&mut self, phase: PhaseRecord) -> Result<(), SimError> {
        self.bytes += bytes_of(&phase);
        if self.bytes > self.most {
            return Err(SimError::TooManyPhases { time: phase.start });
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
                self.bytes -= bytes_of(last);
                self.phases.pop();
            } else if let Some(Listener::Phases(take)) = &mut self.listener {
                self.bytes -= bytes_of(last);
                self.phases.pop().into_iter().for_each(take);
            }
        }
    }
}

/// Memory that a phase takes, bytes.
fn bytes_of(phase: &PhaseRecord) -> usize {
    let lists = size_of::<(TaskId, f64)>() * phase.rates.capacity() + size_of::<PhaseStep>() * phase.steps.capacity();
    let named = |step: &PhaseStep| step.step.capacity() + size_of::<TaskId>() * step.because.capacity();
    size_of::<PhaseRecord>() + lists + phase.steps.iter().map(named).sum::<usize>()
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
    fn phases_that_are_kept_are_counted() {
        let most = 2 * bytes_of(&phase(0)) + 1;
        let recorder = || PhaseRecorder { most, ..PhaseRecorder::new(false, None) };
        assert_eq!(run(recorder(), &[0, 1]), Ok(2));
        assert_eq!(run(recorder(), &[0, 1, 2]), Err(SimError::TooManyPhases { time: SimTime(2) }));
        // Phases of no length are not kept, and a listener takes them all.
        assert_eq!(run(recorder(), &[0, 0, 0, 1]), Ok(2));
        let mut taken = 0;
        let mut take = |_: PhaseRecord| taken += 1;
        let listener = Listener::Phases(&mut take);
        let recorder = PhaseRecorder { most, ..PhaseRecorder::new(false, Some(listener)) };
        assert_eq!((run(recorder, &[0, 1, 2, 3]), taken), (Ok(0), 4));
    }
}
