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

mod collective;
mod effect;
mod gather;
mod level;
mod links;
mod machine;
mod offload;
mod operation;
mod program;
mod put;
mod quantities;
mod transfer;

pub use program::{ProgramCounts, ProgramFile, Unmatched, program_file};
pub use transfer::LoggpMessage;

use operation::{Planned, Resolved, read, schema};
use weir_plugin_api::{
    Alternative, CallError, Estimates, Model, ModelPlugin, Plan, Registry, RegistryError, Surroundings,
};

/// Makes of one list the models, what is built in and what the shared library exports.
macro_rules! models {
    ($($(#[$doc:meta])+ $model:ident of $operation:ty;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug, Default)]
            pub struct $model(Planned<$operation>);

            impl Model for $model {
                fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
                    let resolved = read::<$operation>(operation, surroundings)?;
                    resolved.plan(plan);
                    self.0.keep(operation, surroundings, resolved);
                    Ok(())
                }

                fn estimate(
                    &mut self,
                    operation: &str,
                    surroundings: &Surroundings<'_>,
                    estimates: &mut Estimates,
                ) -> Result<(), CallError> {
                    let resolved = match self.0.take(operation, surroundings) {
                        Some(planned) => planned,
                        None => read::<$operation>(operation, surroundings)?,
                    };
                    *estimates = resolved.estimates(surroundings)?;
                    Ok(())
                }

                fn alternatives(
                    &mut self,
                    operation: &str,
                    surroundings: &Surroundings<'_>,
                    out: &mut Vec<Alternative>,
                ) -> Result<(), CallError> {
                    <$operation>::alternatives(operation, surroundings, out)
                }
            }

            impl ModelPlugin for $model {
                const NAME: &'static str = <$operation>::NAME;
                const VERSION: &'static str = env!("CARGO_PKG_VERSION");
                const OPERATIONS: &'static [&'static str] = &[<$operation>::KEY];

                fn schema() -> String {
                    schema::<<$operation as Resolved>::Params>(<$operation>::KEY)
                }

                fn create() -> Result<Self, CallError> {
                    Ok(Self::default())
                }
            }
        )+

        /// Adds the built-in models to a registry.
        ///
        /// # Errors
        /// If one of their names or operations is taken.
        pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
            $(registry.add_builtin_model::<$model>()?;)+
            Ok(())
        }

        weir_plugin_api::export_models!($($model),+);
    };
}

models! {
    /// The model `offload`: copy in, compute, copy out.
    Offload of offload::Offload;
    /// The model `put`: a transfer in packets between devices of two machines.
    Put of put::Put;
    /// The model `gather`: the parts of all devices come together on one node.
    Gather of gather::Gather;
    /// The model `collective`: an all-reduce or another exchange among ranks, by a named algorithm.
    Collective of collective::Collective;
    /// The model `program`: what the ranks of a parallel program do.
    Program of program::Program;
    /// The model `loggp`: a plain transfer as one LogGP message.
    Loggp of transfer::LoggpTransfer;
}
