//! The page of `weir report`.

use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use weir::{Error, RunOptions};
use weir_report::page::Page;

use crate::call::{Watched, call};
use crate::policy::Policies;
use crate::request::Request;
use crate::run::Run;

/// What is put on a page: a scenario, which is run under its arbiters, a run, or lines of JSON with the name of their file.
#[derive(FromPyObject)]
pub(crate) enum Content<'py> {
    Scenario(Bound<'py, Request>),
    Run(Bound<'py, Run>),
    Saved(String, String),
}

/// What a page is made of, without the interpreter.
enum Source<'a> {
    Scenario(&'a Request),
    Run(&'a Run),
    Saved(&'a str, &'a str),
}

/// A page, and its pictures by their files where they are asked for.
type PageAndPictures = (Vec<u8>, std::collections::BTreeMap<String, String>);

/// The page of all of these, in their order.
#[pyfunction]
pub(crate) fn page(
    py: Python<'_>,
    of: Vec<Content<'_>>,
    until: Option<String>,
    pictures: bool,
) -> PyResult<PageAndPictures> {
    let sources: Vec<Source<'_>> = of.iter().map(Source::from).collect();
    let policies = sources.iter().filter_map(|source| match source {
        Source::Scenario(request) => Some(&request.policies),
        Source::Run(run) => Some(run.policies()),
        Source::Saved(..) => None,
    });
    let policies = Policies::of_all(policies);
    call(py, None, &policies, |watched| {
        let until = until.as_deref().map(weir_scenario::parse_time).transpose();
        let until = until.map_err(|error| Error::input(format!("until: {error}")))?.map(|until| weir::SimTime(until.0));
        let options = RunOptions { until, cancel: Some(watched.cancel.clone()), ..RunOptions::default() };
        let mut page = Page::default();
        if pictures {
            page.draw();
        }
        for source in &sources {
            add(&mut page, source, &options, watched)?;
        }
        let mut html = Vec::new();
        page.write(&mut html).map_err(|error| Error::input(format!("the page cannot be made: {error}")))?;
        let drawn = page.pictures().iter().map(|picture| (picture.file.clone(), picture.svg.clone()));
        Ok((html, drawn.collect()))
    })
}

impl<'a> From<&'a Content<'_>> for Source<'a> {
    fn from(content: &'a Content<'_>) -> Self {
        match content {
            Content::Scenario(request) => Self::Scenario(request.get()),
            Content::Run(run) => Self::Run(run.get()),
            Content::Saved(name, text) => Self::Saved(name, text),
        }
    }
}

fn add(page: &mut Page, source: &Source<'_>, options: &RunOptions, watched: &Watched) -> Result<(), Error> {
    match source {
        Source::Scenario(request) => {
            let scenario = request.open(watched)?;
            for spec in scenario.arbiters() {
                scenario.warnings_under(spec)?.into_iter().for_each(|warning| watched.warn_of(warning));
                scenario.add_to_page(page, spec, options, &|_| ())?;
            }
            Ok(())
        }
        Source::Run(run) => run.inner().report(|run| page.add_run(run).map_err(Error::input))?,
        Source::Saved(name, text) => page.add_saved(name, text).map_err(Error::input),
    }
}

/// The text of a file with results that weir has saved as JSON; nothing of anything else.
#[pyfunction]
pub(crate) fn saved(py: Python<'_>, file: PathBuf) -> Option<String> {
    py.detach(|| {
        // What waits for somebody who writes is no file with results.
        let bytes = file.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|_| std::fs::read(&file).ok())?;
        let text = String::from_utf8(bytes).ok()?;
        // Some editors and shells put a mark before what they write.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        weir_report::is_saved(&text).then_some(text)
    })
}

/// Puts bytes into a file, which is whole or not there, as the command does: links are followed, and devices stay.
#[pyfunction]
pub(crate) fn save(py: Python<'_>, file: PathBuf, bytes: Vec<u8>) -> PyResult<()> {
    let is_missing = file.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let saved = py.detach(|| weir_cli::save(&file, &bytes));
    saved.map_err(|error| match is_missing {
        true => PyFileNotFoundError::new_err(error.to_string()),
        false => PyOSError::new_err(error.to_string()),
    })
}
