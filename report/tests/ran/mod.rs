//! Runs of the small scenarios in `tests/scenarios`, simulated under built-in policies and models, with all that is recorded of
//! a run, and texts compared with those that were accepted.

use std::ops::Range;
use std::path::{Path, PathBuf};

use weir_plugin_api::{CallError, RateArbiter, Registry, SimTime};
use weir_report::{Alone, ArbiterInfo, EndSpread, OwnSpread, Run, Spread};
use weir_scenario::{ArbiterSpec, Input, LoadOptions, Scenario, load};
use weir_sim_core::{
    Changing, Fabric, LinkChanges, OnFailure, Outcome, RunOptions, Sharing, Simulation, TaskGraph, TaskTimes, admit,
    make_arbiter,
};

/// Of operations and jobs alone.
static NO_CHANGES: LinkChanges = LinkChanges { sources: Vec::new(), on_failure: OnFailure::Wait };

/// A run that has ended.
pub struct Ran {
    pub scenario: Scenario,
    pub outcome: Outcome,
    pub spread: Option<Spread>,
    /// Which of the scenario's policies decided.
    number: usize,
    /// Whether operations and jobs are run alone, too.
    has_parts: bool,
}

/// Reads a scenario of `tests/scenarios`.
pub fn read(name: &str) -> Scenario {
    let file = format!("{name}.yaml");
    let text = std::fs::read(folder().join(&file)).expect("a scenario");
    parsed(&file, &text)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// Its digest is one for all, so that results do not change with comments.
fn parsed(file: &str, text: &[u8]) -> Scenario {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("new names");
    weir_models::register(&mut registry).expect("new names");
    weir_packets::arbiter::register(&mut registry).expect("new names");
    let folder = folder();
    let input = Input::text(text, file, Some(&folder));
    let mut scenario =
        load(input, &LoadOptions::default(), &registry).unwrap_or_else(|problems| panic!("{problems:#?}"));
    scenario.input_sha256 = "0".repeat(64);
    scenario
}

impl Ran {
    /// Runs a scenario of `tests/scenarios` under the policy with this number, to its end.
    pub fn new(name: &str, number: usize) -> Self {
        Self::until(name, number, SimTime::NEVER)
    }

    /// The same, but not longer than until then.
    pub fn until(name: &str, number: usize, until: SimTime) -> Self {
        Self::of(read(name), number, until)
    }

    /// Runs a scenario that is written as text under its first policy, to its end.
    pub fn of_text(text: &str) -> Self {
        Self::of(parsed("x.yaml", text.as_bytes()), 0, SimTime::NEVER)
    }

    /// Runs a scenario under the policy with this number, but not longer than until then.
    pub fn of(scenario: Scenario, number: usize, until: SimTime) -> Self {
        let options = RunOptions { until, phases: true, explain: true, buffers: true, ..RunOptions::default() };
        let outcome = simulated(&scenario, &scenario.arbiters[number], &scenario.tasks, &scenario.changes, options);
        Self { scenario, outcome, spread: None, number, has_parts: true }
    }

    /// With ends that move from 1 ms before to 3 ms after the end of this run.
    pub fn with_spread(mut self) -> Self {
        let ms = 1_000_000_000;
        let of = |end: SimTime| {
            EndSpread::of(&mut [SimTime(end.0.saturating_sub(ms)), end, SimTime(end.0 + 3 * ms)]).expect("three")
        };
        let (scenario, times) = (&self.scenario, &self.outcome.tasks);
        // Nothing comes before: the times move as the ends.
        let own = |end: SimTime| OwnSpread { end: of(end), time: of(end).width() };
        let transfers = scenario.tasks.transfers().map(|(task, _)| (task, own(times[task.index()].end)));
        let operations = scenario.operations.iter().map(|operation| {
            let end = operation.tasks().map(|task| times[task.index()].end).max().expect("it has tasks");
            (operation.release, own(end))
        });
        let ends = transfers.chain(operations).collect();
        let jitter = weir_plugin_api::SimDuration(4 * ms);
        self.spread = Some(Spread::new(jitter, 3, of(self.outcome.makespan), ends));
        self
    }

    /// The same as of a workload that is too large to run its parts alone.
    pub fn without_parts(self) -> Self {
        Self { has_parts: false, ..self }
    }

    pub fn report<T>(&self, report: impl FnOnce(&Run<'_>) -> T) -> T {
        let (scenario, spec) = (&self.scenario, &self.scenario.arbiters[self.number]);
        let (fabric, routes, tasks) = (&scenario.fabric, &scenario.routes, &scenario.tasks);
        let alone = match &spec.packets {
            Some(plan) => Alone::of_packets(fabric, tasks, routes, plan.on(fabric)),
            None => Alone::new(fabric, tasks, routes, made(scenario, spec, fabric).expect("takes the fabric")),
        };
        let part = |part: Range<u32>| -> Option<Vec<TaskTimes>> {
            let (count, part) = (part.len(), tasks.part(part));
            let mut outcome = simulated(scenario, spec, &part, &NO_CHANGES, RunOptions::default());
            outcome.tasks.truncate(count);
            Some(outcome.tasks)
        };
        report(&Run {
            scenario,
            arbiter: ArbiterInfo {
                name: &spec.entry.name,
                version: &spec.entry.version,
                sha256: None,
                params: &spec.written,
                legend: &spec.entry.legend,
                regions: spec.regions.as_deref(),
                packets: spec.packets.as_deref(),
            },
            outcome: &self.outcome,
            alone: &if self.has_parts { alone.with_parts(Box::new(part)) } else { alone.too_large_for_parts() },
            spread: self.spread.as_ref(),
        })
    }
}

/// A new policy that has admitted all routes.
fn made(scenario: &Scenario, spec: &ArbiterSpec, fabric: &Fabric) -> Result<Box<dyn RateArbiter>, CallError> {
    let failed = |error: &dyn std::fmt::Display| CallError::Failed(error.to_string());
    let mut policy = make_arbiter(&spec.entry, &spec.params_json(), fabric).map_err(|error| failed(&error))?;
    let tasks = &scenario.tasks;
    admit(&mut *policy, &scenario.routes, tasks.classes(), tasks.transfers()).map_err(|error| failed(&error))?;
    Ok(policy)
}

fn simulated(
    scenario: &Scenario,
    spec: &ArbiterSpec,
    tasks: &TaskGraph,
    changes: &LinkChanges,
    options: RunOptions<'_>,
) -> Outcome {
    let fabric = &scenario.fabric;
    let make = |fabric: &Fabric| made(scenario, &spec.on(fabric), fabric);
    let changing = (!changes.is_empty()).then_some(Changing { links: changes, make: &make });
    let packets = spec.packets.as_ref().map(|plan| plan.on(fabric));
    let sharing = packets.as_ref().map_or(Sharing::ByArbiter, Sharing::Packets);
    let mut policy = made(scenario, spec, fabric).expect("takes the fabric");
    let simulation = Simulation { fabric, routes: &scenario.routes, tasks };
    let options = RunOptions { sharing, changing, ..options };
    simulation.run(&mut *policy, spec.entry.flags, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The text is what was accepted under this name in `snapshots/report`. Accept a change with `INSTA_UPDATE=always`, and say why
/// in the commit.
pub fn accepted(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/report"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r#""version": *"[^"]*""#, r#""version":"…""#);
    settings.add_filter(r#"version: "[^"]*""#, r#"version: "…""#);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
