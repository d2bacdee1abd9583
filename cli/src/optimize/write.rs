//! `--write`: the scenario with the best found, checked to run as the search says.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use weir::{Error, ErrorKind, Input, LoadOptions, Opener, RunOptions, Scenario};
use weir_report::{SearchReport, text};
use weir_scenario::{Change, rewrite};

use crate::args::OptimizeArgs;
use crate::input::{options, wrong};
use crate::output;
use crate::plugins::Arbiters;
use crate::simulate::watched;

/// A file that will hold the best scenario.
pub(crate) struct Target<'a> {
    path: &'a Path,
    args: &'a OptimizeArgs,
    /// Where the files are that the scenario names, seen from there.
    moved: Vec<Change>,
}

impl<'a> Target<'a> {
    /// Sees before the search whether the scenario can be written there and read from there.
    pub(crate) fn check(
        path: &'a Path,
        args: &'a OptimizeArgs,
        scenario: &Scenario,
        arbiters: &Arbiters,
        inputs: &[&Path],
    ) -> Result<Self, Error> {
        output::check_target("--write", path, inputs)?;
        let moved = moved(path, &args.scenario.files[0], scenario);
        // A topology from outside of the new library goes into the file; other files must be within reach.
        let (_, mut inline): (Vec<_>, Vec<_>) =
            moved.iter().cloned().partition(|change| matches!(change, Change::Set(key, _) if key == "topology"));
        inline.push(Change::InlineTopology);
        let far = !moved.is_empty();
        let first = Self { path, args, moved };
        let failure = match first.text(&[], arbiters).and_then(|text| first.read(&text, arbiters)) {
            Ok(_) => return Ok(first),
            Err(failure) if !far => return Err(failure),
            Err(failure) => failure,
        };
        let second = Self { moved: inline, ..first };
        match second.text(&[], arbiters).and_then(|text| second.read(&text, arbiters)) {
            Ok(_) => Ok(second),
            Err(_) => {
                let folder = folder(&args.scenario.files[0]).display();
                let note = format!("--write {} lies in another folder: name a file in {folder}", path.display());
                Err(failure.noted(note))
            }
        }
    }

    /// The file's text with what was found.
    fn text(&self, found: &[Change], arbiters: &Arbiters) -> Result<String, Error> {
        let all: Vec<Change> = self.moved.iter().chain(found).cloned().collect();
        let options = options(&self.args.scenario, &[]);
        rewrite(&self.args.scenario.files[0], &options, &all).map_err(|diagnostics| wrong(diagnostics, arbiters))
    }

    /// Reads a text as if it stood there.
    fn read(&self, text: &str, arbiters: &Arbiters) -> Result<Scenario, Error> {
        let options = LoadOptions { library: self.args.scenario.library.clone(), ..LoadOptions::default() };
        let opener = Opener::from(options).registry(Arc::clone(&arbiters.registry));
        let name = self.path.display().to_string();
        opener.load(Input::text(text, &name, Some(folder(self.path))))
    }

    /// Writes the scenario with what was found, after a run of it that must take as long as the search says.
    pub(crate) fn write(
        &self,
        found: &[Change],
        report: Option<&SearchReport>,
        arbiters: &Arbiters,
    ) -> Result<(), Error> {
        let text = self.text(found, arbiters)?;
        let scenario = self.read(&text, arbiters)?;
        let expected = report.and_then(SearchReport::makespans).map(|(_, best)| best);
        if let Some(expected) = expected {
            let run = scenario.run_with(&watched(&RunOptions { phase_by_phase: true, ..RunOptions::default() }))?;
            let found = run.makespan().0;
            if run.complete() && found != expected {
                let message =
                    format!("{}: a run takes {found} ps, the search found {expected} ps", self.path.display());
                return Err(Error::new(
                    ErrorKind::Plugin,
                    format!("{message}; nothing was written; please report this"),
                ));
            }
        }
        output::replace(self.path, text.as_bytes())
    }
}

/// Where files that the scenario names are, seen from another folder.
fn moved(target: &Path, file: &Path, scenario: &Scenario) -> Vec<Change> {
    let (Ok(to), Ok(from)) = (folder(target).canonicalize(), folder(file).canonicalize()) else { return Vec::new() };
    if to == from {
        return Vec::new();
    }
    let set = |named: &weir_scenario::NamedFile| {
        let path = relative(&to, &named.path)?;
        Some(Change::Set(named.key.clone(), text::word(path.to_str()?)))
    };
    scenario.contents().files.iter().filter_map(set).collect()
}

/// A path as seen from a folder, both absolute.
fn relative(folder: &Path, path: &Path) -> Option<PathBuf> {
    let common = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    let down = path.components().skip(common);
    let relative: PathBuf = up.chain(down).collect();
    (common > 0 && !relative.as_os_str().is_empty()).then_some(relative)
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_a_folder() {
        let from = |folder: &str, path: &str| relative(Path::new(folder), Path::new(path));
        assert_eq!(from("/a/b", "/a/b/c.yaml"), Some("c.yaml".into()));
        assert_eq!(from("/a/b", "/a/d/c.yaml"), Some("../d/c.yaml".into()));
        assert_eq!(from("/a/b/e", "/a/c.yaml"), Some("../../c.yaml".into()));
        assert_eq!(from("/a", "/a"), None);
    }
}
