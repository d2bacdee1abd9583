//! `weir whatif`: every change against a run of the scenario with its values set, and `weir compare --with`.

use std::path::Path;

use serde_json::Value;
use weir::{Registry, RunOptions, Scenario, WhatIf, WhatIfOptions};
use weir_scenario::{Improvement, LoadOptions, resources};

use crate::common::{ended, run, scenario, weir};

/// Scenarios that end in seconds with each change, of types, memories, machines, engines, overheads, latencies, packets.
const SCENARIOS: [&str; 12] = [
    "pcie/remote-buffers.yaml",
    "measured/h2d-eight-gpus.yaml",
    "pcie/two-socket-all-to-all.yaml",
    "pcie/four-transfers.yaml",
    "pcie/halo-2d-barriers.yaml",
    "pcie/host-to-device.yaml",
    "measured/h800-both-ways.yaml",
    "mapping/helios-sizes.yaml",
    "mapping/helios-stencil-heavy-fast.yaml",
    "optimize/weather-step.yaml",
    "imported/lspci-tv-asus-esc8000a-e12-4gpu-host-to-device.yaml",
    "imported/nccl-azure-nd96-a100-v4-host-to-device.yaml",
];

/// A cluster, with a machine in place, a type in place, a generation, both directions shared, and engines.
const CLUSTER: &str = "
weir: 1
topology:
  link_types: { ib: { up: 20GB/s, down: 22GB/s, shared: 30GB/s, latency: 1us, kind: network } }
  machines:
    box:
      link_types: { pcie: { generation: 4, width: 16, efficiency: 0.8 } }
      tree:
        rc:
          kind: root-complex
          children:
            \"gpu[0-1]\": { kind: gpu, link: pcie, engines: { copy: 1, compute: 1 } }
            nic: { kind: nic, link: { bandwidth: 16GT/s x8, latency: 100ns } }
  tree: { \"n[0-1]\": { machine: box }, sw: { kind: network } }
  links: [ { between: [\"n[0-1]/nic\", sw], type: ib } ]
workload:
  - transfer: { id: a, from: n0/gpu0, to: n1/gpu0, size: 100MB }
  - transfer: { id: b, from: n1/gpu1, to: n0/gpu1, size: 100MB }
  - transfer: { id: c, from: n0/gpu0, to: n0/gpu1, size: 100MB }
  - compute: { id: d, device: n0/gpu0, time: 1ms }
";

fn what_if(file: &str, links: bool) -> (Scenario, WhatIf) {
    let opened = Scenario::open(file).expect("it is a scenario");
    let found = opened.what_if(0, &WhatIfOptions { links, ..WhatIfOptions::default() }).expect("it runs");
    (opened, found)
}

/// A file that lasts as long as the test.
fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, text).expect("it is written");
    let name = file.to_str().expect("UTF-8").to_owned();
    (folder, name)
}

/// Each change that can be set leads to its makespan, and the order is that of the makespans.
fn check_by_hand(file: &str) {
    let (_, found) = what_if(file, true);
    assert!(found.complete && !found.changes.is_empty() && found.left_out.is_empty(), "{file}: {found:?}");
    for change in found.changes.iter().filter(|change| !change.set.is_empty()) {
        let opener = change.set.iter().fold(Scenario::opener(), |o, set| o.set(&set.path, &set.value));
        let makespan = opener.open(file).expect("it takes the values").run().expect("it runs").makespan();
        assert_eq!(makespan.0, change.makespan_ps, "{file}: {}", change.title());
        let saved = (i128::from(found.makespan_ps) - i128::from(makespan.0)) as f64 / 1e12;
        assert_eq!(change.saved_s, saved, "{file}: {}", change.title());
    }
    assert!(found.changes.is_sorted_by_key(|change| change.makespan_ps), "{file}");
}

#[test]
fn every_change_is_what_a_run_with_its_values_says() {
    SCENARIOS.iter().for_each(|file| check_by_hand(&scenario(file)));
    let (_folder, cluster) = written(CLUSTER);
    check_by_hand(&cluster);
    let (_, found) = what_if(&cluster, false);
    for name in ["link_types.ib", "machines.box.link_types.pcie", "link_types.ib.latency", "gpu.engines.copy"] {
        assert!(found.changes.iter().any(|change| change.of == name), "{name}: {found:?}");
    }
    let nic = "machines.box.tree.rc.children.nic.link";
    assert!(found.changes.iter().any(|change| change.of == nic), "{found:?}");
}

#[test]
fn the_link_between_the_sockets_comes_first() {
    let (_, found) = what_if(&scenario("pcie/two-socket-all-to-all.yaml"), true);
    let single = found.changes.iter().find(|change| change.of == "rc0 → rc1" && change.factor == Some(2.0));
    assert_eq!(single.expect("the link").setting(), "links[0].type={ bandwidth: 32GB/s, kind: xgmi }");
    for (file, name) in [
        ("pcie/remote-buffers.yaml", "link_types.upi"),
        ("measured/h2d-eight-gpus.yaml", "link_types.upi"),
        ("pcie/two-socket-all-to-all.yaml", "link_types.xgmi"),
    ] {
        let (_, found) = what_if(&scenario(file), false);
        assert_eq!(found.changes[0].of, name, "{file}");
        let enough = found.changes.iter().find(|change| change.of == name && change.enough).expect("a factor");
        let no_limit = found.changes.iter().find(|change| change.of == name && change.factor.is_none());
        let no_limit = no_limit.expect("a run without limit").makespan_ps;
        assert!(enough.makespan_ps.abs_diff(no_limit) <= found.makespan_ps / 1_000_000_000, "{file}");
        // A hundredth less is not enough.
        let opened = Scenario::open(scenario(file)).expect("it is a scenario");
        let all = resources(&scenario(file), &LoadOptions::default(), false).expect("it is read");
        let resource = all.iter().find(|resource| resource.name == name).expect("the type");
        let hundredths = (enough.factor.expect("a factor") * 100.0).round() as u32 - 1;
        let less = makespan_with(&opened, &scenario(file), &resource.edits(Improvement::Times(hundredths)));
        assert!(less > enough.makespan_ps + found.makespan_ps / 1_000_000_000, "{file}");
    }
}

/// Under a policy with head-of-line blocking a wider link may end the run later: enough is what saves most of all that is listed.
#[test]
fn enough_is_what_saves_most() {
    let mut below_no_limit = false;
    for (file, arbiter) in
        [("pcie/two-socket-all-to-all.yaml", "input-fifo"), ("pcie/hol-blocking.yaml", "pcie-congestion")]
    {
        let opened = Scenario::opener().set("arbiter", arbiter).open(scenario(file)).expect("it is a scenario");
        let found = opened.what_if(0, &WhatIfOptions { links: true, ..WhatIfOptions::default() }).expect("it runs");
        let marked: Vec<_> = found.changes.iter().filter(|change| change.enough).collect();
        assert!(!marked.is_empty(), "{file}");
        for enough in marked {
            let of = found.changes.iter().filter(|change| (&change.of, change.what) == (&enough.of, enough.what));
            let least = of.clone().map(|change| change.makespan_ps).min().expect("a change");
            assert!(enough.makespan_ps <= least + found.makespan_ps / 1_000_000_000, "{file}: {}", enough.of);
            let no_limit = of.clone().find(|change| change.factor.is_none()).expect("a run without limit");
            below_no_limit |= enough.makespan_ps < no_limit.makespan_ps;
        }
    }
    assert!(below_no_limit);
}

fn makespan_with(as_it_is: &Scenario, file: &str, edits: &[(String, String)]) -> u64 {
    let opener = edits.iter().fold(Scenario::opener(), |opener, (path, value)| opener.set(path, value));
    let opened = opener.open(file).expect("it takes the values");
    assert_eq!(opened.arbiters().len(), as_it_is.arbiters().len());
    opened.run().expect("it runs").makespan().0
}

/// The one factor that changes nothing: types are written anew without a change of meaning, in runs of packets, too.
#[test]
fn a_factor_of_one_changes_nothing() {
    let (_folder, cluster) = written(CLUSTER);
    let library = ["pcie/remote-buffers.yaml", "packets/oldest-first.yaml"].map(scenario);
    for file in library.iter().chain([&cluster]) {
        for fidelity in ["fluid", "packet"] {
            let options = LoadOptions { fidelity: vec![fidelity.to_owned()], ..LoadOptions::default() };
            let read = |set: Vec<(String, String)>| {
                let options = LoadOptions { set, ..options.clone() };
                weir::Opener::from(options).registry(std::sync::Arc::new(Registry::built_in().expect("built in")))
            };
            let Ok(before) = read(Vec::new()).open(file).and_then(|opened| opened.run()) else { continue };
            for resource in resources(file, &options, fidelity == "packet").expect("it is read") {
                let edits = resource.edits(Improvement::Times(100));
                let after = read(edits).open(file).and_then(|opened| opened.run()).expect("it runs");
                assert_eq!(before.makespan(), after.makespan(), "{file}, {fidelity}: {}", resource.name);
            }
        }
    }
}

/// Single links save what they save of a run on a wider fabric.
#[test]
fn single_links_are_those_of_the_headline() {
    for file in ["pcie/remote-buffers.yaml", "pcie/two-socket-all-to-all.yaml"] {
        let (opened, found) = what_if(&scenario(file), true);
        let run = opened.run_with(&RunOptions::default()).expect("it runs");
        let mut compared = 0;
        for widening in run.widenings(None).expect("it runs again") {
            let of = format!("{} → {}", widening.from, widening.to);
            let twice = found.changes.iter().find(|change| change.of == of && change.factor == Some(2.0));
            if let Some(twice) = twice {
                assert!((twice.saved_s.max(0.0) - widening.saved_s).abs() < 1e-9, "{file}: {of}");
                compared += 1;
            }
        }
        assert!(compared > 2, "{file}");
    }
}

#[test]
fn results_do_not_depend_on_threads_and_go_into_a_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = scenario("pcie/two-socket-all-to-all.yaml");
    let json = |threads: &str| run(&["whatif", &file, "--links", "--json", "--threads", threads]).stdout;
    let (one, four) = (json("1"), json("4"));
    assert!(one == four && one.starts_with("{\"weir\":1,\"kind\":\"whatif\","), "{one}");
    let [saved, page, table] = ["a.json", "page.html", "a.csv"].map(|name| folder.path().join(name));
    let [saved, page, table] = [&saved, &page, &table].map(|path| path.to_str().expect("UTF-8"));
    std::fs::write(saved, &one).expect("it is written");
    let wrote = run(&["report", &file, saved, "-o", page]);
    assert!(wrote.stderr.contains("1 run, 1 what-if table"), "{}", wrote.stderr);
    assert!(std::fs::read_to_string(page).expect("a page").contains("\"kind\":\"whatif\""));
    let csv = run(&["whatif", &file, "--csv", table, "-o", "/dev/null"]);
    assert_eq!(csv.code, 0, "{}", csv.stderr);
    let rows = std::fs::read_to_string(table).expect("a table");
    assert!(rows.starts_with("of,what,factor,enough,makespan_ps") && rows.contains("link_types.xgmi.bandwidth=32GB/s"));
    let damaged = one.replacen("\"makespan_ps\"", "\"makespan\"", 1);
    std::fs::write(saved, damaged).expect("it is written");
    let refused = run(&["report", saved, "-o", page]);
    assert!(refused.code == 2 && refused.stderr.contains("weir whatif --json"), "{}", refused.stderr);
}

/// Costs change the order: a link that saves less may come first.
#[test]
fn costs_rank_by_what_is_saved_for_them() {
    let file = scenario("pcie/two-socket-all-to-all.yaml");
    let first = |costs: &[(String, f64)]| {
        let opened = Scenario::open(&file).expect("it is a scenario");
        let found = opened.what_if(0, &WhatIfOptions { costs, ..WhatIfOptions::default() }).expect("it runs");
        let by_cost: Vec<f64> = found.changes.iter().filter_map(|change| change.saved_s_per_cost).collect();
        assert!(by_cost.is_sorted_by(|a, b| a >= b), "{by_cost:?}");
        found.changes[0].of.clone()
    };
    assert_eq!(first(&[("xgmi".to_owned(), 3.0)]), "link_types.xgmi");
    assert_eq!(first(&[("link_types.xgmi".to_owned(), 3000.0), ("pcie".to_owned(), 0.1)]), "link_types.pcie");
}

#[test]
fn compare_adds_a_column_for_each_with() {
    let file = scenario("pcie/four-transfers.yaml");
    let wide = "link_types.pcie.bandwidth=12GB/s,workload[0].transfer.size=200MB";
    let compared = run(&["compare", &file, "--with", wide, "--with", "arbiter=max-min", "--json"]);
    let result: Value = serde_json::from_str(&compared.stdout).expect("JSON");
    assert_eq!(result["with"], serde_json::json!([null, wide, "arbiter=max-min"]));
    let set = ["--set", "topology.link_types.pcie.bandwidth=12GB/s", "--set", "workload[0].transfer.size=200MB"];
    let alone = run(&[&["run", &file, "--json"], &set[..]].concat());
    let alone: Value = serde_json::from_str(&alone.stdout).expect("JSON");
    assert_eq!(result["results"][1]["makespan_ps"], alone["makespan_ps"]);
    let slower = run(&["compare", &file, "--with", "link_types.pcie.bandwidth=6GB/s", "--fail-if", "slower:2%"]);
    assert!(slower.code == 1 && slower.stderr.contains("with `link_types.pcie.bandwidth=6GB/s`"), "{}", slower.stderr);
    let refused = ended(weir().args(["compare", "-", "--with", "a=b"]).output().expect("it starts"));
    assert!(refused.code == 2 && refused.stderr.contains("name a file instead of `-`"), "{}", refused.stderr);
}

#[test]
fn a_scenario_from_text_is_that_of_a_file() {
    let options = WhatIfOptions { links: true, ..WhatIfOptions::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cluster.yaml");
    std::fs::write(&file, CLUSTER).expect("it takes a file");
    let [read, opened] = [Scenario::opener().read(CLUSTER, Path::new(".")), Scenario::open(&file)]
        .map(|scenario| scenario.expect("it is a scenario").what_if(0, &options).expect("it runs"));
    let makespans =
        |found: &weir::WhatIf| found.changes.iter().map(|c| (c.of.clone(), c.makespan_ps)).collect::<Vec<_>>();
    assert!(read.makespan_ps > 0 && !read.changes.is_empty());
    assert_eq!((read.makespan_ps, makespans(&read)), (opened.makespan_ps, makespans(&opened)));
}
