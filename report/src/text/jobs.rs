//! Jobs for a person: where others slow one of them.

use super::operations::{LEFT_OUT, most_slowed};
use super::{ROWS, Sheet, more};
use crate::{Run, duration, instant};

/// The jobs; empty where none is slowed by another.
pub(super) fn jobs(run: &Run<'_>) -> String {
    let all = &run.scenario.jobs;
    let slowdowns = all.iter().map(|job| (&*job.id, run.job_slowdown(job)));
    let Some(most) = most_slowed(slowdowns) else {
        // The table of operations says it, where there is one.
        let says = run.alone.leaves_out_parts() && run.scenario.operations.is_empty();
        return if says { format!("{LEFT_OUT}\n") } else { String::new() };
    };
    let mut sheet =
        Sheet::new(["job", "kind", ">released", ">end", ">time", ">slowdown"]).spare(["released", "kind", "end"]);
    for job in all.iter().take(ROWS) {
        let dash = || "–".to_owned();
        sheet.row([
            job.id.to_string(),
            job.kind.to_string(),
            instant(run.job_begins(job)),
            instant(run.job_ends(job)),
            run.job_time(job).map_or_else(dash, duration),
            run.job_slowdown(job).map_or_else(dash, |by| format!("{by:.3}×")),
        ]);
    }
    format!("{}{}{most}\n", sheet.finish(), more(all.len(), "jobs"))
}
