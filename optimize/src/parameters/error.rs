//! Why there is no grid, no result or no whole.

use std::path::PathBuf;

/// Why there is no grid or no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A grid without axes.
    #[error("`parameters` names nothing to vary; give at least one path with a list or a range")]
    NoAxes,
    /// An axis without values.
    #[error("`{path}` has an empty list; give at least one value")]
    NoValues {
        /// Its path.
        path: String,
    },
    /// Two axes for one path.
    #[error("`{path}` is varied twice; put all of its values into one list")]
    PathTwice {
        /// The path.
        path: String,
    },
    /// The same text twice in an axis.
    #[error("`{path}` has the value `{value}` twice; list each value once")]
    ValueTwice {
        /// Path of the axis.
        path: String,
        /// The value.
        value: String,
    },
    /// An axis that replaces what an earlier one sets.
    #[error("`{by}` replaces what `{path}` sets before it; list `{by}` first")]
    Replaced {
        /// Path of the earlier axis.
        path: String,
        /// Path of the later one.
        by: String,
    },
    /// A grid that is too large.
    #[error("the grid has {candidates} candidates, more than the {most} that are tried; use fewer values")]
    TooManyCandidates {
        /// How many.
        candidates: String,
        /// How many are allowed.
        most: u64,
    },
    /// A shard that there is not.
    #[error("there is no shard `{text}`; write `i/n` with i from 1 to n, as in `2/3`")]
    Shard {
        /// As written.
        text: String,
    },
    /// A candidate that cannot be run.
    #[error("candidate {candidate} ({values}): {reason}")]
    Candidate {
        /// Its number.
        candidate: u64,
        /// Its values, as `path=value`.
        values: String,
        /// Why.
        reason: String,
    },
    /// A checkpoint that cannot be used.
    #[error("the checkpoint {}: {error}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        error: CheckpointError,
    },
    /// A shard where the whole is needed.
    #[error("shard {shard} is a part of the candidates only; merge it with the others first")]
    NotWhole {
        /// The shard.
        shard: String,
    },
    /// Parts that do not make a whole.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Another process writes it.
    #[error("another search is writing it; wait for its end, or use a file of your own")]
    InUse,
    /// A file that is something else.
    #[error("is not a checkpoint of a search over parameters; name another file")]
    NotACheckpoint,
    /// A file of another kind of search, or one for `weir merge`.
    #[error(
        "belongs to another kind of search, over orders, or is a part for `weir merge`; remove it to start anew, or name \
         another file"
    )]
    OtherKind,
    /// Written by another version of weir.
    #[error("was written by weir {found}, this is {}; remove it to start anew", env!("CARGO_PKG_VERSION"))]
    Version {
        /// The version that wrote it.
        found: String,
    },
    /// Of another search.
    #[error("belongs to another {what}; remove it to start anew, or name another file")]
    Other {
        /// What differs.
        what: &'static str,
    },
    /// A line that was changed.
    #[error("was changed or is damaged in line {line}; remove it to start anew")]
    Damaged {
        /// The line, from 1.
        line: u64,
    },
}

/// Why parts do not make a whole.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// No part at all.
    #[error("there is nothing to merge")]
    Nothing,
    /// Written by another version of weir.
    #[error("shard {shard} was written by weir {found}, this is {}; run it again", env!("CARGO_PKG_VERSION"))]
    Version {
        /// The shard.
        shard: String,
        /// The version that wrote it.
        found: String,
    },
    /// Of another search than the first.
    #[error("shard {shard} is of another {what} than the first part")]
    Other {
        /// The shard.
        shard: String,
        /// What differs.
        what: &'static str,
    },
    /// A shard that was interrupted.
    #[error("shard {shard} is not finished: {missing} of its candidates are missing; let it finish first")]
    Unfinished {
        /// The shard.
        shard: String,
        /// Candidates that are missing.
        missing: usize,
    },
    /// A shard that comes twice.
    #[error("shard {shard} is given twice; give each part once")]
    Twice {
        /// The shard.
        shard: String,
    },
    /// A shard that is not there.
    #[error("shard {shard} is missing; give all parts")]
    Missing {
        /// The shard.
        shard: String,
    },
    /// Contents that do not fit together.
    #[error("shard {shard} was changed: {why}")]
    Changed {
        /// The shard.
        shard: String,
        /// What is wrong.
        why: String,
    },
}
