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
    let tasks = scenario.tasks.tasks();
    let transfers = tasks.iter().filter(|task| matches!(task.work, Work::Carries { .. })).count();
    let computes = tasks.iter().filter(|task| matches!(task.work, Work::Lasts(_))).count();
    let barriers = tasks.iter().filter(|task| matches!(task.work, Work::Nothing { counted: true })).count();
    let arbiters: Vec<_> = scenario.arbiters.iter().map(|spec| spec.name.as_str()).collect();
    let mut parts = vec![
        count(scenario.fabric.nodes().len(), "node"),
        count(scenario.fabric.links().len(), "link"),
        format!("{} on {}", count(transfers, "transfer"), count(scenario.routes.len(), "route")),
    ];
    parts.extend((computes > 0).then(|| count(computes, "computation")));
    parts.extend((barriers > 0).then(|| count(barriers, "barrier")));
    format!("{}: ok: {}; {}\n", text::clean(&scenario.file), parts.join(", "), arbiters.join(", "))
}

/// `1 node`, `2 nodes`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
