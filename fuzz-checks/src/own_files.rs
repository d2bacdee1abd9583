//! Files that weir writes for itself, with any bytes in them: the checkpoint of a search, and the list of plugins.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;
use weir::optimize::{Checkpoint, OrderPart, SearchOptions, SearchSubject};
use weir::{Error, PluginConfig, Scenario};

const GRID: &str = "\
weir: 1
topology:
  tree: { rc0: { kind: root-complex, children: { 'gpu[0-1]': { kind: gpu, link: { bandwidth: 10GB/s } } } } }
workload:
  - transfer: { id: a, from: gpu0, to: gpu1, size: 1MB }
optimize: { vary: parameters, parameters: { 'workload[0].transfer.size': [3MB, 1MB, 2MB] } }
";

struct Grid {
    scenario: Scenario,
    folder: TempDir,
    best: f64,
}

static SEARCHED: LazyLock<Grid> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("grid.yaml");
    std::fs::write(&file, GRID).expect("written");
    let scenario = Scenario::open(&file).expect("it is right");
    let best = scenario.optimize().expect("it is searched").report.expect("one search").result.best;
    Grid { scenario, folder, best }
});

struct Kept(PathBuf);

impl Checkpoint for Kept {
    fn file(&self) -> &Path {
        &self.0
    }

    fn resume(&self, _: &SearchSubject, _: &mut OrderPart) -> Result<(), Error> {
        unreachable!("parameters vary")
    }

    fn save(&self, _: &SearchSubject, _: &OrderPart) {}

    fn end(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The search that goes on from it is refused with a message, or finds what the whole search finds.
pub fn checkpoint(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new_in(SEARCHED.folder.path()).expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    match searched(file.path()) {
        Ok(best) => assert_eq!(best.to_bits(), SEARCHED.best.to_bits()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn searched(file: &Path) -> Result<f64, Error> {
    let kept = Kept(file.to_owned());
    let found =
        SEARCHED.scenario.optimize_with(0, &SearchOptions { checkpoint: Some(&kept), ..SearchOptions::default() })?;
    Ok(found.report.expect("one search").result.best)
}

/// A whole checkpoint, and its beginnings.
pub(crate) fn checkpoint_seeds() -> Vec<Vec<u8>> {
    let file = SEARCHED.folder.path().join("seed");
    searched(&file).expect("it is searched");
    let whole = std::fs::read(&file).expect("there");
    [whole.len(), whole.len() - 1, whole.len() / 2, 0].map(|end| whole[..end].to_vec()).into()
}

/// A list of plugins is refused with a message, or what it lists can be told. The same with a right digest.
pub fn list(bytes: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    let digested =
        std::str::from_utf8(bytes).ok().map(str::trim_end).filter(|text| text.len() > 1 && text.ends_with('}'));
    let digested = digested.map(|text| weir_digest::with_digest(text).into_bytes());
    for text in std::iter::once(bytes.to_vec()).chain(digested) {
        std::fs::write(folder.path().join("plugins.json"), text).expect("written");
        match PluginConfig::in_folder(folder.path()) {
            Ok(list) => assert!(list.records().iter().all(|record| record.names().count() < bytes.len())),
            Err(error) => assert!(error.to_string().contains("plugins.json")),
        }
    }
}

/// Lists as builds have written them, without their digests.
pub(crate) fn list_seeds() -> Vec<Vec<u8>> {
    let arbiter = r#"{"name":"mine","version":"1.0","flags":1,"params_schema":"{}"}"#;
    let record = format!(r#"{{"path":"/p/mine.so","sha256":"{}","arbiters":[{arbiter}]}}"#, "0".repeat(64));
    [
        r#"{"format":2,"plugins":[]}"#.to_owned(),
        format!(r#"{{"format":2,"plugins":[{record}]}}"#),
        format!(r#"{{"format":1,"plugins":[{record},{record}]}}"#),
    ]
    .map(String::into_bytes)
    .into()
}
