//! The page of `weir report`.

use std::io::Write;
use std::path::PathBuf;

use pyo3::prelude::*;
use weir::{Error, RunOptions};
use weir_report::page::Page;

use crate::call::call;
use crate::policy::Policies;
use crate::request::Request;
use crate::run::Run;

/// The page of scenarios, each run under its arbiters, then of runs and of lines that weir has saved as JSON.
#[pyfunction]
pub(crate) fn page(
    py: Python<'_>,
    requests: Vec<Bound<'_, Request>>,
    runs: Vec<Bound<'_, Run>>,
    saved: Vec<(String, String)>,
    until: Option<String>,
) -> PyResult<Vec<u8>> {
    let requests: Vec<&Request> = requests.iter().map(Bound::get).collect();
    let runs: Vec<&Run> = runs.iter().map(Bound::get).collect();
    let policies = requests.iter().map(|request| &request.policies).chain(runs.iter().map(|run| run.policies()));
    let policies = Policies::first_of(policies);
    call(py, None, &policies, |watched| {
        let until = until.as_deref().map(weir_scenario::parse_time).transpose();
        let until = until.map_err(Error::input)?.map(|until| weir::SimTime(until.0));
        let options = RunOptions { until, cancel: Some(watched.cancel.clone()), ..RunOptions::default() };
        let mut page = Page::default();
        for request in requests {
            let scenario = request.open()?;
            for spec in scenario.arbiters() {
                scenario.warnings_under(spec)?.into_iter().for_each(|warning| watched.warn_of(warning));
                scenario.add_to_page(&mut page, spec, &options, &|_| ())?;
            }
        }
        for run in runs {
            run.inner().report(|run| page.add_run(run).map_err(Error::input))??;
        }
        for (name, text) in &saved {
            page.add_saved(name, text).map_err(Error::input)?;
        }
        let mut html = Vec::new();
        page.write(&mut html).map_err(|error| Error::input(format!("the page cannot be made: {error}")))?;
        Ok(html)
    })
}

/// Puts bytes into a file, which is whole or not there.
#[pyfunction]
pub(crate) fn save(py: Python<'_>, file: PathBuf, bytes: Vec<u8>) -> PyResult<()> {
    py.detach(|| {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(".".as_ref());
        let mut new = tempfile::Builder::new();
        // As readable as any new file.
        #[cfg(unix)]
        let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666);
        #[cfg(unix)]
        new.permissions(open);
        let mut beside = new.tempfile_in(folder)?;
        beside.write_all(&bytes)?;
        beside.persist(&file).map_err(|error| error.error)?;
        Ok(())
    })
}
