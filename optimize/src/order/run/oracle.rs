//! The rates of one active set, asked of the arbiter and checked as the simulation does.

use weir_sim_core::api::{ClassId, PhaseView, RateArbiter, SimTime, TransferId};
use weir_sim_core::{Answer, AnswerError, PurityCheck};

use super::plan::Plan;
use crate::order::problem::{OrderError, OrderProblem};

/// One arbiter with the buffers for asking it.
pub(crate) struct Oracle<'p, 'a> {
    problem: &'p OrderProblem<'a>,
    arbiter: Box<dyn RateArbiter>,
    /// Active (source, message, place), in the phase's order.
    active: Vec<(usize, usize, usize)>,
    ids: Vec<TransferId>,
    classes: Vec<ClassId>,
    arrivals: Vec<u64>,
    answer: Answer,
    purity: PurityCheck,
}

impl<'p, 'a> Oracle<'p, 'a> {
    pub(crate) fn new(problem: &'p OrderProblem<'a>) -> Result<Self, OrderError> {
        Ok(Self {
            problem,
            arbiter: problem.arbiter()?,
            active: Vec::new(),
            ids: Vec::new(),
            classes: Vec::new(),
            arrivals: Vec::new(),
            answer: Answer::new(problem.fabric.links().len()),
            purity: PurityCheck::new(problem.flags),
        })
    }

    /// The rate of each source for the active set of these digits; 0 for idle ones and beyond the last source.
    pub(crate) fn ask(&mut self, plan: &Plan, digits: &[u16], out: &mut [f64]) -> Result<(), OrderError> {
        out.fill(0.0);
        self.active.clear();
        for (source, &digit) in digits.iter().enumerate().filter(|&(_, &digit)| digit > 0) {
            let (message, place) = plan.meaning(source, digit);
            self.active.push((source, message, place));
        }
        if self.active.is_empty() {
            return Ok(());
        }
        if !plan.grouped {
            self.problem.phase_order(&mut self.active);
        }
        self.allocate()?;
        for (&(source, ..), &rate) in self.active.iter().zip(&self.answer.rates) {
            out[source] = rate;
        }
        Ok(())
    }

    fn allocate(&mut self) -> Result<(), OrderError> {
        let problem = self.problem;
        let message = |&(s, m, _): &(usize, usize, usize)| &problem.sources[s].messages[m];
        self.ids.clear();
        self.ids.extend(self.active.iter().map(|&(s, _, place)| TransferId(problem.id(s, place).0)));
        self.classes.clear();
        self.classes.extend(self.active.iter().map(|a| message(a).class));
        self.arrivals.resize(self.active.len(), 0);
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: (&self.ids).into(),
            class: (&self.classes).into(),
            arrival: (&self.arrivals).into(),
            classes: problem.classes.table(),
            routes: problem.routes.table(),
        };
        let recheck = self.answer.ask(&mut *self.arbiter, &phase).map_err(|error| self.wrong(error))?;
        if !recheck.is_never() {
            return Err(OrderError::Recheck);
        }
        let checked = self.answer.check(&phase, problem.fabric.bandwidths());
        let checked = checked.and_then(|()| self.purity.check(&mut *self.arbiter, &phase, &self.answer));
        checked.map_err(|error| self.wrong(error))
    }

    /// In the phase a message has the id of its place; the error names the message itself.
    #[cold]
    fn wrong(&self, mut error: AnswerError) -> OrderError {
        match &mut error {
            AnswerError::Failed { .. } => {}
            AnswerError::NotARate { task, .. }
            | AnswerError::Impure { task, .. }
            | AnswerError::OverLimit { task, .. }
            | AnswerError::OverCapacity { task, .. } => {
                let is_it = |&&(source, _, place): &&(usize, usize, usize)| self.problem.id(source, place) == *task;
                if let Some(&(source, message, _)) = self.active.iter().find(is_it) {
                    *task = self.problem.sources[source].messages[message].task;
                }
            }
        }
        match error {
            AnswerError::Failed { error, .. } => OrderError::Arbiter(error),
            wrong => OrderError::Answer(wrong),
        }
    }
}
