//! Results of sweeps for a person: the gain of the best order at each value of the first axis, and in total.

use std::collections::BTreeMap;

use weir_optimize::sweep::{Total, gain};
use weir_plugin_api::SimDuration;

use super::{ROWS, Sheet, clean, head, more};
use crate::run::titled;
use crate::{SweepReport, duration};

/// Columns of gains at most: one per combination of the axes but the first, as far as a line of text takes them.
const COLUMNS: u64 = 8;

/// What `weir optimize` prints where a search is made at each point of a grid.
#[must_use]
pub fn sweep(report: &SweepReport) -> String {
    let subject = &report.subject;
    let under = titled(&subject.arbiter.name, &subject.arbiter.params);
    let head = head(&subject.scenario, &subject.file, &under) + "\n";
    let totals = if report.sweep.grid().axes().len() > 1 { format!("\n{}", totals(report)) } else { String::new() };
    let gains = if report.sweep.combinations() > COLUMNS { String::new() } else { format!("\n{}", gains(report)) };
    format!("{head}{}{gains}{totals}", headline(report))
}

fn headline(report: &SweepReport) -> String {
    let sweep = &report.sweep;
    let (points, all) = (sweep.grid().candidates(), sweep.distinct());
    let took = report.wall_s.map_or_else(String::new, |s| format!(", {}", time(s * 1e12)));
    let cut = match sweep.complete() {
        true => format!("{all} searches"),
        false => format!("the sweep ended early, after {} of {all} searches", sweep.finished()),
    };
    let proved = if sweep.proved() { "proved: no order is better at any point" } else { "not proved at all points" };
    format!("best order at each of {points} points: {cut}{took}\n{proved}\ngain: baseline time / best time − 1\n")
}

/// One row per value of the first axis, with the gain for each combination of the others. Equal values share a row.
fn gains(report: &SweepReport) -> String {
    let sweep = &report.sweep;
    let (Some(first), columns) = (sweep.grid().axes().first(), sweep.combinations()) else { return String::new() };
    let mut rows: Vec<(usize, usize)> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, value) in first.values.iter().enumerate() {
        let row = *known.entry(value).or_insert(rows.len());
        if row == rows.len() {
            rows.push((i, 0));
        }
        rows[row].1 += 1;
    }
    let (single, repeated) = (columns == 1 && sweep.grid().axes().len() == 1, rows.len() < first.values.len());
    let times = repeated.then(|| ">times".to_owned());
    let header = [format!(">{}", clean(&first.path))].into_iter().chain(times);
    let header = header.chain(single.then(|| [">baseline", ">best", ">gain"].map(str::to_owned)).into_iter().flatten());
    let numbered = (1..=columns).filter(|_| !single).map(|number| format!(">({number})"));
    let mut sheet = Sheet::new(header.chain(numbered));
    for &(i, count) in rows.iter().take(ROWS) {
        let cells = (0..columns).flat_map(|column| point(report, i as u64 * columns + column, single));
        sheet.row([line(&first.values[i])].into_iter().chain(repeated.then(|| count.to_string())).chain(cells));
    }
    let cells = sweep.totals().flat_map(|total| sums(&total, single));
    let count = repeated.then(|| first.values.len().to_string());
    sheet.row(["total".to_owned()].into_iter().chain(count).chain(cells));
    sheet.finish() + &more(rows.len(), &format!("values of {}", clean(&first.path)))
}

/// The cells of a point.
fn point(report: &SweepReport, number: u64, single: bool) -> Vec<String> {
    match report.sweep.point(number) {
        Some(found) => of(found.baseline, found.best, single),
        None => vec!["–".to_owned(); if single { 3 } else { 1 }],
    }
}

/// The cells of a total; sums of a part would not compare with those of others.
fn sums(total: &Total, times: bool) -> Vec<String> {
    match total.complete {
        true => of(total.baseline as f64, total.best as f64, times),
        false => vec!["–".to_owned(); if times { 3 } else { 1 }],
    }
}

/// The times, where there is a column for each, and the gain.
fn of(baseline: f64, best: f64, times: bool) -> Vec<String> {
    let gain = if best > 0.0 { format!("{:.1} %", 100.0 * gain(baseline, best)) } else { "–".to_owned() };
    let times = times.then(|| [time(baseline), time(best)]);
    times.into_iter().flatten().chain([gain]).collect()
}

/// The sums over the first axis, a row for each combination of the others.
fn totals(report: &SweepReport) -> String {
    let sweep = &report.sweep;
    let paths = sweep.grid().axes().iter().skip(1).map(|axis| clean(&axis.path));
    let last = [">baseline", ">best", ">gain"].map(str::to_owned);
    let mut sheet = Sheet::new(["total".to_owned()].into_iter().chain(paths).chain(last)).spare(["baseline", "best"]);
    for total in sweep.totals().take(ROWS) {
        let values = report.combination(total.combination).into_iter().map(|(_, value)| line(value));
        let cells = sums(&total, true);
        sheet.row([format!("({})", total.combination + 1)].into_iter().chain(values).chain(cells));
    }
    sheet.finish() + &more(usize::try_from(sweep.combinations()).unwrap_or(usize::MAX), "totals")
}

/// A value on one line.
fn line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn time(ps: f64) -> String {
    duration(SimDuration(ps.round() as u64))
}
