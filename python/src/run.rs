//! Runs and comparisons.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use weir::{Error, ErrorKind, Jitter, RunOptions, Scenario};
use weir_report::draw::{Canvas, Drawn, tree};
use weir_report::{Column, run_table_parts};
use weir_scenario::ArbiterSpec;

use crate::call::{Watched, call, call_on_all};
use crate::policy::Policies;
use crate::request::Request;
use crate::table::Table;

/// Notebooks show Unicode; *assumed*: as wide as a page.
const CANVAS: Canvas = Canvas { width: 120, unicode: true };

/// A run under one arbiter.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Run {
    run: weir::Run,
    policies: Policies,
}

impl Run {
    pub(crate) fn inner(&self) -> &weir::Run {
        &self.run
    }

    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    fn table(&self, py: Python<'_>, name: &'static str) -> PyResult<Table> {
        let made = call(py, None, &self.policies, |_| self.run.report(|run| run_table_parts(run, name)))?;
        Table::new(made.ok_or_else(|| PyValueError::new_err(format!("a run has no table `{name}`")))?)
    }
}

/// What is asked of a run beside its plain result.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    until: Option<String>,
    phases: bool,
    explanations: bool,
    peaks: bool,
    jitter: Option<(String, u32)>,
}

impl Asked {
    fn options(&self, watched: &Watched) -> Result<RunOptions, Error> {
        let time = |what: &str, text: &str| {
            weir_scenario::parse_time(text).map_err(|problem| Error::input(format!("{what} {text}: {problem}")))
        };
        let until = self.until.as_deref().map(|until| time("until", until)).transpose()?;
        let jitter = self.jitter.as_ref().map(|(span, seeds)| Jitter::new(time("jitter", span)?, *seeds));
        Ok(RunOptions {
            until: until.map(|until| weir::SimTime(until.0)),
            phases: self.phases,
            explanations: self.explanations,
            peaks: self.peaks,
            jitter: jitter.transpose()?,
            cancel: Some(Arc::clone(&watched.cancel)),
            progress: Some(Arc::clone(&watched.done)),
            ..RunOptions::default()
        })
    }
}

/// Reads a scenario and runs it under its first arbiter, or under all: one at least.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    request: &Request,
    asked: Asked,
    all: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Run>> {
    let work = |watched: &Watched| -> Result<Vec<weir::Run>, Error> {
        let options = asked.options(watched)?;
        let scenario = request.open(watched)?;
        scenario.contents().warnings.iter().for_each(|warning| watched.warn_of(warning.to_string()));
        let first = scenario.arbiters().first().ok_or_else(|| Error::input("the scenario has no arbiter"))?;
        let specs = if all { scenario.arbiters() } else { std::slice::from_ref(first) };
        let transfers = scenario.contents().tasks.transfers().count() as u64;
        // A start and an end of each.
        watched.all.store(2 * transfers * specs.len() as u64, std::sync::atomic::Ordering::SeqCst);
        specs.iter().map(|spec| under(&scenario, spec, &options, watched)).collect()
    };
    let done = match asked.jitter {
        Some(_) => call_on_all(py, progress.as_ref(), &request.policies, None, work)?,
        None => call(py, progress.as_ref(), &request.policies, work)?,
    };
    Ok(done.into_iter().map(|run| Run { run, policies: request.policies.clone() }).collect())
}

fn under(scenario: &Scenario, spec: &ArbiterSpec, options: &RunOptions, watched: &Watched) -> Result<weir::Run, Error> {
    scenario.warnings_under(spec)?.into_iter().for_each(|warning| watched.warn_of(warning));
    let run = scenario.run_under(spec, options)?;
    if run.cancelled() { Err(Error::new(ErrorKind::Cancelled, "interrupted")) } else { Ok(run) }
}

#[pymethods]
impl Run {
    #[getter]
    fn makespan_ps(&self) -> u64 {
        self.run.makespan().0
    }

    #[getter]
    fn makespan(&self) -> f64 {
        self.run.makespan().seconds()
    }

    #[getter]
    fn stopped_at(&self) -> f64 {
        self.run.stopped_at().seconds()
    }

    #[getter]
    fn complete(&self) -> bool {
        self.run.complete()
    }

    #[getter]
    fn arbiter(&self) -> &str {
        self.run.arbiter()
    }

    #[getter]
    fn scenario(&self) -> &str {
        self.run.scenario().name()
    }

    #[getter]
    fn fingerprint(&self) -> u64 {
        self.run.fingerprint()
    }

    #[getter]
    fn transfers(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, "transfers")
    }

    #[getter]
    fn links(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, "links")
    }

    #[getter]
    fn operations(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, "operations")
    }

    /// Whether phases were recorded.
    #[getter]
    fn has_phases(&self) -> bool {
        self.run.has_phases()
    }

    #[getter]
    fn phases(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, "phases")
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        call(py, None, &self.policies, |_| self.run.to_json())
    }

    fn to_text(&self, py: Python<'_>) -> PyResult<String> {
        call(py, None, &self.policies, |_| self.run.to_text())
    }

    fn explanation(&self, py: Python<'_>) -> PyResult<String> {
        call(py, None, &self.policies, |_| self.run.explanation())
    }

    /// The topology as a tree of text.
    fn tree(&self) -> String {
        let scenario = self.run.scenario().contents();
        let name = |node| scenario.node_name(node);
        tree(&Drawn { fabric: &scenario.fabric, name: &name }, CANVAS)
    }
}

/// Runs side by side.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Comparison(weir::Comparison);

/// What is compared: a run, or lines of JSON with the name of their file.
#[derive(FromPyObject)]
pub(crate) enum Compared<'py> {
    Run(Bound<'py, Run>),
    Saved(String, String),
}

/// Puts runs side by side; the first is the baseline.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, of: Vec<Compared<'_>>) -> PyResult<Comparison> {
    let runs = || of.iter().filter_map(|each| if let Compared::Run(run) = each { Some(run.get()) } else { None });
    let policies = Policies::of_all(runs().map(|run| &run.policies));
    let of: Vec<Result<&Run, (&str, &str)>> = of
        .iter()
        .map(|each| match each {
            Compared::Run(run) => Ok(run.get()),
            Compared::Saved(file, text) => Err((file.as_str(), text.as_str())),
        })
        .collect();
    let compared = call(py, None, &policies, |_| {
        let mut columns = Vec::new();
        for each in of {
            match each {
                Ok(run) => columns.push(run.run.column()?),
                Err((file, text)) => columns.extend(Column::of_saved(file, text).map_err(Error::input)?),
            }
        }
        Ok(weir::Comparison::of_columns(columns))
    });
    Ok(Comparison(compared?))
}

#[pymethods]
impl Comparison {
    #[getter]
    fn makespans_ps(&self) -> Vec<Option<u64>> {
        self.0.makespans().into_iter().map(|time| time.map(|time| time.0)).collect()
    }

    #[getter]
    fn ratios(&self) -> Vec<Option<f64>> {
        self.0.ratios()
    }

    #[getter]
    fn titles(&self) -> Vec<String> {
        self.0.columns().iter().map(Column::title).collect()
    }

    fn to_text(&self) -> String {
        self.0.to_text()
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        call(py, None, &Policies::none(), |_| self.0.to_json())
    }
}
