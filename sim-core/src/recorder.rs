//! Phases: maximal intervals in which no rate changes.

use weir_plugin_api::SimTime;

use crate::flows::Flows;
use crate::outcome::{PhaseRecord, SimError};

/// Rates of phases that are kept at once, at most: 16 bytes each, 2.4 GB; *assumed*.
pub const MOST_RATES: usize = 150_000_000;

/// Records a phase at every change of rates; only on request, since each lists all active transfers.
pub(crate) struct PhaseRecorder<'l> {
    explain: bool,
    phases: Vec<PhaseRecord>,
    /// Of all phases that are kept.
    rates: usize,
    most: usize,
    /// Takes each phase when it is over; without one they are kept.
    listener: Option<&'l mut dyn FnMut(PhaseRecord)>,
}

impl<'l> PhaseRecorder<'l> {
    pub(crate) fn new(explain: bool, listener: Option<&'l mut dyn FnMut(PhaseRecord)>) -> Self {
        Self { explain, phases: Vec::new(), rates: 0, most: MOST_RATES, listener }
    }

    /// A new phase begins; a phase of no length before it is dropped.
    ///
    /// # Errors
    /// There are more than [`MOST_RATES`].
    pub(crate) fn record(&mut self, now: SimTime, flows: &mut Flows<'_>) -> Result<(), SimError> {
        self.end_last(now);
        if flows.len() > 0 {
            let steps = if self.explain { flows.explain(now)? } else { Vec::new() };
            let rates = flows.rates();
            self.begin(PhaseRecord { start: now, end: SimTime::NEVER, rates, steps })?;
        }
        Ok(())
    }

    fn begin(&mut self, phase: PhaseRecord) -> Result<(), SimError> {
        self.rates += phase.rates.len();
        if self.rates > self.most {
            return Err(SimError::TooManyRates { time: phase.start });
        }
        self.phases.push(phase);
        Ok(())
    }

    pub(crate) fn finish(mut self, now: SimTime) -> Vec<PhaseRecord> {
        self.end_last(now);
        self.phases
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
                self.phases.pop().into_iter().for_each(listener);
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
        Ok(recorder.finish(SimTime(100)).len())
    }

    #[test]
    fn rates_that_are_kept_are_counted() {
        let recorder = || PhaseRecorder { most: 5, ..PhaseRecorder::new(false, None) };
        assert_eq!(run(recorder(), &[0, 1]), Ok(2));
        assert_eq!(run(recorder(), &[0, 1, 2]), Err(SimError::TooManyRates { time: SimTime(2) }));
        // Phases of no length are not kept, and a listener takes them all.
        assert_eq!(run(recorder(), &[0, 0, 0, 1]), Ok(2));
        let mut taken = 0;
        let mut listener = |_: PhaseRecord| taken += 1;
        let recorder = PhaseRecorder { most: 5, ..PhaseRecorder::new(false, Some(&mut listener)) };
        assert_eq!((run(recorder, &[0, 1, 2, 3]), taken), (Ok(0), 4));
    }
}
