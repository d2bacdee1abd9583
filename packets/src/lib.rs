//! Transfers packet by packet: switches hold packets in finite input buffers under credits, and a port arbiter grants each
//! output. Head-of-line blocking is no formula here: it comes out.
//!
//! ```text
//! Network + transfers ──► Engine ──► notices: sent, ended ; per link: packets, bytes, waits
//!                          │  ▲
//!            heads that ask ▼  │ slot
//!                        PortArbiter (weir-plugin-api)
//! ```
//!
//! Times are whole picoseconds. The engine knows nothing of scenarios, tasks or names: whoever drives it admits transfers and
//! takes notices, see [`Engine::advance`].

pub mod arbiter;
mod engine;
mod network;
mod wire;

pub use engine::{
    BufferFills, CycleGrant, Engine, GrantCycle, Held, HeldCause, Interleave, LinkCounts, Notice, PacketError,
    PortPhase, PortRecord, ReadSpec, TransferSpec,
};
pub use network::{
    Inputs, LinkSettings, MOST_HEADER, MOST_PAYLOAD, MOST_REQUESTERS, Network, NetworkError, NodeSettings, Queues,
    Switching,
};
pub use wire::WireRate;
