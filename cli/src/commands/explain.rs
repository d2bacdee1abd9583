//! `weir explain`: per phase the steps of the arbiter, or of packets what ports grant.

use std::path::{Path, PathBuf};

use weir::{Error, RunOptions};
use weir_report::{text, write_explanation};

use crate::args::ExplainArgs;
use crate::failure::{Exit, print};
use crate::input::load;
use crate::interrupt;
use crate::output::Output;
use crate::plugins::{Arbiters, arbiters};
use crate::simulate::{self, warn_of};

/// Explains all files; the exit code is the largest.
pub(crate) fn run(args: &ExplainArgs) -> Result<Exit, Error> {
    let scenario = &args.scenario;
    let inputs: Vec<&Path> = scenario.files.iter().chain(&scenario.plugins.plugins).map(PathBuf::as_path).collect();
    let mut output = Output::open_apart(args.output.as_deref(), &inputs)?;
    let arbiters = arbiters(&args.scenario.plugins)?;
    let mut exit = Exit::Ok;
    for (i, file) in args.scenario.files.iter().enumerate() {
        if !interrupt::requested() {
            exit = exit.max(explain(file, i > 0, args, &arbiters, &mut output)?);
        }
    }
    output.finish()?;
    Ok(exit)
}

fn explain(file: &Path, mut later: bool, args: &ExplainArgs, all: &Arbiters, out: &mut Output) -> Result<Exit, Error> {
    let scenario = match load(file, &args.scenario, all) {
        Ok(scenario) => scenario,
        Err(failure) => return Ok(print(failure)),
    };
    let mut exit = Exit::Ok;
    let options = RunOptions { until: args.until, explanations: true, ..RunOptions::default() };
    for spec in scenario.arbiters() {
        if interrupt::requested() {
            break;
        }
        warn_of(&scenario, spec)?;
        let gap = if later { "\n" } else { "" };
        let explained = simulate::report(&scenario, spec, &options, |run| {
            Ok(out.result(|writer| match args.json {
                true => write_explanation(run, writer),
                false => write!(writer, "{gap}{}", text::explain(run)),
            }))
        });
        match explained {
            Ok(written) => written?,
            Err(failure) => exit = exit.max(print(failure)),
        }
        later = true;
    }
    Ok(exit)
}
