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
use weir_plugin_api::{Estimates, Model, ModelError, ModelPlugin, Plan, Surroundings};

use crate::operation::{self, estimate, read, schema, seconds};
use params::GatherParams;
use resolve::Gather as Resolved;

/// The model `gather`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gather;

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

impl Gather {
    fn read(operation: &str, surroundings: &Surroundings<'_>) -> Result<Resolved, ModelError> {
        Resolved::new(&read::<GatherParams>(Self::NAME, operation)?.params, surroundings)
    }
}

impl Model for Gather {
    fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), ModelError> {
        plan::plan(&Self::read(operation, surroundings)?, plan);
        Ok(())
    }

    fn estimate(
        &mut self,
        operation: &str,
        surroundings: &Surroundings<'_>,
        estimates: &mut Estimates,
    ) -> Result<(), ModelError> {
        let gather = Self::read(operation, surroundings)?;
        let (name, time) = gather.formula();
        let departures = gather.departures();
        estimates.list = vec![estimate(name, time, departures.relation(), &departures.because())?];
        let longest = |times: &[f64]| seconds(times.iter().copied().fold(0.0, f64::max));
        let details = Details {
            approach: gather.approach,
            nodes: gather.nodes.len(),
            devices_per_node: gather.devices,
            bytes: gather.size.saturating_mul(gather.reads.len() as u64),
            read: longest(&gather.reads),
            message: (gather.nodes.len() > 1).then(|| longest(&gather.messages)),
        };
        estimates.details = operation::details(&details)?;
        Ok(())
    }
}

impl ModelPlugin for Gather {
    const NAME: &'static str = "gather";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const OPERATIONS: &'static [&'static str] = &["gather"];

    fn schema() -> String {
        schema::<GatherParams>("gather")
    }

    fn create() -> Result<Self, ModelError> {
        Ok(Self)
    }
}
