//! The lists of a result: each makes one row at a time while it is written.

use weir_plugin_api::{Direction, LinkId, NodeId, SimDuration};
use weir_scenario::{PacketPlan, Regions, Scenario};
use weir_sim_core::{Departure, HeldCause, LinkTotals, PhaseRecord, PhaseStep, TaskId};

use super::list::RowMaker;
use super::rows::{ExplainRow, ExplainedRow, HeldRow, LinkRow, Name, NodeRow, PhaseRow, StepRow, TransferRow};
use crate::cause::link_of;
use crate::delay::BesideAlone;
use crate::link::Ends;
use crate::pairs::Pairs;
use crate::run::{Carried, mean_rate_of};
use crate::steps::by_transfer;
use crate::units::{picoseconds, seconds};
use crate::{Alone, ArbiterInfo, Run, TransferCause};

pub(crate) struct Transfers<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) full: bool,
}

impl<'a> RowMaker for Transfers<'a> {
    type ResultRow = TransferRow<'a>;

    fn rows(&self) -> impl Iterator<Item = TransferRow<'a>> {
        self.run.transfers().filter_map(|task| self.row(task))
    }
}

impl<'a> Transfers<'a> {
    fn row(&self, task: TaskId) -> Option<TransferRow<'a>> {
        let Run { scenario, alone, arbiter, .. } = self.run;
        let row = transfer_row(scenario, alone, arbiter, &self.run.departure(task)?)?;
        let spread = self.run.spread.and_then(|spread| spread.transfer(task));
        let end_spread_s = spread.map(|spread| spread.end.into());
        let time_spread_s = spread.map(|spread| spread.time.seconds());
        let row = TransferRow { end_spread_s, time_spread_s, reroutes: self.run.reroutes(task, self.full), ..row };
        let Some(carried) = self.full.then(|| self.run.carried(task)).flatten() else { return Some(row) };
        let (route, shares) = numbered(carried.shares(scenario));
        Some(TransferRow { route: Some(route), shares, ..row })
    }
}

/// The numbers of links, and their parts of the bytes if some carry less than all.
pub(crate) fn numbered(parts: Vec<(LinkId, f64)>) -> (Vec<u32>, Option<Vec<f64>>) {
    let (links, shares): (Vec<_>, Vec<_>) = parts.into_iter().map(|(link, share)| (link.0, share)).unzip();
    let are_parts = shares.iter().any(|&share: &f64| share < 1.0);
    (links, are_parts.then_some(shares))
}

/// What a source's packets waited for, as results name it.
pub(super) fn held_word(cause: HeldCause) -> &'static str {
    match cause {
        HeldCause::Arbitration => "arbitration",
        HeldCause::HeadOfLine => "head-of-line",
        HeldCause::Credit => "credit",
        HeldCause::Window => "window",
        HeldCause::Tags => "tags",
        HeldCause::Dllp => "dllp",
        HeldCause::Limit => "limit",
        HeldCause::Down => "link-down",
    }
}

/// The row of a transfer, without its route.
pub(crate) fn transfer_row<'a>(
    scenario: &'a Scenario,
    alone: &Alone<'_>,
    arbiter: &ArbiterInfo<'a>,
    transfer: &Departure,
) -> Option<TransferRow<'a>> {
    let Departure { task, class, bytes, times, sent_bytes, bottleneck, held, .. } = transfer;
    let Carried { from, to, links } = Carried::of(scenario, *class)?;
    let beside = BesideAlone::new(alone, transfer);
    let cause = TransferCause::of_departure(scenario, arbiter.regions, &beside);
    let carriage = scenario.tasks.classes().carriage(*class);
    let packets = |plan: &PacketPlan| Some(plan.packets(*links.first()?, carriage, *bytes));
    let held = held.iter().map(|held| HeldRow {
        cause: held_word(held.cause).into(),
        link: (held.link != u32::MAX).then(|| Ends::of(scenario, LinkId(held.link))),
        by: held.by.map(|by| scenario.task_name(TaskId(by))),
        time_s: SimDuration(held.time).seconds(),
    });
    Some(TransferRow {
        id: scenario.task_name(*task),
        from: scenario.node_name(from).into(),
        to: scenario.node_name(to).into(),
        bytes: *bytes,
        ready_s: seconds(times.ready),
        start_s: seconds(times.start),
        end_s: seconds(times.end),
        end_ps: picoseconds(times.end),
        end_spread_s: None,
        time_spread_s: None,
        mean_bps: mean_rate_of(arbiter, transfer),
        packets: arbiter.packets.and_then(packets),
        sent_s: arbiter.packets.and_then(|_| seconds(times.sent)),
        held: arbiter.packets.map(|_| held.collect()),
        sent_bytes: times.end.is_never().then_some(*sent_bytes),
        alone_s: beside.since_ready().map(|t| t.seconds()),
        delay: beside.delay(),
        bottleneck: link_of(bottleneck).map(|link| Ends::of(scenario, link)),
        cause: cause.as_ref().map(|cause| cause.to_string().into()),
        cause_detail: cause,
        route: None,
        shares: None,
        reroutes: Vec::new(),
    })
}

pub(crate) struct Links<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) full: bool,
}

impl<'a> RowMaker for Links<'a> {
    type ResultRow = LinkRow<'a>;

