//! The topology with the fitted values: its file, with other values of types and further types where links differ.

mod number;
mod origin;
mod types;

use std::fmt::Write as _;
use std::path::Path;

use weir_scenario::{ArbiterValues, Change, Diagnostic, LoadOptions, Machine, rewrite, rewrite_topology};

use number::{digits, rounded, time};
use types::Plan;

use crate::fit::parameter::ParameterKind;
use crate::fit::{Fit, Known, mean_error};
use crate::text::{quantity, uncertainty};

/// The text of the calibrated topology; of a scenario, the scenario with its topology in place.
///
/// Comments at the beginning say what was fitted, to how many rows and how well. They name no date, so that equal fits
/// write equal bytes.
///
/// # Errors
/// A file that cannot be read again or rewritten.
pub fn write_topology(
    path: &Path,
    machine: &Machine,
    fit: &Fit,
    options: &LoadOptions,
    logs: &[String],
) -> Result<String, Vec<Diagnostic>> {
    let comment = comment(fit, logs);
    let no_limit = fit.parameters.iter().filter(|f| f.known == Known::NoLimit);
    let no_limit = no_limit.flat_map(|f| f.parameter.shared.iter().copied()).collect();
    let Plan { mut edits, links, replaced } = Plan::of(machine, &fit.setting, &no_limit);
    let origins: Vec<(String, String)> =
        replaced.into_iter().map(|(name, old)| (name, origin_of(&old, logs))).collect();
    if !machine.is_scenario {
        let set = [options.set.clone(), edits].concat();
        return rewrite_topology(path, &set, &links).map(|text| comment + &origin::with_origins(&text, &origins));
    }
    edits.iter_mut().for_each(|(path, _)| path.insert_str(0, "topology."));
    let arbiter = machine.arbiter_path();
    let of_arbiter = of_arbiter(fit).into_iter();
    edits.extend(of_arbiter.filter_map(|(parameter, value)| {
        Some((format!("{arbiter}.{parameter}"), fit.arbiter.value_text(&parameter, value)?))
    }));
    let mut changes: Vec<Change> = edits.into_iter().map(|(path, value)| Change::Set(path, value)).collect();
    if links.of.iter().any(Option::is_some) {
        changes.push(Change::Links(links));
    }
    rewrite(path, options, &changes).map(|text| comment + &origin::with_origins(&text, &origins))
}

/// What stands above a type with another value.
fn origin_of(old: &str, logs: &[String]) -> String {
    let from = if logs.is_empty() { String::new() } else { format!(" from {}", logs.join(", ")) };
    format!("Calibrated{from}; before: {old}, which any comment above is about.")
}

/// The fitted parameters of the arbiter on which rows depend, with the digits that are written.
fn of_arbiter(fit: &Fit) -> ArbiterValues {
    let seen = fit.parameters.iter().filter(|f| !matches!(f.known, Known::Unseen));
    seen.filter_map(|f| Some((f.parameter.marked.as_ref()?.parameter.clone(), rounded(f.value)))).collect()
}

/// What stands above the topology.
fn comment(fit: &Fit, logs: &[String]) -> String {
    let mut out = format!("# Calibrated by `weir calibrate` from {}.\n", logs.join(", "));
    let count = |held_out: bool| fit.judged_rows(held_out).count();
    let percent = |held_out: bool| {
        mean_error(fit.judged_rows(held_out))
            .map_or_else(|| "no rows".to_owned(), |mean| format!("{:.3} %", mean * 100.0))
    };
    let (fitted, held_out) = (count(false), count(true));
    let rows = if fitted == 1 { "row" } else { "rows" };
    let (error, predicted) = (percent(false), percent(true));
    let _ = writeln!(out, "# {fitted} {rows} fitted, mean error {error}; {held_out} held out, {predicted}.");
    for fitted in &fit.parameters {
        let value = quantity(fitted.parameter.kind, fitted.value);
        let _ = writeln!(out, "# {}: {value}, {}", fitted.parameter.name, uncertainty(fitted));
    }
    for group in &fit.unclear {
        let how = group.how.words();
        let told = group.told.as_ref().map_or_else(String::new, |told| format!("; they tell {told}"));
        let _ = writeln!(out, "# The data {how}: {}{told}; {}", group.names.join("; "), group.remedy);
    }
    out + &scenario_hints(fit)
}

/// How scenarios take values that no topology holds.
fn scenario_hints(fit: &Fit) -> String {
    let mut out = String::new();
    let of_arbiter = of_arbiter(fit);
    if !of_arbiter.is_empty() {
        let _ = writeln!(out, "# In scenarios: arbiter: {}", fit.arbiter.with(&of_arbiter).text());
    }
    if let Some(weight) = fit.parameters.iter().find(|f| f.parameter.kind == ParameterKind::HostWeight) {
        let _ = writeln!(out, "# In scenarios: weight: {} of transfers out of host memory", digits(weight.value));
    }
    if fit.parameters.iter().any(|f| f.parameter.kind.is_loggp()) {
        let of = |kind| fit.parameters.iter().find(|f| f.parameter.kind == kind).map_or(0.0, |f| f.value);
        let [l, o, g] = [ParameterKind::LoggpLatency, ParameterKind::LoggpOverhead, ParameterKind::LoggpGap]
            .map(|kind| time(of(kind)));
        let per_byte = digits(of(ParameterKind::LoggpPerByte) * 1e12);
        let _ = writeln!(
            out,
            "# In scenarios: model: {{ name: loggp, latency: {l}, overhead: {o}, gap: {g}, per_byte: {per_byte}ps }}"
        );
    }
    out
}
