//! The page of `weir report`: one HTML file with everything in it.
//!
//! ```text
//! Run ────────┬─► RunJson: the values of a result ─► fit: whole, packed or aggregated ─┐
//! saved JSON ─┘   PhaseSource: phases, by place of transfers ───────┘                  ├─► Page ─► HTML
//! saved JSON ───► values of searches, sweeps, tuning, validation ──────────────────────┘
//! ```
//!
//! The data are described in `report/web/data.md`, beside the front-end that shows them.

mod aggregate;
mod bins;
mod contract;
mod delays;
mod embed;
mod error;
mod fit;
mod groups;
mod pack;
mod phases;
mod pictures;
mod probe;
mod search;
mod sweep;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

pub use contract::contract;
pub use error::PageError;
pub use fit::MOST_ROWS;
use fit::{Additions, fit};
pub use phases::PhaseReplay;
use phases::{PhaseSource, Recorded, Replayed};
pub use pictures::Picture;
pub use probe::Effort;
pub(crate) use sweep::Point;

use crate::json::{List, Plans, RunJson, SearchJson};
use crate::saved::{self, Consistent, SavedError};
use crate::sweep::SweepJson;
use crate::{Detail, ResultKind, Run, Tuning, Validation, WhatIf, Widening};

/// What a page has of a run.
const FULL: Detail = Detail { phases: true, full: true };

/// The data of a page.
#[derive(Debug, Default)]
pub struct Page {
    runs: Vec<Box<RawValue>>,
    searches: Vec<Box<RawValue>>,
    sweeps: Vec<Box<RawValue>>,
    tuned: Vec<Box<RawValue>>,
    validated: Vec<Box<RawValue>>,
    what_ifs: Vec<Box<RawValue>>,
    notes: Vec<String>,
    /// Where the runs that are added come from: the file in which they were saved, or what was changed before.
    origin: Option<String>,
    /// Of the run that is added next.
    widening: Option<Widening>,
    /// The pictures of its runs and searches, where they are asked for.
    pictures: Option<Vec<Picture>>,
    /// Runs and searches of the page that it is joined to.
    before: usize,
}

/// How many results of each kind a page has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Runs, those of saved comparisons included.
    pub runs: usize,
    /// Searches for one best candidate.
    pub searches: usize,
    /// Searches at many points.
    pub sweeps: usize,
    /// Scenarios whose packets were tuned.
    pub tuned: usize,
    /// Scenarios held against measured times.
    pub validated: usize,
    /// Scenarios with changes that were tried.
    pub what_ifs: usize,
}

impl Page {
    /// Says of the runs that are added from now on what makes them differ from their scenario, such as
    /// `--set workload[0].transfer.size=4MB`.
    pub fn describe(&mut self, origin: Option<String>) {
        self.origin = origin;
    }

    /// Draws the runs and searches that are added from now on, beside showing them: [`Self::pictures`].
    pub fn draw(&mut self) {
        self.pictures.get_or_insert_default();
    }

    /// The pictures that it drew. Of runs timelines and, of full results, topologies and loads of links; of searches that know
    /// all their candidates the makespans.
    #[must_use]
    pub fn pictures(&self) -> &[Picture] {
        self.pictures.as_deref().unwrap_or_default()
    }

    /// Says of the next run that is added which link would save most if it were wider.
    pub fn widening(&mut self, widening: Option<Widening>) {
        self.widening = widening;
    }

    /// Adds a run. Its outcome should have phases with explanations for up to [`MOST_ROWS`] transfers, and may have phases
    /// beyond; without phases rates over time are not known, and the page shows mean rates.
    ///
    /// # Errors
    /// If its parameters are not JSON.
    pub fn add_run(&mut self, run: &Run<'_>) -> Result<(), PageError> {
        let source = Recorded::of(run);
        self.add_fitted(
            RunJson::new(run, FULL),
            Plans::of(run),
            source.as_ref().map(|source| source as &dyn PhaseSource),
        )
    }

