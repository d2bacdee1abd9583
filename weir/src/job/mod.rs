//! One scenario under one arbiter: make it, ask it about every route, run, and say what went wrong.

mod failures;
mod stream;

use weir_plugin_api::{ArbiterEntry, ClassId, Flags, Origin, RateArbiter};
use weir_report::{Alone, ArbiterInfo, Run};
use weir_scenario::{ArbiterSpec, Scenario};
use weir_sim_core::{Outcome, PhaseRecord, RunOptions, Sharing, Simulation, Stop, admit, make_arbiter};

pub use stream::Streaming;

use crate::{Error, Registry};

/// From this many transfers on, an arbiter with an incremental side is computed by it (docs/incremental.md). Smaller runs take
/// milliseconds either way, and keep the arbiter's own ends and bottlenecks.
const INCREMENTAL_FROM: usize = 1000;

/// From this many on, links that cannot be full are left out, and their peaks of load are not known unless they are asked for.
/// Measured: below, keeping all links costs less than a second.
const PEAKS_BELOW: usize = 20_000;

/// A scenario and an arbiter for it.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    scenario: &'a Scenario,
    spec: &'a ArbiterSpec,
    entry: &'a ArbiterEntry,
    /// Whether the peaks of all links are asked for, however large the run.
    peaks: bool,
}

impl<'a> Job<'a> {
    /// Looks the arbiter up.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn new(scenario: &'a Scenario, spec: &'a ArbiterSpec, registry: &'a Registry) -> Result<Self, Error> {
        Ok(Self { scenario, spec, entry: registry.arbiter(&spec.name)?, peaks: false })
    }

    /// The same, where the peaks of all links are asked for or not.
    #[must_use]
    pub fn with_peaks(self, peaks: bool) -> Self {
        Self { peaks, ..self }
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// The arbiter as the scenario names it.
    #[must_use]
    pub fn spec(&self) -> &'a ArbiterSpec {
        self.spec
    }

    /// A warning for each attribute that the scenario's transfers have and the arbiter is known not to read: `weight`,
    /// `priority`.
    #[must_use]
    pub fn ignored_attributes(&self) -> Vec<String> {
        let table = self.scenario.tasks.classes().table();
        let attributes = [
            ("weight", Flags::READS_WEIGHT, table.weight.iter().any(|&weight| weight != 1.0)),
            ("priority", Flags::READS_PRIORITY, table.priority.iter().any(|&priority| priority != 0)),
        ];
        let ignored = attributes.into_iter().filter(|&(_, reads, used)| used && self.entry.ignores(reads));
        let (file, name) = (&self.scenario.file, &self.spec.name);
        ignored.map(|(what, ..)| format!("warning: {file}: arbiter `{name}` ignores the transfers' {what}")).collect()
    }

    /// A new instance that has accepted every route of the scenario.
    ///
    /// # Errors
    /// The arbiter refuses its parameters, the fabric or a route, or fails.
    pub fn arbiter(&self) -> Result<Box<dyn RateArbiter>, Error> {
        let _arbiter = tracing::debug_span!("arbiter", name = self.spec.name).entered();
        let mut arbiter = self.make()?;
        let Scenario { tasks, routes, stream, .. } = self.scenario;
        let firsts = stream.as_ref().map_or(&[][..], |stream| stream.firsts());
        let streamed = firsts.iter().enumerate().map(|(class, &task)| (task, ClassId::from_index(class)));
        admit(&mut *arbiter, routes, tasks.classes(), tasks.transfers().chain(streamed))
            .map_err(|refusal| self.refused(&refusal))?;
        tracing::debug!(routes = routes.len(), params = self.params(), "made an arbiter that admits all routes");
        Ok(arbiter)
    }

    /// Runs the scenario; the flag of the options makes the outcome incomplete.
    ///
    /// # Errors
    /// The arbiter refuses or fails, or the run cannot end.
    pub fn outcome(&self, options: RunOptions<'_>) -> Result<Outcome, Error> {
        let mut arbiter = self.arbiter()?;
        let _run = tracing::debug_span!("run", arbiter = self.spec.name).entered();
        let outcome = self.simulation().run(&mut *arbiter, self.entry.flags, options);
        let outcome = outcome.map_err(|error| self.stopped(&error))?;
        self.log(&outcome);
        Ok(outcome)
    }

    /// Runs the scenario again and hands over its phases one by one.
    ///
    /// # Errors
    /// As [`Self::outcome`].
    pub fn run_with_listener(
        &self,
        options: RunOptions<'_>,
        listener: &mut dyn FnMut(PhaseRecord),
    ) -> Result<Outcome, Error> {
        let mut arbiter = self.arbiter()?;
        let outcome = self.simulation().run_with_listener(&mut *arbiter, self.entry.flags, options, listener);
        outcome.map_err(|error| self.stopped(&error))
    }

    /// Runs the scenario, a large one by the incremental side of its arbiter if it has one. Searches take [`Self::outcome`]:
    /// they compare results to the picosecond.
    ///
    /// # Errors
    /// As [`Self::outcome`].
    pub fn run(&self, options: RunOptions<'_>) -> Result<Outcome, Error> {
        let params = self.params();
        self.outcome(RunOptions { sharing: self.sharing(&params), ..options })
    }

    /// An outcome of this job with what a report needs beside it.
    ///
    /// # Errors
    /// The arbiter fails.
    pub fn finished<'r>(&self, outcome: &'r Outcome) -> Result<Finished<'r>, Error>
    where
        'a: 'r,
    {
        Ok(Finished { job: *self, alone: self.alone(outcome)?, outcome })
    }

    fn simulation(&self) -> Simulation<'a> {
        let s = self.scenario;
        Simulation { fabric: &s.fabric, routes: &s.routes, tasks: &s.tasks }
    }

    fn log(&self, outcome: &Outcome) {
        let Outcome { events, arbitrations, incremental, .. } = outcome;
        let way = if *incremental { "incremental" } else { "phase by phase" };
        tracing::info!(arbiter = self.spec.name, way, events, arbitrations, "ran {}", self.scenario.file);
    }

    /// Times of lone transfers, for which a new instance is asked; none of a run that was interrupted.
    fn alone(&self, outcome: &Outcome) -> Result<Alone<'a>, Error> {
        let s = self.scenario;
        if outcome.stop == Stop::Cancelled {
            return Ok(Alone::unknown(&s.fabric, &s.tasks, &s.routes));
        }
        Ok(Alone::new(&s.fabric, &s.tasks, &s.routes, self.make()?))
    }

    /// The incremental side in large runs, where there is one; `params` are [`Self::params`].
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
        let (name, version, legend) = (&self.entry.name, &self.entry.version, &self.entry.legend);
        ArbiterInfo { name, version, sha256, params: &self.spec.params, legend }
    }

    /// A new instance that was asked nothing yet.
    fn make(&self) -> Result<Box<dyn RateArbiter>, Error> {
        make_arbiter(self.entry, &self.params(), &self.scenario.fabric).map_err(|refusal| self.refused(&refusal))
    }
}

/// A run that is over, ready to be reported.
pub struct Finished<'a> {
    job: Job<'a>,
    outcome: &'a Outcome,
    /// Times of lone transfers under the same arbiter.
    pub alone: Alone<'a>,
}

impl Finished<'_> {
    /// The result with its names.
    #[must_use]
    pub fn report(&self) -> Run<'_> {
        Run { scenario: self.job.scenario, arbiter: self.job.info(), outcome: self.outcome, alone: &self.alone }
    }
}
