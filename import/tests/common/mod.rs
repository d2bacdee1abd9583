//! The sample dumps, and whether a topology is one.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};

use weir_import::{Import, Options, Refusal, import};
use weir_plugin_api::Registry;
use weir_scenario::{Input, LoadOptions, lint, load};

/// The folder of the dumps.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/topologies/dumps")
}

/// All dumps by name.
pub fn samples() -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder()).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let dumps = files.filter(|path| path.extension().is_some_and(|e| e == "xml" || e == "txt"));
    let mut samples: Vec<_> = dumps
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("is readable"))
        })
        .collect();
    samples.sort();
    samples
}

/// A dump as text.
pub fn sample(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).expect("is readable")
}

/// Imports with the usual options.
pub fn read(text: &str) -> Result<Import, Refusal> {
    import(text.as_bytes(), "sample", &Options::default())
}

/// The warnings of an import in one text.
pub fn warnings(import: &Import) -> String {
    let warnings = import.findings.iter().filter(|finding| finding.level == weir_import::Level::Warning);
    warnings.map(|finding| format!("{finding}\n")).collect()
}

/// The built-in arbiters.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("built in");
    registry
}

/// The map of arbiters that `weir import` prints.
pub fn arbiters(import: &Import) -> String {
    let kinds: String = import.kinds_beside_pcie.iter().map(|kind| format!(", {kind}: max-min")).collect();
    format!("{{default: input-fifo{kinds}}}")
}

/// Panics unless a topology, with the arbiters for its kinds of links, is read without error and warning, as `weir check`
/// does it.
pub fn check(import: &Import) {
    let yaml = &import.yaml;
    let inline: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
    let arbiters = arbiters(import);
    let text = format!("weir: 1\ntopology:\n{inline}arbiter: {arbiters}\nworkload: [barrier: {{ id: b }}]\n");
    let scenario = load(Input::text(text, "-", None), &LoadOptions::default(), &registry());
    let scenario = scenario.unwrap_or_else(|found| panic!("{}\n{yaml}", found[0]));
    let mut found: Vec<String> = scenario.warnings.iter().chain(&lint(&scenario)).map(ToString::to_string).collect();
    // Nothing is sent here; a topology in a file of its own gets no such warning.
    found.retain(|warning| !warning.contains("`engines` has no effect"));
    assert!(found.is_empty(), "{found:?}\n{yaml}");
}
