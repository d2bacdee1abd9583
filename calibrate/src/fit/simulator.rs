//! Simulates experiments under values that change: the fabric is built once, its bandwidths are set.
//!
//! Latencies are added after the last byte and hold no bandwidth, so the transfers of an experiment are simulated
//! without them, and their sums are added as real numbers. Sizes are multiplied by a power of two that makes times long,
//! and times divided by it: rates depend on which transfers are active, never on sizes, so this only takes the rounding
//! to picoseconds out of the derivatives. It is done for arbiters that say they are pure. Experiments of equal transfers, and
//! under such arbiters all lone copies over one way, are one run, and a run is simulated once per set of its bandwidths.

use serde_json::{Map, Value as Json};
use weir_plugin_api::{ArbiterEntry, EngineScope, Flags, LinkId, Queue, RateArbiter, SimDuration, SimTime};
use weir_scenario::Machine;
use weir_sim_core::{
    Engine, EngineId, Fabric, Outcome, Routes, RunOptions, Service, ServiceId, Simulation, Task, TaskGraphBuilder,
    TaskId, Work,
};

use super::FitError;
use super::parameter::{Loggp, Setting, picoseconds};
use super::runs::{Planned, Run, STRETCHED};
use crate::measurement::{Experiment, Seen, Transfer};

/// Messages of one experiment that are simulated one by one; *assumed*, windows of OSU have 64.
const MOST_MESSAGES: u32 = 10_000;

/// Experiments ready to be simulated again and again.
pub struct Simulator<'a> {
    machine: &'a Machine,
    entry: &'a ArbiterEntry,
    params: Map<String, Json>,
    runs: Vec<Run>,
    experiments: Vec<Prepared>,
}

/// What was measured of a run.
struct Prepared {
    /// Its place among the runs.
    run: usize,
    /// Its bytes over those of the run.
    scale: f64,
    /// The way back of the first transfer, with the bytes of the reply.
    reply: Option<(Vec<LinkId>, u64)>,
    transfers: Vec<Transfer>,
    seen: Vec<Seen>,
    messages: u32,
    steps: f64,
    /// All links of all routes, ascending.
    links: Vec<LinkId>,
}

impl<'a> Simulator<'a> {
    /// Routes and tasks of all experiments.
    ///
    /// # Errors
    /// A destination that cannot be reached, or that the arbiter refuses.
    pub fn new<'e>(
        machine: &'a Machine,
        (entry, params): (&'a ArbiterEntry, &Map<String, Json>),
        experiments: impl IntoIterator<Item = &'e Experiment>,
    ) -> Result<Self, FitError> {
        let mut fabric = machine.fabric.clone();
        for at in 0..fabric.links().len() {
            let id = LinkId::from_index(at);
            fabric.set_link(id, fabric.link(id).bandwidth, SimDuration::ZERO)?;
        }
        let stretch = entry.flags.contains(Flags::PURE);
        let mut planned = Planned::new(machine, &fabric, stretch);
        let experiments = experiments.into_iter().map(|e| prepare(&mut planned, e)).collect::<Result<Vec<_>, _>>()?;
        let simulator = Self { machine, entry, params: params.clone(), runs: planned.runs, experiments };
        for run in &simulator.runs {
            simulator.arbiter(&fabric, None, run)?;
        }
        Ok(simulator)
    }

    /// Number of experiments.
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

    /// Whether two transfers of an experiment cross a link.
    #[must_use]
    pub fn crossed_at_once(&self, experiment: usize, link: LinkId) -> bool {
        let run = &self.runs[self.experiments[experiment].run];
        run.links.binary_search(&link).is_ok() && run.ways().filter(|way| way.contains(&link)).nth(1).is_some()
    }

