//! What a candidate takes: the scenario with its values and ranks is read, its devices send in its order, and it runs.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use weir_optimize::joint::{Candidate, Evaluate};
use weir_plugin_api::NodeId;
use weir_report::StoppedCandidates;
use weir_scenario::Scenario;
use weir_sim_core::{Outcome, TaskId};

use super::super::context::SearchContext;
use super::super::goal::value_of;
use super::super::parameters::named;
use super::candidates::{Candidates, OwnPlace};
use crate::{Error, ErrorKind};

/// Simulates candidates.
pub(super) struct Simulated<'a> {
    context: &'a SearchContext<'a>,
    candidates: &'a Candidates<'a>,
    /// How many were, for the line of progress.
    done: AtomicU64,
    stopped: Mutex<Stopped>,
}

/// Candidates that do not run to their end.
#[derive(Default)]
struct Stopped {
    /// Their digests: a candidate counts once.
    candidates: HashSet<u128>,
    /// The first in the order of candidates, and why.
    first: Option<(Candidate, String)>,
}

/// A scenario that was read for a candidate: the next may differ in its order alone.
pub(super) struct Kept {
    placement: Vec<usize>,
    values: Vec<usize>,
    scenario: Scenario,
    sources: Vec<(NodeId, Vec<Placed>)>,
}

/// Why a candidate has no run to the end.
enum Without {
    /// Its order contradicts a wait.
    Contradiction,
    /// A transfer does not allow its places, or its run stops.
    End,
}

/// A transfer of a device, with its place in the baseline.
type Placed = (Option<OwnPlace>, TaskId);

impl<'a> Simulated<'a> {
    pub(super) fn new(context: &'a SearchContext<'a>, candidates: &'a Candidates<'a>) -> Self {
        Self { context, candidates, done: AtomicU64::new(0), stopped: Mutex::default() }
    }

    /// The makespan of a candidate, ps.
    pub(super) fn makespan(&self, candidate: &Candidate) -> Result<u64, Error> {
        let mut kept = None;
        let outcome = self.outcome(&mut kept, candidate)?;
        outcome.map(|(_, outcome)| outcome.makespan.0).map_err(|_| super::too_soon())
    }

    /// The order of a candidate: devices that send several, with what they send.
    pub(super) fn order(&self, candidate: &Candidate) -> Result<Vec<(String, Vec<String>)>, Error> {
        let kept = self.read(candidate)?;
        let of = |(device, tasks): (NodeId, Vec<TaskId>)| {
            let mut ids: Vec<String> = tasks.iter().map(|&t| kept.scenario.order_name(t).into_owned()).collect();
            ids.dedup();
            (ids.len() > 1).then(|| (kept.scenario.node_name(device).to_owned(), ids))
        };
        Ok(kept.ordered(candidate).into_iter().filter_map(of).collect())
    }

    /// The run of a candidate.
    fn outcome<'k>(
        &self,
        kept: &'k mut Option<Kept>,
        candidate: &Candidate,
    ) -> Result<Result<(&'k Scenario, Outcome), Without>, Error> {
        let known = kept.take().filter(|k| k.placement == candidate.placement && k.values == candidate.values);
        let kept = kept.insert(match known {
            Some(known) => known,
            None => match self.read(candidate) {
                Ok(read) => read,
                Err(_) if self.is_refused_by_places(candidate) => return Ok(Err(Without::End)),
                Err(error) => return Err(error),
            },
        });
        if !candidate.order.is_empty() {
            let orders = kept.ordered(candidate);
            if !kept.scenario.reorder(orders) {
                return Ok(Err(Without::Contradiction));
            }
        }
        match self.context.runs().outcome(&kept.scenario) {
            Ok(outcome) => Ok(Ok((&kept.scenario, outcome))),
            Err(error) if error.kind() == ErrorKind::Stopped => {
                self.keep_stopped(candidate, &error);
                Ok(Err(Without::End))
            }
            Err(error) => Err(error),
        }
    }

    fn keep_stopped(&self, candidate: &Candidate, error: &Error) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.candidates.insert(candidate.digest());
        if stopped.first.as_ref().is_none_or(|(first, _)| candidate < first) {
            let edits = self.candidates.named_edits(candidate);
            let values = edits.iter().map(|(path, value)| (path.as_str(), value.as_str()));
            stopped.first = Some((candidate.clone(), named(values, &error.brief())));
        }
    }

    /// The candidates so far that do not run to their end.
    pub(super) fn stopped(&self) -> Option<StoppedCandidates> {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, first) = stopped.first.as_ref()?;
        Some(StoppedCandidates { candidates: stopped.candidates.len() as u64, first: first.clone() })
    }

    /// Whether a candidate that cannot be read could be with the ranks where they are.
    fn is_refused_by_places(&self, candidate: &Candidate) -> bool {
        let own = self.candidates.space.first().placement;
        candidate.placement != own && self.read(&Candidate { placement: own, ..candidate.clone() }).is_ok()
    }

    fn read(&self, candidate: &Candidate) -> Result<Kept, Error> {
        let edits = self.candidates.edits(candidate);
        let scenario = self.context.runs().read(&edits).map_err(|error| self.named(candidate, &error))?;
        let sources = scenario.sources().into_iter().map(|source| {
            let tasks = source.tasks.iter().map(|&task| (self.candidates.place(&scenario, task), task));
            (source.device, tasks.collect())
        });
        let sources = sources.collect();
        Ok(Kept { placement: candidate.placement.clone(), values: candidate.values.clone(), scenario, sources })
    }

    /// An error of a candidate that cannot be read, with its values.
    fn named(&self, candidate: &Candidate, error: &Error) -> Error {
        let edits = self.candidates.named_edits(candidate);
        let values = edits.iter().map(|(path, value)| (path.as_str(), value.as_str()));
        Error::new(error.kind(), format!("candidate {}", named(values, &error.brief())))
    }
}

impl Kept {
    /// What devices send in the order of a candidate. What the baseline does not order comes last.
    fn ordered(&self, candidate: &Candidate) -> Vec<(NodeId, Vec<TaskId>)> {
        let inverse = |order: &Vec<usize>| {
            let mut place = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, &own)| place[own] = at);
            place
        };
        let places: Vec<Vec<usize>> = candidate.order.iter().map(inverse).collect();
        let key = |own: Option<OwnPlace>| own.map_or((usize::MAX, 0), |(source, at)| (source, places[source][at]));
        let sorted = |(device, tasks): &(NodeId, Vec<Placed>)| {
            let mut tasks = tasks.clone();
            // Stable: what belongs together stays in its order.
            tasks.sort_by_key(|&(own, _)| key(own));
            (*device, tasks.into_iter().map(|(_, task)| task).collect())
        };
        self.sources.iter().map(sorted).collect()
    }
}

impl Evaluate for Simulated<'_> {
    type State = Option<Kept>;
    type Error = Error;

    fn start(&self) -> Option<Kept> {
        None
    }

    fn value(&self, kept: &mut Option<Kept>, candidate: &Candidate) -> Result<Option<f64>, Error> {
        let value = match self.outcome(kept, candidate)? {
            Ok((scenario, outcome)) => value_of(self.context, scenario, &outcome),
            Err(Without::Contradiction) => return Ok(None),
            Err(Without::End) => None,
        };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let time = value.filter(|_| self.context.settings.objective.is_time()).map(|value| value as u64);
        self.context.options.watch.progress(done, time);
        Ok(Some(value.unwrap_or(f64::INFINITY)))
    }
}
