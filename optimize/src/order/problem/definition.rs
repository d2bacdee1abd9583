//! The problem: which transfers leave which source, and what an order of them is.

use std::collections::BTreeMap;

use weir_sim_core::api::{CallError, Flags, LinkId, NodeId, RateArbiter, RouteId, RouteTable};
use weir_sim_core::{AdmissionError, Classes, Fabric, Routes, TaskGraph, TaskId, admit};

use super::error::OrderError;
use super::sources::{Source, grouped, sources};

/// Builds a fresh arbiter for the problem's fabric; called once per thread.
pub type MakeArbiter<'a> = dyn Fn() -> Result<Box<dyn RateArbiter>, CallError> + Sync + 'a;

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
    /// The most that a link can carry while a transfer of a route is active, B/s, where the arbiter says so.
    pub(crate) capacities: BTreeMap<(RouteId, LinkId), f64>,
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
        make: impl Fn() -> Result<Box<dyn RateArbiter>, CallError> + Sync + 'a,
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
        let (capacities, label) = (BTreeMap::new(), String::new());
        let mut problem = Self { fabric, routes, classes, make, flags, sources, capacities, label, grouped };
        problem.ask()?;
        Ok(problem)
    }

    /// Adds a text to the problem's digest: what the problem itself does not show, such as the arbiter's parameters.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// How many sources send; their numbers count from 0.
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

    /// Positions of the active messages (source, place) in the order a phase lists them: by the id whose place each has.
    pub(crate) fn phase_order(&self, places: &mut [(usize, usize, usize)]) {
        places.sort_unstable_by_key(|&(source, _, place)| self.sources[source].place(place));
    }

    /// The id that a message takes at a place of its source's order.
    pub(crate) fn id(&self, source: usize, place: usize) -> TaskId {
        self.sources[source].place(place)
    }

    /// Asks the arbiter what it accepts and what it promises.
    fn ask(&mut self) -> Result<(), OrderError> {
        let mut arbiter = self.arbiter()?;
        for m in self.sources.iter().flat_map(|source| &source.messages) {
            let route = self.classes.route(m.class);
            let links = self.routes.links(route);
            let offsets = [0, links.len() as u64];
            let alone = RouteTable { offsets: offsets[..].into(), links: links.into() };
            for &link in links {
                let most = arbiter.capacity(link, &alone).map_err(OrderError::Arbiter)?;
                most.map(|most| self.capacities.insert((route, link), most));
            }
        }
        Ok(())
    }

    /// A new arbiter that admits the routes of all messages.
    pub(crate) fn arbiter(&self) -> Result<Box<dyn RateArbiter>, OrderError> {
        let mut arbiter = (self.make)().map_err(OrderError::Arbiter)?;
        let messages = self.sources.iter().flat_map(|source| &source.messages).map(|m| (m.task, m.class));
        match admit(&mut *arbiter, self.routes, self.classes, messages) {
            Ok(()) => Ok(arbiter),
            Err(AdmissionError { task: Some(task), error }) => Err(OrderError::Route { task, error }),
            Err(AdmissionError { task: None, error }) => Err(OrderError::Arbiter(error)),
        }
    }
}

/// n!, none above 128 bits.
pub(crate) fn factorial(n: usize) -> Option<u128> {
    (1..=n as u128).try_fold(1_u128, u128::checked_mul)
}
