//! `weir optimize`: published numbers, and what is written runs as found.

use crate::common::search::{Folder, GRID, ORDER, makespan, optimize, refused, result};
use crate::common::{json_lines, run, scenario};

/// Eight messages by LogGP over the fabric, two of each device. Every one has times of its own.
const LOGGP: &str = "\
weir: 1
name: loggp
topology:
  link_types: { x: { bandwidth: 1GB/s, latency: 300ns } }
  tree:
    rc: { kind: root-complex, children: { \"g[0-3]\": { kind: gpu, link: x } } }
arbiter: pcie-congestion
workload:
  - transfer: { id: a, from: g0, to: g1, size: 5MB, model: { name: loggp, over: fabric, latency: 5us, overhead: 1ms, gap: 3ms } }
  - transfer: { id: b, from: g0, to: g2, size: 7MB, model: { name: loggp, over: fabric, overhead: 2ms, gap: 500us } }
  - transfer: { id: c, from: g1, to: g2, size: 6MB, model: { name: loggp, over: fabric, latency: 1us, gap: 2ms } }
  - transfer: { id: d, from: g1, to: g3, size: 4MB, model: { name: loggp, over: fabric, overhead: 9ms, gap: 1ms } }
  - transfer: { id: e, from: g2, to: g0, size: 3MB, model: { name: loggp, over: fabric, overhead: 700us } }
  - transfer: { id: f, from: g2, to: g1, size: 8MB, model: { name: loggp, over: fabric, gap: 4ms } }
  - transfer: { id: g, from: g3, to: g2, size: 5MB, model: { name: loggp, over: fabric, latency: 2ms } }
  - transfer: { id: h, from: g3, to: g0, size: 2MB, model: { name: loggp, over: fabric, overhead: 10us, gap: 10us } }
optimize: { vary: order }
";

/// Martinasso et al., SC16, section VIII-A: the best of the 2-D halo on T2 takes 4.84 lone messages, of
/// 300 MB / 11.6 GB/s = 25.862068966 ms each.
#[test]
fn all_orders_of_the_2d_halo() {
    let file = scenario("pcie/halo-2d-file-order.yaml");
    let found = result(&[&file, "--vary", "order"]);
    let seconds = |key: &str| found[key].as_f64().expect("a number");
    assert!((seconds("best_s") / 0.025_862_068_966 - 4.84).abs() < 1e-6);
    // 2! for the four corners of the 4 x 2 grid, 3! for the others.
    assert_eq!((&found["candidates"], &found["evaluated"]), (&20_736.into(), &20_736.into()));
    assert_eq!((&found["method"], &found["complete"]), (&"exhaustive".into(), &true.into()));
    assert_eq!((&found["proved_optimal"], &found["bound_s"]), (&true.into(), &found["best_s"]));
    assert_eq!(found["baseline_ps"], makespan(&file));
    let percentiles = found["percentiles_s"].as_object().expect("a map");
    assert_eq!(percentiles.keys().collect::<Vec<_>>(), ["1", "5", "25", "75", "95", "99"]);
    let middle = [percentiles["25"].as_f64(), Some(seconds("median_s")), percentiles["75"].as_f64()];
    assert!(middle.is_sorted() && seconds("best_s") <= seconds("mean_s") && seconds("mean_s") <= seconds("worst_s"));
    assert!(seconds("wall_s") > 0.0 && found.get("payback_exchanges").is_none());
}

#[test]
fn orders_of_one_source() {
    let folder = Folder::new();
    let found = result(&[&folder.write("order.yaml", ORDER)]);
    assert_eq!((&found["baseline_ps"], &found["best_ps"]), (&40_000_000_000_u64.into(), &30_000_000_000_u64.into()));
    assert_eq!((&found["candidates"], &found["best_count"]), (&6.into(), &2.into()));
    assert_eq!((&found["worst_ps"], &found["median_s"]), (&40_000_000_000_u64.into(), &0.04.into()));
    // (2 · 30 + 4 · 40) / 6 ms.
    assert_eq!(found["mean_s"], 220e9 / 6.0 / 1e12);
    // b c a and c b a are best; the first in lexicographic order of a b c wins.
    assert_eq!(found["solution"], serde_json::json!({ "order": { "g0": ["b", "c", "a"] } }));
}

/// Every order of the eight messages by a run of the scenario with that `order:`; the search, what it writes and the run
/// of that say the same.
#[test]
fn orders_of_loggp_messages() {
    let folder = Folder::new();
    let (file, target) = (folder.write("loggp.yaml", LOGGP), folder.path("best.yaml"));
    let found = result(&[&file, "--write", &target]);
    assert_eq!((&found["candidates"], &found["proved_optimal"]), (&16.into(), &true.into()));
    assert_eq!((&found["baseline_ps"], &found["best_ps"]), (&makespan(&file), &makespan(&target)));
    let order = |number: usize| {
        let source = |(s, pair): (usize, [&str; 2])| {
            let [first, second] = if number >> s & 1 == 0 { pair } else { [pair[1], pair[0]] };
            format!("g{s}: [{first}, {second}]")
        };
        let sources = [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]];
        sources.into_iter().enumerate().map(source).collect::<Vec<_>>().join(", ")
    };
    let run = |number: usize| {
        let text = format!("{LOGGP}order: {{ {} }}\n", order(number));
        makespan(&folder.write("one.yaml", &text)).as_u64().expect("a number")
    };
    let all: Vec<u64> = (0..16).map(run).collect();
    let (best, worst) = (all.iter().min().expect("16"), all.iter().max().expect("16"));
    assert!(best < worst, "the order matters");
    assert_eq!((&found["best_ps"], &found["worst_ps"]), (&(*best).into(), &(*worst).into()));
    let order = found["solution"]["order"].as_object().expect("a map");
    assert_eq!(order.keys().collect::<Vec<_>>(), ["g0", "g1", "g2", "g3"]);
    assert!(order["g1"] == serde_json::json!(["c", "d"]) || order["g1"] == serde_json::json!(["d", "c"]), "{order:?}");
    for method in ["branch-and-bound", "anneal"] {
        let same = result(&[&file, "--method", method, "--write", &target]);
        assert_eq!((&same["best_ps"], makespan(&target)), (&found["best_ps"], found["best_ps"].clone()), "{method}");
    }
    let per_byte = LOGGP.replacen("over: fabric", "per_byte: 1ns", 1);
    let file = folder.write("per-byte.yaml", &per_byte);
    refused(&["optimize", &file, "--method", "anneal"], "it carries no bytes over the fabric");
}

#[test]
fn branch_and_bound_tells_only_what_it_knows() {
    let file = scenario("pcie/halo-2d-file-order.yaml");
    let all = result(&[&file, "--vary", "order"]);
    for exact in [&[][..], &["--exact"]] {
        let found = result(&[&[&*file, "--vary", "order", "--method", "branch-and-bound"], exact].concat());
        assert_eq!((&found["best_ps"], &found["proved_optimal"]), (&all["best_ps"], &true.into()));
        for unknown in ["median_s", "mean_s", "worst_s", "percentiles_s", "best_count"] {
            assert!(found.get(unknown).is_none(), "{unknown}");
        }
        assert!(found["bound_s"].as_f64() <= found["best_s"].as_f64());
    }
}

#[test]
fn what_is_written_runs_as_found() {
    let folder = Folder::new();
    let grid = folder.write("grid.yaml", GRID);
    let three = folder.write("order.yaml", ORDER);
    let halo = scenario("pcie/halo-2d-file-order.yaml");
    let stencil = scenario("mapping/helios-stencil-heavy-slow.yaml");
    let cases: [&[&str]; 10] = [
        &[&grid],
        &[&three],
        &[&three, "--arbiter", "equal-share"],
        &[&three, "--set", "workload[3].transfer.size=5MB", "--set", "topology.link_types.x.bandwidth=2GB/s"],
        &[&halo, "--vary", "order"],
        &[&halo, "--vary", "order", "--set", "topology.link_types.pcie.bandwidth=10GB/s"],
        &[&stencil, "--vary", "placement", "--objective", "makespan", "--candidates", "100"],
        &[&stencil, "--vary", "placement", "--objective", "distance", "--arbiter", "max-min"],
        &[&stencil, "--vary", "order,placement", "--candidates", "100"],
        &[&stencil, "--vary", "order", "--method", "local-search", "--objective", "throughput", "--candidates", "50"],
    ];
    for case in cases {
        let target = folder.path("best.yaml");
        let found = result(&[case, &["--write", &target]].concat());
        assert!(found["best_ps"].as_u64() <= found["baseline_ps"].as_u64());
        assert_eq!(makespan(&target), found["best_ps"], "{case:?}");
        assert!(!folder.read("best.yaml").contains("optimize"), "{case:?}");
        // A search from there finds nothing better, and takes what was found as the baseline.
        if found["vary"] == "order" && case.len() == 1 {
            let again = result(&[&target, "--vary", "order"]);
            assert_eq!((&again["baseline_ps"], &again["best_ps"]), (&found["best_ps"], &found["best_ps"]));
        }
    }
}

#[test]
fn a_file_in_another_folder_names_the_same_files() {
    let folder = Folder::new();
    for name in ["weir-library", "a/", "b/"] {
        match name.strip_suffix('/') {
            Some(inner) => std::fs::create_dir(folder.path(inner)).expect("a folder"),
            None => drop(folder.write(name, "")),
        }
    }
    folder.write("a/flows.csv", "from,to,bytes\ng0,g2,10000000\ng1,g2,20000000\n");
    let (begin, end) = (GRID.find("  - transfer").expect("items"), GRID.find("optimize:").expect("an end"));
    let text = GRID.replace(&GRID[begin..end], "  - trace: { file: flows.csv }\n");
    let text = text.replace("    \"workload[0].transfer.size\": [10MB, 7MB, 5MB]\n", "");
    let file = folder.write("a/trace.yaml", &text);
    let target = folder.path("b/best.yaml");
    let found = result(&[&file, "--write", &target]);
    assert!(folder.read("b/best.yaml").contains("../a/flows.csv"));
    assert_eq!(makespan(&target), found["best_ps"]);
    // Outside of the library nothing reaches the trace.
    let outside = Folder::new();
    refused(&["optimize", &file, "--write", &outside.path("best.yaml")], "lies in another folder: name a file in");
    refused(&["optimize", &file, "--write", &file], "would overwrite the input");
    refused(&["optimize", &file, "--write", &folder.path("a/flows.csv")], "would overwrite the input");
}

/// A device whose copies of an offload keep their places has an order of its own transfers all the same.
#[test]
fn an_order_beside_an_offload_is_read() {
    let folder = Folder::new();
    let text = "\
weir: 1
name: beside
topology:
  link_types: { l: { bandwidth: 10GB/s } }
  tree: { rc: { kind: root-complex, children: { cpu: { kind: cpu, link: l }, \"gpu[0-1]\": { kind: gpu, link: l } } } }
arbiter: max-min
workload:
  - transfer: { id: x, from: gpu0, to: gpu1, size: 2MB }
  - transfer: { id: y, from: gpu0, to: cpu, size: 1MB }
  - offload: { id: o, device: gpu0, in: 1MB, out: 1MB, kernel: 1us, method: explicit, over: fabric }
optimize: { vary: order }
";
    let (file, best) = (folder.write("beside.yaml", text), folder.path("best.yaml"));
    let found = result(&[&file, "--write", &best]);
    assert_eq!(makespan(&best), found["best_ps"]);
    let turned = folder.write("turned.yaml", &text.replace("optimize: { vary: order }", "order: { gpu0: [y, x] }"));
    let ended = run(&["run", &turned]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// Faraji et al., AsHES 2016, section V-B, on the tree of 2 x 2 x 2 x 2: objective before and after.
#[test]
fn placements_by_distance() {
    let cases = [
        ("helios-stencil", 56, 52),
        ("helios-torus-2d", 80, 80),
        ("helios-hypercube", 80, 80),
        ("helios-torus-3d", 80, 80),
        ("helios-stencil-heavy-slow", 136, 88),
        ("helios-stencil-heavy-fast", 88, 88),
    ];
    for (name, before, after) in cases {
        let file = scenario(&format!("mapping/{name}.yaml"));
        let found = result(&[&file, "--vary", "placement", "--objective", "distance"]);
        let values = [&found["baseline"], &found["best"]].map(|v| v.as_f64().expect("a number"));
        assert_eq!(values, [f64::from(before), f64::from(after)], "{name}");
        assert_eq!((&found["proved_optimal"], &found["bound"]), (&true.into(), &found["best"]));
        assert_eq!(found["baseline_ps"], makespan(&file), "the exchange is simulated too");
        let mut devices: Vec<_> = found["solution"]["placement"].as_array().expect("a list").iter().collect();
        devices.sort_by_key(|device| device.as_str());
        devices.dedup();
        assert_eq!(devices.len(), 16);
        assert_eq!(found.get("payback_exchanges").is_some(), found["best_ps"].as_u64() < found["baseline_ps"].as_u64());
    }
}

/// Two ranks on four devices, one of which is slow.
#[test]
fn every_placement_simulated() {
    let folder = Folder::new();
    let text = "\
weir: 1
topology:
  link_types: { fast: { bandwidth: 2GB/s }, slow: { bandwidth: 1GB/s } }
  tree:
    s:
      kind: switch
      children: { a: { kind: gpu, link: slow }, \"g[0-2]\": { kind: gpu, link: fast } }
ranks: [a, g0]
workload:
  - transfer: { from: { rank: 0 }, to: { rank: 1 }, size: 10MB }
optimize: { vary: placement, devices: [a, \"g[0-2]\"], method: exhaustive }
";
    let file = folder.write("pair.yaml", text);
    let found = result(&[&file]);
    // 10 MB at 1 GB/s through `a`, at 2 GB/s elsewhere: 6 of the 4 · 3 pairs avoid `a`.
    assert_eq!((&found["baseline_ps"], &found["best_ps"]), (&10_000_000_000_u64.into(), &5_000_000_000_u64.into()));
    assert_eq!((&found["candidates"], &found["best_count"]), (&12.into(), &6.into()));
    assert_eq!((&found["evaluated"], &found["proved_optimal"]), (&12.into(), &true.into()));
    // The first in the order of the devices.
    assert_eq!(found["solution"]["placement"], serde_json::json!(["g0", "g1"]));
    let refined = result(&[&file, "--method", "local-search", "--candidates", "8"]);
    // No device has more than 2 GB/s, which proves it before all are known.
    assert_eq!((&refined["best_ps"], &refined["proved_optimal"]), (&found["best_ps"], &true.into()));
    assert_eq!((&refined["method"], &refined["bound_by"]), (&"local-search".into(), &"the critical path".into()));
}

/// 1 MB at 1 GB/s is faster than the 2 and 3 MB that are tried, which is not passed over.
#[test]
fn what_loses_to_the_scenario_as_it_is_says_so() {
    let text = "\
weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-1]\": { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g1, size: 1MB }
optimize: { vary: parameters, parameters: { \"workload[0].transfer.size\": [SIZES] } }
";
    let folder = Folder::new();
    let said = |sizes: &str| run(&["optimize", &folder.write("s.yaml", &text.replace("SIZES", sizes))]).stdout;
    let note = "note: the baseline, which is none of the candidates, is better than all that were tried\n";
    let worse = said("2MB, 3MB");
    assert!(worse.contains("baseline: 1.000 ms, 100.0 % more\n") && worse.contains(note), "{worse}");
    assert!(!said("1MB, 2MB").contains("note:"));
}

/// 10 MB and 20 MB into one port: 30 MB / ((1 − tau) · 1 GB/s).
#[test]
fn a_grid_as_json_and_csv() {
    let folder = Folder::new();
    let (file, table) = (folder.write("grid.yaml", GRID), folder.path("grid.csv"));
    let found = result(&[&file, "--csv", &table]);
    assert_eq!((&found["candidates"], &found["evaluated"]), (&15.into(), &15.into()));
    assert_eq!(found["best_ps"], 25_000_000_000_u64);
    // Each of the two ends is rounded up to a picosecond.
    assert!((50_000_000_000..=50_000_000_002).contains(&found["worst_ps"].as_u64().expect("a number")));
    assert_eq!(found["baseline_s"].as_f64().map(|s| (s * 1e9).round()), Some(33_333_333.0));
    let best = serde_json::json!({ "arbiter.tau": "0", "workload[0].transfer.size": "5MB" });
    assert_eq!(found["solution"]["parameters"], best);
    let rows = found["rows"].as_array().expect("a list");
    assert_eq!((rows.len(), &rows[2]["best"], &rows[2]["parameters"]), (15, &true.into(), &best));
    let csv = folder.read("grid.csv");
    assert_eq!(csv.lines().count(), 16);
    assert_eq!(csv.lines().nth(3), Some("2,0,5MB,0.025,25000000000,1,true"));
}

#[test]
fn each_arbiter_has_a_result_of_its_own() {
    let folder = Folder::new();
    let file = folder.write("order.yaml", &ORDER.replace("arbiter: max-min", "arbiter: [max-min, equal-share]"));
    let both = json_lines(&optimize(&[&file, "--json"]).stdout);
    assert_eq!(both.iter().map(|r| &r["arbiter"]["name"]).collect::<Vec<_>>(), ["max-min", "equal-share"]);
    refused(&["optimize", &file, "--write", &folder.path("best.yaml")], "choose one with --arbiter");
    let parts = ["1", "2"].map(|i| folder.path(i));
    for (i, part) in parts.iter().enumerate() {
        optimize(&[&file, "--shard", &format!("{}/2", i + 1), "-o", part]);
    }
    let merged = run(&["merge", &parts[1], &parts[0], "--json"]);
    assert_eq!(merged.stdout, optimize(&[&file, "--json", "--no-timing"]).stdout);
}

/// As it is means the ranks' own devices, also where these may not be chosen.
#[test]
fn a_placement_on_other_devices_is_held_against_the_ranks_own() {
    let folder = Folder::new();
    let text = "\
weir: 1
name: other devices
topology:
  link_types: { x: { bandwidth: 10GB/s }, y: { bandwidth: 1GB/s } }
  tree:
    r:
      kind: switch
      children:
        a: { kind: switch, link: x, children: { \"g[0-1]\": { kind: gpu, link: x } } }
        b: { kind: switch, link: x, children: { \"g[2-3]\": { kind: gpu, link: y } } }
arbiter: max-min
ranks: [g0, g1]
workload:
  - pattern: { kind: ring, id: p, size: 10MB }
optimize: { vary: placement, devices: [g2, g1, g3] }
";
    let file = folder.write("other.yaml", text);
    for more in [&[][..], &["--method", "exhaustive"], &["--objective", "distance"]] {
        let found = result(&[&[file.as_str()], more].concat());
        assert_eq!(found["baseline_ps"], makespan(&file), "{more:?}");
    }
    // Two ranks side by side: level 0, twice 10 MB over both ways and the unit.
    let found = result(&[&file, "--objective", "distance"]);
    assert_eq!((&found["baseline"], &found["best"]), (&1.0.into(), &1.0.into()));
    refused(&["optimize", &file, "--objective", "bandwidth"], "a rank runs on `g0`, which is not among `devices`");
}

#[test]
fn two_results_do_not_share_a_file() {
    let folder = Folder::new();
    let (file, one) = (folder.write("order.yaml", ORDER), folder.path("one.yaml"));
    refused(
        &["optimize", &file, "--write", &one, "-o", &folder.path("./one.yaml")],
        "--write and --output name one file",
    );
    refused(&["optimize", &file, "--checkpoint", &one, "--write", &one], "--write and --checkpoint name one file");
    assert!(!std::fs::exists(&one).expect("can be asked"));
}

/// What the options say of a search holds for the search alone: a candidate is read without it, and without what the file says.
#[test]
fn candidates_are_read_without_the_search_of_the_file() {
    let folder = Folder::new();
    let file = folder.write("grid.yaml", &GRID.replace("workload[0]", "workload[1]"));
    let lists = "workload: [[{ transfer: { id: p, from: g0, to: g2, size: 10MB } }], [{ transfer: { id: p, from: g0, to: g2, size: 5MB } }]]";
    // 5 MB at 0.9 GB/s: tau is 0.1.
    let set = format!("optimize={{ vary: parameters, parameters: {{ {lists} }} }}");
    let found = result(&[&file, "--set", &set]);
    assert_eq!((&found["evaluated"], &found["best_ps"]), (&2.into(), &5_555_555_556_u64.into()));
}

/// Also where the command line says what varies: a parameter that the search decides has no effect.
#[test]
fn a_parameter_is_not_what_the_search_decides() {
    let folder = Folder::new();
    let text = ORDER.replace(
        "optimize: { vary: order }",
        "order: { g0: [a, b, c] }\noptimize: { vary: parameters, parameters: { order.g0: [[a, b, c], [b, a, c]] } }",
    );
    let file = folder.write("order.yaml", &text);
    assert_eq!(result(&[&file])["evaluated"], 2);
    refused(
        &["optimize", &file, "--vary", "order", "--vary", "parameters"],
        "`order.g0` cannot be a parameter beside `vary: order`",
    );
}

#[test]
fn a_sweep_has_no_number_of_candidates() {
    let folder = Folder::new();
    let sweep = GRID.replace("vary: parameters", "vary: order");
    refused(
        &["optimize", &folder.write("sweep.yaml", &sweep), "--candidates", "9"],
        "--candidates is for searches that simulate each",
    );
}
