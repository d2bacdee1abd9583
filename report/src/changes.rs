//! Links that changed while a run went on, by `events`.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::{LinkId, SimDuration};
use weir_scenario::PlannedOperation;
use weir_sim_core::{LinkChangeTotals, LinkStep, Reroute, TaskId, Work, branches};

use crate::Run;
use crate::json::numbered;
use crate::link::Ends;
use crate::run::Carried;
use crate::schemas::time;
use crate::units::{bytes, duration, instant};

/// Links named in sentences, at most.
const NAMED: usize = 3;

/// A directed link that changed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "LinkChange")]
pub(crate) struct LinkChangeRow<'a> {
    /// The link.
    #[serde(borrow)]
    link: Ends<'a>,
    /// How often what it carries changed.
    pub(crate) changes: u64,
    /// For how long it was down, seconds.
    #[serde(deserialize_with = "time")]
    pub(crate) down_s: f64,
    /// Full results: what it carries from when on, of the first 20,000 changes of all links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<LinkStepRow>,
}

/// What a link carries from a moment on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "LinkStep")]
pub(crate) struct LinkStepRow {
    /// From when on.
    #[serde(deserialize_with = "time")]
    pub(crate) at_s: f64,
    /// The same in picoseconds, exact.
    pub(crate) at_ps: u64,
    /// Bytes per second; 0 where it is down.
    #[serde(rename = "bandwidth_Bps", deserialize_with = "time")]
    pub(crate) bandwidth: f64,
}

/// Another route that a transfer took, as a link was down.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Reroute")]
pub(crate) struct RerouteRow<'a> {
    /// From when on.
    #[serde(deserialize_with = "time")]
    pub(crate) at_s: f64,
    /// The same in picoseconds, exact.
    pub(crate) at_ps: u64,
    /// A link of the route before that was down then.
    #[serde(borrow)]
    pub(crate) down: Ends<'a>,
    /// Whole bytes that it had sent before, in all.
    pub(crate) sent_bytes: u64,
    /// Its links, in order of travel; of several routes at once each link once.
    #[serde(borrow)]
    pub(crate) links: Vec<Ends<'a>>,
    /// Full results: the ids of these links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<Vec<u32>>,
    /// Full results, of several routes at once: the part of its bytes that each link carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shares: Option<Vec<f64>>,
}

impl LinkChangeRow<'_> {
    /// The nodes of its link.
    pub(crate) fn ends(&self) -> (&str, &str) {
        (&self.link.from, &self.link.to)
    }
}

