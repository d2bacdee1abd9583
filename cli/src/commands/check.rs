//! `weir check`: what is wrong with a scenario, or looks wrong, without a run.

use std::path::Path;

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
    for spec in &scenario.arbiters {
        Job::new(&scenario, spec, &all.registry)?.arbiter()?;
        warn_ignored(&scenario, &spec.name);
    }
    if args.strict && !findings.is_empty() {
        let count = findings.len();
        return Err(Failure::usage(format!("{}: {count} warnings, and --strict lets none pass", scenario.file)));
    }
    Ok((summary(&scenario), Exit::Ok))
}

fn summary(scenario: &Scenario) -> String {
    let tasks = scenario.tasks.tasks();
    let transfers = tasks.iter().filter(|task| matches!(task.work, Work::Carries { .. })).count();
    let computes = tasks.iter().filter(|task| matches!(task.work, Work::Lasts(_))).count();
    let barriers = tasks.iter().filter(|task| matches!(task.work, Work::Nothing { counted: true })).count();
    let arbiters: Vec<_> = scenario.arbiters.iter().map(|spec| spec.name.as_str()).collect();
    format!(
        "{}: ok: {} nodes, {} links, {transfers} transfers on {} routes, {computes} computations, {barriers} barriers; \
         {}\n",
        scenario.file,
        scenario.fabric.nodes().len(),
        scenario.fabric.links().len(),
        scenario.routes.len(),
        arbiters.join(", ")
    )
}
