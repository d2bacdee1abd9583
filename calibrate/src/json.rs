//! A fit as JSON.

use serde_json::{Value, json};
use weir_scenarios::Machine;

use crate::fit::parameter::Kind;
use crate::fit::{Fit, Known, rms};
use crate::measurement::{Experiment, Log};
use crate::text::row_text;

/// The whole fit as one object; times in seconds, bandwidths in bytes per second.
#[must_use]
pub fn json(
    machine: &Machine,
    arbiter: &str,
    (experiments, logs): (&[Experiment], &[Log]),
    fit: &Fit,
    warnings: &[String],
) -> Value {
    let parameters: Vec<Value> = fit
        .parameters
        .iter()
        .map(|f| {
            let (state, error) = match f.known {
                Known::Error(error) => ("fitted", Some(error)),
                Known::Exactly => ("fitted", None),
                Known::Together => ("together", None),
                Known::Unseen => ("unseen", None),
                Known::Enough => ("enough", None),
                Known::AtZero => ("at zero", None),
            };
            json!({
                "name": f.parameter.name, "unit": unit(f.parameter.kind), "before": f.parameter.start,
                "value": f.value, "state": state, "standard_error": error,
            })
        })
        .collect();
    let name = |i: &usize| fit.parameters[*i].parameter.name.clone();
    let unclear: Vec<Value> = fit.unclear.iter().map(|u| {
        json!({ "parameters": u.parameters.iter().map(name).collect::<Vec<_>>(), "hardly": u.hardly, "remedy": u.remedy })
    }).collect();
    let rows: Vec<Value> = fit
        .rows
        .iter()
        .map(|r| {
            let experiment = &experiments[r.experiment];
            let (ends, _) = row_text(machine, experiment, r.row);
            json!({
                "place": experiment.rows[r.row].place.to_string(), "group": experiment.name, "what": ends,
                "bytes": experiment.transfers.first().map(|t| t.bytes), "measured_s": r.measured,
                "simulated_s": r.simulated, "error": r.error(), "held_out": r.held_out,
            })
        })
        .collect();
    let skipped: Vec<Value> = logs
        .iter()
        .flat_map(|log| &log.skipped)
        .map(|s| json!({ "place": s.place.to_string(), "what": s.what, "why": s.why }))
        .collect();
    let notes: Vec<&String> = logs.iter().flat_map(|log| &log.notes).chain(&fit.notes).collect();
    json!({
        "weir": 1, "topology": machine.file, "arbiter": arbiter, "parameters": parameters, "unclear": unclear,
        "rms_fitted": rms(fit.rows.iter().filter(|r| !r.held_out)),
        "rms_held_out": rms(fit.rows.iter().filter(|r| r.held_out)),
        "freedom": fit.freedom, "rows": rows, "skipped": skipped, "notes": notes,
        "warnings": warnings,
    })
}

fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Bandwidth => "B/s",
        Kind::Tau => "",
        Kind::LoggpPerByte => "s/B",
        _ => "s",
    }
}
