//! `vary: placement`: which device each rank runs on.

use std::collections::BTreeMap;

use weir_optimize::Distribution;
use weir_optimize::placement::{
    Effort, Machine, Measured, Method as Way, Options, Pattern, Placement, PlacementError, SimulatedError,
    objective as place_value, payback, refine_simulated, search as place,
};
use weir_optimize::search::{MOST_EXHAUSTIVE, Method, Objective, SearchResult, Vary, best_of};
use weir_plugin_api::NodeId;
use weir_report::{SearchReport, Solution, text};
use weir_scenario::{Change, MeasuredMatrix, OptimizeSpec, Scenario};

use super::context::{Runs, SearchContext, too_soon};
use super::outcome::{SearchOutcome, report};
use crate::Error;

/// Ranks, devices, and what is sent between them.
struct Task<'a> {
    context: &'a SearchContext<'a>,
    pattern: Pattern,
    devices: Vec<NodeId>,
    level_costs: Option<&'a [f64]>,
    matrix: Option<&'a MeasuredMatrix>,
}

/// What a search for a placement found.
struct Placed {
    placement: Vec<usize>,
    before: f64,
    after: f64,
    method: Method,
    evaluated: u128,
    complete: bool,
    proved: bool,
    distribution: Option<Distribution>,
}

/// Searches for the best placement.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let task = Task::new(context)?;
    let subject = context.subject()?;
    let objective = context.settings.objective;
    let placed = match (objective, context.settings.method) {
        (Objective::Makespan, Method::Exhaustive) => task.all()?,
        (Objective::Makespan, _) => task.simulated()?,
        _ => task.by_costs(objective)?,
    };
    let wall_s = context.wall();
    let placed = task.as_it_is(placed)?;
    let makespans = match objective {
        Objective::Makespan => Some((placed.before as u64, placed.after as u64)),
        _ => task.makespans(&placed.placement)?,
    };
    context.watch.finish();
    let names = task.names(&placed.placement);
    let changes = vec![Change::Ranks(names.clone())];
    let distribution = placed.distribution.clone();
    let result = SearchResult { wall_s, ..task.result(placed, Solution::Placement(names)) };
    let simulated = makespans.filter(|_| objective != Objective::Makespan);
    let payback = wall_s.zip(makespans).and_then(|(wall, (before, after))| payback(wall, before, after));
    let report = SearchReport { simulated, payback, distribution, ..report(subject, result) };
    Ok(SearchOutcome::whole(report, changes))
}

impl<'a> Task<'a> {
    fn new(context: &'a SearchContext<'a>) -> Result<Self, Error> {
        let scenario = context.scenario;
        let traffic = scenario.rank_traffic();
        let Some(ranks) = scenario.ranks.as_deref().filter(|_| !traffic.messages.is_empty()) else {
            let message = "nothing is sent from rank to rank, so there is nothing to place: \
                           use a pattern, or transfers `from: { rank: 0 }`";
            return Err(Error::input(format!("{}: {message}", scenario.file)));
        };
        if let Some(position) = &traffic.fixed {
            let what = "this is sent between devices that are named, wherever the ranks are placed";
            context.watch.warn(&format!("{position}: {what}"));
        }
        let spec = scenario.optimize.as_ref().filter(|spec| spec.vary == Vary::Placement);
        let devices = devices(ranks, spec);
        let messages = traffic.messages.iter().map(|&(from, to, bytes)| (from as usize, to as usize, bytes));
        let pattern = Pattern::new(ranks.len(), messages, traffic.unit.unwrap_or(1).max(1));
        let pattern = pattern.map_err(|error| refused(scenario, &devices, &error))?;
        if ranks.len() > devices.len() {
            let error = PlacementError::TooFewDevices { ranks: ranks.len(), devices: devices.len() };
            return Err(refused(scenario, &devices, &error));
        }
        let relative = matches!(context.settings.objective, Objective::Latency | Objective::Bandwidth);
        if let Some(missing) = ranks.iter().find(|rank| relative && !devices.contains(rank)) {
            let name = scenario.node_name(*missing);
            let message = format!(
                "a rank runs on `{name}`, which is not among `devices`: this objective is relative to the devices that are \
                 listed, so list `{name}` too"
            );
            return Err(Error::input(format!("{}: {message}", scenario.file)));
        }
        let level_costs = spec.and_then(|spec| spec.level_costs.as_deref());
        let own = spec.filter(|spec| spec.objective == context.settings.objective);
        let matrix = own.and_then(|spec| spec.matrix.as_ref());
        Ok(Self { context, pattern, devices, level_costs, matrix })
    }

    fn refused(&self, error: &PlacementError) -> Error {
        refused(self.context.scenario, &self.devices, error)
    }

    /// The costs of pairs of devices.
    fn machine(&self, objective: Objective) -> Result<Machine, PlacementError> {
        let fabric = &self.context.scenario.fabric;
        if let Some(matrix) = self.matrix.filter(|_| objective == self.context.settings.objective) {
            return measured(matrix, &self.devices, objective);
        }
        match objective {
            Objective::Makespan | Objective::Distance => Machine::distance(fabric, &self.devices, self.level_costs),
            Objective::Latency => Machine::latency(fabric, &self.devices),
            Objective::Bandwidth => Machine::bandwidth(fabric, &self.devices),
        }
    }

