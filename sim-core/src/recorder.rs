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
    /// Takes each phase when it is over; without one they are kept.
    listener: Option<&'l mut dyn FnMut(PhaseRecord)>,
}

impl<'l> PhaseRecorder<'l> {
    pub(crate) fn new(explain: bool, listener: Option<&'l mut dyn FnMut(PhaseRecord)>) -> Self {
        Self { explain, phases: Vec::new(), rates: 0, listener }
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
            self.rates += rates.len();
            if self.rates > MOST_RATES {
                return Err(SimError::TooManyRates { time: now });
            }
            self.phases.push(PhaseRecord { start: now, end: SimTime::NEVER, rates, steps });
        }
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
