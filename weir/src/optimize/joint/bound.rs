//! What no candidate is better than.
//!
//! **Definition.** With d_t the least time of a task — its bytes over the narrowest link of its route, or its duration — and
//! f_t = start or latest wait + d_t along waits: the critical path ends at max f_t. A link that carries B bytes at the
//! bandwidth b is busy for B / b, a sending engine with k slots for Σ d_t / k, both from the earliest ready time on. Each is
//! a lower bound whatever the order: of all tasks together, and of those that one task waits for, as those before a barrier.
//! Where the placement varies, a route is not known: a transfer has at most the bandwidth
//! of its own route or, if that is more, of all links into or out of one candidate device, and of links `cut` says what
//! crosses them. Where values vary the least of all points counts, where these are few.
//! **Source.** Elementary; Graham's bounds for list scheduling (1969) are of this kind.

use std::collections::BTreeMap;

use rayon::prelude::*;
use weir_optimize::joint::Candidate;
use weir_optimize::search::Objective;
use weir_plugin_api::{LinkId, NodeId, PS_PER_S};
use weir_scenario::{ObjectiveItem, Scenario, counted};
use weir_sim_core::{EngineId, TaskId, Work, shares};

use super::super::context::SearchContext;
use super::super::goal::items;
use super::candidates::Candidates;
use super::cut;

/// Points of a grid that a bound is taken of, each of which is read; *assumed*, some seconds.
const MOST_POINTS: u128 = 2_000;
/// The part of the time that is left which the bound may take, where a search has a budget; *assumed*.
const OF_BUDGET: u32 = 4;
/// What rates may exceed a bandwidth by, as runs allow it, and roundings.
const SLACK: f64 = 1e-9;

/// A lower bound of an objective.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Bound {
    /// ps, of a throughput ps per byte.
    pub(super) value: f64,
    /// What sets it: `the busiest link, a → b`.
    pub(super) by: String,
}

impl Bound {
    fn new(value: f64, by: impl Into<String>) -> Self {
        Self { value, by: by.into() }
    }
}

/// Why no bound was looked for to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum NoBound {
    #[error("its part of the time was over before it was known")]
    OutOfTime,
    #[error("the scenario would be read at each of more than {MOST_POINTS} points of the parameters")]
    TooManyPoints,
}

/// A bound of all candidates; none where none is known: links change, or packets are sent.
///
/// # Errors
/// There are too many points, it takes more than its part of the time, or the search must end.
pub(super) fn of(context: &SearchContext<'_>, candidates: &Candidates<'_>) -> Result<Option<Bound>, NoBound> {
    let axes = &candidates.space.axes;
    let points = axes.iter().try_fold(1_u128, |all, &values| all.checked_mul(values as u128));
    let points = points.filter(|&points| points <= MOST_POINTS).ok_or(NoBound::TooManyPoints)?;
    let passed = context.begin.elapsed();
    let end = context.options.budget.map(|budget| passed + budget.saturating_sub(passed) / OF_BUDGET);
    let is_over = || context.cancelled() || end.is_some_and(|end| context.begin.elapsed() >= end);
    let of_point = |point: usize| {
        if is_over() {
            return Err(NoBound::OutOfTime);
        }
        let mut left = point;
        let mut digit = |&values: &usize| (left % values, left /= values).0;
        let values = axes.iter().map(&mut digit).collect();
        let edits = candidates.edits(&Candidate { values, ..candidates.space.first() });
        match edits.is_empty() {
            true => Ok(at(context, candidates, context.scenario)),
            false => Ok(context.runs().read(&edits).ok().and_then(|read| at(context, candidates, &read))),
        }
    };
    let bounds: Vec<Option<Bound>> = (0..points as usize).into_par_iter().map(of_point).collect::<Result<_, _>>()?;
    let bounds: Option<Vec<Bound>> = bounds.into_iter().collect();
    Ok(bounds.and_then(|bounds| bounds.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))))
}