    fn placed(&self, objective: Objective, method: Way) -> Result<Placement, PlacementError> {
        let stop = || self.context.cancelled();
        // Whoever names a budget has time for more than the quickest search.
        let effort = self.context.settings.budget.map(|_| Effort::THOROUGH);
        let options = Options { method, effort, seed: 0, stop: &stop };
        place(&self.pattern, &self.machine(objective)?, options)
    }

    /// By the costs of pairs of devices.
    fn by_costs(&self, objective: Objective) -> Result<Placed, Error> {
        let way = match self.context.settings.method {
            Method::Exhaustive => Way::Exact,
            Method::Bisection => Way::Bisection,
            _ => Way::Auto,
        };
        let found = self.placed(objective, way).map_err(|error| self.refused(&error))?;
        let exact = found.method == Way::Exact;
        // Exact search weighs sets of ranks, not placements: it knows the values of the first and of the best.
        let ends = if found.placement.is_sorted() { 1 } else { 2 };
        Ok(Placed {
            placement: found.placement,
            before: found.before,
            after: found.after,
            method: if exact { Method::Exhaustive } else { Method::Bisection },
            evaluated: if exact { ends } else { found.evaluated.into() },
            complete: found.complete,
            proved: found.proved_optimal,
            distribution: None,
        })
    }

    /// By the makespan, refined from the best placements by costs.
    fn simulated(&self) -> Result<Placed, Error> {
        // A machine without latencies, say, gives no start; the others do.
        let by = [Objective::Distance, Objective::Latency, Objective::Bandwidth];
        let starts = by.iter().filter_map(|&objective| Some(self.placed(objective, Way::Auto).ok()?.placement));
        let starts: Vec<Vec<usize>> = starts.collect();
        let (stop, trials) = (|| self.context.cancelled(), self.trials());
        let evaluate = |placement: &[usize]| match trials.makespan(placement) {
            Err(_) if stop() => Ok(u64::MAX),
            made => made,
        };
        let (ranks, devices) = (self.pattern.ranks(), self.devices.len());
        let found = refine_simulated(ranks, devices, &starts, u64::MAX, evaluate, &stop);
        let found = found.map_err(|error| match error {
            SimulatedError::Placement(error) => self.refused(&error),
            SimulatedError::Evaluation(failure) => failure,
        })?;
        if found.before_ps == u64::MAX {
            return Err(too_soon());
        }
        Ok(Placed {
            placement: found.placement,
            before: found.before_ps as f64,
            after: found.after_ps as f64,
            method: Method::Bisection,
            evaluated: found.evaluated.into(),
            complete: found.complete && !stop(),
            proved: false,
            distribution: None,
        })
    }

    /// By the makespan of every placement.
    fn all(&self) -> Result<Placed, Error> {
        let trials = self.trials();
        let count = self.count().filter(|&count| count <= MOST_EXHAUSTIVE).ok_or_else(|| {
            let count = self.count().map_or_else(|| "more than 2^128".to_owned(), |count| count.to_string());
            let message =
                format!("there are {count} placements, more than the {MOST_EXHAUSTIVE} that are simulated one by");
            Error::input(format!("{message} one: use `--method bisection`"))
        })?;
        let mut makespans = Vec::new();
        let value = |number| trials.makespan(&trials.placement(number)).map(|makespan| makespan as f64);
        let best = best_of(count, value, self.context.cancel, |makespan| makespans.push(makespan as u64))?;
        let best = best.ok_or_else(too_soon)?;
        let complete = best.complete && best.evaluated == count;
        Ok(Placed {
            placement: trials.placement(best.number),
            before: makespans.first().map_or(best.value, |&before| before as f64),
            after: best.value,
            method: Method::Exhaustive,
            evaluated: best.evaluated,
            complete,
            proved: complete,
            distribution: Some(makespans.into_iter().collect()),
        })
    }

