//! What a scenario says without effect.

use weir_plugin_api::EngineScope;
use weir_sim_core::{EngineId, Task, TaskId, Work};

use crate::context::Context;
use crate::diagnostic::{Diagnostic, quoted};
use crate::scenario::Scenario;
use crate::source::Span;
use crate::workload::TaskKind;

/// Findings that do not keep a scenario from running: link types that no link uses, transfers that share nothing,
/// attributes without effect.
#[must_use]
pub fn lint(scenario: &Scenario) -> Vec<Diagnostic> {
    let lint = Lint { scenario };
    let mut found = lint.unused_types();
    found.extend(lint.unused_ranks());
    found.extend(lint.nothing_shared());
    found.extend(lint.idle_engines());
    found.extend(lint.limits());
    found.extend(lint.equal_attributes());
    found
}

struct Lint<'a> {
    scenario: &'a Scenario,
}

impl Lint<'_> {
    fn warning(&self, span: Span, message: impl Into<String>, help: &str) -> Diagnostic {
        self.scenario.sources.at(span, Diagnostic::warning(message).with_help(help))
    }

    fn transfers(&self) -> impl Iterator<Item = (TaskId, &Task, u32)> {
        self.scenario.tasks.tasks().iter().enumerate().filter_map(|(i, task)| match task.work {
            Work::Carries { class, .. } => Some((TaskId(i as u32), task, class.0)),
            _ => None,
        })
    }

    fn unused_types(&self) -> Vec<Diagnostic> {
        let unused = &self.scenario.unused_types;
        let warning = |(name, span): &(String, Span)| {
            self.warning(*span, format!("no link has the type {}", quoted(name)), "remove it, or use it")
        };
        let mut found: Vec<_> = unused.iter().take(Context::MOST).map(warning).collect();
        if unused.len() > Context::MOST {
            let message = format!("{} more link types are not used", unused.len() - Context::MOST);
            found.push(Diagnostic::warning(message).with_help("remove them, or use them"));
        }
        found
    }

    fn unused_ranks(&self) -> Option<Diagnostic> {
        let span = self.scenario.unused_ranks?;
        Some(self.warning(span, "`ranks` has no effect: no pattern and no transfer uses it", "remove it"))
    }

    /// Whether no link, no bandwidth that links share and no engine is used by two transfers: then nothing is to be arbitrated. All that an operation
    /// of a model carries counts as one.
    fn nothing_shared(&self) -> Option<Diagnostic> {
        let scenario = self.scenario;
        let all = scenario.fabric.links().len();
        let mut used = vec![false; all + scenario.fabric.shared().len()];
        let (mut count, mut operation) = (0, None);
        // An engine that also serves tasks of fixed times is shared with them.
        let mut engines = self.engines_of(|work| !matches!(work, Work::Carries { .. }));
        for (id, task, class) in self.transfers() {
            let planned = self.planned(id);
            if planned.is_none() || planned != operation {
                count += 1;
            }
            operation = planned;
            if task.engine != EngineId::NONE && std::mem::replace(&mut engines[task.engine.0 as usize], true) {
                return None;
            }
            let route = scenario.tasks.classes().route(weir_plugin_api::ClassId(class));
            // A route with branches takes a link several times.
            let mut own: Vec<usize> = Vec::new();
            for &link in scenario.routes.links(route) {
                own.push(link.index());
                own.extend(scenario.fabric.shared_by(link).iter().map(|&shared| all + shared as usize));
            }
            own.sort_unstable();
            own.dedup();
            if own.into_iter().any(|at| std::mem::replace(&mut used[at], true)) {
                return None;
            }
        }
        let help = "nothing is to be divided between them; let transfers meet on a link to compare arbiters";
        (count > 1).then(|| Diagnostic::warning("no two transfers share a link or an engine").with_help(help))
    }

    /// Per engine whether it serves tasks of some work.
    fn engines_of(&self, fits: impl Fn(&Work) -> bool) -> Vec<bool> {
        let mut engines = vec![false; self.scenario.tasks.engines().len()];
        for task in self.scenario.tasks.tasks().iter().filter(|task| task.engine != EngineId::NONE && fits(&task.work))
        {
            engines[task.engine.0 as usize] = true;
        }
        engines
    }

    /// The first task of the operation of a model that a task belongs to.
    fn planned(&self, task: TaskId) -> Option<u32> {
        (self.scenario.task_kind(task) == TaskKind::Planned).then(|| self.scenario.groups.of(task).map(|g| g.first))?
    }

    /// `engines` on devices whose engines nothing uses, in the scenario's own text: a topology in a file is for others, too.
    fn idle_engines(&self) -> Option<Diagnostic> {
        let written = self.scenario.devices.iter().filter(|text| text.written && text.span.source == Span::OF_FILE);
        let mut own = written.flat_map(|text| text.nodes().map(|node| (node, text.span))).peekable();
        own.peek()?;
        let mut has_effect = vec![false; self.scenario.fabric.nodes().len()];
        let used = self.engines_of(|_| true);
        for (engine, _) in self.scenario.tasks.engines().iter().zip(used).filter(|(_, used)| *used) {
            if let EngineScope::Device(node) = engine.scope
                && let Some(has_effect) = has_effect.get_mut(node.index())
            {
                *has_effect = true;
            }
        }
        let (node, span) = own.find(|(node, _)| !has_effect[node.index()])?;
        let name = self.scenario.node_name(node);
        let message = format!("`engines` has no effect: nothing queues for an engine of `{name}`");
        Some(self.warning(span, message, "remove it"))
    }

    /// A limit that is no less than the narrowest link of the route; the first is reported.
    fn limits(&self) -> Option<Diagnostic> {
        let (fabric, classes) = (&self.scenario.fabric, self.scenario.tasks.classes());
        let idle: Vec<bool> = (0..classes.len() as u32)
            .map(|class| {
                let class = weir_plugin_api::ClassId(class);
                let links = self.scenario.routes.links(classes.route(class));
                let narrowest = links.iter().map(|&l| fabric.link(l).bandwidth).fold(f64::INFINITY, f64::min);
                classes.limit(class).is_finite() && classes.limit(class) >= narrowest
            })
            .collect();
        let own = |task: TaskId| self.planned(task).is_none();
        let (task, _, _) = self.transfers().find(|&(task, _, class)| idle[class as usize] && own(task))?;
        let name = quoted(&self.scenario.task_name(task));
        let message = format!("`limit` of {name} has no effect: a link of its route is no faster");
        Some(self.warning(self.place(task), message, "remove it, or lower it"))
    }

    /// Weights or priorities that are all the same.
    fn equal_attributes(&self) -> Vec<Diagnostic> {
        let classes = self.scenario.tasks.classes().table();
        let (weights, priorities) = (classes.weight.as_slice(), classes.priority.as_slice());
        let first = self.transfers().next().map(|(task, _, _)| task);
        let mut found = Vec::new();
        let Some(task) = first else { return found };
        if weights.iter().all(|w| w == &weights[0]) && weights[0] != 1.0 {
            let message = format!("`weight` has no effect: every transfer has {}", weights[0]);
            found.push(self.warning(self.place(task), message, "remove it, or give different weights"));
        }
        if priorities.iter().all(|p| p == &priorities[0]) && priorities[0] != 0 {
            let message = format!("`priority` has no effect: every transfer has {}", priorities[0]);
            found.push(self.warning(self.place(task), message, "remove it, or give different priorities"));
        }
        found
    }

    fn place(&self, task: TaskId) -> Span {
        self.scenario.groups.of(task).map(|g| g.place(task.0 - g.first)).unwrap_or_default()
    }
}
