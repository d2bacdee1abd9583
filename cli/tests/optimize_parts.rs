//! `weir optimize` in parts and `weir merge`: the same bytes however a search is split, ended or killed.

mod common;

use common::search::{Folder, GRID, ORDER, optimize, refused};
use common::{json_lines, run, scenario};

#[test]
fn shards_merge_into_the_same_bytes_in_any_order() {
    let folder = Folder::new();
    let halo = scenario("pcie/halo-2d-file-order.yaml");
    let cases: [(&str, &[&str]); 3] = [
        (&folder.write("grid.yaml", GRID), &[]),
        (&folder.write("order.yaml", ORDER), &[]),
        (&halo, &["--vary", "order"]),
    ];
    for (file, how) in cases {
        for shards in [1, 3] {
            let parts: Vec<String> = (1..=shards).map(|i| folder.path(&format!("part-{i}.json"))).collect();
            for (i, part) in parts.iter().enumerate() {
                let shard = format!("{}/{shards}", i + 1);
                let ended = optimize(&[&[file], how, &["--shard", &shard, "--output", part]].concat());
                assert_eq!(ended.stdout, "");
            }
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            for turned in 0..shards {
                let mut parts = parts.clone();
                parts.rotate_left(turned);
                for json in [&[][..], &["--json"]] {
                    let merged = run(&[&["merge"], &parts[..], json].concat());
                    let whole = optimize(&[&[file], how, &["--no-timing"], json].concat());
                    assert_eq!((merged.code, merged.stderr.as_str()), (0, ""));
                    assert_eq!(merged.stdout, whole.stdout, "{file}");
                }
            }
            if shards == 3 {
                refused(&["merge", parts[0], parts[1]], "shard 3");
                refused(&["merge", parts[0], parts[1], parts[1]], "twice");
            }
        }
    }
}

#[test]
fn parts_of_different_searches_are_refused() {
    let folder = Folder::new();
    let (grid, other) = (folder.write("grid.yaml", GRID), folder.write("other.yaml", &GRID.replace("20MB", "21MB")));
    let order = folder.write("order.yaml", ORDER);
    for (file, shard, part) in [(&grid, "1/2", "1"), (&other, "2/2", "2"), (&order, "2/2", "3")] {
        optimize(&[file, "--shard", shard, "-o", &folder.path(part)]);
    }
    let different = "the parts are of different searches";
    refused(&["merge", &folder.path("1"), &folder.path("2")], different);
    refused(&["merge", &folder.path("1"), &folder.path("3")], different);
    refused(&["merge", &folder.path("1"), &grid], "is no part of a search");
    let old = folder.read("1").replace("\"version\":\"", "\"version\":\"0.0.0-");
    refused(&["merge", &folder.write("old", &old)], "was written by weir 0.0.0-");
    refused(&["merge", &folder.write("empty", "")], "is empty");
}

#[test]
fn a_checkpoint_is_gone_on_from_and_only_by_its_own_search() {
    let folder = Folder::new();
    let halo = scenario("pcie/halo-2d-file-order.yaml");
    let cases: [(&str, &[&str], [&str; 2]); 2] = [
        (&folder.write("grid.yaml", GRID), &[], ["20MB", "21MB"]),
        (&folder.write("order.yaml", ORDER), &[], ["20MB", "21MB"]),
    ];
    for (file, how, [from, to]) in cases {
        let kept = folder.path("kept");
        let arguments = [&[file], how, &["--no-timing", "--json", "--checkpoint", &kept]].concat();
        let first = optimize(&arguments);
        assert_eq!(first.stdout, optimize(&arguments).stdout, "from what is kept");
        assert_eq!(first.stdout, optimize(&arguments[..arguments.len() - 2]).stdout, "without");
        let text = std::fs::read_to_string(file).expect("the scenario");
        let other = folder.write("other.yaml", &text.replace(from, to));
        refused(&["optimize", &other, "--checkpoint", &kept], "another");
        refused(&["optimize", file, "--shard", "1/2", "--checkpoint", &kept], "another");
        refused(&["optimize", file, "--checkpoint", file], "would overwrite the input");
        let old = folder.read("kept").replacen("\"version\":\"", "\"version\":\"0.0.0-", 1);
        refused(&["optimize", file, "--checkpoint", &folder.write("kept", &old)], "was written by weir 0.0.0-");
        std::fs::remove_file(&kept).expect("it is there");
    }
    refused(&["optimize", &halo, "--vary", "placement", "--checkpoint", "x"], "leave it out for a placement");
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::new();
    let stencil = scenario("mapping/helios-stencil.yaml");
    let halo = scenario("pcie/halo-2d-file-order.yaml");
    let cases: [&[&str]; 6] = [
        &[&folder.write("grid.yaml", GRID)],
        &[&halo, "--vary", "order"],
        &[&halo, "--vary", "order", "--method", "anneal"],
        &[&stencil, "--vary", "placement", "--objective", "makespan"],
        &[&stencil, "--vary", "placement", "--objective", "latency", "--set", "topology.link_types.pcie.latency=1us"],
        &[&stencil, "--vary", "placement", "--objective", "bandwidth", "--method", "bisection"],
    ];
    for case in cases {
        let of = |threads: &str| optimize(&[case, &["--no-timing", "--json", "--threads", threads]].concat()).stdout;
        let one = of("1");
        assert!(one == of("2") && one == of("8"), "{case:?}");
        assert!(!one.contains("wall_s") && !one.contains("payback"), "{case:?}");
    }
}

