//! Which device each rank runs on, by the costs of pairs of devices; and what searches that simulate begin from.

use std::collections::BTreeMap;

use weir_optimize::joint::Space;
use weir_optimize::placement::{
    Effort, Machine, Measured, Options, Pattern, Placement, PlacementError, objective as place_value, payback,
    search as by_costs,
};
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_plugin_api::NodeId;
use weir_report::{SearchReport, Solution, text};
use weir_scenario::{Change, MeasuredMatrix, OptimizeSpec, Scenario};

use super::context::{SearchContext, unchanging};
use super::outcome::{SearchOutcome, report};
use crate::Error;

/// Ranks, devices, and what is sent between them.
pub(super) struct RankPlacement<'a> {
    context: &'a SearchContext<'a>,
    pattern: Pattern,
    /// The devices to choose from: those of the ranks first, where they are among them.
    pub(super) devices: Vec<NodeId>,
    level_costs: Option<&'a [f64]>,
    matrix: Option<&'a MeasuredMatrix>,
}

/// Searches for the placement of least cost.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    unchanging(context)?;
    let ranks = RankPlacement::new(context)?;
    let subject = context.subject()?;
    let result = ranks.search()?;
    let wall_s = context.wall();
    let baseline = ranks.baseline(result.baseline)?;
    let simulated = ranks.makespans(&result.solution)?;
    context.options.watch.finish();
    let names = ranks.names(&result.solution);
    let changes = vec![Change::Ranks(names.clone())];
    let result = SearchResult { wall_s, baseline, ..result }.with_solution(Solution::of_placement(names));
    let payback = wall_s.zip(simulated).and_then(|(wall, (before, after))| payback(wall, before, after));
    let simulated = simulated.map(|(before, after)| (Some(before), after));
    let report = SearchReport { simulated, payback, ..report(subject, result) };
    Ok(SearchOutcome::whole(report, changes))
}

impl<'a> RankPlacement<'a> {
    pub(super) fn new(context: &'a SearchContext<'a>) -> Result<Self, Error> {
        let scenario = context.scenario;
        let traffic = scenario.rank_traffic();
        // Whatever runs on a rank is seen when it is simulated.
        let simulated = context.settings.simulated;
        let moves = !traffic.messages.is_empty() || simulated && traffic.uses_ranks;
        let Some(ranks) = scenario.ranks.as_deref().filter(|_| moves) else {
            let message = "nothing is sent from rank to rank, so there is nothing to place: \
                           use a pattern, or transfers `from: { rank: 0 }`";
            return Err(Error::input(format!("{}: {message}", scenario.file)));
        };
        if let Some(position) = traffic.fixed.as_ref().filter(|_| !simulated) {
            let what = "this is sent between devices that are named, wherever the ranks are placed";
            context.options.watch.warn(&format!("{position}: {what}"));
        }
        let spec = scenario.optimize.as_ref().filter(|spec| spec.vary.has(Vary::Placement));
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

    /// The costs of pairs of devices; refused where the objective is a latency and there is none.
    fn machine(&self, objective: Objective) -> Result<Machine, PlacementError> {
        let machine = self.costs(objective)?;
        let counts = objective == self.context.settings.objective;
        if counts && objective == Objective::Latency && machine.is_free() {
            Err(PlacementError::NoLatencies)
        } else {
            Ok(machine)
        }
    }

    fn costs(&self, objective: Objective) -> Result<Machine, PlacementError> {
        let fabric = &self.context.scenario.fabric;
        if let Some(matrix) = self.matrix.filter(|_| objective == self.context.settings.objective) {
            return measured(matrix, &self.devices, objective);
        }
        match objective {
            Objective::Latency => Machine::latency(fabric, &self.devices),
            Objective::Bandwidth => Machine::bandwidth(fabric, &self.devices),
            _ => self.distance(&self.devices),
        }
    }

    /// Costs by distance: those of the devices to choose from and those of the ranks' own are on one scale.
    fn distance(&self, devices: &[NodeId]) -> Result<Machine, PlacementError> {
        let ranks = self.context.scenario.ranks.as_deref().unwrap_or_default();
        let all = [&self.devices, ranks].concat();
        Machine::distance_among(&self.context.scenario.fabric, devices, &all, self.level_costs)
    }

    /// How many ranks there are.
    pub(super) fn ranks(&self) -> usize {
        self.pattern.ranks()
    }

    /// The names of the devices to choose from.
    pub(super) fn device_names(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|&device| self.context.scenario.node_name(device))
    }

