//! `weir test`: scenarios of a folder against the results that were accepted.
//!
//! ```text
//! folders ─► folder: scenarios, snapshots ─► case, on all threads ─► cases ─► stdout, snapshots, JUnit XML
//! ```

mod case;
mod folder;
mod junit;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use weir::{Error, ErrorKind};
use weir_report::text::clean;

use self::case::{Case, Verdict};
use self::folder::Found;
use super::check::count;
use crate::args::TestArgs;
use crate::failure::Exit;
use crate::interrupt::{self, Stage};
use crate::output::{self, Output};
use crate::plugins::arbiters;

/// Stack of each thread: as much as a program's first one has on Linux, for files that are nested deeply.
const STACK: usize = 8 << 20;

/// Tests everything named on the command line.
pub(crate) fn run(args: &TestArgs) -> Result<Exit, Error> {
    let found = folder::find(args)?;
    let inputs: Vec<&Path> = found.files.iter().chain(&args.plugins.plugins).map(PathBuf::as_path).collect();
    args.junit.as_deref().map_or(Ok(()), |target| output::check_target("--junit", target, &inputs))?;
    if args.accept {
        output::has_files();
    }
    let mut out = Output::open(None)?;
    let cases = cases(&found, args)?;
    let _writing = Stage::writing();
    for case in &cases {
        case.write()?;
        out.part(|writer| write!(writer, "{}", case.to_text()))?;
    }
    let leftover = leftover(&found, &cases, args)?;
    out.result(|writer| write!(writer, "{leftover}\n{}\n", summary(&cases)))?;
    if let Some(target) = &args.junit {
        output::replace(target, junit::text(&cases).as_bytes())?;
    }
    verdict(&cases)
}

/// The cases in the order of the files, however many threads run them.
fn cases(found: &Found, args: &TestArgs) -> Result<Vec<Case>, Error> {
    let arbiters = arbiters(&args.plugins)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.unwrap_or(0)).stack_size(STACK).build();
    let pool = pool.map_err(|error| Error::input(format!("the threads of the test cannot be started: {error}")))?;
    let running = Stage::running();
    let one = |file: &PathBuf| (!interrupt::requested()).then(|| case::of(file, args, &arbiters));
    // One by one: a large scenario keeps no others waiting.
    let cases: Option<Vec<Case>> = pool.install(|| found.files.par_iter().with_max_len(1).map(one).collect());
    drop(running);
    let interrupted = || Error::new(ErrorKind::Cancelled, "interrupted: nothing was accepted");
    cases.filter(|_| !interrupt::requested()).ok_or_else(interrupted)
}

/// Names the snapshots whose scenarios are gone, or removes them.
fn leftover(found: &Found, cases: &[Case], args: &TestArgs) -> Result<String, Error> {
    let mut text = String::new();
    for snapshot in folder::leftover(found, cases)? {
        let name = clean(&snapshot.display().to_string());
        if args.accept {
            std::fs::remove_file(&snapshot)
                .map_err(|error| Error::input(format!("{name} cannot be removed: {error}; remove it by hand")))?;
            text.push_str(&format!("removed  {name}: its scenario is gone\n"));
        } else {
            text.push_str(&format!("leftover {name}: its scenario is gone; --accept removes it\n"));
        }
    }
    Ok(text)
}

/// `4 scenarios: 2 ok, 1 accepted, 1 failed; 1 file skipped`.
fn summary(cases: &[Case]) -> String {
    let number = |what: fn(&Verdict) -> bool| cases.iter().filter(|case| what(&case.verdict)).count();
    let skipped = number(|verdict| matches!(verdict, Verdict::Skipped(_)));
    let parts = [
        (number(|verdict| matches!(verdict, Verdict::Ok)), "ok"),
        (number(|verdict| matches!(verdict, Verdict::Accepted { .. })), "accepted"),
        (number(|verdict| matches!(verdict, Verdict::Failed { .. })), "failed"),
    ];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let skipped_text = if skipped > 0 { format!("; {} skipped", count(skipped as u64, "file")) } else { String::new() };
    let tested = count((cases.len() - skipped) as u64, "scenario");
    if parts.is_empty() {
        format!("{tested}{skipped_text}")
    } else {
        format!("{tested}: {}{skipped_text}", parts.join(", "))
    }
}

fn verdict(cases: &[Case]) -> Result<Exit, Error> {
    if cases.iter().all(|case| matches!(case.verdict, Verdict::Skipped(_))) {
        return Err(Error::input("none of these files is a scenario: nothing was tested"));
    }
    let failed = cases.iter().any(|case| matches!(case.verdict, Verdict::Failed { .. }));
    Ok(if failed { Exit::Compared } else { Exit::Ok })
}
