//! The result of a run for a person: makespan, operations, transfers, busiest links.

use std::cmp::Reverse;
use std::fmt::Write;

use ordered_float::OrderedFloat;
use weir_sim_core::{Stop, TaskId};

use super::losses::{listed, listed_words, waiting};
use super::{Mark, ROWS, Sheet, clean, jobs, operations, spread, title};
use crate::cause::{cause_text, place_text};
use crate::percentiles::completion;
use crate::run::{mean_rate, slowdown};
use crate::{Run, Streamed, duration, instant, rate};
use weir_plugin_api::{LinkId, SimDuration, SimTime};

/// Links shown.
const BUSIEST: usize = 5;
/// Slowdown from which colour points at a transfer; *assumed*: others cost it as much as it needs alone.
const SLOW: f64 = 2.0;

/// The whole text of a run.
#[must_use]
pub fn run(run: &Run<'_>) -> String {
    let mut out = title(run);
    out.push('\n');
    out.push_str(&headline(run, || ended(run)));
    out.push_str(&jobs::jobs(run));
    out.push_str(&operations::planned(run));
    out.push_str(&transfers(run));
    out.push_str(&operations::own(run));
    out.push_str(&percentiles(run));
    out.push_str(&spread::spread(run));
    out.push_str(&links(run));
    out.push_str(&remarks(run));
    out
}

/// The text of a run whose transfers were streamed to a file.
#[must_use]
pub fn streamed(run: &Run<'_>, streamed: &Streamed<'_>) -> String {
    let Streamed { target, transfers, ended } = streamed;
    let headline = headline(run, || format!("{ended} of {transfers} transfers"));
    let target = clean(target);
    let rows = if run.complete() {
        format!("{transfers} transfers: {target}\n")
    } else {
        format!("these, and without an end those under way and the next to come: {target}\n")
    };
    format!("{}\n{headline}{rows}{}{}", title(run), links(run), remarks(run))
}