/// The bound of one scenario: the highest of all kinds.
fn at(context: &SearchContext<'_>, candidates: &Candidates<'_>, scenario: &Scenario) -> Option<Bound> {
    // Values may bring events, or packets.
    let has_packets = scenario.arbiters.get(context.arbiter).is_none_or(|spec| spec.packets.is_some());
    if !scenario.changes.is_empty() || has_packets {
        return None;
    }
    let lower = Lower::new(scenario, candidates)?;
    let bounded = Bounded::of(context.settings.objective, scenario, &lower);
    let mut bounds = vec![Bound::new(bounded.critical_path(), "the critical path")];
    bounds.extend(bounded.of_resources());
    if let (Objective::Makespan, Some(ranks), Some(devices)) = (bounded.objective, &candidates.ranks, &lower.placed) {
        let messages = scenario.rank_traffic().messages;
        let cut = cut::bound(&scenario.fabric, ranks.ranks(), &messages, devices);
        bounds.extend(
            cut.map(|(ps, node)| {
                Bound::new(ps, format!("the busiest links, those above {}", scenario.node_name(node)))
            }),
        );
    }
    let highest = bounds.into_iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    let value = bounded.of_objective(highest.value * (1.0 - SLACK));
    (value > 0.0 && value.is_finite()).then_some(Bound { value, ..highest })
}

/// What the objective counts of a scenario.
struct Bounded<'a> {
    objective: Objective,
    scenario: &'a Scenario,
    lower: &'a Lower<'a>,
    items: &'a [ObjectiveItem],
    /// Per task.
    counts: Vec<bool>,
}

impl<'a> Bounded<'a> {
    fn of(objective: Objective, scenario: &'a Scenario, lower: &'a Lower<'a>) -> Self {
        let items = items(objective, scenario);
        let mut counts = counted(items, scenario.tasks.tasks().len());
        if objective == Objective::Throughput {
            // Only what carries bytes.
            let tasks = (0..).map(TaskId);
            counts.iter_mut().zip(tasks).for_each(|(counts, task)| *counts &= carried(scenario, task) > 0.0);
        }
        Self { objective, scenario, lower, items, counts }
    }

    fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        (0..).map(TaskId).zip(&self.counts).filter(|(_, counts)| **counts).map(|(task, _)| task)
    }

    fn critical_path(&self) -> f64 {
        let end = |tasks: &mut dyn Iterator<Item = TaskId>| {
            tasks.map(|task| self.lower.ends[task.index()]).fold(0.0, f64::max)
        };
        let ends = self.items.iter().map(|item| item.weight * end(&mut item.tasks()));
        match self.objective {
            Objective::Sum => ends.sum(),
            Objective::Max => ends.fold(0.0, f64::max),
            Objective::Throughput => self.tasks().map(|task| self.lower.least[task.index()]).fold(0.0, f64::max),
            _ => end(&mut self.tasks()),
        }
    }

    /// Of the busiest link and engine; sums and largest of single ends have none.
    fn of_resources(&self) -> Vec<Bound> {
        let Self { objective, scenario, lower, .. } = *self;
        if matches!(objective, Objective::Sum | Objective::Max) {
            return Vec::new();
        }
        let early = objective != Objective::Throughput;
        let name = |node| scenario.node_name(node);
        let busiest = lower.busiest_link(self.tasks(), early).map(|(value, link)| {
            let link = scenario.fabric.link(link);
            Bound::new(value, format!("the busiest link, {} → {}", name(link.from), name(link.to)))
        });
        let mut bounds: Vec<Bound> = busiest.into_iter().collect();
        if lower.placed.as_ref().is_none_or(|devices| lower.moves_whole(devices)) {
            bounds.extend(lower.busiest_engine(self.tasks(), early).map(|v| Bound::new(v, "the busiest engine")));
        }
        bounds
    }

    /// What a time means for the objective. Times are whole picoseconds.
    fn of_objective(&self, ps: f64) -> f64 {
        match self.objective {
            Objective::Throughput => ps / self.tasks().map(|task| carried(self.scenario, task)).sum::<f64>(),
            Objective::Sum | Objective::Max => ps - 0.5,
            _ => ps.ceil(),
        }
    }
}