    fn rows(&self) -> impl Iterator<Item = LinkRow<'a>> {
        let totals = &self.run.outcome.links;
        let packets = self.run.outcome.packets.as_ref();
        let has_dllps = move |i: usize| packets.is_some_and(|packets| packets.links[i].dllps > 0);
        let wanted = (0..totals.len()).filter(move |&i| self.full || totals[i].bytes > 0 || has_dllps(i));
        let fills = packets.and_then(|packets| packets.fills.as_ref()).filter(|_| self.full);
        let regions = self.run.arbiter.regions.filter(|_| self.full);
        wanted.map(move |i| {
            let row = link_row(self.run.scenario, regions, LinkId::from_index(i), totals[i], self.full);
            let Some(counts) = packets.and_then(|packets| packets.links.get(i)) else { return row };
            let over_time = |values: &Vec<u64>| Some(values.clone()).filter(|values| values.iter().any(|&v| v > 0));
            LinkRow {
                packets: Some(counts.packets),
                wire_bytes: Some(counts.wire),
                deepest_bytes: Some(counts.deepest),
                no_credit_s: Some(SimDuration(counts.starved).seconds()),
                mean_wait_s: Some(SimDuration(counts.waited / counts.whole.max(1)).seconds()),
                dllps: (counts.dllps > 0).then_some(counts.dllps),
                buffer_bytes: fills.and_then(|fills| fills.capacity[i]),
                fill_bytes: fills.and_then(|fills| over_time(&fills.means[i])),
                load_bps: fills.and_then(|fills| over_time(&fills.loads[i])),
                ..row
            }
        })
    }
}

/// All links, as in a full result of a run in which nothing was sent.
pub(crate) struct IdleLinks<'a> {
    pub(crate) scenario: &'a Scenario,
}

impl<'a> RowMaker for IdleLinks<'a> {
    type ResultRow = LinkRow<'a>;

    fn rows(&self) -> impl Iterator<Item = LinkRow<'a>> {
        let ids = (0..self.scenario.fabric.links().len()).map(LinkId::from_index);
        ids.map(|id| link_row(self.scenario, None, id, LinkTotals::default(), true))
    }
}

fn link_row<'a>(
    scenario: &'a Scenario,
    regions: Option<&'a Regions>,
    id: LinkId,
    total: LinkTotals,
    full: bool,
) -> LinkRow<'a> {
    let link = scenario.fabric.link(id);
    let Ends { from, to } = Ends::of(scenario, id);
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
        packets: None,
        wire_bytes: None,
        deepest_bytes: None,
        no_credit_s: None,
        mean_wait_s: None,
        dllps: None,
        buffer_bytes: None,
        fill_bytes: None,
        load_bps: None,
        peak_bps: total.peak,
        bandwidth_bps: full.then_some(link.bandwidth),
        latency_s: full.then(|| link.latency.seconds()),
        direction: full.then_some(direction.into()),
        region: regions.map(|regions| regions.of_link(id).0.name.as_str().into()),
    }
}

pub(crate) struct Phases<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) phases: &'a [PhaseRecord],
}

impl<'a> RowMaker for Phases<'a> {
    type ResultRow = PhaseRow<'a>;

    fn rows(&self) -> impl Iterator<Item = PhaseRow<'a>> {
        self.phases.iter().map(|phase| {
            let rates = phase.rates.iter().map(|&(task, rate)| (Name(self.run.scenario.task_name(task)), rate));
            PhaseRow { start_s: phase.start.seconds(), end_s: phase.end.seconds(), rates_bps: Pairs(rates.collect()) }
        })
    }
}

pub(crate) struct Nodes<'a> {
    pub(crate) scenario: &'a Scenario,
}

impl<'a> RowMaker for Nodes<'a> {
    type ResultRow = NodeRow<'a>;

    fn rows(&self) -> impl Iterator<Item = NodeRow<'a>> {
        self.scenario.fabric.nodes().iter().enumerate().map(|(i, node)| {
            let id = NodeId::from_index(i);
            NodeRow {
                id: id.0,
                name: self.scenario.node_name(id).into(),
                kind: node.kind.word().into(),
                parent: (!node.parent.is_none()).then_some(node.parent.0),
            }
        })
    }
}

/// The arbiter's steps, phase by phase.
pub(crate) struct Explain<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) phases: &'a [PhaseRecord],
}

impl<'a> RowMaker for Explain<'a> {
    type ResultRow = ExplainRow<'a>;

    fn rows(&self) -> impl Iterator<Item = ExplainRow<'a>> {
        self.phases.iter().map(|phase| ExplainRow {
            start_s: phase.start.seconds(),
            end_s: phase.end.seconds(),
            transfers: by_transfer(phase).into_iter().map(|(task, steps)| self.explained(task, &steps)).collect(),
        })
    }
}

impl<'a> Explain<'a> {
    fn explained(&self, task: TaskId, steps: &[&'a PhaseStep]) -> ExplainedRow<'a> {
        let scenario = self.run.scenario;
        let row = |step: &&'a PhaseStep| StepRow {
            region: self.run.region_name(step.region),
            step: (&*step.step).into(),
            link: (!step.link.is_none()).then(|| Ends::of(scenario, step.link)),
            rate_bps: step.rate,
            because: step.because.iter().map(|&task| Name(scenario.task_name(task))).collect(),
        };
        ExplainedRow { id: scenario.task_name(task), steps: steps.iter().map(row).collect() }
    }
}
