//! Simulates experiments under values that change: the fabric is built once, its bandwidths are set.
//!
//! Latencies are added after the last byte and hold no bandwidth, so the transfers of an experiment are simulated
//! without them, and their sums are added as real numbers. Sizes are multiplied by a power of two that makes times long,
//! and times divided by it: rates depend on which transfers are active, never on sizes, so this only takes the rounding
//! to picoseconds out of the derivatives. It is done for arbiters that say they are pure. Experiments of equal transfers, and
//! under such arbiters all lone copies over one way, are one run, and a run is simulated once per set of its bandwidths.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use weir_plugin_api::{CallError, Flags, LinkId, RateArbiter, SimDuration};
use weir_scenario::{ArbiterSpec, ArbiterValues, Machine};
use weir_sim_core::{AdmissionError, Fabric, make_arbiter};

use super::error::FitError;
use super::loggp;
use super::parameter::Setting;
use super::prepared::Prepared;
use super::runs::{Planned, Run};
use crate::measurement::Experiment;

/// Experiments ready to be simulated again and again.
pub struct Simulator<'a> {
    machine: &'a Machine,
    arbiter: &'a ArbiterSpec,
    runs: Vec<Run>,
    experiments: Vec<Prepared>,
    cancel: Option<Arc<AtomicBool>>,
}

