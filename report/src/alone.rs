//! How long a transfer would take alone under the same arbiter: the yardstick of a slowdown.

use std::cell::RefCell;

use weir_plugin_api::{
    ArbiterError, Binding, ClassId, Grant, LinkId, PhaseView, RateArbiter, RouteTable, SimDuration, SimTime, TransferId,
};
use weir_sim_core::{Classes, Fabric, Routes, TaskGraph, time_to_send};

/// Relative excess over a bandwidth that rounding may cause: that of the check of every answer of a run.
const TOLERANCE: f64 = 2e-9;

/// Why a time is not known although the arbiter was asked.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AloneError {
    /// It refused, failed or panicked.
    #[error("it failed: {0}")]
    Failed(#[from] ArbiterError),
    /// A rate is not a number ≥ 0 (NaN also means: never written).
    #[error("it gave the rate {0} B/s: rates must be finite and at least 0")]
    NotARate(f64),
    /// A rate above the transfer's own limit, or the narrowest bandwidth of its route.
    #[error("it gave {rate} B/s, above the {most} B/s that the transfer's limit and its route's links allow")]
    TooMuch {
        /// The rate.
        rate: f64,
        /// The smaller of limit and bandwidths.
        most: f64,
    },
}

/// Times of lone transfers. The rate of a lone transfer depends on its class only, so each class is asked once.
pub struct Alone<'a> {
    fabric: &'a Fabric,
    classes: &'a Classes,
    routes: &'a Routes,
    /// `None`: nobody is asked, and no time is known.
    state: Option<RefCell<State>>,
}

struct State {
    /// A fresh instance that no run has shown anything to; `None` once it has failed.
    arbiter: Option<Box<dyn RateArbiter>>,
    /// Per class: `None` not asked yet, NaN where there is no answer.
    rates: Vec<Option<f64>>,
    /// The first failure or wrong answer.
    trouble: Option<AloneError>,
}

impl<'a> Alone<'a> {
    /// Asks `arbiter`, a fresh instance of the run's arbiter.
    #[must_use]
    pub fn new(fabric: &'a Fabric, tasks: &'a TaskGraph, routes: &'a Routes, arbiter: Box<dyn RateArbiter>) -> Self {
        let classes = tasks.classes();
        let state = State { arbiter: Some(arbiter), rates: vec![None; classes.len()], trouble: None };
        Self { fabric, classes, routes, state: Some(RefCell::new(state)) }
    }

    /// Asks nobody: no time is known. For a run that was interrupted, whose user does not want to wait.
    #[must_use]
    pub fn unknown(fabric: &'a Fabric, tasks: &'a TaskGraph, routes: &'a Routes) -> Self {
        Self { fabric, classes: tasks.classes(), routes, state: None }
    }

    /// From start to end of a lone transfer of this size and class. `None` where the arbiter gives it no steady rate:
    /// it fails, gives a wrong answer or 0, or asks to be called again while nothing changes.
    #[must_use]
    pub fn time(&self, bytes: u64, class: ClassId) -> Option<SimDuration> {
        let mut state = self.state.as_ref()?.borrow_mut();
        let rate = match state.rates[class.index()] {
            Some(rate) => rate,
            None => {
                let rate = self.ask(&mut state, class).unwrap_or(f64::NAN);
                state.rates[class.index()] = Some(rate);
                rate
            }
        };
        let latency = self.routes.latency(self.classes.route(class));
        (rate.is_finite() && rate > 0.0).then(|| time_to_send(bytes as f64, rate).plus(latency))
    }

    /// The first failure or wrong answer so far, for a warning: the times it concerns are `None`.
    #[must_use]
    pub fn trouble(&self) -> Option<AloneError> {
        self.state.as_ref()?.borrow().trouble.clone()
    }

    fn ask(&self, state: &mut State, class: ClassId) -> Option<f64> {
        let arbiter = state.arbiter.as_mut()?;
        let routes: RouteTable<'_> = self.routes.table();
        let (ids, classes, arrivals) = ([TransferId(0)], [class], [0_u64]);
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: ids.as_slice().into(),
            class: classes.as_slice().into(),
            arrival: arrivals.as_slice().into(),
            classes: self.classes.table(),
            routes,
        };
        let (mut rates, mut bindings) = ([f64::NAN], [Binding::NONE]);
        let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
        let answered = arbiter.allocate(&phase, &mut grant).map_err(AloneError::from);
        let steady = grant.recheck.is_never();
        match answered.and_then(|()| self.checked(class, rates[0])) {
            Ok(rate) => steady.then_some(rate),
            Err(error) => {
                // One that has failed is asked no more, and one that is wrong once is not to be believed.
                state.arbiter = None;
                state.trouble = Some(error);
                None
            }
        }
    }

    /// The checks that every answer of a run passes, for one transfer.
    fn checked(&self, class: ClassId, rate: f64) -> Result<f64, AloneError> {
        if !(rate.is_finite() && rate >= 0.0) {
            return Err(AloneError::NotARate(rate));
        }
        let bandwidth = |link: &LinkId| self.fabric.link(*link).bandwidth;
        let links = self.routes.links(self.classes.route(class)).iter();
        let narrowest = links.map(bandwidth).fold(f64::INFINITY, f64::min);
        let limit = self.classes.limit(class);
        if rate > limit.min(narrowest * (1.0 + TOLERANCE)) {
            return Err(AloneError::TooMuch { rate, most: limit.min(narrowest) });
        }
        Ok(rate)
    }
}
