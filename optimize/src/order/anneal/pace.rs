//! How far a chain of annealing is, by the number of evaluations or by the clock.

use std::time::{Duration, Instant};

/// What a chain may use up. By evaluations a seed gives the same order on every machine; a time promises no sameness,
/// and is kept.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Limit {
    /// Orders to try.
    Evaluations(u64),
    /// How long, and since when.
    Time(Duration, Instant),
}

/// The progress of one chain.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    limit: Limit,
    pub(crate) done: u64,
}

impl Pace {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, done: 0 }
    }

    /// A number of evaluations, or where it is less a part of all.
    pub(crate) fn at_most(&self, evaluations: u64, part: f64) -> u64 {
        match self.limit {
            Limit::Evaluations(all) => evaluations.min((all as f64 * part) as u64),
            Limit::Time(..) => evaluations,
        }
    }

    /// The part that is used up; 1 or more at the end.
    #[inline]
    pub(crate) fn progress(&self) -> f64 {
        match self.limit {
            Limit::Evaluations(all) => self.done as f64 / all.max(1) as f64,
            Limit::Time(time, begin) => begin.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_and_time_end() {
        let mut pace = Pace::new(Limit::Evaluations(4));
        assert_eq!(pace.progress(), 0.0);
        assert_eq!((pace.at_most(9, 0.5), pace.at_most(1, 0.5)), (2, 1));
        pace.done = 3;
        assert_eq!(pace.progress(), 0.75);
        assert!(Pace::new(Limit::Evaluations(0)).progress() == 0.0);
        assert!(Pace::new(Limit::Time(Duration::ZERO, Instant::now())).progress() >= 0.0);
        let begin = Instant::now() - Duration::from_secs(2);
        assert!(Pace::new(Limit::Time(Duration::from_secs(1), begin)).progress() >= 2.0);
    }
}
