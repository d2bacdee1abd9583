//! One scenario under one arbiter: make it, ask it about every route, run, and say what went wrong.

mod stream;

use weir_plugin_api::{ArbiterEntry, ArbiterError, ClassId, LinkId, Origin, RateArbiter, Registry, RouteId};
use weir_report::{Alone, ArbiterInfo, Run, instant};
use weir_scenario::{ArbiterSpec, Diagnostic, Scenario};
use weir_sim_core::{AnswerError, Outcome, PhaseRecord, RunOptions, Sharing, SimError, Simulation, Stop, TaskId, Work};

use crate::failure::{Exit, Failure, message};
use crate::interrupt::{self, Stage};
use crate::subject::Named;

/// From this many transfers on, an arbiter with an incremental side is computed by it (docs/incremental.md). Smaller runs take
/// milliseconds either way, and keep the arbiter's own ends and bottlenecks.
const INCREMENTAL_FROM: usize = 1000;

/// From this many on, links that cannot be full are left out, and their peaks of load are not known unless they are asked for.
/// Measured: below, keeping all links costs less than a second.
const PEAKS_BELOW: usize = 20_000;

/// Waiting transfers named in an error.
const NAMED: usize = 10;

/// A scenario and an arbiter for it.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    scenario: &'a Scenario,
    spec: &'a ArbiterSpec,
    entry: &'a ArbiterEntry,
    /// Whether the peaks of all links are asked for, however large the run.
    peaks: bool,
}

impl<'a> Job<'a> {
    /// Looks the arbiter up.
    pub(crate) fn new(scenario: &'a Scenario, spec: &'a ArbiterSpec, registry: &'a Registry) -> Result<Self, Failure> {
        let missing = || Failure::usage(format!("there is no arbiter `{}`: see `weir plugin list`", spec.name));
        Ok(Self { scenario, spec, entry: registry.get(&spec.name).ok_or_else(missing)?, peaks: false })
    }

    /// The same, where the peaks of all links are asked for or not.
    pub(crate) fn with_peaks(self, peaks: bool) -> Self {
        Self { peaks, ..self }
    }

    /// A new instance that has accepted every route of the scenario.
    pub(crate) fn arbiter(&self) -> Result<Box<dyn RateArbiter>, Failure> {
        let mut arbiter = self.make().map_err(|error| self.refused(&error, None))?;
        let classes = self.scenario.tasks.classes();
        let mut asked = vec![false; self.scenario.routes.len()];
        let mut admit = |task: TaskId, class: ClassId| {
            let route: RouteId = classes.route(class);
            if std::mem::replace(&mut asked[route.index()], true) {
                return Ok(());
            }
            let admitted = arbiter.admit(self.scenario.routes.links(route));
            admitted.map_err(|error| self.refused(&error, Some(task)))
        };
        for (i, task) in self.scenario.tasks.tasks().iter().enumerate() {
            let Work::Carries { class, .. } = task.work else { continue };
            admit(TaskId(i as u32), class)?;
        }
        let firsts = self.scenario.stream.as_ref().map_or(&[][..], |stream| stream.firsts());
        firsts.iter().enumerate().try_for_each(|(class, &task)| admit(task, ClassId::from_index(class)))?;
        Ok(arbiter)
    }

    /// Runs the scenario; Ctrl-C, or the flag of the options, makes the outcome incomplete.
    pub(crate) fn outcome(&self, options: RunOptions<'_>) -> Result<Outcome, Failure> {
        let mut arbiter = self.arbiter()?;
        let outcome = self.simulation().run(&mut *arbiter, self.entry.flags, watched(options));
        let outcome = outcome.map_err(|error| self.stopped(&error))?;
        self.log(&outcome);
        Ok(outcome)
    }

    /// Runs the scenario again and hands over its phases one by one.
    pub(crate) fn tell(
        &self,
        options: RunOptions<'_>,
        listener: &mut dyn FnMut(PhaseRecord),
    ) -> Result<Outcome, Failure> {
        let mut arbiter = self.arbiter()?;
        let outcome = self.simulation().run_with_listener(&mut *arbiter, self.entry.flags, watched(options), listener);
        outcome.map_err(|error| self.stopped(&error))
    }

