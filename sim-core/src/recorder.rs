//! Phases: maximal intervals in which no rate changes.

use weir_plugin_api::SimTime;

use crate::flows::Flows;
use crate::outcome::{PhaseRecord, SimError};

/// Records a phase at every change of rates; only on request, since each lists all active transfers.
pub(crate) struct PhaseRecorder<'l> {
    explain: bool,
    phases: Vec<PhaseRecord>,
    /// Takes each phase when it is over; without one they are kept.
    listener: Option<&'l mut dyn FnMut(PhaseRecord)>,
}

impl<'l> PhaseRecorder<'l> {
    pub(crate) fn new(explain: bool, listener: Option<&'l mut dyn FnMut(PhaseRecord)>) -> Self {
        Self { explain, phases: Vec::new(), listener }
    }

    /// A new phase begins; a phase of no length before it is dropped.
    pub(crate) fn record(&mut self, now: SimTime, flows: &mut Flows<'_>) -> Result<(), SimError> {
        self.end_last(now);
        if flows.len() > 0 {
            let steps = if self.explain { flows.explain(now)? } else { Vec::new() };
            let rates = flows.rates();
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
                self.phases.pop();
            } else if let Some(listener) = &mut self.listener {
                self.phases.pop().into_iter().for_each(listener);
            }
        }
    }
}
