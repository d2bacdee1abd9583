//! Opens a library in a child process first: a broken one kills the child, not the run.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::PluginError;
use crate::isolate::{Listener, OPEN_LIMIT, PortListing, Process};
use crate::library::absolute;

/// An arbiter that a probe found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedArbiter {
    /// Its name in scenarios: lower-case words and digits joined by `-`.
    pub name: String,
    /// Version of the policy.
    pub version: String,
}

/// A port arbiter that a probe found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedPort {
    /// Its name in scenarios: lower-case words and digits joined by `-`.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// Whom it serves, in a few words; may be empty.
    pub description: String,
}

/// A model that a probe found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedModel {
    /// Its name in scenarios and results.
    pub name: String,
    /// Version of the model, shown in results.
    pub version: String,
    /// Keys of the workload's items that it serves.
    pub operations: Vec<String>,
}

/// What a probe found in a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probed {
    /// Arbiters in the order of the library; each list may be empty, not all.
    pub arbiters: Vec<ProbedArbiter>,
    /// Port arbiters in the order of the library.
    pub ports: Vec<ProbedPort>,
    /// Models in the order of the library.
    pub models: Vec<ProbedModel>,
}

/// Opens a library in a child process: `program` with the arguments [`crate::CHILD_COMMAND`] and the file, for at most
/// [`OPEN_LIMIT`].
///
/// # Errors
/// The library was refused, crashed or did not return; or the child could not be started.
pub fn probe(file: &Path, program: &Path) -> Result<Probed, PluginError> {
    probe_within(file, program, OPEN_LIMIT)
}

/// As [`probe`], with a limit of one's own.
///
/// # Errors
/// As [`probe`].
pub fn probe_within(file: &Path, program: &Path, limit: Duration) -> Result<Probed, PluginError> {
    let (_, listing) = Process::start(&absolute(file)?, program, Listener::Nobody, limit)?;
    let arbiters = listing.arbiters.into_iter().map(|a| ProbedArbiter { name: a.name, version: a.version });
    let port = |p: PortListing| ProbedPort { name: p.name, version: p.version, description: p.description };
    let ports = listing.ports.into_iter().map(port).collect();
    let models =
        listing.models.into_iter().map(|m| ProbedModel { name: m.name, version: m.version, operations: m.operations });
    Ok(Probed { arbiters: arbiters.collect(), ports, models: models.collect() })
}