impl<'a> Simulator<'a> {
    /// Routes and tasks of all experiments.
    ///
    /// # Errors
    /// A destination that cannot be reached, or that the arbiter refuses.
    pub fn new<'e>(
        machine: &'a Machine,
        arbiter: &'a ArbiterSpec,
        experiments: impl IntoIterator<Item = &'e Experiment>,
    ) -> Result<Self, FitError> {
        let mut fabric = machine.fabric.clone();
        for at in 0..fabric.links().len() {
            let id = LinkId::from_index(at);
            fabric.set_link(id, fabric.link(id).bandwidth, SimDuration::ZERO)?;
        }
        let stretch = arbiter.entry.flags.contains(Flags::PURE);
        let mut planned = Planned::new(machine, &fabric, stretch);
        let experiments =
            experiments.into_iter().map(|e| Prepared::new(&mut planned, e)).collect::<Result<Vec<_>, _>>()?;
        let simulator = Self { machine, arbiter, runs: planned.runs, experiments, cancel: None };
        if !simulator.runs.is_empty() {
            let mut built = simulator.built(fabric, &ArbiterValues::new())?;
            simulator.runs.iter().try_for_each(|run| built.admit(simulator.machine, run))?;
        }
        Ok(simulator)
    }

    /// The same, which gives up when this becomes true.
    #[must_use]
    pub(crate) fn cancelled_by(self, cancel: Option<Arc<AtomicBool>>) -> Self {
        Self { cancel, ..self }
    }

    /// How many experiments a call simulates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.experiments.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.experiments.is_empty()
    }

    /// The links that transfers of an experiment use, ascending.
    #[must_use]
    pub fn links(&self, experiment: usize) -> &[LinkId] {
        &self.experiments[experiment].links
    }

    /// The bytes of the transfers of an experiment that cross any of some links, with those of a reply; without end where messages
    /// in flight hide the latency.
    pub(crate) fn sizes_over(&self, experiment: usize, links: &[LinkId]) -> impl Iterator<Item = u64> {
        let own = &self.experiments[experiment];
        let there = self.runs[own.run].ways().zip(own.transfers.iter().map(|transfer| transfer.bytes));
        let back = own.reply.iter().map(|(way, bytes)| (&way[..], *bytes));
        let crosses = move |way: &[LinkId]| links.iter().any(|link| way.contains(link));
        let hidden = own.steps == 0.0;
        let crossing = there.chain(back).filter(move |(way, _)| crosses(way));
        crossing.map(move |(_, bytes)| if hidden { u64::MAX } else { bytes })
    }

    /// How many transfers of an experiment cross any of some links.
    #[must_use]
    pub(crate) fn crossing(&self, experiment: usize, links: &[LinkId]) -> usize {
        let run = &self.runs[self.experiments[experiment].run];
        let used = |link: &LinkId| run.links.binary_search(link).is_ok();
        let crosses = |way: &&[LinkId]| links.iter().any(|link| way.contains(link));
        if links.iter().any(used) { run.ways().filter(crosses).count() } else { 0 }
    }

    /// Whether a transfer of an experiment crosses links of two sets.
    pub(crate) fn crosses_both(&self, experiment: usize, a: &[LinkId], b: &[LinkId]) -> bool {
        let crosses = |way: &[LinkId], links: &[LinkId]| links.iter().any(|link| way.contains(link));
        self.runs[self.experiments[experiment].run].ways().any(|way| crosses(way, a) && crosses(way, b))
    }

    /// All links in use, ascending.
    #[must_use]
    pub(crate) fn all_links(&self) -> Vec<LinkId> {
        let mut all: Vec<LinkId> = self.experiments.iter().flat_map(|e| e.links.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Seconds of each row of each experiment for which `wanted` holds; an empty list for the others.
    ///
    /// # Errors
    /// What the arbiter, or the simulation, refuses; the fit was given up.
    pub fn seconds(&self, setting: &Setting, wanted: impl Fn(usize) -> bool) -> Result<Vec<Vec<f64>>, FitError> {
        if self.cancel.as_ref().is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err(FitError::Cancelled);
        }
        if let Some(loggp) = &setting.loggp {
            let each = |(at, e): (usize, &Prepared)| if wanted(at) { loggp::seconds(e, loggp) } else { Ok(Vec::new()) };
            return self.experiments.iter().enumerate().map(each).collect();
        }
        // Built when a run is simulated that was not simulated with these bandwidths before.
        let mut built = None;
        let mut all = Vec::with_capacity(self.experiments.len());
        for (at, experiment) in self.experiments.iter().enumerate() {
            all.push(match wanted(at) {
                true => {
                    let run = &self.runs[experiment.run];
                    let ends = run.remembered(setting, || self.simulate(&mut built, setting, run))?;
                    experiment.over_links(run, &ends, setting)
                }
                false => Vec::new(),
            });
        }
        Ok(all)
    }

    /// Simulates a run: seconds from its start to the end of each transfer, without latencies.
    fn simulate(&self, built: &mut Option<Built>, setting: &Setting, run: &Run) -> Result<Vec<f64>, FitError> {
        let built = match built {
            Some(built) => built,
            None => {
                let mut fabric = self.machine.fabric.clone();
                for (at, &bandwidth) in setting.bandwidth.iter().enumerate() {
                    fabric.set_link(LinkId::from_index(at), bandwidth, SimDuration::ZERO)?;
                }
                for (number, &bandwidth) in (0..).zip(&setting.shared) {
                    fabric.set_shared(number, bandwidth)?;
                }
                built.insert(self.built(fabric, &setting.arbiter)?)
            }
        };
        built.admit(self.machine, run)?;
        let flags = self.arbiter.entry.flags;
        run.simulate((self.machine, &built.fabric), &mut *built.arbiter, flags, setting)
    }

    /// A fabric with an arbiter of fitted parameters for it.
    fn built(&self, fabric: Fabric, fitted: &ArbiterValues) -> Result<Built, FitError> {
        let mut spec = if fitted.is_empty() { self.arbiter.clone() } else { self.arbiter.with(fitted) };
        // What links share is a part of the arbiter.
        if !fabric.shared().is_empty() {
            spec = spec.on(&fabric);
        }
        let made = make_arbiter(&spec.entry, &spec.params_json(), &fabric);
        let arbiter = made.map_err(|AdmissionError { error, .. }| FitError::Arbiter {
            name: self.arbiter.name.clone(),
            error,
            remedy: None,
        })?;
        Ok(Built { fabric, spec, arbiter })
    }
}

/// A fabric, and the arbiter that its runs have, one after the other.
struct Built {
    fabric: Fabric,
    spec: ArbiterSpec,
    arbiter: Box<dyn RateArbiter>,
}

impl Built {
    /// Asks the arbiter about the routes of a run; what it has learnt by the ids of those before is forgotten.
    fn admit(&mut self, machine: &Machine, run: &Run) -> Result<(), FitError> {
        self.arbiter.reset();
        run.admit(&mut *self.arbiter).map_err(|AdmissionError { task, error }| {
            let refused = task.is_some() && matches!(error, CallError::Refused(_));
            let remedy = if refused { run.remedy(&self.fabric, &self.spec, &machine.default_arbiter) } else { None };
            FitError::Arbiter { name: self.spec.name.clone(), error, remedy }
        })
    }
}
