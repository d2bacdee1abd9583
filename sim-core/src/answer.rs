//! One phase: an arbiter is asked, and its answer is refused if it is wrong. It is never repaired.
//!
//! Rates are NaN before the call, so that one which is not written is refused. An answer is right if each rate is finite,
//! at least 0 and at most the transfer's limit, and if the rates on each link sum up to its bandwidth at most, within
//! [`TOLERANCE`].

use weir_plugin_api::{Binding, CallError, ClassId, Grant, LinkId, PhaseView, RateArbiter, Remark, SimTime};

use crate::fabric::Fabric;
use crate::routes::Routes;
use crate::tasks::TaskId;

/// By how much the sum of the rates on a link may exceed its bandwidth, relative to it: room for rounding.
pub const TOLERANCE: f64 = 2e-9;

/// What is wrong with an arbiter's answer.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AnswerError {
    /// It refused, failed or panicked.
    #[error("at {time}: {error}")]
    Failed {
        /// When.
        time: SimTime,
        /// Its own words.
        error: CallError,
    },
    /// A rate is not a number ≥ 0 (NaN also means: never written; −0 and subnormal numbers are none).
    #[error("at {time} the rate of a transfer is {rate:?}: rates must be finite, and 0 or at least 2.3e-308")]
    NotARate {
        /// When.
        time: SimTime,
        /// The transfer.
        task: TaskId,
        /// The rate.
        rate: f64,
    },
    /// Another rate for the same transfers, of an arbiter that claims to be pure ([`weir_plugin_api::Flags::PURE`]).
    #[error(
        "at {time} a transfer was given {rate} B/s, and asked again for the same transfers {again} B/s: the arbiter is not pure"
    )]
    Impure {
        /// When.
        time: SimTime,
        /// The transfer.
        task: TaskId,
        /// The rate.
        rate: f64,
        /// The rate when it was asked again.
        again: f64,
    },
    /// A rate above the transfer's limit.
    #[error("at {time} a transfer was given {rate} B/s, above its limit of {limit} B/s")]
    OverLimit {
        /// When.
        time: SimTime,
        /// The transfer.
        task: TaskId,
        /// The rate.
        rate: f64,
        /// The limit.
        limit: f64,
    },
    /// More than the link's bandwidth × (1 + [`TOLERANCE`]).
    #[error("at {time} a link was given {load} B/s, above its bandwidth of {bandwidth} B/s")]
    OverCapacity {
        /// When.
        time: SimTime,
        /// The link.
        link: LinkId,
        /// A transfer on it.
        task: TaskId,
        /// Sum of rates.
        load: f64,
        /// Its bandwidth.
        bandwidth: f64,
    },
}

impl AnswerError {
    /// When it was given.
    #[must_use]
    pub fn time(&self) -> SimTime {
        match *self {
            Self::Failed { time, .. }
            | Self::NotARate { time, .. }
            | Self::Impure { time, .. }
            | Self::OverLimit { time, .. }
            | Self::OverCapacity { time, .. } => time,
        }
    }
}

/// The last answer of an arbiter, and the sums per link that its check needs.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Per transfer of the phase: bytes per second.
    pub rates: Vec<f64>,
    /// Per transfer of the phase: what decided the rate; `by` is a position in the phase.
    pub bindings: Vec<Binding>,
    /// What the arbiter remarks on the answer.
    pub remarks: Vec<Remark>,
    /// Per link: the sum of the rates of the answer; 0 for links that it does not use.
    sums: Vec<f64>,
    /// The links of `sums` above 0, and perhaps some at 0.
    used: Vec<LinkId>,
    mark: u32,
    classes: Vec<ClassSum>,
    seen: Vec<ClassId>,
    /// Per route: its branches, of which each carries an equal part; empty where every route has one.
    branches: Vec<u32>,
}

/// The rates of the transfers of a class.
#[derive(Clone, Copy, Debug, Default)]
struct ClassSum {
    /// The mark of the answer that the class was last seen in.
    mark: u32,
    rate: f64,
}

impl Answer {
    /// Empty, for this many links.
    #[must_use]
    pub fn new(links: usize) -> Self {
        Self { sums: vec![0.0; links], ..Self::default() }
    }

    /// Empty, for transfers on these routes.
    #[must_use]
    pub fn of_routes(fabric: &Fabric, routes: &Routes) -> Self {
        Self { branches: routes.branch_counts(fabric), ..Self::new(fabric.links().len()) }
    }

    /// Makes room for routes that are new.
    pub(crate) fn know_routes(&mut self, fabric: &Fabric, routes: &Routes) {
        if routes.has_branches() {
            self.branches = routes.branch_counts(fabric);
        }
    }

