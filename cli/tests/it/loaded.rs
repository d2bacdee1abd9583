//! The built-in arbiters and models, loaded from their own shared libraries, give the same fingerprints and estimates on
//! every scenario; and a model of another library is planned and run.
#![cfg(unix)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_calibrate::{FitOptions, ReadOptions};
use weir_optimize::order::{OrderProblem, root_bound};
use weir_plugin_api::{ArbiterEntry, Flags, Origin, Registry};
use weir_plugin_host::Place;
use weir_scenario::{Input, LoadOptions, Machine, PlannedOperation, Scenario, load};
use weir_sim_core::{RunOptions, Sharing, Simulation, Work};

#[test]
fn built_in_and_loaded_plugins_give_the_same_fingerprints() {
    same_fingerprints(Place::Process);
}

#[test]
fn built_in_and_isolated_plugins_give_the_same_fingerprints() {
    same_fingerprints(Place::Child);
}

fn same_fingerprints(place: Place) {
    let (mut built_in, mut loaded) = (Registry::new(), Registry::new());
    weir_arbiters::register(&mut built_in).expect("the names are free");
    weir_models::register(&mut built_in).expect("the names are free");
    weir_packets::arbiter::register(&mut built_in).expect("the names are free");
    loaded.set_default_arbiter(built_in.default_arbiter().expect("built-in arbiters have one"));
    let program = Path::new(env!("CARGO_BIN_EXE_weir"));
    for package in ["weir-arbiters", "weir-models", "weir-packets"] {
        weir_plugin_host::load_file(&library(package), program, place, &mut loaded).expect("the library is a plugin");
    }
    assert_eq!(names(&loaded), names(&built_in));
    let (mut compared, mut planned, mut in_regions) = (0, 0, 0);
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
        }
        for (own, other) in ours.arbiters.iter().zip(&theirs.arbiters).filter(|(own, _)| own.regions.is_some()) {
            in_regions += 1;
            assert_eq!(fingerprint(&ours, &own.entry), fingerprint(&theirs, &other.entry), "{}", file.display());
        }
    }
    same_packets(&built_in, &loaded);
    assert!(in_regions > 0, "loaded policies serve regions, too");
    assert!(compared > 100 && planned > 10, "only {compared} were compared, with {planned} operations of models");
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
    let ports = registry.ports().map(|entry| entry.name.as_str());
    let models = registry.models().map(|entry| entry.name.as_str());
    registry.iter().map(|entry| entry.name.as_str()).chain(ports).chain(models).collect()
}

