//! Real results fit the schema of results, and the scenario library fits the schema of scenarios.

use std::path::Path;

use crate::common::{self, library, run, scenario};
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
    for file in [
        "pcie/four-transfers.yaml",
        "pcie/halo-2d-barriers.yaml",
        "network/random-64-hosts.yaml",
        "multilevel/tuning-made-up.yaml",
        "multilevel/gather-shared-network.yaml",
        "offload/eight-gpus-t2.yaml",
        "collectives/levels-4-machines.yaml",
    ] {
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

/// Searches of all kinds, whole, merged and ended early.
#[test]
fn results_of_searches_fit_their_schema() {
    let validator = validator(&["schema", "search"]);
    let (order, grid) = ("tests/optimize/order.yaml", "tests/optimize/grid.yaml");
    let (halo, mapped) = (scenario("pcie/halo-2d-file-order.yaml"), scenario("mapping/helios-stencil-heavy-slow.yaml"));
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let part = folder.path().join("part").to_str().expect("a UTF-8 path").to_owned();
    let cases: [&[&str]; 16] = [
        &["optimize", order],
        &["optimize", &halo, "--vary", "order", "--no-timing"],
        &["optimize", &halo, "--vary", "order", "--method", "branch-and-bound"],
        &["optimize", &halo, "--vary", "order", "--method", "anneal"],
        &["optimize", &mapped, "--vary", "placement", "--objective", "makespan", "--candidates", "50"],
        &["optimize", &mapped, "--vary", "placement", "--objective", "distance"],
        &["optimize", grid],
        &["optimize", order, "--shard", "1/1", "-o", &part],
        &["merge", &part],
        &["optimize", grid, "--shard", "1/1", "-o", &part],
        &["merge", &part],
        &["optimize", order, "--full"],
        &["optimize", &mapped, "--vary", "placement", "--objective", "distance", "--full"],
        &["optimize", &mapped, "--vary", "order,placement", "--candidates", "50"],
        &["optimize", &mapped, "--vary", "order", "--objective", "throughput", "--candidates", "50"],
        &["optimize", grid, "--objective", "throughput"],
    ];
    let mut known = Vec::new();
    for case in cases {
        let json: &[&str] = if case.contains(&"--shard") { &[] } else { &["--json"] };
        let ended = run(&[case, json].concat());
        assert_eq!(ended.code, 0, "{case:?}: {}", ended.stderr);
        for value in common::json_lines(&ended.stdout) {
            assert_eq!(errors(&validator, &value), [] as [String; 0], "{case:?}");
            known.push(value);
        }
    }
    assert_eq!(known.len(), 14);
    // What does not belong there is refused.
    for (at, key, wrong) in [
        (0, "rows", serde_json::json!([])),
        (0, "best", serde_json::json!(1)),
        (0, "solution", serde_json::json!({ "placement": [] })),
        (5, "best_ps", serde_json::json!(1.5)),
        (6, "vary", serde_json::json!("order")),
        (6, "weir", serde_json::json!(2)),
        (6, "found", serde_json::json!(true)),
    ] {
        let mut value = known[at].clone();
        value[key] = wrong;
        assert!(!validator.is_valid(&value), "{key} in {at}");
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

/// Items of groups are checked as others are, but for what variables stand for.
#[test]
fn the_schema_of_scenarios_looks_into_groups() {
    let validator = validator(&["schema"]);
    let group = "weir: 1
topology: t.yaml
workload:
  - sequence:
      - parallel:
          - transfer: { id: 'copy{i}', from: 'gpu{i}', to: 'gpu{(i + 1) mod 8}', size: '{size}', priority: '{i}' }
          - collective: { kind: '{kind}', size: 1MB, ranks: ['gpu{i}', gpu1], channels: '{i}', order: ranks }
        for: { i: [0..7], kind: all-reduce }
      - compute: { id: work, device: gpu0, time: 1ms }
        repeat: 3
      - pattern: { kind: halo, id: h, grid: [4, 2], size: 1MB, order: { 'gpu{j}': [0-1] } }
        for: { j: 0..3 }
    id: step
    sizes: { from: sizes.csv }
  - barrier: { after: [step] }
";
    let of = |text: &str| serde_saphyr::from_str::<Value>(text).expect("is YAML");
    assert_eq!(errors(&validator, &of(group)), [] as [String; 0]);
    for (from, to) in [
        ("size: '{size}'", "sise: '{size}'"),
        ("size: '{size}'", "size: 10"),
        ("priority: '{i}'", "priority: high"),
        ("kind: '{kind}'", "kind: all-reduced"),
        ("channels: '{i}'", "channels: 0"),
        ("order: ranks", "order: rank"),
        ("- collective:", "- collectives:"),
        ("device: gpu0, time: 1ms", "device: gpu0"),
        ("time: 1ms", "time: 1"),
        ("grid: [4, 2]", "gird: [4, 2]"),
        ("sizes: { from: sizes.csv }", "sizes: { form: sizes.csv }"),
        ("repeat: 3", "repeats: 3"),
        ("- compute:", "- copy: {}\n        compute:"),
    ] {
        let text = group.replacen(from, to, 1);
        assert_ne!(text, group, "{from}");
        assert!(!validator.is_valid(&of(&text)), "{to}");
    }
}

/// Every key that a scenario of the library or the documentation has, misspelt: nothing unknown passes, at any depth, in
/// parameters of arbiters and models, too.
#[test]
fn misspelt_keys_are_refused_wherever_keys_are_fixed() {
    let validator = validator(&["schema"]);
    let mut files = Vec::new();
    collect(&library().join("pcie"), &mut files);
    collect(&library().join("multilevel"), &mut files);
    collect(&library().join("offload"), &mut files);
    let mut tried = std::collections::BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("is readable");
        let value: Value = serde_saphyr::from_str(&text).expect("is YAML");
        for path in fixed_keys(&value, &mut Vec::new()) {
            if tried.insert(path.iter().filter(|part| part.parse::<usize>().is_err()).cloned().collect::<Vec<_>>()) {
                let wrong = misspelt(&value, &path);
                assert!(!validator.is_valid(&wrong), "{path:?} of {}", file.display());
            }
        }
    }
    assert!(tried.len() > 60, "{tried:?}");
}

/// Paths of the keys whose names the format gives; names of nodes, link types, devices and paths are the user's.
fn fixed_keys(value: &Value, path: &mut Vec<String>) -> Vec<Vec<String>> {
    const OWN: [&str; 5] = ["link_types", "tree", "children", "order", "parameters"];
    let mut all = Vec::new();
    let own =
        path.last().is_some_and(|last| OWN.contains(&last.as_str())) && path.first().is_some_and(|p| p != "workload");
    // Kinds of links are any words.
    let own = own || path.as_slice() == ["arbiter"] && value.get("name").is_none();
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value_below) in entries {
        path.push(key);
        if value.is_object() && !own {
            all.push(path.clone());
        }
        all.extend(fixed_keys(value_below, path));
        path.pop();
    }
    all
}

/// The same value with one key renamed.
fn misspelt(value: &Value, path: &[String]) -> Value {
    let (first, rest) = path.split_first().expect("a path");
    let mut value = value.clone();
    match &mut value {
        Value::Object(map) if rest.is_empty() => {
            let old = map.remove(first).expect("is there");
            map.insert(format!("{first}x"), old);
        }
        Value::Object(map) => {
            let old = &map[first];
            let new = misspelt(old, rest);
            map.insert(first.clone(), new);
        }
        Value::Array(list) => {
            let at: usize = first.parse().expect("an index");
            list[at] = misspelt(&list[at], rest);
        }
        _ => panic!("{path:?} leads into a value"),
    }
    value
}

/// What the tables of the format's documentation call keys.
#[test]
fn every_key_of_the_documentation_is_known() {
    let ended = run(&["schema"]);
    let schema: Value = serde_json::from_str(&ended.stdout).expect("the schema is JSON");
    let mut known = std::collections::BTreeSet::new();
    names_of_properties(&schema, &mut known);
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scenario-format.md")).expect("docs");
    let (mut keys, mut in_table) = (Vec::new(), false);
    for line in text.lines() {
        match line.strip_prefix('|') {
            Some(row) if line.starts_with("| key |") || in_table && line.starts_with('|') => {
                in_table = true;
                let cell = row.split('|').next().unwrap_or_default();
                keys.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
            }
            _ => in_table = false,
        }
    }
    assert!(keys.len() > 30, "{keys:?}");
    let unknown: Vec<_> = keys.iter().filter(|key| !known.contains(*key)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn names_of_properties(schema: &Value, names: &mut std::collections::BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        names.extend(properties.keys().cloned());
    }
    match schema {
        Value::Object(map) => map.values().for_each(|part| names_of_properties(part, names)),
        Value::Array(list) => list.iter().for_each(|part| names_of_properties(part, names)),
        _ => {}
    }
}

/// Arbiters and models, tried like [`WORKLOADS`].
#[test]
fn parameters_of_arbiters_and_models_are_known() {
    let validator = validator(&["schema"]);
    let with = |arbiter: &str| common::SHARED.replacen("workload:", &format!("arbiter: {arbiter}\nworkload:"), 1);
    for (arbiter, right) in [
        ("max-min", true),
        ("{ name: pcie-congestion, tau: 0.1, hol: false }", true),
        ("[fcfs, { name: max-min }]", true),
        ("{ name: pcie-congestion, tao: 0.1 }", false),
        ("{ name: pcie-congestion, tau: fast }", false),
        ("{ tau: 0.1 }", false),
        ("maxmin", false),
        ("[]", false),
    ] {
        let value: Value = serde_saphyr::from_str(&with(arbiter)).expect("is YAML");
        let errors = errors(&validator, &value);
        assert_eq!(errors.is_empty(), right, "{arbiter}: {errors:?}");
    }
}

/// Workloads, each tried as a whole: what the command takes the schema takes too, and what it refuses by its form alone.
const WORKLOADS: [&str; 33] = [
    "- transfer: { id: p, from: h0, to: h2, size: 1MB, after: q }\n- transfer: { id: q, from: h1, to: h2, size: 2MB }",
    "- transfer: { id: p, from: h0, to: h2, size: 1MB, after: [q] }\n- transfer: { id: q, from: h1, to: h2, size: 2MB }",
    "- transfer: { id: 1, from: h0, to: h2, size: 1MB }\n- transfer: { from: h1, to: h2, size: 2MB, after: 1 }",
    "- transfer: { id: p, from: h0, to: h2, size: 1MB }\n- barrier: { id: b, after: p }",
    "- transfer: { id: p, from: h0, to: h2, size: 1MB }\n- compute: { id: c, device: h1, time: 1us, after: p }",
    "- transfer: { from: h0, to: h2, size: 1 MB, start: 1\u{b5}s, weight: 0.5, priority: -1, limit: 1Gb/s, repeat: 2 }",
    "- transfer: { from: h0, to: h2, size: 1.5e3kB, start: 1\u{3bc}s, limit: 16GT/s x16 }",
    "- transfer: { from: { rank: 0 }, to: s/h1, size: 1MiB }",
    "- pattern: { kind: ring, size: 1MB, after: p }\n- transfer: { id: p, from: h0, to: h2, size: 1MB }",
    "- pattern: { kind: ring, size: 1MB, ranks: \"h[0-2]\" }",
    "- pattern: { kind: gather, root: 1, size: 1MB, ranks: [h0, \"h[1-2]\"] }",
    "- pattern: { kind: graph, edges: [[0, 1], [1, 2, 3]], unit: 1MB }",
    "- pattern: { kind: torus, grid: [3], weights: [2], axis_order: [0], wrap2: twice, size: 1MB }",
    "- pattern: { kind: hypercube, dimensions: 1, size: 1MB }",
    "- pattern: { kind: random, id: r, count: 3, seed: 0, size: [1kB, 1MB], within: 1ms }",
    "- pattern: { kind: random, count: 0, size: 1MB, seed: 1 }",
    "- pattern: { kind: ring, size: 1MB, model: { name: loggp, overhead: 5us, over: fabric } }",
    "- barrier: { id: b }",
    "- transfer: { from: h0, to: h2, size: 1MB, after: { id: p } }",
    "- transfer: { from: h0, to: h2, size: 1MB, after: true }",
    "- transfer: { from: h0, to: h2, size: 1MB, weight: 0 }",
    "- transfer: { from: h0, to: h2, size: 1MB, repeat: 0 }",
    "- transfer: { from: h0, to: h2, size: 1MB, start: 0 }",
    "- transfer: { from: h0, to: h2, size: -1MB }",
    "- transfer: { from: h0, size: 1MB }",
    "- pattern: { kind: graph, edges: [[0]], unit: 1MB }",
    "- pattern: { kind: star, size: 1MB }",
    "- pattern: { kind: random, count: 1.5, size: 1MB, seed: 1 }",
    "- compute: { device: h1 }",
    "- pattern: { kind: ring, size: 1MB, model: { overhead: 5us } }",
    "- barrier: { wait: [] }",
    "- trace: { id: t }",
    "- transfer: {}\n  barrier: {}",
];

/// Nodes below a switch, tried like [`WORKLOADS`].
const NODES: [&str; 21] = [
    "{ h: { kind: nic, link: x, bus_id: \"0000:e1:00.0\", numa: 1 } }",
    "{ h: { kind: host, link: x } }",
    "{ 3: { kind: host, link: { bandwidth: 1 GB/s, latency: 0s, kind: 3 } } }",
    "{ h: { kind: gpu, link: { up: 2GB/s, down: 1GB/s, kind: any }, engines: 2, repeat: 3 } }",
    "{ h: { kind: nic, link: { generation: 6, width: 12, efficiency: 1 } } }",
    "{ h: { kind: fpga, link: { bandwidth: 16GT/s  x16, efficiency: 0.5 } } }",
    "{ \"h[0-1]\": { kind: cpu, link: x, children: {} } }",
    "{ h: { kind: host, link: { generation: 4, width: 3 } } }",
    "{ h: { kind: host, link: { generation: 7, width: 4 } } }",
    "{ h: { kind: host, link: { generation: 4 } } }",
    "{ h: { kind: host, link: { bandwidth: 16GT/s x3 } } }",
    "{ h: { kind: host, link: { bandwidth: 1GB/s, efficiency: 1.5 } } }",
    "{ h: { kind: host, link: { bandwidth: 1GB/s, efficiency: 0 } } }",
    "{ h: { kind: host, link: { up: 1GB/s } } }",
    "{ h: { kind: host, link: { bandwidth: 1GB/s, up: 1GB/s, down: 1GB/s } } }",
    "{ h: { kind: host, link: x, repeat: 0 } }",
    "{ h: { kind: host, link: x, engines: 0 } }",
    "{ h: { kind: nic, link: x, bus_id: \"e1:00.0\" } }",
    "{ h: { kind: nic, link: x, numa: -1 } }",
    "{ h: { link: x } }",
    "{ h: { kind: host, link: 1GB/s, speed: 2 } }",
];

/// Tries each text with both, and counts those that both accept.
fn agreed(texts: impl Iterator<Item = String>) -> usize {
    let validator = validator(&["schema"]);
    let accepted = texts.filter(|text| {
        let ended = common::run_with_input(&["check", "-"], text.as_bytes());
        let value: Value = serde_saphyr::from_str(text).expect("is YAML");
        let errors = errors(&validator, &value);
        assert_eq!(errors.is_empty(), ended.code == 0, "{text}\nschema: {errors:?}\ncommand: {}", ended.stderr);
        errors.is_empty()
    });
    accepted.count()
}

#[test]
fn the_schema_and_the_command_agree_on_workloads() {
    let head = common::SHARED.split("workload:").next().expect("a beginning");
    let text = |workload: &&str| format!("{head}ranks: \"h[0-2]\"\nworkload:\n{workload}\n");
    assert_eq!(agreed(WORKLOADS.iter().map(text)), 18, "the first ones are right");
}

#[test]
fn the_schema_and_the_command_agree_on_nodes() {
    let text = |nodes: &&str| {
        format!(
            "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s }} }}\n  tree:\n    s: {{ kind: switch, \
             children: {nodes} }}\nworkload:\n  - barrier: {{ id: b }}\n"
        )
    };
    assert_eq!(agreed(NODES.iter().map(text)), 7, "the first ones are right");
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
