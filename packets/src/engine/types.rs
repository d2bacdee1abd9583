//! What goes into the engine and comes out of it.

use weir_plugin_api::CallError;

/// A transfer to send.
#[derive(Clone, Debug)]
pub struct TransferSpec<'a> {
    /// Bytes of payload.
    pub bytes: u64,
    /// Its links in order of travel; not empty.
    pub route: &'a [u32],
    /// Its channel.
    pub channel: u32,
    /// Its priority, larger is served first.
    pub priority: i32,
    /// Its weight, above 0.
    pub weight: f64,
    /// Picoseconds between the times at which its packets are ready, at least; 0 for no limit.
    pub interval: u64,
    /// Packets under way at most.
    pub window: Option<u64>,
    /// How it is asked for, if its destination does that.
    pub read: Option<ReadSpec<'a>>,
}

/// A transfer whose destination asks for the data: its packets answer requests.
#[derive(Clone, Copy, Debug)]
pub struct ReadSpec<'a> {
    /// Links of requests in order of travel; not empty.
    pub route: &'a [u32],
    /// Their channel.
    pub channel: u32,
    /// Bytes that one asks for; at least 1.
    pub request: u32,
    /// Requests at most that have not been answered in full; at least 1.
    pub tags: u32,
    /// Picoseconds from when one has come to its answer.
    pub service: u64,
    /// Bytes of header of the packets that answer, on every link.
    pub header: u16,
}

/// What happened to a transfer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Notice {
    /// Its last byte has left its source.
    Sent(u32),
    /// Its last byte is at its destination.
    Ended(u32),
}

/// Why a run of packets cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// A transfer begins where all engines are busy, or on a route that is none.
    #[error("transfer {transfer} cannot begin: no engine of its source is free")]
    Engines {
        /// The transfer.
        transfer: u32,
    },
    /// An arbiter chose somebody who had not asked.
    #[error("the arbiter of link {link} chose requester {slot}, which does not ask")]
    Slot {
        /// The output.
        link: u32,
        /// The answer.
        slot: u32,
    },
    /// An arbiter could not be made.
    #[error("arbiter `{arbiter}`: {error}")]
    Refused {
        /// Its name.
        arbiter: String,
        /// Its text.
        error: CallError,
    },
    /// An arbiter failed.
    #[error("the arbiter of link {link} failed: {error}")]
    Arbiter {
        /// The output.
        link: u32,
        /// Its text.
        error: CallError,
    },
    /// An arbiter answered the same question in two ways.
    #[error("the arbiter of link {link} chose requester {slot}, and asked again requester {again}")]
    Impure {
        /// The output.
        link: u32,
        /// The first answer.
        slot: u32,
        /// The second one.
        again: u32,
    },
    /// All was as it had been, by what arbiters tell of their states, and grants were others afterwards.
    #[error("an arbiter left out of its state what it chooses by")]
    State {
        /// The outputs, of one of which it is.
        links: Vec<u32>,
    },
    /// Full buffers wait for each other.
    #[error("deadlock: full buffers wait for each other")]
    Deadlock {
        /// The links whose buffers are full, each waiting for the next, the last for the first; empty where nobody waits for
        /// anybody in a circle.
        cycle: Vec<u32>,
    },
    /// Links and nodes make no network.
    #[error("{0}")]
    Network(#[from] crate::NetworkError),
    /// More packets in buffers than are kept at once: only buffers without a size hold as many.
    #[error("more than {most} packets are in buffers at once")]
    InBuffers {
        /// The limit.
        most: usize,
    },
    /// More hops than allowed.
    #[error("more than {most} hops")]
    Hops {
        /// The limit.
        most: u64,
    },
}

/// What crossed a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounts {
    /// Packets, pieces of split ones each.
    pub packets: u64,
    /// Bytes of payload.
    pub payload: u64,
    /// Bytes with headers.
    pub wire: u64,
    /// DLLPs: packets that acknowledge those of the opposite link. Neither `packets` nor `wire` counts them.
    pub dllps: u64,
    /// Picoseconds in which it sent, DLLPs included.
    pub busy: u64,
    /// Picoseconds in which it was free, and nobody who asked for it had credit.
    pub starved: u64,
    /// Most bytes in the buffer at its far end, of all channels together, those on their way to it included.
    pub deepest: u64,
    /// Sum over packets of the time from when one could have been sent over it to when it was, its last piece if it is split;
    /// ps.
    pub waited: u64,
    /// Packets of which `waited` is the sum: one that is split counts once, when its last piece is sent.
    pub whole: u64,
}
