//! The built-in arbiters, loaded from their own shared library, give the same fingerprints on every scenario.
#![cfg(unix)]

mod common;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_plugin_api::{ArbiterEntry, Origin, Registry};
use weir_scenarios::{LoadOptions, Scenario, load};
use weir_sim_core::{RunOptions, Simulation, Work};

#[test]
fn built_in_and_loaded_arbiters_give_the_same_fingerprints() {
    let (mut built_in, mut loaded) = (Registry::new(), Registry::new());
    weir_arbiters::register(&mut built_in).expect("the names are free");
    let program = Path::new(env!("CARGO_BIN_EXE_weir"));
    weir_plugin_host::load_file(&library(), program, &mut loaded).expect("the library is a plugin");
    assert_eq!(names(&loaded), names(&built_in));
    let mut compared = 0;
    for file in common::scenarios() {
        let scenario = load(&file, &LoadOptions::default(), &built_in).expect("the library's scenarios are right");
        for entry in built_in.iter() {
            let other = loaded.get(&entry.name).expect("has the same names");
            assert_ne!(other.origin, Origin::BuiltIn);
            let fingerprint = fingerprint(&scenario, entry);
            compared += usize::from(fingerprint.is_ok());
            assert_eq!(fingerprint, self::fingerprint(&scenario, other), "{} under {}", file.display(), entry.name);
        }
    }
    assert!(compared > 100, "only {compared} were compared");
}

fn names(registry: &Registry) -> Vec<&str> {
    registry.iter().map(|entry| entry.name.as_str()).collect()
}

/// The fingerprint of a run with the scenario's parameters where it names the arbiter, or the refusal.
fn fingerprint(scenario: &Scenario, entry: &ArbiterEntry) -> Result<u64, String> {
    let params = scenario.arbiters.iter().find(|spec| spec.name == entry.name).map(|spec| spec.params.clone());
    let params = serde_json::Value::Object(params.unwrap_or_default()).to_string();
    let mut arbiter = (entry.make)(&scenario.fabric.view(), &params).map_err(|error| error.to_string())?;
    for task in scenario.tasks.tasks() {
        if let Work::Carries { class, .. } = task.work {
            let route = scenario.tasks.classes().route(class);
            arbiter.admit(scenario.routes.links(route)).map_err(|error| error.to_string())?;
        }
    }
    let simulation = Simulation { fabric: &scenario.fabric, routes: &scenario.routes, tasks: &scenario.tasks };
    let outcome = simulation.run(&mut *arbiter, entry.flags, RunOptions::default());
    outcome.map(|outcome| outcome.fingerprint).map_err(|error| error.to_string())
}

/// The shared library of the arbiters, as cargo says where it is.
fn library() -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.args(["build", "-p", "weir-arbiters", "--lib", "--message-format=json"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("is UTF-8");
    let artifacts = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = artifacts.flat_map(|artifact| artifact["filenames"].as_array().cloned().unwrap_or_default());
    let paths: Vec<_> = files.filter_map(|file| file.as_str().map(PathBuf::from)).collect();
    let found = paths.into_iter().rfind(|path| path.to_string_lossy().contains("weir_arbiters") && is_shared(path));
    found.expect("the crate is a shared library too")
}

fn is_shared(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
}
