//! `weir report`: one page of runs and of saved results.

mod pictures;
mod watch;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use weir::{ArbiterSpec, Error, PageStep, RunOptions, Scenario};
use weir_report::page::{Counts, Page};
use weir_report::text;

use crate::args::ReportArgs;
use crate::bounded;
use crate::export::check_folder;
use crate::failure::{Exit, message, print};
use crate::input::{self, is_stdin};
use crate::interrupt::{self, Stage};
use crate::output::{self, Output};
use crate::plugins::{Arbiters, arbiters};
use crate::simulate::{self, warn_of};
use watch::Watched;

/// The page, where none is named.
const PAGE: &str = "report.html";
/// What every page has near its begin.
const MARK: &str = "<title>weir report</title>";

/// Writes a page of all files, opens it and watches its files where that is asked for; the exit code is the largest.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Error> {
    let target = args.output.clone().unwrap_or_else(|| PathBuf::from(PAGE));
    can_be_shown(args, &target)?;
    args.svg.as_deref().map_or(Ok(()), |folder| check_folder("--svg", folder))?;
    let mut watched = Watched::default();
    let exit = write_watched(args, &target, &mut watched)?;
    if args.open && target.exists() {
        open::that_detached(&target)
            .map_err(|error| Error::input(format!("no browser opens {}: {error}; open it yourself", name(&target))))?;
    }
    if args.watch {
        follow(args, &target, &mut watched);
    }
    Ok(exit)
}

/// Writes the page whenever one of its files has changed. Errors are printed, and the last page stays.
fn follow(args: &ReportArgs, target: &Path, watched: &mut Watched) -> ! {
    loop {
        message(&format!("{} has changed", name(watched.changed())));
        if let Err(failure) = write_watched(args, target, watched) {
            print(failure);
        }
    }
}

fn write_watched(args: &ReportArgs, target: &Path, watched: &mut Watched) -> Result<Exit, Error> {
    let (began, mut read) = (SystemTime::now(), Vec::new());
    watched.look(&args.scenario.files);
    let exit = write(args, target, &mut read);
    watched.add(read, began);
    exit
}

/// Refuses what can be neither opened nor watched.
fn can_be_shown(args: &ReportArgs, target: &Path) -> Result<(), Error> {
    if args.open && !has_page(args) {
        return Err(Error::input("--open shows the page, which --svg leaves out: name it with --output".to_owned()));
    }
    if args.open && is_stdin(target) {
        return Err(Error::input("--open needs a file: name one with --output".to_owned()));
    }
    if args.watch && args.scenario.files.iter().any(|file| is_stdin(file)) {
        return Err(Error::input("--watch needs files: standard input cannot be read again".to_owned()));
    }
    Ok(())
}

/// Whether the page is wanted: where pictures are, only if it is named.
fn has_page(args: &ReportArgs) -> bool {
    args.svg.is_none() || args.output.is_some()
}

/// Writes a page of all files and their pictures, and tells which files scenarios read.
fn write(args: &ReportArgs, target: &Path, read: &mut Vec<PathBuf>) -> Result<Exit, Error> {
    let output = if has_page(args) { Some(target_of(target, args)?) } else { None };
    let arbiters = arbiters(&args.scenario.plugins)?;
    let (mut page, mut exit) = (Page::default(), Exit::Ok);
    if args.svg.is_some() {
        page.draw();
    }
    for file in &args.scenario.files {
        if !interrupt::requested() {
            exit = exit.max(add(file, args, &arbiters, &mut page, read));
        }
    }
    let counts = page.counts();
    if counts == Counts::default() {
        return Ok(exit.max(Exit::Usage));
    }
    let _writing = Stage::writing();
    if let Some(mut output) = output {
        output.result(|writer| page.write(writer))?;
        output.finish()?;
        message(&wrote(target, counts));
    }
    args.svg.as_deref().map_or(Ok(()), |folder| pictures::write(folder, page.pictures()))?;
    Ok(exit)
}

/// Opens the target. Nobody has named the default one, so a file that is no page stays as it is.
fn target_of(target: &Path, args: &ReportArgs) -> Result<Output, Error> {
    if args.output.is_none() && target.exists() && !is_page(target) {
        let message = format!("{PAGE} exists already and is not a page of weir: name a file with --output");
        return Err(Error::input(message));
    }
    let inputs: Vec<&Path> =
        args.scenario.files.iter().chain(&args.scenario.plugins.plugins).map(PathBuf::as_path).collect();
    Output::open_apart(Some(target), &inputs)
}

/// Whether a file begins as a page does.
fn is_page(file: &Path) -> bool {
    use std::io::Read;
    /// Bytes that are looked at; the title stands behind a content security policy with two hashes; *assumed*.
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(MARK)
}

/// What was written, for a person.
fn wrote(target: &Path, counts: Counts) -> String {
    let Counts { runs, searches, sweeps, tuned, validated, what_ifs } = counts;
    let kinds = [
        (runs, "run", "runs"),
        (searches, "search", "searches"),
        (sweeps, "sweep", "sweeps"),
        (tuned, "tuned scenario", "tuned scenarios"),
        (validated, "validated scenario", "validated scenarios"),
        (what_ifs, "what-if table", "what-if tables"),
    ];
    let some = kinds.iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> =
        some.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect();
    let name = if is_stdin(target) { "to stdout".to_owned() } else { text::clean(&target.display().to_string()) };
    format!("wrote {name}: {}; open it in a browser", parts.join(", "))
}

