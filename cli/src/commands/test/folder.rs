//! The files of a test: scenarios below folders, and their snapshots.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use weir::Error;
use weir_report::Snapshot;

use super::case::{Case, Verdict};
use crate::args::TestArgs;
use crate::beside::folder_of;
use crate::bounded;
use crate::input::is_stdin;

/// The folder beside scenarios that has their snapshots.
const SNAPSHOTS: &str = "snapshots";
/// What is added to the whole name of a scenario's file: `a.yaml` and `a.yml` have snapshots of their own.
const ENDING: &str = ".txt";

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// Files to be tested, each once, in the order of the command line, and of paths below a folder.
    pub(super) files: Vec<PathBuf>,
    /// The folders of snapshots all of whose scenarios are among the files.
    snapshots: Vec<PathBuf>,
}

/// Where the snapshot of a scenario is.
pub(super) fn snapshot_of(scenario: &Path) -> PathBuf {
    let mut name = scenario.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ENDING);
    scenario.parent().unwrap_or(Path::new("")).join(SNAPSHOTS).join(name)
}

/// The files that the command line names or that lie below the folders it names.
pub(super) fn find(args: &TestArgs) -> Result<Found, Error> {
    let (mut found, mut seen) = (Found::default(), BTreeSet::new());
    for path in &args.paths {
        if is_stdin(path) {
            return Err(Error::input("a snapshot needs a place beside its scenario: name a file instead of `-`"));
        }
        let mut below = Found::default();
        match path.metadata().map_err(|error| unreadable(path, &error))? {
            kind if kind.is_dir() => below.add_folder(path)?,
            kind if kind.is_file() => below.files.push(path.clone()),
            _ => return Err(Error::input(format!("{} is neither a file nor a folder", path.display()))),
        }
        below.files.sort();
        let wanted = |file: &PathBuf| args.filter.as_ref().is_none_or(|text| file.to_string_lossy().contains(text));
        let new = |file: &PathBuf| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()));
        found.files.extend(below.files.into_iter().filter(wanted).filter(new));
        found.snapshots.extend(below.snapshots.into_iter().filter(|_| args.filter.is_none()));
    }
    found.snapshots.sort();
    found.snapshots.dedup();
    match (found.files.is_empty(), &args.filter) {
        (false, _) => Ok(found),
        (true, Some(text)) => Err(Error::input(format!("no .yaml or .yml file here has `{text}` in its path"))),
        (true, None) => {
            let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
            let what = format!("{} has no .yaml or .yml file: name a folder with scenarios", paths.join(", "));
            Err(Error::input(what))
        }
    }
}

impl Found {
    /// Hidden files and folders are left out. Links to folders are among the files, to be named: they may lead back, or to where
    /// nobody expects snapshots to be written.
    fn add_folder(&mut self, folder: &Path) -> Result<(), Error> {
        let entries = std::fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<DirEntry>, _>>());
        for entry in entries.map_err(|error| unreadable(folder, &error))? {
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_dir() && name == SNAPSHOTS {
                self.snapshots.push(path);
            } else if kind.is_dir() {
                self.add_folder(&path)?;
            } else if path.is_dir() && name != SNAPSHOTS || is_yaml(&path) && (path.is_file() || !path.exists()) {
                self.files.push(path);
            }
        }
        Ok(())
    }
}

/// The snapshots that weir wrote and whose scenario is gone.
pub(super) fn leftover(found: &Found, cases: &[Case]) -> Result<Vec<PathBuf>, Error> {
    let tested = cases.iter().filter(|case| !matches!(case.verdict, Verdict::Skipped(_)));
    let known: BTreeSet<PathBuf> = tested.filter_map(|case| canonical(&snapshot_of(&case.file))).collect();
    let mut leftover = Vec::new();
    for folder in &found.snapshots {
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            let path = entry.map_err(|error| unreadable(folder, &error))?.path();
            let is_known = canonical(&path).is_some_and(|path| known.contains(&path));
            if path.to_string_lossy().ends_with(ENDING) && !is_known && is_snapshot(&path) {
                leftover.push(path);
            }
        }
    }
    leftover.sort();
    Ok(leftover)
}

/// The path with links of its folder followed, not its own; `None` where that folder is not there.
fn canonical(path: &Path) -> Option<PathBuf> {
    Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?))
}

fn is_snapshot(path: &Path) -> bool {
    path.is_file() && bounded::read_text(path).is_ok_and(|text| Snapshot::is_one(&text))
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::input(format!("{} cannot be read: {error}", path.display()))
}
