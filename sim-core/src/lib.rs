//! The discrete-event simulation: transfers and tasks over a graph of links, with rates from an arbiter.
//!
//! It opens no file, reads no clock and starts no thread.
//!
//! ```text
//! Fabric + TaskGraph ──► Simulation ──► Outcome
//!                           │  ▲
//!               active transfers  rates
//!                           ▼  │
//!                        RateArbiter
//! ```

mod admission;
mod answer;
mod audit;
mod audit_error;
mod changes;
mod classes;
mod cycle;
mod delayed;
mod disjoint_sets;
mod ends;
mod engines;
mod event_queue;
mod fabric;
mod fabric_builder;
mod fingerprint;
mod flows;
mod incremental;
mod instant;
mod memo;
mod mover;
mod outcome;
mod packets;
mod part;
mod progress;
mod purity;
mod recorder;
mod regions;
mod reorder;
mod routes;
mod service;
mod setup;
mod shared;
mod simulation;
mod slots;
mod store;
mod stream;
mod task_builder;
mod tasks;

pub use admission::{AdmissionError, admit, make_arbiter};
pub use answer::{Answer, AnswerError, TOLERANCE};
pub use audit_error::AuditError;
pub use changes::{
    ChangeSource, LinkChangeTotals, LinkChanges, LinkState, LinkStep, MOST_CHANGES, MOST_STEPS, OnFailure, Reroute,
    Steps,
};
pub use classes::{Carriage, Classes};
pub use disjoint_sets::DisjointSets;
pub use event_queue::{EventPhase, EventQueue, TaskEvent};
pub use fabric::{Fabric, FabricError, Link, LinkSpec, Node};
pub use fabric_builder::FabricBuilder;
pub use outcome::{Bottleneck, LinkTotals, Outcome, PhaseRecord, PhaseStep, RemarkCount, SimError, Stop, TaskTimes};
pub use packets::{
    PacketCounts, PacketLinkTotals, PacketSettings, PortPolicy, ReadSettings, cause_of, packet_time_alone,
};
pub use progress::{remaining_after, time_to_send};
pub use purity::PurityCheck;
pub use recorder::{Listener, MOST_PHASES, TakeProgress};
pub use regions::{Division, LIMITED, Region, RegionPolicy, legend_between_regions, region_arbiter};
pub use routes::{Leg, MOST_BRANCHES, Over, RouteError, Routes, Selection, Way, branches, divided, shares};
pub use service::{Service, ServiceId};
pub use setup::{Changing, MakeArbiter, RunOptions, Sharing, Simulation};
pub use shared::SharedBandwidth;
pub use simulation::{LEAST_STEP, MOST_ROUNDS};
pub use stream::{Arrival, Arrivals, Census, Departure, Departures, Halt, Traffic};
pub use task_builder::TaskGraphBuilder;
pub use tasks::{Engine, EngineId, SlotsError, Task, TaskGraph, TaskId, Work};
pub use weir_packets::{
    BufferFills, CycleGrant, GrantCycle, Held, HeldCause, NetworkError, PacketError, PortPhase, PortRecord,
};
pub use weir_plugin_api as api;
