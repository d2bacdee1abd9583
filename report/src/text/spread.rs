//! How far ends move when every transfer starts a little later, for a person: a row for each operation and transfer, and one
//! for the makespan.

use std::cmp::Reverse;

use weir_plugin_api::SimTime;
use weir_sim_core::TaskId;

use super::{LAST, ROWS, Sheet, more};
use crate::{EndSpread, Run, Spread, duration, instant};

/// The table of a run with a spread; empty for others.
pub(super) fn spread(run: &Run<'_>) -> String {
    let Some(spread) = run.spread else { return String::new() };
    let operations = &run.scenario.operations;
    let mut sheet = Sheet::new(["", ">end", ">earliest", ">median", ">latest", ">spread", ">of the median"]).spare([
        "end",
        "of the median",
        "median",
    ]);
    for operation in operations.iter().take(ROWS) {
        sheet.row(row(&operation.id, run.ended(operation), spread.operation(operation).map(|own| own.end)));
    }
    let (total, rows) = listed(run, spread);
    for &task in &rows {
        sheet.row(row(
            &run.scenario.task_name(task),
            run.outcome.tasks[task.index()].end,
            spread.transfer(task).map(|own| own.end),
        ));
    }
    sheet.row(row("makespan", run.outcome.makespan, Some(spread.makespan)));
    let most = rows.len();
    let cut = format!("the {most} of {total} transfers with the largest spread: --json lists all\n");
    let (later, seeds) = (duration(spread.jitter), spread.seeds);
    let head = format!("ends where each transfer starts up to {later} later (seeds: {seeds})");
    format!(
        "\n{head}\n{}{}{}",
        sheet.finish(),
        more(operations.len(), "operations"),
        if most < total { &cut } else { "" }
    )
}

/// The number of transfers, and those that the table has room for: all, or those with the largest spread.
fn listed(run: &Run<'_>, spread: &Spread) -> (usize, Vec<TaskId>) {
    let mut all: Vec<TaskId> = run.transfers().collect();
    let total = all.len();
    if total > ROWS {
        all.sort_by_key(|&task| Reverse(spread.transfer(task).map(|own| own.end.width())));
        all.truncate(LAST);
    }
    (total, all)
}

fn row(name: &str, end: SimTime, range: Option<EndSpread>) -> Vec<String> {
    let mut cells = vec![name.to_owned(), instant(end)];
    cells.extend(range.map_or_else(Vec::new, |range| {
        let part = range.width().seconds() / range.median.seconds().max(f64::MIN_POSITIVE);
        let width = duration(range.width());
        vec![instant(range.min), instant(range.median), instant(range.max), width, format!("{:.3} %", part * 100.0)]
    }));
    cells
}
