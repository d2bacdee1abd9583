//! The page of `weir report`: one HTML file with everything in it.
//!
//! ```text
//! Run ────────┬─► Object: keys and values as written ─► fit: whole, packed or aggregated ─┐
//! saved JSON ─┘   PhaseSource: phases, by place of transfers ──────────┘                        ├─► Page ─► HTML
//! results of searches, tuning, validation, as saved ──────────────────────────────────────┘
//! ```
//!
//! The data are described in `report/web/data.md`, beside the front-end that shows them.

mod aggregate;
mod bins;
mod check;
mod contract;
mod delays;
mod embed;
mod fit;
mod groups;
mod kind;
mod pack;
mod phases;
mod probe;
mod rows;
mod schema;
mod search;
mod sweep;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

pub use contract::contract;
pub use fit::MOST_ROWS;
use fit::{Fitted, MOST_PHASES, fit};
use kind::Unshown;
pub use phases::PhaseReplay;
use phases::{PhaseSource, Recorded, Replayed};
pub use probe::Effort;

use crate::json::{Limited, Plans, RunJson};
use crate::object::Object;
use crate::{Detail, ResultKind, Run};

/// Why something cannot go into a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// JSON that is not as weir writes it.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// JSON whose parts do not fit together.
    #[error("{0}")]
    Damaged(String),
    /// A line of a saved file.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
}

impl PageError {
    fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    fn lacks(key: &str) -> Self {
        Self::Damaged(format!("it has no `{key}`"))
    }
}

/// The data of a page.
#[derive(Debug, Default)]
pub struct Page {
    runs: Vec<Box<RawValue>>,
    searches: Vec<Box<RawValue>>,
    sweeps: Vec<Box<RawValue>>,
    tuned: Vec<Box<RawValue>>,
    validated: Vec<Box<RawValue>>,
    notes: Vec<String>,
    /// Where the runs that are added come from: the file in which they were saved, or what was changed before.
    given: Option<String>,
}

/// How many results of each kind a page has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Runs.
    pub runs: usize,
    /// Searches.
    pub searches: usize,
    /// Searches at many points.
    pub sweeps: usize,
    /// Tuned scenarios.
    pub tuned: usize,
    /// Scenarios held against measured times.
    pub validated: usize,
}

impl Page {
    /// Says of the runs that are added from now on what makes them differ from their scenario, such as `--set arbiter.tau=0.1`.
    pub fn describe(&mut self, given: Option<String>) {
        self.given = given;
    }

    /// Adds a run. Its outcome should have phases with explanations for up to [`MOST_ROWS`] transfers, and may have phases
    /// beyond; without phases rates over time are not known, and the page shows mean rates.
    ///
    /// # Errors
    /// If its parameters are not JSON.
    pub fn add_run(&mut self, run: &Run<'_>) -> Result<(), PageError> {
        let plain = plain(run)?;
        let full = run.outcome.phases.is_some().then(|| whole(run, plain.len() + MOST_PHASES)).flatten();
        let source = Recorded::of(run).filter(|_| full.is_none());
        self.add_written(run, &full.unwrap_or(plain), source.as_ref().map(|source| source as &dyn PhaseSource))
    }

    /// Adds a run whose phases were not recorded and come one by one: memory does not grow with their number.
    ///
    /// # Errors
    /// As [`Self::add_run`].
    pub fn add_replayed(&mut self, run: &Run<'_>, replay: &PhaseReplay<'_>) -> Result<(), PageError> {
        self.add_written(run, &plain(run)?, Some(&Replayed::new(run, replay)))
    }

    fn add_written(&mut self, run: &Run<'_>, text: &str, source: Option<&dyn PhaseSource>) -> Result<(), PageError> {
        let mut object: Object<'_> = serde_json::from_str(text)?;
        let plans = Plans { run };
        if !plans.is_empty() {
            object.set("plans", &plans)?;
        }
        if let Some(given) = &self.given {
            object.set("given", given)?;
        }
        self.add_fitted(fit(object, source)?, || format!("{} under {}", &run.scenario.name, run.arbiter.name))
    }

