//! What is said below the table of operations of choices, bounds and shortcuts of the model `offload`.

use serde_json::Value;
use weir_plugin_api::{PS_PER_S, SimDuration};
use weir_scenario::PlannedOperation;
use weir_sim_core::Work;

use super::clean;
use crate::{Run, duration};

/// The model that may leave the topology out (`docs/models.md`).
const OFFLOAD: &str = "offload";
/// Ids that are named.
const NAMED: usize = 3;
/// The bounds under `roofline` in the details of results, and what each assumes.
const BOUNDS: [(&str, &str); 3] = [("full", "full overlap"), ("zero", "no overlap"), ("mapped", "mapped memory")];

/// Says of a choice among 1, 2, 3 … that it is the last one tried.
pub(super) fn at_limit(operation: &PlannedOperation) -> &'static str {
    let Some(choice) = &operation.choice else { return "" };
    let number = |label: &str| label.parse::<u64>().ok();
    let Some(chosen) = choice.label().and_then(number) else { return "" };
    let tried = || choice.alternatives.iter().filter_map(|(label, _)| number(label));
    let is_last = tried().all(|other| other <= chosen) && chosen > 1 && tried().any(|other| other == chosen - 1);
    if is_last { "; it is the most that was tried, more may be faster" } else { "" }
}

/// `k: roofline: full overlap 1.2 Tflop/s (3.1 ms), …`; empty where no bounds were asked for.
pub(super) fn roofline(operation: &PlannedOperation) -> String {
    let Some(Value::Object(bounds)) = operation.details.get("roofline") else { return String::new() };
    let bound = |&(key, words): &(&str, &str)| {
        let value = |of: &str| bounds.get(key)?.get(of)?.as_f64();
        let time = SimDuration((value("seconds")? * PS_PER_S as f64).round() as u64);
        Some(format!("{words} {} ({})", flops(value("flops")?), duration(time)))
    };
    let parts: Vec<String> = BOUNDS.iter().filter_map(bound).collect();
    format!("{}: roofline: {}\n", clean(&operation.id), parts.join(", "))
}

/// Floating-point operations a second.
fn flops(rate: f64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (unit, prefix) = PREFIXES.into_iter().find(|(unit, _)| rate >= *unit).unwrap_or((1.0, ""));
    format!("{:.3} {prefix}flop/s", rate / unit)
}

/// Says of offloads whose copies could travel the topology that they do not.
pub(super) fn apart_from_topology(run: &Run<'_>) -> String {
    let scenario = run.scenario;
    if scenario.fabric.links().is_empty() {
        return String::new();
    }
    let carries = |operation: &PlannedOperation| {
        operation.tasks().any(|task| matches!(scenario.tasks.tasks()[task.index()].work, Work::Carries { .. }))
    };
    let apart: Vec<&PlannedOperation> =
        (scenario.operations.iter()).filter(|operation| *operation.model == *OFFLOAD && !carries(operation)).collect();
    let ids: Vec<String> = apart.iter().take(NAMED).map(|operation| clean(&operation.id)).collect();
    let more = if apart.len() > NAMED { format!(" and {} more", apart.len() - NAMED) } else { String::new() };
    match ids.is_empty() {
        true => String::new(),
        false => format!(
            "{}{more}: copies take the time of the parameters and share no link; `over: fabric` sends them over the topology\n",
            ids.join(", ")
        ),
    }
}
