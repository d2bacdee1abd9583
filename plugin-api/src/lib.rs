//! The contract between weir and its arbiters and models, built in or loaded: units, ids, views, traits, C tables.
//!
//! Nothing here does I/O, reads a clock or starts a thread.
//!
//! ```text
//! sim-core ── FabricView, PhaseView ──► RateArbiter ── Grant (rates, bindings, recheck) ──► sim-core
//! packets ── GrantView: who asks for an output ──► PortArbiter ── the slot of one of them ──► packets
//! scenarios ── operation, Surroundings ──► Model ── Plan, Estimates, alternatives ──► scenarios
//! ```
//!
//! A rate arbiter written in Rust implements [`RateArbiter`] and [`ArbiterPlugin`]; [`export_arbiters!`] turns it into
//! a C table ([`abi`]) that weir loads from a shared library. A port arbiter implements [`PortArbiter`] and
//! [`PortArbiterPlugin`], a model [`Model`] and [`ModelPlugin`], and [`export_port_arbiters!`] and [`export_models!`] do the
//! same for them. Built-in ones go into a [`Registry`] directly. An
//! [`IncrementalArbiter`] may accompany a built-in arbiter: it computes the same policy as changes from event to event.

pub mod abi;
mod arbiter;
mod columns;
mod error;
mod ids;
mod incremental;
mod model;
mod port;
mod registry;
mod units;
mod view;

pub use arbiter::{ArbiterPlugin, Binding, Cause, Flags, Grant, LegendEntry, RateArbiter, Remark, Step};
pub use columns::{FabricColumns, PhaseColumns};
pub use error::CallError;
pub use ids::{ClassId, LinkId, NodeId, RouteId, TransferId};
pub use incremental::{
    Answer, Change, ClassInfo, Hang, Holder, IncrementalArbiter, IncrementalPlugin, Level, LinkUse, NO_ID, NO_LEVEL,
    RootLevel, Setting, WeightChange,
};
pub use model::{
    Alternative, EngineScope, Estimate, Estimates, Model, ModelPlugin, Moment, Plan, PlannedEngine, PlannedTask,
    PlannedWork, Queue, Relation, RouteInfo, RouteLookup, SharedLinks, Surroundings, Wait,
};
pub use port::{GrantView, Head, NO_SLOT, PortArbiter, PortArbiterPlugin, PortGrant};
pub use registry::{
    ArbiterEntry, IncrementalEntry, MakeArbiter, MakeIncremental, MakeModel, MakePort, ModelEntry, Origin, PortEntry,
    Registry, RegistryError, TRANSFER,
};
pub use units::{HORIZON, PS_PER_S, SimDuration, SimTime};
pub use view::{ClassTable, Direction, FabricView, LinkKind, NodeKind, PhaseView, RouteTable, Slice, TransferView};