    /// Whether a text is JSON that weir has saved, rather than a scenario.
    #[must_use]
    pub fn is_saved(text: &str) -> bool {
        crate::kind::is_saved(text)
    }

    /// Adds all results of a saved file.
    ///
    /// # Errors
    /// A line that is not weir's, that is damaged, or that a page does not show. Nothing of the file is added then.
    pub fn add_saved(&mut self, file: &str, text: &str) -> Result<(), PageError> {
        let mut added = Self { given: Some(file.to_owned()), ..Self::default() };
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        loop {
            let rest = &text[values.byte_offset()..];
            let begin = values.byte_offset() + (rest.len() - rest.trim_start().len());
            let line = 1 + text[..begin].matches('\n').count();
            let Some(value) = values.next() else { break };
            let wrong = |what: String| PageError::Line { file: file.to_owned(), line, what };
            let value = value.map_err(|error| wrong(cut(&error)))?;
            added.add_value(value.get()).map_err(|error| wrong(error.to_string()))?;
        }
        self.join(added);
        Ok(())
    }

    fn add_value(&mut self, text: &str) -> Result<(), PageError> {
        let object: Object<'_> = serde_json::from_str(text)?;
        let kind = kind::of(&object).map_err(|unshown| PageError::damaged(unshown.message()))?;
        if let Some(fault) = check::fault(kind, text) {
            return Err(PageError::damaged(format!("{fault}: this is not what `{}` writes", kind.command())));
        }
        let list = match kind {
            ResultKind::Run => return self.add_saved_run(object),
            ResultKind::Comparison => return self.add_comparison(&object),
            ResultKind::Sweep => return self.add_sweep(&object),
            ResultKind::Search => return self.add_search(&object, text),
            ResultKind::Tuning => &mut self.tuned,
            ResultKind::Validation => &mut self.validated,
            ResultKind::Explanation | ResultKind::Calibration | ResultKind::PluginList => {
                return Err(PageError::damaged("a page does not show it"));
            }
        };
        list.push(RawValue::from_string(text.to_owned())?);
        Ok(())
    }

    fn add_comparison(&mut self, object: &Object<'_>) -> Result<(), PageError> {
        let results = object.get("results").ok_or_else(|| PageError::lacks("results"))?;
        let results: Vec<&RawValue> = serde_json::from_str(results.get())?;
        results.into_iter().try_for_each(|result| self.add_value(result.get()))
    }

    fn add_search(&mut self, object: &Object<'_>, text: &str) -> Result<(), PageError> {
        let slim = search::slim(object, text)?;
        if let Some(rows) = slim.left_out {
            let name = named(object).ok_or_else(nameless)?;
            let most = search::MOST_ROWS;
            self.notes.push(format!("{name}: the table has the best {most} of {rows} candidates."));
        }
        self.searches.push(RawValue::from_string(slim.json)?);
        Ok(())
    }

    fn add_sweep(&mut self, object: &Object<'_>) -> Result<(), PageError> {
        let slim = sweep::slim(object)?;
        if let Some(points) = slim.left_out {
            let name = named(object).ok_or_else(nameless)?;
            let most = sweep::MOST_POINTS;
            self.notes.push(format!("{name}: the page shows only the sums of {points} points; it draws up to {most}."));
        }
        self.sweeps.push(RawValue::from_string(slim.json)?);
        Ok(())
    }

    fn add_saved_run(&mut self, mut object: Object<'_>) -> Result<(), PageError> {
        let name = named(&object).ok_or_else(nameless)?;
        if object.get("streamed").is_some() {
            self.notes.push(format!("{name}: its transfers were written to another file, and are not shown."));
        }
        object.set("given", &self.given)?;
        let fitted = fit(object, None)?;
        self.add_fitted(fitted, || name)
    }

