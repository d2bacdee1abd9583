//! The problem: which transfers leave which source, and what an order of them is.

use std::collections::BTreeMap;

use weir_sim_core::api::{ArbiterError, ClassId, Flags, NodeId, RateArbiter};
use weir_sim_core::{Classes, EngineId, Fabric, Routes, TaskGraph, TaskId, Work};

use super::bounds::Capacities;
use super::plan::Plan;
use super::refusal::{OrderError, TaskRefusal};
use super::shapes::Shapes;

/// Most sources of a problem: the state of a run is a few arrays of this length.
pub const MOST_SOURCES: usize = 256;
/// Most messages of one source: numbers of alternatives must fit 16 bits.
pub const MOST_MESSAGES: usize = 255;

/// Builds a fresh arbiter for the problem's fabric; called once per thread.
pub type MakeArbiter<'a> = dyn Fn() -> Result<Box<dyn RateArbiter>, ArbiterError> + Sync + 'a;

/// One transfer of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) task: TaskId,
    pub(crate) class: ClassId,
    pub(crate) bytes: u64,
    /// Latency of its route, ps.
    pub(crate) latency: u64,
    /// What follows its arrival, ps.
    pub(crate) tail: u64,
    /// It begins no sooner, ps: what it needs before may overlap the message before it.
    pub(crate) lead: u64,
    /// Time between the last byte of the message before it and its first, ps.
    pub(crate) gap: u64,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

/// What sends one message after another.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its messages in expansion order.
    pub(crate) messages: Vec<Message>,
}

impl Source {
    /// The task whose place in the workload the k-th message sent takes.
    fn place(&self, k: usize) -> TaskId {
        self.messages[k].task
    }
}

/// Transfers that are all ready at 0 and wait for nobody, by the source that sends them one after another.
///
/// A transfer may have a lead and a gap, and be followed by a fixed time (`loggp` over the fabric): the first of a source
/// begins at its lead, another at max(lead, end of the one before + gap). Until then the source *pauses*.
///
/// Sources are in the order of their first transfer in the workload. An *order* is one permutation of its transfers per
/// source; the k-th transfer sent takes the place (the id) of the source's k-th transfer of the workload. Orders are
/// numbered in mixed radix: the rank of a source's permutation among all in lexicographic order of expansion (0 is the
/// workload's own), the first source most significant. Number 0 is the order of the workload.
pub struct OrderProblem<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) routes: &'a Routes,
    pub(crate) classes: &'a Classes,
    pub(crate) make: Box<MakeArbiter<'a>>,
    pub(crate) flags: Flags,
    pub(crate) sources: Vec<Source>,
    pub(crate) capacities: Capacities,
    /// Whether annealing may compute the rates of `pcie-congestion` itself.
    quick: bool,
    pub(crate) label: String,
    /// Whether the ids of each source are a block of their own, so that a phase lists sources in one fixed order.
    pub(crate) grouped: bool,
}

