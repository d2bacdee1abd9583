//! Operations for a person: those that models planned against their closed forms, then computations and barriers.

use std::fmt::Write;

use weir_plugin_api::{Estimate, PS_PER_S, SimDuration};

use super::{ROWS, Sheet, clean, more, offloads};
use crate::bandwidths::{Cut, bandwidths, cut, of_bound};
use crate::difference::{Difference, difference};
use crate::operations::{Operation, operations};
use crate::served::Served;
use crate::{Run, bytes, duration, instant, rate};
use weir_scenario::{NotTried, PlannedOperation};

/// Most characters of a reason that stands in the table; longer ones stand below it (*assumed*: the table stays below
/// some 120 columns).
const SHORT: usize = 32;
/// Slowdown of an operation or a job by the rest of the workload that is shown; *assumed*, what three decimals show.
const SLOWED: f64 = 1.0005;
/// Instead of the column.
pub(super) const LEFT_OUT: &str = "slowdown: left out, the workload is too large to run each job alone\n";
/// Alternatives of a choice that are named.
const NAMED: usize = 6;
/// Decimals of a percentage at most: a relative difference of 1e-9, the smallest that counts, is 1e-7 %.
const DECIMALS: usize = 7;

/// The operations that models planned; empty where there are none.
pub(super) fn planned(run: &Run<'_>) -> String {
    let all = &run.scenario.operations;
    if all.is_empty() {
        return String::new();
    }
    let served = Served::new(run);
    // Only where others make a difference, so that the table stays narrow.
    let most = most_slowed(all.iter().map(|operation| (&*operation.id, run.operation_slowdown(operation))));
    let slowed = most.is_some();
    let mut heads = vec!["operation", "kind", ">released", ">end", ">time"];
    heads.extend(slowed.then_some(">slowdown"));
    heads.extend(["by formula", ">difference", "because"]);
    let mut sheet = Sheet::new(heads).spare(["released", "kind", "end", "slowdown"]);
    let mut below = String::new();
    for operation in all.iter().take(ROWS) {
        let difference = difference(run, &served, operation);
        let because = difference.as_ref().map_or_else(String::new, |d| d.because.join("; "));
        let long = because.chars().count() > SHORT;
        let mut cells = row(run, operation, difference.as_ref(), if long { "see below" } else { &because });
        if slowed {
            let slowdown = run.operation_slowdown(operation);
            cells.insert(5, slowdown.map_or_else(|| "–".to_owned(), |by| format!("{by:.3}×")));
        }
        sheet.row(cells);
        if long && let Some(difference) = &difference {
            let _ = writeln!(below, "{}: {}: {}", clean(&operation.id), against(difference), clean(&because));
        }
        below.push_str(&choice(run, operation));
        below.push_str(&offloads::roofline(operation));
        below.push_str(&moved(run, operation));
        below.push_str(&fixed_receives(operation));
    }
    let apart = offloads::apart_from_topology(run);
    let left_out = if run.alone.leaves_out_parts() { LEFT_OUT } else { "" };
    let (more, most) = (more(all.len(), "operations"), most.unwrap_or_default());
    format!("{}{more}{most}{below}{left_out}{apart}", sheet.finish())
}

/// If any is slowed: empty, or where the table does not show the one that is slowed most, a line on it.
pub(super) fn most_slowed<'r>(all: impl Iterator<Item = (&'r str, Option<f64>)>) -> Option<String> {
    let slowed = all.enumerate().filter_map(|(at, (id, by))| Some((at, id, by.filter(|&by| by > SLOWED)?)));
    let (at, id, by) = slowed.reduce(|most, other| if other.2 > most.2 { other } else { most })?;
    Some(if at < ROWS { String::new() } else { format!("most slowed: {}, {by:.3}×\n", clean(id)) })
}

