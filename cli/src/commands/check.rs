//! `weir check`: what is wrong with a scenario, or looks wrong, without a run.

use std::path::Path;

use weir_report::text;
use weir_scenarios::Scenario;
use weir_sim_core::Work;

use crate::args::CheckArgs;
use crate::failure::{Exit, Failure, message};
use crate::input::read;
use crate::output::Output;
use crate::plugins::{Arbiters, arbiters};
use crate::simulate::{Job, warn_ignored};

/// Checks all files; the exit code is the largest.
pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut output = Output::open(None)?;
    let arbiters = arbiters(&args.scenario)?;
    let mut exit = Exit::Ok;
    for file in &args.scenario.files {
        match check(file, args, &arbiters) {
            Ok((summary, file_exit)) => {
                output.result(|writer| write!(writer, "{summary}"))?;
                exit = exit.max(file_exit);
            }
            Err(failure) => exit = exit.max(failure.print()),
        }
    }
    Ok(exit)
}

/// The summary of a file that can run.
fn check(file: &Path, args: &CheckArgs, all: &Arbiters) -> Result<(String, Exit), Failure> {
    let scenario = read(file, &args.scenario, all)?;
    let lints = weir_scenarios::lint(&scenario);
    let findings: Vec<_> = scenario.warnings.iter().chain(&lints).collect();
    for finding in &findings {
        message(&finding.to_string());
    }
    let mut warnings = findings.len();
    for spec in &scenario.arbiters {
        Job::new(&scenario, spec, &all.registry)?.arbiter()?;
        warnings += warn_ignored(&scenario, &spec.name);
    }
    if args.strict && warnings > 0 {
        let warnings = count(warnings, "warning");
        return Err(Failure::usage(format!("{}: {warnings}, and --strict lets none pass", scenario.file)));
    }
    Ok((summary(&scenario), Exit::Ok))
}

fn summary(scenario: &Scenario) -> String {
    let (transfers, computes, barriers) = counts(scenario);
    let arbiters: Vec<_> = scenario.arbiters.iter().map(|spec| spec.name.as_str()).collect();
    let mut parts = vec![
        count(scenario.fabric.nodes().len(), "node"),
        count(scenario.fabric.links().len(), "link"),
        format!("{} on {}", count(transfers, "transfer"), count(scenario.routes.len(), "route")),
    ];
    parts.extend(operations(scenario));
    parts.extend((computes > 0).then(|| count(computes, "computation")));
    parts.extend((barriers > 0).then(|| count(barriers, "barrier")));
    format!("{}: ok: {}; {}\n", text::clean(&scenario.file), parts.join(", "), arbiters.join(", "))
}

/// Transfers over the fabric, computations and barriers. What models planned counts as transfers only.
fn counts(scenario: &Scenario) -> (usize, usize, usize) {
    let (mut transfers, mut computes, mut barriers) = (0, 0, 0);
    let mut planned = scenario.operations.iter().peekable();
    for (i, task) in scenario.tasks.tasks().iter().enumerate() {
        while planned.next_if(|operation| operation.tasks.end as usize <= i).is_some() {}
        let own = planned.peek().is_none_or(|operation| (operation.tasks.start as usize) > i);
        match task.work {
            Work::Carries { .. } => transfers += 1,
            Work::Lasts(_) if own => computes += 1,
            Work::Nothing { counted: true } if own => barriers += 1,
            Work::Lasts(_) | Work::Nothing { .. } => {}
        }
    }
    (transfers, computes, barriers)
}

/// `2 put, 1 gather (52 tasks)`, by kind in the order of first appearance; none for a scenario without operations of
/// models.
fn operations(scenario: &Scenario) -> Option<String> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for operation in &scenario.operations {
        match kinds.iter_mut().find(|(kind, _)| *kind == &*operation.kind) {
            Some((_, number)) => *number += 1,
            None => kinds.push((&operation.kind, 1)),
        }
    }
    let tasks = scenario.operations.iter().map(|operation| operation.tasks.len()).sum();
    let kinds: Vec<String> = kinds.iter().map(|(kind, number)| format!("{number} {}", text::clean(kind))).collect();
    (!kinds.is_empty()).then(|| {
        let operations = count(scenario.operations.len(), "operation");
        format!("{operations} of models ({}; {})", kinds.join(", "), count(tasks, "task"))
    })
}

/// `1 node`, `2 nodes`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
