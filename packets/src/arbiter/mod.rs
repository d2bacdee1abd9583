//! Port arbiters: which of those that ask for an output gets it.
//!
//! Choosing is apart from committing, because an input may decline: it may be offered several outputs at once. Among equals
//! requesters go by their slot: by channel, then by link id of the input, then by engine.

mod built_in;
mod deficit;
mod keyed;
mod random;
mod rotation;

pub use built_in::{BUILT_IN, PortEntry, PortParams};
pub use deficit::DeficitRoundRobin;
pub use keyed::{ArrivalOrder, Fixed, OldestFirst, StrictPriority};
pub use random::{Random, draw};
pub use rotation::{RoundRobin, WeightedRoundRobin};

/// A packet that asks for an output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Head {
    /// Who asks: the requester's number at this output.
    pub slot: u32,
    /// Its number among those of its channel.
    pub place: u32,
    /// The packet's channel.
    pub channel: u32,
    /// Bytes on the wire, header included.
    pub bytes: u32,
    /// Bytes of payload among them.
    pub payload: u32,
    /// When it was ready at its source, ps.
    pub ready: u64,
    /// When it became visible here, ps.
    pub visible: u64,
    /// The transfer that it belongs to.
    pub transfer: u32,
    /// Its transfer's priority, larger is served first.
    pub priority: i64,
    /// Its transfer's weight, above 0.
    pub weight: f64,
}

/// Who asks for a free output, two or more.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GrantView<'a> {
    /// The output's link.
    pub out: u32,
    /// The instant, ps.
    pub now: u64,
    /// Those that have credit, by ascending slot.
    pub heads: &'a [Head],
}

/// A grant that takes place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Granted<'a> {
    /// The output's link.
    pub out: u32,
    /// Who gets it.
    pub slot: u32,
    /// Its number among those of its channel.
    pub place: u32,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Whom the arbiter chose among; empty where one asked alone.
    pub heads: &'a [Head],
}

/// A policy that gives the output of a port to one requester after the other.
pub trait PortArbiter: Send {
    /// The slot of one of `ask.heads`. The same answer to the same question until the next [`Self::commit`].
    fn choose(&self, ask: &GrantView<'_>) -> u32;

    /// A grant of this output has taken place.
    fn commit(&mut self, granted: &Granted<'_>);

    /// Appends what later choices for `out` depend on, times relative to nothing. Returns false where that cannot be told;
    /// runs then never skip ahead.
    fn state(&self, out: u32, to: &mut Vec<u64>) -> bool;

    /// Whether it looks at [`Head::ready`] or [`Head::visible`]. Periods then take longer to be found.
    fn reads_age(&self) -> bool {
        true
    }
}

/// A value per output, for outputs that have been seen; the default for others.
#[derive(Clone, Debug, Default)]
struct PerOutput<T>(Vec<T>);

impl<T: Clone + Default> PerOutput<T> {
    fn get(&self, out: u32) -> Option<&T> {
        self.0.get(out as usize)
    }

    fn of(&mut self, out: u32) -> &mut T {
        let at = out as usize;
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
