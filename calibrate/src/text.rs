//! A fit for a person: fitted values with their errors, what cannot be told apart, every row, what was skipped.

use std::cmp::Reverse;
use std::fmt::Write as _;

use ordered_float::OrderedFloat;
use weir_plugin_api::SimDuration;
use weir_report::text::{ROWS, Sheet, clean};
use weir_report::{binary_bytes, bytes, duration, rate, rate_unit, titled};
use weir_scenario::Machine;

use crate::fit::parameter::{ParameterKind, picoseconds};
use crate::fit::{Compared, Fit, Fitted, Known, mean_error};
use crate::measurement::{Experiment, Log, MeasuredEnd};
use crate::report::FitReport;

/// A value of a kind with its unit.
#[must_use]
pub fn quantity(kind: ParameterKind, value: f64) -> String {
    match kind {
        kind if kind.is_capacity() => rate(value),
        ParameterKind::Arbiter | ParameterKind::HostWeight => format!("{value:.5}"),
        ParameterKind::Engines => value.to_string(),
        ParameterKind::LoggpPerByte => format!("{:.3} ps/B", value * 1e12),
        _ => duration(picoseconds(value)),
    }
}

/// How well a value is known.
#[must_use]
pub(crate) fn uncertainty(fitted: &Fitted) -> String {
    match fitted.known {
        Known::Error(error) => format!("± {}", small(fitted, error)),
        Known::IfNarrowest(error) => {
            let kind = fitted.parameter.kind;
            let error =
                error.map_or_else(|| "error not known,".to_owned(), |error| format!("± {}", small(fitted, error)));
            let which = if kind.is_capacity() { "it is" } else { "links are as taken" };
            format!("{error} if {which} the narrowest, see below")
        }
        Known::Exactly => "no more rows than parameters: error not known".to_owned(),
        Known::Counted => "the ends of transfers fit this number".to_owned(),
        Known::Enough if fitted.parameter.kind == ParameterKind::Engines => "this or more".to_owned(),
        Known::Together => "not determined by itself, see below".to_owned(),
        Known::Unseen => "no fitted row depends on it: unchanged".to_owned(),
        Known::Enough => "limits no fitted row: this or better".to_owned(),
        Known::NoLimit => "the data show no shared limit".to_owned(),
        Known::AtZero => "fixed at 0: the fit would go below".to_owned(),
        Known::AtLeast => "at its bound: the fit would go below".to_owned(),
        Known::AtMost => "at its bound: the fit would go above".to_owned(),
    }
}

/// An error in the unit of its value.
fn small(fitted: &Fitted, error: f64) -> String {
    match fitted.parameter.kind {
        kind if kind.is_capacity() => {
            let (unit, name) = rate_unit(fitted.value);
            format!("{} {name}", digits(error / unit))
        }
        ParameterKind::Arbiter | ParameterKind::HostWeight | ParameterKind::Engines => digits(error),
        ParameterKind::LoggpPerByte => format!("{} ps/B", digits(error * 1e12)),
        _ => format!("{} µs", digits(error * 1e6)),
    }
}

/// Three digits, with an exponent where many zeros would stand before or behind them.
fn digits(value: f64) -> String {
    match value {
        v if !(1e-4..1e4).contains(&v) => format!("{v:.2e}"),
        v => format!("{v:.*}", (2 - libm::floor(libm::log10(v)) as i32).max(0) as usize),
    }
}

/// What `weir calibrate` prints: parameters, what is unclear, errors, notes and warnings.
#[must_use]
pub fn text(report: &FitReport<'_>) -> String {
    let FitReport { machine, experiments, logs, fit, .. } = *report;
    // The name of a map of arbiters says all parameters.
    let of_policy = fit.arbiter.regions.is_none();
    let arbiter = if of_policy { titled(&fit.arbiter.name, &fit.arbiter.written) } else { fit.arbiter.name.clone() };
    let mut out = format!("{}, under {arbiter}\n\n", clean(&machine.file));
    out.push_str(&values(fit));
    out.push_str(&wide_errors(fit));
    out.push_str(&unclear(fit));
    out.push_str(&quality(fit));
    out.push_str(&rows(machine, experiments, fit));
    for note in report.notes() {
        let _ = writeln!(out, "note: {}", clean(note));
    }
    out + &skipped(logs)
}

fn values(fit: &Fit) -> String {
    let mut sheet = Sheet::new(["parameter", ">before", ">fitted", "standard error"]).spare(["before"]);
    for fitted in &fit.parameters {
        let kind = fitted.parameter.kind;
        sheet.row([
            fitted.parameter.name.clone(),
            quantity(kind, fitted.parameter.start),
            quantity(kind, fitted.value),
            uncertainty(fitted),
        ]);
    }
    sheet.finish()
}

/// Standard errors from which 95 of 100 true values are no further off, by the degrees of freedom from 1 on: quantiles 0.975 of
/// Student's t distribution (Student, *Biometrika* 6, 1908). From 8 on they are near the 2 that readers take.
const STUDENT: [f64; 7] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36];

/// How far off values may be where so few rows are left over that their errors are themselves uncertain.
fn wide_errors(fit: &Fit) -> String {
    let has_error = |f: &Fitted| matches!(f.known, Known::Error(_) | Known::IfNarrowest(Some(_)));
    let factor = fit.freedom.checked_sub(1).and_then(|at| STUDENT.get(at));
    let Some(factor) = factor.filter(|_| fit.parameters.iter().any(has_error)) else { return String::new() };
    let rows = if fit.freedom == 1 { "row" } else { "rows" };
    format!(
        "{} {rows} more than parameters: 95 of 100 values are within {factor:.2} standard errors (Student's t), not 2\n",
        fit.freedom
    )
}

