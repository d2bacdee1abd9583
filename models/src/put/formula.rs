//! The closed form of a put.
//!
//! **Definition.** N = ⌈D / P⌉ packets (11); step times T(P), or T(D) where P is at least D (12)-(14). With S_g the
//! sum of the step times of group g:
//! ```text
//! T_comm = Σ S_g + (N − 1) · max over g of S_g
//! ```
//! which for the groups [[read, network], [write]] is (15). For any ordered partition of the steps it is the length of the longest chain of
//! waits from the first packet's first step to the last packet's last step: the chain passes every step once and goes N − 1 times to the next
//! packet within a group. A LogGP level's gap g between messages is not in (15): packets may follow each other more slowly.
//! **Source.** Aggarwal, Yoon, George, Lam, Stitt, *Performance Modeling for Multilevel Communication in SHMEM+*, PGAS
//! 2010, section 5.1, equations (11) to (15).

use super::resolve::Put;
use crate::effect::{Departures, Effect};

impl Put {
    /// Equation (15), generalised, ps.
    pub(super) fn eq15(&self) -> f64 {
        let sum: f64 = self.steps.iter().map(|step| step.time).sum();
        sum + (self.packets() - 1) as f64 * self.period()
    }

    /// Time from one packet to the next, ps.
    fn period(&self) -> f64 {
        let groups = self.steps.iter().enumerate().filter(|(_, step)| step.opens);
        let sums = groups.map(|(at, step)| self.steps[at..at + step.group].iter().map(|s| s.time).sum::<f64>());
        sums.fold(0.0, f64::max)
    }

    /// Where the plan leaves the formula.
    pub(super) fn departures(&self) -> Departures {
        let mut departures = Departures::default();
        if self.steps.iter().any(|step| step.level.is_fabric()) {
            departures.add(
                Effect::More,
                "a level goes over the fabric: the formula assumes that its links are the operation's own",
            );
        }
        if self.packets() > 1 && self.steps.iter().any(|step| step.level.gap() > 0.0) {
            departures.add(Effect::More, "loggp: the formula has no gap between packets");
        }
        if self.last() < self.full() {
            let shorter = self.steps.iter().all(|step| step.last_time <= step.time);
            let (effect, because) = match shorter {
                true => (Effect::Less, "the last packet is shorter than the others, which the formula takes as equal"),
                false => (Effect::Any, "the last packet is smaller, but takes longer in some step, than the others"),
            };
            departures.add(effect, because);
        }
        departures
    }
}
