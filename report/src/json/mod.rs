//! A run as one compact JSON object, written as a stream: a million transfers pass through one row at a time.

mod limited;
mod lists;
mod operations;
mod plans;
mod rows;
mod search;

use std::io::{BufWriter, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use weir_plugin_api::LegendEntry;

pub(crate) use limited::Limited;
pub(crate) use lists::{Explain, IdleLinks, Nodes, link_ends, transfer_row};
use lists::{Links, Phases, Transfers};
use operations::{OperationRow, Operations};
pub(crate) use plans::{PlanRow, Plans};
pub(crate) use rows::{Ends, TransferRow};
use rows::{ExplainRow, ExplainedRow, LinkRow, NodeRow, PhaseRow, RatesSchema};
pub(crate) use search::SearchJson;
pub use search::search_schema;

use crate::schemas::schema_of;
use crate::{Percentiles, ResultKind, Run, Streamed};

/// What to write beside the plain result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Detail {
    /// The phases.
    pub phases: bool,
    /// What pictures need: nodes, all links with their bandwidths, routes, phases, explanations.
    pub full: bool,
}

/// Writes a run as one line.
///
/// # Errors
/// What the writer says.
pub fn write_run(run: &Run<'_>, detail: Detail, out: impl Write) -> std::io::Result<()> {
    write_line(&RunJson::new(run, detail), out)
}

/// Writes a run whose transfers were streamed as one line, without them.
///
/// # Errors
/// What the writer says.
pub fn write_streamed(run: &Run<'_>, streamed: &Streamed<'_>, out: impl Write) -> std::io::Result<()> {
    let counts = StreamedJson { transfers: streamed.transfers, ended: streamed.ended };
    write_line(&RunJson { streamed: Some(counts), ..RunJson::new(run, Detail::default()) }, out)
}

/// Writes a value as one line.
pub(crate) fn write_line(value: &impl Serialize, out: impl Write) -> std::io::Result<()> {
    // A buffer of a known type: `out` may be behind a pointer, and a result is written in many small pieces.
    let mut out = BufWriter::with_capacity(1 << 16, out);
    serde_json::to_writer(&mut out, value).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The JSON Schema of one line of `weir run --json`.
#[must_use]
pub fn results_schema() -> Value {
    schema_of::<RunJson<'static>>()
}

/// The result of one run: one scenario under one arbiter.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "weir result", deny_unknown_fields)]
pub(crate) struct RunJson<'a> {
    /// Version of this format.
    weir: u32,
    /// What it is.
    #[schemars(with = "RunKind")]
    kind: ResultKind,
    /// Version of the program.
    version: &'a str,
    /// Name of the scenario.
    scenario: &'a str,
    /// Its file as given, `-` for standard input.
    file: &'a str,
    /// SHA-256 over the scenario file and every file it names, in order of reading.
    input_sha256: &'a str,
    /// The policy that divided the bandwidth.
    arbiter: ArbiterJson<'a>,
    /// Whether every task ended; false after an interrupt or `--until`.
    complete: bool,
    /// Only when not complete: the simulated time reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_s: Option<f64>,
    /// The same in picoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_ps: Option<u64>,
    /// 64-bit digest of (time, kind, ids, bytes) of all events, 16 hexadecimal digits.
    fingerprint: String,
    /// Latest end of any task, of those that ended.
    makespan_s: f64,
    /// The same in picoseconds, exact.
    makespan_ps: u64,
    /// Starts and ends of transfers and tasks.
    events: u64,
    /// The random generator behind the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<&'a str>,
    /// Only where transfers were streamed: `transfers` is empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    streamed: Option<StreamedJson>,
    /// All transfers in expansion order.
    #[schemars(with = "Vec<TransferRow>")]
    transfers: Transfers<'a>,
    /// Directed links that carried bytes, in link order; in a full result all links.
    #[schemars(with = "Vec<LinkRow>")]
    links: Links<'a>,
    /// Maximal intervals in which no rate changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<PhaseRow<RatesSchema>>>")]
    phases: Option<Phases<'a>>,
    /// Operations that models planned, computations and barriers, in expansion order.
    #[schemars(with = "Vec<OperationRow>")]
    operations: Operations<'a>,
    /// For 100 transfers or more; not after an interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    percentiles: Option<Percentiles>,
    /// Full results: all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<NodeRow>>")]
    nodes: Option<Nodes<'a>>,
    /// Full results: per phase and transfer the arbiter's steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<ExplainRow<Vec<ExplainedRow>>>>")]
    explain: Option<Explain<'a>>,
}

