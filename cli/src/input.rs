//! Scenarios from files and standard input.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir::{Diagnostic, Error, Input, LoadOptions, Opened, Opener, Scenario};
use weir_report::ResultKind;

use crate::args::ScenarioArgs;
use crate::bounded;
use crate::failure::message;
use crate::interrupt;
use crate::plugins::Arbiters;

/// Most bytes of a scenario on standard input: one more than the format allows, so that the reader can refuse.
const MOST: u64 = (16 << 20) + 1;

/// Reads a scenario and shows its warnings.
pub(crate) fn load(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Error> {
    Ok(with_warnings_printed(read_with(file, options(args, &[]), arbiters)?))
}

/// As [`load`], of a scenario that was read from standard input already.
pub(crate) fn load_bytes(text: Vec<u8>, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Error> {
    Ok(with_warnings_printed(opener(options(args, &[]), arbiters).load(from_stdin(text))?))
}

/// As [`load`], of a scenario whose transfers are to be streamed.
pub(crate) fn load_streamed(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Error> {
    Ok(with_warnings_printed(read_with(file, LoadOptions { stream: true, ..options(args, &[]) }, arbiters)?))
}

fn with_warnings_printed(scenario: Scenario) -> Scenario {
    scenario.contents().warnings.iter().for_each(|warning| message(&warning.to_string()));
    scenario
}

/// Reads a scenario; its warnings are left to the caller.
pub(crate) fn read_with(file: &Path, options: LoadOptions, arbiters: &Arbiters) -> Result<Scenario, Error> {
    let opener = opener(options, arbiters);
    reading(file, |input| match input {
        // What is read again, with changes, needs to know the file.
        Input::File(file) => opener.open(file),
        text => opener.load(text),
    })
}

/// Reads a scenario or a topology; warnings are left to the caller.
pub(crate) fn read_any(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Opened, Error> {
    reading(file, |input| opener(options(args, &[]), arbiters).load_any(input))
}

/// The YAML of a scenario with the groups of its workload written out.
pub(crate) fn expand(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<String, Error> {
    reading(file, |input| opener(options(args, &[]), arbiters).expand(input))
}

/// Reads a file or standard input; of a saved result the error says no more than that.
fn reading<T>(file: &Path, read: impl FnOnce(Input<'_>) -> Result<T, Error>) -> Result<T, Error> {
    if !is_stdin(file) {
        return read(file.into()).map_err(|error| not_saved(file, error));
    }
    let text = stdin()?;
    match saved(without_mark(text.clone())).ok().as_deref().and_then(saved_error_of_stdin) {
        Some(error) => Err(error),
        None => read(from_stdin(text)),
    }
}

fn opener(options: LoadOptions, arbiters: &Arbiters) -> Opener {
    Opener::from(options).registry(Arc::clone(&arbiters.registry))
}

/// What the command line, and further edits, make of a file.
pub(crate) fn options(args: &ScenarioArgs, edits: &[(String, String)]) -> LoadOptions {
    let set = [&args.set, edits].concat();
    let (library, arbiters) = (args.library.clone(), args.arbiters.clone());
    let cancel = Some(Arc::clone(interrupt::flag()));
    LoadOptions { library, set, arbiters, fidelity: fidelities(&args.fidelity), stream: false, cancel }
}

/// Each fidelity that is asked for: names may stand in one word with commas between. A list is refused where it is read.
fn fidelities(asked: &[String]) -> Vec<String> {
    let each = |text: &String| -> Vec<String> {
        if text.contains(['{', '[']) {
            vec![text.clone()]
        } else {
            text.split(',').map(|name| name.trim().to_owned()).collect()
        }
    };
    asked.iter().flat_map(each).collect()
}

/// Whether a file stands for standard input.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The files that were read beside a scenario's own.
pub(crate) fn read_files(scenario: &Scenario) -> Vec<&Path> {
    scenario.contents().read_files.iter().map(PathBuf::as_path).collect()
}

/// Bytes without the mark of UTF-8 that some editors and shells put before what they write.
pub(crate) fn without_mark(bytes: Vec<u8>) -> Vec<u8> {
    bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes)
}

/// The text of what weir saved as JSON; else the bytes of a scenario.
pub(crate) fn saved(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    let text = String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)?;
    if weir_report::is_saved(&text) { Ok(text) } else { Err(text.into_bytes()) }
}

/// What is wrong with a scenario; of a saved result only that it is one, and of a text with the name of one how to save it.
fn not_saved(file: &Path, error: Error) -> Error {
    // A pipe has been read, and would be waited for.
    let bytes = file.metadata().is_ok_and(|found| found.is_file()).then(|| bounded::read(file).ok()).flatten();
    let name = file.display().to_string();
    let found = bytes.map(|bytes| saved(without_mark(bytes))).and_then(|text| match text {
        Ok(text) => saved_error(&name, &name, &text),
        Err(bytes) => {
            let is_text = file.extension().is_some_and(|end| end == "json")
                && !matches!(bytes.trim_ascii_start().first(), None | Some(b'{' | b'['));
            is_text.then(|| {
                Error::input(format!("{name} is text, not JSON: to save a result, add --json beside --output"))
            })
        }
    });
    found.unwrap_or(error)
}

fn saved_error_of_stdin(text: &str) -> Option<Error> {
    saved_error("standard input", "-", text)
}

/// That a text is what a command has saved, and what shows it.
fn saved_error(name: &str, argument: &str, text: &str) -> Option<Error> {
    let kind = weir_report::saved_kind(text)?;
    let shows = match kind {
        ResultKind::Run => format!("`weir report {argument}` shows it, and `weir compare` sets it beside others"),
        ResultKind::Comparison
        | ResultKind::Search
        | ResultKind::Sweep
        | ResultKind::Tuning
        | ResultKind::Validation
        | ResultKind::WhatIf => {
            format!("`weir report {argument}` shows it")
        }
        _ => "`weir report` shows results of `weir run --json`".to_owned(),
    };
    let command = kind.command();
    Some(Error::input(format!(
        "{name} is a saved result of `{command}`, not a scenario: {shows}; give the scenario itself"
    )))
}

fn stdin() -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MOST).read_to_end(&mut text);
    read.map_err(|error| Error::input(format!("standard input cannot be read: {error}")))?;
    Ok(text)
}

fn from_stdin(text: Vec<u8>) -> Input<'static> {
    Input::text(text, "-", Some(Path::new(".")))
}

/// What is wrong with a scenario, as a failure of the command.
pub(crate) fn wrong(diagnostics: Vec<Diagnostic>, arbiters: &Arbiters) -> Error {
    arbiters.registry.error_of(diagnostics)
}
