//! Dumps of machines, and measurements: `import`, `calibrate`, `validate`.

use std::path::PathBuf;

use pyo3::prelude::*;
use weir::{Error, RunOptions, Since, Validation};
use weir_calibrate::{Experiment, FitOptions, FitReport, Made, ReadOptions};
use weir_import::Options;
use weir_report::{json_text, write_json};
use weir_scenario::Machine;

use crate::call::{Watched, call};
use crate::policy::Policies;
use crate::request::Request;

/// What is wrong with an argument.
fn of(argument: &str, error: &impl std::fmt::Display) -> Error {
    Error::input(format!("{argument}: {error}"))
}

/// The topology of a dump, what was found, and warnings.
#[pyfunction]
pub(crate) fn import_topology(
    py: Python<'_>,
    file: PathBuf,
    format: Option<String>,
    raw: bool,
    add: Option<String>,
) -> PyResult<(String, String)> {
    call(py, None, &Policies::none(), |watched| {
        let options = Options {
            format: format.map(|word| word.parse()).transpose().map_err(|error| of("format", &error))?,
            figures: if raw { weir_import::Figures::Raw } else { weir_import::Figures::Effective },
            add: add.map(|word| word.parse()).transpose().map_err(|error| of("add", &error))?,
        };
        let given = file.display().to_string();
        let bytes = std::fs::read(&file)
            .map_err(|error| Error::input(format!("{given} cannot be read: {error}; give the file of a dump")))?;
        let name = file.file_stem().map_or_else(|| "machine".into(), |stem| stem.to_string_lossy());
        let imported = weir::import_topology(&bytes, &name, &given, &options)?;
        imported.warnings.into_iter().for_each(|warning| watched.warn_of(warning));
        Ok((imported.yaml, imported.summary))
    })
}

/// The topology with the values that fit measurements best; what `weir calibrate` prints, and its JSON.
#[pyfunction]
pub(crate) fn calibrate(
    py: Python<'_>,
    request: &Request,
    logs: Vec<PathBuf>,
    per_link: bool,
    hold_out: f64,
) -> PyResult<(String, String, String)> {
    call(py, None, &request.policies, |watched| calibrated(request, &logs, (per_link, hold_out), watched))
}

fn calibrated(
    request: &Request,
    files: &[PathBuf],
    (per_link, hold_out): (bool, f64),
    watched: &Watched,
) -> Result<(String, String, String), Error> {
    if !(0.0..1.0).contains(&hold_out) {
        return Err(Error::input(format!("hold_out: {hold_out}: give a share from 0 to below 1")));
    }
    let (file, registry) = (request.file()?, request.registry());
    let wrong = |findings| registry.error_of(findings);
    let machine = Machine::load(file, request.options(), registry).map_err(wrong)?;
    let logs = weir::measured_logs(files, &machine, &ReadOptions::default())?;
    let experiments: Vec<Experiment> = logs.iter().flat_map(|log| log.experiments.iter().cloned()).collect();
    let spec = machine.arbiters.first().ok_or_else(|| Error::input("there is no arbiter"))?;
    let finer = if per_link { weir_calibrate::fit::Choice::Auto } else { weir_calibrate::fit::Choice::No };
    let cancel = Some(std::sync::Arc::clone(&watched.cancel));
    let options = FitOptions { finer, hold_out, cancel, ..FitOptions::default() };
    let fit = weir_calibrate::fit(&machine, spec, &experiments, &options);
    let fit = fit.map_err(|error| weir::unfitted(&error, &machine, registry))?;
    let names: Vec<String> = registry.iter().map(|entry| entry.name.clone()).collect();
    let made = Made { arbiter: &spec.name, arbiters: &names, per_link };
    let warnings = weir_calibrate::warnings(&machine, &experiments, &fit, made);
    warnings.iter().for_each(|warning| watched.warn_of(format!("warning: {warning}")));
    let report =
        FitReport { machine: &machine, experiments: &experiments, logs: &logs, fit: &fit, warnings: &warnings };
    let named = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let names: Vec<String> = files.iter().map(named).collect();
    let yaml = weir_calibrate::write_topology(file, &machine, &fit, request.options(), &names).map_err(wrong)?;
    Ok((yaml, weir_calibrate::text(&report), json_text(&weir_calibrate::json(&report)) + "\n"))
}

/// Measured times beside simulated ones under the first arbiter: what `weir validate` prints, its JSON, and its table.
#[pyfunction]
pub(crate) fn validate(
    py: Python<'_>,
    request: &Request,
    measured: PathBuf,
    group: Option<String>,
    since: &str,
    histogram: bool,
) -> PyResult<(String, String, String)> {
    call(py, None, &request.policies, |watched| {
        let since = match since {
            "ready" => Since::Ready,
            "start" => Since::Start,
            "zero" => Since::Zero,
            other => return Err(Error::input(format!("since: `{other}`: use ready, start or zero"))),
        };
        let (rows, notes) = weir::measured(&measured, group.as_deref())?;
        notes.into_iter().for_each(|note| watched.warn_of(note));
        let cancel = Some(std::sync::Arc::clone(&watched.cancel));
        let run = request.open(watched)?.run_with(&RunOptions { cancel, ..RunOptions::default() })?;
        let name = measured.display().to_string();
        run.report(|run| {
            let found = Validation::new(run, (&name, &rows), since, histogram)?;
            found.warnings.iter().for_each(|warning| watched.warn_of(warning.clone()));
            let mut json = Vec::new();
            write_json(&found.result(), &mut json).map_err(Error::input)?;
            let csv = Validation::CSV_HEADER.to_owned() + &found.csv();
            Ok((found.text(), String::from_utf8_lossy(&json).into_owned() + "\n", csv))
        })?
    })
}
