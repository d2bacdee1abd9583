//! The port arbiters by name.

use std::collections::BTreeMap;

use super::{
    ArrivalOrder, DeficitRoundRobin, Fixed, OldestFirst, PortArbiter, Random, RoundRobin, StrictPriority,
    WeightedRoundRobin,
};

/// What port arbiters can be given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortParams {
    /// Bytes that a visit adds; at least 1.
    pub quantum: u64,
    /// Of random numbers.
    pub seed: u64,
    /// By output and number of the requester in its channel; 1 for others.
    pub weights: BTreeMap<(u32, u32), u32>,
}

impl Default for PortParams {
    /// Packets.md, section 2.
    fn default() -> Self {
        Self { quantum: 512, seed: 0, weights: BTreeMap::new() }
    }
}

/// A port arbiter by name.
#[derive(Debug)]
pub struct PortEntry {
    /// What scenarios call it.
    pub name: &'static str,
    /// Those of `quantum`, `weights` and `seed` that it reads.
    pub takes: &'static [&'static str],
    /// Whether it reads the priority of transfers.
    pub reads_priority: bool,
    /// A new instance.
    pub make: fn(&PortParams) -> Box<dyn PortArbiter>,
}

const fn entry(
    name: &'static str,
    takes: &'static [&'static str],
    make: fn(&PortParams) -> Box<dyn PortArbiter>,
) -> PortEntry {
    PortEntry { name, takes, reads_priority: false, make }
}

/// The built-in ones. Ports that are given none have the first.
pub static BUILT_IN: [PortEntry; 8] = [
    entry("round-robin", &[], |_| Box::new(RoundRobin::default())),
    entry("deficit-round-robin", &["quantum", "weights"], |params| {
        Box::new(DeficitRoundRobin::new(params.quantum, params.weights.clone()))
    }),
    entry("weighted-round-robin", &["weights"], |params| Box::new(WeightedRoundRobin::new(params.weights.clone()))),
    entry("oldest-first", &[], |_| Box::new(OldestFirst)),
    entry("arrival-order", &[], |_| Box::new(ArrivalOrder)),
    PortEntry { reads_priority: true, ..entry("strict-priority", &[], |_| Box::new(StrictPriority::default())) },
    entry("fixed", &[], |_| Box::new(Fixed)),
    entry("random", &["seed"], |params| Box::new(Random::new(params.seed))),
];
