//! Bandwidths that a model asks for by `moved` in its details: bytes that are divided by the simulated time.

use serde_json::{Map, Value};

use crate::Run;
use weir_plugin_api::NodeId;
use weir_scenario::PlannedOperation;

/// The key of the details under which a model names amounts of bytes.
const MOVED: &str = "moved";
/// The formula of a lower bound on the time of an operation.
const BOUND: &str = "bound";

/// Name and bytes per second, in the model's order; empty where it asks for none, or the operation took no time.
pub(crate) fn bandwidths(run: &Run<'_>, operation: &PlannedOperation) -> Map<String, Value> {
    let seconds = run.simulated(operation).map_or(0.0, |span| span.seconds());
    let Some(Value::Object(moved)) = operation.details.get(MOVED).filter(|_| seconds > 0.0) else { return Map::new() };
    let bandwidth = |(name, bytes): (&String, &Value)| Some((name.clone(), (bytes.as_f64()? / seconds).into()));
    moved.iter().filter_map(bandwidth).collect()
}

/// The bound on the time over the simulated time; `None` without one.
pub(crate) fn of_bound(run: &Run<'_>, operation: &PlannedOperation) -> Option<f64> {
    let seconds = run.simulated(operation).map_or(0.0, |span| span.seconds());
    let bound = operation.estimates.iter().find(|estimate| estimate.formula == BOUND)?;
    (seconds > 0.0).then(|| bound.seconds / seconds)
}

/// The cut of the topology that sets the bound, as the model gives it in its details.
pub(crate) struct Cut {
    /// Ranks on one side, and in all.
    pub(crate) ranks: (u64, u64),
    pub(crate) bytes: f64,
    /// Of the links across it, B/s.
    pub(crate) bandwidth: f64,
    /// Where it is: `out of gpu0`; `None` where it is all links of all ranks.
    pub(crate) at: Option<String>,
}

/// The cut of an operation; `None` where its model names none.
pub(crate) fn cut(run: &Run<'_>, operation: &PlannedOperation) -> Option<Cut> {
    let bound = operation.details.get(BOUND)?;
    let number = |key: &str| bound.get(key)?.as_f64();
    let ranks = (bound.get("cut_ranks")?.as_u64()?, operation.details.get("ranks")?.as_u64()?);
    let at = bound.get("cut_at").and_then(|at| place(run, at));
    Some(Cut { ranks, bytes: number("cut_bytes")?, bandwidth: number("cut_bandwidth")?, at })
}

/// What bytes leave or enter: all at or below a node, or its machine; or whose memory they go through.
fn place(run: &Run<'_>, at: &Value) -> Option<String> {
    let is = |key: &str| at.get(key).and_then(Value::as_bool);
    let node = NodeId(u32::try_from(at.get("node")?.as_u64()?).ok()?);
    run.scenario.fabric.nodes().get(node.index())?;
    let way = match at.get("shared").and_then(Value::as_str) {
        Some("memory") => "through the memory of",
        Some("both-ways") => "into and out of",
        _ if is("is_inwards")? => "into",
        _ => "out of",
    };
    let machine = if is("is_machine")? { "the machine of " } else { "" };
    Some(format!("{way} {machine}{}", run.scenario.node_name(node)))
}
