//! The simulation: fabric, routes, tasks, event loop, trace. Opens no file, reads no clock, starts no thread.
//!
//! ```text
//! Fabric + TaskGraph ──► Simulation ──► Outcome
//!                           │  ▲
//!               active transfers  rates
//!                           ▼  │
//!                        RateArbiter
//! ```

mod check;
mod fabric;
mod outcome;
mod routes;
mod simulation;
mod tasks;

pub use check::AnswerError;
pub use fabric::{Fabric, FabricBuilder, FabricError, Link, LinkSpec, Node};
pub use outcome::{Bottleneck, LinkTotals, Outcome, PhaseRecord, PhaseStep, SimError, Stop, TaskTimes};
pub use routes::Routes;
pub use simulation::{RunOptions, Simulation};
pub use tasks::{Classes, Engine, EngineId, Task, TaskGraph, TaskGraphBuilder, TaskId, Work};
pub use weir_plugin_api as api;
