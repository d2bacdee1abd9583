//! The lists of a result: each makes one row at a time while it is written.

use serde::ser::{Serialize, Serializer};
use weir_plugin_api::{Direction, LinkId, NodeId, SimTime};
use weir_scenario::Scenario;
use weir_sim_core::{Departure, LinkTotals, PhaseRecord, TaskId};

use super::rows::{Ends, ExplainRow, ExplainedRow, LinkRow, NodeRow, PhaseRow, StepRow, TransferRow};
use crate::cause::link_of;
use crate::run::{Carried, mean_rate_of};
use crate::{Alone, Run, TransferCause};

/// Writes the `rows` of a type one by one.
macro_rules! stream {
    ($name:ident) => {
        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.rows())
            }
        }
    };
}
pub(crate) use stream;

pub(crate) struct Transfers<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) full: bool,
}
stream!(Transfers);

impl Transfers<'_> {
    fn rows(&self) -> impl Iterator<Item = TransferRow<'_>> {
        self.run.transfers().filter_map(|task| self.row(task))
    }

    fn row(&self, task: TaskId) -> Option<TransferRow<'_>> {
        let row = transfer_row(self.run.scenario, self.run.alone, &self.run.departure(task)?)?;
        let links = self.full.then(|| self.run.carried(task)).flatten().map(|carried| carried.links);
        Some(TransferRow { route: links.map(|links| links.iter().map(|l| l.0).collect()), ..row })
    }
}

/// The row of a transfer, without its route.
pub(crate) fn transfer_row<'a>(
    scenario: &'a Scenario,
    alone: &Alone<'_>,
    transfer: &Departure,
) -> Option<TransferRow<'a>> {
    let Departure { task, class, bytes, times, sent_bytes, bottleneck, .. } = transfer;
    let Carried { from, to, .. } = Carried::of(scenario, *bytes, *class)?;
    let cause = TransferCause::at(scenario, *task, bottleneck);
    Some(TransferRow {
        id: scenario.task_name(*task),
        from: scenario.node_name(from),
        to: scenario.node_name(to),
        bytes: *bytes,
        ready_s: seconds(times.ready),
        start_s: seconds(times.start),
        end_s: seconds(times.end),
        end_ps: picoseconds(times.end),
        mean_bps: mean_rate_of(transfer),
        sent_bytes: times.end.is_never().then_some(*sent_bytes),
        alone_s: alone.time(*bytes, *class).map(|t| t.seconds()),
        bottleneck: link_of(bottleneck).map(|link| link_ends(scenario, link)),
        cause: cause.as_ref().map(ToString::to_string),
        cause_detail: cause,
        route: None,
    })
}

pub(crate) struct Links<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) full: bool,
}
stream!(Links);

impl Links<'_> {
    fn rows(&self) -> impl Iterator<Item = LinkRow<'_>> {
        let totals = &self.run.outcome.links;
        (0..totals.len()).filter(|&i| self.full || totals[i].bytes > 0).map(|i| self.row(LinkId::from_index(i)))
    }

    fn row(&self, id: LinkId) -> LinkRow<'_> {
        link_row(self.run.scenario, id, self.run.outcome.links[id.index()], self.full)
    }
}

/// All links, as in a full result of a run in which nothing was sent.
pub(crate) struct IdleLinks<'a> {
    pub(crate) scenario: &'a Scenario,
}
stream!(IdleLinks);

impl IdleLinks<'_> {
    fn rows(&self) -> impl Iterator<Item = LinkRow<'_>> {
        let ids = (0..self.scenario.fabric.links().len()).map(LinkId::from_index);
        ids.map(|id| link_row(self.scenario, id, LinkTotals::default(), true))
    }
}

fn link_row(scenario: &Scenario, id: LinkId, total: LinkTotals, full: bool) -> LinkRow<'_> {
    let link = scenario.fabric.link(id);
    let Ends { from, to } = link_ends(scenario, id);
    let direction = match link.direction {
        Direction::Up => "up",
        Direction::Down => "down",
        Direction::Lateral => "lateral",
    };
    LinkRow {
        id: full.then_some(id.0),
        from,
        to,
        bytes: total.bytes,
        busy_s: total.busy.seconds(),
        peak_bps: total.peak,
        bandwidth_bps: full.then_some(link.bandwidth),
        latency_s: full.then(|| link.latency.seconds()),
        direction: full.then_some(direction),
    }
}

pub(crate) struct Phases<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) phases: &'a [PhaseRecord],
}
stream!(Phases);

impl Phases<'_> {
    fn rows(&self) -> impl Iterator<Item = PhaseRow<Rates<'_>>> {
        self.phases.iter().map(|phase| PhaseRow {
            start_s: phase.start.seconds(),
            end_s: phase.end.seconds(),
            rates_bps: Rates { run: self.run, phase },
        })
    }
}

pub(crate) struct Rates<'a> {
    run: &'a Run<'a>,
    phase: &'a PhaseRecord,
}

impl Serialize for Rates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.phase.rates.iter().map(|&(task, rate)| (self.run.scenario.task_name(task), rate)))
    }
}

pub(crate) struct Nodes<'a> {
    pub(crate) scenario: &'a Scenario,
}
stream!(Nodes);

impl Nodes<'_> {
    fn rows(&self) -> impl Iterator<Item = NodeRow<'_>> {
        self.scenario.fabric.nodes().iter().enumerate().map(|(i, node)| {
            let id = NodeId::from_index(i);
            NodeRow {
                id: id.0,
                name: self.scenario.node_name(id),
                kind: node.kind.word(),
                parent: (!node.parent.is_none()).then_some(node.parent.0),
            }
        })
    }
}

pub(crate) struct Explain<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) phases: &'a [PhaseRecord],
}
stream!(Explain);

impl Explain<'_> {
    fn rows(&self) -> impl Iterator<Item = ExplainRow<Explained<'_>>> {
        self.phases.iter().map(|phase| ExplainRow {
            start_s: phase.start.seconds(),
            end_s: phase.end.seconds(),
            transfers: Explained { run: self.run, phase },
        })
    }
}

pub(crate) struct Explained<'a> {
    run: &'a Run<'a>,
    phase: &'a PhaseRecord,
}
stream!(Explained);

impl Explained<'_> {
    fn rows(&self) -> impl Iterator<Item = ExplainedRow<'_>> {
        let scenario = self.run.scenario;
        crate::explain::by_transfer(self.phase).into_iter().map(move |(task, steps)| ExplainedRow {
            id: scenario.task_name(task),
            steps: steps
                .iter()
                .map(|step| StepRow {
                    step: &step.step,
                    link: (!step.link.is_none()).then(|| ends(self.run, step.link)),
                    rate_bps: step.rate,
                    because: step.because.iter().map(|&task| scenario.task_name(task)).collect(),
                })
                .collect(),
        })
    }
}

fn ends<'a>(run: &'a Run<'_>, link: LinkId) -> Ends<'a> {
    link_ends(run.scenario, link)
}

pub(crate) fn link_ends(scenario: &Scenario, link: LinkId) -> Ends<'_> {
    let link = scenario.fabric.link(link);
    Ends { from: scenario.node_name(link.from), to: scenario.node_name(link.to) }
}

pub(crate) fn seconds(time: SimTime) -> Option<f64> {
    (!time.is_never()).then(|| time.seconds())
}

pub(crate) fn picoseconds(time: SimTime) -> Option<u64> {
    (!time.is_never()).then_some(time.0)
}
