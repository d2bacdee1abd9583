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
mod input_fifo;
mod max_min;
mod pcie_congestion;
mod strict_priority;

pub use equal_share::Parts;
pub use fcfs::Lines;
pub use incremental::{Layers, Shares};
pub use input_fifo::InputFifoParams;
pub use pcie_congestion::{Factors, PcieCongestionParams};

/// Makes of one list what is built in and what the shared library exports.
macro_rules! policies {
    ($($module:ident::$policy:ident $(, incremental $side:ty)?;)+) => {
        $(pub use $module::$policy;)+

        /// Adds the built-in arbiters to a registry, those with an incremental side with it; [`MaxMin`] serves scenarios
        /// that name none.
        ///
        /// # Errors
        /// If one of their names is taken.
        pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
            $(registry.add(ArbiterEntry::builtin::<$policy>()$(.with_incremental::<$side>())?)?;)+
            registry.set_default_arbiter(MaxMin::NAME);
            Ok(())
        }

        weir_plugin_api::export_arbiters!($($policy),+);
    };
}

use weir_plugin_api::{ArbiterEntry, ArbiterPlugin as _, Registry, RegistryError};

policies! {
    pcie_congestion::PcieCongestion, incremental Factors;
    input_fifo::InputFifo;
    max_min::MaxMin, incremental Shares;
    equal_share::EqualShare, incremental Parts;
    strict_priority::StrictPriority, incremental Layers;
    fcfs::Fcfs, incremental Lines;
}
