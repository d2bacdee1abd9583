//! What is simulated: each set of transfers once for all experiments that are such a set, and once for each set of
//! bandwidths of its links.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use weir_plugin_api::{Flags, LinkId, NodeId, RateArbiter, RouteId, SimDuration, SimTime};
use weir_scenario::{ArbiterSpec, Machine};
use weir_sim_core::{
    AdmissionError, EngineId, Fabric, Routes, RunOptions, ServiceId, Simulation, Task, TaskGraph, TaskGraphBuilder,
    Work, admit,
};

use super::error::FitError;
use super::parameter::Setting;
use crate::measurement::Experiment;

/// Time that experiments are stretched to, seconds: a picosecond is 10^-15 of it.
pub(super) const STRETCHED: f64 = 1e3;
/// Bytes of a task at most.
const MOST_BYTES: u64 = 1 << 53;
/// Bytes of a lone copy that stands for lone copies of all sizes.
const LONE_BYTES: u64 = 1 << 30;
/// Sets of bandwidths whose times are remembered for each run.
const REMEMBERED: usize = 512;

/// Transfers that start at once.
pub(super) struct Run {
    routes: Routes,
    tasks: TaskGraph,
    /// The route of each transfer.
    route: Vec<RouteId>,
    stretch: f64,
    /// All links of all routes, ascending.
    pub(super) links: Vec<LinkId>,
    /// What `links` share, by the places in [`Fabric::shared`], ascending.
    shared: Vec<u32>,
    /// Ends of the transfers, by the fitted parameters of the arbiter, the bandwidths of `links` and what these share; looked up,
    /// never gone through.
    known: RefCell<HashMap<Vec<u64>, Rc<[f64]>>>,
}

impl Run {
    /// The links of a transfer.
    pub(super) fn way(&self, transfer: usize) -> &[LinkId] {
        self.routes.links(self.route[transfer])
    }

    /// The links of all transfers.
    pub(super) fn ways(&self) -> impl Iterator<Item = &[LinkId]> {
        self.route.iter().map(|&route| self.routes.links(route))
    }

    /// Asks an arbiter about the routes of the transfers.
    pub(super) fn admit(&self, arbiter: &mut dyn RateArbiter) -> Result<(), AdmissionError> {
        admit(arbiter, &self.routes, self.tasks.classes(), self.tasks.transfers())
    }

    /// What to use in the place of an arbiter that refuses a route of the transfers.
    pub(super) fn remedy(&self, fabric: &Fabric, arbiter: &ArbiterSpec, default: &str) -> Option<String> {
        arbiter.remedy(fabric, &self.routes, default)
    }

    /// The ends of the transfers: those found before with the same bandwidths, or what `simulate` finds.
    pub(super) fn remembered(
        &self,
        setting: &Setting,
        simulate: impl FnOnce() -> Result<Vec<f64>, FitError>,
    ) -> Result<Rc<[f64]>, FitError> {
        let arbiter = setting.arbiter.values().copied();
        let bandwidths = self.links.iter().map(|link| setting.bandwidth[link.index()]);
        let shared = self.shared.iter().map(|&at| setting.shared[at as usize]);
        let key: Vec<u64> = arbiter.chain(bandwidths).chain(shared).map(f64::to_bits).collect();
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let found: Rc<[f64]> = simulate()?.into();
        let mut known = self.known.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, Rc::clone(&found));
        Ok(found)
    }

    /// Seconds from the start to the end of each transfer.
    pub(super) fn simulate(
        &self,
        fabric: &Fabric,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
    ) -> Result<Vec<f64>, FitError> {
        let simulation = Simulation { fabric, routes: &self.routes, tasks: &self.tasks };
        let outcome = simulation.run(arbiter, flags, RunOptions::default())?;
        Ok(outcome.tasks.iter().map(|task| task.end.0 as f64 * 1e-12 / self.stretch).collect())
    }
}

/// Source, destination and bytes of a transfer.
type Copied = (NodeId, NodeId, u64);

/// The runs of experiments, each set of transfers once.
pub(super) struct Planned<'a> {
    machine: &'a Machine,
    fabric: &'a Fabric,
    /// Whether rates depend on nothing but which transfers are active.
    pure: bool,
    pub(super) runs: Vec<Run>,
    /// Places of the runs by whether kernels move the bytes, and by ends and bytes of their transfers.
    places: BTreeMap<(bool, Vec<Copied>), usize>,
}