fn times_of(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn others_of(links: usize) -> String {
    if links == 1 { "1 more link".to_owned() } else { format!("{links} more links") }
}

impl<'a> Run<'a> {
    /// The directed links that changed, by id.
    pub(crate) fn link_changes(&self, full: bool) -> Vec<LinkChangeRow<'a>> {
        let mut steps: BTreeMap<LinkId, Vec<LinkStepRow>> = BTreeMap::new();
        for &LinkStep { time, link, bandwidth } in self.outcome.link_steps.iter().filter(|_| full) {
            let step = LinkStepRow { at_s: time.seconds(), at_ps: time.0, bandwidth };
            steps.entry(link).or_default().push(step);
        }
        let row = |totals: &LinkChangeTotals| LinkChangeRow {
            link: Ends::of(self.scenario, totals.link),
            changes: totals.changes,
            down_s: totals.down.seconds(),
            steps: steps.remove(&totals.link).unwrap_or_default(),
        };
        self.outcome.link_changes.iter().map(row).collect()
    }

    /// The other routes that a transfer took.
    pub(crate) fn reroutes(&self, task: TaskId, full: bool) -> Vec<RerouteRow<'a>> {
        let scenario = self.scenario;
        let row = |other: &Reroute| {
            let parts = self.carried_at(task, other.time).map_or_else(Vec::new, |carried| carried.shares(scenario));
            let links = parts.iter().map(|&(link, _)| Ends::of(scenario, link)).collect();
            let (route, shares) = if full { numbered(parts) } else { (Vec::new(), None) };
            RerouteRow {
                at_s: other.time.seconds(),
                at_ps: other.time.0,
                down: Ends::of(scenario, other.down),
                sent_bytes: other.sent,
                links,
                route: full.then_some(route),
                shares,
            }
        };
        self.outcome.reroutes_of(task).iter().map(row).collect()
    }

    /// Which transfers took which routes: a sentence for each of the first, without a full stop.
    pub(crate) fn reroute_sentences(&self) -> Vec<String> {
        let mut all: Vec<&Reroute> = self.outcome.reroutes.iter().collect();
        all.sort_by_key(|other| (other.time, other.task));
        let more = all.len().saturating_sub(NAMED);
        let tasks: BTreeSet<TaskId> = all.iter().map(|other| other.task).collect();
        let others = (more > 0).then(|| match tasks.len() {
            1 => format!("it took another route {} more", times_of(more)),
            tasks => format!("a transfer took another route {} more; {tasks} transfers did so", times_of(more)),
        });
        let free = self.free_detours(&tasks);
        all.iter().take(NAMED).map(|other| self.reroute_sentence(other)).chain(others).chain(free).collect()
    }

    /// Says of transfers that left a route by `via` or `nic` that the other routes know of neither.
    fn free_detours(&self, tasks: &BTreeSet<TaskId>) -> Option<String> {
        // A run whose transfers come in a row has no tasks, nor `via`.
        let is_bound = |&&task: &&TaskId| match self.scenario.tasks.tasks().get(task.index()).map(|task| task.work) {
            Some(Work::Carries { class, .. }) => self.scenario.is_bound(self.scenario.tasks.classes().route(class)),
            _ => false,
        };
        let bound: Vec<&TaskId> = tasks.iter().filter(is_bound).collect();
        let names: Vec<_> = bound.iter().take(NAMED).map(|&&task| self.scenario.task_name(task)).collect();
        let more = if bound.len() > NAMED { format!(" and {} more", bound.len() - NAMED) } else { String::new() };
        let what = "take the fewest links that are up; `via` and `nic` do not apply to them";
        (!names.is_empty()).then(|| format!("the other routes of {}{more} {what}", names.join(", ")))
    }

    fn reroute_sentence(&self, Reroute { time, task, down, sent, links }: &Reroute) -> String {
        let (fabric, name) = (&self.scenario.fabric, |node| self.scenario.node_name(node));
        let (from, to) = self.link_names(*down);
        let routes = branches(fabric, links).map(|branch| {
            let first = branch.first().map(|&link| fabric.link(link).from);
            let nodes = first.into_iter().chain(branch.iter().map(|&link| fabric.link(link).to));
            nodes.map(name).collect::<Vec<_>>().join(" → ")
        });
        let went_on = match self.scenario.changes.on_failure.restarts() {
            true => format!("began again at {}", instant(*time)),
            false => format!("went on at {} after {}", instant(*time), bytes(*sent)),
        };
        let (name, routes) = (self.scenario.task_name(*task), routes.collect::<Vec<_>>().join(" and "));
        format!("{name} {went_on}, as link {from} – {to} was down, by {routes}")
    }

    /// Whether a transfer of an operation crosses a link that changed during the run.
    pub(crate) fn is_over_changed_links(&self, operation: &PlannedOperation) -> bool {
        let changed = &self.outcome.link_changes;
        let has_changed = |link: &LinkId| changed.binary_search_by_key(link, |totals| totals.link).is_ok();
        let crosses = |task: TaskId| match self.scenario.tasks.tasks()[task.index()].work {
            Work::Carries { class, .. } => {
                Carried::of(self.scenario, class).is_some_and(|carried| carried.links.iter().any(has_changed))
            }
            _ => false,
        };
        !changed.is_empty() && operation.tasks().any(crosses)
    }

    /// What the links that changed did: a sentence for each of those that were down longest, without a full stop.
    pub(crate) fn change_sentences(&self) -> Vec<String> {
        // Both directions change together.
        let mut pairs: Vec<&LinkChangeTotals> = Vec::new();
        for totals in &self.outcome.link_changes {
            let is_other = |last: &&LinkChangeTotals| {
                (last.link.0 ^ 1, last.changes, last.down) == (totals.link.0, totals.changes, totals.down)
            };
            if !pairs.last().is_some_and(is_other) {
                pairs.push(totals);
            }
        }
        pairs.sort_by_key(|totals| (Reverse((totals.down, totals.changes)), totals.link));
        let more = pairs.len().saturating_sub(NAMED);
        let down = pairs.iter().skip(NAMED).fold(SimDuration::ZERO, |sum, totals| sum.plus(totals.down));
        let down = match down {
            SimDuration::ZERO => String::new(),
            time => format!(", down for {} together", duration(time)),
        };
        let others = (more > 0).then(|| format!("{} changed{down}", others_of(more)));
        pairs.iter().take(NAMED).map(|totals| self.sentence(totals)).chain(others).collect()
    }

    fn sentence(&self, totals: &LinkChangeTotals) -> String {
        let (from, to) = self.link_names(totals.link);
        let times: Cow<'_, str> = match totals.changes {
            1 => "once".into(),
            2 => "twice".into(),
            n => format!("{n} times").into(),
        };
        let down = match totals.down {
            SimDuration::ZERO => String::new(),
            time => format!(" and was down for {}", duration(time)),
        };
        format!("link {from} – {to} changed {times}{down}")
    }
}