/// What the arbiter said of its answers.
fn remarks(run: &Run<'_>) -> String {
    let lines: String = run.remarks().iter().map(|remark| format!("note: {}\n", clean(remark))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Exact picoseconds beside rounded units.
fn exact(time: SimTime) -> String {
    format!("{} ({} ps)", instant(time), time.0)
}

fn headline(run: &Run<'_>, ended: impl Fn() -> String) -> String {
    let outcome = run.outcome;
    let stopped = |why: &str| format!("stopped at {} {why}: {} have ended\n\n", exact(outcome.now), ended());
    match outcome.stop {
        Stop::Finished => format!("makespan {}, {} events\n\n", exact(outcome.makespan), outcome.events),
        Stop::Until => stopped("(--until)"),
        Stop::Cancelled => stopped("(interrupted)"),
    }
}

/// `2 of 4 transfers`, with the operations that models planned where there are any.
fn ended(run: &Run<'_>) -> String {
    let times = &run.outcome.tasks;
    let (total, ended) = run
        .transfers()
        .fold((0, 0), |(all, ended), task| (all + 1, ended + usize::from(!times[task.index()].end.is_never())));
    let planned = &run.scenario.operations;
    let transfers = format!("{ended} of {total} transfers");
    if planned.is_empty() {
        return transfers;
    }
    let ended = planned.iter().filter(|operation| !run.ended(operation).is_never()).count();
    let operations = format!("{ended} of {} operations", planned.len());
    if total == 0 { operations } else { format!("{operations} and {transfers}") }
}

fn transfers(run: &Run<'_>) -> String {
    let all: Vec<TaskId> = run.transfers().collect();
    let planned = !run.scenario.operations.is_empty();
    if all.is_empty() {
        return if planned { String::new() } else { "no transfers\n".to_owned() };
    }
    let total = all.len();
    let rows = listed(run, all);
    let times = |task: &TaskId| run.outcome.tasks[task.index()];
    // Most start when they are ready; the column is there for those that wait for a send engine.
    let waits = rows.iter().map(times).any(|t| t.start > t.ready && !t.ready.is_never());
    let ready = waits.then_some(">ready");
    let before = ["transfer", "from → to"].into_iter().chain(ready);
    let mut sheet = Sheet::new(before.chain([">start", ">end", ">mean rate", ">slowdown", "held back at", "because"]))
        .spare(["start", "ready", "mean rate", "from → to", "held back at"]);
    for &task in &rows {
        let slow = slowdown(run, task).is_some_and(|by| by >= SLOW).then_some(Mark::Slow);
        sheet.marked_row(slow, transfer(run, task, waits));
    }
    let cut = format!("the {} of {total} {}: --json lists all\n", rows.len(), listed_words(run));
    let (gap, cut) = (if planned { "\n" } else { "" }, if total > ROWS { &*cut } else { "" });
    format!("{gap}{}{cut}{}", sheet.finish(), waiting(run, total))
}

fn transfer(run: &Run<'_>, task: TaskId, waits: bool) -> Vec<String> {
    let dash = || "–".to_owned();
    let times = run.outcome.tasks[task.index()];
    let ends = run
        .carried(task)
        .map_or_else(dash, |c| format!("{} → {}", run.scenario.node_name(c.from), run.scenario.node_name(c.to)));
    let mut cells = vec![run.scenario.task_name(task).into_owned(), ends];
    cells.extend(waits.then(|| instant(times.ready)));
    cells.extend([
        instant(times.start),
        instant(times.end),
        mean_rate(run, task).map_or_else(dash, rate),
        slowdown(run, task).map_or_else(dash, |s| format!("{s:.3}×")),
        place_text(run, task).unwrap_or_else(dash),
        cause_text(run, task).unwrap_or_else(dash),
    ]);
    cells
}

fn percentiles(run: &Run<'_>) -> String {
    // Wherever the table of transfers is cut; sorting is not for the user of an interrupted run.
    if run.outcome.stop == Stop::Cancelled || run.transfers().nth(ROWS).is_none() {
        return String::new();
    }
    let table = completion(run).0;
    if table.is_empty() {
        return String::new();
    }
    let mut sheet =
        Sheet::new(std::iter::once("percentile".to_owned()).chain(table.iter().map(|(p, _)| format!(">{p} %"))));
    let values =
        table.iter().map(|&(_, s)| duration(SimDuration((s * weir_plugin_api::PS_PER_S as f64).round() as u64)));
    sheet.row(std::iter::once("completion time".to_owned()).chain(values));
    format!("\n{}", sheet.finish())
}

/// The links with the largest utilisation: bytes over bandwidth times the time simulated.
fn links(run: &Run<'_>) -> String {
    let outcome = run.outcome;
    let span = if run.complete() { outcome.makespan } else { outcome.now };
    let used = outcome.links.iter().enumerate().filter(|(_, total)| total.bytes > 0);
    let utilisation = |(i, total): (usize, &weir_sim_core::LinkTotals)| {
        let id = LinkId::from_index(i);
        (total.bytes as f64 / (run.scenario.fabric.link(id).bandwidth * span.seconds()), id)
    };
    let mut busiest: Vec<(f64, LinkId)> = used.map(utilisation).collect();
    if busiest.is_empty() || span == SimTime::ZERO {
        return String::new();
    }
    busiest.sort_by_key(|&(share, id)| (Reverse(OrderedFloat(share)), id));
    let mut sheet = Sheet::new(["busiest links", ">utilisation", ">busy", ">peak", ">bandwidth", ">bytes"]).spare([
        "peak",
        "bandwidth",
        "busy",
    ]);
    for &(share, id) in busiest.iter().take(BUSIEST) {
        let total = outcome.links[id.index()];
        sheet.row([
            run.link_text(id),
            format!("{:.1} %", share * 100.0),
            duration(total.busy),
            total.peak.map_or_else(|| "unknown".to_owned(), rate),
            rate(run.scenario.fabric.link(id).bandwidth),
            crate::bytes(total.bytes),
        ]);
    }
    let mut out = format!("\n{}", sheet.finish());
    // Those of packets are never known.
    let is_fluid = outcome.packets.is_none();
    if is_fluid && busiest.iter().take(BUSIEST).any(|(_, id)| outcome.links[id.index()].peak.is_none()) {
        out.push_str("peaks of large runs are not all known: --peaks reports every one\n");
    }
    if busiest.len() > BUSIEST {
        let _ = writeln!(out, "… {} more links carried bytes: --json lists all", busiest.len() - BUSIEST);
    }
    out
}
