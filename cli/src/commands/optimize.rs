//! `weir optimize`: the best send orders, placement of ranks, or values of parameters, under each arbiter.

use std::path::{Path, PathBuf};
use std::time::Instant;

use weir::ErrorKind;
use weir::optimize::{Checkpoint, SearchContext, SearchOutcome, Settings, search};
use weir_report::{Ranks, SearchReport, Solution, SweepReport, text};
use weir_scenario::Scenario;

use crate::args::OptimizeArgs;
use crate::export::Export;
use crate::failure::{Exit, Failure};
use crate::input::{is_stdin, load, options};
use crate::interrupt::{self, Stage};
use crate::optimize::{CheckpointFile, Stop, Target, Terminal, settings};
use crate::output::{self, Output};
use crate::plugins::{Arbiters, arbiters};

/// Searches one file, under each arbiter it asks for.
pub(crate) fn run(args: &OptimizeArgs) -> Result<Exit, Failure> {
    let [file] = &args.scenario.files[..] else {
        return Err(Failure::usage("`weir optimize` takes one file: search them one after the other"));
    };
    if is_stdin(file) {
        return Err(Failure::usage("`weir optimize` reads the scenario several times: name a file instead of `-`"));
    }
    let arbiters = arbiters(&args.scenario)?;
    let scenario = load(file, &args.scenario, &arbiters)?;
    let settings = settings(args, &scenario)?;
    single(args, &scenario)?;
    let inputs = inputs(args, &scenario);
    let target =
        args.write.as_deref().map(|path| Target::check(path, args, &scenario, &arbiters, &inputs)).transpose()?;
    for (option, path) in [("--csv", &args.csv), ("--checkpoint", &args.checkpoint)] {
        path.as_deref().map_or(Ok(()), |path| output::check_target(option, path, &inputs))?;
    }
    output::apart(&[
        ("--write", args.write.as_deref()),
        ("--csv", args.csv.as_deref()),
        ("--checkpoint", args.checkpoint.as_deref()),
        ("--output", args.output.as_deref()),
    ])?;
    let mut tables = Export::new(&args.export)?;
    tables.spare(&inputs)?;
    let mut out = Output::open_apart(args.output.as_deref(), &inputs)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::usage(format!("the threads of the search cannot be started: {error}")))?;
    for index in 0..scenario.arbiters.len() {
        if interrupt::requested() {
            break;
        }
        let job = Searched { file, args, settings, arbiters: &arbiters, scenario: &scenario, arbiter: index };
        let found = pool.install(|| job.search())?;
        let _writing = Stage::writing();
        show(&job, &found, &mut out)?;
        tables.add(|tables| {
            found.report.iter().for_each(|report| tables.add_search(report));
            found.sweep.iter().for_each(|sweep| tables.add_sweep(sweep));
        });
        if let Some(target) = &target {
            target.write(&found.changes, found.report.as_ref(), &arbiters)?;
        }
    }
    tables.write()?;
    out.finish()?;
    Ok(Exit::Ok)
}

/// Files that take the result of one search want one arbiter.
fn single(args: &OptimizeArgs, scenario: &Scenario) -> Result<(), Failure> {
    let given =
        [("--write", args.write.is_some()), ("--csv", args.csv.is_some()), ("--checkpoint", args.checkpoint.is_some())];
    match given.iter().find(|(_, given)| *given && scenario.arbiters.len() > 1) {
        Some((option, _)) => {
            let count = scenario.arbiters.len();
            let message =
                format!("{option} takes a search under one arbiter, but there are {count}: choose one with --arbiter");
            Err(Failure::usage(message))
        }
        None => Ok(()),
    }
}

/// All files that are read: none may be written over.
fn inputs<'a>(args: &'a OptimizeArgs, scenario: &'a Scenario) -> Vec<&'a Path> {
    let named = scenario.files.iter().map(|file| &file.path);
    args.scenario.files.iter().chain(&args.scenario.plugins).chain(named).map(PathBuf::as_path).collect()
}

