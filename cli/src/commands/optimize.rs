//! `weir optimize`: the best send orders, placement of ranks, or values of parameters, under each arbiter.

use std::path::{Path, PathBuf};

use weir::optimize::{Checkpoint, SearchOptions, SearchOutcome};
use weir::{Error, ErrorKind, Scenario};
use weir_report::{Ranks, SearchReport, SweepReport, text};

use crate::args::OptimizeArgs;
use crate::export::Export;
use crate::failure::Exit;
use crate::input::{is_stdin, load, read_files};
use crate::interrupt::{self, Stage};
use crate::optimize::{CheckpointFile, Target, check, search_options};
use crate::output::{self, Output};
use crate::plugins::{Arbiters, arbiters};
use crate::progress::Terminal;

/// Searches one file, under each arbiter it asks for.
pub(crate) fn run(args: &OptimizeArgs) -> Result<Exit, Error> {
    let [file] = &args.scenario.files[..] else {
        return Err(Error::input("`weir optimize` takes one file: search them one after the other"));
    };
    if is_stdin(file) {
        return Err(Error::input("`weir optimize` reads the scenario several times: name a file instead of `-`"));
    }
    let arbiters = arbiters(&args.scenario.plugins)?;
    let scenario = load(file, &args.scenario, &arbiters)?;
    let checkpoint = args.checkpoint.as_deref().map(CheckpointFile::new);
    let options = search_options(args, checkpoint.as_ref().map(|checkpoint| checkpoint as &dyn Checkpoint))?;
    check(args, &options, &scenario)?;
    single(args, &scenario)?;
    let mut targets = Targets::open(args, &scenario, &arbiters)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Error::input(format!("the threads of the search cannot be started: {error}")))?;
    for arbiter in 0..scenario.arbiters().len() {
        if interrupt::requested() {
            break;
        }
        let found = pool.install(|| search(&scenario, arbiter, &options))?;
        let _writing = Stage::writing();
        targets.write(&scenario, arbiter, &found)?;
    }
    targets.finish()
}

/// Files that take the result of one search want one arbiter.
fn single(args: &OptimizeArgs, scenario: &Scenario) -> Result<(), Error> {
    let given =
        [("--write", args.write.is_some()), ("--csv", args.csv.is_some()), ("--checkpoint", args.checkpoint.is_some())];
    let count = scenario.arbiters().len();
    match given.iter().find(|(_, given)| *given && count > 1) {
        Some((option, _)) => {
            let message =
                format!("{option} takes a search under one arbiter, but there are {count}: choose one with --arbiter");
            Err(Error::input(message))
        }
        None => Ok(()),
    }
}

fn search(scenario: &Scenario, arbiter: usize, options: &SearchOptions<'_>) -> Result<SearchOutcome, Error> {
    let _running = Stage::running();
    let watch = Terminal::default();
    let options = SearchOptions { cancel: Some(interrupt::flag()), watch: &watch, ..*options };
    let found = scenario.optimize_with(arbiter, &options);
    found.map_err(|error| if error.kind() == ErrorKind::Cancelled { too_soon() } else { error })
}

struct Targets<'a> {
    args: &'a OptimizeArgs,
    arbiters: &'a Arbiters,
    best: Option<Target<'a>>,
    tables: Export<'a>,
    out: Output,
}

impl<'a> Targets<'a> {
    /// Refuses targets that would not do before a long search.
    fn open(args: &'a OptimizeArgs, scenario: &Scenario, arbiters: &'a Arbiters) -> Result<Self, Error> {
        let inputs = inputs(args, scenario);
        let best =
            args.write.as_deref().map(|path| Target::check(path, args, scenario, arbiters, &inputs)).transpose()?;
        for (option, path) in [("--csv", &args.csv), ("--checkpoint", &args.checkpoint)] {
            path.as_deref().map_or(Ok(()), |path| output::check_target(option, path, &inputs))?;
        }
        output::apart(&[
            ("--write", args.write.as_deref()),
            ("--csv", args.csv.as_deref()),
            ("--checkpoint", args.checkpoint.as_deref()),
            ("--output", args.output.as_deref()),
        ])?;
        let tables = Export::new(&args.export)?;
        tables.spare(&inputs)?;
        let out = Output::open_apart(args.output.as_deref(), &inputs)?;
        Ok(Self { args, arbiters, best, tables, out })
    }

