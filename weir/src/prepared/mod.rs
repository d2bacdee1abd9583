//! One scenario under one arbiter: make it, ask it about every route, run, and say what went wrong.

mod failures;
mod stream;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_plugin_api::{ArbiterEntry, CallError, ClassId, Flags, RateArbiter};
use weir_report::{Alone, ArbiterInfo, Run};
use weir_scenario::{ArbiterSpec, Scenario};
use weir_sim_core::{
    self as sim, Changing, Fabric, LinkChanges, Listener, OnFailure, Outcome, PacketSettings, Sharing, Simulation,
    Stop, TaskGraph, TaskTimes, admit, make_arbiter,
};

pub(crate) use failures::answer_words;
pub use stream::StreamedRun;

use crate::machine_arbiters::defaults_of_others;
use crate::{Error, RunOptions};

/// From this many on, links that cannot be full are left out, and their peaks of load are not known unless they are asked for.
/// Measured: below, keeping all links costs less than a second.
const PEAKS_BELOW: usize = 20_000;

/// Operations and jobs of a workload up to which each is also run alone, and tasks of the workload; *assumed*, all of them
/// together cost about one run more, those of operations within jobs another one.
const MOST_PARTS: usize = 1024;
const MOST_PART_TASKS: usize = 2_000_000;
/// Tasks of jobs up to which that is done; *assumed*, large patterns under policies that cost most take some seconds.
const MOST_JOB_TASKS: usize = 200_000;
/// Operations and jobs times links and classes up to which that is done; *assumed*, each run looks at all of them, some 10 ns
/// for one.
const MOST_PART_LINKS: usize = 100_000_000;

/// A scenario and an arbiter for it.
#[derive(Clone, Copy)]
pub(crate) struct PreparedRun<'a> {
    scenario: &'a Scenario,
    spec: &'a ArbiterSpec,
    /// That of the scenario, or one that differs in its bandwidths.
    fabric: &'a Fabric,
    /// Those of the scenario, or some that differ in when transfers start.
    tasks: &'a TaskGraph,
    /// Those of the scenario, or none.
    changes: &'a LinkChanges,
}

/// Of times alone.
static NO_CHANGES: LinkChanges = LinkChanges { sources: Vec::new(), on_failure: OnFailure::Wait };

impl<'a> PreparedRun<'a> {
    pub(crate) fn new(scenario: &'a Scenario, spec: &'a ArbiterSpec) -> Self {
        Self { scenario, spec, fabric: &scenario.fabric, tasks: &scenario.tasks, changes: &scenario.changes }
    }

    /// The same on a fabric of other bandwidths.
    pub(crate) fn on(self, fabric: &'a Fabric) -> Self {
        Self { fabric, ..self }
    }

    /// The same with transfers that start later.
    pub(crate) fn with_tasks(self, tasks: &'a TaskGraph) -> Self {
        Self { tasks, ..self }
    }