fn carried(scenario: &Scenario, task: TaskId) -> f64 {
    match scenario.tasks.tasks()[task.index()].work {
        Work::Carries { bytes, .. } => bytes as f64,
        _ => 0.0,
    }
}

/// What tasks take at least.
struct Lower<'a> {
    scenario: &'a Scenario,
    /// The devices that ranks may be placed on, where their places vary.
    placed: Option<Vec<NodeId>>,
    /// Per task: its least time on its engine, ps.
    least: Vec<f64>,
    /// Per task: when what it waits for can have happened, ps.
    readies: Vec<f64>,
    /// Per task: when it can have ended, ps.
    ends: Vec<f64>,
}

impl<'a> Lower<'a> {
    /// None where candidates may have other tasks than the scenario that was read.
    fn new(scenario: &'a Scenario, candidates: &Candidates<'_>) -> Option<Self> {
        // What models plan depends on the devices.
        if candidates.ranks.is_some() && !scenario.operations.is_empty() {
            return None;
        }
        // Values may have changed the topology.
        let named = candidates.ranks.as_ref().map(|ranks| ranks.device_names());
        let placed: Option<Vec<NodeId>> = match named {
            Some(mut names) => Some(names.try_fold(Vec::new(), |mut all, name| {
                all.push(scenario.node(name)?);
                Some(all)
            })?),
            None => None,
        };
        let widest = placed.as_ref().map_or(0.0, |devices| widest(scenario, devices));
        let tasks = scenario.tasks.tasks();
        let least: Vec<f64> = tasks.iter().map(|task| least(scenario, task.work, widest)).collect();
        let readies = tasks.iter().map(|task| task.start.0 as f64).collect();
        let ends = vec![0.0; tasks.len()];
        let mut lower = Self { scenario, placed, least, readies, ends };
        lower.along_waits();
        Some(lower)
    }

    /// Fills in when tasks can be ready and have ended, those that wait for nothing first.
    fn along_waits(&mut self) {
        let graph = &self.scenario.tasks;
        let order = graph.along_waits();
        let mut before = vec![Vec::new(); order.len()];
        for id in (0..order.len() as u32).map(TaskId) {
            graph.successors(id).iter().for_each(|next| before[next.index()].push(id));
        }
        let engines = self.placed.as_ref().is_none_or(|devices| self.moves_whole(devices));
        for id in order {
            let ended = self.all_ended(&before[id.index()], engines);
            let start = self.readies[id.index()].max(ended);
            let end = start + self.least[id.index()] + self.latency(id);
            (self.readies[id.index()], self.ends[id.index()]) = (start, end);
            let at_end = graph.successors(id).iter().map(|next| (next, end));
            let at_start = graph.start_successors(id).iter().map(|next| (next, start));
            for (next, time) in at_end.chain(at_start) {
                self.readies[next.index()] = self.readies[next.index()].max(time);
            }
        }
    }

    /// When several tasks can have ended whose own times are known, by the link and the engine that they keep busy longest.
    fn all_ended(&self, tasks: &[TaskId], engines: bool) -> f64 {
        if tasks.len() < 2 {
            return 0.0;
        }
        let link = self.busiest_link(tasks.iter().copied(), true).map_or(0.0, |(time, _)| time);
        let engine = if engines { self.busiest_engine(tasks.iter().copied(), true) } else { None };
        link.max(engine.unwrap_or(0.0))
    }

    /// What follows the last byte of a transfer; nothing where its route is not known.
    fn latency(&self, task: TaskId) -> f64 {
        match self.scenario.tasks.tasks()[task.index()].work {
            Work::Carries { class, .. } if self.placed.is_none() => {
                self.scenario.routes.latency(self.scenario.tasks.classes().route(class)).0 as f64
            }
            _ => 0.0,
        }
    }

