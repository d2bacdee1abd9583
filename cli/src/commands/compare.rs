//! `weir compare`: results side by side, the first column is the baseline.

use std::path::{Path, PathBuf};

use weir::{ArbiterSpec, Comparison, Error, ErrorKind, RunOptions, Scenario};
use weir_report::page::MOST_ROWS;
use weir_report::{Column, Detail, Deviation, Run, text};

use crate::args::CompareArgs;
use crate::bounded;
use crate::failure::{Exit, message, print};
use crate::input::{self, is_stdin, load};
use crate::interrupt;
use crate::output::Output;
use crate::plugins::{Arbiters, arbiters};
use crate::simulate::{self, warn_of};
use crate::values::FailIf;

/// Compares everything named on the command line.
pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Error> {
    let scenario = &args.scenario;
    if !args.with.is_empty() && scenario.files.iter().any(|file| is_stdin(file)) {
        return Err(Error::input("--with reads the scenario several times: name a file instead of `-`"));
    }
    let inputs: Vec<&Path> = scenario.files.iter().chain(&scenario.plugins.plugins).map(PathBuf::as_path).collect();
    let mut output = Output::open_apart(args.output.as_deref(), &inputs)?;
    let arbiters = arbiters(&scenario.plugins)?;
    let (mut columns, mut exit) = (Vec::new(), Exit::Ok);
    let mut has_saved = false;
    for file in &args.scenario.files {
        if interrupt::requested() {
            break;
        }
        match saved(file) {
            Some(Ok(saved)) => {
                warn_unchanged(file, args);
                has_saved = true;
                columns.extend(saved);
            }
            Some(Err(failure)) => exit = exit.max(print(failure)),
            None => exit = exit.max(add_scenario(file, args, (&arbiters, has_saved), &mut columns)),
        }
    }
    if columns.is_empty() {
        return Ok(exit.max(Exit::Usage));
    }
    let comparison = Comparison::of_columns(columns);
    warn_of_unrelated(&comparison);
    let _writing = interrupt::Stage::writing();
    let written = if args.json { comparison.to_json()? } else { comparison.to_text() };
    output.result(|writer| writer.write_all(written.as_bytes()))?;
    output.finish()?;
    Ok(exit.max(judge(args, &comparison).unwrap_or_else(print)))
}

/// The columns of a file saved by `weir run --json`; `None` for a scenario.
fn saved(file: &Path) -> Option<Result<Vec<Column>, Error>> {
    if is_stdin(file) {
        return None;
    }
    // A file that cannot be read is reported with the scenario reader's words.
    let text = input::saved(input::without_mark(bounded::read(file).ok()?)).ok()?;
    Some(Column::of_saved(&file.display().to_string(), &text).map_err(Error::input))
}

/// Says that `--with` does not change a saved result.
fn warn_unchanged(file: &Path, args: &CompareArgs) {
    if !args.with.is_empty() {
        let name = text::clean(&file.display().to_string());
        message(&format!("warning: {name} is a saved result and stays unchanged; only scenarios take --with"));
    }
}

/// Runs a scenario as it is and with each change, under its arbiters, and adds a column for each; under others, too, unless a
/// saved result is to be compared.
fn add_scenario(
    file: &Path,
    args: &CompareArgs,
    (all, has_saved): (&Arbiters, bool),
    columns: &mut Vec<Column>,
) -> Exit {
    let scenario = match load(file, &args.scenario, all) {
        Ok(scenario) => scenario,
        Err(failure) => return print(failure),
    };
    simulate::warn_of_max_hops(&scenario, args.max_hops);
    let named = !args.scenario.arbiters.is_empty() || !args.scenario.fidelity.is_empty();
    let others = if named || has_saved || !args.with.is_empty() { Vec::new() } else { scenario.other_arbiters() };
    let mut exit = add_columns(&scenario, &others, None, args, columns);
    for with in &args.with {
        if interrupt::requested() {
            break;
        }
        exit = exit.max(match input::read_with(file, input::options(&args.scenario, &with.edits), all) {
            Ok(changed) => add_columns(&changed, &[], Some(&with.text), args, columns),
            Err(failure) => print(failure.noted(format!("this is `--with '{}'`", text::clean(&with.text)))),
        });
    }
    exit
}

