//! `gather`: the parts of all devices of all nodes come together on the root node.
//!
//! **Definition.** [`plan`] says which tasks by which of three approaches, [`formula`] which closed form. Approach 2
//! agrees with (10) with a barrier between its rounds; running freely it is never slower, when no level goes over the
//! fabric.
//! **Ties.** Messages that are ready at one instant reach the root in the order of the nodes.
//! **Source.** Aggarwal, Yoon, George, Lam, Stitt, *Performance Modeling for Multilevel Communication in SHMEM+*, PGAS
//! 2010, section 4.

mod formula;
mod params;
mod plan;
mod resolve;

use serde::Serialize;
use weir_plugin_api::{CallError, Estimates, Plan, Surroundings};

use crate::operation::{self, Operation, Resolved, estimate, seconds};
use params::GatherParams;
pub(crate) use resolve::Gather;

/// `details` of the results; `read` and `message` in seconds, the longest of their kind.
#[derive(Serialize)]
struct Details {
    approach: u8,
    nodes: usize,
    devices_per_node: usize,
    bytes: u64,
    read: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<f64>,
}

impl Resolved for Gather {
    const NAME: &'static str = "gather";
    type Params = GatherParams;

    fn new(operation: Operation<GatherParams>, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        Self::of(&operation.params, surroundings)
    }

    fn plan(&self, plan: &mut Plan) {
        plan::plan(self, plan);
    }

    fn estimates(&self, _: &Surroundings<'_>) -> Result<Estimates, CallError> {
        let (name, time) = self.formula();
        let departures = self.departures();
        let list = vec![estimate(name, time, departures.relation(), &departures.because())?];
        let longest = |times: &[f64]| seconds(times.iter().copied().fold(0.0, f64::max));
        let details = Details {
            approach: self.approach,
            nodes: self.nodes.len(),
            devices_per_node: self.devices,
            bytes: self.size.saturating_mul(self.reads.len() as u64),
            read: longest(&self.reads),
            message: (self.nodes.len() > 1).then(|| longest(&self.messages)),
        };
        Ok(Estimates { list, details: operation::details(&details)? })
    }
}
