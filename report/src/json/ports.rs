//! What ports do in a run of packets, as JSON.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use weir_plugin_api::{LinkId, SimDuration, SimTime};
use weir_sim_core::{GrantCycle, Held, PortPhase, PortRecord, TaskId};

use super::list::RowMaker;
use super::lists::held_word;
use crate::Run;
use crate::link::Ends;
use crate::ports::{GrantRow, rows};

/// Phases of ports.
pub(crate) struct PortPhases<'a> {
    pub(crate) run: &'a Run<'a>,
}

/// What contended ports do between begins and ends of transfers.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "PortPhase")]
pub(crate) struct PortPhaseRow<'a> {
    /// When it begins, seconds.
    start_s: f64,
    /// When it ends, seconds.
    end_s: f64,
    /// The ports that two or more asked for in the later half of what is kept of their grants, in link order.
    ports: Vec<PortRow<'a>>,
    /// The transfers whose sources waited for their own window, tags or limit, the longest wait first.
    own_waits: Vec<PortWaitRow<'a>>,
}

/// What a port does in a phase.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Port")]
struct PortRow<'a> {
    /// The link that it feeds.
    link: Ends<'a>,
    /// Time in which it sent, seconds.
    busy_s: f64,
    /// Time in which it was free and nobody who asked for it had credit, seconds.
    no_credit_s: f64,
    /// Packets that it granted, pieces of split ones each.
    grants: u64,
    /// The last ones of them, among which the cycle was looked for.
    kept: u64,
    /// What it repeats; null where the later half of those that were kept repeats nothing.
    cycle: Option<CycleRow<'a>>,
    /// The transfers whose sources waited for it, the longest wait first.
    waits: Vec<PortWaitRow<'a>>,
}

/// Grants that a port repeats.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "GrantCycle")]
struct CycleRow<'a> {
    /// How long it lasts on average, seconds.
    time_s: f64,
    /// The grants in order, from the lowest requester on; equal neighbours are one row.
    grants: Vec<CycleGrantRow<'a>>,
}

/// Equal grants that follow one another.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "CycleGrant")]
struct CycleGrantRow<'a> {
    /// The link by which the packets come in; null where they start at the port's node.
    input: Option<Ends<'a>>,
    /// The id of their transfer.
    transfer: Cow<'a, str>,
    /// Whether they are requests of a read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    request: bool,
    /// Payload of each, bytes.
    payload_bytes: u32,
    /// How many.
    packets: u32,
}

/// A wait for a port.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "PortWait")]
struct PortWaitRow<'a> {
    /// The id of the transfer.
    transfer: Cow<'a, str>,
    /// `arbitration`, `dllp`, `head-of-line`, `credit` or `link-down`; of its own `window`, `tags` or `limit`.
    cause: &'static str,
    /// The transfer responsible; null where it is its own.
    by: Option<Cow<'a, str>>,
    /// How long in this phase, seconds.
    time_s: f64,
}

impl<'a> RowMaker for PortPhases<'a> {
    type ResultRow = PortPhaseRow<'a>;

    fn rows(&self) -> impl Iterator<Item = PortPhaseRow<'a>> {
        self.run.port_phases().iter().map(|PortPhase { start, end, ports, own_waits }| PortPhaseRow {
            start_s: SimTime(*start).seconds(),
            end_s: SimTime(*end).seconds(),
            ports: ports.iter().map(|port| self.port(port)).collect(),
            own_waits: own_waits.iter().map(|&(transfer, held)| self.wait(transfer, held)).collect(),
        })
    }
}

impl<'a> PortPhases<'a> {
    fn port(&self, port: &PortRecord) -> PortRow<'a> {
        PortRow {
            link: Ends::of(self.run.scenario, LinkId(port.link)),
            busy_s: SimDuration(port.busy).seconds(),
            no_credit_s: SimDuration(port.starved).seconds(),
            grants: port.grants,
            kept: port.kept,
            cycle: port.cycle.as_ref().map(|cycle| self.cycle(cycle)),
            waits: port.waits.iter().map(|&(transfer, held)| self.wait(transfer, held)).collect(),
        }
    }

    fn cycle(&self, cycle: &GrantCycle) -> CycleRow<'a> {
        let scenario = self.run.scenario;
        let row = |GrantRow { grant, packets }| CycleGrantRow {
            input: grant.input.map(|link| Ends::of(scenario, LinkId(link))),
            transfer: scenario.task_name(TaskId(grant.transfer)),
            request: grant.is_request,
            payload_bytes: grant.payload,
            packets,
        };
        let grants = rows(&cycle.grants).into_iter().map(row).collect();
        CycleRow { time_s: SimDuration(cycle.time).seconds(), grants }
    }

    fn wait(&self, transfer: u32, held: Held) -> PortWaitRow<'a> {
        let name = |task: u32| self.run.scenario.task_name(TaskId(task));
        PortWaitRow {
            transfer: name(transfer),
            cause: held_word(held.cause),
            by: held.by.map(name),
            time_s: SimDuration(held.time).seconds(),
        }
    }
}