    /// Asks an arbiter for the rates of a phase. Returns when it wants to be asked again although nothing has changed;
    /// [`SimTime::NEVER`] for not at all.
    ///
    /// # Errors
    /// [`AnswerError::Failed`].
    pub fn ask(&mut self, arbiter: &mut dyn RateArbiter, phase: &PhaseView<'_>) -> Result<SimTime, AnswerError> {
        self.clear();
        self.rates.resize(phase.len(), f64::NAN);
        self.bindings.resize(phase.len(), Binding::NONE);
        let mut grant = Grant { rates: &mut self.rates, bindings: &mut self.bindings, recheck: SimTime::NEVER };
        match arbiter.allocate(phase, &mut grant) {
            Ok(()) => {
                let recheck = grant.recheck;
                self.remarks = arbiter.remarks();
                Ok(recheck)
            }
            Err(error) => Err(AnswerError::Failed { time: phase.now, error }),
        }
    }

    /// The answer for a phase without transfers.
    pub fn clear(&mut self) {
        self.rates.clear();
        self.bindings.clear();
        self.remarks.clear();
    }

    /// Checks the rates of a phase against the bandwidth of each link.
    ///
    /// # Errors
    /// The first rate that is wrong, else the first link with too much.
    pub fn check(&mut self, phase: &PhaseView<'_>, bandwidth: &[f64]) -> Result<(), AnswerError> {
        let limits = phase.classes.limit.as_slice();
        self.begin(limits.len());
        for (position, (&class, &rate)) in phase.class.as_slice().iter().zip(&self.rates).enumerate() {
            let limit = limits[class.index()];
            // As integers, floats without a sign are in their order, and those with one, and NaN, above all of them: at a rate
            // of −0 bytes would take no time.
            if rate.to_bits() > limit.min(f64::MAX).to_bits() || rate.is_subnormal() {
                return Err(wrong_rate(phase, position, rate, limit));
            }
            let sum = &mut self.classes[class.index()];
            if sum.mark == self.mark {
                sum.rate += rate;
            } else {
                *sum = ClassSum { mark: self.mark, rate };
                self.seen.push(class);
            }
        }
        self.sum_links(phase);
        let over = |l: &&LinkId| self.sums[l.index()] > bandwidth[l.index()] * (1.0 + TOLERANCE);
        self.used.iter().find(over).map_or(Ok(()), |&link| Err(self.overload(phase, link, bandwidth[link.index()])))
    }

    /// The sum of the checked rates on a link.
    #[inline]
    #[must_use]
    pub fn load(&self, link: LinkId) -> f64 {
        self.sums[link.index()]
    }

    /// The links that the checked rates use, each once; some may have the load 0, and then stand there more often.
    #[inline]
    #[must_use]
    pub(crate) fn used_links(&self) -> &[LinkId] {
        &self.used
    }

    /// Forgets the sums of the answer before; class ids are below `classes`.
    fn begin(&mut self, classes: usize) {
        for link in self.used.drain(..) {
            self.sums[link.index()] = 0.0;
        }
        self.seen.clear();
        self.classes.resize(classes, ClassSum::default());
        self.mark = self.mark.wrapping_add(1);
        if self.mark == 0 {
            self.classes.iter_mut().for_each(|class| class.mark = 0);
            self.mark = 1;
        }
    }

    fn sum_links(&mut self, phase: &PhaseView<'_>) {
        let route = phase.classes.route.as_slice();
        for &class in &self.seen {
            let mut rate = self.classes[class.index()].rate;
            if let Some(&branches) = self.branches.get(route[class.index()].index()) {
                rate /= f64::from(branches);
            }
            for &link in phase.routes.links(route[class.index()]) {
                let sum = &mut self.sums[link.index()];
                if *sum == 0.0 {
                    self.used.push(link);
                }
                *sum += rate;
            }
        }
    }

    #[cold]
    fn overload(&self, phase: &PhaseView<'_>, link: LinkId, bandwidth: f64) -> AnswerError {
        let first = (0..phase.len()).find(|&position| phase.route(position).contains(&link));
        let task = first.map_or(TaskId(u32::MAX), |position| task(phase, position));
        AnswerError::OverCapacity { time: phase.now, link, task, load: self.load(link), bandwidth }
    }
}

#[cold]
fn wrong_rate(phase: &PhaseView<'_>, position: usize, rate: f64, limit: f64) -> AnswerError {
    let (time, task) = (phase.now, task(phase, position));
    if rate.is_finite() && rate.is_sign_positive() && !rate.is_subnormal() {
        AnswerError::OverLimit { time, task, rate, limit }
    } else {
        AnswerError::NotARate { time, task, rate }
    }
}

fn task(phase: &PhaseView<'_>, position: usize) -> TaskId {
    TaskId(phase.id.as_slice()[position].0)
}
