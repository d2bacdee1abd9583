//! The built-in arbiters and models, loaded from their own shared libraries, give the same fingerprints and estimates on
//! every scenario; and a model of another library is planned and run.
#![cfg(unix)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_plugin_api::{ArbiterEntry, Origin, Registry};
use weir_scenario::{LoadOptions, PlannedOperation, Scenario, load};
use weir_sim_core::{RunOptions, Sharing, Simulation, Work};

#[test]
fn built_in_and_loaded_plugins_give_the_same_fingerprints() {
    let (mut built_in, mut loaded) = (Registry::new(), Registry::new());
    weir_arbiters::register(&mut built_in).expect("the names are free");
    weir_models::register(&mut built_in).expect("the names are free");
    let program = Path::new(env!("CARGO_BIN_EXE_weir"));
    for package in ["weir-arbiters", "weir-models"] {
        weir_plugin_host::load_file(&library(package), program, &mut loaded).expect("the library is a plugin");
    }
    assert_eq!(names(&loaded), names(&built_in));
    let (mut compared, mut changes, mut planned) = (0, 0, 0);
    for file in crate::common::scenarios() {
        let options = LoadOptions::default();
        let ours = load(&file, &options, &built_in).expect("the library's scenarios are right");
        let theirs = load(&file, &options, &loaded).expect("and with loaded models, too");
        planned += ours.operations.len();
        assert_eq!(ours.operations, without_hashes(&theirs.operations), "{}", file.display());
        for entry in built_in.iter() {
            let other = loaded.get(&entry.name).expect("has the same names");
            assert_ne!(other.origin, Origin::BuiltIn);
            let fingerprint = fingerprint(&ours, entry);
            compared += usize::from(fingerprint.is_ok());
            assert_eq!(fingerprint, self::fingerprint(&theirs, other), "{} under {}", file.display(), entry.name);
            for peaks_below in [0, usize::MAX] {
                let fingerprint = in_changes(&ours, entry, peaks_below);
                changes += usize::from(fingerprint.is_some());
                let other = in_changes(&theirs, other, peaks_below);
                assert_eq!(fingerprint, other, "{} under {} in changes", file.display(), entry.name);
            }
        }
    }
    assert!(compared > 100 && planned > 10, "only {compared} were compared, with {planned} operations of models");
    assert!(changes > 100, "only {changes} were compared in changes");
}

/// The fingerprint of a run by the incremental side of an arbiter, where it has one.
fn in_changes(scenario: &Scenario, entry: &ArbiterEntry, peaks_below: usize) -> Option<Result<u64, String>> {
    let side = entry.incremental.as_ref()?;
    let sharing = Sharing::Incremental { entry: side, params: "{}", from: 0, peaks_below };
    Some(fingerprint_with(scenario, entry, sharing))
}

/// The one thing in which operations differ by where their models come from.
fn without_hashes(operations: &[PlannedOperation]) -> Vec<PlannedOperation> {
    let without = |operation: &PlannedOperation| {
        assert_eq!(operation.sha256.as_ref().map(|text| text.len()), Some(64));
        PlannedOperation { sha256: None, ..operation.clone() }
    };
    operations.iter().map(without).collect()
}

fn names(registry: &Registry) -> Vec<&str> {
    let models = registry.models().map(|entry| entry.name.as_str());
    registry.iter().map(|entry| entry.name.as_str()).chain(models).collect()
}

