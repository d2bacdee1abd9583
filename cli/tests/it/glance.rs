//! Answers that can be trusted at a glance: messages that name the thing and the remedy, and tables that say what they
//! leave out.

use crate::common::search::Folder;
use crate::common::{json_lines, run, run_with_input, scenario};

const PAIR: &str = "\
weir: 1
name: a pair
topology:
  link_types: { x: { bandwidth: 16GB/s } }
  tree: { rc: { kind: root-complex, children: { a: { kind: gpu, link: x }, b: { kind: gpu, link: x } } } }
workload:
  - transfer: { id: t, from: a, to: b, size: 16MB }
";

fn refused(text: &[u8], expected: &[&str]) {
    let folder = Folder::new();
    let file = folder.path("s.yaml");
    std::fs::write(&file, text).expect("is written");
    let ended = run(&["run", &file]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    expected.iter().for_each(|part| assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr));
}

#[test]
fn a_unit_of_networks_is_met_with_the_value_that_was_meant() {
    for (written, meant) in
        [("128Gbps", "128Gb/s"), ("100mbps", "100Mb/s"), ("16GBps", "16GB/s"), ("128 Gbit/s", "128 Gb/s")]
    {
        refused(
            PAIR.replace("16GB/s", written).as_bytes(),
            &["unknown unit", &format!("did you mean `{meant}`?"), ":4:"],
        );
    }
}

#[test]
fn a_missing_version_is_met_with_the_line_to_add() {
    refused(
        PAIR.replace("weir: 1\n", "").as_bytes(),
        &["needs the key `weir`", "add the line `weir: 1`", "s.yaml:1:1"],
    );
}

#[test]
fn utf_16_is_named() {
    let units: Vec<u16> = PAIR.encode_utf16().collect();
    for (mark, name, bytes) in [
        ("\u{feff}", "UTF-16 (little-endian)", u16::to_le_bytes as fn(u16) -> [u8; 2]),
        ("\u{feff}", "UTF-16 (big-endian)", u16::to_be_bytes),
        ("", "UTF-16 (little-endian)", u16::to_le_bytes),
        ("", "UTF-16 (big-endian)", u16::to_be_bytes),
    ] {
        let text: Vec<u8> = mark.encode_utf16().chain(units.iter().copied()).flat_map(bytes).collect();
        refused(&text, &[&format!("is encoded as {name}"), "save it as UTF-8"]);
    }
}

#[test]
fn a_saved_result_on_standard_input_is_named() {
    let saved = run(&["run", &scenario("pcie/four-transfers.yaml"), "--json"]).stdout;
    for command in [&["run", "-"][..], &["explain", "-"], &["check", "-"]] {
        let ended = run_with_input(command, saved.as_bytes());
        let expected =
            "error: standard input is a saved result of `weir run --json`, not a scenario: `weir report -` shows it";
        assert!(ended.code == 2 && ended.stderr.starts_with(expected), "{command:?}: {}", ended.stderr);
    }
}

#[test]
fn a_comparison_of_unrelated_results_warns_and_may_be_full() {
    let (one, other) = (scenario("pcie/four-transfers.yaml"), scenario("pcie/halo-2d-fastest.yaml"));
    let compare = |files: &[&str]| run(&[&["compare", "--arbiter", "max-min", "--full", "--json"], files].concat());
    let ended = compare(&[&one, &other]);
    assert!(ended.stderr.contains("have few transfers or operations in common"), "{}", ended.stderr);
    let results = &json_lines(&ended.stdout)[0]["results"];
    assert!(results[0]["phases"].is_array() && results[1]["nodes"].is_array(), "{results}");
    assert_eq!(compare(&[&one, &one]).stderr, "");
}

#[test]
fn output_is_the_result_in_every_command() {
    let folder = Folder::new();
    let (file, target) = (scenario("pcie/four-transfers.yaml"), folder.path("result"));
    for command in ["run", "compare", "explain"] {
        for json in [&[][..], &["--json"]] {
            let plain = run(&[&[command, &*file], json].concat());
            let saved = run(&[&[command, &*file, "--output", &target], json].concat());
            assert_eq!((saved.code, saved.stdout.as_str()), (0, ""), "{command}: {}", saved.stderr);
            assert_eq!(std::fs::read_to_string(&target).expect("is there"), plain.stdout, "{command}");
        }
    }
}

