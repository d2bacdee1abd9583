//! What is simulated: each set of transfers once for all experiments that are such a set, and once for each set of
//! bandwidths of its links.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use weir_plugin_api::{Flags, LinkId, NodeId, NodeKind, RateArbiter, RouteId, SimDuration, SimTime};
use weir_scenario::{ArbiterSpec, DeviceEngines, Machine};
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
    /// Bytes are those of a task.
    transfers: Vec<Copied>,
    /// The devices that send them, ascending.
    sources: Vec<NodeId>,
    /// Kernels move the bytes, which wait for no engine.
    kernels: bool,
    tasks: TaskGraph,
    /// The route of each transfer.
    route: Vec<RouteId>,
    stretch: f64,
    /// All links of all routes, ascending.
    pub(super) links: Vec<LinkId>,
    /// What `links` share, by the places in [`Fabric::shared`], ascending.
    shared: Vec<u32>,
    known: RefCell<Known>,
}

/// Ends of the transfers of a run that were simulated.
#[derive(Default)]
struct Known {
    /// By the fitted parameters of the arbiter, the bandwidths of the run's links and what these share; looked up, never gone
    /// through.
    ends: FxHashMap<Box<[u64]>, Rc<[f64]>>,
    /// What is looked up; kept for its memory.
    key: Vec<u64>,
}

impl Known {
    /// Notes what is looked up.
    fn note(&mut self, run: &Run, setting: &Setting) {
        self.key.clear();
        self.key.extend(setting.arbiter.values().map(|value| value.to_bits()));
        self.key.push(setting.host_weight.to_bits());
        self.key.extend(run.links.iter().map(|link| setting.bandwidth[link.index()].to_bits()));
        self.key.extend(run.sources.iter().map(|&source| setting.engines.send_slots(source).map_or(0, u64::from)));
        self.key.extend(run.shared.iter().map(|&at| setting.shared[at as usize].to_bits()));
    }
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
        let mut known = self.known.borrow_mut();
        known.note(self, setting);
        if let Some(ends) = known.ends.get(&known.key[..]) {
            return Ok(Rc::clone(ends));
        }
        let found: Rc<[f64]> = simulate()?.into();
        if known.ends.len() >= REMEMBERED {
            known.ends.clear();
        }
        let key = known.key[..].into();
        known.ends.insert(key, Rc::clone(&found));
        Ok(found)
    }

    /// The tasks of all transfers, with a weight of those out of host memory, which wait for these engines.
    fn planned(&self, fabric: &Fabric, engines: &DeviceEngines, weight: f64) -> Result<TaskGraph, FitError> {
        let mut builder = TaskGraphBuilder::new();
        for (&(from, to, bytes), &way) in self.transfers.iter().zip(&self.route) {
            let source = (from, fabric.node(from).kind);
            let weight = if is_host(source.1) { weight } else { 1.0 };
            let class = builder.classes().intern(way, f64::INFINITY, weight, 0);
            let engine = match self.kernels {
                true => Ok(EngineId::NONE),
                false => engines.of_transfer(&mut builder, source, to),
            };
            let engine = engine.map_err(|_| FitError::Internal("one device has two numbers of send slots"))?;
            let work = Work::Carries { bytes, class };
            builder.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work });
        }
        builder.build().map_err(|_| FitError::Internal("a cycle of transfers"))
    }

    /// Seconds from the start to the end of each transfer, with the weight of those out of host memory, and the engines, of a setting.
    pub(super) fn simulate(
        &self,
        (machine, fabric): (&Machine, &Fabric),
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        setting: &Setting,
    ) -> Result<Vec<f64>, FitError> {
        let (weight, engines) = (setting.host_weight, &setting.engines);
        let as_planned = |&source: &NodeId| engines.send_slots(source) == machine.send_slots(source);
        let planned = match weight == 1.0 && self.sources.iter().all(as_planned) {
            true => None,
            false => Some(self.planned(fabric, engines, weight)?),
        };
        let simulation = Simulation { fabric, routes: &self.routes, tasks: planned.as_ref().unwrap_or(&self.tasks) };
        let outcome = simulation.run(arbiter, flags, RunOptions::default())?;
        Ok(outcome.tasks.iter().map(|task| task.end.0 as f64 * 1e-12 / self.stretch).collect())
    }
}

/// Whether a node is host memory.
fn is_host(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Cpu | NodeKind::Host)
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
        let mut routes = Routes::new();
        let (mut route, mut links, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let stretch = if self.pure { self.stretch(transfers) } else { 1 };
        for &(from, to, bytes) in transfers {
            if self.machine.overhead(from) > SimDuration::ZERO {
                return Err(FitError::Overhead(self.machine.node_name(from).to_owned()));
            }
            let way = self.between(&mut routes, from, to, e)?;
            links.extend_from_slice(routes.links(way));
            route.push(way);
            all.push((from, to, bytes.saturating_mul(stretch).min(MOST_BYTES)));
        }
        links.sort_unstable();
        links.dedup();
        let mut shared: Vec<u32> = links.iter().flat_map(|&link| self.fabric.shared_by(link)).copied().collect();
        shared.sort_unstable();
        shared.dedup();
        let (stretch, known) = (stretch as f64, RefCell::default());
        let tasks = TaskGraphBuilder::new().build().map_err(|_| FitError::Internal("no tasks"))?;
        let (transfers, kernels) = (all, e.kernels);
        let mut sources: Vec<NodeId> = transfers.iter().map(|(from, _, _)| *from).collect();
        sources.sort_unstable();
        sources.dedup();
        let mut run = Run { routes, transfers, sources, kernels, tasks, route, stretch, links, shared, known };
        run.tasks = run.planned(self.fabric, self.machine.engines(), 1.0)?;
        Ok(run)
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