struct Searched<'a> {
    file: &'a Path,
    args: &'a OptimizeArgs,
    settings: Settings,
    arbiters: &'a Arbiters,
    scenario: &'a Scenario,
    arbiter: usize,
}

impl Searched<'_> {
    fn search(&self) -> Result<SearchOutcome, Failure> {
        let _running = Stage::running();
        let (stop, watch) = (Stop::after(self.args.budget), Terminal::default());
        let checkpoint = self.args.checkpoint.as_deref().map(CheckpointFile::new);
        let found = search(&SearchContext {
            file: self.file,
            options: &options(&self.args.scenario, &[]),
            registry: &self.arbiters.registry,
            scenario: self.scenario,
            arbiter: self.arbiter,
            settings: self.settings,
            checkpoint: checkpoint.as_ref().map(|checkpoint| checkpoint as &dyn Checkpoint),
            cancel: stop.flag(),
            begin: Instant::now(),
            watch: &watch,
        });
        found.map_err(|error| if error.kind() == ErrorKind::Cancelled { too_soon() } else { error.into() })
    }
}

/// A search that was ended before it knew anything.
fn too_soon() -> Failure {
    match interrupt::requested() {
        true => Failure::new(Exit::Interrupted, "interrupted before the first result"),
        false => Failure::usage("the time ran out before the first result: give a longer --budget"),
    }
}

/// How a result is printed.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) json: bool,
    /// Whether it follows another result.
    pub(crate) later: bool,
}

impl Form {
    fn space(self) -> &'static str {
        if self.later { "\n" } else { "" }
    }
}

fn show(job: &Searched<'_>, found: &SearchOutcome, out: &mut Output) -> Result<(), Failure> {
    let (args, form) = (job.args, Form { json: job.args.json, later: job.arbiter > 0 });
    if let Some(part) = &found.part {
        return out.result(|writer| writer.write_all(part.line().as_bytes()));
    }
    if let Some(sweep) = &found.sweep {
        return show_sweep(args.csv.as_deref(), sweep, form, out);
    }
    let Some(report) = &found.report else { return Ok(()) };
    write_csv(args.csv.as_deref(), report)?;
    if args.full {
        return write_full(report, job.scenario, out);
    }
    write(report, form, out)
}

/// Writes a result as JSON with what pictures need.
fn write_full(report: &SearchReport, scenario: &Scenario, out: &mut Output) -> Result<(), Failure> {
    let devices = scenario.ranks.iter().flatten().map(|&device| scenario.node_name(device)).collect();
    let placed = matches!(report.result.solution, Solution::Placement(_));
    let ranks = placed.then_some(Ranks { scenario, devices });
    out.result(|writer| report.write_full(ranks.as_ref(), writer))
}

/// Writes what a sweep found: its points to a file if asked for, and the result.
fn show_sweep(csv: Option<&Path>, sweep: &SweepReport, form: Form, out: &mut Output) -> Result<(), Failure> {
    if let Some(target) = csv {
        let mut table = Vec::new();
        let written = sweep.sweep.write_csv(&mut table);
        written.map_err(|error| crate::failure::writing("the table", &error))?;
        output::replace(target, &table)?;
    }
    out.result(|writer| match form.json {
        true => sweep.write(writer),
        false => write!(writer, "{}{}", form.space(), text::sweep(sweep)),
    })
}

/// Writes a result as JSON or text.
pub(crate) fn write(report: &SearchReport, form: Form, out: &mut Output) -> Result<(), Failure> {
    out.result(|writer| match form.json {
        true => report.write(writer),
        false => write!(writer, "{}{}", form.space(), text::search(report)),
    })
}

/// Writes the candidates of a grid to a file.
pub(crate) fn write_csv(target: Option<&Path>, report: &SearchReport) -> Result<(), Failure> {
    let (Some(target), Some(grid)) = (target, &report.grid) else { return Ok(()) };
    let mut table = Vec::new();
    let written = grid.table().write_csv(&mut table);
    written.map_err(|error| crate::failure::writing("the table", &error))?;
    output::replace(target, &table)
}
