//! Every file of the scenario library is read without an error or a warning, under the built-in arbiters and models.

use std::path::{Path, PathBuf};

use weir_plugin_api::Registry;
use weir_scenario::{Input, LoadOptions, Scenario, load};

fn files(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    files
}

fn texts(found: &[weir_scenario::Diagnostic]) -> String {
    found.iter().map(|d| format!("{d}\n")).collect()
}

#[test]
fn the_library_is_right() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    weir_packets::arbiter::register(&mut registry).unwrap();
    weir_models::register(&mut registry).unwrap();
    let mut seen = 0;
    for path in files(root).iter() {
        let scenario = if path.parent().is_some_and(|p| p.ends_with("topologies")) {
            let name = path.file_name().unwrap().to_string_lossy();
            let text = format!("weir: 1\ntopology: {name}\nworkload: [barrier: {{ id: b }}]\n");
            load(Input::text(text, "-", path.parent()), &LoadOptions::default(), &registry)
        } else {
            load(path, &LoadOptions::default(), &registry)
        };
        let scenario = scenario.unwrap_or_else(|found| panic!("{}", texts(&found)));
        assert!(scenario.warnings.is_empty(), "{}", texts(&scenario.warnings));
        seen += 1;
    }
    assert!(seen > 0, "no scenario below {}", root.display());
}

#[test]
fn scenarios_may_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Scenario>();
}
