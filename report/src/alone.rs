//! How long a transfer would take alone under the same arbiter: the yardstick of a slowdown.

use std::cell::RefCell;

use weir_plugin_api::{Binding, ClassId, Grant, PhaseView, RateArbiter, RouteTable, SimDuration, SimTime, TransferId};
use weir_sim_core::{Classes, Routes, TaskGraph, time_to_send};

/// Times of lone transfers. The rate of a lone transfer depends on its class only, so each class is asked once.
pub struct Alone<'a> {
    classes: &'a Classes,
    routes: &'a Routes,
    state: RefCell<State>,
}

struct State {
    /// A fresh instance that no run has shown anything to; `None` once it has failed.
    arbiter: Option<Box<dyn RateArbiter>>,
    /// Per class: `None` not asked yet, NaN where there is no answer.
    rates: Vec<Option<f64>>,
}

impl<'a> Alone<'a> {
    /// Asks `arbiter`, a fresh instance of the run's arbiter.
    #[must_use]
    pub fn new(tasks: &'a TaskGraph, routes: &'a Routes, arbiter: Box<dyn RateArbiter>) -> Self {
        let classes = tasks.classes();
        let state = State { arbiter: Some(arbiter), rates: vec![None; classes.len()] };
        Self { classes, routes, state: RefCell::new(state) }
    }

    /// Asks nobody: no time is known. For a run that was interrupted, whose user does not want to wait.
    #[must_use]
    pub fn unknown(tasks: &'a TaskGraph, routes: &'a Routes) -> Self {
        let classes = tasks.classes();
        let state = State { arbiter: None, rates: vec![Some(f64::NAN); classes.len()] };
        Self { classes, routes, state: RefCell::new(state) }
    }

    /// From start to end of a lone transfer of this size and class. `None` where the arbiter gives it no steady rate:
    /// it fails, answers 0, or asks to be called again while nothing changes.
    #[must_use]
    pub fn time(&self, bytes: u64, class: ClassId) -> Option<SimDuration> {
        let mut state = self.state.borrow_mut();
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
        if arbiter.allocate(&phase, &mut grant).is_err() {
            state.arbiter = None;
            return None;
        }
        grant.recheck.is_never().then_some(rates[0])
    }
}
