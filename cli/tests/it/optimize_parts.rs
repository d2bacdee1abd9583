//! `weir optimize` in parts and `weir merge`: the same bytes however a search is split, ended or killed.

use proptest::prelude::*;

use crate::common::search::{Folder, GRID, ORDER, altered, many_orders, optimize, refused, result};
use crate::common::{json_lines, run, scenario};

#[test]
fn shards_merge_into_the_same_bytes_in_any_order() {
    let folder = Folder::new();
    let halo = scenario("pcie/halo-2d-file-order.yaml");
    let grid = folder.write("grid.yaml", GRID);
    let cases: [(&str, &[&str]); 4] = [
        (&grid, &[]),
        (&grid, &["--objective", "throughput"]),
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
                for json in [&[][..], &["--json"], &["--json", "--full"]] {
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

/// The same file by three paths, the part of each in one result.
#[test]
fn results_do_not_tell_how_the_path_was_spelled() {
    let folder = Folder::new();
    for (name, text) in [("order.yaml", ORDER), ("grid.yaml", GRID)] {
        let paths = [folder.write(name, text), folder.path(&format!("./{name}")), name.to_owned()];
        let search = |arguments: &[&str]| {
            let mut command = crate::common::weir();
            let output = command.current_dir(folder.0.path()).arg("optimize").args(arguments).output();
            let ended = crate::common::ended(output.expect("the command starts"));
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{arguments:?}");
            ended.stdout
        };
        for (i, path) in paths.iter().enumerate() {
            search(&[path, "--shard", &format!("{}/3", i + 1), "-o", &folder.path(&i.to_string())]);
        }
        let merged = run(&["merge", &folder.path("2"), &folder.path("0"), &folder.path("1"), "--json"]);
        assert_eq!((merged.code, merged.stderr.as_str()), (0, ""));
        for path in &paths {
            assert_eq!(merged.stdout, search(&[path, "--json", "--no-timing"]));
            search(&[path, "--checkpoint", &folder.path(&format!("kept-{name}"))]);
        }
        assert!(merged.stdout.contains(&format!("\"file\":\"{name}\"")), "{}", merged.stdout);
    }
}

#[test]
fn a_checkpoint_of_another_kind_is_told_apart() {
    let folder = Folder::new();
    let (order, grid) = (folder.write("order.yaml", ORDER), folder.write("grid.yaml", GRID));
    let (orders, grids) = (folder.path("orders"), folder.path("grids"));
    optimize(&[&order, "--checkpoint", &orders]);
    optimize(&[&grid, "--checkpoint", &grids]);
    let remedy = "remove it to start anew, or name another file";
    for (file, kept, words) in [
        (&order, &grids, "belongs to another kind of search, over parameters"),
        (&grid, &orders, "belongs to another kind of search, over orders"),
        (&order, &order_text(&folder), "is not a checkpoint of a search over orders"),
    ] {
        let ended = run(&["optimize", file, "--checkpoint", kept]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert!(ended.stderr.contains(words) && ended.stderr.contains(remedy), "{}", ended.stderr);
        assert!(!ended.stderr.contains("--shard"), "{}", ended.stderr);
    }
    for (more, words) in [
        (&["--arbiter", "equal-share"][..], "belongs to another arbiter"),
        (&["--set", "workload[3].transfer.size=5MB"], "other values are set"),
        (&["--shard", "1/2"], "holds shard 1/1, another than shard 1/2"),
    ] {
        refused(&[&["optimize", &order, "--checkpoint", &orders], more].concat(), words);
    }
    refused(&["merge", &grids], "is a checkpoint, not a part of a search");
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let folder = Folder::new();
    let (file, kept) = (folder.write("order.yaml", ORDER), folder.path("kept"));
    optimize(&[&file, "--checkpoint", &kept]);
    let text = std::fs::read_to_string(&kept).expect("a text");
    let part: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // Even with the right digest, numbers that contradict each other are no part.
    for (key, value) in [("best", "null"), ("next", "1000000"), ("distribution", "\"\"")] {
        let own = &part["part"]["order"]["makespans"][key];
        let changed = altered(&text, &format!("\"{key}\":{own}"), &format!("\"{key}\":{value}"));
        assert_ne!(changed, text);
        folder.write("kept", &changed);
        refused(&["optimize", &file, "--checkpoint", &kept], "the file was damaged");
    }
}

#[test]
fn a_checkpoint_is_read_whatever_the_budget() {
    for text in [GRID, ORDER] {
        let folder = Folder::new();
        let (file, kept) = (folder.write("s.yaml", text), folder.path("kept"));
        let whole = result(&[&file, "--no-timing", "--checkpoint", &kept]);
        assert_eq!(whole, result(&[&file, "--no-timing", "--budget", "1us", "--checkpoint", &kept]));
        folder.write("kept", "garbage");
        refused(&["optimize", &file, "--budget", "1us", "--checkpoint", &kept], "the checkpoint");
        assert_eq!(folder.read("kept"), "garbage");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Of the parts of orders and grids and the checkpoints of both: the file is named, and stays as it is.
    #[test]
    fn a_changed_bit_is_refused_wherever_it_is(at in 0.0..1.0_f64, bit in 0..8_u8) {
        let folder = Folder::new();
        for (i, scenario) in [ORDER, GRID].into_iter().enumerate() {
            let scenario = folder.write("scenario.yaml", scenario);
            let (part, kept) = (folder.path(&format!("part-{i}")), folder.path(&format!("kept-{i}")));
            optimize(&[&scenario, "--shard", "1/1", "-o", &part, "--checkpoint", &kept]);
            for (file, again) in
                [(&part, &["merge", &part][..]), (&kept, &["optimize", &scenario, "--shard", "1/1", "--checkpoint", &kept])]
            {
                let mut bytes = std::fs::read(file).expect("a file");
                let place = (bytes.len() as f64 * at) as usize;
                bytes[place] ^= 1_u8 << bit;
                std::fs::write(file, &bytes).expect("a file");
                let ended = run(again);
                prop_assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "byte {} bit {}", place, bit);
                let told = |what: &str| ended.stderr.contains(what);
                prop_assert!(told(file) && told("was changed or is damaged"), "byte {} {}: {}", place, bit, ended.stderr);
                prop_assert!(told("run that shard again") || told("remove it to start anew"), "{}", ended.stderr);
                prop_assert_eq!(std::fs::read(file).expect("a file"), bytes);
            }
        }
    }
}

/// A file that has nothing to do with searches.
fn order_text(folder: &Folder) -> String {
    folder.write("notes", "{\"a\": 1}\n")
}

#[test]
fn parts_of_different_searches_are_refused() {
    let folder = Folder::new();
    let (grid, other) = (folder.write("grid.yaml", GRID), folder.write("other.yaml", &GRID.replace("20MB", "21MB")));
    let order = folder.write("order.yaml", ORDER);
    for (file, shard, part) in [(&grid, "1/2", "1"), (&other, "2/2", "2"), (&order, "2/2", "3")] {
        optimize(&[file, "--shard", shard, "-o", &folder.path(part)]);
    }
    let different = "the parts belong to different searches";
    refused(&["merge", &folder.path("1"), &folder.path("2")], different);
    refused(&["merge", &folder.path("1"), &folder.path("3")], different);
    refused(&["merge", &folder.path("1"), &grid], "is not a part of a search");
    let part = folder.read("1");
    let old = altered(&part, "\"version\":\"", "\"version\":\"0.0.0-");
    refused(&["merge", &folder.write("old", &old)], "was written by weir 0.0.0-");
    // Parts of format 2 had no digest.
    let (object, _) = part.rsplit_once(",\"digest\":\"").expect("a digest");
    let old = object.replace("\"weir_part\":3", "\"weir_part\":2") + "}\n";
    let error = "was written by weir 0.1.0 (format 2), this is 0.1.0 (format 3): run that shard again";
    refused(&["merge", &folder.write("format", &old)], error);
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
        let text = folder.read("kept");
        let (head, _) = text.split_once('\n').expect("a line");
        let old = altered(head, "\"version\":\"", "\"version\":\"0.0.0-");
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
    let grid = folder.write("grid.yaml", GRID);
    let cases: [&[&str]; 8] = [
        &[&grid],
        &[&grid, "--objective", "throughput"],
        &[&halo, "--vary", "order"],
        &[&halo, "--vary", "order", "--method", "anneal"],
        &[&stencil, "--vary", "placement", "--objective", "makespan", "--candidates", "100"],
        &[&stencil, "--vary", "order,placement", "--candidates", "100", "--seed", "3"],
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

    use serde_json::Value;

    use super::*;
    use crate::common::{ended, interrupt, weir};

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
    fn a_killed_search_over_orders_loses_little() {
        let folder = Folder::new();
        let (file, kept) = (folder.write("many.yaml", &many_orders()), folder.path("kept"));
        let mut child = spawn(&[&file, "--checkpoint", &kept]);
        let known = || {
            let text = std::fs::read_to_string(&kept).unwrap_or_default();
            let part: Value = serde_json::from_str(&text).unwrap_or_default();
            let order = &part["part"]["order"]["makespans"];
            (order["next"].as_u64(), order["inside"].as_u64())
        };
        // Every second or so more is kept.
        let mut seen = vec![known()];
        while seen.len() < 4 {
            sleep(Duration::from_millis(20));
            let now = known();
            if now.0.is_some() && Some(&now) != seen.last() {
                seen.push(now);
            }
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(seen.is_sorted(), "{seen:?}");
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
