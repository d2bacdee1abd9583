//! The one wrapper around every arbiter, built in or loaded: it refuses a wrong answer, and never repairs it.

use weir_plugin_api::{ArbiterError, LinkId, SimTime};

use crate::tasks::TaskId;

/// What is wrong with an arbiter's answer.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AnswerError {
    /// It refused, failed or panicked.
    #[error("at {time}: {error}")]
    Failed {
        /// When.
        time: SimTime,
        /// Its own words.
        error: ArbiterError,
    },
    /// A rate is not a number ≥ 0 (NaN also means: never written).
    #[error("at {time} the rate of a transfer is {rate}: rates must be finite and at least 0")]
    NotARate {
        /// When.
        time: SimTime,
        /// The transfer.
        task: TaskId,
        /// The rate.
        rate: f64,
    },
    /// A rate above the transfer's limit.
    #[error("at {time} a transfer was given {rate} B/s, above its limit of {limit} B/s")]
    OverLimit {
        /// When.
        time: SimTime,
        /// The transfer.
        task: TaskId,
        /// The rate.
        rate: f64,
        /// The limit.
        limit: f64,
    },
    /// More than the link's bandwidth × (1 + 2e-9).
    #[error("at {time} a link was given {load} B/s, above its bandwidth of {bandwidth} B/s")]
    OverCapacity {
        /// When.
        time: SimTime,
        /// The link.
        link: LinkId,
        /// A transfer on it.
        task: TaskId,
        /// Sum of rates.
        load: f64,
        /// Its bandwidth.
        bandwidth: f64,
    },
}
