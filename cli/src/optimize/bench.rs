//! The scenario on the bench: what all searches ask of it, and what they give back.

use std::path::Path;
use std::time::Instant;

use weir_optimize::search::SearchResult;
use weir_plugin_api::{ArbiterEntry, Origin};
use weir_report::{SearchArbiter, SearchReport, SearchSubject, Solution, SweepReport};
use weir_scenario::{ArbiterSpec, Change, Scenario};
use weir_sim_core::{RunOptions, Stop as Stopped};

use super::part::PartFile;
use super::settings::Settings;
use super::stop::Stop;
use crate::args::OptimizeArgs;
use crate::failure::{Exit, Failure};
use crate::input::read_with;
use crate::interrupt;
use crate::plugins::Arbiters;
use crate::simulate::Job;

/// A scenario under one of its arbiters, and what is asked of it.
pub(crate) struct Bench<'a> {
    /// The file.
    pub(crate) file: &'a Path,
    /// The command line.
    pub(crate) args: &'a OptimizeArgs,
    /// What to search.
    pub(crate) settings: Settings,
    /// All arbiters and models.
    pub(crate) arbiters: &'a Arbiters,
    /// The scenario as it is.
    pub(crate) scenario: &'a Scenario,
    /// Which of its arbiters.
    pub(crate) index: usize,
    /// When to end.
    pub(crate) stop: &'a Stop,
    /// When the search began.
    pub(crate) begin: Instant,
}

/// What a search found.
pub(crate) struct Found {
    /// What to report; none for a shard or a sweep.
    pub(crate) report: Option<SearchReport>,
    /// What to report of a sweep.
    pub(crate) sweep: Option<SweepReport>,
    /// The part, for a shard.
    pub(crate) part: Option<PartFile>,
    /// What makes the best of the scenario.
    pub(crate) changes: Vec<Change>,
}

impl Found {
    /// A whole result and what makes it of the scenario.
    pub(crate) fn whole(report: SearchReport, changes: Vec<Change>) -> Self {
        Self { report: Some(report), sweep: None, part: None, changes }
    }

    /// The results of a sweep, of which none is what the scenario should be.
    pub(crate) fn sweep(sweep: SweepReport) -> Self {
        Self { report: None, sweep: Some(sweep), part: None, changes: Vec::new() }
    }

    /// A part of a search that was split.
    pub(crate) fn part(part: PartFile) -> Self {
        Self { report: None, sweep: None, part: Some(part), changes: Vec::new() }
    }
}

/// A report of a result, without what only some searches know.
pub(super) fn report(subject: SearchSubject, result: SearchResult<Solution>) -> SearchReport {
    SearchReport { subject, result, simulated: None, payback: None, distribution: None, grid: None }
}

impl<'a> Bench<'a> {
    /// The arbiter as the scenario names it.
    pub(crate) fn spec(&self) -> &'a ArbiterSpec {
        &self.scenario.arbiters[self.index]
    }

    /// The arbiter as the registry has it.
    pub(crate) fn entry(&self) -> Result<&'a ArbiterEntry, Failure> {
        let name = &self.spec().name;
        let missing = || Failure::usage(format!("there is no arbiter `{name}`: see `weir plugin list`"));
        self.arbiters.registry.get(name).ok_or_else(missing)
    }

    /// What is searched.
    pub(crate) fn subject(&self) -> Result<SearchSubject, Failure> {
        let (scenario, entry) = (self.scenario, self.entry()?);
        let sha256 = match &entry.origin {
            Origin::Library { sha256, .. } => Some(sha256.clone()),
            Origin::BuiltIn => None,
        };
        Ok(SearchSubject {
            scenario: scenario.name.clone(),
            // However the path was spelled: parts of one search merge into the same bytes.
            file: self
                .file
                .file_name()
                .map_or_else(|| scenario.file.clone(), |name| name.to_string_lossy().into_owned()),
            input_sha256: scenario.input_sha256.clone(),
            arbiter: SearchArbiter {
                name: entry.name.clone(),
                version: entry.version.clone(),
                sha256,
                params: self.spec().params.clone(),
            },
        })
    }

    /// Seconds since the search began, unless they are not to be told.
    pub(crate) fn wall(&self) -> Option<f64> {
        (!self.args.no_timing).then(|| self.begin.elapsed().as_secs_f64())
    }

    /// Makespan of the scenario as it is, ps.
    pub(crate) fn baseline(&self) -> Result<u64, Failure> {
        self.runs().run(self.scenario)
    }

    /// What runs candidates, on any thread.
    pub(crate) fn runs(&self) -> Runs<'a> {
        Runs { file: self.file, args: self.args, arbiters: self.arbiters, index: self.index, stop: self.stop }
    }
}

/// Reads and runs the scenario with other values.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'a> {
    file: &'a Path,
    args: &'a OptimizeArgs,
    arbiters: &'a Arbiters,
    index: usize,
    stop: &'a Stop,
}

impl Runs<'_> {
    /// Makespan of the scenario with some edits, ps.
    pub(crate) fn makespan(&self, edits: &[(String, String)]) -> Result<u64, Failure> {
        let scenario = read_with(self.file, &self.args.scenario, edits, self.arbiters)?;
        self.run(&scenario)
    }

    fn run(&self, scenario: &Scenario) -> Result<u64, Failure> {
        let missing = || Failure::usage("the scenario has fewer arbiters with these values: vary something else");
        let spec = scenario.arbiters.get(self.index).ok_or_else(missing)?;
        let job = Job::new(scenario, spec, &self.arbiters.registry)?;
        let outcome = job.outcome(RunOptions { cancel: Some(self.stop.flag()), ..RunOptions::default() })?;
        match outcome.stop {
            Stopped::Finished => Ok(outcome.makespan.0),
            _ => Err(too_soon()),
        }
    }
}

/// A search that was ended before it knew anything.
pub(super) fn too_soon() -> Failure {
    match interrupt::requested() {
        true => Failure::new(Exit::Interrupted, "interrupted before the first result"),
        false => Failure::usage("the time ran out before the first result: give a longer --budget"),
    }
}