    /// All links in use, ascending.
    #[must_use]
    pub fn all_links(&self) -> Vec<LinkId> {
        let mut all: Vec<LinkId> = self.experiments.iter().flat_map(|e| e.links.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Bytes per second that were measured, of each row and of each experiment together: levels that some link may have.
    #[must_use]
    pub fn throughputs(&self, measured: &[Vec<f64>]) -> Vec<f64> {
        let mut all = Vec::new();
        for (e, seconds) in self.experiments.iter().zip(measured) {
            let bytes = |t: &Transfer| t.bytes as f64 * f64::from(e.messages);
            let total: f64 = e.transfers.iter().map(bytes).sum();
            for (seen, seconds) in e.seen.iter().zip(seconds) {
                let own = if let Seen::End(at) = seen { bytes(&e.transfers[*at]) } else { total };
                all.extend([own / seconds, total / seconds]);
            }
        }
        all
    }

    /// Seconds of each row of each experiment for which `wanted` holds; an empty list for the others.
    ///
    /// # Errors
    /// What the arbiter, or the simulation, refuses.
    pub fn seconds(&self, setting: &Setting, wanted: impl Fn(usize) -> bool) -> Result<Vec<Vec<f64>>, FitError> {
        if let Some(loggp) = &setting.loggp {
            let each = |(at, e): (usize, &Prepared)| if wanted(at) { e.loggp(loggp) } else { Ok(Vec::new()) };
            return self.experiments.iter().enumerate().map(each).collect();
        }
        // Built when a run is simulated that was not simulated with these bandwidths before.
        let mut fabric = None;
        let mut all = Vec::with_capacity(self.experiments.len());
        for (at, experiment) in self.experiments.iter().enumerate() {
            all.push(match wanted(at) {
                true => {
                    let run = &self.runs[experiment.run];
                    let ends = run.remembered(setting, || self.simulate(&mut fabric, setting, run))?;
                    experiment.over_links(run, &ends, setting)
                }
                false => Vec::new(),
            });
        }
        Ok(all)
    }

    /// Simulates a run: seconds from its start to the end of each transfer, without latencies.
    fn simulate(&self, built: &mut Option<Fabric>, setting: &Setting, run: &Run) -> Result<Vec<f64>, FitError> {
        let fabric = match built {
            Some(fabric) => fabric,
            None => {
                let mut fabric = self.machine.fabric.clone();
                for (at, &bandwidth) in setting.bandwidth.iter().enumerate() {
                    fabric.set_link(LinkId::from_index(at), bandwidth, SimDuration::ZERO)?;
                }
                built.insert(fabric)
            }
        };
        let mut arbiter = self.arbiter(fabric, setting.tau, run)?;
        run.simulate(fabric, (&mut *arbiter, self.entry.flags))
    }

    /// A new arbiter that has accepted the routes of a run. One of its own for each, since each has a table of
    /// routes of its own, and an arbiter may remember what it learnt by their ids.
    fn arbiter(&self, fabric: &Fabric, tau: Option<f64>, run: &Run) -> Result<Box<dyn RateArbiter>, FitError> {
        let mut params = self.params.clone();
        if let Some(tau) = tau {
            params.insert("tau".to_owned(), Json::from(tau));
        }
        let failed = |error: weir_plugin_api::ArbiterError| FitError::Arbiter(self.entry.name.clone(), error);
        let mut arbiter = (self.entry.make)(&fabric.view(), &Json::Object(params).to_string()).map_err(failed)?;
        for links in run.ways() {
            arbiter.admit(links).map_err(failed)?;
        }
        Ok(arbiter)
    }
}

impl Prepared {
    /// The times that were measured, from those of the run.
    fn over_links(&self, run: &Run, ends: &[f64], setting: &Setting) -> Vec<f64> {
        let latency = |links: &[LinkId]| links.iter().map(|l| setting.latency[l.index()]).sum::<f64>();
        let narrowest =
            |links: &[LinkId]| links.iter().map(|l| setting.bandwidth[l.index()]).fold(f64::INFINITY, f64::min);
        let reply = self.reply.as_ref();
        let reply = reply.map_or(0.0, |(links, bytes)| latency(links) + *bytes as f64 / narrowest(links));
        self.seen(|at| ends[at] * self.scale + self.steps * latency(run.way(at)) + reply)
    }

    fn seen(&self, end: impl Fn(usize) -> f64) -> Vec<f64> {
        let last = || (0..self.transfers.len()).map(&end).fold(0.0, f64::max);
        self.seen.iter().map(|seen| if let Seen::End(at) = seen { end(*at) } else { last() }).collect()
    }

    /// Simulates the transfers as LogGP messages, with the tasks that the model `loggp` plans: o (which overlaps the
    /// message before) and (k − 1)·G on the source's engine, no sooner than g after the last byte; then L + o.
    fn loggp(&self, loggp: &Loggp) -> Result<Vec<f64>, FitError> {
        let bytes: f64 = self.transfers.iter().map(|t| t.bytes as f64).sum();
        let one = loggp.latency + 2.0 * loggp.overhead + loggp.gap;
        let messages = f64::from(self.messages.min(MOST_MESSAGES));
        let total = messages * (one * self.transfers.len() as f64 + bytes * loggp.per_byte);
        let stretch = if total > 0.0 { (STRETCHED / total).clamp(1.0, 1e12) } else { 1.0 };
        let outcome = self.run_loggp(loggp, stretch)?;
        let reply = self.reply.as_ref().map_or(0.0, |(_, bytes)| {
            2.0 * loggp.overhead + loggp.latency + bytes.saturating_sub(1) as f64 * loggp.per_byte
        });
        // Per transfer its last arrival: tasks come in pairs, sent and arrival.
        let end = |at: usize| {
            let last = (at + 1) * self.messages.min(MOST_MESSAGES) as usize * 2 - 1;
            let alone = outcome.tasks[last].end.0 as f64 * 1e-12 / stretch;
            alone + (self.steps - 1.0) * (loggp.latency + 2.0 * loggp.overhead) + reply
        };
        Ok(self.seen(end))
    }

    fn run_loggp(&self, loggp: &Loggp, stretch: f64) -> Result<Outcome, FitError> {
        let ps = |seconds: f64| picoseconds(seconds * stretch);
        let mut builder = TaskGraphBuilder::new();
        let service =
            builder.service(Service { queue: Queue::Ready, class: 0, lead: ps(loggp.overhead), gap: ps(loggp.gap) });
        for transfer in &self.transfers {
            let device = transfer.from;
            let engine = builder.engine(device, "send", 1).unwrap_or_else(|_| {
                builder.own_engine(Engine { scope: EngineScope::Device(device), name: "send".into(), slots: 1 })
            });
            let sending = ps(transfer.bytes.saturating_sub(1) as f64 * loggp.per_byte);
            let arriving = ps(loggp.latency + loggp.overhead);
            for _ in 0..self.messages.min(MOST_MESSAGES) {
                let start = SimTime::ZERO;
                let sent = builder.task(Task { start, engine, service, work: Work::Lasts(sending) });
                let work = Work::Lasts(arriving);
                let arrival = builder.task(Task { start, engine: EngineId::NONE, service: ServiceId::PLAIN, work });
                builder.wait(arrival, sent);
            }
        }
        let tasks = builder.build().map_err(|_: Vec<TaskId>| FitError::Internal("a cycle of messages"))?;
        let (fabric, routes) = (Fabric::default(), Routes::new());
        let simulation = Simulation { fabric: &fabric, routes: &routes, tasks: &tasks };
        Ok(simulation.run(&mut NoLinks, Flags::PURE, RunOptions::default())?)
    }
}

/// The arbiter of runs without links: it is never asked.
struct NoLinks;

impl RateArbiter for NoLinks {
    fn allocate(
        &mut self,
        _: &weir_plugin_api::PhaseView<'_>,
        _: &mut weir_plugin_api::Grant<'_>,
    ) -> Result<(), weir_plugin_api::ArbiterError> {
        Err(weir_plugin_api::ArbiterError::Failed("there are no links".to_owned()))
    }
}

fn prepare(planned: &mut Planned<'_>, e: &Experiment) -> Result<Prepared, FitError> {
    let (run, scale) = planned.run(e)?;
    let mut links = planned.runs[run].links.clone();
    let reply = match (e.reply, e.transfers.first()) {
        (Some(bytes), Some(first)) => Some((planned.way(first.to, first.from, e)?, bytes)),
        _ => None,
    };
    if let Some((way, _)) = &reply {
        links.extend_from_slice(way);
    }
    links.sort_unstable();
    links.dedup();
    Ok(Prepared {
        run,
        scale,
        reply,
        transfers: e.transfers.clone(),
        seen: e.rows.iter().map(|row| row.seen).collect(),
        messages: e.messages,
        steps: f64::from(e.steps),
        links,
    })
}