/// Four hosts on one switch: every send has its links to itself. Six steps of 5 µs, 1 MB at 1 GB/s and two links of 1 µs.
const RING: &str = "\
weir: 1
name: a ring
topology:
  link_types: { x: { bandwidth: 1GB/s, latency: 1us } }
  tree:
    s:
      kind: switch
      children: { \"h[0-3]\": { kind: host, link: x } }
workload:
  - ring-all-reduce: { id: r, devices: \"h[0-3]\", size: 4MB, latency: 5us }
";

#[test]
fn a_model_of_another_library_is_planned_and_run() {
    let library = library("weir-example-ring-all-reduce");
    let run = |text: &str| {
        let arguments = ["run", "-", "--json", "--plugin", library.to_str().expect("UTF-8")];
        let ended = crate::common::run_with_input(&arguments, text.as_bytes());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        crate::common::json_lines(&ended.stdout).remove(0)
    };
    let alone = run(RING);
    let operation = &alone["operations"][0];
    assert_eq!(
        (operation["kind"].as_str(), operation["end_ps"].as_u64()),
        (Some("ring-all-reduce"), Some(6_042_000_000))
    );
    assert_eq!(operation["estimates"][0]["formula"], "ring");
    let seconds = operation["estimates"][0]["seconds"].as_f64().expect("a number");
    assert!((seconds - 6.042e-3).abs() < 1e-12, "{seconds}");
    assert_eq!(operation["details"]["steps"], 6);
    assert_eq!(operation["details"]["model"]["sha256"].as_str().map(str::len), Some(64));

    // A transfer on one of its links makes it slower than the formula, which says at least.
    let shared = run(&format!("{RING}  - transfer: {{ id: t, from: h0, to: h1, size: 4MB }}\n"));
    let operation = &shared["operations"][0];
    assert!(operation["end_ps"].as_u64() > Some(6_042_000_000), "{operation}");
}

/// Two racks of eight hosts, and 1,200 transfers between them: enough that the incremental side serves the run.
fn many_transfers() -> String {
    let mut text = String::from(
        "weir: 1\nname: many\ntopology:\n  link_types: { x: { bandwidth: 1GB/s, latency: 0s }, y: { bandwidth: 3GB/s, latency: 0s } }\n  \
         tree:\n    n:\n      kind: network\n      children:\n        r0: { kind: switch, link: y, children: { \"r0h[0-7]\": { kind: host, link: x } } }\n        \
         r1: { kind: switch, link: y, children: { \"r1h[0-7]\": { kind: host, link: x } } }\nworkload:\n",
    );
    let mut state = 12345_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for i in 0..1200 {
        let (from, to) = (below(16), below(15));
        let to = if to >= from { to + 1 } else { to };
        let host = |h: u64| format!("r{}h{}", h / 8, h % 8);
        let limit = if below(4) == 0 { ", limit: 200MB/s" } else { "" };
        let (weight, size, start) = (1 + below(3), 10_007 + 7919 * i + below(5_000_000), below(20_000));
        let (from, to) = (host(from), host(to));
        text += &format!(
            "  - transfer: {{ id: t{i}, from: {from}, to: {to}, size: {size}B, start: {start}us, weight: {weight}{limit} }}\n"
        );
    }
    text
}

#[test]
fn the_example_in_c_is_the_same_in_changes() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let library = folder.path().join("libweighted_split.so");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc")));
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-I"]);
    cc.arg(root.join("plugin-api/include")).arg("-o").arg(&library);
    assert!(cc.arg(root.join("examples/plugins/c-weighted-split/weighted-split.c")).status().expect("cc").success());
    let text = many_transfers();
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "-", "--json", "--arbiter", "weighted-split", "--plugin"];
        arguments.push(library.to_str().expect("UTF-8"));
        arguments.extend(more);
        let ended = crate::common::run_with_input(&arguments, text.as_bytes());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        crate::common::json_lines(&ended.stdout).remove(0)
    };
    // Who records phases asks the plain side.
    let (changes, phases) = (run(&[]), run(&["--phases"]));
    assert_ne!(changes["fingerprint"], phases["fingerprint"], "ends differ by rounding, so two sides were asked");
    let (ours, theirs) =
        (changes["transfers"].as_array().expect("a list"), phases["transfers"].as_array().expect("a list"));
    assert_eq!((ours.len(), theirs.len()), (1200, 1200));
    for (a, b) in ours.iter().zip(theirs) {
        let (x, y) = (a["end_ps"].as_u64().expect("a time"), b["end_ps"].as_u64().expect("a time"));
        assert!(x.abs_diff(y) <= 2 * 2400, "{a} and {b}");
    }
    let shared =
        |t: &&serde_json::Value| t["cause"].as_str().is_some_and(|cause| cause.starts_with("link shared with"));
    assert!(ours.iter().filter(shared).count() > 600, "{}", ours[0]);
    assert!(changes["links"][0]["peak_Bps"].is_null(), "it does not know peaks");
}

#[test]
fn what_a_loaded_model_refuses_is_told_where_it_stands() {
    let library = library("weir-example-ring-all-reduce");
    let arguments = ["check", "-", "--plugin", library.to_str().expect("UTF-8")];
    let text = RING.replace("\"h[0-3]\", size", "[h0, h1, h0], size");
    let ended = crate::common::run_with_input(&arguments, text.as_bytes());
    assert_eq!(ended.code, 2);
    let words =
        ["`devices` of ring-all-reduce `r`: device 1 of the list is there twice", "help: name each device once"];
    assert!(words.iter().all(|word| ended.stderr.contains(word)), "{}", ended.stderr);
}

/// The fingerprint of a run with the scenario's parameters where it names the arbiter, or the refusal.
fn fingerprint(scenario: &Scenario, entry: &ArbiterEntry) -> Result<u64, String> {
    fingerprint_with(scenario, entry, Sharing::ByArbiter)
}

fn fingerprint_with(scenario: &Scenario, entry: &ArbiterEntry, sharing: Sharing<'_>) -> Result<u64, String> {
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
    let outcome = simulation.run(&mut *arbiter, entry.flags, RunOptions { sharing, ..RunOptions::default() });
    outcome.map(|outcome| outcome.fingerprint).map_err(|error| error.to_string())
}

/// The shared library of a package, as cargo says where it is.
fn library(package: &str) -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.args(["build", "-p", package, "--lib", "--message-format=json"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("is UTF-8");
    let artifacts = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = artifacts.flat_map(|artifact| artifact["filenames"].as_array().cloned().unwrap_or_default());
    let paths: Vec<_> = files.filter_map(|file| file.as_str().map(PathBuf::from)).collect();
    let name = package.replace('-', "_");
    let found = paths.into_iter().rfind(|path| path.to_string_lossy().contains(&name) && is_shared(path));
    found.expect("the crate is a shared library too")
}

fn is_shared(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
}
