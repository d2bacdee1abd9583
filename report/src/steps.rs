//! The steps by which the arbiter came to the rates of a phase.

use weir_sim_core::{PhaseRecord, PhaseStep, TaskId};

/// The steps of a phase grouped by transfer, in id order; a transfer without steps has an empty group.
pub(crate) fn by_transfer(phase: &PhaseRecord) -> Vec<(TaskId, Vec<&PhaseStep>)> {
    // Arbiters may append step by step or transfer by transfer; a stable sort keeps each transfer's order.
    let mut steps: Vec<&PhaseStep> = phase.steps.iter().collect();
    steps.sort_by_key(|step| step.task);
    let mut rest = steps.as_slice();
    let groups = phase.rates.iter().map(|&(task, _)| {
        let first = rest.partition_point(|step| step.task < task);
        let after = rest.partition_point(|step| step.task <= task);
        let group = rest[first..after].to_vec();
        rest = &rest[after..];
        (task, group)
    });
    groups.collect()
}