fn row(run: &Run<'_>, operation: &PlannedOperation, difference: Option<&Difference<'_>>, because: &str) -> Vec<String> {
    let dash = || "–".to_owned();
    let formula = |estimate: &Estimate| format!("{} {}", estimate.formula, duration(span(estimate.seconds)));
    vec![
        operation.id.to_string(),
        operation.kind.to_string(),
        instant(run.released(operation)),
        instant(run.ended(operation)),
        run.simulated(operation).map_or_else(dash, duration),
        operation.estimates.last().map_or_else(dash, formula),
        difference.map_or_else(dash, percent),
        if because.is_empty() { dash() } else { because.to_owned() },
    ]
}

/// Seconds of a closed form as a span; beyond the range of spans, the longest one.
fn span(seconds: f64) -> SimDuration {
    SimDuration((seconds * PS_PER_S as f64).round() as u64)
}

/// `equal`, `+12.3 %`, or `–` where there is no ratio.
fn percent(difference: &Difference<'_>) -> String {
    match difference.relative() {
        _ if difference.equal => "equal".to_owned(),
        Some(relative) => format!("{}{}", if relative < 0.0 { "-" } else { "+" }, magnitude(relative)),
        None => "–".to_owned(),
    }
}

/// `12.3 % above eq15`.
fn against(difference: &Difference<'_>) -> String {
    let formula = clean(&difference.estimate.formula);
    match (difference.relative(), difference.seconds) {
        (Some(relative), _) => {
            format!("{} {} {formula}", magnitude(relative), if relative < 0.0 { "below" } else { "above" })
        }
        (None, Some(seconds)) => format!("{} above {formula}", duration(span(seconds))),
        (None, None) => format!("not comparable to {formula}"),
    }
}

/// A percentage without its sign: one decimal, or as many as it takes to differ from 0.
fn magnitude(relative: f64) -> String {
    let percent = relative.abs() * 100.0;
    let mut text = format!("{percent:.1}");
    for decimals in 2..=DECIMALS {
        if text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
            break;
        }
        text = format!("{percent:.decimals$}");
    }
    format!("{text} %")
}

/// What was left open, and how it was decided; empty for an operation that left nothing open.
fn choice(run: &Run<'_>, operation: &PlannedOperation) -> String {
    let Some(choice) = &operation.choice else { return String::new() };
    let Some((chosen, time)) = choice.alternatives.get(choice.chosen) else { return String::new() };
    let others = choice.alternatives.iter().enumerate().filter(|&(i, _)| i != choice.chosen);
    let mut others: Vec<String> =
        others.map(|(_, (label, time))| format!("{} {}", clean(label), duration(*time))).collect();
    if others.len() > NAMED {
        let more = format!("{} more", others.len() - NAMED);
        others.truncate(NAMED);
        others.push(more);
    }
    let over = if others.is_empty() { String::new() } else { format!(", over {}", others.join(", ")) };
    let (id, key, limit) = (clean(&operation.id), clean(&choice.key), offloads::at_limit(operation));
    // Chosen without the rest of the workload, which may make another one the fastest.
    let is_slowed = run.operation_slowdown(operation).is_some_and(|by| by > SLOWED);
    let loaded = run.simulated(operation).filter(|_| is_slowed && !choice.under_load);
    let loaded = loaded.map_or_else(String::new, |time| {
        format!("; {} under the other traffic, for which `under: load` chooses", duration(time))
    });
    let gap = if key.is_empty() { "" } else { " " };
    let with = if choice.under_load { "under the other traffic" } else { "alone" };
    let (chosen, time) = (clean(chosen), duration(*time));
    let not_tried = not_tried(operation, &choice.not_tried);
    format!("{id}: {key}{gap}auto: {chosen} is the fastest {with}, {time}{over}{limit}{loaded}\n{not_tried}")
}

/// A line for each alternative that the model refuses.
fn not_tried(operation: &PlannedOperation, ways: &[NotTried]) -> String {
    let id = clean(&operation.id);
    let line = |way: &NotTried| format!("{id}: {} was not tried: {}\n", clean(&way.label), clean(&way.reason));
    let mut lines: String = ways.iter().take(NAMED).map(line).collect();
    if ways.len() > NAMED {
        lines += &format!("{id}: {} more were not tried\n", ways.len() - NAMED);
    }
    lines
}

