//! Searches, grids and what-if tables.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use weir::optimize::{PartFile, SearchOptions, SearchOutcome, SearchReport, Shard, Solution, Vary};
use weir::{Error, ErrorKind, WhatIfOptions};
use weir_report::{Tables, text};

use crate::call::{Watched, call, call_on_all};
use crate::policy::Policies;
use crate::request::Request;
use crate::table::Table;

/// What a search found.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Search {
    found: SearchOutcome,
}

/// What is asked of a search above the scenario's `optimize:`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    vary: Vec<String>,
    method: Option<String>,
    objective: Option<String>,
    exact: bool,
    budget: Option<String>,
    candidates: Option<u64>,
    seed: u64,
    /// Part and number of parts.
    shard: Option<(u64, u64)>,
    timing: bool,
    threads: Option<usize>,
}

impl Asked {
    fn options<'a>(&self, watched: &'a Watched) -> Result<SearchOptions<'a>, Error> {
        let budget = self.budget.as_deref().map(|budget| {
            let time = weir_scenario::parse_time(budget);
            time.map_err(|problem| Error::input(format!("budget {budget}: {problem}")))
        });
        let shard = self.shard.map(|(index, count)| Shard::new(index, count).map_err(Error::input));
        Ok(SearchOptions {
            vary: self.vary()?,
            method: parsed("method", self.method.as_deref())?,
            objective: parsed("objective", self.objective.as_deref())?,
            exact: self.exact,
            budget: budget.transpose()?.map(|time| Duration::from_nanos(time.0 / 1000)),
            candidates: self.candidates,
            seed: self.seed,
            shard: shard.transpose()?,
            timing: self.timing,
            cancel: Some(&watched.cancel),
            watch: watched,
            ..SearchOptions::default()
        })
    }
}

impl Asked {
    fn vary(&self) -> Result<Option<Vary>, Error> {
        let kinds =
            self.vary.iter().map(|word| parsed("vary", Some(word))).collect::<Result<Vec<Option<Vary>>, _>>()?;
        let kinds: Vec<Vary> = kinds.into_iter().flatten().collect();
        match Vary::of(&kinds) {
            None if !kinds.is_empty() => Err(Error::input("vary names something twice: name each of what varies once")),
            vary => Ok(vary),
        }
    }
}

fn parsed<T: std::str::FromStr<Err = String>>(option: &str, word: Option<&str>) -> Result<Option<T>, Error> {
    word.map(|word| word.parse().map_err(|error: String| Error::input(format!("{option}: {error}")))).transpose()
}

/// Searches under the first arbiter. `edit` is one more change of the scenario.
#[pyfunction]
#[pyo3(signature = (request, asked, edit, progress))]
pub(crate) fn optimize(
    py: Python<'_>,
    request: &Request,
    asked: Asked,
    edit: Option<(String, String)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Search> {
    let found = call_on_all(py, progress.as_ref(), &request.policies, asked.threads, |watched| {
        let options = asked.options(watched)?;
        let scenario = request.open_edited(watched, edit)?;
        scenario.contents().warnings.iter().for_each(|warning| watched.warn_of(warning.to_string()));
        scenario.optimize_with(0, &options).map_err(|error| match error.kind() {
            ErrorKind::Cancelled => Error::input("the time ran out before the first result: give a longer `budget`"),
            _ => error,
        })
    })?;
    Ok(Search { found })
}

/// The whole of all parts of a search that was split, as lines of JSON.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, parts: Vec<String>) -> PyResult<Search> {
    let report = call(py, None, &Policies::none(), |_| {
        let parts = parts.iter().map(|part| PartFile::read(part).map_err(Error::input));
        weir::optimize::merge(parts.collect::<Result<_, _>>()?)
    })?;
    Ok(Search { found: SearchOutcome { report: Some(report), sweep: None, part: None, changes: Vec::new() } })
}

impl Search {
    fn report(&self) -> PyResult<&SearchReport> {
        let other = "a sweep over several searches has no single best: look at its tables";
        self.found.report.as_ref().ok_or_else(|| PyValueError::new_err(other))
    }
}

#[pymethods]
impl Search {
    /// Makespan, or another objective, of the baseline; ps for makespans. None where it stops before its end.
    #[getter]
    fn baseline(&self) -> PyResult<Option<f64>> {
        Ok(self.report()?.baseline())
    }

    #[getter]
    fn best(&self) -> PyResult<f64> {
        Ok(self.report()?.result.best)
    }