    fn simulation(&self) -> Simulation<'a> {
        let s = self.scenario;
        Simulation { fabric: &s.fabric, routes: &s.routes, tasks: &s.tasks }
    }

    fn log(&self, outcome: &Outcome) {
        let Outcome { events, arbitrations, in_changes, .. } = outcome;
        let way = if *in_changes { "in changes" } else { "phase by phase" };
        tracing::info!(arbiter = self.spec.name, way, events, arbitrations, "ran {}", self.scenario.file);
    }

    /// Runs the scenario and hands the result, with its names, to `report`.
    pub(crate) fn report<T>(
        &self,
        options: RunOptions<'_>,
        report: impl FnOnce(&Run<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let running = Stage::running();
        let params = self.params();
        let outcome = self.outcome(RunOptions { sharing: self.sharing(&params), ..options })?;
        let alone = self.alone(&outcome)?;
        drop(running);
        let _writing = Stage::writing();
        let subject = Named::new(self.scenario);
        let run = Run { subject: &subject, arbiter: self.info(), outcome: &outcome, alone };
        let reported = report(&run);
        self.say_trouble(&run.alone);
        reported
    }

    /// Warns where the arbiter could not be asked about lone transfers.
    fn say_trouble(&self, alone: &Alone<'_>) {
        if let Some(trouble) = alone.trouble() {
            let at = format!("{}: arbiter `{}`", self.scenario.file, self.spec.name);
            message(&format!("warning: {at}, asked about one transfer alone: {trouble}; such times are left out"));
        }
    }

    /// Times of lone transfers, for which a new instance is asked.
    fn alone(&self, outcome: &Outcome) -> Result<Alone<'a>, Failure> {
        let (tasks, routes) = (&self.scenario.tasks, &self.scenario.routes);
        if outcome.stop == Stop::Cancelled {
            say_interrupted();
            return Ok(Alone::unknown(&self.scenario.fabric, tasks, routes));
        }
        let arbiter = self.make().map_err(|error| self.refused(&error, None))?;
        Ok(Alone::new(&self.scenario.fabric, tasks, routes, arbiter))
    }

    /// The incremental side in large runs, where there is one; `params` are [`Self::params`]. Searches do not ask: they hold
    /// results to the picosecond.
    fn sharing<'b>(&'b self, params: &'b str) -> Sharing<'b> {
        let Some(entry) = &self.entry.incremental else { return Sharing::ByArbiter };
        let peaks_below = if self.peaks { usize::MAX } else { PEAKS_BELOW };
        Sharing::Incremental { entry, params, from: INCREMENTAL_FROM, peaks_below }
    }

    /// The arbiter's parameters, a JSON object.
    fn params(&self) -> String {
        serde_json::Value::Object(self.spec.params.clone()).to_string()
    }

    fn info(&self) -> ArbiterInfo<'a> {
        let sha256 = match &self.entry.origin {
            Origin::Library { sha256, .. } => Some(sha256.as_str()),
            Origin::BuiltIn => None,
        };
        ArbiterInfo { name: &self.entry.name, version: &self.entry.version, sha256, params: &self.spec.params }
    }

    fn make(&self) -> Result<Box<dyn RateArbiter>, ArbiterError> {
        (self.entry.make)(&self.scenario.fabric.view(), &self.params())
    }

    /// A refusal is the scenario's fault, anything else the arbiter's.
    fn refused(&self, error: &ArbiterError, task: Option<TaskId>) -> Failure {
        let (name, file) = (&self.spec.name, &self.scenario.file);
        if !matches!(error, ArbiterError::Refused(_)) {
            return Failure::new(Exit::Plugin, format!("{file}: arbiter `{name}`: {error}"));
        }
        let (what, position) = match task {
            Some(task) => {
                let transfer = self.scenario.task_name(task);
                (format!("arbiter `{name}` refuses transfer `{transfer}`: {error}"), self.scenario.position(task))
            }
            None => (format!("arbiter `{name}` refuses this scenario: {error}"), self.spec.position.clone()),
        };
        let what = if position.is_none() { format!("{file}: {what}") } else { what };
        Failure::diagnosed(Exit::Usage, Diagnostic { position, ..Diagnostic::error(what) })
    }

    fn stopped(&self, error: &SimError) -> Failure {
        let at = format!("{}: under arbiter `{}`", self.scenario.file, self.spec.name);
        match error {
            SimError::Arbiter(error) => Failure::new(Exit::Plugin, format!("{at}, {}", self.wrong_answer(error))),
            SimError::Deadlock { time, waiting, queued } if waiting.is_empty() => Failure::new(
                Exit::Stopped,
                format!(
                    "{at}, deadlock at {} ({time}): the first in the queue of each engine waits for a task that is \
                     queued behind another; order the operations that share engines with `after`; waiting for an \
                     engine: {}",
                    instant(*time),
                    self.names(queued)
                ),
            ),
            SimError::Deadlock { time, waiting, .. } => Failure::new(
                Exit::Stopped,
                format!(
                    "{at}, deadlock at {} ({time}): every active transfer has rate 0 and nothing else is pending; \
                     waiting: {}",
                    instant(*time),
                    self.names(waiting)
                ),
            ),
            SimError::BeyondHorizon { time, tasks } => Failure::new(
                Exit::Stopped,
                format!(
                    "{at}, after {} ({time}) the next event lies beyond the horizon of 100 days; still going on: {}; \
                     check sizes and bandwidths",
                    instant(*time),
                    self.names(tasks)
                ),
            ),
            SimError::Stuck { time, active } => Failure::new(
                Exit::Stopped,
                format!(
                    "{at}, at {} ({time}) rates were asked for more than 1000000 times without the clock moving; \
                     active: {}",
                    instant(*time),
                    self.names(active)
                ),
            ),
            SimError::Halted => Failure::new(Exit::Stopped, format!("{at}, {error}")),
        }
    }

    fn wrong_answer(&self, error: &AnswerError) -> String {
        let name = |task: &TaskId| self.scenario.task_name(*task).into_owned();
        let asks = "; the arbiter is wrong, report it to its author";
        match error {
            AnswerError::Failed { time, error } => format!("at {} ({time}) it failed: {error}", instant(*time)),
            AnswerError::NotARate { time, task, rate } => format!(
                "at {} ({time}) transfer `{}` was given the rate {rate} B/s: rates must be finite and at least 0{asks}",
                instant(*time),
                name(task)
            ),
            AnswerError::OverLimit { time, task, rate, limit } => format!(
                "at {} ({time}) transfer `{}` was given {rate} B/s, above its limit of {limit} B/s{asks}",
                instant(*time),
                name(task)
            ),
            AnswerError::OverCapacity { time, link, task, load, bandwidth } => format!(
                "at {} ({time}) link {} was given {load} B/s, above its bandwidth of {bandwidth} B/s, with transfer \
                 `{}` on it{asks}",
                instant(*time),
                self.link(*link),
                name(task)
            ),
        }
    }

    fn link(&self, link: LinkId) -> String {
        let link = self.scenario.fabric.link(link);
        format!("{} → {}", self.scenario.node_name(link.from), self.scenario.node_name(link.to))
    }

    fn names(&self, tasks: &[TaskId]) -> String {
        let names: Vec<_> = tasks.iter().take(NAMED).map(|&t| self.scenario.task_name(t)).collect();
        let more = if tasks.len() > NAMED { format!(" and {} more", tasks.len() - NAMED) } else { String::new() };
        format!("{}{more} ({} in all)", names.join(", "), tasks.len())
    }
}

/// The same options, where Ctrl-C stops the run if nothing else does.
fn watched(options: RunOptions<'_>) -> RunOptions<'_> {
    RunOptions { cancel: options.cancel.or(Some(interrupt::flag())), ..options }
}

/// Says that a run was interrupted.
fn say_interrupted() {
    message("note: interrupted; what was computed is written as not complete");
}

/// Warns about attributes that the scenario sets and the arbiter does not read; returns how many there are.
pub(crate) fn warn_ignored(scenario: &Scenario, arbiter: &str) -> usize {
    let mut warnings = 0;
    let table = scenario.tasks.classes().table();
    for &attribute in weir_arbiters::ignored_attributes(arbiter) {
        let used = match attribute {
            "weight" => table.weight.iter().any(|&weight| weight != 1.0),
            "priority" => table.priority.iter().any(|&priority| priority != 0),
            _ => false,
        };
        if used {
            let file = &scenario.file;
            message(&format!("warning: {file}: arbiter `{arbiter}` ignores the transfers' {attribute}"));
            warnings += 1;
        }
    }
    warnings
}
