//! The rates of one active set, asked of the arbiter and checked as the simulation does.

use weir_sim_core::api::{Binding, ClassId, Grant, LinkId, PhaseView, RateArbiter, SimTime, TransferId};

use super::plan::Plan;
use crate::order::problem::{OrderError, OrderProblem};

/// Room of a link's bandwidth that the simulation's check leaves for rounding.
pub(crate) const TOLERANCE: f64 = 2e-9;
/// One arbiter with the buffers for asking it.
pub(crate) struct Oracle<'p, 'a> {
    problem: &'p OrderProblem<'a>,
    arbiter: Box<dyn RateArbiter>,
    /// Active (source, message, place), in the phase's order.
    active: Vec<(usize, usize, usize)>,
    ids: Vec<TransferId>,
    classes: Vec<ClassId>,
    arrivals: Vec<u64>,
    rates: Vec<f64>,
    bindings: Vec<Binding>,
    /// Per link: sum of rates, 0 between calls.
    load: Vec<f64>,
}

impl<'p, 'a> Oracle<'p, 'a> {
    pub(crate) fn new(problem: &'p OrderProblem<'a>) -> Result<Self, OrderError> {
        let mut arbiter = (problem.make)().map_err(OrderError::Arbiter)?;
        for m in problem.sources.iter().flat_map(|s| &s.messages) {
            let admitted = arbiter.admit(problem.routes.links(problem.classes.route(m.class)));
            admitted.map_err(|error| OrderError::Route { task: m.task, error })?;
        }
        Ok(Self {
            problem,
            arbiter,
            active: Vec::new(),
            ids: Vec::new(),
            classes: Vec::new(),
            arrivals: Vec::new(),
            rates: Vec::new(),
            bindings: Vec::new(),
            load: vec![0.0; problem.fabric.links().len()],
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
        self.check()?;
        for (&(source, ..), &rate) in self.active.iter().zip(&self.rates) {
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
        let count = self.active.len();
        self.arrivals.resize(count, 0);
        self.rates.clear();
        self.rates.resize(count, f64::NAN);
        self.bindings.clear();
        self.bindings.resize(count, Binding::NONE);
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: (&self.ids).into(),
            class: (&self.classes).into(),
            arrival: (&self.arrivals).into(),
            classes: problem.classes.table(),
            routes: problem.routes.table(),
        };
        let mut grant = Grant { rates: &mut self.rates, bindings: &mut self.bindings, recheck: SimTime::NEVER };
        self.arbiter.allocate(&phase, &mut grant).map_err(OrderError::Arbiter)?;
        if grant.recheck.is_never() { Ok(()) } else { Err(OrderError::Recheck) }
    }

    /// The simulation's check of every answer.
    fn check(&mut self) -> Result<(), OrderError> {
        let (problem, load) = (self.problem, &mut self.load);
        let links = |class: ClassId| problem.routes.links(problem.classes.route(class));
        let mut wrong = None;
        for (&(s, m, _), (&class, &rate)) in self.active.iter().zip(self.classes.iter().zip(&self.rates)) {
            if !(rate >= 0.0 && rate <= problem.classes.limit(class).min(f64::MAX)) {
                wrong = wrong.or(Some(OrderError::Rate { task: problem.sources[s].messages[m].task, rate }));
            }
            links(class).iter().for_each(|l| load[l.index()] += rate);
        }
        for &class in &self.classes {
            for &link in links(class) {
                let sum = std::mem::take(&mut load[link.index()]);
                wrong = wrong.or_else(|| over(problem, link, sum));
            }
        }
        wrong.map_or(Ok(()), Err)
    }
}

fn over(problem: &OrderProblem<'_>, link: LinkId, load: f64) -> Option<OrderError> {
    let bandwidth = problem.fabric.link(link).bandwidth;
    (load > bandwidth * (1.0 + TOLERANCE)).then_some(OrderError::OverCapacity { link, load, bandwidth })
}