/// The one kind of this result, for its schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[allow(dead_code, reason = "a type for the schema")]
enum RunKind {
    Run,
}

/// How many transfers were streamed.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Streamed")]
pub(crate) struct StreamedJson {
    /// Transfers of the scenario.
    transfers: usize,
    /// Those that have ended.
    ended: usize,
}

/// The policy of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Arbiter")]
pub(crate) struct ArbiterJson<'a> {
    /// Name in scenarios.
    name: &'a str,
    /// Version of the policy.
    version: &'a str,
    /// The parameters given.
    params: &'a Map<String, Value>,
    /// SHA-256 of the library it was loaded from; absent for built-in policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    /// Of explained runs: what the steps mean, in the order in which they are taken; absent where the policy does not say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    legend: Vec<LegendRow<'a>>,
}

/// What a step of the arbiter means.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "LegendEntry")]
pub(crate) struct LegendRow<'a> {
    /// Its name.
    step: &'a str,
    /// In a few words that can stand for the name.
    short: &'a str,
    /// What it does.
    meaning: &'a str,
}

impl<'a> ArbiterJson<'a> {
    pub(crate) fn new(run: &'a Run<'_>) -> Self {
        let a = &run.arbiter;
        let explained = run.outcome.phases.iter().flatten().any(|phase| !phase.steps.is_empty());
        let row = |LegendEntry { step, short, meaning }: &'a LegendEntry| LegendRow { step, short, meaning };
        let legend = if explained { a.legend.iter().map(row).collect() } else { Vec::new() };
        Self { name: a.name, version: a.version, params: a.params, sha256: a.sha256, legend }
    }
}

impl<'a> RunJson<'a> {
    pub(crate) fn new(run: &'a Run<'a>, detail: Detail) -> Self {
        let outcome = run.outcome;
        let stopped = (!run.complete()).then_some(outcome.now);
        let phases = outcome.phases.as_deref();
        Self {
            weir: 1,
            kind: ResultKind::Run,
            version: env!("CARGO_PKG_VERSION"),
            scenario: &run.scenario.name,
            file: &run.scenario.file,
            input_sha256: &run.scenario.input_sha256,
            arbiter: ArbiterJson::new(run),
            complete: run.complete(),
            stopped_s: stopped.map(|t| t.seconds()),
            stopped_ps: stopped.map(|t| t.0),
            fingerprint: format!("{:016x}", outcome.fingerprint),
            makespan_s: outcome.makespan.seconds(),
            makespan_ps: outcome.makespan.0,
            events: outcome.events,
            generator: run.scenario.generator.as_deref(),
            streamed: None,
            transfers: Transfers { run, full: detail.full },
            links: Links { run, full: detail.full },
            phases: phases.filter(|_| detail.phases || detail.full).map(|phases| Phases { run, phases }),
            operations: Operations::new(run),
            percentiles: Percentiles::of(run),
            nodes: detail.full.then_some(Nodes { scenario: run.scenario }),
            explain: phases.filter(|_| detail.full).map(|phases| Explain { run, phases }),
        }
    }

    /// The same without what grows with the phases.
    pub(crate) fn without_phases(self) -> Self {
        Self { phases: None, explain: None, ..self }
    }
}