/// Adds a column for each arbiter of a scenario, and for others that accept it.
fn add_columns(
    scenario: &Scenario,
    others: &[ArbiterSpec],
    with: Option<&str>,
    args: &CompareArgs,
    columns: &mut Vec<Column>,
) -> Exit {
    let mut exit = Exit::Ok;
    let chosen = scenario.arbiters().iter().map(|spec| (spec, true));
    for (spec, asked_for) in chosen.chain(others.iter().map(|spec| (spec, false))) {
        if interrupt::requested() {
            break;
        }
        let column = column(scenario, spec, args).and_then(|column| {
            // Its warnings are those of the baseline.
            with.map_or_else(|| warn_of(scenario, spec), |_| Ok(()))?;
            Ok(column.changed(with))
        });
        match column {
            Ok(column) => columns.push(column),
            // Of the arbiters that nobody asked for, those that refuse the scenario are only named.
            Err(failure) if !asked_for && failure.kind() == ErrorKind::Input => {
                let place = failure.place().map_or_else(String::new, |place| format!(" --> {place}"));
                message(&format!("note: without `{}`: {}{place}", spec.name, failure.brief()));
            }
            Err(failure) => exit = exit.max(print(failure)),
        }
    }
    exit
}

fn column(scenario: &Scenario, spec: &ArbiterSpec, args: &CompareArgs) -> Result<Column, Error> {
    let full = args.full && scenario.contents().tasks.transfers().count() <= MOST_ROWS;
    let keep = args.json.then_some(Detail { phases: false, full: args.full });
    let of = |run: &Run<'_>| Column::of_run(run, keep).map_err(Error::input);
    let options = RunOptions {
        jitter: args.jitter.wanted()?,
        most_hops: args.max_hops,
        phases: args.full,
        // As `weir run --full` has them.
        explanations: full && spec.packets.is_none(),
        buffers: args.full,
        ..RunOptions::default()
    };
    simulate::report(scenario, spec, &options, of)
}

/// Warns of files most of whose rows are of something else than those of the first.
fn warn_of_unrelated(comparison: &Comparison) {
    let Some(first) = comparison.columns().first() else { return };
    let mut files: Vec<&str> = comparison.unrelated().iter().map(|column| &*column.file).collect();
    files.dedup();
    for other in files {
        let what = "have few transfers or operations in common, so little but their makespans can be compared";
        let how =
            "rows are matched by `id`, and most of one `id` differ in their ends and their size, or in their kind";
        message(&format!("warning: {} and {other} {what}: {how}", first.file));
    }
}

/// The exit code that `--fail-if` asks for.
fn judge(args: &CompareArgs, comparison: &Comparison) -> Result<Exit, Error> {
    let incomplete = comparison.columns().iter().find(|column| !column.complete);
    if let (Some(column), false, false) = (incomplete, args.fail_if.is_empty(), interrupt::requested()) {
        return Err(Error::input(format!("{} is not complete, so --fail-if cannot be decided", column.title())));
    }
    let mut exit = Exit::Ok;
    for &FailIf { change, percent } in &args.fail_if {
        let how = match change {
            Deviation::Slower | Deviation::Faster => format!("is more than {percent} % {} than", change.word()),
            Deviation::Differs => format!("differs by more than {percent} % from"),
        };
        for (column, baseline) in comparison.changed(change, percent) {
            message(&format!("error: {} {how} {}", column.title(), baseline.title()));
            exit = Exit::Compared;
        }
    }
    Ok(exit)
}
