//! Port arbiters: which of those that ask for an output of a switch gets it, packet by packet.
//!
//! Choosing is apart from committing, because an input may decline: it may be offered several outputs at once.

use crate::{CallError, FabricView, Flags, LinkId, SimTime, Slice, TransferId};

/// The answer that names no requester. The host takes it for a failure: a port that is asked serves somebody.
pub const NO_SLOT: u32 = u32::MAX;

/// A packet that asks for an output.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Head {
    /// Who asks: the requester's number at this output. Requesters are numbered by channel, then link id of the input, then
    /// engine.
    pub slot: u32,
    /// The packet's channel; the channels that a run uses are numbered from 0.
    pub channel: u32,
    /// Bytes on the wire, header included.
    pub bytes: u32,
    /// Bytes of payload among them.
    pub payload: u32,
    /// When it was ready at its source.
    pub ready: SimTime,
    /// When it became visible at this node.
    pub visible: SimTime,
    /// The transfer that it belongs to; with the highest bit set, the requests of that read.
    pub transfer: TransferId,
    /// Its transfer's priority, larger is served first.
    pub priority: i32,
    /// Its transfer's weight, above 0.
    pub weight: f64,
}

/// Who asks for a free output, two or more.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GrantView<'a> {
    /// Bytes of this structure as the host knows it: later versions grow at the end.
    struct_size: u32,
    /// The output's link.
    pub out: LinkId,
    /// The instant. Choices may depend on how long ago something was, not on the time as such.
    pub now: SimTime,
    /// Those that have credit, by ascending slot.
    pub heads: Slice<'a, Head>,
    /// Requesters of this output per channel, see [`Self::place`].
    pub requesters: u32,
    reserved: u32,
}

impl<'a> GrantView<'a> {
    /// A view of these heads, by ascending slot; `requesters` of the output per channel.
    #[must_use]
    pub fn new(out: LinkId, now: SimTime, heads: &'a [Head], requesters: u32) -> Self {
        Self { struct_size: size_of::<Self>() as u32, out, now, heads: heads.into(), requesters, reserved: 0 }
    }

    /// The number of a requester among those of its channel: place p is the p-th link that enters the node which the output
    /// leaves, by id; places beyond are engines of that node.
    #[inline]
    #[must_use]
    pub fn place(&self, slot: u32) -> u32 {
        place(slot, self.requesters)
    }
}

/// A grant that takes place.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PortGrant<'a> {
    /// The output's link.
    pub out: LinkId,
    /// Who gets it.
    pub slot: u32,
    /// Bytes on the wire.
    pub bytes: u32,
    /// As [`GrantView::requesters`].
    pub requesters: u32,
    /// Whom the arbiter chose among; empty where one asked alone.
    pub heads: Slice<'a, Head>,
}

impl PortGrant<'_> {
    /// As [`GrantView::place`].
    #[inline]
    #[must_use]
    pub fn place(&self, slot: u32) -> u32 {
        place(slot, self.requesters)
    }
}

fn place(slot: u32, requesters: u32) -> u32 {
    if slot < requesters { slot } else { slot.checked_rem(requesters).unwrap_or(slot) }
}

/// A policy that gives the output of a port to one requester after the other. One instance serves all ports of a run that
/// are given it alike.
pub trait PortArbiter: Send {
    /// The slot of one of `ask.heads`. The same answer to the same question until the next [`Self::commit`]: the host asks
    /// again for a sample.
    ///
    /// # Errors
    /// Any [`CallError`]; the run ends with its text.
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError>;

    /// A grant has taken place: one that was chosen, or of who asked alone.
    ///
    /// # Errors
    /// As `choose`.
    fn commit(&mut self, grant: &PortGrant<'_>) -> Result<(), CallError>;

    /// Appends what later choices for `out` depend on, apart from the packets: equal words, equal choices. Returns false where
    /// that cannot be told; runs then never skip ahead.
    ///
    /// # Errors
    /// As `choose`.
    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError>;
}

/// A port arbiter that can be registered under a name, or exported by [`crate::export_port_arbiters!`].
pub trait PortArbiterPlugin: PortArbiter + Sized + 'static {
    /// Name in scenarios: lower case words joined by `-`.
    const NAME: &'static str;
    /// Version of the policy, shown in results.
    const VERSION: &'static str;
    /// Whom it serves, in a few words.
    const DESCRIPTION: &'static str;
    /// What it reads, of [`Flags::OF_PORTS`]; [`Flags::READS_ARRIVAL`] stands for [`Head::ready`] and [`Head::visible`],
    /// without which periods are found sooner.
    const FLAGS: Flags;

    /// JSON Schema (an object) of its parameters, with the keywords of [`crate::ArbiterPlugin::params_schema`], and
    /// `"x-weir-by-node": true` for a map whose keys the scenario writes as names of nodes; they arrive as ids.
    fn params_schema() -> String;

    /// Builds an instance for the ports of a fabric.
    ///
    /// # Errors
    /// [`CallError::Refused`] when the parameters (a JSON object) or the fabric do not fit.
    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError>;
}
