//! `weir run --stream`: transfers are read while they are simulated, and written as they end.

use std::path::Path;

use weir::{ArbiterSpec, Error, RunOptions, Scenario};
use weir_report::{Streamed, text, write_streamed};

use super::writer::Writer;
use super::{inputs, options};
use crate::args::RunArgs;
use crate::failure::Exit;
use crate::input::{load_streamed, read_files};
use crate::interrupt::Stage;
use crate::output::{self, Output};
use crate::plugins::arbiters;
use crate::progress;
use crate::simulate::{self, warn_of};
use crate::values::StreamTarget;

/// Streams the transfers of one file under one arbiter; its summary goes to stdout, unless the transfers go there.
pub(super) fn run(args: &RunArgs, target: &StreamTarget) -> Result<Exit, Error> {
    let [file] = &args.scenario.files[..] else {
        return Err(Error::input("--stream takes one scenario: run each of the others with its own OUT"));
    };
    if let Some(target) = &target.file {
        output::check_target("--stream", target, &inputs(args))?;
    }
    let arbiters = arbiters(&args.scenario.plugins)?;
    let scenario = load_streamed(file, &args.scenario, &arbiters)?;
    let spec = only_arbiter(&scenario)?;
    let out = open(target.file.as_deref(), &scenario)?;
    warn_of(&scenario, spec)?;
    let streaming = scenario.streamed(spec)?;
    let mut writer = Writer { streaming: &streaming, lines: target.lines, out, ended: 0, failure: None };
    writer.out.part(|out| target.lines.begin(out))?;
    let running = Stage::running();
    let options = simulate::watched(&options(args, false)?);
    let transfers = streaming.stream.census().transfers();
    let outcome =
        progress::of_run(transfers, |progress| streaming.run(&RunOptions { progress, ..options }, &mut writer));
    let outcome = outcome.map_err(|error| writer.failure.take().unwrap_or(error))?;
    drop(running);
    let _writing = Stage::writing();
    simulate::say_if_interrupted(outcome.stop);
    let target_name = target.file.as_ref().map_or_else(|| "stdout".to_owned(), |file| file.display().to_string());
    let streamed =
        Streamed { target: &target_name, transfers: streaming.stream.census().transfers(), ended: writer.ended };
    let run = streaming.report(&outcome);
    let mut out = writer.out;
    out.result(|writer| target.lines.end(&run, &streamed, writer))?;
    out.finish()?;
    if target.file.is_some() {
        summary(&run, &streamed, args)?;
    }
    simulate::say_trouble(&run);
    Ok(Exit::Ok)
}

fn summary(run: &weir_report::Run<'_>, streamed: &Streamed<'_>, args: &RunArgs) -> Result<(), Error> {
    Output::open(None)?.result(|writer| {
        if args.json {
            return write_streamed(run, streamed, writer);
        }
        write!(writer, "{}", text::streamed(run, streamed))
    })
}

fn only_arbiter(scenario: &Scenario) -> Result<&ArbiterSpec, Error> {
    match scenario.arbiters() {
        [spec] => Ok(spec),
        several => {
            let (file, count) = (&scenario.contents().file, several.len());
            Err(Error::input(format!("{file} has {count} arbiters, but --stream takes one: choose it with --arbiter")))
        }
    }
}

/// Opens the target, which must not be a file that the scenario names.
fn open(target: Option<&Path>, scenario: &Scenario) -> Result<Output, Error> {
    if let Some(target) = target {
        output::check_target("--stream", target, &read_files(scenario))?;
    }
    Output::open(target)
}