    /// Adds a run whose phases were not recorded and come one by one: memory does not grow with their number. Where not all
    /// come, the page shows mean rates.
    ///
    /// # Errors
    /// As [`Self::add_run`].
    pub fn add_replayed(&mut self, run: &Run<'_>, replay: &PhaseReplay<'_>) -> Result<(), PageError> {
        match self.add_fitted(RunJson::new(run, FULL), Plans::of(run), Some(&Replayed::new(run, replay))) {
            Err(PageError::Interrupted) => {
                self.note(run, "interrupted, so rates over time are not known");
                self.add_run(run)
            }
            added => added,
        }
    }

    /// Of the next run or search, from 1.
    fn number(&self) -> usize {
        self.before + self.runs.len() + self.searches.len() + 1
    }

    fn add_fitted<'a>(
        &mut self,
        mut run: RunJson<'a>,
        plans: Option<List<Plans<'a>>>,
        source: Option<&dyn PhaseSource>,
    ) -> Result<(), PageError> {
        let name = named(&run.scenario, &run.arbiter.name);
        let number = self.number();
        if let Some(pictures) = &mut self.pictures {
            run.make();
            pictures.extend(pictures::of(&run, number, source)?);
        }
        let additions =
            Additions { origin: self.origin.clone(), widening: self.widening.take(), plans, ..Additions::default() };
        let fitted = fit(run, additions, source)?;
        if !fitted.notes.is_empty() {
            self.notes.push(format!("{name}: {}.", fitted.notes.join("; ")));
        }
        self.runs.push(to_raw_value(&fitted)?);
        Ok(())
    }

    /// Adds all results of a saved file.
    ///
    /// # Errors
    /// A line that is not weir's, that is damaged, or that a page does not show. Nothing of the file is added then.
    pub fn add_saved(&mut self, file: &str, text: &str) -> Result<(), SavedError> {
        let pictures = self.pictures.is_some().then(Vec::new);
        let before = self.number() - 1;
        let mut added = Self { origin: Some(file.to_owned()), pictures, before, ..Self::default() };
        saved::each(file, text, |value| added.add_value(value.get()))?;
        self.join(added);
        Ok(())
    }

    fn add_value(&mut self, text: &str) -> Result<(), PageError> {
        let kind = saved::kind(text).map_err(PageError::Damaged)?;
        match kind {
            ResultKind::Run => self.add_saved_run(read(kind, text)?),
            ResultKind::Comparison => self.add_comparison(&read(kind, text)?),
            ResultKind::Search => self.add_search(read(kind, text)?),
            ResultKind::Sweep => self.add_sweep(read(kind, text)?),
            ResultKind::Tuning => add(&mut self.tuned, &read::<Tuning>(kind, text)?),
            ResultKind::Validation => add(&mut self.validated, &read::<Validation<'_>>(kind, text)?),
            ResultKind::WhatIf => add(&mut self.what_ifs, &read::<WhatIf>(kind, text)?),
            ResultKind::Explanation | ResultKind::Calibration | ResultKind::PluginList => Err(unshown(kind)),
        }
    }

    fn add_comparison(&mut self, comparison: &SavedComparison<'_>) -> Result<(), PageError> {
        let file = self.origin.clone();
        for (at, result) in comparison.results.iter().enumerate() {
            let with = comparison.with.as_ref().and_then(|with| with.get(at)?.as_deref());
            let named = |with| file.iter().map(String::as_str).chain([with]).collect::<Vec<_>>().join(", ");
            self.origin = with.map_or_else(|| file.clone(), |with| Some(named(with)));
            self.add_value(result.get())?;
        }
        self.origin = file;
        Ok(())
    }

    fn add_search(&mut self, mut search: SearchJson<'_>) -> Result<(), PageError> {
        let number = self.number();
        if let Some(pictures) = &mut self.pictures {
            pictures.extend(pictures::of_search(&search, number));
        }
        if let Some(rows) = search::shorten(&mut search) {
            let (name, most) = (named(&search.scenario, &search.arbiter.name), search::MOST_ROWS);
            self.notes.push(format!("{name}: the table has the best {most} of {rows} candidates."));
        }
        add(&mut self.searches, &search)
    }

    fn add_sweep(&mut self, mut sweep: SweepJson<'_, Point<'_>>) -> Result<(), PageError> {
        if let Some(points) = sweep::shorten(&mut sweep) {
            let (name, most) = (named(&sweep.scenario, &sweep.arbiter.name), sweep::MOST_POINTS);
            self.notes.push(format!("{name}: the page shows only the sums of {points} points; it draws up to {most}."));
        }
        add(&mut self.sweeps, &sweep)
    }

    fn add_saved_run(&mut self, run: RunJson<'_>) -> Result<(), PageError> {
        if run.streamed.is_some() {
            let name = named(&run.scenario, &run.arbiter.name);
            self.notes.push(format!("{name}: its transfers were written to another file, and are not shown."));
        }
        self.add_fitted(run, None, None)
    }

    /// Adds a sentence about a run, which stands at the head of the page.
    pub fn note(&mut self, run: &Run<'_>, what: &str) {
        self.notes.push(format!("{}: {what}.", named(&run.scenario.name, run.arbiter.name)));
    }

    fn join(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.searches.extend(other.searches);
        self.sweeps.extend(other.sweeps);
        self.tuned.extend(other.tuned);
        self.validated.extend(other.validated);
        self.what_ifs.extend(other.what_ifs);
        self.notes.extend(other.notes);
        self.pictures.iter_mut().for_each(|pictures| pictures.extend(other.pictures.iter().flatten().cloned()));
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
            what_ifs: self.what_ifs.len(),
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
            what_ifs: &'a [Box<RawValue>],
            aggregated: Option<Notes<'a>>,
        }
        let Self {
            runs,
            searches,
            sweeps,
            tuned,
            validated,
            what_ifs,
            notes,
            origin: _,
            widening: _,
            pictures: _,
            before: _,
        } = self;
        let aggregated = (!notes.is_empty()).then_some(Notes { notes });
        let data = Data { weir: 1, runs, searches, sweeps, tuned, validated, what_ifs, aggregated };
        embed::write(&serde_json::to_string(&data)?, out)
    }
}

