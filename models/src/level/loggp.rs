//! LogGP: the time of one message.
//!
//! **Definition.** A message of k bytes takes o + (k − 1)·G + L + o: overhead of the sender, the bytes after the
//! first, latency, overhead of the receiver. After the last byte of a message the next one of the same sender leaves
//! no sooner than g later.
//! **Source.** Alexandrov, Ionescu, Schauser, Scheiman, *LogGP: Incorporating Long Messages into the LogP Model for
//! Parallel Computation*, Journal of Parallel and Distributed Computing 44(1), 1997, section 2. The form L + o + k·G
//! of van Werkhoven et al., CCGrid 2014, section V, is that of PCIe copies by DMA and belongs to `offload`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::quantities::{PerByte, Time};

/// Parameters of LogGP.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogGp {
    /// L: time on the way.
    #[serde(default)]
    pub(crate) latency: Time,
    /// o: time of the sender before, and of the receiver after a message.
    #[serde(default)]
    pub(crate) overhead: Time,
    /// g: least time between two messages of one sender.
    #[serde(default)]
    pub(crate) gap: Time,
    /// G: time per byte after the first.
    pub(crate) per_byte: PerByte,
}

impl LogGp {
    /// Time of one message, ps.
    pub(crate) fn time(&self, bytes: u64) -> f64 {
        let (latency, overhead) = (self.latency.0, self.overhead.0);
        overhead + after_first(bytes) * self.per_byte.0 + latency + overhead
    }
}

/// k − 1, and nothing for no bytes.
pub(crate) fn after_first(bytes: u64) -> f64 {
    bytes.saturating_sub(1) as f64
}