    #[getter]
    fn makespans_ps(&self) -> PyResult<Option<(Option<u64>, u64)>> {
        Ok(self.report()?.makespans())
    }

    #[getter]
    fn objective(&self) -> PyResult<&'static str> {
        Ok(self.report()?.result.objective.word())
    }

    /// Whether values by the objective are picoseconds.
    #[getter]
    fn is_time(&self) -> PyResult<bool> {
        Ok(self.report()?.result.objective.is_time())
    }

    #[getter]
    fn proved_optimal(&self) -> PyResult<bool> {
        Ok(self.report()?.result.proved_optimal)
    }

    #[getter]
    fn complete(&self) -> PyResult<bool> {
        Ok(self.report()?.result.complete)
    }

    /// Of each kind of decision that varied, as in JSON.
    #[getter]
    fn solution(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Solution { order, placement, parameters } = &self.report()?.result.solution;
        let kinds = pyo3::types::PyDict::new(py);
        if let Some(order) = order {
            kinds.set_item("order", dict(py, order)?)?;
        }
        if let Some(placement) = placement {
            kinds.set_item("placement", placement.clone())?;
        }
        if let Some(parameters) = parameters {
            kinds.set_item("parameters", dict(py, parameters)?)?;
        }
        Ok(kinds.into_any().unbind())
    }

    /// A table by its name; without rows where the search has none of it.
    fn table(&self, name: &str) -> PyResult<Table> {
        let mut tables = Tables::default();
        self.found.report.iter().for_each(|report| tables.add_search(report));
        self.found.sweep.iter().for_each(|sweep| tables.add_sweep(sweep));
        let all = tables.all();
        let known = || all.iter().map(|table| table.name).collect::<Vec<_>>().join(", ");
        let table = all.iter().find(|table| table.name == name).cloned();
        let table = table.ok_or_else(|| PyValueError::new_err(format!("no table `{name}`: there are {}", known())))?;
        Table::new(vec![table])
    }

    /// The part of a search that was split, as a line of JSON.
    fn part(&self) -> Option<String> {
        self.found.part.as_ref().map(PartFile::line)
    }

    fn to_text(&self) -> String {
        let report = self.found.report.as_ref().map(text::search);
        report.or_else(|| self.found.sweep.as_ref().map(text::sweep)).unwrap_or_default()
    }

    fn to_json(&self) -> PyResult<String> {
        let mut line = Vec::new();
        self.found.report.iter().try_for_each(|report| report.write(&mut line))?;
        self.found.sweep.iter().try_for_each(|sweep| sweep.write(&mut line))?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}

fn dict<'a, V: Clone + IntoPyObject<'a>>(py: Python<'a>, pairs: &[(String, V)]) -> PyResult<Py<PyAny>> {
    let dict = pyo3::types::PyDict::new(py);
    for (key, value) in pairs {
        dict.set_item(key, value.clone())?;
    }
    Ok(dict.into_any().unbind())
}

/// What wider links, shorter latencies and more engines would save.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct WhatIf(weir::WhatIf);

/// Tries changes of the topology under the first arbiter.
#[pyfunction]
pub(crate) fn what_if(
    py: Python<'_>,
    request: &Request,
    links: bool,
    costs: Vec<(String, f64)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<WhatIf> {
    let found = call_on_all(py, progress.as_ref(), &request.policies, None, |watched| {
        let scenario = request.open(watched)?;
        scenario.contents().warnings.iter().for_each(|warning| watched.warn_of(warning.to_string()));
        scenario.what_if(0, &WhatIfOptions { links, costs: &costs, cancel: Some(&watched.cancel), watch: watched })
    })?;
    Ok(WhatIf(found))
}

#[pymethods]
impl WhatIf {
    #[getter]
    fn makespan_ps(&self) -> u64 {
        self.0.makespan_ps
    }

    /// Per change, the best first: what is changed, by which factor, the makespan then, what it saves in percent.
    #[getter]
    fn changes(&self) -> Vec<(String, Option<f64>, u64, f64)> {
        self.0.changes.iter().map(|c| (c.of.clone(), c.factor, c.makespan_ps, c.saved_percent)).collect()
    }

    fn to_text(&self) -> String {
        text::what_if(&self.0)
    }

    fn to_json(&self) -> PyResult<String> {
        let mut line = Vec::new();
        self.0.write(&mut line)?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}
