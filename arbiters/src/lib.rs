//! The built-in rate arbiters, one file per policy. Built into the program, and the same crate as a loadable library. What
//! several share is in `common`, and what makes large runs of two of them fast in `incremental`.
//!
//! ```text
//! PhaseView ──► groups (transfers of one class) ──► policy, per group and link ──► rates and bindings per transfer
//! ```
//!
//! All of them work on *groups*: transfers of one class have equal routes and attributes, hence equal rates, so work on
//! links is per group and a transfer costs a few nanoseconds. Scratch tables live in the arbiter and are reset only
//! where the last phase touched them; a call allocates nothing once they have grown. Each transfer's answer depends
//! only on the transfers it is connected to through shared links, bit for bit.

mod common;
mod equal_share;
mod fcfs;
mod incremental;
mod max_min;
mod pcie_congestion;
mod strict_priority;

pub use common::params::NoParams;
pub use equal_share::EqualShare;
pub use fcfs::Fcfs;
pub use incremental::{Layers, Shares};
pub use max_min::MaxMin;
pub use pcie_congestion::{DEFAULT_TAU, PcieCongestion, PcieCongestionParams};
pub use strict_priority::StrictPriority;

use weir_plugin_api::{ArbiterPlugin, Registry, RegistryError};

/// Adds the five arbiters to a registry, `max-min` and `strict-priority` with their incremental sides.
///
/// # Errors
/// If one of their names is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add_builtin::<PcieCongestion>()?;
    registry.add_builtin_incremental::<Shares>()?;
    registry.add_builtin::<EqualShare>()?;
    registry.add_builtin_incremental::<Layers>()?;
    registry.add_builtin::<Fcfs>()
}

/// The attributes of transfers that an arbiter of this crate does not read, by the words of the scenario format; none
/// for other names.
#[must_use]
pub fn ignored_attributes(name: &str) -> &'static [&'static str] {
    match name {
        PcieCongestion::NAME | EqualShare::NAME | Fcfs::NAME => &["weight", "priority"],
        MaxMin::NAME => &["priority"],
        _ => &[],
    }
}

weir_plugin_api::export_arbiters!(PcieCongestion, MaxMin, EqualShare, StrictPriority, Fcfs);
weir_plugin_api::export_incremental!(Shares, Layers);
