//! Searches over one scenario: what each kind of decision asks of the library of searches, and what comes back.
//!
//! ```text
//! options, `optimize:` ─► Settings ─┐
//! scenario, arbiter ────────────────┴─► SearchContext ─► order │ placement │ parameters ─► SearchOutcome
//! ```

mod classes;
mod context;
mod merge;
mod order;
mod outcome;
mod parameters;
mod part;
mod placement;
mod settings;
mod sweep;
mod watch;

pub use context::SearchContext;
pub use merge::merge;
pub use outcome::SearchOutcome;
pub use part::{OrderNames, PartFile, PartOf, Unread};
pub use settings::{Overrides, Settings};
pub use watch::{Checkpoint, Watch};

use weir_optimize::search::Vary;

use crate::Error;

/// Searches by what is varied; a fourth kind of decision is one more arm.
///
/// # Errors
/// What is wrong with the scenario or the settings; an arbiter that fails; an end before the first result.
pub fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    match context.settings.vary {
        Vary::Order if context.settings.sweep => sweep::search(context),
        Vary::Order => order::search(context),
        Vary::Placement => placement::search(context),
        Vary::Parameters => parameters::search(context),
    }
}
