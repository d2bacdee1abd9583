//! Explanations: the plans of operations engine by engine, and the steps by which the arbiter came to its rates, phase by
//! phase.

use std::io::Write;

use serde::Serialize;
use weir_sim_core::{PhaseRecord, PhaseStep, TaskId};

use crate::json::{ArbiterJson, Explain, Plans, write_line};
use crate::{ResultKind, Run};

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

/// One explained run.
#[derive(Serialize)]
struct ExplainJson<'a> {
    weir: u32,
    kind: ResultKind,
    version: &'a str,
    scenario: &'a str,
    file: &'a str,
    input_sha256: &'a str,
    arbiter: ArbiterJson<'a>,
    complete: bool,
    #[serde(skip_serializing_if = "Plans::is_empty")]
    operations: Plans<'a>,
    phases: Explain<'a>,
}

/// Writes the explanation of a run as one JSON line.
///
/// # Errors
/// What the writer says.
pub fn write_explanation(run: &Run<'_>, out: impl Write) -> std::io::Result<()> {
    let phases = run.outcome.phases.as_deref().unwrap_or(&[]);
    let json = ExplainJson {
        weir: 1,
        kind: ResultKind::Explanation,
        version: env!("CARGO_PKG_VERSION"),
        scenario: &run.scenario.name,
        file: &run.scenario.file,
        input_sha256: &run.scenario.input_sha256,
        arbiter: ArbiterJson::new(run),
        complete: run.complete(),
        operations: Plans { run },
        phases: Explain { run, phases },
    };
    write_line(&json, out)
}