impl<'a> OrderProblem<'a> {
    /// The problem of ordering the transfers of a workload.
    ///
    /// A task without an engine, or on an engine with a slot for each of its tasks, starts at its lead in every order: it
    /// is a source of its own.
    ///
    /// # Errors
    /// [`OrderError`]: the arbiter's answers depend on more than the active set, or a task is outside of what the search
    /// covers.
    pub fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        tasks: &'a TaskGraph,
        make: impl Fn() -> Result<Box<dyn RateArbiter>, ArbiterError> + Sync + 'a,
        flags: Flags,
    ) -> Result<Self, OrderError> {
        if !flags.contains(Flags::PURE) {
            return Err(OrderError::NotPure);
        }
        if flags.contains(Flags::READS_ARRIVAL) {
            return Err(OrderError::ReadsArrival);
        }
        let sources = sources(fabric, routes, tasks)?;
        let grouped = grouped(&sources);
        let (make, classes) = (Box::new(make), tasks.classes());
        let capacities = Capacities::Checked;
        let (label, quick) = (String::new(), false);
        let problem = Self { fabric, routes, classes, make, flags, sources, capacities, quick, label, grouped };
        problem.admit()?;
        Ok(problem)
    }

    /// Says what the arbiter is known to keep to, for closer lower bounds. [`Capacities::Checked`] without it.
    #[must_use]
    pub fn with_capacities(mut self, capacities: Capacities) -> Self {
        self.capacities = capacities;
        self
    }

    /// Says that the arbiter is the built-in `pcie-congestion` with head-of-line blocking, its tau as in
    /// [`Capacities::RootComplex`]: annealing then computes rates by itself, several times as fast, with up to 64
    /// sources. What it reports is evaluated with the arbiter all the same.
    #[must_use]
    pub fn with_quick_rates(mut self) -> Self {
        self.quick = true;
        self
    }

    /// Tau of an arbiter whose rates annealing may compute itself.
    pub(crate) fn quick_tau(&self) -> Option<f64> {
        match self.capacities {
            Capacities::RootComplex { tau } if self.quick => Some(tau),
            _ => None,
        }
    }

    /// Adds a text to the problem's digest: what the problem itself does not show, such as the arbiter's parameters.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Number of sources.
    #[must_use]
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// The transfers of a source, in expansion order; empty for a source that there is not.
    #[must_use]
    pub fn transfers(&self, source: usize) -> Vec<TaskId> {
        self.sources.get(source).map_or_else(Vec::new, |s| s.messages.iter().map(|m| m.task).collect())
    }

    /// The device that a source sends from.
    #[must_use]
    pub fn device(&self, source: usize) -> Option<NodeId> {
        self.sources.get(source).map(|s| s.messages[0].from)
    }

    /// Number of orders; none when it does not fit 128 bits.
    #[must_use]
    pub fn candidates(&self) -> Option<u128> {
        self.sources.iter().try_fold(1_u128, |all, s| all.checked_mul(factorial(s.messages.len())?))
    }

    /// The order of a number: per source its transfers in the order they are sent. None for a number that there is not.
    #[must_use]
    pub fn order(&self, number: u128) -> Option<Vec<Vec<TaskId>>> {
        let plan = Plan::new(self);
        plan.candidates.is_none_or(|all| number < all).then(|| self.named(&plan.order(number)))
    }

    /// The number of an order; none when it is no order of this problem, or there are more than 2^128.
    #[must_use]
    pub fn number(&self, order: &[Vec<TaskId>]) -> Option<u128> {
        let plan = Plan::new(self);
        plan.candidates?;
        Some(plan.number(&self.positions(order)?))
    }

    /// Names the messages of an order that is given as positions.
    pub(crate) fn named(&self, order: &[Vec<usize>]) -> Vec<Vec<TaskId>> {
        let task =
            |(s, sequence): (usize, &Vec<usize>)| sequence.iter().map(|&m| self.sources[s].messages[m].task).collect();
        order.iter().enumerate().map(task).collect()
    }

    /// The positions of an order's messages among their sources'; none when it is no order of this problem.
    pub(crate) fn positions(&self, order: &[Vec<TaskId>]) -> Option<Vec<Vec<usize>>> {
        let position = |source: &Source, task: TaskId| source.messages.iter().position(|m| m.task == task);
        let each = |(source, sequence): (&Source, &Vec<TaskId>)| -> Option<Vec<usize>> {
            let found: Vec<usize> = sequence.iter().map(|&t| position(source, t)).collect::<Option<_>>()?;
            let distinct: std::collections::BTreeSet<usize> = found.iter().copied().collect();
            (distinct.len() == source.messages.len() && found.len() == distinct.len()).then_some(found)
        };
        if order.len() != self.sources.len() {
            return None;
        }
        self.sources.iter().zip(order).map(each).collect()
    }

    /// Positions of the active messages (source, place) in the order a phase lists them: by the id whose place each has.
    pub(crate) fn phase_order(&self, places: &mut [(usize, usize, usize)]) {
        places.sort_unstable_by_key(|&(source, _, place)| self.sources[source].place(place));
    }

    /// The id that a message takes at a place of its source's order.
    pub(crate) fn id(&self, source: usize, place: usize) -> TaskId {
        self.sources[source].place(place)
    }

    fn admit(&self) -> Result<(), OrderError> {
        let mut arbiter = (self.make)().map_err(OrderError::Arbiter)?;
        for source in &self.sources {
            for m in &source.messages {
                let admitted = arbiter.admit(self.routes.links(self.classes.route(m.class)));
                admitted.map_err(|error| OrderError::Route { task: m.task, error })?;
            }
        }
        Ok(())
    }
}

