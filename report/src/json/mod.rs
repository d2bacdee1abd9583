//! A run as one compact JSON object, written as a stream: a million transfers pass through one row at a time.

mod arbiter;
mod candidates;
mod explanation;
mod jobs;
mod list;
mod lists;
mod operations;
mod plans;
mod ports;
mod rows;
mod search;
mod search_schema;
mod write;

use std::borrow::Cow;
use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use weir_plugin_api::SimDuration;

use arbiter::ArbiterJson;
pub(crate) use candidates::CandidateRow;
pub use explanation::write_explanation;
pub(crate) use jobs::JobRow;
pub(crate) use list::List;
use lists::{Explain, Links, Nodes, Phases, Transfers};
pub(crate) use lists::{numbered, transfer_row};
pub(crate) use operations::OperationRow;
use operations::Operations;
pub(crate) use plans::Plans;
pub(crate) use rows::{ExplainRow, ExplainedRow, LinkRow, Name, NodeRow, PhaseRow, StepRow, TransferRow};
pub(crate) use search::SearchJson;
pub(crate) use write::{bytes, write_line};
pub use write::{json_text, write_json};

use crate::changes::LinkChangeRow;
use crate::schemas::schema_of;
use crate::schemas::time;
use crate::spread::SpreadJson;
use crate::{Percentiles, ResultKind, Run, Streamed};

/// What to write beside the plain result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Detail {
    /// The rates of each phase; nothing where the run did not record them.
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

/// The JSON Schema of one line of `weir run --json`.
#[must_use]
pub fn results_schema() -> Value {
    schema_of::<RunJson<'static>>()
}

/// The JSON Schema of one line of `weir optimize --json` or `weir merge --json`.
#[must_use]
pub fn search_schema() -> Value {
    schema_of::<SearchJson<'static>>()
}

/// The result of one run: one scenario under one arbiter.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "weir result", deny_unknown_fields)]
pub(crate) struct RunJson<'a> {
    /// Version of the format of results.
    weir: u32,
    /// Always `run`.
    #[schemars(with = "RunKind")]
    kind: ResultKind,
    /// Version of weir that wrote it.
    #[serde(borrow)]
    pub(crate) version: Cow<'a, str>,
    /// The `name` of the scenario.
    #[serde(borrow)]
    pub(crate) scenario: Cow<'a, str>,
    /// Its file as given, `-` for standard input.
    #[serde(borrow)]
    pub(crate) file: Cow<'a, str>,
    /// SHA-256 over the scenario file and every file it names, in order of reading.
    #[serde(borrow)]
    pub(crate) input_sha256: Cow<'a, str>,
    /// The policy that divided the bandwidth.
    #[serde(borrow)]
    pub(crate) arbiter: ArbiterJson<'a>,
    /// `packet` where transfers went packet by packet; absent where bandwidth was divided by rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fidelity: Option<PacketFidelity>,
    /// Whether every task ended; false after an interrupt or `--until`.
    pub(crate) complete: bool,
    /// Only when not complete: the simulated time reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "time", default)]
    pub(crate) stopped_s: Option<f64>,
    /// The simulated time reached in picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_ps: Option<u64>,
    /// What the arbiter said of its answers, such as rates that did not come to rest, and other notes: a sentence each; absent
    /// if nothing.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) remarks: Vec<String>,
    /// The directed links that changed by `events`; absent if none did.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) link_changes: Vec<LinkChangeRow<'a>>,
    /// 64-bit digest of (time, kind, ids, bytes) of all events, 16 hexadecimal digits.
    fingerprint: String,
    /// Latest end of any task, of those that ended.
    #[serde(deserialize_with = "time")]
    pub(crate) makespan_s: f64,
    /// The same in picoseconds, exact.
    pub(crate) makespan_ps: u64,
    /// Only where it was asked for: how far ends move when every transfer starts a little later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spread: Option<SpreadJson>,
    /// Starts and ends of transfers and tasks.
    events: u64,
    /// Links that packets crossed, each packet counted on each link, skipped ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hops: Option<u64>,
    /// Those of them that were not simulated, because they repeat what was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skipped_hops: Option<u64>,
    /// Most packets in buffers of switches, or on their way there, at one time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peak_packets: Option<u64>,
    /// The random generator behind the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<Cow<'a, str>>,
    /// Full results of packets: width of the bins of `fill_bytes` and `load_Bps` of links, seconds. The first begins at 0, the
    /// last one ends with the run.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub(crate) fill_bin_s: Option<f64>,
    /// Only where transfers were streamed: `transfers` is empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) streamed: Option<StreamedJson>,
    /// All transfers in expansion order.
    #[serde(borrow)]
    pub(crate) transfers: List<Transfers<'a>>,
    /// Directed links that carried bytes, in link order; in a full result all links.
    #[serde(borrow)]
    pub(crate) links: List<Links<'a>>,
    /// Maximal intervals in which no rate changes.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) phases: Option<List<Phases<'a>>>,
    /// Operations that models planned, computations and barriers, in expansion order.
    #[serde(borrow)]
    pub(crate) operations: List<Operations<'a>>,
    /// Items of the workload that are many tasks and no operations of models, where there are other items.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) jobs: Vec<JobRow<'a>>,
    /// For 100 transfers or more; not after an interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percentiles: Option<Percentiles>,
    /// Full results: all nodes.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) nodes: Option<List<Nodes<'a>>>,
    /// Full results: per phase and transfer the arbiter's steps.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) explain: Option<List<Explain<'a>>>,
}

