//! Real results fit the schema of results, and the scenario library fits the schema of scenarios.

mod common;

use std::path::Path;

use common::{library, run, scenario};
use jsonschema::Validator;
use serde_json::Value;

fn validator(arguments: &[&str]) -> Validator {
    let ended = run(arguments);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let schema: Value = serde_json::from_str(&ended.stdout).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
}

fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect()
}

#[test]
fn results_fit_their_schema() {
    let validator = validator(&["schema", "results"]);
    for file in ["pcie/four-transfers.yaml", "pcie/halo-2d-barriers.yaml", "network/random-64-hosts.yaml"] {
        for extra in [&[][..], &["--phases"], &["--full"], &["--until", "20ms"]] {
            let file = scenario(file);
            let ended = run(&[&["run", &file, "--json"][..], extra].concat());
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            for value in common::json_lines(&ended.stdout) {
                assert_eq!(errors(&validator, &value), [] as [String; 0], "{file} {extra:?}");
            }
        }
    }
}

#[test]
fn the_library_fits_the_schema_of_scenarios() {
    let validator = validator(&["schema"]);
    let mut files = Vec::new();
    collect(&library(), &mut files);
    assert!(files.len() > 20, "the library is there: {files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("is readable");
        let value: Value = serde_saphyr::from_str(&text).expect("is YAML");
        assert_eq!(errors(&validator, &value), [] as [String; 0], "{}", file.display());
    }
}

#[test]
fn the_schema_of_scenarios_refuses_what_the_format_refuses() {
    let validator = validator(&["schema"]);
    let good: Value = serde_saphyr::from_str(common::SHARED).expect("is YAML");
    assert_eq!(errors(&validator, &good), [] as [String; 0]);
    for (from, to) in [
        ("size: 10MB", "size: 10"),
        ("size: 10MB", "sise: 10MB"),
        ("size: 10MB", "size: 10mb"),
        ("bandwidth: 1GB/s", "bandwidth: 1GB"),
        ("kind: switch", "kind: hub"),
        ("weir: 1", "weir: 2"),
    ] {
        let text = common::SHARED.replacen(from, to, 1);
        let value: Value = serde_saphyr::from_str(&text).expect("is YAML");
        assert!(!validator.is_valid(&value), "{to}");
    }
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("is readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            files.push(path);
        }
    }
}