    /// Writes what one search found.
    fn write(&mut self, scenario: &Scenario, arbiter: usize, found: &SearchOutcome) -> Result<(), Error> {
        let form = Form { json: self.args.json, later: arbiter > 0 };
        show(self.args, scenario.contents(), form, found, &mut self.out)?;
        self.tables.add(|tables| {
            found.report.iter().for_each(|report| tables.add_search(report));
            found.sweep.iter().for_each(|sweep| tables.add_sweep(sweep));
        });
        let best = self.best.as_ref();
        best.map_or(Ok(()), |best| best.write(&found.changes, found.report.as_ref(), self.arbiters))
    }

    fn finish(self) -> Result<Exit, Error> {
        self.tables.write()?;
        self.out.finish()?;
        Ok(Exit::Ok)
    }
}

/// All files that are read: none may be written over.
fn inputs<'a>(args: &'a OptimizeArgs, scenario: &'a Scenario) -> Vec<&'a Path> {
    let given = args.scenario.files.iter().chain(&args.scenario.plugins.plugins).map(PathBuf::as_path);
    given.chain(read_files(scenario)).collect()
}

/// A search that was ended before it knew anything.
fn too_soon() -> Error {
    match interrupt::requested() {
        true => Error::new(ErrorKind::Cancelled, "interrupted before the first result"),
        false => Error::input("the time ran out before the first result: give a longer --budget"),
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

fn show(
    args: &OptimizeArgs,
    scenario: &weir_scenario::Scenario,
    form: Form,
    found: &SearchOutcome,
    out: &mut Output,
) -> Result<(), Error> {
    if let Some(part) = &found.part {
        return out.result(|writer| writer.write_all(part.line().as_bytes()));
    }
    if let Some(sweep) = &found.sweep {
        return show_sweep(args.csv.as_deref(), sweep, form, out);
    }
    let Some(report) = &found.report else { return Ok(()) };
    write_csv(args.csv.as_deref(), report)?;
    if args.full {
        return write_full(report, scenario, out);
    }
    write(report, form, out)
}

/// Writes a result as JSON with what pictures need.
fn write_full(report: &SearchReport, scenario: &weir_scenario::Scenario, out: &mut Output) -> Result<(), Error> {
    let devices = scenario.ranks.iter().flatten().map(|&device| scenario.node_name(device)).collect();
    let placed = report.result.solution.placement.is_some();
    let ranks = placed.then_some(Ranks { scenario, devices });
    out.result(|writer| report.write_full(ranks.as_ref(), writer))
}

/// Writes what a sweep found: its points to a file if asked for, and the result.
fn show_sweep(csv: Option<&Path>, sweep: &SweepReport, form: Form, out: &mut Output) -> Result<(), Error> {
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
pub(crate) fn write(report: &SearchReport, form: Form, out: &mut Output) -> Result<(), Error> {
    out.result(|writer| match form.json {
        true => report.write(writer),
        false => write!(writer, "{}{}", form.space(), text::search(report)),
    })
}

/// Writes the candidates of a grid to a file.
pub(crate) fn write_csv(target: Option<&Path>, report: &SearchReport) -> Result<(), Error> {
    let (Some(target), Some(grid)) = (target, &report.grid) else { return Ok(()) };
    let mut table = Vec::new();
    let written = grid.table().write_csv(&mut table);
    written.map_err(|error| crate::failure::writing("the table", &error))?;
    output::replace(target, &table)
}
