//! One scenario: its runs, its snapshot, and what follows.

use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir::{Error, ErrorKind, LoadOptions, RunOptions, Scenario};
use weir_report::text::clean;
use weir_report::{RunSnapshot, Snapshot, SnapshotDifference, Tolerance, titled};
use weir_scenario::{FileKind, file_kind};

use super::folder::snapshot_of;
use crate::args::TestArgs;
use crate::beside::folder_of;
use crate::input::read_with;
use crate::plugins::Arbiters;
use crate::simulate::watched;
use crate::{bounded, interrupt, output};

/// What a file came to.
pub(super) struct Case {
    pub(super) file: PathBuf,
    pub(super) verdict: Verdict,
    /// What is to be known whatever the verdict.
    pub(super) notes: Vec<String>,
}

pub(super) enum Verdict {
    Ok,
    /// Its snapshot is to have this text.
    Accepted {
        what: &'static str,
        details: String,
        snapshot: String,
    },
    /// In one line, and below it.
    Failed {
        what: String,
        details: String,
    },
    /// Why.
    Skipped(&'static str),
}

impl Case {
    fn new(file: &Path, verdict: Verdict) -> Self {
        Self { file: file.to_owned(), verdict, notes: Vec::new() }
    }

    /// The path for a person.
    pub(super) fn name(&self) -> String {
        clean(&self.file.display().to_string())
    }

    /// What is printed: a line, with details and notes below.
    pub(super) fn to_text(&self) -> String {
        let (word, what, details) = match &self.verdict {
            Verdict::Ok => ("ok", "", ""),
            Verdict::Accepted { what, details, .. } => ("accepted", *what, &**details),
            Verdict::Failed { what, details } => ("FAILED", &**what, &**details),
            Verdict::Skipped(why) => ("skipped", *why, ""),
        };
        let gap = if what.is_empty() { "" } else { ": " };
        let below = details.lines().map(|line| format!("  {}\n", clean(line)));
        let notes = self.notes.iter().map(|note| format!("  note: {}\n", clean(note)));
        let below: String = below.chain(notes).collect();
        format!("{word:8} {}{gap}{what}\n{below}", self.name())
    }

    /// Puts a snapshot that was accepted in its place.
    pub(super) fn write(&self) -> Result<(), Error> {
        let Verdict::Accepted { snapshot, .. } = &self.verdict else { return Ok(()) };
        let target = snapshot_of(&self.file);
        let folder = folder_of(&target);
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::input(format!("the folder {} cannot be made: {error}", folder.display())))?;
        output::replace(&target, snapshot.as_bytes())
    }
}

/// Runs a file, where it is a scenario, and compares.
pub(super) fn of(file: &Path, args: &TestArgs, all: &Arbiters) -> Case {
    let skipped = match file_kind(file) {
        _ if file.is_dir() => Some("a link to a folder: name it on the command line to test what is there"),
        FileKind::Topology => Some("a topology without a workload"),
        FileKind::Other => Some("no scenario: it has no key `weir`, `topology` or `workload`"),
        FileKind::Scenario => None,
    };
    if let Some(why) = skipped {
        return Case::new(file, Verdict::Skipped(why));
    }
    match results(file, args, all) {
        Ok(now) => judged(file, &now, args),
        Err(error) => Case::new(file, failed("there is no result", error.to_string())),
    }
}

fn failed(what: &str, details: String) -> Verdict {
    Verdict::Failed { what: what.to_owned(), details }
}

/// The results of today: under the scenario's own arbiters, then under those of `--arbiter`.
fn results(file: &Path, args: &TestArgs, all: &Arbiters) -> Result<Snapshot, Error> {
    let cancel = Some(Arc::clone(interrupt::flag()));
    let options = LoadOptions { library: args.library.clone(), cancel, ..LoadOptions::default() };
    let own = read_with(file, options.clone(), all)?;
    let (mut runs, mut titles) = (Vec::new(), Vec::new());
    add_runs(&own, &mut runs, &mut titles)?;
    if !args.arbiters.is_empty() {
        // An arbiter divides rates, also where the scenario goes packet by packet.
        let others = LoadOptions { arbiters: args.arbiters.clone(), fidelity: vec!["fluid".to_owned()], ..options };
        add_runs(&read_with(file, others, all)?, &mut runs, &mut titles)?;
    }
    Ok(Snapshot::new(&own.contents().input_sha256, runs))
}

/// Runs a scenario under each arbiter that is not among those that it ran under.
fn add_runs(scenario: &Scenario, runs: &mut Vec<RunSnapshot>, titles: &mut Vec<String>) -> Result<(), Error> {
    for spec in scenario.arbiters() {
        let title = titled(&spec.name, &spec.written);
        if titles.contains(&title) {
            continue;
        }
        let run = scenario.run_under(spec, &watched(&RunOptions::default()))?;
        if !run.complete() {
            return Err(Error::new(ErrorKind::Cancelled, "interrupted"));
        }
        runs.push(run.report(RunSnapshot::of)?);
        titles.push(title);
    }
    Ok(())
}

/// A snapshot as it was found.
enum Kept {
    Nothing,
    Read {
        text: String,
        snapshot: Snapshot,
    },
    /// What is wrong, and whether weir may write over it.
    Broken {
        what: String,
        is_own: bool,
    },
}

fn kept(target: &Path) -> Kept {
    let name = target.display();
    let text = match bounded::read_text(target) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err(error) if error.kind() == NotFound => return Kept::Nothing,
        Err(error) => return Kept::Broken { what: format!("error: {name} cannot be read: {error}"), is_own: false },
    };
    let is_own = Snapshot::is_one(&text);
    match Snapshot::of_text(&text) {
        Ok(snapshot) => Kept::Read { text, snapshot },
        Err(error) => {
            let remedy = if is_own { "restore it, or accept the results again" } else { "move it away" };
            Kept::Broken { what: format!("error: {error}\n --> {name}:{}\nhelp: {remedy}", error.line), is_own }
        }
    }
}

/// What the results of today mean.
fn judged(file: &Path, now: &Snapshot, args: &TestArgs) -> Case {
    let (text, mut notes) = (now.to_text(), Vec::new());
    let accepted = |what, details| Verdict::Accepted { what, details, snapshot: text.clone() };
    let verdict = match kept(&snapshot_of(file)) {
        Kept::Nothing if args.accept => accepted("a new snapshot", String::new()),
        Kept::Nothing => failed("no snapshot yet; run with --accept", String::new()),
        Kept::Broken { is_own: true, .. } if args.accept => {
            accepted("in the place of a broken snapshot", String::new())
        }
        Kept::Broken { what, .. } => failed("its snapshot cannot be read", what),
        Kept::Read { text: was, snapshot } => {
            let difference = snapshot.difference(now, Tolerance(args.tolerance));
            let details = details(&difference);
            notes = difference.notes;
            notes.extend(difference.idle.iter().map(|arbiter| match args.accept {
                true => format!("the accepted result under {arbiter} is removed: nothing ran under it"),
                false => format!("nothing ran under {arbiter}, which has an accepted result"),
            }));
            match (details.is_empty(), args.accept) {
                (true, true) if was != text => accepted("the same times and reasons", details),
                (false, true) => accepted("another result", details),
                (false, false) => failed("differs from its snapshot", details),
                _ => Verdict::Ok,
            }
        }
    };
    Case { notes, ..Case::new(file, verdict) }
}

fn details(difference: &SnapshotDifference) -> String {
    difference.runs.iter().map(weir_report::RunDifference::to_text).collect()
}
