//! A comparison for a person: a column per result, a row per operation and transfer, ratios to the first column.

use weir_plugin_api::SimDuration;

use super::{ROWS, Sheet, clean, more};
use crate::{Column, CompareRow, Comparison, MeasuredBy, Parting, PartingSide, Timed, duration};

/// The head of a column without changes, beside columns with some.
const BASELINE: &str = "baseline";

/// What `weir compare` prints: a row for each transfer, a column for each run.
#[must_use]
pub fn compare(comparison: &Comparison) -> String {
    let columns = comparison.columns();
    let one_file = columns.windows(2).all(|pair| pair[0].file == pair[1].file);
    let mut out = String::new();
    if let (true, Some(first)) = (one_file, columns.first()) {
        out.push_str(&format!("{}\n", clean(&first.file)));
    }
    out + &columns_of(comparison, one_file) + &remarks(columns)
}

/// The table beneath the texts of runs of one scenario.
#[must_use]
pub fn side_by_side(comparison: &Comparison) -> String {
    columns_of(comparison, true)
}

fn columns_of(comparison: &Comparison, one_file: bool) -> String {
    let columns = comparison.columns();
    let rows = (comparison.operations().len(), comparison.transfers().len());
    let mut header = vec![kinds(rows).to_owned()];
    header.extend(columns.iter().map(|column| format!(">{}", label(column, columns, one_file))));
    let mut sheet = Sheet::new(header);
    for (id, row) in comparison.operations().take(ROWS).chain(comparison.transfers().take(ROWS)) {
        sheet.row(cells(id, row));
    }
    let makespan = comparison.makespan();
    sheet.row(cells("makespan", &makespan));
    if columns.iter().any(|column| column.measured.is_some()) {
        sheet.row(spreads(&makespan));
    }
    "completion times, with the ratio to the first column\n\n".to_owned()
        + &sheet.finish()
        + &more(rows.0, "operations")
        + &more(rows.1, "transfers")
        + &legend(columns)
        + &partings(comparison)
}

/// The spread of the makespan in each column.
fn spreads(makespan: &CompareRow) -> Vec<String> {
    let cell = |timed: &Timed| match (timed.spread, timed.time.filter(|&time| time > 0)) {
        (Some(spread), Some(time)) => {
            format!("{}  {:.3} %", duration(SimDuration(spread)), spread as f64 / time as f64 * 100.0)
        }
        _ => "–".to_owned(),
    };
    std::iter::once("its spread".to_owned()).chain(makespan.times.iter().map(cell)).collect()
}

/// What the marks mean, and how the spread was measured.
fn legend(columns: &[Column]) -> String {
    let mut ways: Vec<String> = Vec::new();
    for MeasuredBy { jitter, seeds } in columns.iter().filter_map(|column| column.measured) {
        let way = format!("starts are up to {} later (seeds: {seeds})", duration(jitter));
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    if ways.is_empty() {
        return String::new();
    }
    let measured = format!("spread: the latest end less the earliest where {}", ways.join(", or "));
    format!("\n{measured}\n≈ within the spread: a smaller difference than the spread of either column\n")
}

/// Where rates and packets part, and at which link each of them holds the transfer back for which share of its time.
fn partings(comparison: &Comparison) -> String {
    let side = |PartingSide { column, place, cause, share_of_time }: &PartingSide<'_>| {
        let arbiter = clean(&comparison.columns()[*column].arbiter);
        let share = share_of_time.map_or_else(String::new, |share| format!(", {:.1} % of its time", 100.0 * share));
        format!("{arbiter}: {}, {}{share}", clean(place), clean(cause))
    };
    let line = |Parting { transfer, sides }: Parting<'_>| {
        format!("  {}  {}\n", clean(transfer), sides.each_ref().map(side).join("; "))
    };
    let lines: String = comparison.partings().into_iter().map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\ntimes by rates and by packets that are more than 5 % apart, and what holds each transfer back\n\n{lines}"
    )
}

/// What arbiters said of their answers, with the file and arbiter of the column.
fn remarks(columns: &[Column]) -> String {
    let lines = columns.iter().flat_map(|column| {
        let of = format!("{} under `{}`", clean(&column.file), clean(&column.arbiter));
        column.remarks.iter().map(move |remark| format!("note: {of}: {}\n", clean(remark)))
    });
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// The heading of the first column, for so many operations and transfers.
fn kinds(rows: (usize, usize)) -> &'static str {
    match rows {
        (0, _) => "transfer",
        (_, 0) => "operation",
        _ => "operation or transfer",
    }
}

/// What tells a column from the others: its arbiter, its file where there are several, its parameters where the arbiter
/// stands in another column too, and what was changed for it.
fn label(column: &Column, all: &[Column], one_file: bool) -> String {
    let file = if one_file { String::new() } else { format!("{}\n", clean(&column.file)) };
    let same = all
        .iter()
        .filter(|other| other.arbiter == column.arbiter && other.file == column.file && other.with == column.with);
    let params = if same.count() > 1 { format!("\n{}", clean(&column.params)) } else { String::new() };
    let changed = all.iter().any(|other| other.with.is_some());
    let with =
        if changed { format!("{}\n", column.with.as_deref().map_or(BASELINE.into(), clean)) } else { String::new() };
    format!("{file}{with}{}{params}", clean(&column.arbiter))
}

fn cells(id: &str, row: &CompareRow) -> Vec<String> {
    let (ratios, within) = (row.ratios(), row.within_spread());
    let cell = |(i, timed): (usize, &Timed)| match (timed.time, ratios[i]) {
        (None, _) => "–".to_owned(),
        (Some(time), Some(ratio)) if i > 0 => {
            let mark = if within[i] == Some(true) { "≈ " } else { "" };
            format!("{}  {mark}{ratio:.3}×", duration(SimDuration(time)))
        }
        (Some(time), _) => duration(SimDuration(time)),
    };
    std::iter::once(id.to_owned()).chain(row.times.iter().enumerate().map(cell)).collect()
}