/// The results of a saved comparison.
#[derive(Deserialize)]
struct SavedComparison<'a> {
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
    /// Per result, what was changed for it.
    with: Option<Vec<Option<String>>>,
}

impl Consistent for SavedComparison<'_> {
    fn contradiction(&self) -> Option<String> {
        let (with, results) = (self.with.as_ref()?.len(), self.results.len());
        (with != results).then(|| format!("with: {with} changes, but {results} results"))
    }
}

/// A result, for a person.
fn named(scenario: &str, arbiter: &str) -> String {
    format!("{scenario} under {arbiter}")
}

fn add(list: &mut Vec<Box<RawValue>>, result: &impl Serialize) -> Result<(), PageError> {
    list.push(to_raw_value(result)?);
    Ok(())
}

fn read<'a, T: Deserialize<'a> + Consistent>(kind: ResultKind, text: &'a str) -> Result<T, PageError> {
    saved::read_whole(kind, text).map_err(PageError::Damaged)
}

/// Why a page does not show a result, and what to give instead.
fn unshown(kind: ResultKind) -> PageError {
    PageError::damaged(match kind {
        ResultKind::Explanation => {
            "this is a result of `weir explain`: give the scenario itself, its page has the explanation"
        }
        ResultKind::Calibration => "this is a result of `weir calibrate`: give that of `weir validate`",
        _ => "this is a list of plugins: give the result of a run",
    })
}
