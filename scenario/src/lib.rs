//! Reads the YAML scenario format into a checked scenario that is ready to run.
//!
//! ```text
//! text ──► yaml (tree with positions) ──► topology ──► fabric, names ┐
//!                                     └─► workload ──► task graph    ├──► Scenario
//!                                     │      ▲ │ operations           │
//!                                     │      │ ▼ of models            │
//!                                     │   plans, estimates            │
//!                                     └─► arbiters (checked params)  ┘
//! ```
//!
//! The YAML is decoded once, into a tree whose values know their positions. All errors are collected as
//! [`Diagnostic`]s that name file, line, column, object and remedy.

mod alone;
mod arbiter;
mod brackets;
mod context;
mod diagnostic;
mod encoding;
mod events;
mod files;
mod format;
mod input;
mod lint;
mod load;
mod machine;
mod nearest;
mod optimize;
mod packets;
mod published;
mod reach;
mod resources;
mod rewrite;
mod roots;
mod scenario;
mod schema;
mod search;
mod source;
mod stream;
mod table;
mod topology;
mod units;
mod unroll;
mod version;
mod workload;
mod yaml;

pub use alone::{Checked, FileKind, TopologyAlone, check, file_kind};
pub use arbiter::{ArbiterParameter, ArbiterSpec, ArbiterValues, DEFAULT_KEY, RegionInfo, Regions};
pub use brackets::between_commas;
pub use diagnostic::{Diagnostic, Excerpt, Position, Severity};
pub use encoding::wide_encoding;
pub use files::NamedFile;
pub use input::Input;
pub use lint::lint;
pub use load::{LoadOptions, expanded, load, load_unless};
pub use machine::{Machine, NodeText, rewrite_topology};
pub use optimize::{AxisSpec, MeasuredMatrix, ObjectiveItem, OptimizeSpec, Parameter, counted};
pub use packets::PacketPlan;
pub use published::scenario_schema;
pub use resources::{Improvement, Resource, ResourceKind, resources, suggestion};
pub use rewrite::{Change, LinkChange, rewrite};
pub use scenario::Scenario;
pub use search::{RankTraffic, Source};
pub use stream::TraceStream;
pub use stream::arrivals::TraceArrivals;
pub use topology::{BandwidthForm, DeviceEngines, LinkTypeText, Place, SlotsDiffer};
pub use units::{MOST_VALUES, Range, RangeError, pcie_raw_figure};
pub use workload::{Choice, Job, NotTried, PlanTarget, PlannedOperation, Shares, TaskKind};
pub use yaml::key_of_path;

/// A time as scenarios write it, such as `10ms`, for command lines.
///
/// # Errors
/// What is wrong with the text, and the remedy.
pub fn parse_time(text: &str) -> Result<weir_plugin_api::SimDuration, String> {
    units::duration(text).map_err(|problem| format!("{}; {}", problem.message, problem.help))
}

/// A size as scenarios write it, such as `512KiB`, for command lines.
///
/// # Errors
/// What is wrong with the text, and the remedy.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    units::byte_size(text).map_err(|problem| format!("{}; {}", problem.message, problem.help))
}