#[test]
fn a_latency_is_no_objective_without_latencies() {
    let ended = run(&["optimize", &scenario("mapping/helios-stencil.yaml"), "--objective", "latency"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("no route between the devices has a latency"), "{}", ended.stderr);
}

/// An offload of 16 MiB to a GTX Titan in so many streams, with more keys.
fn offload(streams: &str, more: &str) -> String {
    let topology = scenario("topologies/three-gpus.yaml");
    format!(
        "weir: 1\ntopology: {topology}\nworkload:\n  - offload: {{ id: k, device: titan, in: 16MiB, streams: {streams}, \
         preset: pcie3-gtx-titan, {more} }}\n"
    )
}

#[test]
fn a_direction_without_bytes_costs_nothing() {
    // 9.42 us + 16 MiB · 83.18392 ps + 255 · 2.503 us = 2043.28 us, as Fig. 5 of the text; the formula as it is printed
    // adds 9.023 us + 255 · 2.674 us for copies of nothing.
    let folder = Folder::new();
    for (more, time) in [("", "2.043 ms"), ("empty_copies: true, copy_engines: 1", "2.734 ms")] {
        let file = folder.write("s.yaml", &offload("256", more));
        let ended = run(&["run", &file, "--library", "/"]);
        let expected = format!("category {time}        equal");
        assert!(ended.stdout.contains(&expected), "{} {}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("k: copies take the time of the parameters"), "{}", ended.stdout);
    }
}

#[test]
fn an_automatic_number_says_when_it_is_the_last_one_tried() {
    let folder = Folder::new();
    let free = "kernel: 10ms, parameters: { gap_in: 0ps, latency_in: 0ps }";
    let file = folder.write("s.yaml", &offload("auto", free));
    let ended = run(&["run", &file, "--library", "/"]);
    let expected = "k: streams auto: 256 is the fastest alone";
    assert!(ended.stdout.contains(expected), "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("the most that was tried, more may be faster"), "{}", ended.stdout);
    let file = folder.write("s.yaml", &offload("auto", "kernel: 1ms"));
    assert!(!run(&["run", &file, "--library", "/"]).stdout.contains("the most that was tried"));
}

#[test]
fn a_roofline_is_printed() {
    let folder = Folder::new();
    let bounds = "kernel: 1ms, bounds: { flops: 2e9, peak_flops: 1e12, memory_bandwidth: 200GB/s, \
                  operational_intensity: 10, pcie_bandwidth: 12GB/s }";
    let ended = run(&["run", &folder.write("s.yaml", &offload("4", bounds)), "--library", "/"]);
    // 16 MiB take 1.398 ms at 12 GB/s; the kernel takes 2 ms at 1 Tflop/s.
    assert!(
        ended.stdout.contains("k: roofline: full overlap 1.000 Tflop/s (2.000 ms)"),
        "{} {}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn a_timeline_may_be_of_some_links_and_transfers() {
    let folder = Folder::new();
    let (file, target) = (scenario("network/random-64-hosts.yaml"), folder.path("trace.json"));
    let timeline = |more: &[&str]| {
        let ended = run(&[&["run", &*file, "--timeline", &target], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        std::fs::read_to_string(&target).expect("is there")
    };
    let (all, top) = (timeline(&[]), timeline(&["--timeline-top", "3"]));
    let links = timeline(&["--timeline-links", "leaf0/h*,leaf1/h2->*"]);
    let slices = |text: &str| text.matches("\"ph\":\"b\"").count();
    assert!(top.len() < all.len() / 4 && slices(&top) < 40, "{} {}", top.len(), all.len());
    assert!(links.contains("\"name\":\"core/leaf0/h3 → ") && !links.contains("\"name\":\"core/leaf2/h3 → "));
    assert!(slices(&links) > 0 && slices(&links) < slices(&all) / 4);
    // 40,000 values of all counters together: those of so many instants, and one each at its end and its begin.
    let counters = timeline(&["--timeline-top", "500"]);
    let of_links = |text: &str| {
        let rates = text.lines().filter(|line| line.contains("\"ph\":\"C\"") && line.contains("\"rate\""));
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        rates.for_each(|line| *counts.entry(line.split(',').nth(1).unwrap_or_default().to_owned()).or_default() += 1);
        counts
    };
    let counts = of_links(&counters);
    let most = 40_000 / counts.len();
    assert!(most < 400 && counts.values().max().is_some_and(|&count| count > most / 3), "{counts:?}");
    assert!(counts.values().all(|&count| count <= most + 2), "{most}: {counts:?}");
    // Of all links, chosen by name, too.
    assert_eq!(of_links(&timeline(&["--timeline-links", "*"])).values().sum::<usize>(), counts.values().sum::<usize>());
    // A path names the same node as its name does, as in `events`.
    let of = |node: &str| timeline(&["--timeline-links", node]);
    assert_eq!(of("core/leaf0"), of("leaf0"));
    let wrong = run(&["run", &file, "--timeline", &target, "--timeline-links", "nowhere"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("has no such link"), "{}", wrong.stderr);
}

/// Of 10,000 transfers at once there are 5,000 parts of the run, not 10,000 for each of four links.
#[test]
fn a_timeline_of_thousands_at_once_has_fewer_values() {
    let folder = Folder::new();
    let text = "weir: 1
topology: { tree: { sw: { kind: switch, children: { \"h[0-7]\": { kind: host, link: { bandwidth: 1GB/s } } } } } }
ranks: \"h[0-7]\"
workload:
  - pattern: { kind: random, count: 10000, seed: 1, size: [1MB, 2MB], within: 1ms }
";
    let (file, target) = (folder.write("many.yaml", text), folder.path("trace.json"));
    let ended = run(&["run", &file, "--timeline", &target, "--timeline-links", "h0->*,h1->*,h2->*,h3->*"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let values = std::fs::read_to_string(&target).expect("is there").matches("\"rate\"").count();
    assert!((4 * 4_000..4 * 5_100).contains(&values), "{values}");
}

/// Thinned counters add up to the bytes of each link, wherever the run stops. Packets have no rates, thinned or not.
#[test]
fn thinned_counters_add_up() {
    let folder = Folder::new();
    let text = "weir: 1
topology: { tree: { sw: { kind: switch, children: { \"g[0-7]\": { kind: gpu, link: { bandwidth: 1GB/s } } } } } }
ranks: \"g[0-7]\"
workload:
  - pattern: { kind: random, count: 1500, seed: 1, size: [1kB, 2kB], within: 1ms }
";
    let (file, target) = (folder.write("many.yaml", text), folder.path("trace.json"));
    // All 16 links, so that 2,500 parts of the run are fewer than its events.
    let counters = |more: &[&str]| {
        let ended = run(&[&["run", &*file, "--json", "--timeline", &target, "--timeline-links", "sw"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let trace = std::fs::read_to_string(&target).expect("is there");
        let trace: serde_json::Value = serde_json::from_str(&trace).expect("is JSON");
        let events = trace["traceEvents"].as_array().expect("a list");
        let link = events.iter().find(|event| event["args"]["name"] == "g0 → sw").expect("it carries bytes");
        let own = events.iter().filter(|event| event["name"] == "rate" && event["pid"] == link["pid"]);
        let value =
            |event: &serde_json::Value| (event["ts"].as_f64().unwrap(), event["args"]["GB/s"].as_f64().unwrap());
        (json_lines(&ended.stdout).remove(0), own.map(value).collect::<Vec<_>>())
    };
    for stop in [&[][..], &["--until", "500us"], &["--until", "500001ns"]] {
        let (result, values) = counters(stop);
        let carried: f64 = values.windows(2).map(|pair| pair[0].1 * 1e3 * (pair[1].0 - pair[0].0)).sum();
        let links = result["links"].as_array().expect("a list");
        let bytes =
            links.iter().find(|link| link["from"] == "g0").expect("it carries bytes")["bytes"].as_f64().unwrap();
        assert!((carried - bytes).abs() < 2.0 + bytes * 1e-9, "{stop:?}: {carried} of {bytes}");
    }
    assert_eq!(counters(&["--fidelity", "packet"]).1, []);
}

/// What was decided before the run, and may be otherwise with contention, is said.
#[test]
fn receives_from_any_rank_are_named_as_decided_before_the_run() {
    let folder = Folder::new();
    let told = |from: &str| {
        let goal = format!(
            "num_ranks 2\nrank 0 {{\na: recv 16b from {from} tag 1\n}}\nrank 1 {{\na: send 16b to 0 tag 1\n}}\n"
        );
        folder.write("two.goal", &goal);
        let program = "program: { id: p, file: two.goal, format: goal, ranks: [a, b] }";
        let file = folder.write("s.yaml", &PAIR.replace("transfer: { id: t, from: a, to: b, size: 16MB }", program));
        let ended = run(&["run", &file]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stdout
    };
    let note = "p: 1 receive from any rank or with any tag takes the message that comes first without contention";
    assert!(told("-1").contains(note), "{}", told("-1"));
    assert!(!told("1").contains("without contention"));
}

/// 10^6 values twice: each would be read for a bound.
#[test]
fn a_search_of_too_many_points_says_why_it_has_no_bound() {
    let sizes = "{ from: 1kB, to: 1000000kB, step: 1kB }";
    let search = format!(
        "optimize: {{ vary: parameters, parameters: {{ \"workload[0].transfer.size\": {sizes}, \"workload[1].transfer.size\": {sizes} }} }}\n"
    );
    let folder = Folder::new();
    let text = format!("{PAIR}  - transfer: {{ id: u, from: b, to: a, size: 16MB }}\n{search}");
    let file = folder.write("large.yaml", &text);
    let ended = run(&["optimize", &file, "--candidates", "20", "--no-timing", "--wide"]);
    let said = "there is no lower bound: the scenario would be read at each of more than 2000 points of the parameters";
    assert!(ended.stdout.contains(said), "{}{}", ended.stdout, ended.stderr);
    let ended = run(&["optimize", &file, "--candidates", "20", "--json"]);
    assert!(
        json_lines(&ended.stdout)[0]["no_bound"].as_str().is_some_and(|why| said.contains(why)),
        "{}",
        ended.stdout
    );
}