    fn search(&self) -> Result<SearchResult<Vec<usize>>, Error> {
        let SearchContext { settings, .. } = *self.context;
        let found = self.best(settings.objective, settings.method).map_err(|error| self.refused(&error))?;
        let Placement { before, after, placement, .. } = found;
        Ok(SearchResult {
            candidates: Space { ranks: self.ranks(), devices: self.devices.len(), ..Space::default() }.candidates(),
            objective: settings.objective,
            evaluated: found.evaluated.into(),
            complete: found.complete,
            proved_optimal: found.proved_optimal,
            bound: found.proved_optimal.then_some(after),
            ..SearchResult::new(Vary::Placement, found.method, before, after, placement)
        })
    }

    /// The best placements by each cost that the topology has.
    pub(super) fn best_by_costs(&self) -> Vec<Vec<usize>> {
        let by = [Objective::Distance, Objective::Latency, Objective::Bandwidth];
        // A machine without latencies, say, gives none; the others do.
        by.iter().filter_map(|&objective| Some(self.best(objective, Method::Auto).ok()?.placement)).collect()
    }

    fn best(&self, objective: Objective, method: Method) -> Result<Placement, PlacementError> {
        // Whoever names a budget has time for more than the quickest search.
        let effort = self.context.options.budget.map(|_| Effort::THOROUGH);
        let options = Options { method, effort, seed: self.context.options.seed, stop: &|| self.context.cancelled() };
        by_costs(&self.pattern, &self.machine(objective)?, options)
    }

    /// Makespan with a placement, ps.
    fn makespan(&self, placement: &[usize]) -> Result<u64, Error> {
        self.context.runs().makespan(&[("ranks".to_owned(), text::list(&self.names(placement)))])
    }

    /// Whether rank i runs on the i-th device as it is: unless a rank runs on a device that may not be chosen.
    pub(super) fn begins_as_it_is(&self) -> bool {
        self.context.scenario.ranks.as_deref().is_some_and(|ranks| self.devices.starts_with(ranks))
    }

    /// The value of the baseline, where the search cannot know it; else what it `found`.
    fn baseline(&self, found: f64) -> Result<f64, Error> {
        if self.begins_as_it_is() {
            return Ok(found);
        }
        match (self.context.settings.objective, self.context.scenario.ranks.as_deref()) {
            (Objective::Distance, Some(ranks)) => {
                let own: Vec<usize> = (0..ranks.len()).collect();
                self.distance(ranks)
                    .and_then(|m| place_value(&self.pattern, &m, &own))
                    .map_err(|error| self.refused(&error))
            }
            _ => Ok(self.context.baseline()? as f64),
        }
    }

    /// Makespans of the baseline and of a placement, ps; none when the search must end.
    fn makespans(&self, placement: &[usize]) -> Result<Option<(u64, u64)>, Error> {
        match self.context.baseline().and_then(|before| Ok((before, self.makespan(placement)?))) {
            Ok(both) => Ok(Some(both)),
            Err(_) if self.context.cancelled() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The names of the devices of a placement.
    pub(super) fn names(&self, placement: &[usize]) -> Vec<String> {
        placement.iter().map(|&at| self.context.scenario.node_name(self.devices[at]).to_owned()).collect()
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

/// The devices to choose from: the ranks' own first, so that rank i on device i is the baseline.
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
