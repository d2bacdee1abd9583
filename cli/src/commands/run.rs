//! `weir run`: every file under every arbiter it asks for, one result each.

mod files;
mod stream;
mod writer;

use std::io::Write;
use std::path::{Path, PathBuf};

use weir::{Error, RunOptions, Scenario};
use weir_report::page::MOST_ROWS;
use weir_report::{Column, Comparison, Detail, Run, text, write_run};

use crate::args::RunArgs;
use crate::export::is_too_large;
use crate::failure::{Exit, message, print};
use crate::input::load;
use crate::interrupt;
use crate::output::Output;
use crate::plugins::{Arbiters, arbiters};
use crate::simulate::{self, warn_of};
use crate::terminal;

/// Runs all files; the exit code is the largest.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Error> {
    if let Some(target) = &args.stream {
        return stream::run(args, target);
    }
    let mut files = files::Files::new(args, &inputs(args))?;
    let mut output = Output::open_apart(args.output.as_deref(), &inputs(args))?;
    let arbiters = arbiters(&args.scenario.plugins)?;
    let mut exit = Exit::Ok;
    for (i, file) in args.scenario.files.iter().enumerate() {
        if !interrupt::requested() {
            exit = exit.max(run_file(
                file,
                i > 0,
                args,
                &arbiters,
                &mut Targets { output: &mut output, files: &mut files },
            )?);
        }
    }
    output.finish()?;
    files.finish()?;
    if interrupt::requested() {
        // The program ends now, and taking large tables apart would delay it.
        std::mem::forget(files);
    }
    Ok(exit)
}

/// What the command line names to be read.
fn inputs(args: &RunArgs) -> Vec<&Path> {
    args.scenario.files.iter().chain(&args.scenario.plugins.plugins).map(PathBuf::as_path).collect()
}

struct Targets<'t, 'a> {
    output: &'t mut Output,
    files: &'t mut files::Files<'a>,
}

/// Runs one file. Errors of the scenario or an arbiter are printed, so that the next file is run too; only those of the
/// output are returned.
fn run_file(
    file: &Path,
    mut later: bool,
    args: &RunArgs,
    all: &Arbiters,
    targets: &mut Targets<'_, '_>,
) -> Result<Exit, Error> {
    let scenario = match load(file, &args.scenario, all) {
        Ok(scenario) => scenario,
        Err(failure) => return Ok(print(failure)),
    };
    targets.files.check(&scenario)?;
    let mut exit = Exit::Ok;
    simulate::warn_of_max_hops(&scenario, args.max_hops);
    let explanations = explains(args, &scenario);
    let mut columns = both_fidelities(args, &scenario).then(Vec::new);
    for spec in scenario.arbiters() {
        if interrupt::requested() {
            break;
        }
        warn_of(&scenario, spec)?;
        // What explains packets is no part of results.
        let options = options(args, explanations && spec.packets.is_none())?;
        // An outer failure is of the run, an inner one of the output.
        match simulate::report(&scenario, spec, &options, |run| {
            if let Some(columns) = &mut columns {
                columns.push(Column::of_run(run, None).map_err(Error::input)?);
            }
            Ok(write(run, args, later, targets.output).and_then(|()| targets.files.add(run, &scenario, spec)))
        }) {
            Ok(written) => written?,
            Err(failure) => exit = exit.max(print(failure)),
        }
        later = true;
    }
    beside(columns, targets)?;
    if interrupt::requested() {
        // The program ends now, and taking a million transfers apart would delay it.
        std::mem::forget(scenario);
    }
    Ok(exit)
}

/// Writes the table of times by rates and by packets, where there are several columns.
fn beside(columns: Option<Vec<Column>>, targets: &mut Targets<'_, '_>) -> Result<(), Error> {
    let Some(columns) = columns.filter(|columns| columns.len() > 1) else { return Ok(()) };
    let table = text::side_by_side(&Comparison::new(columns));
    targets.output.result(|writer| write!(writer, "\n{table}"))
}

/// Whether the text has a table of times by rates and by packets.
fn both_fidelities(args: &RunArgs, scenario: &Scenario) -> bool {
    let of_packets = scenario.arbiters().iter().filter(|spec| spec.packets.is_some()).count();
    !args.json && of_packets > 0 && of_packets < scenario.arbiters().len()
}

/// Whether the arbiter's steps are part of the result: those of a large run would be larger than all else, and no page shows
/// them.
fn explains(args: &RunArgs, scenario: &Scenario) -> bool {
    let few = scenario.contents().tasks.transfers().count() <= MOST_ROWS;
    if args.full && !few {
        let file = &scenario.contents().file;
        let most = format!("--full has no explanations of more than {MOST_ROWS} transfers");
        message(&format!("note: {file}: {most}; `weir explain` gives them"));
    }
    args.full && few
}

fn options(args: &RunArgs, explanations: bool) -> Result<RunOptions, Error> {
    Ok(RunOptions {
        until: args.until,
        most_hops: args.max_hops,
        phases: args.phases || args.full || args.wants_phases(),
        explanations,
        buffers: args.full,
        peaks: args.peaks,
        jitter: args.jitter.wanted()?,
        ..RunOptions::default()
    })
}

fn write(run: &Run<'_>, args: &RunArgs, later: bool, out: &mut Output) -> Result<(), Error> {
    let detail = Detail { phases: args.phases, full: args.full };
    if args.json && detail != Detail::default() {
        let whole = |writer: &mut dyn Write| write_run(run, detail, writer);
        let without = |writer: &mut dyn Write| write_run(run, Detail::default(), writer);
        let name = if args.full { "the detail of --full" } else { "the detail of --phases" };
        return out.result_or_less(name, &|| is_too_large(run), whole, without);
    }
    out.result(|writer| {
        if args.json {
            return write_run(run, detail, writer);
        }
        let gap = if later { "\n" } else { "" };
        write!(writer, "{gap}{}", text::run(run))?;
        if args.plot {
            write!(writer, "\n{}", weir_report::draw::gantt(run, terminal::canvas()))?;
        }
        Ok(())
    })
}
