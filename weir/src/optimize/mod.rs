//! Searches over one scenario: what each kind of decision asks of the library of searches, and what comes back.
//!
//! ```text
//! options, `optimize:` ─► Settings ─┐
//! scenario, arbiter ────────────────┴─► SearchContext ─► order │ placement │ parameters │ joint ─► SearchOutcome
//! ```

mod classes;
mod context;
mod goal;
mod joint;
mod merge;
mod order;
mod outcome;
mod parameters;
mod part;
mod placement;
mod settings;
mod sweep;
mod watch;

pub use merge::merge;
pub use outcome::SearchOutcome;
pub(crate) use parameters::check as check_parameters;
pub use part::{OrderNames, PartFile, PartOf, Unread};
pub use settings::{SearchOptions, Settings, SettingsError, SplitOption, count};
pub use watch::{Checkpoint, Watch};
pub use weir_optimize::Distribution;
pub use weir_optimize::order::Part as OrderPart;
pub use weir_optimize::parameters::{Part as GridPart, Shard};
pub use weir_optimize::search::{Kinds, Method, Objective, SearchResult, Vary};
pub use weir_report::{SearchReport, SearchSubject, Solution, SweepReport};
pub use weir_scenario::Change;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::{Error, Scenario};
use context::SearchContext;
use weir_optimize::search::within;

impl Scenario {
    /// Searches as the scenario's `optimize` says, under its first arbiter, on all cores: for the order in which each source
    /// sends, the device of each rank, or values of parameters.
    ///
    /// ```
    /// let found = weir::Scenario::open("../scenarios/optimize/order-halo-2d-t2.yaml")?.optimize()?;
    /// let report = found.report.expect("one search");
    /// assert!(report.result.best < report.result.baseline && report.result.proved_optimal);
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// The scenario does not say what to vary, a candidate cannot be run, or the arbiter fails.
    pub fn optimize(&self) -> Result<SearchOutcome, Error> {
        self.optimize_with(0, &SearchOptions::default())
    }

    /// Searches with these options, under the arbiter at a place of [`Self::arbiters`].
    ///
    /// # Errors
    /// As [`Self::optimize`]; options that do not fit what varies; an end before the first result.
    pub fn optimize_with(&self, arbiter: usize, options: &SearchOptions<'_>) -> Result<SearchOutcome, Error> {
        let settings = Settings::new(options, self)?;
        if arbiter >= self.arbiters().len() {
            return Err(Error::input("the scenario has no such arbiter"));
        }
        let begin = Instant::now();
        within(options.budget, options.cancel.unwrap_or(&AtomicBool::new(false)), |cancel| {
            search(&SearchContext {
                source: &self.source,
                registry: &self.registry,
                scenario: self.contents(),
                arbiter,
                settings,
                options: *options,
                cancel,
                begin,
            })
        })
    }
}

/// Searches by what is varied: each kind alone by its fast search, where there is one for the objective.
fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let (vary, method) = (context.settings.vary, context.settings.method);
    let _search = tracing::info_span!("search", vary = vary.word(), method = method.word()).entered();
    let outcome = match vary {
        _ if context.settings.simulated => joint::search(context),
        Vary::Order if context.settings.sweep => sweep::search(context),
        Vary::Order => order::search(context),
        Vary::Placement => placement::search(context),
        Vary::Parameters => parameters::search(context),
        Vary::Joint(_) => joint::search(context),
    }?;
    outcome.log();
    Ok(outcome)
}
