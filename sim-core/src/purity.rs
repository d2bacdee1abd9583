//! Whether an arbiter that claims to be pure ([`Flags::PURE`]) is.

use weir_plugin_api::{Flags, PhaseView, RateArbiter, SimTime, TransferId};

use crate::answer::{Answer, AnswerError};
use crate::tasks::TaskId;

/// One of so many answers is asked for again (*assumed*: no more than 0.1 % of a run).
const SAMPLE: u64 = 1024;
/// How much later it is when an answer is asked for again, ps; *assumed*, runs are mostly shorter.
const LATER: u64 = 1_000_000_000_000;

/// Asks an arbiter that claims to be pure once more for some of its answers: the first, the second, the fourth and so on, and
/// every 1,024th. The same transfers are shown at a later time, under other ids and with other arrivals of the same order, since
/// answers are remembered for all of these. Of one that claims nothing nothing is asked.
#[derive(Debug, Default)]
pub struct PurityCheck {
    is_on: bool,
    reads_arrival: bool,
    answers: u64,
    again: Answer,
    ids: Vec<TransferId>,
    arrivals: Vec<u64>,
}

impl PurityCheck {
    /// For an arbiter with these flags.
    #[must_use]
    pub fn new(flags: Flags) -> Self {
        let (is_on, reads_arrival) = (flags.contains(Flags::PURE), flags.contains(Flags::READS_ARRIVAL));
        Self { is_on, reads_arrival, ..Self::default() }
    }

    /// Counts an answer, a remembered one or not, and asks again where it is one of the sample.
    ///
    /// # Errors
    /// [`AnswerError::Impure`] with the first transfer that is given another rate; [`AnswerError::Failed`].
    pub fn check(
        &mut self,
        arbiter: &mut dyn RateArbiter,
        phase: &PhaseView<'_>,
        answer: &Answer,
    ) -> Result<(), AnswerError> {
        if !self.is_on {
            return Ok(());
        }
        self.answers += 1;
        if !self.answers.is_power_of_two() && !self.answers.is_multiple_of(SAMPLE) {
            return Ok(());
        }
        self.ids.clear();
        // In order, and hardly any of them as before.
        self.ids.extend((0..phase.len() as u32).map(|position| TransferId(position.wrapping_mul(2) + 1)));
        self.rank(phase.arrival.as_slice());
        let other = PhaseView {
            now: SimTime(phase.now.0.saturating_add(LATER)),
            id: self.ids.as_slice().into(),
            arrival: self.arrivals.as_slice().into(),
            ..*phase
        };
        self.again.ask(arbiter, &other).map_err(|error| at(phase.now, error))?;
        let differs = |&(rate, again): &(&f64, &f64)| rate.to_bits() != again.to_bits();
        match answer.rates.iter().zip(&self.again.rates).enumerate().find(|(_, rates)| differs(rates)) {
            None => Ok(()),
            Some((position, (&rate, &again))) => {
                let task = TaskId(phase.id.as_slice()[position].0);
                Err(AnswerError::Impure { time: phase.now, task, rate, again })
            }
        }
    }

    /// Arrivals in the order of those of a phase; all alike where the arbiter does not read them.
    fn rank(&mut self, arrivals: &[u64]) {
        self.arrivals.clear();
        self.arrivals.resize(arrivals.len(), 0);
        if self.reads_arrival {
            let mut order: Vec<usize> = (0..arrivals.len()).collect();
            order.sort_by_key(|&position| arrivals[position]);
            for (rank, position) in (0..).zip(order) {
                self.arrivals[position] = rank;
            }
        }
    }
}

/// What was asked again at another time went wrong at this one.
fn at(time: SimTime, error: AnswerError) -> AnswerError {
    match error {
        AnswerError::Failed { error, .. } => AnswerError::Failed { time, error },
        error => error,
    }
}