/// Adds a file: saved results, or a scenario that is run. What is wrong with it is printed, so that the others are shown.
fn add(file: &Path, args: &ReportArgs, all: &Arbiters, page: &mut Page, read: &mut Vec<PathBuf>) -> Exit {
    let added = match read_input(file) {
        Ok(InputFile::Saved(text)) => {
            warn_unused(file, args);
            page.add_saved(&name(file), &text).map_err(Error::input).map(|()| Exit::Ok)
        }
        Ok(InputFile::Scenario(bytes)) => scenario(file, bytes, args, all).and_then(|scenario| {
            read.extend(input::read_files(&scenario).into_iter().map(Path::to_path_buf));
            output::spare(
                "--output",
                args.output.as_deref().unwrap_or(Path::new(PAGE)),
                &input::read_files(&scenario),
            )?;
            page.describe(changed(args));
            add_runs(&scenario, args, page)
        }),
        Err(failure) => Err(failure),
    };
    added.unwrap_or_else(print)
}

/// What the command line changes of scenarios, in its words.
fn changed(args: &ReportArgs) -> Option<String> {
    let set = args.scenario.set.iter().map(|(path, value)| format!("--set {path}={value}"));
    let until = args.until.map(|until| format!("--until {}", weir_report::instant(until)));
    let changes: Vec<String> = set.chain(until).collect();
    (!changes.is_empty()).then(|| changes.join(" "))
}

/// Says that a saved result stays as it is, whatever the command line changes.
fn warn_unused(file: &Path, args: &ReportArgs) {
    let given = [
        ("--arbiter", !args.scenario.arbiters.is_empty()),
        ("--set", !args.scenario.set.is_empty()),
        ("--until", args.until.is_some()),
    ];
    let unused: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(option, _)| *option).collect();
    if !unused.is_empty() {
        let (name, options) = (name(file), unused.join(", "));
        message(&format!("warning: {name} is a saved result and stays unchanged; only scenarios take {options}"));
    }
}

enum InputFile {
    /// Lines of JSON that weir has printed.
    Saved(String),
    /// Anything else, and what it holds.
    Scenario(Vec<u8>),
}

/// Reads a file and tells what it is.
fn read_input(file: &Path) -> Result<InputFile, Error> {
    let bytes = read(file).map_err(|error| {
        let name = name(file);
        Error::input(format!("{name} cannot be read: {error}; name scenarios, and results saved with --json"))
    })?;
    let bytes = input::without_mark(bytes);
    if is_html(&bytes) {
        let name = name(file);
        let message = format!(
            "{name} is an HTML page: name the scenarios, or the results saved with --json, that it was made of"
        );
        return Err(Error::input(message));
    }
    Ok(input::saved(bytes).map_or_else(InputFile::Scenario, InputFile::Saved))
}

/// Whether this is a page itself: of weir, or any other.
fn is_html(bytes: &[u8]) -> bool {
    let begins = |with: &[u8]| bytes.trim_ascii_start().get(..with.len()).is_some_and(|b| b.eq_ignore_ascii_case(with));
    begins(b"<!doctype") || begins(b"<html")
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    match is_stdin(file) {
        false => bounded::read(file),
        true => bounded::whole(std::io::stdin().lock(), bounded::MOST_BYTES),
    }
}

/// What messages call a file.
fn name(file: &Path) -> String {
    if is_stdin(file) { "standard input".to_owned() } else { text::clean(&file.display().to_string()) }
}

/// Reads a scenario; standard input was read already.
fn scenario(file: &Path, bytes: Vec<u8>, args: &ReportArgs, all: &Arbiters) -> Result<Scenario, Error> {
    if is_stdin(file) {
        return input::load_bytes(bytes, &args.scenario, all);
    }
    drop(bytes);
    input::load(file, &args.scenario, all)
}

/// Runs a scenario under its arbiters.
fn add_runs(scenario: &Scenario, args: &ReportArgs, page: &mut Page) -> Result<Exit, Error> {
    let mut exit = Exit::Ok;
    for spec in scenario.arbiters() {
        if interrupt::requested() {
            break;
        }
        exit = exit.max(add_run(scenario, spec, args, page).err().map_or(Exit::Ok, print));
    }
    Ok(exit)
}

/// Runs a scenario under one arbiter.
fn add_run(scenario: &Scenario, spec: &ArbiterSpec, args: &ReportArgs, page: &mut Page) -> Result<(), Error> {
    warn_of(scenario, spec)?;
    let options = simulate::watched(&RunOptions { until: args.until, ..RunOptions::default() });
    let stage = Cell::new(None);
    scenario.add_to_page(page, spec, &options, &|step| {
        // One stage ends before the next begins.
        drop(stage.take());
        stage.set(Some(match step {
            PageStep::Running => Stage::running(),
            PageStep::Writing(run) => {
                simulate::say_if_interrupted(run.outcome.stop);
                simulate::say_trouble(run);
                Stage::writing()
            }
        }));
    })
}
