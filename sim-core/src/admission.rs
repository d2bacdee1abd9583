//! Before a run: an arbiter is made for the fabric, and accepts the routes of the transfers.

use weir_plugin_api::{ArbiterEntry, CallError, ClassId, RateArbiter};

use crate::classes::Classes;
use crate::fabric::Fabric;
use crate::routes::Routes;
use crate::tasks::TaskId;

/// Why an arbiter does not serve a run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{error}")]
pub struct AdmissionError {
    /// The transfer whose route is refused; `None` where the fabric or the parameters are.
    pub task: Option<TaskId>,
    /// The arbiter's own words.
    pub error: CallError,
}

/// Makes an arbiter of a registry entry for a fabric; `params` is a JSON object.
///
/// # Errors
/// It refuses the fabric or the parameters, or fails.
pub fn make_arbiter(
    entry: &ArbiterEntry,
    params: &str,
    fabric: &Fabric,
) -> Result<Box<dyn RateArbiter>, AdmissionError> {
    (entry.make)(&fabric.view(), params).map_err(|error| AdmissionError { task: None, error })
}

/// Asks an arbiter about the route of every transfer, about each route once.
///
/// # Errors
/// It refuses a route, or fails.
pub fn admit(
    arbiter: &mut dyn RateArbiter,
    routes: &Routes,
    classes: &Classes,
    transfers: impl IntoIterator<Item = (TaskId, ClassId)>,
) -> Result<(), AdmissionError> {
    let mut asked = vec![false; routes.len()];
    for (task, class) in transfers {
        let route = classes.route(class);
        if !std::mem::replace(&mut asked[route.index()], true) {
            arbiter.admit(routes.links(route)).map_err(|error| AdmissionError { task: Some(task), error })?;
        }
    }
    Ok(())
}