    /// Adds a sentence about a run, which stands at the head of the page.
    pub fn note(&mut self, run: &Run<'_>, what: &str) {
        self.notes.push(format!("{} under {}: {what}.", &run.scenario.name, run.arbiter.name));
    }

    fn add_fitted(&mut self, fitted: Fitted, name: impl FnOnce() -> String) -> Result<(), PageError> {
        if !fitted.notes.is_empty() {
            self.notes.push(format!("{}: {}.", name(), fitted.notes.join("; ")));
        }
        self.runs.push(RawValue::from_string(fitted.json)?);
        Ok(())
    }

    fn join(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.searches.extend(other.searches);
        self.sweeps.extend(other.sweeps);
        self.tuned.extend(other.tuned);
        self.validated.extend(other.validated);
        self.notes.extend(other.notes);
    }

    /// How many results it has.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            runs: self.runs.len(),
            searches: self.searches.len(),
            sweeps: self.sweeps.len(),
            tuned: self.tuned.len(),
            validated: self.validated.len(),
        }
    }

    /// Writes the page as one HTML file.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Notes<'a> {
            notes: &'a [String],
        }
        #[derive(Serialize)]
        struct Data<'a> {
            weir: u32,
            runs: &'a [Box<RawValue>],
            searches: &'a [Box<RawValue>],
            sweeps: &'a [Box<RawValue>],
            tuned: &'a [Box<RawValue>],
            validated: &'a [Box<RawValue>],
            aggregated: Option<Notes<'a>>,
        }
        let Self { runs, searches, sweeps, tuned, validated, notes, given: _ } = self;
        let aggregated = (!notes.is_empty()).then_some(Notes { notes });
        let data = Data { weir: 1, runs, searches, sweeps, tuned, validated, aggregated };
        embed::write(&serde_json::to_string(&data)?, out)
    }
}

/// A saved result, for a person.
fn named(object: &Object<'_>) -> Option<String> {
    let text = |value: &RawValue| serde_json::from_str::<String>(value.get()).ok();
    let arbiter: Object<'_> = serde_json::from_str(object.get("arbiter")?.get()).ok()?;
    Some(format!("{} under {}", text(object.get("scenario")?)?, text(arbiter.get("name")?)?))
}

fn nameless() -> PageError {
    PageError::damaged("its scenario or arbiter has no name")
}

/// The full result of a run without phases.
fn plain(run: &Run<'_>) -> serde_json::Result<String> {
    serde_json::to_string(&RunJson::new(run, Detail { phases: true, full: true }).without_phases())
}

/// The full result of a run, where it is within so many bytes.
fn whole(run: &Run<'_>, most: usize) -> Option<String> {
    let mut out = Limited::new(most);
    serde_json::to_writer(&mut out, &RunJson::new(run, Detail { phases: true, full: true })).ok()?;
    String::from_utf8(out.into_inner()).ok()
}

/// What is wrong with a file that is no JSON.
fn cut(error: &serde_json::Error) -> String {
    let what = if error.is_eof() { "its JSON is incomplete: was the file cut off?" } else { "it is not JSON:" };
    let reason = if error.is_eof() { String::new() } else { format!(" {error}") };
    format!("{what}{reason} save it again with `weir run --full --json --output FILE` or another command's --json")
}

impl Unshown {
    fn message(&self) -> String {
        match self {
            Self::Other(what) => format!("this is {what}"),
            Self::NotWeir => "this is not a result of weir: a page shows scenarios, and what `weir run`, `optimize`, \
                              `tune` and `validate` print with --json"
                .to_owned(),
            Self::Unmarked => {
                "this is not a result of weir as this version writes it: it has no known `kind`; save it \
                               again"
                    .to_owned()
            }
            Self::Lacks(kind, key) => {
                format!("this looks like a result of `{}` but has no `{key}`: save it again", kind.command())
            }
        }
    }
}
