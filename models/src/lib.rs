//! The built-in models: each turns operations of the workload into tasks and gives their closed forms. Built into the
//! program, and the same crate as a loadable library.
//!
//! ```text
//! operation (JSON) ──► params ──► resolved (presets, routes, tables) ──┬─► plan: tasks on engines ──► simulated time
//!                                                                     └─► formula, departures ────► estimate, relation
//! ```
//!
//! Where a plan shares all assumptions of its formula, the two times are equal. Each departure is known by name and
//! says in which direction it moves the simulated time.

mod effect;
mod gather;
mod level;
mod machine;
mod offload;
mod operation;
mod put;
mod quantities;
mod transfer;

pub use gather::Gather;
pub use offload::Offload;
pub use put::Put;
pub use transfer::{Loggp, LoggpMessage};

use weir_plugin_api::{Registry, RegistryError};

/// Adds the four models to a registry.
///
/// # Errors
/// If one of their names or operations is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.add_builtin_model::<Offload>()?;
    registry.add_builtin_model::<Put>()?;
    registry.add_builtin_model::<Gather>()?;
    registry.add_builtin_model::<Loggp>()
}

weir_plugin_api::export_models!(Offload, Put, Gather, Loggp);
