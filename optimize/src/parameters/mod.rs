//! Any values of a scenario varied over lists and ranges: the full grid, its table and its best.
//!
//! ```text
//!                           ┌─► GridTable (CSV)
//! Axis ─► Grid ─► Search ─► Part ─► Outcome: best, statistics
//!          checkpoint ▲│     ▲
//!                     └┘     merge of parts, one per shard
//! ```
//!
//! One mechanism serves packet sizes, streams, parameters of arbiters and bandwidths: a path of the scenario and the YAML
//! texts that stand there in turn. What a candidate takes is asked of a closure, so that nothing here reads a scenario.

mod axis;
mod checkpoint;
mod error;
mod grid;
mod outcome;
mod part;
mod search;
mod shard;
mod table;

pub use axis::Axis;
pub use error::{CheckpointError, MergeError, ParameterError};
pub use grid::{Grid, MOST_CANDIDATES};
pub use outcome::Outcome;
pub use part::{Part, merge};
pub use search::{Ran, Search, Tried};
pub use shard::Shard;
pub use table::{GridRow, GridTable};
