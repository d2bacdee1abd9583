//! The candidates of a search in the names of its scenario.

use std::collections::BTreeMap;

use weir_optimize::joint::{Candidate, Space};
use weir_report::{Solution, text};
use weir_scenario::{Change, Parameter, Scenario};
use weir_sim_core::TaskId;

use super::super::context::SearchContext;
use super::super::placement::RankPlacement;
use crate::Error;

/// Where what a source sends stands in the baseline: stage of a source, and place.
pub(super) type OwnPlace = (usize, usize);

/// What varies, by name.
pub(super) struct Candidates<'a> {
    context: &'a SearchContext<'a>,
    pub(super) space: Space,
    /// Where orders vary: the own place of everything that a source of several sends, by name.
    places: BTreeMap<String, OwnPlace>,
    /// Where the placement varies.
    pub(super) ranks: Option<RankPlacement<'a>>,
    /// Where parameters vary, with their values.
    pub(super) axes: Vec<(&'a Parameter, Vec<String>)>,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(context: &'a SearchContext<'a>) -> Result<Self, Error> {
        let kinds = context.settings.vary.kinds();
        let sent = if kinds.order { sent(context.scenario, kinds.parameters) } else { Vec::new() };
        let spec = context.scenario.optimize.as_ref();
        let parameters = spec.filter(|_| kinds.parameters).map_or(&[][..], |spec| &spec.parameters);
        let axes: Vec<_> = parameters.iter().map(|parameter| (parameter, parameter.values())).collect();
        if kinds.parameters {
            super::super::parameters::usable(parameters)?;
        }
        let ranks = kinds.placement.then(|| RankPlacement::new(context)).transpose()?;
        let space = Space {
            sources: sent.iter().map(Vec::len).collect(),
            ranks: ranks.as_ref().map_or(0, RankPlacement::ranks),
            devices: ranks.as_ref().map_or(0, |ranks| ranks.devices.len()),
            axes: axes.iter().map(|(_, values)| values.len()).collect(),
        };
        let of = |(source, names): (usize, Vec<String>)| {
            names.into_iter().enumerate().map(move |(place, name)| (name, (source, place)))
        };
        let places: BTreeMap<String, OwnPlace> = sent.into_iter().enumerate().flat_map(of).collect();
        if kinds.order && places.is_empty() && !kinds.placement && !kinds.parameters {
            let what = "no device sends several transfers one after another, so there is no order to search";
            return Err(Error::input(format!("{}: {what}", context.scenario.file)));
        }
        Ok(Self { context, space, places, ranks, axes })
    }

    /// The baseline; none where that is no candidate.
    pub(super) fn own(&self) -> Option<Candidate> {
        let placed = self.ranks.as_ref().is_none_or(RankPlacement::begins_as_it_is);
        let values: Option<Vec<usize>> = self.axes.iter().map(own_value).collect();
        values.filter(|_| placed).map(|values| Candidate { values, ..self.space.first() })
    }

    /// Where chains of moves begin: the baseline, or what is closest to it, then the best placements by costs.
    pub(super) fn starts(&self) -> Vec<Candidate> {
        let values = self.axes.iter().map(|axis| own_value(axis).unwrap_or(0)).collect();
        let own = Candidate { values, ..self.space.first() };
        let placements = self.ranks.as_ref().map_or_else(Vec::new, RankPlacement::best_by_costs);
        let mut starts = vec![own.clone()];
        for placement in placements {
            let start = Candidate { placement, ..own.clone() };
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        starts
    }

    /// What makes a candidate of the scenario, apart from orders: edits as `--set` takes them.
    pub(super) fn edits(&self, candidate: &Candidate) -> Vec<(String, String)> {
        let mut edits = self.values(candidate);
        if let Some(ranks) = &self.ranks {
            edits.push(("ranks".to_owned(), text::list(&ranks.names(&candidate.placement))));
        }
        if !self.places.is_empty() && !edits.is_empty() {
            // Those of the file name what devices send as the ranks are; a candidate has its own.
            edits.push(("order".to_owned(), "{}".to_owned()));
        }
        edits
    }

    /// The values and ranks of a candidate, by which messages name it.
    pub(super) fn named_edits(&self, candidate: &Candidate) -> Vec<(String, String)> {
        let ranks = self.ranks.as_ref().map(|ranks| text::list(&ranks.names(&candidate.placement)));
        self.values(candidate).into_iter().chain(ranks.map(|ranks| ("ranks".to_owned(), ranks))).collect()
    }

    fn values(&self, candidate: &Candidate) -> Vec<(String, String)> {
        let axes = self.axes.iter().zip(&candidate.values);
        axes.map(|((parameter, values), &at)| (parameter.path.clone(), values[at].clone())).collect()
    }

    /// The own place of what a task is part of; none where the baseline does not order it.
    pub(super) fn place(&self, scenario: &Scenario, task: TaskId) -> Option<OwnPlace> {
        self.places.get(&*scenario.order_name(task)).copied()
    }

    /// A candidate in the names of the scenario, and the changes that make it.
    pub(super) fn solution(
        &self,
        context: &SearchContext<'_>,
        candidate: &Candidate,
    ) -> Result<(Solution, Vec<Change>), Error> {
        let kinds = self.context.settings.vary.kinds();
        let parameters = kinds.parameters.then(|| self.values(candidate));
        let placement = self.ranks.as_ref().map(|ranks| ranks.names(&candidate.placement));
        let order = match kinds.order {
            true => Some(super::simulated::Simulated::new(context, self).order(candidate)?),
            false => None,
        };
        let set = parameters.iter().flatten().map(|(path, value)| Change::Set(path.clone(), value.clone()));
        let ranks = placement.iter().map(|names| Change::Ranks(names.clone()));
        let orders = order.iter().map(|order| Change::Order(order.clone()));
        let changes = set.chain(ranks).chain(orders).collect();
        Ok((Solution { order, placement, parameters }, changes))
    }
}

/// The place of the value that the scenario has among those of a parameter.
fn own_value((parameter, values): &(&Parameter, Vec<String>)) -> Option<usize> {
    values.iter().position(|value| Some(value) == parameter.own.as_ref())
}

/// What each device sends that sends several, by name, in its order as it is, stage after stage. Where values vary, waits may,
/// so that all is one stage.
fn sent(scenario: &Scenario, waits_vary: bool) -> Vec<Vec<String>> {
    let names = |tasks: &[TaskId]| {
        let mut names: Vec<String> = tasks.iter().map(|&task| scenario.order_name(task).into_owned()).collect();
        names.dedup();
        names
    };
    let sources = scenario.sources();
    let stages = match waits_vary {
        true => sources.into_iter().map(|source| vec![source.tasks]).collect(),
        false => scenario.stages(&sources),
    };
    let named = stages.iter().map(|stages| stages.iter().map(|tasks| names(tasks)).collect::<Vec<_>>());
    named.filter(|stages| stages.iter().map(Vec::len).sum::<usize>() > 1).flatten().collect()
}
