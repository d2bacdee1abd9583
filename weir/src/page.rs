//! Runs on the page of `weir report`: what is recorded of each, so that the page shows as much as fits.

use std::sync::atomic::Ordering;

use weir_report::Run;
use weir_report::page::{self, Effort, Page};
use weir_scenario::ArbiterSpec;
use weir_sim_core::Stop;

use crate::replay::Replay;
use crate::{Error, RunOptions, Scenario};

/// Up to so many transfers phases are explained without a look at how much that is (*assumed*: at most 200 MB).
const FEW: usize = 300;
/// Rates that are recorded with explanations, and names in these (*assumed*: 500 bytes and 4 bytes each, 1 GB at most).
const MOST_EXPLAINED: Effort = Effort { rates: 1_000_000, named: 250_000_000 };
/// Rates that are recorded without (16 bytes each).
const MOST_RATES: u64 = 10_000_000;
/// Rates that are taken one by one (*assumed*: half a minute).
const MOST_ONE_BY_ONE: u64 = 100_000_000;

/// What is done for a page, as soon as it begins.
#[derive(Clone, Copy)]
pub enum PageStep<'a> {
    /// A simulation runs.
    Running,
    /// A run is put on the page.
    Writing(&'a Run<'a>),
}

/// What is recorded of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Record {
    /// Phases and their explanations.
    Explained,
    /// Phases.
    Rates,
    /// Phases, but not all at once.
    OneByOne,
    /// Nothing beside the plain result.
    Times,
}

impl Record {
    /// As much as fits, by a run without phases.
    fn fitting(run: &Run<'_>, transfers: usize) -> Self {
        let effort = Effort::of(run.outcome, &run.scenario.tasks);
        let explained = effort.rates <= MOST_EXPLAINED.rates && effort.named <= MOST_EXPLAINED.named;
        match transfers <= page::MOST_ROWS {
            _ if run.outcome.stop == Stop::Cancelled || effort.rates > MOST_ONE_BY_ONE => Self::Times,
            true if explained => Self::Explained,
            _ if effort.rates <= MOST_RATES => Self::Rates,
            _ => Self::OneByOne,
        }
    }
}

/// What a page is made with.
struct Adding<'a> {
    scenario: &'a Scenario,
    arbiter: &'a ArbiterSpec,
    /// Of a plain run.
    options: RunOptions,
    begins: &'a dyn Fn(PageStep<'_>),
}

impl Scenario {
    /// Runs the scenario under an arbiter and adds it to a page. Of many transfers phases are recorded only if a run without
    /// them says that they fit. Of the options, `until` and `cancel` count; `begins` hears of each step.
    ///
    /// # Errors
    /// As [`Self::run`]; the page cannot hold the run.
    pub fn add_to_page(
        &self,
        page: &mut Page,
        arbiter: &ArbiterSpec,
        options: &RunOptions,
        begins: &dyn Fn(PageStep<'_>),
    ) -> Result<(), Error> {
        let (until, cancel) = (options.until, options.cancel.clone());
        let options = RunOptions { until, cancel, buffers: arbiter.packets.is_some(), ..RunOptions::default() };
        Adding { scenario: self, arbiter, options, begins }.add(page)
    }
}

impl Adding<'_> {
    fn add(&self, page: &mut Page) -> Result<(), Error> {
        (self.begins)(PageStep::Running);
        let run = self.scenario.run_under(self.arbiter, &self.options)?;
        page.widening(run.widenings(self.options.cancel.as_ref())?.into_iter().next());
        let transfers = self.scenario.contents().tasks.transfers().count();
        let mut record = Record::Explained;
        if self.arbiter.packets.is_some() {
            return self.hand_over(&run, |run| page.add_run(run).map_err(Error::input));
        }
        if transfers > FEW {
            record = self.hand_over(&run, |run| {
                let record = Record::fitting(run, transfers);
                match record {
                    Record::Times => page.add_run(run).map_err(Error::input)?,
                    Record::OneByOne => self.add_one_by_one(run, page)?,
                    Record::Explained | Record::Rates => {}
                }
                Ok(record)
            })?;
        }
        if matches!(record, Record::Times | Record::OneByOne) {
            return Ok(());
        }
        let phases = RunOptions { phases: true, explanations: record == Record::Explained, ..self.options.clone() };
        (self.begins)(PageStep::Running);
        let run = self.scenario.run_under(self.arbiter, &phases)?;
        self.hand_over(&run, |run| {
            if record == Record::Rates && transfers <= page::MOST_ROWS {
                page.note(run, "too many transfers are active at once for explanations, so culprits are not shown");
            }
            page.add_run(run).map_err(Error::input)
        })
    }

    fn hand_over<T>(&self, run: &crate::Run, add: impl FnOnce(&Run<'_>) -> Result<T, Error>) -> Result<T, Error> {
        run.report(|run| {
            (self.begins)(PageStep::Writing(run));
            add(run)
        })?
    }

    /// Adds a run whose phases come one by one from a second run.
    fn add_one_by_one(&self, run: &Run<'_>, page: &mut Page) -> Result<(), Error> {
        let cancelled = || self.options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        let replay = Replay::new(self.scenario, self.arbiter, run, &cancelled);
        let added = page.add_replayed(run, &|listener| replay.tell(listener));
        replay.failed()?;
        added.map_err(Error::input)
    }
}