impl<'a> Planned<'a> {
    pub(super) fn new(machine: &'a Machine, fabric: &'a Fabric, pure: bool) -> Self {
        Self { machine, fabric, pure, runs: Vec::new(), places: BTreeMap::new() }
    }

    /// The place of the run of an experiment, and by what its times are to be multiplied.
    pub(super) fn run(&mut self, e: &Experiment) -> Result<(usize, f64), FitError> {
        let bytes = |bytes: u64| bytes.saturating_mul(u64::from(e.messages));
        let mut key: Vec<_> = e.transfers.iter().map(|t| (t.from, t.to, bytes(t.bytes))).collect();
        let mut scale = 1.0;
        if let ([(_, _, bytes)], true) = (&mut key[..], self.pure) {
            scale = *bytes as f64 / LONE_BYTES as f64;
            *bytes = LONE_BYTES;
        }
        let key = (e.kernels, key);
        if let Some(&at) = self.places.get(&key) {
            return Ok((at, scale));
        }
        let run = self.plan(&key.1, e)?;
        self.runs.push(run);
        self.places.insert(key, self.runs.len() - 1);
        Ok((self.runs.len() - 1, scale))
    }

    /// The links of the way between two devices.
    pub(super) fn way(&self, from: NodeId, to: NodeId, e: &Experiment) -> Result<Vec<LinkId>, FitError> {
        let mut routes = Routes::new();
        let way = self.between(&mut routes, from, to, e)?;
        Ok(routes.links(way).to_vec())
    }

    fn between(&self, routes: &mut Routes, from: NodeId, to: NodeId, e: &Experiment) -> Result<RouteId, FitError> {
        let name = |node| self.machine.node_name(node).to_owned();
        let place = || e.rows.first().map_or_else(String::new, |row| row.place.to_string());
        let found = routes.between(self.fabric, from, to);
        found.ok_or_else(|| FitError::NoRoute(name(from), name(to), place()))
    }

    fn plan(&self, transfers: &[Copied], e: &Experiment) -> Result<Run, FitError> {
        let (mut routes, mut builder) = (Routes::new(), TaskGraphBuilder::new());
        let (mut route, mut links) = (Vec::new(), Vec::new());
        let stretch = if self.pure { self.stretch(transfers) } else { 1 };
        for &(from, to, bytes) in transfers {
            if self.machine.overhead(from) > SimDuration::ZERO {
                return Err(FitError::Overhead(self.machine.node_name(from).to_owned()));
            }
            let way = self.between(&mut routes, from, to, e)?;
            links.extend_from_slice(routes.links(way));
            route.push(way);
            let class = builder.classes().intern(way, f64::INFINITY, 1.0, 0);
            let source = (from, self.fabric.node(from).kind);
            let engine = match e.kernels {
                true => Ok(EngineId::NONE),
                false => self.machine.engines().of_transfer(&mut builder, source, to),
            };
            let engine = engine.map_err(|_| FitError::Internal("one device has two numbers of send slots"))?;
            let work = Work::Carries { bytes: bytes.saturating_mul(stretch).min(MOST_BYTES), class };
            builder.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work });
        }
        links.sort_unstable();
        links.dedup();
        let tasks = builder.build().map_err(|_| FitError::Internal("a cycle of transfers"))?;
        let mut shared: Vec<u32> = links.iter().flat_map(|&link| self.fabric.shared_by(link)).copied().collect();
        shared.sort_unstable();
        shared.dedup();
        Ok(Run { routes, tasks, route, stretch: stretch as f64, links, shared, known: RefCell::default() })
    }

    /// The power of two that makes transfers last about [`STRETCHED`] over the machine's narrowest link.
    fn stretch(&self, transfers: &[Copied]) -> u64 {
        let slowest = self.fabric.bandwidths().iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = transfers.iter().map(|t| t.2 as f64).sum();
        let most = transfers.iter().map(|t| t.2).max().unwrap_or(1).max(1);
        let mut stretch = 1_u64;
        while sum * (stretch * 2) as f64 / slowest < STRETCHED && most.saturating_mul(stretch * 2) <= MOST_BYTES {
            stretch *= 2;
        }
        stretch
    }
}
