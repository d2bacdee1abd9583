//! Why a fit is not possible.

use weir_plugin_api::CallError;
use weir_scenario::ArbiterParameter;
use weir_sim_core::{FabricError, SimError};

/// Why a fit is not possible.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// A device with an `overhead`: times of messages are scaled, and it does not scale.
    #[error("`{0}` has an `overhead`, which calibration does not simulate; remove it from the topology for the fit")]
    Overhead(String),
    /// There is nothing to fit to.
    #[error("no measured time can be used: see what was skipped, and why")]
    Empty,
    /// Source, destination, and the row that names them: the topology has no route between the two.
    #[error("{2}: `{1}` cannot be reached from `{0}` in this topology; check the devices that the log was mapped to")]
    NoRoute(String, String, String),
    /// All copies are so small that their times tell no bandwidth.
    #[error(
        "no copy has more than 64 B: such times tell latencies, and no bandwidth; fit these alone (--fit latency), or add larger copies"
    )]
    LatenciesAlone,
    /// The arbiter refuses its parameters or a route.
    #[error("arbiter `{name}`: {error}{}", remedy.as_ref().map_or_else(String::new, |remedy| format!("; {remedy}")))]
    Arbiter {
        /// Its name.
        name: String,
        /// Its own words.
        error: CallError,
        /// What to use in its place, where that is known.
        remedy: Option<String>,
    },
    /// A value that is no bandwidth.
    #[error("{0}")]
    Fabric(#[from] FabricError),
    /// The simulation of a group ended early.
    #[error("a group could not be simulated: {0}")]
    Simulation(#[from] SimError),
    /// [`FitOptions::cancel`](super::FitOptions::cancel) became true.
    #[error("interrupted")]
    Cancelled,
    /// A defect of weir.
    #[error("{0}; report it, with the topology and the logs")]
    Internal(&'static str),
    /// A parameter is to be fitted that has no name.
    #[error(
        "--fit has an empty name: name bandwidth, latency, weight, loggp, or a parameter of the arbiter such as tau"
    )]
    NothingNamed,
    /// A parameter is to be fitted that the arbiter does not mark, or does not use with its other parameters.
    #[error("--fit {key}: arbiter `{arbiter}` has no {key} to fit, or does not use it")]
    NotMarked {
        /// The parameter.
        key: String,
        /// The arbiter.
        arbiter: String,
        /// The parameters that it marks and uses.
        marked: Vec<ArbiterParameter>,
    },
    /// A bandwidth above what the wire carries by its generation and width.
    #[error(transparent)]
    AboveTheWire(Box<AboveTheWire>),
    /// The machine of a log in pairs is fitted by LogGP alone.
    #[error("LogGP is fitted alone: its per_byte stands for the links; give `--fit loggp` without others")]
    LoggpAlone,
}

/// A bandwidth above what the wire carries by its generation and width.
#[derive(Debug, thiserror::Error)]
#[error("{name} would have to be {value}, but {what} carries {most} at most\n  {row}\n  likely reasons: {reason}")]
pub struct AboveTheWire {
    /// The parameter.
    pub name: String,
    /// The value that fits best.
    pub value: String,
    /// The raw figure.
    pub most: String,
    /// What that figure is of, such as a generation and a width.
    pub what: String,
    /// The row, or group, that asks for most.
    pub row: String,
    /// What may be wrong, and what to do.
    pub reason: String,
}
