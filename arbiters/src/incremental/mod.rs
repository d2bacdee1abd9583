//! The incremental sides of two policies: `max-min` as [`Shares`], `strict-priority` as [`Layers`].
//!
//! ```text
//! weights ─► arbitrate (classes, bundles) ─► relax (links whose share changes) ─► answer: levels of links, moves of bundles
//!                                              └► quiet (links that cannot be full are left out)
//! ```
//!
//! Bundles are nodes of the answer, each below that of a link or a common limit. The mathematics is in docs/incremental.md.

mod arbitrate;
mod bundles;
mod layers;
mod queue;
mod quiet;
mod records;
mod relax;
mod state;
#[cfg(test)]
mod tests;
mod verify;

pub use layers::Layers;
pub use state::Shares;
use weir_plugin_api::{
    ArbiterPlugin as _, CallError, IncrementalPlugin, Level, NO_ID as NONE, NO_LEVEL as INF, Setting,
};

use crate::common::params::{NoParams, decode};
use crate::{MaxMin, StrictPriority};

/// An event costs the square of the priorities below it (measured: from about a hundred on, phase by phase costs less).
const MOST_PRIORITIES: u32 = 32;

impl IncrementalPlugin for Shares {
    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(MaxMin::NAME, params)?;
        Ok(Self::new(setting.capacities.to_vec(), setting.classes, !setting.wants_peaks))
    }
}

impl IncrementalPlugin for Layers {
    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(StrictPriority::NAME, params)?;
        if setting.priorities > MOST_PRIORITIES {
            let what = format!("more than {MOST_PRIORITIES} priorities: phase by phase costs less");
            return Err(CallError::Refused(what));
        }
        if setting.shared > 0 && setting.priorities > 1 {
            return Err(CallError::Refused("what links share is divided whatever the priorities".to_owned()));
        }
        Ok(Self::new(setting.capacities.to_vec(), setting.classes))
    }
}