/// What of a program was decided before the run, and may be otherwise with contention; empty for all other operations.
fn fixed_receives(operation: &PlannedOperation) -> String {
    let count = operation.details.get("fixed_receives").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let id = clean(&operation.id);
    match count {
        0 => String::new(),
        1 => format!(
            "{id}: 1 receive from any rank or with any tag takes the message that comes first without contention\n"
        ),
        _ => format!(
            "{id}: {count} receives from any rank or with any tag take the messages that come first without contention\n"
        ),
    }
}

/// `ring: algbw 207.429 GB/s, busbw 363.000 GB/s, 99.8 % of the bound (8 ranks: 15 GB over 3 TB/s)`; empty where the model counts no bytes.
fn moved(run: &Run<'_>, operation: &PlannedOperation) -> String {
    let bandwidths = bandwidths(run, operation);
    if bandwidths.is_empty() {
        return String::new();
    }
    let named =
        bandwidths.iter().map(|(name, value)| format!("{} {}", clean(name), rate(value.as_f64().unwrap_or(0.0))));
    let named: Vec<String> = named.collect();
    let bound = of_bound(run, operation).map_or_else(String::new, |part| {
        let unlike = if run.is_over_changed_links(operation) { " of the links as the topology has them" } else { "" };
        format!(
            ", {:.1} % of the bound{unlike}{}",
            part * 100.0,
            cut(run, operation).map_or_else(String::new, |cut| crossing(&cut))
        )
    });
    format!("{}: {}{bound}\n", clean(&operation.id), named.join(", "))
}

/// ` (out of gpu0, 1 of 8 ranks: 2 GB over 363 GB/s)`: what must cross the cut that sets the bound.
fn crossing(cut: &Cut) -> String {
    let ranks = match cut.ranks {
        (inside, all) if inside == all => format!("all {all} ranks"),
        (inside, all) => format!("{inside} of {all} ranks"),
    };
    let at = cut.at.as_ref().map_or_else(String::new, |at| format!("{}, ", clean(at)));
    format!(" ({at}{ranks}: {} over {})", bytes(cut.bytes.round() as u64), rate(cut.bandwidth))
}

/// Computations and barriers.
pub(super) fn own(run: &Run<'_>) -> String {
    let mut sheet = Sheet::new(["operation", "kind", ">released", ">end"]);
    let mut total = 0;
    for operation in operations(run) {
        let Operation::Own(task, kind) = operation else { continue };
        total += 1;
        if total <= ROWS {
            let times = run.outcome.tasks[task.index()];
            let name = run.scenario.task_name(task).into_owned();
            sheet.row([name, kind.to_owned(), instant(times.ready), instant(times.end)]);
        }
    }
    if total == 0 { String::new() } else { format!("\n{}{}", sheet.finish(), more(total, "operations")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table shows the first 40. What is slowed by less than what three decimals show is not slowed.
    #[test]
    fn what_is_slowed_most_is_told_where_no_row_shows_it() {
        let told = |count: usize, at: usize, by: f64| {
            let all = (0..count).map(|i| ("a", (i != 1).then_some(if i == at { by } else { 1.0 })));
            most_slowed(all)
        };
        assert_eq!(told(41, 39, 1.25).as_deref(), Some(""));
        assert_eq!(told(41, 40, 1.25).as_deref(), Some("most slowed: a, 1.250×\n"));
        assert_eq!((told(41, 40, 1.0004), told(3, 0, 1.0006).as_deref()), (None, Some("")));
        // The first of equals.
        assert_eq!(most_slowed([("a", Some(2.0)), ("b", Some(2.0))].into_iter().cycle().take(42)).as_deref(), Some(""));
    }

    #[test]
    fn small_percentages_keep_a_digit() {
        assert_eq!(magnitude(0.1234), "12.3 %");
        assert_eq!(magnitude(-0.004), "0.4 %");
        assert_eq!(magnitude(0.0004), "0.04 %");
        assert_eq!(magnitude(1.2e-9), "0.0000001 %");
        assert_eq!(magnitude(12.0), "1200.0 %");
    }
}
