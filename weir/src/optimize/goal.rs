//! What a run is worth by an objective.
//!
//! **Definition.** Of a run with the ends e_t of tasks, and an item i with the tasks T_i, the weight w_i and
//! E_i = max over T_i of e_t: `end` is max E_i, `sum` Σ w_i E_i, `max` max w_i E_i, in whole ps, rounded. `throughput` is
//! Σ bytes / (max e_t − min s_t) over the transfers t of the items, s_t their starts. Without items, of all tasks.

use weir_optimize::search::Objective;
use weir_scenario::{ObjectiveItem, Scenario, counted};
use weir_sim_core::{Outcome, TaskTimes, Work};

use super::context::SearchContext;
use crate::{Error, ErrorKind};

/// The baseline.
pub(super) struct Baseline {
    /// By the objective, the smaller the better; infinite where it stops.
    pub(super) value: f64,
    /// ps; none where it stops.
    pub(super) makespan: Option<u64>,
    /// Why it stops before its end, where it does.
    pub(super) stopped: Option<String>,
    /// Links crossed by packets that were simulated; 0 by rates.
    pub(super) hops: u64,
}

/// Runs the baseline.
pub(super) fn baseline(context: &SearchContext<'_>) -> Result<Baseline, Error> {
    let outcome = match context.runs().outcome(context.scenario) {
        Ok(outcome) => outcome,
        Err(error) if error.kind() == ErrorKind::Stopped => {
            return Ok(Baseline { value: f64::INFINITY, makespan: None, stopped: Some(error.brief()), hops: 0 });
        }
        Err(error) => return Err(error),
    };
    let none = || Error::input(format!("{}: {NO_BYTES}", context.scenario.file));
    let value = value_of(context, context.scenario, &outcome).ok_or_else(none)?;
    if value == 0.0 {
        return Err(Error::input("the scenario takes no time: there is nothing to compare"));
    }
    let hops = outcome.packets.as_ref().map_or(0, |packets| packets.hops - packets.skipped_hops);
    Ok(Baseline { value, makespan: Some(outcome.makespan.0), stopped: None, hops })
}

/// Why a run has no throughput.
pub(super) const NO_BYTES: &str = "nothing is transferred: there is no throughput";

/// The items that the objective is about, in a scenario that was read with other values.
pub(super) fn items(objective: Objective, scenario: &Scenario) -> &[ObjectiveItem] {
    let spec = scenario.optimize.as_ref().filter(|spec| spec.objective == objective);
    spec.map_or(&[][..], |spec| &spec.items)
}

/// The value of a run of the scenario, perhaps with other values, by the objective of the search.
pub(super) fn value_of(context: &SearchContext<'_>, scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    let objective = context.settings.objective;
    value(objective, items(objective, scenario), scenario, outcome)
}

/// The value of a run, the smaller the better: ps, of a throughput ps per byte. None for a throughput without bytes.
fn value(objective: Objective, items: &[ObjectiveItem], scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
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