fn unclear(fit: &Fit) -> String {
    let mut out = String::new();
    for group in &fit.unclear {
        let how = group.how.words();
        let _ = writeln!(out, "\nthe data {how}: {}", clean(&group.names.join("; ")));
        if let Some(told) = &group.told {
            let _ = writeln!(out, "  they tell {}", clean(told));
        }
        let _ = writeln!(out, "  {}", clean(&group.remedy));
    }
    for &(a, b, correlation) in &fit.correlated {
        let [a, b] = [a, b].map(|i| clean(&fit.parameters[i].parameter.name));
        let _ = writeln!(out, "\nthe errors of {a} and {b} go together: correlation {correlation:.3}");
    }
    out
}

fn quality(fit: &Fit) -> String {
    let mut out = String::from("\n");
    for (held_out, word) in [(false, "fitted"), (true, "held out")] {
        let rows = || fit.judged_rows(held_out);
        let Some(mean) = mean_error(rows()) else { continue };
        let count = rows().count();
        let largest = rows().map(|row| row.error().abs()).fold(0.0, f64::max);
        let weighted = fit.weighted_error(rows()).filter(|_| fit.even > 0.0);
        let weighted = weighted.map_or_else(String::new, |mean| format!(" ({:.3} % by weight)", mean * 100.0));
        let _ = writeln!(
            out,
            "{count} {} {word}: mean error {:.3} %{weighted}, largest {:.3} %",
            if count == 1 { "row" } else { "rows" },
            mean * 100.0,
            largest * 100.0
        );
    }
    out.push('\n');
    out
}

/// An amount by powers of 1000, or by powers of 1024 where it is whole KiB and that is as short.
#[must_use]
pub fn size(amount: u64) -> String {
    let (decimal, binary) = (bytes(amount), binary_bytes(amount));
    if amount.is_multiple_of(1024) && binary.len() <= decimal.len() { binary } else { decimal }
}

/// The ends of what a row measured, and its size.
#[must_use]
pub(crate) fn row_text(machine: &Machine, experiment: &Experiment, row: usize) -> (String, String) {
    let name = |node| machine.node_name(node);
    let of = |at: usize| experiment.transfers.get(at).map(|t| format!("{} → {}", name(t.from), name(t.to)));
    let (at, ends) = match experiment.rows[row].end {
        MeasuredEnd::Transfer(at) => (at, of(at).unwrap_or_default()),
        MeasuredEnd::Last if experiment.transfers.len() == 1 => (0, of(0).unwrap_or_default()),
        MeasuredEnd::Last => (0, format!("last of {}", experiment.transfers.len())),
    };
    let amount = experiment.transfers.get(at).map_or(0, |t| t.bytes);
    let times = if experiment.messages > 1 { format!("{} × ", experiment.messages) } else { String::new() };
    (ends, format!("{times}{}", size(amount)))
}

fn rows(machine: &Machine, experiments: &[Experiment], fit: &Fit) -> String {
    let mut sheet = Sheet::new(["group", "from → to", ">bytes", ">measured", ">simulated", ">error", ""]).spare([
        "simulated",
        "measured",
        "bytes",
    ]);
    let time = |s: f64| duration(SimDuration(picoseconds(s).0));
    for compared in listed(fit) {
        let experiment = &experiments[compared.experiment];
        let (ends, bytes) = row_text(machine, experiment, compared.row);
        sheet.row([
            experiment.name.clone(),
            ends,
            bytes,
            time(compared.measured),
            time(compared.simulated),
            percent(compared.error()),
            match (compared.held_out, compared.outlier) {
                (true, _) => "held out".to_owned(),
                (false, true) => "outlier".to_owned(),
                (false, false) => String::new(),
            },
        ]);
    }
    let cut = match fit.rows.len() > ROWS {
        true => format!("the {ROWS} of {} rows with the largest errors: --json lists all\n", fit.rows.len()),
        false => String::new(),
    };
    format!("{}{cut}", sheet.finish())
}

/// A share as signed percent.
#[must_use]
pub fn percent(share: f64) -> String {
    // Adding 0 makes a 0 of -0.
    format!("{:+.3} %", (share * 1e5).round() / 1e3 + 0.0)
}

/// All rows, or those with the largest errors, in their order.
fn listed(fit: &Fit) -> Vec<&Compared> {
    let mut all: Vec<(usize, &Compared)> = fit.rows.iter().enumerate().collect();
    if all.len() > ROWS {
        all.sort_by_key(|&(at, row)| (Reverse(OrderedFloat(row.error().abs())), at));
        all.truncate(ROWS);
        all.sort_by_key(|(at, _)| *at);
    }
    all.into_iter().map(|(_, row)| row).collect()
}

fn skipped(logs: &[Log]) -> String {
    let all: Vec<_> = logs.iter().flat_map(|log| &log.skipped).collect();
    let mut out = String::new();
    if !all.is_empty() {
        let parts =
            if all.len() == 1 { "1 part of a log was".to_owned() } else { format!("{} parts of logs were", all.len()) };
        let _ = writeln!(out, "\n{parts} not used:");
    }
    for part in all.iter().take(ROWS) {
        let _ = writeln!(out, "  {}: {}: {}", part.place, clean(&part.what), clean(&part.why));
    }
    if all.len() > ROWS {
        let _ = writeln!(out, "  … {} more: --json lists all", all.len() - ROWS);
    }
    out
}