    /// The link that is busy longest of some tasks, and until when; from the time on that the first of them is ready, if
    /// `early`.
    fn busiest_link(&self, of: impl Iterator<Item = TaskId>, early: bool) -> Option<(f64, LinkId)> {
        if self.placed.is_some() {
            return None;
        }
        let Scenario { tasks, routes, fabric, .. } = self.scenario;
        let mut loads: BTreeMap<LinkId, (f64, f64)> = BTreeMap::new();
        for id in of {
            let Work::Carries { class, .. } = tasks.tasks()[id.index()].work else { continue };
            for (link, share) in shares(fabric, routes.links(tasks.classes().route(class))) {
                let (bytes, ready) = loads.entry(link).or_insert((0.0, f64::INFINITY));
                *bytes += share * carried(self.scenario, id);
                *ready = ready.min(self.readies[id.index()]);
            }
        }
        let busy = loads.into_iter().filter(|(_, (bytes, _))| *bytes > 0.0).map(|(link, (bytes, ready))| {
            let time = bytes * PS_PER_S as f64 / fabric.link(link).bandwidth;
            (if early { ready + time } else { time }, link)
        });
        busy.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Until when the engine is busy that is busy longest of some tasks.
    fn busiest_engine(&self, of: impl Iterator<Item = TaskId>, early: bool) -> Option<f64> {
        let graph = &self.scenario.tasks;
        let mut loads: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (id, engine) in of.map(|id| (id, graph.tasks()[id.index()].engine)).filter(|(_, e)| *e != EngineId::NONE) {
            let (time, ready) = loads.entry(engine.0).or_insert((0.0, f64::INFINITY));
            *time += self.least[id.index()];
            *ready = ready.min(self.readies[id.index()]);
        }
        // A rank may be on a device with other slots.
        let most = graph.engines().iter().map(|engine| engine.slots).max().unwrap_or(1);
        let busy = loads.into_iter().filter(|(_, (time, _))| *time > 0.0).map(|(engine, (time, ready))| {
            let slots = if self.placed.is_some() { most } else { graph.engines()[engine as usize].slots };
            let time = time / f64::from(slots.max(1));
            if early { ready + time } else { time }
        });
        busy.max_by(f64::total_cmp)
    }

    /// Whether engines are known although the placement varies: each candidate device sends, and everything goes from rank
    /// to rank, so that what is queued together stays together.
    fn moves_whole(&self, devices: &[NodeId]) -> bool {
        let sources = self.scenario.sources();
        let sends = |device: &NodeId| sources.iter().any(|source| source.device == *device);
        self.scenario.rank_traffic().fixed.is_none() && devices.iter().all(sends)
    }
}

/// The least time of a task, ps. `widest` is a rate that its route may have where it is placed elsewhere.
fn least(scenario: &Scenario, work: Work, widest: f64) -> f64 {
    match work {
        Work::Nothing { .. } => 0.0,
        Work::Lasts(time) => time.0 as f64,
        Work::Carries { bytes, class } => {
            let Scenario { tasks, routes, fabric, .. } = scenario;
            let links = shares(fabric, routes.links(tasks.classes().route(class)));
            let rates = links.into_iter().map(|(link, share)| fabric.link(link).bandwidth / share);
            let own = rates.fold(f64::INFINITY, f64::min).max(widest);
            bytes as f64 * PS_PER_S as f64 / own.min(tasks.classes().limit(class))
        }
    }
}

/// The most that goes into or out of one of some devices, bytes per second.
fn widest(scenario: &Scenario, devices: &[NodeId]) -> f64 {
    let links = scenario.fabric.links();
    let of = |device: NodeId| {
        let sum = |end: fn(&weir_sim_core::Link) -> NodeId| {
            links.iter().filter(|link| end(link) == device).map(|link| link.bandwidth).sum::<f64>()
        };
        sum(|link| link.from).max(sum(|link| link.to))
    };
    devices.iter().map(|&device| of(device)).fold(0.0, f64::max)
}