/// Six transfers among five devices, of several weights and priorities.
const CROSSED: &str = "\
weir: 1
name: crossed
topology:
  link_types: { x: { bandwidth: 1GB/s, latency: 1us } }
  tree:
    r:
      kind: switch
      children:
        s: { kind: switch, link: x, children: { \"g[0-2]\": { kind: gpu, link: x } } }
        \"h[0-1]\": { kind: gpu, link: x }
workload:
  - transfer: { id: a, from: g0, to: h0, size: 80kB, weight: 2 }
  - transfer: { id: b, from: g1, to: h0, size: 60kB, priority: 3 }
  - transfer: { id: c, from: g2, to: h1, size: 50kB, start: 3us }
  - transfer: { id: d, from: h1, to: h0, size: 40kB }
  - transfer: { id: e, from: g0, to: g1, size: 30kB, start: 7us }
  - transfer: { id: f, from: h0, to: g1, size: 90kB, weight: 3 }
";

/// The built-in port arbiters grant the same packets where they are loaded.
fn same_packets(built_in: &Registry, loaded: &Registry) {
    for port in built_in.ports() {
        let params = match port.params_schema.contains("x-weir-by-node") {
            true => format!("{{name: {}, weights: {{s: 3, h1: 2}}}}", port.name),
            false => port.name.clone(),
        };
        let run = |registry: &Registry| {
            let fidelity = vec![format!("{{packet: {{port_arbiter: {{up: {0}, down: {params}}}}}}}", port.name)];
            let options = LoadOptions { fidelity, ..LoadOptions::default() };
            let scenario = load(Input::text(CROSSED, "-", None), &options, registry).expect("right");
            let settings = scenario.arbiters[0].packets.as_ref().expect("packets").on(&scenario.fabric);
            let mut arbiter = (scenario.arbiters[0].entry.make)(&scenario.fabric.view(), "{}").expect("made");
            let Scenario { fabric, routes, tasks, .. } = &scenario;
            let options = RunOptions { sharing: Sharing::Packets(&settings), ..RunOptions::default() };
            let simulation = Simulation { fabric, routes, tasks };
            let outcome = simulation.run(&mut *arbiter, Flags::default(), options).expect("it ends");
            let packets = outcome.packets.expect("packets");
            (packets.fingerprint, packets.hops, packets.skipped_hops)
        };
        assert_eq!(run(built_in), run(loaded), "{}", port.name);
    }
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

/// Three GPUs send 1 and 2 MB each to a fourth, whose link is full from the first to the last byte: 9 ms.
const INCAST: &str = "\
weir: 1
name: to one
topology:
  link_types: { x: { bandwidth: 1GB/s, latency: 0s } }
  tree: { s: { kind: switch, children: { \"g[0-3]\": { kind: gpu, link: x } } } }
workload:
  - transfer: { id: a, from: g0, to: g3, size: 1MB, weight: 2 }
  - transfer: { id: b, from: g0, to: g3, size: 2MB, priority: 1 }
  - transfer: { id: c, from: g1, to: g3, size: 1MB }
  - transfer: { id: d, from: g1, to: g3, size: 2MB }
  - transfer: { id: e, from: g2, to: g3, size: 1MB }
  - transfer: { id: f, from: g2, to: g3, size: 2MB }
";

/// `c-weighted-split` says that it reads weights and no priorities, that a link carries its bandwidth at most, and what its
/// step means; `c-equal-split` is a table of the first version, which cannot say anything.
#[test]
fn a_loaded_policy_gets_the_warning_the_bound_and_the_legend_that_it_describes() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let described = example(folder.path(), "weighted-split");
    let silent = example(folder.path(), "equal-split");
    let run = |library: &Path, name: &str, arguments: &[&str]| {
        let more = ["--json", "--arbiter", name, "--plugin", library.to_str().expect("UTF-8")];
        let ended = crate::common::run_with_input(&[arguments, &more].concat(), INCAST.as_bytes());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        (crate::common::json_lines(&ended.stdout).remove(0), ended.stderr)
    };
    let (_, warned) = run(&described, "weighted-split", &["run", "-"]);
    assert!(warned.contains("arbiter `weighted-split` ignores the transfers' priority"), "{warned}");
    assert!(!warned.contains("weight\n"), "{warned}");
    let (_, warned) = run(&silent, "equal-split", &["run", "-"]);
    assert_eq!(warned, "", "of what an old table ignores nothing is known");

    let (explained, _) = run(&described, "weighted-split", &["explain", "-"]);
    let legend = &explained["arbiter"]["legend"];
    assert_eq!(
        (legend[0]["step"].as_str(), legend[0]["short"].as_str()),
        (Some("share"), Some("link shared by weight"))
    );
    let page = folder.path().join("page.html");
    let page_text = page.to_str().expect("UTF-8");
    let library = described.to_str().expect("UTF-8");
    let arguments = ["report", "-", "--arbiter", "weighted-split", "--plugin", library, "--output", page_text];
    assert_eq!(crate::common::run_with_input(&arguments, INCAST.as_bytes()).code, 0);
    assert!(
        std::fs::read_to_string(&page).expect("written").contains("Each unit of weight on a link has an equal part")
    );

    let file = folder.path().join("incast.yaml");
    std::fs::write(&file, INCAST).expect("the folder takes it");
    let search = ["optimize", file.to_str().expect("UTF-8"), "--vary", "order", "--method", "branch-and-bound"];
    let (found, _) = run(&described, "weighted-split", &search);
    let (best, bound) = (found["best_s"].as_f64().expect("a time"), found["bound_s"].as_f64().expect("a bound"));
    // Each end is rounded up to a picosecond.
    assert!((best - 0.009).abs() < 1e-10 && (bound - best).abs() < 1e-10, "{found}");
    assert_eq!(found["proved_optimal"], true);
}

/// The built-in arbiters, and the same from their library.
fn built_in_and_loaded() -> [Registry; 2] {
    let (mut built_in, mut loaded) = (Registry::new(), Registry::new());
    weir_arbiters::register(&mut built_in).expect("the names are free");
    let program = Path::new(env!("CARGO_BIN_EXE_weir"));
    weir_plugin_host::load_file(&library("weir-arbiters"), program, Place::Process, &mut loaded)
        .expect("the library is a plugin");
    [built_in, loaded]
}

/// The bound of the order search asks what links can carry, so a loaded arbiter that knows of root complexes gets the same
/// as a built-in one.
#[test]
fn loaded_arbiters_get_the_bounds_of_built_in_ones() {
    let [built_in, loaded] = built_in_and_loaded();
    let file = crate::common::library().join("pcie/halo-2d-file-order.yaml");
    let scenario = load(&file, &LoadOptions::default(), &built_in).expect("right");
    let bound = |entry: &ArbiterEntry| {
        let make = || (entry.make)(&scenario.fabric.view(), "{}");
        let problem =
            OrderProblem::new(&scenario.fabric, &scenario.routes, &scenario.tasks, make, entry.flags).expect("covered");
        root_bound(&problem)
    };
    let of = |registry: &Registry, name: &str| bound(registry.get(name).expect("registered"));
    for entry in built_in.iter().filter(|entry| !entry.flags.contains(Flags::READS_ARRIVAL)) {
        assert_eq!(of(&loaded, &entry.name).to_bits(), bound(entry).to_bits(), "{}", entry.name);
        let (ours, theirs) = (built_in.get(&entry.name), loaded.get(&entry.name).expect("the same names"));
        assert_eq!(ours.map(|ours| &ours.legend), Some(&theirs.legend));
    }
    assert!(of(&loaded, "pcie-congestion") > 1.1 * of(&loaded, "max-min"), "the root complex carries less");
}

/// A policy of a library is fitted in a map of arbiters as a built-in one is.
#[test]
fn loaded_arbiters_in_a_map_are_fitted() {
    let arbiters = vec!["{default: {name: pcie-congestion, tau: 0.05}}".to_owned()];
    let options = LoadOptions { arbiters, ..LoadOptions::default() };
    let [ours, theirs] = built_in_and_loaded().map(|registry| {
        let file = |name| crate::common::library().join("measured").join(name);
        let machine = Machine::load(&file("tau-t2.yaml"), &options, &registry).expect("right");
        let read = weir_calibrate::read_log(&file("tau-t2.csv"), &machine, &ReadOptions::default());
        let (_, log) = read.unwrap_or_else(|error| panic!("{error}"));
        let found = weir_calibrate::fit(&machine, &machine.arbiters[0], &log.experiments, &FitOptions::default());
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let tau = found.parameters.iter().find(|f| f.parameter.name == "default.tau of pcie-congestion");
        tau.expect("it is marked").value
    });
    assert!((ours - (1.0 - 1.0 / 1.21)).abs() < 1e-7, "{ours}");
    assert_eq!(ours.to_bits(), theirs.to_bits());
}

/// Builds an example in C as its README says.
fn example(folder: &Path, name: &str) -> PathBuf {
    let library = folder.join(format!("{name}.so"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc")));
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-I"]);
    cc.arg(root.join("plugin-api/include")).arg("-o").arg(&library);
    assert!(cc.arg(root.join(format!("examples/plugins/c-{name}/{name}.c"))).status().expect("cc").success());
    library
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

/// The shared library of a package, as cargo says where it is.
fn library(package: &str) -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // The shared library alone: with the other features of one package, an `.rlib` would replace that of the workspace.
    cargo.args(["rustc", "-p", package, "--lib", "--crate-type=cdylib", "--message-format=json"]);
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

#[test]
fn the_schema_of_scenarios_has_the_parameters_of_a_loaded_plugin() {
    let library = library("weir-example-ring-all-reduce");
    let valid = |more: &[&str], text: &str| {
        let ended = crate::common::run(&[&["schema", "scenario"][..], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let schema = serde_json::from_str(&ended.stdout).expect("the schema is JSON");
        let value = serde_saphyr::from_str(text).expect("is YAML");
        jsonschema::validator_for(&schema).expect("the schema is one").is_valid(&value)
    };
    let plugin = ["--plugin", library.to_str().expect("UTF-8")];
    assert!(valid(&plugin, RING) && !valid(&["--no-plugins"], RING));
    assert!(!valid(&plugin, &RING.replace("size:", "sise:")));
}