    fn trials(&self) -> Trials<'_> {
        let name = |&device: &NodeId| self.context.scenario.node_name(device).to_owned();
        let names = self.devices.iter().map(name).collect();
        Trials { runs: self.context.runs(), names, ranks: self.pattern.ranks() }
    }

    /// Number of placements; none above 2^128.
    fn count(&self) -> Option<u128> {
        let (ranks, devices) = (self.pattern.ranks(), self.devices.len());
        (0..ranks).try_fold(1_u128, |all, rank| all.checked_mul((devices - rank) as u128))
    }

    /// Whether rank i runs on the i-th device as it is: unless a rank runs on a device that may not be chosen.
    fn begins_as_it_is(&self) -> bool {
        self.context.scenario.ranks.as_deref().is_some_and(|ranks| self.devices.starts_with(ranks))
    }

    /// With the value of the scenario as it is, where the search cannot know it.
    fn as_it_is(&self, placed: Placed) -> Result<Placed, Error> {
        if self.begins_as_it_is() {
            return Ok(placed);
        }
        let before = match (self.context.settings.objective, self.context.scenario.ranks.as_deref()) {
            (Objective::Distance, Some(ranks)) => {
                let machine = Machine::distance(&self.context.scenario.fabric, ranks, self.level_costs);
                let own: Vec<usize> = (0..ranks.len()).collect();
                machine.and_then(|m| place_value(&self.pattern, &m, &own)).map_err(|error| self.refused(&error))?
            }
            _ => self.context.baseline()? as f64,
        };
        Ok(Placed { before, ..placed })
    }

    /// Makespans as it is and with a placement, ps; none when the search must end.
    fn makespans(&self, placement: &[usize]) -> Result<Option<(u64, u64)>, Error> {
        let trials = self.trials();
        match self.context.baseline().and_then(|before| Ok((before, trials.makespan(placement)?))) {
            Ok(both) => Ok(Some(both)),
            Err(_) if self.context.cancelled() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn names(&self, placement: &[usize]) -> Vec<String> {
        placement.iter().map(|&at| self.context.scenario.node_name(self.devices[at]).to_owned()).collect()
    }

    fn result(&self, placed: Placed, solution: Solution) -> SearchResult<Solution> {
        let makespans = placed.distribution.unwrap_or_default();
        let result = SearchResult {
            candidates: self.count(),
            evaluated: placed.evaluated,
            complete: placed.complete,
            proved_optimal: placed.proved,
            objective: self.context.settings.objective,
            bound: placed.proved.then_some(placed.after),
            ..SearchResult::new(Vary::Placement, placed.method, placed.before, placed.after, solution)
        };
        result.with_statistics(&makespans)
    }
}

/// Costs by what was measured: a latency over the longest of the devices', the lowest bandwidth of the devices' over a pair's.
fn measured(matrix: &MeasuredMatrix, devices: &[NodeId], objective: Objective) -> Result<Machine, PlacementError> {
    let place: BTreeMap<NodeId, usize> = matrix.devices.iter().enumerate().map(|(at, &device)| (device, at)).collect();
    let at: Vec<usize> = devices.iter().filter_map(|device| place.get(device).copied()).collect();
    let mut rows: Vec<Vec<f64>> = at.iter().map(|&a| at.iter().map(|&b| matrix.rows[a][b]).collect()).collect();
    if objective == Objective::Bandwidth {
        return Machine::measured(&rows, Measured::Bandwidth);
    }
    let pair = |a: usize, b: usize| f64::midpoint(rows[a][b], rows[b][a]);
    let longest = (0..at.len()).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| pair(a, b)).fold(0.0, f64::max);
    if longest > 0.0 {
        rows.iter_mut().flatten().for_each(|latency| *latency /= longest);
    }
    Machine::measured(&rows, Measured::Cost)
}

/// The devices to choose from: the ranks' own first, so that rank i on device i is the scenario as it is.
fn devices(ranks: &[NodeId], spec: Option<&OptimizeSpec>) -> Vec<NodeId> {
    match spec.and_then(|spec| spec.devices.as_deref()) {
        None => ranks.to_vec(),
        Some(given) if ranks.iter().all(|rank| given.contains(rank)) => {
            let others = given.iter().copied().filter(|device| !ranks.contains(device));
            ranks.iter().copied().chain(others).collect()
        }
        Some(given) => given.to_vec(),
    }
}

/// Every placement in lexicographic order, simulated.
struct Trials<'a> {
    runs: Runs<'a>,
    names: Vec<String>,
    ranks: usize,
}

impl Trials<'_> {
    fn makespan(&self, placement: &[usize]) -> Result<u64, Error> {
        let devices: Vec<String> = placement.iter().map(|&at| self.names[at].clone()).collect();
        self.runs.makespan(&[("ranks".to_owned(), text::list(&devices))])
    }

    /// The placement of a number: mixed radix, rank 0 most significant, by the devices that are left.
    fn placement(&self, number: u128) -> Vec<usize> {
        let (mut left, mut digits) = (number, Vec::with_capacity(self.ranks));
        for rank in (0..self.ranks).rev() {
            let radix = (self.names.len() - rank) as u128;
            digits.push((left % radix) as usize);
            left /= radix;
        }
        let mut free: Vec<usize> = (0..self.names.len()).collect();
        digits.into_iter().rev().map(|digit| free.remove(digit)).collect()
    }
}

/// An error of the search, with the names of the devices.
fn refused(scenario: &Scenario, devices: &[NodeId], error: &PlacementError) -> Error {
    let name = |at: usize| devices.get(at).map_or("?", |&device| scenario.node_name(device));
    let text = match *error {
        PlacementError::DeviceTwice { second, .. } => {
            format!("`{}` is listed twice, but each device takes one rank: name different devices", name(second))
        }
        PlacementError::NoRoute { first, second } => {
            let (first, second) = (name(first), name(second));
            format!("no route joins `{first}` and `{second}`: join them by links, or use the objective `distance`")
        }
        _ => error.to_string(),
    };
    Error::input(format!("{}: {text}", scenario.file))
}
