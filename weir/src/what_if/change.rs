//! The changes of one target: each is run, and says which links it is about.

use std::collections::BTreeMap;

use rayon::prelude::*;
use weir_plugin_api::{LinkId, SimTime};
use weir_report::{Change, Changed, ChangedLink, LeftOut, SetValue, saved};
use weir_scenario::{Improvement, Resource, Scenario};
use weir_sim_core::{Fabric, Outcome};

use super::cost::Costs;
use super::enough::enough;
use super::runs::Runs;
use super::target::Target;
use crate::widening::{Wider, critical_link};
use crate::{Error, ErrorKind};

/// No limit: the most that the format allows, 10^18 B/s, so a gigabyte takes a nanosecond; a thousandth of it where several
/// links make one.
pub(super) const NO_LIMIT: [Improvement; 2] = [Improvement::Bandwidth("1e9GB/s"), Improvement::Bandwidth("1e6GB/s")];
/// By how much bandwidths grow: a tenth, and twice.
const WIDER: [Improvement; 2] = [Improvement::Times(110), Improvement::Times(200)];
/// Links of a type that a change lists at most; *assumed*, more than a picture shows.
const MOST_LINKS: usize = 1_000;

/// A change that was run.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) improvement: Improvement,
    pub(super) enough: bool,
    pub(super) makespan: SimTime,
    set: Vec<(String, String)>,
    pub(super) links: Vec<Wider>,
    /// How many links change, those without bytes included.
    pub(super) of_all: usize,
    /// What holds the run back then.
    held_at: Option<Wider>,
}

/// What came of all changes of a target.
#[derive(Default)]
pub(super) struct TriedAll {
    pub(super) changes: Vec<Tried>,
    pub(super) left_out: Vec<LeftOut>,
    /// Whether no bytes cross what would change.
    pub(super) unused: bool,
    pub(super) complete: bool,
}

/// What came of one.
pub(super) enum Attempt {
    Done(Tried),
    /// Nothing of the run would change.
    Unused,
    Cancelled,
}

impl Runs<'_> {
    /// Runs all changes of a target.
    pub(super) fn try_all(&self, target: &Target<'_>, base: &Outcome) -> TriedAll {
        let mut all = TriedAll { complete: true, ..TriedAll::default() };
        let (first, others): (_, &[Improvement]) = match target.what() {
            Changed::Latency | Changed::Overhead => (Improvement::Half, &[]),
            Changed::Engines => (Improvement::OneMore, &[]),
            _ => (WIDER[0], &[WIDER[1], NO_LIMIT[0]]),
        };
        self.take(target, first, self.attempt(target, first, base), &mut all);
        if !all.unused {
            let attempts: Vec<_> = others.par_iter().map(|&each| self.attempt_any(target, each, base)).collect();
            others.iter().zip(attempts).for_each(|(&each, attempt)| self.take(target, each, attempt, &mut all));
        }
        if target.is_wide() {
            enough(self, target, base, &mut all);
        }
        self.progress(all.changes.iter().map(|tried| tried.makespan).min());
        all
    }

    /// Puts down what came of an attempt.
    pub(super) fn take(
        &self,
        target: &Target<'_>,
        improvement: Improvement,
        attempt: Result<Attempt, Error>,
        all: &mut TriedAll,
    ) {
        match attempt {
            Ok(Attempt::Done(tried)) => all.changes.push(tried),
            Ok(Attempt::Unused) => all.unused = true,
            Ok(Attempt::Cancelled) => all.complete = false,
            Err(error) if error.kind() == ErrorKind::Cancelled => all.complete = false,
            Err(error) => {
                let of = format!("{}{}", target.name(self.scenario.contents()), words(improvement));
                all.left_out.push(LeftOut { of, why: error.brief() });
            }
        }
    }

    /// As [`Self::attempt`]; with less where no limit is too much.
    fn attempt_any(&self, target: &Target<'_>, improvement: Improvement, base: &Outcome) -> Result<Attempt, Error> {
        let first = self.attempt(target, improvement, base);
        match first {
            Err(_) if improvement == NO_LIMIT[0] => self.attempt(target, NO_LIMIT[1], base),
            other => other,
        }
    }

    /// Runs a change.
    pub(super) fn attempt(
        &self,
        target: &Target<'_>,
        improvement: Improvement,
        base: &Outcome,
    ) -> Result<Attempt, Error> {
        if self.cancelled() {
            return Ok(Attempt::Cancelled);
        }
        match target {
            Target::Resource(resource) => self.edited(resource, improvement, base),
            Target::Link(_, Some(place)) => self.edited(place, improvement, base),
            Target::Link(wider, None) => {
                let outcome = self.wider(*wider, times(improvement))?;
                Ok(done(self.scenario.contents(), outcome, improvement, Vec::new(), (vec![*wider], 1)))
            }
        }
    }

    /// Runs the scenario with a resource made better.
    fn edited(&self, resource: &Resource, improvement: Improvement, base: &Outcome) -> Result<Attempt, Error> {
        let set = resource.edits(improvement);
        if set.is_empty() {
            return Ok(Attempt::Unused);
        }
        let contents = self.scenario.contents();
        let scenario = self.read(&set)?;
        let (links, of_all) = changed_links(&contents.fabric, &scenario.fabric, base);
        // With a choice left open, another plan may use other links.
        let chosen = contents.operations.iter().any(|operation| operation.choice.is_some());
        let of_links = !matches!(Target::Resource(resource).what(), Changed::Engines | Changed::Overhead);
        if of_links && links.is_empty() && !chosen {
            return Ok(Attempt::Unused);
        }
        Ok(done(&scenario, self.of(&scenario)?, improvement, set, (links, of_all)))
    }
}

