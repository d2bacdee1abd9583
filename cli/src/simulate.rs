//! Runs of the command: Ctrl-C stops them, and warnings go to stderr.

use std::sync::Arc;

use weir::{ArbiterSpec, Error, RunOptions, Scenario};
use weir_report::Run;
use weir_sim_core::Stop;

use crate::failure::message;
use crate::interrupt::{self, Stage};
use crate::progress;

/// Runs a scenario under an arbiter and hands the result, with its names, to `report`.
pub(crate) fn report<T>(
    scenario: &Scenario,
    arbiter: &ArbiterSpec,
    options: &RunOptions,
    report: impl FnOnce(&Run<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let running = Stage::running();
    let transfers = scenario.contents().tasks.transfers().count();
    let run = progress::of_run(transfers, |progress| {
        scenario.run_under(arbiter, &RunOptions { progress, ..watched(options) })
    })?;
    drop(running);
    if options.jitter.is_some() && run.complete() && run.spread().is_none() {
        message("note: interrupted; the result has no spread");
    }
    let reported = hand_over(&run, report);
    if interrupt::requested() {
        // The program ends now, and taking millions of rates apart would delay it.
        std::mem::forget(run);
    }
    reported
}

/// Hands a result, with its names, to `report`.
pub(crate) fn hand_over<T>(run: &weir::Run, report: impl FnOnce(&Run<'_>) -> Result<T, Error>) -> Result<T, Error> {
    run.report(|run| {
        say_if_interrupted(run.outcome.stop);
        let _writing = Stage::writing();
        let reported = report(run);
        say_trouble(run);
        reported
    })?
}

/// The same options, where Ctrl-C stops the run.
pub(crate) fn watched(options: &RunOptions) -> RunOptions {
    RunOptions { cancel: Some(Arc::clone(interrupt::flag())), ..options.clone() }
}

/// Warns where the arbiter could not be asked about lone transfers.
pub(crate) fn say_trouble(run: &Run<'_>) {
    if let Some(trouble) = run.alone.trouble() {
        let at = format!("{}: arbiter `{}`", run.scenario.file, run.arbiter.name);
        message(&format!("warning: {at}, asked about one transfer alone: {trouble}; such times are left out"));
    }
}

/// Says that a run was interrupted.
pub(crate) fn say_if_interrupted(stop: Stop) {
    if stop == Stop::Cancelled {
        message("note: interrupted; writing the partial result, marked as incomplete");
    }
}

/// Warns about attributes that the scenario sets and the arbiter does not read, and about links that it is not made for.
pub(crate) fn warn_of(scenario: &Scenario, arbiter: &ArbiterSpec) -> Result<(), Error> {
    scenario.warnings_under(arbiter)?.iter().for_each(|warning| message(warning));
    Ok(())
}

/// Warns of `--max-hops` where no run has packets to count.
pub(crate) fn warn_of_max_hops(scenario: &Scenario, most: Option<u64>) {
    if most.is_some() && scenario.arbiters().iter().all(|arbiter| arbiter.packets.is_none()) {
        let file = &scenario.contents().file;
        message(&format!(
            "warning: {file}: `--max-hops` has no effect without packets: run it with `--fidelity packet`"
        ));
    }
}
