//! Searches over one scenario: what each kind of decision asks of the library of searches, and what comes back.
//!
//! ```text
//! arguments, `optimize:` ─► Settings ─┐
//! Scenario, arbiter ──────────────────┴─► Bench ─► order │ placement │ parameters ─► Found ─► report, part, --write
//! ```

mod bench;
mod checkpoint;
mod classes;
mod order;
mod parameters;
mod part;
mod placement;
mod progress;
mod settings;
mod stop;
mod sweep;
mod write;

pub(crate) use bench::{Bench, Found};
pub(crate) use part::{merged, read_parts};
pub(crate) use settings::Settings;
pub(crate) use stop::Stop;
pub(crate) use write::Target;

use weir_optimize::search::Vary;

use crate::failure::Failure;

/// Searches by what is varied; a fourth kind of decision is one more arm.
pub(crate) fn search(bench: &Bench<'_>) -> Result<Found, Failure> {
    match bench.settings.vary {
        Vary::Order if bench.settings.sweep => sweep::search(bench),
        Vary::Order => order::search(bench),
        Vary::Placement => placement::search(bench),
        Vary::Parameters => parameters::search(bench),
    }
}