/// n!, none above 128 bits.
pub(crate) fn factorial(n: usize) -> Option<u128> {
    (1..=n as u128).try_fold(1_u128, u128::checked_mul)
}

fn sources(fabric: &Fabric, routes: &Routes, tasks: &TaskGraph) -> Result<Vec<Source>, OrderError> {
    let shapes = Shapes::of(tasks)?;
    let mut on_engine: BTreeMap<EngineId, usize> = BTreeMap::new();
    shapes.messages(tasks).for_each(|(_, task)| *on_engine.entry(task.engine).or_default() += 1);
    let mut sources: Vec<Source> = Vec::new();
    let mut known: BTreeMap<EngineId, usize> = BTreeMap::new();
    for (id, task) in shapes.messages(tasks) {
        let message = Message { tail: shapes.tail(id), ..message(fabric, routes, tasks, id) };
        let own = task.engine == EngineId::NONE || {
            let slots = tasks.engines()[task.engine.0 as usize].slots;
            let count = on_engine[&task.engine];
            if slots > 1 && (slots as usize) < count {
                return Err(OrderError::Task { task: id, why: TaskRefusal::Slots { slots, count } });
            }
            slots > 1
        };
        match known.get(&task.engine).filter(|_| !own) {
            Some(&source) => {
                // Only the same class follows without its whole lead.
                let first = sources[source].place(0);
                if tasks.service(first).class != tasks.service(id).class {
                    return Err(OrderError::Task { task: id, why: TaskRefusal::Service });
                }
                sources[source].messages.push(message);
            }
            None => {
                known.insert(task.engine, sources.len());
                sources.push(Source { messages: vec![message] });
            }
        }
    }
    bounded(&sources)?;
    Ok(sources)
}

fn bounded(sources: &[Source]) -> Result<(), OrderError> {
    if sources.is_empty() {
        return Err(OrderError::Nothing);
    }
    if sources.len() > MOST_SOURCES {
        return Err(OrderError::Sources { count: sources.len() });
    }
    match sources.iter().find(|s| s.messages.len() > MOST_MESSAGES) {
        Some(s) => Err(OrderError::Messages { task: s.place(0), count: s.messages.len() }),
        None => Ok(()),
    }
}

fn message(fabric: &Fabric, routes: &Routes, tasks: &TaskGraph, id: TaskId) -> Message {
    let Work::Carries { bytes, class } = tasks.tasks()[id.index()].work else { unreachable!("checked before") };
    let (route, service) = (tasks.classes().route(class), tasks.service(id));
    let links = routes.links(route);
    let (from, to) = (fabric.link(links[0]).from, fabric.link(links[links.len() - 1]).to);
    let (latency, lead, gap) = (routes.latency(route).0, service.lead.0, service.gap.0);
    Message { task: id, class, bytes, latency, tail: 0, lead, gap, from, to }
}

/// Whether no id of one source lies between two of another.
fn grouped(sources: &[Source]) -> bool {
    let last = |s: &Source| s.place(s.messages.len() - 1);
    sources.windows(2).all(|pair| last(&pair[0]) < pair[1].place(0))
}
