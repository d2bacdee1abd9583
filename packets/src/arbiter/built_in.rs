//! The port arbiters by name.

use weir_plugin_api::{CallError, FabricView, Flags, PortArbiterPlugin, PortEntry, Registry, RegistryError};

use super::params::{DeficitParams, NoParams, SeedParams, WeightParams, decode, schema, weights};
use super::{
    ArrivalOrder, DeficitRoundRobin, Fixed, OldestFirst, Random, RoundRobin, StrictPriority, WeightedRoundRobin,
};

/// Name, description, what it reads, parameters, and how an instance is made for a fabric.
macro_rules! port_arbiter {
    ($policy:ty, $name:literal, $description:literal, $flags:expr, $params:ty, $create:expr) => {
        impl PortArbiterPlugin for $policy {
            const NAME: &'static str = $name;
            const VERSION: &'static str = env!("CARGO_PKG_VERSION");
            const DESCRIPTION: &'static str = $description;
            const FLAGS: Flags = $flags;

            fn params_schema() -> String {
                schema::<$params>()
            }

            fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
                let create: fn(&FabricView<'_>, $params) -> Self = $create;
                Ok(create(fabric, decode(Self::NAME, params)?))
            }
        }
    };
}

const NOTHING: Flags = Flags(0);

port_arbiter!(RoundRobin, "round-robin", "the next one after the last one served", NOTHING, NoParams, |_, _| {
    Self::default()
});
port_arbiter!(
    DeficitRoundRobin,
    "deficit-round-robin",
    "in turn, by bytes",
    NOTHING,
    DeficitParams,
    |fabric, params| Self::new(params.quantum.get(), weights(fabric, &params.weights))
);
port_arbiter!(
    WeightedRoundRobin,
    "weighted-round-robin",
    "in turn, some packets in a row",
    NOTHING,
    WeightParams,
    |fabric, params| Self::new(weights(fabric, &params.weights))
);
port_arbiter!(
    OldestFirst,
    "oldest-first",
    "whose packet was ready at its source first",
    Flags::READS_ARRIVAL,
    NoParams,
    |_, _| Self
);
port_arbiter!(
    ArrivalOrder,
    "arrival-order",
    "whose packet became visible at the port first",
    Flags::READS_ARRIVAL,
    NoParams,
    |_, _| Self
);
port_arbiter!(
    StrictPriority,
    "strict-priority",
    "the highest priority, in turn among equals",
    Flags::READS_PRIORITY,
    NoParams,
    |_, _| Self::default()
);
port_arbiter!(Fixed, "fixed", "the lowest requester", NOTHING, NoParams, |_, _| Self);
port_arbiter!(Random, "random", "one drawn at random", NOTHING, SeedParams, |_, params| Self::new(params.seed));

/// The built-in ones. Ports that are given none have the first.
#[must_use]
pub fn built_in() -> [PortEntry; 8] {
    [
        PortEntry::builtin::<RoundRobin>(),
        PortEntry::builtin::<DeficitRoundRobin>(),
        PortEntry::builtin::<WeightedRoundRobin>(),
        PortEntry::builtin::<OldestFirst>(),
        PortEntry::builtin::<ArrivalOrder>(),
        PortEntry::builtin::<StrictPriority>(),
        PortEntry::builtin::<Fixed>(),
        PortEntry::builtin::<Random>(),
    ]
}

/// Registers the built-in port arbiters.
///
/// # Errors
/// If the registry has one of their names already.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    built_in().into_iter().try_for_each(|entry| registry.add_port(entry))
}

// As a loadable library, for comparison: built with `--crate-type=cdylib`.
weir_plugin_api::export_port_arbiters!(
    RoundRobin,
    DeficitRoundRobin,
    WeightedRoundRobin,
    OldestFirst,
    ArrivalOrder,
    StrictPriority,
    Fixed,
    Random,
);
