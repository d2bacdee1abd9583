//! Which links and transfers of a large run a timeline shows.

use std::fmt::{Display, Formatter};

use weir_plugin_api::LinkId;
use weir_scenario::Scenario;
use weir_sim_core::{TaskId, Work};

use crate::Run;
use crate::text::lost_most;

/// What a timeline is limited to; all of it where nothing is said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceFilter {
    /// The links, by any of these; all without any.
    pub links: Vec<LinkPattern>,
    /// The number of transfers, those that lost most against being alone.
    pub most: Option<usize>,
}

/// Links by the names or paths of their nodes: `gpu0->plx0`, or those that begin or end at a node, `net/leaf0`. `*` stands for
/// any text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkPattern {
    from: String,
    /// Without it `from` may be either end.
    to: Option<String>,
}

impl LinkPattern {
    /// Reads one pattern; the arrow may be `->` or `→`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let ends = text.split_once("->").or_else(|| text.split_once('→'));
        let (from, to) = ends.map_or((text, None), |(from, to)| (from, Some(to.trim().to_owned())));
        Self { from: from.trim().to_owned(), to }
    }

    /// Whether it names a link of a scenario.
    #[must_use]
    pub fn is_known(&self, scenario: &Scenario) -> bool {
        (0..scenario.fabric.links().len()).any(|link| self.matches(scenario, LinkId::from_index(link)))
    }

    fn matches(&self, scenario: &Scenario, link: LinkId) -> bool {
        let link = scenario.fabric.link(link);
        // As scenarios name nodes, or by a pattern of what results call them.
        let names = |pattern: &str, node| {
            is_named(pattern, scenario.node_name(node))
                || pattern.contains('/')
                    && (is_named(pattern, &scenario.node_path(node)) || scenario.node(pattern) == Some(node))
        };
        match &self.to {
            Some(end) => names(&self.from, link.from) && names(end, link.to),
            None => names(&self.from, link.from) || names(&self.from, link.to),
        }
    }
}

impl Display for LinkPattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.to {
            Some(to) => write!(out, "{}->{to}", self.from),
            None => out.write_str(&self.from),
        }
    }
}

/// Whether a pattern is like the name of a node, or like the end of its path, as scenarios name nodes.
fn is_named(pattern: &str, name: &str) -> bool {
    is_like(pattern, name) || name.match_indices('/').any(|(at, _)| is_like(pattern, &name[at + 1..]))
}

/// Whether a name is like a pattern, in which each `*` stands for any text.
fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// What a filter leaves of a run.
pub(super) struct Kept {
    /// Per link.
    pub(super) links: Vec<bool>,
    /// Per task.
    pub(super) tasks: Vec<bool>,
    /// Whether links or transfers were chosen, so that counters need not tell each change.
    pub(super) is_part: bool,
}

impl Kept {
    /// The links that carried bytes of chosen transfers, and the tasks that are no transfers or cross a chosen link.
    pub(super) fn of(run: &Run<'_>, filter: &TraceFilter) -> Self {
        let scenario = run.scenario;
        let named = |link| filter.links.is_empty() || filter.links.iter().any(|one| one.matches(scenario, link));
        let wanted: Vec<bool> = (0..run.outcome.links.len()).map(|link| named(LinkId::from_index(link))).collect();
        // Of one that was not under way, where it would go.
        let taken = |task: TaskId| -> Vec<LinkId> {
            let own = run.carried(task).map_or(&[][..], |carried| carried.links);
            match &run.legs(task)[..] {
                [] => own.to_vec(),
                legs => legs.iter().flat_map(|leg| leg.carried.links).copied().collect(),
            }
        };
        let crosses = |task: TaskId| filter.links.is_empty() || taken(task).iter().any(|link| wanted[link.index()]);
        let mut chosen: Vec<TaskId> = run.transfers().filter(|&task| crosses(task)).collect();
        if let Some(most) = filter.most {
            lost_most(run, &mut chosen, most);
        }
        let is_transfer = |task: &weir_sim_core::Task| matches!(task.work, Work::Carries { .. });
        let mut tasks: Vec<bool> = scenario.tasks.tasks().iter().map(|task| !is_transfer(task)).collect();
        let mut links = vec![filter.most.is_none(); wanted.len()];
        for task in chosen {
            tasks[task.index()] = true;
            for link in taken(task) {
                links[link.index()] = true;
            }
        }
        links.iter_mut().zip(&wanted).for_each(|(kept, wanted)| *kept &= *wanted);
        Self { links, tasks, is_part: *filter != TraceFilter::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name) in [("gpu0", "gpu0"), ("*", "x"), ("s*/gpu*", "s0/gpu1"), ("*0", "gpu10"), ("a**b", "ab")] {
            assert!(is_like(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("gpu0", "gpu01"), ("gpu*1", "gpu0"), ("aba*aba", "aba"), ("", "x"), ("a*b*c", "ac")] {
            assert!(!is_like(pattern, name), "{pattern} {name}");
        }
        assert!(is_named("leaf0/h*", "core/leaf0/h3") && !is_named("eaf0/h3", "core/leaf0/h3"));
        assert_eq!(LinkPattern::new("a -> b*").to_string(), "a->b*");
        assert_eq!(LinkPattern::new("a → b"), LinkPattern::new("a->b"));
    }
}
