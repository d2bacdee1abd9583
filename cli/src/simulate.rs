//! Runs of the command: Ctrl-C stops them, and warnings go to stderr.

pub(crate) use weir::job::Job;

use weir_report::{Alone, Run};
use weir_sim_core::{RunOptions, Stop};

use crate::failure::{Failure, message};
use crate::interrupt::{self, Stage};

/// Runs a job and hands the result, with its names, to `report`.
pub(crate) fn report<T>(
    job: &Job<'_>,
    options: RunOptions<'_>,
    report: impl FnOnce(&Run<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let running = Stage::running();
    let outcome = job.run(watched(options))?;
    say_if_interrupted(outcome.stop);
    let finished = job.finished(&outcome)?;
    drop(running);
    let _writing = Stage::writing();
    let reported = report(&finished.report());
    say_trouble(job, &finished.alone);
    reported
}

/// The same options, where Ctrl-C stops the run if nothing else does.
pub(crate) fn watched(options: RunOptions<'_>) -> RunOptions<'_> {
    RunOptions { cancel: options.cancel.or(Some(interrupt::flag())), ..options }
}

/// Warns where the arbiter could not be asked about lone transfers.
pub(crate) fn say_trouble(job: &Job<'_>, alone: &Alone<'_>) {
    if let Some(trouble) = alone.trouble() {
        let at = format!("{}: arbiter `{}`", job.scenario().file, job.spec().name);
        message(&format!("warning: {at}, asked about one transfer alone: {trouble}; such times are left out"));
    }
}

/// Says that a run was interrupted.
pub(crate) fn say_if_interrupted(stop: Stop) {
    if stop == Stop::Cancelled {
        message("note: interrupted; the partial result is written and marked as incomplete");
    }
}

/// Warns about attributes that the scenario sets and the arbiter does not read; returns how many there are.
pub(crate) fn warn_ignored(job: &Job<'_>) -> usize {
    let ignored = job.ignored_attributes();
    ignored.iter().for_each(|warning| message(warning));
    ignored.len()
}
