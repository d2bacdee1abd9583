//! The closed form of a put.
//!
//! **Definition.** N = ⌈D / P⌉ packets (11); step times T(P), or T(D) where P is at least D (12)-(14). With S_g the
//! sum of the step times of group g:
//! ```text
//! T_comm = Σ S_g + (N − 1) · max over g of S_g
//! ```
//! which for the groups [[read, network], [write]] is (15). Where a level is LogGP with a gap g between messages, a
//! packet enters its step no sooner than T + g after the one before, so that the maximum is also over T_s + g_s of
//! each step s. This is exact: the longest chain of waits from the first packet's first step to the last packet's
//! last step passes every step once and goes N − 1 times to the next packet, by a group's loop (S_g) or by a step's
//! engine (T_s + g_s).
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
        let sums = groups.map(|(at, step)| self.steps[at..at + step.group].iter().map(|s| s.time).sum());
        let engines = self.steps.iter().map(|step| step.time + step.level.gap());
        sums.chain(engines).fold(0.0, f64::max)
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
        if self.last() < self.full() {
            let shorter = self.steps.iter().all(|step| step.last_time <= step.time);
            let effect = if shorter { Effect::Less } else { Effect::Any };
            departures.add(effect, "the last packet is shorter than the others, which the formula takes as equal");
        }
        departures
    }
}