    /// Warnings about attributes that the scenario's transfers have and the arbiter is known not to read, about links
    /// that it is not made for, and about defaults of its parameters for another generation of PCIe.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let table = self.scenario.tasks.classes().table();
        let attributes = [
            ("weight", Flags::READS_WEIGHT, table.weight.iter().any(|&weight| weight != 1.0)),
            ("priority", Flags::READS_PRIORITY, table.priority.iter().any(|&priority| priority != 0)),
        ];
        let ignored = attributes.into_iter().filter(|&(_, reads, used)| used && self.spec.entry.ignores(reads));
        let (file, who) = (&self.scenario.file, self.who_decides());
        let ignored = ignored.map(|(what, ..)| format!("warning: {file}: {who} the transfers' {what}"));
        // A refusal says the same of the links.
        let outside = self.scenario.outside_pcie(self.spec).filter(|_| self.arbiter().is_ok());
        let other = self.scenario.pcie_generation.into_iter().flat_map(|generation| {
            let parameters = self.spec.policies().flat_map(move |(_, spec)| defaults_of_others(spec, generation));
            parameters.map(|what| format!("warning: {file}: {what}"))
        });
        ignored.chain(outside.map(|warning| warning.to_string())).chain(other).collect()
    }

    /// The arbiter, or in a run of packets the port arbiters, that a warning says to ignore something.
    fn who_decides(&self) -> String {
        let Some(plan) = &self.spec.packets else { return format!("arbiter `{}` ignores", self.spec.name) };
        match plan.port_arbiters()[..] {
            [one] => format!("port arbiter `{one}` ignores"),
            ref several => format!("port arbiters `{}` ignore", several.join("`, `")),
        }
    }

    /// A new instance that has accepted every route of the scenario.
    pub(crate) fn arbiter(&self) -> Result<Box<dyn RateArbiter>, Error> {
        let _arbiter = tracing::debug_span!("arbiter", name = self.spec.name).entered();
        let mut arbiter = self.make()?;
        let (tasks, Scenario { routes, stream, .. }) = (self.tasks, self.scenario);
        let firsts = stream.as_ref().map_or(&[][..], |stream| stream.firsts());
        let streamed = firsts.iter().enumerate().map(|(class, &task)| (task, ClassId::from_index(class)));
        admit(&mut *arbiter, routes, tasks.classes(), tasks.transfers().chain(streamed))
            .map_err(|refusal| self.refused(&refusal))?;
        tracing::debug!(routes = routes.len(), params = self.params(), "made an arbiter that admits all routes");
        Ok(arbiter)
    }

    /// An arbiter for the fabric as it is once links have changed.
    fn on_changed(&self, fabric: &Fabric) -> Result<Box<dyn RateArbiter>, CallError> {
        let spec = &self.spec.on(fabric);
        let changed = PreparedRun { spec, fabric, ..*self };
        changed.arbiter().map_err(|error| CallError::Failed(error.to_string()))
    }

    /// Runs with these options, and with the links that change.
    fn with_changes<T>(&self, options: sim::RunOptions<'_>, run: impl FnOnce(sim::RunOptions<'_>) -> T) -> T {
        let make = |fabric: &Fabric| self.on_changed(fabric);
        let changing = Changing { links: self.changes, make: &make };
        let changing = (!self.changes.is_empty()).then_some(changing);
        run(sim::RunOptions { changing, ..options })
    }

    /// Runs the scenario, a large one by the incremental side of its arbiter if it has one.
    pub(crate) fn run(&self, options: &RunOptions) -> Result<Outcome, Error> {
        let params = self.params();
        let outcome = self.outcome(self.engine(options, &params))?;
        self.log(&outcome);
        Ok(outcome)
    }

    /// Runs the scenario with the engine's own options: searches compare results to the picosecond.
    pub(crate) fn outcome(&self, options: sim::RunOptions<'_>) -> Result<Outcome, Error> {
        let mut arbiter = self.arbiter()?;
        let packets = self.packets();
        let options = with_packets(options, packets.as_ref());
        let _run = tracing::debug_span!("run", arbiter = self.spec.name).entered();
        let flags = self.spec.entry.flags;
        let outcome = self.with_changes(options, |options| self.simulation().run(&mut *arbiter, flags, options));
        outcome.map_err(|error| self.stopped(&error))
    }

    /// Runs the scenario, and tells a listener of its phases or progress.
    pub(crate) fn run_with_listener(&self, options: &RunOptions, listener: Listener<'_>) -> Result<Outcome, Error> {
        if self.spec.packets.is_some() {
            return Err(self.no_rates());
        }
        let params = self.params();
        let options = self.engine(options, &params);
        let mut arbiter = self.arbiter()?;
        let flags = self.spec.entry.flags;
        let outcome = self.with_changes(options, |options| {
            self.simulation().run_with_listener(&mut *arbiter, flags, options, listener)
        });
        outcome.map_err(|error| self.stopped(&error))
    }

    /// The result with its names.
    pub(crate) fn report<'r>(&'r self, outcome: &'r Outcome, alone: &'r Alone<'r>) -> Run<'r> {
        Run { scenario: self.scenario, arbiter: self.info(), outcome, alone, spread: None }
    }

    /// The arbiter of its results.
    pub(crate) fn info(&self) -> ArbiterInfo<'a> {
        let regions = self.spec.regions.as_deref();
        let ArbiterEntry { name, version, legend, origin, .. } = &*self.spec.entry;
        let (params, packets) = (&self.spec.written, self.spec.packets.as_deref());
        ArbiterInfo { name, version, sha256: origin.sha256(), params, legend, regions, packets }
    }

    fn simulation(&self) -> Simulation<'a> {
        let s = self.scenario;
        Simulation { fabric: self.fabric, routes: &s.routes, tasks: self.tasks }
    }

    fn log(&self, outcome: &Outcome) {
        let Outcome { events, arbitrations, incremental, .. } = outcome;
        let way = if *incremental { "incremental" } else { "phase by phase" };
        let makespan_ps = outcome.makespan.0;
        let (file, arbiter) = (&self.scenario.file, &self.spec.name);
        tracing::info!(file, arbiter, way, makespan_ps, events, arbitrations, "ran a scenario");
    }

    /// Times of lone transfers, for which a new instance is asked; none of a run that was interrupted.
    pub(crate) fn alone(&self, outcome: &Outcome, cancel: Option<Arc<AtomicBool>>) -> Result<Alone<'a>, Error> {
        let s = self.scenario;
        if outcome.stop == Stop::Cancelled {
            return Ok(Alone::unknown(self.fabric, &s.tasks, &s.routes));
        }
        let transfers = self.lone_transfers()?.with_cancel(cancel.clone());
        let parts = s.operations.len() + s.jobs.len();
        // One that is the whole workload is run by nobody.
        let is_lone = parts == 1 && s.operations.iter().any(|only| self.is_whole(&(only.release.0..only.tasks.end)));
        if outcome.stop != Stop::Finished || parts == 0 || is_lone {
            return Ok(transfers);
        }
        let links = parts.saturating_mul(self.fabric.links().len() + s.tasks.classes().len());
        let of_jobs: usize = s.jobs.iter().map(|job| job.tasks.len()).sum();
        let is_large = s.tasks.tasks().len() > MOST_PART_TASKS || of_jobs > MOST_JOB_TASKS;
        if is_large || parts > MOST_PARTS || links > MOST_PART_LINKS {
            return Ok(transfers.too_large_for_parts());
        }
        let (own, incremental) = (*self, outcome.incremental);
        let alone = move |tasks: Range<u32>| own.part_alone(tasks, incremental, cancel.clone());
        Ok(transfers.with_parts(Box::new(alone)))
    }

    /// Times of lone transfers alone.
    fn lone_transfers(&self) -> Result<Alone<'a>, Error> {
        let s = self.scenario;
        Ok(match self.packets() {
            Some(packets) => Alone::of_packets(self.fabric, &s.tasks, &s.routes, packets),
            None => Alone::new(self.fabric, &s.tasks, &s.routes, self.make()?),
        })
    }

    /// Times of consecutive tasks when nothing else of the workload runs; `None` where nothing else is there. By the way of the
    /// whole run: the two may differ where engines queue. `None` once it is cancelled, too.
    fn part_alone(
        &self,
        tasks: Range<u32>,
        incremental: bool,
        cancel: Option<Arc<AtomicBool>>,
    ) -> Option<Vec<TaskTimes>> {
        let is_cancelled = cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        if is_cancelled || self.is_whole(&tasks) {
            return None;
        }
        let (count, part) = (tasks.len(), self.tasks.part(tasks));
        let options = RunOptions { phase_by_phase: !incremental, cancel, ..RunOptions::default() };
        let params = self.params();
        let mut options = self.engine(&options, &params);
        if let Sharing::Incremental { from, .. } = &mut options.sharing {
            *from = 0;
        }
        let mut alone = PreparedRun { tasks: &part, changes: &NO_CHANGES, ..*self }.outcome(options).ok()?;
        // Behind them are joins.
        alone.tasks.truncate(count);
        (alone.stop == Stop::Finished).then_some(alone.tasks)
    }

    /// Whether nothing else is in the workload.
    fn is_whole(&self, tasks: &Range<u32>) -> bool {
        tasks.len() == self.tasks.tasks().len()
    }

    /// How packets cross this fabric, in a run of packets.
    fn packets(&self) -> Option<PacketSettings> {
        self.spec.packets.as_ref().map(|plan| plan.on(self.fabric))
    }

    fn no_rates(&self) -> Error {
        let what = "packets have no rates, and no phases of rates";
        Error::input(format!("{}: {what}: run it with `--fidelity fluid`", self.scenario.file))
    }

    /// The options with the incremental side for large runs, where there is one; `params` are [`Self::params`].
    fn engine<'b>(&'b self, options: &'b RunOptions, params: &'b str) -> sim::RunOptions<'b> {
        let peaks_below = if options.peaks { usize::MAX } else { PEAKS_BELOW };
        let sharing = match options.phase_by_phase {
            true => Sharing::ByArbiter,
            false => self.spec.sharing(params, peaks_below),
        };
        sim::RunOptions { sharing, ..options.engine() }
    }

    /// The arbiter's parameters, a JSON object.
    fn params(&self) -> String {
        self.spec.params_json()
    }

    /// A new instance that was asked nothing yet.
    fn make(&self) -> Result<Box<dyn RateArbiter>, Error> {
        make_arbiter(&self.spec.entry, &self.params(), self.fabric).map_err(|refusal| self.refused(&refusal))
    }
}

/// The options of a run of packets, where there are settings of one.
fn with_packets<'o>(options: sim::RunOptions<'o>, packets: Option<&'o PacketSettings>) -> sim::RunOptions<'o> {
    match packets {
        Some(packets) => sim::RunOptions { sharing: Sharing::Packets(packets), ..options },
        None => options,
    }
}
