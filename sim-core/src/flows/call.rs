//! Calls of the arbiter: remembered answers, the check, the recheck.

use std::collections::BTreeMap;
use std::fmt;

use weir_plugin_api::{Flags, PhaseView, RateArbiter, Remark, SimTime, Step};

use crate::answer::{Answer, AnswerError};
use crate::fabric::Fabric;
use crate::memo::Memo;
use crate::outcome::RemarkCount;
use crate::purity::PurityCheck;
use crate::routes::Routes;

/// The arbiter of a run, or one that was made in its place.
enum Instance<'a> {
    Lent(&'a mut dyn RateArbiter),
    Own(Box<dyn RateArbiter>),
}

impl Instance<'_> {
    fn get(&mut self) -> &mut dyn RateArbiter {
        match self {
            Self::Lent(arbiter) => &mut **arbiter,
            Self::Own(arbiter) => &mut **arbiter,
        }
    }
}

/// An arbiter with its last answer.
pub(crate) struct ArbiterCall<'a> {
    arbiter: Instance<'a>,
    flags: Flags,
    memo: Memo,
    pub(crate) answer: Answer,
    recheck: SimTime,
    asked: u64,
    purity: PurityCheck,
    /// Phases with transfers, and those with each remark.
    phases: u64,
    remarks: BTreeMap<Remark, u64>,
}

impl<'a> ArbiterCall<'a> {
    pub(crate) fn new(arbiter: &'a mut dyn RateArbiter, flags: Flags, fabric: &Fabric, routes: &Routes) -> Self {
        let (memo, answer) = (Memo::new(flags), Answer::of_routes(fabric, routes));
        let recheck = SimTime::NEVER;
        let arbiter = Instance::Lent(arbiter);
        let purity = PurityCheck::new(flags);
        Self { arbiter, flags, memo, answer, recheck, asked: 0, purity, phases: 0, remarks: BTreeMap::new() }
    }

    /// Asks another arbiter from now on.
    pub(crate) fn replace(&mut self, arbiter: Box<dyn RateArbiter>) {
        self.arbiter = Instance::Own(arbiter);
        self.memo = Memo::new(self.flags);
        self.recheck = SimTime::NEVER;
    }

    /// Routes are new.
    pub(crate) fn know_routes(&mut self, fabric: &Fabric, routes: &Routes) {
        self.answer.know_routes(fabric, routes);
    }

    pub(crate) fn recheck(&self) -> SimTime {
        self.recheck
    }

    pub(crate) fn asked(&self) -> u64 {
        self.asked
    }

    /// The remarks on all answers.
    pub(crate) fn remarks(&self) -> Vec<RemarkCount> {
        let count =
            |(remark, &phases): (&Remark, &u64)| RemarkCount { remark: remark.clone(), phases, of: self.phases };
        self.remarks.iter().map(count).collect()
    }

    /// Whether the phase at `now` must have all active transfers: the arbiter needs them, or asked to be called again.
    pub(crate) fn wants_whole_set(&self, now: SimTime) -> bool {
        self.flags.contains(Flags::WHOLE_SET) || self.recheck <= now
    }

    /// Gets the answer for a phase, and checks it.
    pub(crate) fn ask(&mut self, phase: &PhaseView<'_>, fabric: &Fabric) -> Result<(), AnswerError> {
        if self.recheck <= phase.now {
            self.recheck = SimTime::NEVER;
        }
        if phase.is_empty() {
            self.answer.clear();
        } else if self.memo.recall(phase, &mut self.answer) {
            tracing::trace!(time_ps = phase.now.0, transfers = %IdList(phase), "the answer is known");
            self.purity.check(self.arbiter.get(), phase, &self.answer)?;
        } else {
            self.asked += 1;
            let recheck = self.ask_arbiter(phase)?;
            if recheck.is_never() {
                self.memo.remember(&self.answer);
                self.purity.check(self.arbiter.get(), phase, &self.answer)?;
            } else {
                // Never in the past: that would not let the clock go on.
                self.recheck = self.recheck.min(recheck.max(phase.now));
            }
        }
        self.count(phase);
        self.answer.check(phase, fabric.bandwidths())
    }

    fn count(&mut self, phase: &PhaseView<'_>) {
        self.phases += u64::from(!phase.is_empty());
        for remark in &self.answer.remarks {
            match self.remarks.get_mut(remark) {
                Some(phases) => *phases += 1,
                None => _ = self.remarks.insert(remark.clone(), 1),
            }
        }
    }

    /// Asks the arbiter itself; at trace level a span tells of whom, and how long it took.
    fn ask_arbiter(&mut self, phase: &PhaseView<'_>) -> Result<SimTime, AnswerError> {
        let span = tracing::trace_span!("arbitration", time_ps = phase.now.0, transfers = %IdList(phase));
        span.in_scope(|| self.answer.ask(self.arbiter.get(), phase))
    }

    /// Appends the arbiter's steps; false where it has none.
    pub(crate) fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, AnswerError> {
        self.arbiter.get().explain(phase, steps).map_err(|error| AnswerError::Failed { time: phase.now, error })
    }
}

/// The ids of the transfers of a phase in a log: `0 4 17`.
struct IdList<'a>(&'a PhaseView<'a>);

impl fmt::Display for IdList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, id) in self.0.id.as_slice().iter().enumerate() {
            write!(f, "{}{}", if position == 0 { "" } else { " " }, id.0)?;
        }
        Ok(())
    }
}
