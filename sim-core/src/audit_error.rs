//! What the audit of a run can find, in words.

use weir_plugin_api::{LinkId, SimDuration};

use crate::tasks::TaskId;

/// A result that no policy can have.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AuditError {
    /// A transfer took less time than its bytes need at the full rate of its route.
    #[error("a transfer of {bytes} bytes took {} ps, and needs {} at the full rate of its route", took.0, least.0)]
    TooFast {
        /// The transfer.
        task: TaskId,
        /// Its bytes.
        bytes: u64,
        /// From its start to its last byte.
        took: SimDuration,
        /// The time alone.
        least: SimDuration,
    },
    /// A link carried more than it can in the time in which it was busy.
    #[error("a link carried {bytes} bytes in {} ps, above its bandwidth of {bandwidth} B/s", busy.0)]
    TooMuch {
        /// The link.
        link: LinkId,
        /// What crossed it.
        bytes: u64,
        /// How long it was busy.
        busy: SimDuration,
        /// Bytes per second.
        bandwidth: f64,
    },
    /// A link was loaded above its bandwidth at some time.
    #[error("a link was loaded with {peak} B/s, above its bandwidth of {bandwidth} B/s")]
    TooHigh {
        /// The link.
        link: LinkId,
        /// The largest load.
        peak: f64,
        /// Bytes per second.
        bandwidth: f64,
    },
    /// Other bytes crossed a link than the transfers over it have sent.
    #[error("{bytes} bytes crossed a link, and transfers have sent {sent} bytes over it")]
    Lost {
        /// The link.
        link: LinkId,
        /// What crossed it.
        bytes: u64,
        /// What was sent over it.
        sent: u64,
    },
}
