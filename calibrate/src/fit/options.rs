//! What is fitted.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Whether to fit a parameter, or to split it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// Where the data may tell.
    #[default]
    Auto,
    /// Always.
    Yes,
    /// Never.
    No,
}

/// What is fitted, and how.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// Whether the bandwidths of links are fitted.
    pub bandwidth: bool,
    /// Whether the weight of copies out of host memory is fitted.
    pub host_weight: bool,
    /// Latencies of links; `Auto` where sizes differ by a factor of 100.
    pub latency: Choice,
    /// Parameters of the arbiter as [`weir_scenario::ArbiterParameter`] shows them; `None` for all that it marks.
    pub arbiter: Option<Vec<String>>,
    /// How many transfers devices send at once.
    pub engines: bool,
    /// LogGP, in the place of the links.
    pub loggp: bool,
    /// Bandwidths per direction and per link; `Auto` where the data clearly ask for it.
    pub finer: Choice,
    /// Share of the groups that is held out, 0 to below 1.
    pub hold_out: f64,
    /// Decides which groups are held out.
    pub seed: u64,
    /// Becomes true when the fit is to be given up.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for FitOptions {
    fn default() -> Self {
        let (latency, finer) = (Choice::Auto, Choice::Auto);
        Self {
            bandwidth: true,
            host_weight: false,
            latency,
            arbiter: None,
            engines: true,
            loggp: false,
            finer,
            hold_out: 0.0,
            seed: 1,
            cancel: None,
        }
    }
}
