//! A fit as JSON.

use serde_json::{Value, json};
use weir_report::ResultKind;
use weir_scenario::{ArbiterSpec, Machine};

use crate::cuts::{Exceeded, not_explained, place_name};
use crate::fit::parameter::ParameterKind;
use crate::fit::{Compared, Fit, Fitted, Known, Unclear, Unseparated, mean_error};
use crate::measurement::Experiment;
use crate::report::FitReport;
use crate::text::row_text;

/// The whole fit as one object; times in seconds, bandwidths in bytes per second.
#[must_use]
pub fn json(report: &FitReport<'_>) -> Value {
    let FitReport { machine, experiments, logs, fit, warnings } = *report;
    let ArbiterSpec { name, written: params, .. } = &fit.arbiter;
    let skipped: Vec<Value> = logs
        .iter()
        .flat_map(|log| &log.skipped)
        .map(|s| json!({ "place": s.place.to_string(), "what": s.what, "why": s.why }))
        .collect();
    let notes: Vec<&String> = report.notes().collect();
    json!({
        "weir": 1, "kind": ResultKind::Calibration, "topology": machine.file, "arbiter": { "name": name, "params": params },
        "parameters": fit.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "unclear": fit.unclear.iter().map(unclear).collect::<Vec<_>>(),
        "mean_error_fitted": mean_error(fit.judged_rows(false)),
        "mean_error_held_out": mean_error(fit.judged_rows(true)),
        "correlations": fit.correlated.iter().map(|pair| correlation(fit, pair)).collect::<Vec<_>>(),
        "rank": fit.rank, "freedom": fit.freedom, "rows": fit.rows.iter().map(|r| row(machine, experiments, r)).collect::<Vec<_>>(),
        "not_explained": not_explained(machine, experiments, fit)
            .iter()
            .map(|one| above_cut(machine, experiments, one))
            .collect::<Vec<_>>(),
        "skipped": skipped, "notes": notes, "warnings": warnings,
    })
}

fn parameter(f: &Fitted) -> Value {
    let (state, error) = match f.known {
        Known::Error(error) => ("fitted", Some(error)),
        Known::IfNarrowest(error) => ("if narrowest", error),
        Known::Exactly | Known::Counted => ("fitted", None),
        Known::Together => ("together", None),
        Known::Unseen => ("unseen", None),
        Known::Enough => ("enough", None),
        Known::NoLimit => ("no limit", None),
        Known::AtZero => ("at zero", None),
        Known::AtLeast => ("at least", None),
        Known::AtMost => ("at most", None),
    };
    json!({
        "name": f.parameter.name, "unit": unit(f.parameter.kind), "before": f.parameter.start,
        "value": f.value, "state": state, "standard_error": error,
    })
}

fn unclear(group: &Unclear) -> Value {
    json!({
        "parameters": group.names, "hardly": group.how == Unseparated::Hardly,
        "narrowest": matches!(group.how, Unseparated::Narrowest | Unseparated::Instead), "told": group.told, "remedy": group.remedy,
    })
}

fn correlation(fit: &Fit, &(a, b, correlation): &(usize, usize, f64)) -> Value {
    let names = [a, b].map(|i| &*fit.parameters[i].parameter.name);
    json!({ "parameters": names, "correlation": correlation })
}

/// A group above what a link carries.
fn above_cut(machine: &Machine, experiments: &[Experiment], (at, above): &(usize, Exceeded)) -> Value {
    let place = place_name(&machine.fabric, above.place, |node| machine.node_name(node));
    json!({
        "group": experiments[*at].name, "over": place, "measured_Bps": above.measured, "carries_Bps": above.carries,
        "places": experiments[*at].rows.iter().map(|row| row.place.to_string()).collect::<Vec<_>>(),
    })
}

fn row(machine: &Machine, experiments: &[Experiment], r: &Compared) -> Value {
    let experiment = &experiments[r.experiment];
    let (ends, _) = row_text(machine, experiment, r.row);
    json!({
        "place": experiment.rows[r.row].place.to_string(), "group": experiment.name, "what": ends,
        "bytes": experiment.transfers.first().map(|t| t.bytes), "measured_s": r.measured,
        "simulated_s": r.simulated, "error": r.error(), "held_out": r.held_out, "outlier": r.outlier,
    })
}

fn unit(kind: ParameterKind) -> &'static str {
    match kind {
        kind if kind.is_capacity() => "B/s",
        ParameterKind::Arbiter | ParameterKind::HostWeight | ParameterKind::Engines => "",
        ParameterKind::LoggpPerByte => "s/B",
        _ => "s",
    }
}