/// The one kind of this result, for its schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[allow(dead_code, reason = "a type for the schema")]
enum RunKind {
    Run,
}

/// That transfers went packet by packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PacketFidelity {
    /// Packets, credits and ports.
    Packet,
}

/// How many transfers were streamed.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Streamed")]
pub(crate) struct StreamedJson {
    /// Number of transfers in the scenario.
    pub(crate) transfers: usize,
    /// Number of transfers that have ended.
    pub(crate) ended: usize,
}

impl<'a> RunJson<'a> {
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Makes the rows of transfers, links and nodes that are not at hand.
    pub(crate) fn make(&mut self) {
        self.transfers.make();
        self.links.make();
        self.nodes.iter_mut().for_each(List::make);
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Whether the end of every task is in the lists, that of an operation for all of its tasks.
    pub(crate) fn all_listed(&self) -> bool {
        self.complete && self.streamed.is_none()
    }

    pub(crate) fn new(run: &'a Run<'a>, detail: Detail) -> Self {
        let outcome = run.outcome;
        let stopped = (!run.complete()).then_some(outcome.now);
        let phases = outcome.phases.as_deref();
        let packets = outcome.packets.as_ref();
        let fills = packets.and_then(|packets| packets.fills.as_ref()).filter(|_| detail.full);
        Self {
            weir: 1,
            kind: ResultKind::Run,
            version: env!("CARGO_PKG_VERSION").into(),
            scenario: (&*run.scenario.name).into(),
            file: (&*run.scenario.file).into(),
            input_sha256: (&*run.scenario.input_sha256).into(),
            arbiter: ArbiterJson::new(run),
            fidelity: packets.map(|_| PacketFidelity::Packet),
            complete: run.complete(),
            stopped_s: stopped.map(|t| t.seconds()),
            stopped_ps: stopped.map(|t| t.0),
            remarks: run.remarks(),
            link_changes: run.link_changes(detail.full),
            fingerprint: run.fingerprint(),
            makespan_s: outcome.makespan.seconds(),
            makespan_ps: outcome.makespan.0,
            spread: run.spread.map(Into::into),
            events: outcome.events,
            hops: packets.map(|packets| packets.hops),
            skipped_hops: packets.map(|packets| packets.skipped_hops),
            peak_packets: packets.map(|packets| packets.most_packets),
            generator: run.scenario.generator.as_deref().map(Into::into),
            fill_bin_s: fills.map(|fills| SimDuration(fills.bin).seconds()),
            streamed: None,
            transfers: List::Made(Transfers { run, full: detail.full }),
            links: List::Made(Links { run, full: detail.full }),
            phases: phases.filter(|_| detail.phases || detail.full).map(|phases| List::Made(Phases { run, phases })),
            operations: List::Made(Operations::new(run)),
            jobs: JobRow::all(run),
            percentiles: Percentiles::of(run),
            nodes: detail.full.then_some(List::Made(Nodes { scenario: run.scenario })),
            explain: phases
                .filter(|phases| detail.full && phases.iter().any(|phase| !phase.steps.is_empty()))
                .map(|phases| List::Made(Explain { run, phases })),
        }
    }
}
