//! A scenario under one of its arbiters, and what is asked of it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use weir_plugin_api::ArbiterEntry;
use weir_report::{SearchArbiter, SearchSubject};
use weir_scenario::{ArbiterSpec, LoadOptions, Scenario};
use weir_sim_core::{Outcome, RunOptions, Stop};

use super::settings::{SearchOptions, Settings};
use crate::prepared::PreparedRun;
use crate::scenario::Source;
use crate::{Error, ErrorKind, Registry};

/// A scenario under one of its arbiters, and what is asked of it.
#[derive(Clone, Copy)]
pub(super) struct SearchContext<'a> {
    /// From where candidates are read with other values.
    pub(super) source: &'a Source,
    pub(super) registry: &'a Registry,
    pub(super) scenario: &'a Scenario,
    /// Which of its arbiters.
    pub(super) arbiter: usize,
    pub(super) settings: Settings,
    pub(super) options: SearchOptions<'a>,
    /// When it becomes true the search ends: the caller wants it, or the budget is spent.
    pub(super) cancel: &'a AtomicBool,
    pub(super) begin: Instant,
}

impl<'a> SearchContext<'a> {
    /// The arbiter as the scenario names it.
    pub(super) fn spec(&self) -> &'a ArbiterSpec {
        &self.scenario.arbiters[self.arbiter]
    }

    /// The arbiter as the registry has it.
    pub(super) fn entry(&self) -> &'a ArbiterEntry {
        &self.spec().entry
    }

    pub(super) fn subject(&self) -> Result<SearchSubject, Error> {
        let (scenario, entry) = (self.scenario, self.entry());
        Ok(SearchSubject {
            scenario: scenario.name.clone(),
            // However the path was spelled: parts of one search merge into the same bytes.
            file: Path::new(&scenario.file)
                .file_name()
                .map_or_else(|| scenario.file.clone(), |name| name.to_string_lossy().into_owned()),
            input_sha256: scenario.input_sha256.clone(),
            arbiter: SearchArbiter {
                name: entry.name.clone(),
                version: entry.version.clone(),
                sha256: entry.origin.sha256().map(str::to_owned),
                params: self.spec().written.clone(),
            },
        })
    }

    /// Seconds since the search began, unless results must not contain it.
    pub(super) fn wall(&self) -> Option<f64> {
        self.options.timing.then(|| self.begin.elapsed().as_secs_f64())
    }

    /// Makespan of the baseline, ps.
    pub(super) fn baseline(&self) -> Result<u64, Error> {
        self.runs().run(self.scenario)
    }

    /// As this, where the budget does not end what is done: a checkpoint is read whatever the budget.
    pub(super) fn preparing(&self) -> Self {
        if self.options.checkpoint.is_some() { self.beyond_budget() } else { *self }
    }

    /// As this, where only the caller ends what is done: what was found is simulated again for what else it says.
    pub(super) fn beyond_budget(&self) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { cancel: self.options.cancel.unwrap_or(&NEVER), ..*self }
    }

    /// Whether the search must end.
    pub(super) fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// What runs candidates, on any thread.
    pub(super) fn runs(&self) -> Runs<'a> {
        Runs { source: self.source, registry: self.registry, arbiter: self.arbiter, cancel: self.cancel }
    }
}

/// Reads and runs the scenario with other values.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    source: &'a Source,
    registry: &'a Registry,
    arbiter: usize,
    cancel: &'a AtomicBool,
}

impl Runs<'_> {
    /// The scenario with some edits after those it was read with.
    pub(super) fn read(&self, edits: &[(String, String)]) -> Result<Scenario, Error> {
        self.load(&self.source.edited(edits))
    }

    fn load(&self, options: &LoadOptions) -> Result<Scenario, Error> {
        let read = weir_scenario::load_unless(self.cancel, self.source.input(), options, self.registry);
        let scenario = read.map_err(|findings| self.registry.error_of(findings))?;
        if scenario.arbiters.len() <= self.arbiter {
            return Err(Error::input("the scenario has fewer arbiters with these values: vary something else"));
        }
        Ok(scenario)
    }

    /// Makespan of the scenario with some edits, ps.
    pub(super) fn makespan(&self, edits: &[(String, String)]) -> Result<u64, Error> {
        self.run(&self.load(&self.source.candidate(edits))?)
    }

    fn run(&self, scenario: &Scenario) -> Result<u64, Error> {
        self.outcome(scenario).map(|outcome| outcome.makespan.0)
    }

    /// The run of a scenario to its end.
    pub(super) fn outcome(&self, scenario: &Scenario) -> Result<Outcome, Error> {
        let prepared = PreparedRun::new(scenario, &scenario.arbiters[self.arbiter]);
        let outcome = prepared.outcome(RunOptions { cancel: Some(self.cancel), ..RunOptions::default() })?;
        match outcome.stop {
            Stop::Finished => Ok(outcome),
            _ => Err(too_soon()),
        }
    }
}

/// Refuses links that change, where a search does not simulate every candidate.
pub(super) fn unchanging(context: &SearchContext<'_>) -> Result<(), Error> {
    if context.scenario.changes.is_empty() {
        return Ok(());
    }
    let objective = context.settings.objective;
    let instead = match objective.is_cost() {
        true => format!("`objective: makespan` in place of `{}`", objective.word()),
        false => "the method `local-search`, which simulates".to_owned(),
    };
    let what = format!("{}: this search does not know of links that change", context.scenario.file);
    Err(Error::input(format!("{what}: leave out `events`, or use {instead}")))
}

/// A search that was ended before it knew anything.
pub(super) fn too_soon() -> Error {
    Error::new(ErrorKind::Cancelled, "the search was ended before its first result")
}