#[cfg(unix)]
mod ended {
    use std::process::{Child, Stdio};
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use common::{ended, interrupt, weir};

    /// A grid that takes far longer than the test: each candidate some milliseconds.
    const LONG: &str = "\
weir: 1
name: long
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { core: { kind: switch, children: { \"h[0-31]\": { kind: host, link: x } } } }
ranks: \"h[0-31]\"
workload:
  - pattern: { kind: random, count: 300, seed: 1, size: [1MB, 100MB], within: 1ms }
optimize: { vary: parameters, parameters: { \"workload[0].pattern.seed\": { from: 1, to: COUNT, step: 1 } } }
";

    fn spawn(arguments: &[&str]) -> Child {
        let mut command = weir();
        command.arg("optimize").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the command starts")
    }

    /// Waits until a checkpoint holds some candidates.
    fn wait_for(checkpoint: &str, candidates: usize) {
        while std::fs::read_to_string(checkpoint).map_or(0, |text| text.lines().count()) <= candidates {
            sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn ctrl_c_gives_the_best_so_far() {
        let folder = Folder::new();
        let (file, kept) = (folder.write("long.yaml", &LONG.replace("COUNT", "1000000")), folder.path("kept"));
        let child = spawn(&[&file, "--json", "--checkpoint", &kept]);
        wait_for(&kept, 5);
        interrupt(&child);
        let ended = ended(child.wait_with_output().expect("it ends"));
        assert_eq!(ended.code, 130, "{}", ended.stderr);
        let found = &json_lines(&ended.stdout)[0];
        assert_eq!((&found["complete"], &found["proved_optimal"]), (&false.into(), &false.into()));
        assert!(found["evaluated"].as_u64() >= Some(5) && found["candidates"] == 1_000_000);
        assert!(found.get("bound_s").is_none() && found["best_ps"].is_u64());
    }

    #[test]
    fn a_budget_gives_the_best_so_far() {
        let folder = Folder::new();
        let file = folder.write("long.yaml", &LONG.replace("COUNT", "100000"));
        let ended = ended(spawn(&[&file, "--json", "--budget", "3s"]).wait_with_output().expect("it ends"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert_eq!(json_lines(&ended.stdout)[0]["complete"], false);
    }

    #[test]
    fn a_killed_search_goes_on_to_the_same_bytes() {
        let folder = Folder::new();
        let (file, kept) = (folder.write("long.yaml", &LONG.replace("COUNT", "40")), folder.path("kept"));
        let arguments = [&*file, "--json", "--no-timing", "--checkpoint", &kept];
        let mut child = spawn(&arguments);
        wait_for(&kept, 3);
        child.kill().expect("it runs, or has ended");
        child.wait().expect("it ends");
        let known = folder.read("kept");
        assert_eq!(optimize(&arguments).stdout, optimize(&arguments[..3]).stdout);
        assert!(folder.read("kept").starts_with(&known[..=known.rfind('\n').expect("a whole line")]));
    }
}
