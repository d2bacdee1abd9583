//! Operations that choose under load: each alternative is tried in a run of the whole scenario.
//!
//! ```text
//! workload with choices alone ─► first operation with `under: load` ─► a run for each alternative ─► decided ─► the next
//! ```
//!
//! **Definition.** The best alternative has the least time from the operation's release to its end. Operations decide in file
//! order: those before have what they decided on, those after what is the fastest alone, which the first read finds once
//! for all. Transfers go by rates under the scenario's first arbiter, with its links that change.
//! **Ties.** The first of the fastest.
//! **Source.** The choice is that of `packet: auto`, Aggarwal et al., PGAS 2010, section 6, which tunes on an idle machine.

use weir_plugin_api::{CallError, RateArbiter, SimDuration};
use weir_sim_core::{Changing, Fabric, LinkChanges, Outcome, RunOptions, Simulation, TaskId, admit, make_arbiter};

use super::super::{Setting, Workload, WorkloadKeys, read};
use super::choice::{Trouble, fastest, interrupted, trial};
use crate::arbiter::ArbiterSpec;
use crate::context::{Context, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::source::Span;
use crate::workload::{Choice, PlannedOperation};

/// Runs of the whole scenario that choices take at most; *assumed*, some minutes for a scenario of some hundred transfers.
const MOST_RUNS: usize = 10_000;

/// What runs beside the workload.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    /// The scenario's first arbiter, composed for the routes of the workload.
    pub(crate) arbiter: &'a ArbiterSpec,
    /// How links change meanwhile.
    pub(crate) changes: &'a LinkChanges,
}

/// A workload whose operations with `under: load` have their fastest alternative under the scenario's other traffic.
pub(crate) fn under_load<'a>(
    context: &mut Context,
    files: &Files,
    (setting, keys): (Setting<'a>, WorkloadKeys<'a>),
    situation: Situation<'_>,
    workload: Workload,
) -> Read<Workload> {
    if !choosing(&workload).any(|_| true) {
        return Ok(workload);
    }
    let _choices = tracing::debug_span!("choices under load").entered();
    affordable(context, &workload)?;
    let mut decided: Vec<_> = workload.operations.iter().map(|operation| operation.choice.clone()).collect();
    drop(workload);
    let open: Vec<usize> =
        (0..decided.len()).filter(|&at| decided[at].as_ref().is_some_and(|c| c.under_load)).collect();
    for at in open {
        let ways = decided[at].as_ref().map_or(0, |choice| choice.alternatives.len());
        let mut times = Vec::with_capacity(ways);
        for way in 0..ways {
            decided[at].iter_mut().for_each(|choice| choice.chosen = way);
            let tried = again(context, files, (setting, keys), &decided)?;
            times.push(time(context, setting, situation, &tried, at)?);
        }
        decided[at].iter_mut().for_each(|choice| decide(choice, &times));
        let chosen = decided[at].as_ref().map(|choice| choice.chosen);
        tracing::debug!(operation = at, chosen, ways, "chose under load");
    }
    again(context, files, (setting, keys), &decided)
}

/// Takes the fastest alternative.
fn decide(choice: &mut Choice, times: &[SimDuration]) {
    choice.chosen = fastest(times.iter().copied());
    choice.alternatives.iter_mut().zip(times).for_each(|((_, time), &loaded)| *time = loaded);
}

/// The operations that choose under load, in file order.
fn choosing(workload: &Workload) -> impl Iterator<Item = &PlannedOperation> {
    workload.operations.iter().filter(|operation| operation.choice.as_ref().is_some_and(|choice| choice.under_load))
}

/// Refuses more runs than anybody waits for.
fn affordable(context: &mut Context, workload: &Workload) -> Read<()> {
    let mut runs = 0_usize;
    for operation in choosing(workload) {
        runs = runs.saturating_add(operation.choice.as_ref().map_or(0, |choice| choice.alternatives.len()));
        if runs > MOST_RUNS {
            let message =
                format!("`under: load` runs the scenario once for each alternative: more than {MOST_RUNS} runs");
            let help = "let fewer operations choose under load, or give them fewer alternatives";
            return Err(context.error(place(workload, operation), message, help));
        }
    }
    Ok(())
}

/// Where an operation stands.
fn place(workload: &Workload, operation: &PlannedOperation) -> Span {
    let task = if operation.tasks.is_empty() { operation.release } else { TaskId(operation.tasks.start) };
    workload.groups.of(task).map(|group| group.place(0)).unwrap_or_default()
}

/// The workload with what is decided: no alternative is simulated again. Files were read before, and count once.
fn again<'a>(
    context: &mut Context,
    files: &Files,
    (setting, keys): (Setting<'a>, WorkloadKeys<'a>),
    decided: &[Option<Choice>],
) -> Read<Workload> {
    let setting: Setting<'_> = Setting { decided, ..setting };
    read(context, &mut files.clone(), setting, keys)
}

/// From release to end of the operation at a place of the file, in a run of all.
fn time(
    context: &mut Context,
    setting: Setting<'_>,
    situation: Situation<'_>,
    workload: &Workload,
    at: usize,
) -> Read<SimDuration> {
    let operation = workload.operations.get(at).ok_or(Reported)?;
    let outcome = run(setting, situation, workload).map_err(|trouble| {
        let way = operation.choice.as_ref().and_then(|choice| choice.label()).unwrap_or_default();
        let what = format!("{} {}", operation.kind, quoted(&operation.id));
        let text = format!("{what} cannot be tried under load with {}: {trouble}", quoted(way));
        let span = place(workload, operation);
        if matches!(trouble, Trouble::Cancelled) {
            return context.cancelled(span, interrupted(&what));
        }
        match trouble.is_the_arbiters() {
            true => context.plugin_error(span, Problem::new(text, "report it to the author of the arbiter")),
            false => context.error(span, text, "decide what is left open, or choose it alone: `under: alone`"),
        }
    })?;
    let end = operation.tasks().map(|task| outcome.tasks[task.index()].end).max();
    let release = outcome.tasks[operation.release.index()].end;
    Ok(end.map_or(SimDuration::ZERO, |end| end - release))
}

fn run(
    Setting { topology, cancel, .. }: Setting<'_>,
    Situation { arbiter, changes }: Situation<'_>,
    workload: &Workload,
) -> Result<Outcome, Trouble> {
    let simulation = Simulation { fabric: &topology.fabric, routes: &workload.routes, tasks: &workload.tasks };
    let make = |fabric: &Fabric| on_changed(arbiter, fabric, workload);
    let changing = (!changes.is_empty()).then_some(Changing { links: changes, make: &make });
    let outcome = trial(arbiter, simulation, RunOptions { changing, cancel, ..RunOptions::default() })?;
    // Without a limit of time a run ends, or says why not.
    debug_assert!(outcome.tasks.iter().all(|task| !task.end.is_never()));
    Ok(outcome)
}

/// The arbiter for the links as they are once they have changed.
fn on_changed(spec: &ArbiterSpec, fabric: &Fabric, workload: &Workload) -> Result<Box<dyn RateArbiter>, CallError> {
    let spec = spec.on(fabric);
    let failed = |error: &dyn std::fmt::Display| CallError::Failed(error.to_string());
    let mut arbiter = make_arbiter(&spec.entry, &spec.params_json(), fabric).map_err(|refusal| failed(&refusal))?;
    let (tasks, routes) = (&workload.tasks, &workload.routes);
    admit(&mut *arbiter, routes, tasks.classes(), tasks.transfers()).map_err(|refusal| failed(&refusal))?;
    Ok(arbiter)
}