fn done(
    scenario: &Scenario,
    outcome: Option<Outcome>,
    improvement: Improvement,
    set: Vec<(String, String)>,
    (links, of_all): (Vec<Wider>, usize),
) -> Attempt {
    let tried = |outcome: Outcome| {
        let held_at = critical_link(scenario, &outcome);
        Tried { improvement, enough: false, makespan: outcome.makespan, set, links, of_all, held_at }
    };
    outcome.map_or(Attempt::Cancelled, |outcome| Attempt::Done(tried(outcome)))
}

/// How many times as wide; no limit is infinite.
fn times(improvement: Improvement) -> f64 {
    match improvement {
        Improvement::Times(hundredths) => f64::from(hundredths) / 100.0,
        _ => f64::INFINITY,
    }
}

/// What differs between two fabrics of the same links: links, and memories; and how many of all of them there are, the others
/// carried no bytes.
fn changed_links(before: &Fabric, after: &Fabric, base: &Outcome) -> (Vec<Wider>, usize) {
    let carried = |link: LinkId| base.links.get(link.index()).is_some_and(|totals| totals.bytes > 0);
    let mut all = BTreeMap::new();
    let mut add = |wider: Wider, carries: bool| *all.entry(wider).or_insert(false) |= carries;
    for (at, (old, new)) in before.links().iter().zip(after.links()).enumerate() {
        let link = LinkId::from_index(at);
        if (old.bandwidth, old.latency) != (new.bandwidth, new.latency) {
            add(Wider::link(link), carried(link));
        }
    }
    for (number, (old, new)) in (0..).zip(before.shared().iter().zip(after.shared())) {
        if old.bandwidth != new.bandwidth {
            add(Wider::shared(before, number), old.links.iter().any(|&link| carried(link)));
        }
    }
    let count = all.len();
    (all.into_iter().filter(|(_, carries)| *carries).map(|(wider, _)| wider).collect(), count)
}

/// A change as results have it.
pub(super) fn change(
    scenario: &Scenario,
    target: &Target<'_>,
    tried: &Tried,
    costs: &Costs<'_>,
    of: SimTime,
) -> Change {
    let (saved_s, saved_percent) = saved(of, tried.makespan);
    let factor = match tried.improvement {
        Improvement::Times(hundredths) => Some(f64::from(hundredths) / 100.0),
        Improvement::Half => Some(0.5),
        Improvement::Bandwidth(_) | Improvement::OneMore => None,
    };
    let name = |node| scenario.node_name(node).to_owned();
    let ends = |wider: &Wider| wider.ends(&scenario.fabric);
    let link = |wider: &Wider| ChangedLink { from: name(ends(wider).0), to: name(ends(wider).1) };
    let cost = costs.of(target, &target.name(scenario), tried.improvement);
    Change {
        of: target.name(scenario),
        what: target.what(),
        factor,
        enough: tried.enough,
        set: tried.set.iter().map(|(path, value)| SetValue { path: path.clone(), value: value.clone() }).collect(),
        links: tried.links.iter().take(MOST_LINKS).map(link).collect(),
        held_at: tried.held_at.as_ref().map(link),
        makespan_s: tried.makespan.seconds(),
        makespan_ps: tried.makespan.0,
        saved_s,
        saved_percent,
        cost,
        saved_s_per_cost: cost.map(|cost| saved_s / cost),
    }
}

/// What is said of a change that could not be tried.
fn words(improvement: Improvement) -> String {
    match improvement {
        Improvement::Times(hundredths) => format!(" × {}", f64::from(hundredths) / 100.0),
        Improvement::Bandwidth(_) => ", no limit".to_owned(),
        Improvement::Half => " halved".to_owned(),
        Improvement::OneMore => ", one more".to_owned(),
    }
}
