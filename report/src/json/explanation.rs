//! Explanations: the plans of operations engine by engine, and phase by phase the arbiter's steps or what ports grant.

use std::io::Write;

use serde::Serialize;

use super::arbiter::ArbiterJson;
use super::list::List;
use super::lists::Explain;
use super::plans::Plans;
use super::ports::PortPhases;
use super::write::write_line;
use crate::{ResultKind, Run};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<List<Plans<'a>>>,
    phases: List<Explain<'a>>,
    /// Runs of packets, which have no rates to explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    port_phases: Option<List<PortPhases<'a>>>,
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
        operations: Plans::of(run),
        phases: List::Made(Explain { run, phases }),
        port_phases: run.outcome.packets.is_some().then_some(List::Made(PortPhases { run })),
    };
    write_line(&json, out)
}
