//! Asking the arbiter: phase view, remembered answers, and what its answer must not be.

use weir_plugin_api::{Binding, Flags, Grant, PhaseView, RateArbiter, SimTime, Step, TransferId};

use super::columns::PhaseColumns;
use crate::check::AnswerError;
use crate::classes::Classes;
use crate::memo::Memo;
use crate::routes::Routes;
use crate::tasks::TaskId;

/// An arbiter with its last answer.
pub(crate) struct ArbiterCall<'a> {
    arbiter: &'a mut dyn RateArbiter,
    flags: Flags,
    memo: Memo,
    /// Rates of the last answer, in the order of the columns.
    pub(crate) rates: Vec<f64>,
    /// Bindings of the last answer; `by` is a position in the order of the columns.
    pub(crate) bindings: Vec<Binding>,
    recheck: SimTime,
    asked: u64,
}

impl<'a> ArbiterCall<'a> {
    pub(crate) fn new(arbiter: &'a mut dyn RateArbiter, flags: Flags) -> Self {
        Self {
            arbiter,
            flags,
            memo: Memo::new(flags),
            rates: Vec::new(),
            bindings: Vec::new(),
            recheck: SimTime::NEVER,
            asked: 0,
        }
    }

    pub(crate) fn recheck(&self) -> SimTime {
        self.recheck
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked
    }

    /// Whether all active transfers must be shown at `now`: the arbiter needs them, or asked to be called again.
    pub(crate) fn wants_whole_set(&self, now: SimTime) -> bool {
        self.flags.contains(Flags::WHOLE_SET) || self.recheck <= now
    }

    /// Fills `rates` and `bindings` for the transfers shown.
    pub(crate) fn ask(
        &mut self,
        now: SimTime,
        columns: &PhaseColumns,
        classes: &Classes,
        routes: &Routes,
    ) -> Result<(), AnswerError> {
        let count = columns.ids.len();
        if self.recheck <= now {
            self.recheck = SimTime::NEVER;
        }
        if count == 0 {
            self.rates.clear();
            self.bindings.clear();
            return Ok(());
        }
        if self.memo.recall(&columns.classes, &columns.arrivals, &mut self.rates, &mut self.bindings) {
            return Ok(());
        }
        self.rates.clear();
        self.rates.resize(count, f64::NAN);
        self.bindings.clear();
        self.bindings.resize(count, Binding::NONE);
        self.asked += 1;
        let mut grant = Grant { rates: &mut self.rates, bindings: &mut self.bindings, recheck: SimTime::NEVER };
        let answer = self.arbiter.allocate(&view(now, columns, classes, routes), &mut grant);
        let recheck = grant.recheck;
        answer.map_err(|error| AnswerError::Failed { time: now, error })?;
        if recheck.is_never() {
            self.memo.remember(&self.rates, &self.bindings);
        } else {
            // Never in the past: that would not let the clock go on.
            self.recheck = self.recheck.min(recheck.max(now));
        }
        Ok(())
    }

    /// Appends the arbiter's steps; false where it has none.
    pub(crate) fn explain(
        &mut self,
        now: SimTime,
        columns: &PhaseColumns,
        classes: &Classes,
        routes: &Routes,
        steps: &mut Vec<Step>,
    ) -> Result<bool, AnswerError> {
        let answer = self.arbiter.explain(&view(now, columns, classes, routes), steps);
        answer.map_err(|error| AnswerError::Failed { time: now, error })
    }
}

fn view<'v>(now: SimTime, columns: &'v PhaseColumns, classes: &'v Classes, routes: &'v Routes) -> PhaseView<'v> {
    PhaseView {
        now,
        id: (&columns.ids).into(),
        class: (&columns.classes).into(),
        arrival: (&columns.arrivals).into(),
        classes: classes.table(),
        routes: routes.table(),
    }
}

/// The refusal of a rate that is not one, or is above the transfer's limit.
pub(crate) fn bad_rate(time: SimTime, id: TransferId, rate: f64, limit: f64) -> AnswerError {
    let task = TaskId(id.0);
    if rate.is_finite() && rate >= 0.0 {
        AnswerError::OverLimit { time, task, rate, limit }
    } else {
        AnswerError::NotARate { time, task, rate }
    }
}
