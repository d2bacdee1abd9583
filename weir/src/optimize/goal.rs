//! What a run is worth by an objective.
//!
//! **Definition.** Of a run with the ends e_t of tasks, and an item i with the tasks T_i, the weight w_i and
//! E_i = max over T_i of e_t: `end` is max E_i, `sum` Σ w_i E_i, `max` max w_i E_i, in whole ps, rounded. `throughput` is
//! Σ bytes / (max e_t − min s_t) over the transfers t of the items, s_t their starts. Without items, of all tasks.

use weir_optimize::search::Objective;
use weir_plugin_api::PS_PER_S;
use weir_scenario::{ObjectiveItem, Scenario, counted};
use weir_sim_core::{Outcome, TaskTimes, Work};

/// The value of a run, the smaller the better: ps, of a throughput ps per byte. None for a throughput without bytes.
pub(super) fn value(
    objective: Objective,
    items: &[ObjectiveItem],
    scenario: &Scenario,
    outcome: &Outcome,
) -> Option<f64> {
    let end = |item: &ObjectiveItem| {
        let ends = item.tasks().filter_map(|task| outcome.tasks.get(task.index())).map(|times| times.end.0);
        ends.max().unwrap_or(0) as f64
    };
    let weighted = |item: &ObjectiveItem| item.weight * end(item);
    match objective {
        Objective::Throughput => per_byte(&counted(items, outcome.tasks.len()), scenario, &outcome.tasks),
        Objective::End => Some(items.iter().map(end).fold(0.0, f64::max)),
        Objective::Sum => Some(items.iter().map(weighted).sum::<f64>().round()),
        Objective::Max => Some(items.iter().map(weighted).fold(0.0, f64::max).round()),
        _ => Some(outcome.makespan.0 as f64),
    }
}

/// Time from the first start to the last end over bytes, of the tasks that count.
fn per_byte(counts: &[bool], scenario: &Scenario, times: &[TaskTimes]) -> Option<f64> {
    let (mut total, mut first, mut last) = (0_u64, u64::MAX, 0);
    for (&counts, (task, times)) in counts.iter().zip(scenario.tasks.tasks().iter().zip(times)) {
        let Work::Carries { bytes, .. } = task.work else { continue };
        if counts {
            total = total.saturating_add(bytes);
            first = first.min(times.start.0);
            last = last.max(times.end.0);
        }
    }
    (total > 0).then(|| (last - first) as f64 / total as f64)
}

/// A value as it is reported: of a throughput bytes per second.
pub(super) fn natural(objective: Objective, value: f64) -> f64 {
    match objective {
        Objective::Throughput => PS_PER_S as f64 / value,
        _ => value,
    }
}
