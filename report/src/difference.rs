//! How far the simulated time of an operation is from its closed form, and why.
//!
//! Two times are equal when they differ by at most 1e-9 of the formula's, or by 1 ps for each instant at which a task of the
//! operation starts or ends, whichever is larger: the tolerance that models promise. Times are whole picoseconds, and what
//! happens at one instant is rounded once, however many tasks it is.

use weir_plugin_api::{Estimate, PS_PER_S, Relation, SimTime};

use crate::Run;
use crate::reasons::{shared_engines, shared_links};
use crate::served::Served;
use weir_scenario::PlannedOperation;

/// Relative difference that counts as none.
const RELATIVE: f64 = 1e-9;
/// Why times differ where transfers go packet by packet.
const PACKETS: &str = "bytes cross the links packet by packet, the formula takes them at a steady rate";
/// Why times differ where links change and nobody was slowed.
const CHANGED: &str = "links changed during the run, the formula takes them as the topology has them";

/// The simulated time against the last estimate.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) estimate: &'a Estimate,
    /// Simulated less formula; `None` for an operation that has not ended.
    pub(crate) seconds: Option<f64>,
    /// Whether the two are equal within the tolerance.
    pub(crate) equal: bool,
    /// Why they differ, as far as is known.
    pub(crate) because: Vec<String>,
}

impl Difference<'_> {
    /// The difference over the formula's time; `None` where that is 0.
    pub(crate) fn relative(&self) -> Option<f64> {
        self.seconds.filter(|_| self.estimate.seconds > 0.0).map(|seconds| seconds / self.estimate.seconds)
    }
}

/// The difference of an operation; `None` where it has no estimate.
pub(crate) fn difference<'a>(
    run: &Run<'_>,
    served: &Served<'_>,
    operation: &'a PlannedOperation,
) -> Option<Difference<'a>> {
    let estimate = operation.estimates.last()?;
    let Some(simulated) = run.simulated(operation) else {
        let because = vec!["it has not ended".to_owned()];
        return Some(Difference { estimate, seconds: None, equal: false, because });
    };
    let seconds = simulated.seconds() - estimate.seconds;
    let tolerance = (RELATIVE * estimate.seconds).max(instants(run, operation) as f64 / PS_PER_S as f64);
    let equal = seconds.abs() <= tolerance;
    if equal {
        return Some(Difference { estimate, seconds: Some(seconds), equal, because: Vec::new() });
    }
    let mut shared = shared_engines(run, served, operation);
    shared.extend(shared_links(run, operation));
    if shared.is_empty() && run.arbiter.packets.is_some() {
        shared.push(PACKETS.to_owned());
    } else if shared.is_empty() {
        // Alone, over links as the model knows them, the operation must be as it says.
        let promise = broken_promise(estimate, seconds, tolerance);
        shared.extend(
            promise.map(|promise| if run.is_over_changed_links(operation) { CHANGED.to_owned() } else { promise }),
        );
    }
    let mut because: Vec<String> = stated(estimate, seconds).collect();
    // Others rarely make an operation faster: they are named then only where the model says nothing that does.
    if seconds > 0.0 || because.is_empty() {
        because.append(&mut shared);
    }
    Some(Difference { estimate, seconds: Some(seconds), equal, because })
}

/// At how many instants tasks of an operation start or end.
fn instants(run: &Run<'_>, operation: &PlannedOperation) -> usize {
    let times = operation.tasks().map(|task| run.outcome.tasks[task.index()]);
    let mut instants: Vec<SimTime> = times.flat_map(|times| [times.start, times.end]).collect();
    instants.sort_unstable();
    instants.dedup();
    instants.len()
}

/// The assumptions that the plan leaves, as far as they explain the sign of the difference: those marked `+` only lengthen
/// the simulated time, those marked `-` only shorten it.
fn stated(estimate: &Estimate, seconds: f64) -> impl Iterator<Item = String> + '_ {
    let wrong = if seconds > 0.0 { '-' } else { '+' };
    let lines = estimate.because.lines().filter(move |line| !line.is_empty() && !line.starts_with(wrong));
    lines.map(|line| line.strip_prefix(['+', '-', '?']).unwrap_or(line).to_owned())
}

/// What a model promises of an operation that runs alone, and the simulation does not show.
fn broken_promise(estimate: &Estimate, seconds: f64, tolerance: f64) -> Option<String> {
    let expected = match estimate.relation {
        Relation::Equal => "equal",
        Relation::AtMost if seconds > tolerance => "at most as long",
        Relation::AtLeast if seconds < -tolerance => "at least as long",
        Relation::Unstated | Relation::AtMost | Relation::AtLeast => return None,
    };
    Some(format!("expected {expected}, as nothing is shared: an error of the model"))
}
