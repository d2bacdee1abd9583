//! The built-in port arbiters: which of those that ask for an output gets it.
//!
//! Among equals requesters go by their slot: by channel, then by link id of the input, then by engine.

mod built_in;
mod deficit;
mod keyed;
mod params;
mod random;
mod rotation;

pub use built_in::{built_in, register};
pub use deficit::DeficitRoundRobin;
pub use keyed::{ArrivalOrder, Fixed, OldestFirst, StrictPriority};
pub use random::{Random, draw};
pub use rotation::{RoundRobin, WeightedRoundRobin};
use weir_plugin_api::{Head, LinkId};

/// A value per output, for outputs that have been seen; the default for others.
#[derive(Clone, Debug, Default)]
struct PerOutput<T>(Vec<T>);

impl<T: Clone + Default> PerOutput<T> {
    fn get(&self, out: LinkId) -> Option<&T> {
        self.0.get(out.index())
    }

    fn of(&mut self, out: LinkId) -> &mut T {
        let at = out.index();
        if at >= self.0.len() {
            self.0.resize(at + 1, T::default());
        }
        &mut self.0[at]
    }
}

/// Slots of the heads in the order in which they come after `last`, circularly.
fn after(heads: &[Head], last: Option<u32>) -> impl Iterator<Item = &Head> + Clone {
    let first = last.map_or(0, |last| heads.partition_point(|head| head.slot <= last));
    heads[first..].iter().chain(&heads[..first])
}
