//! Searches for send orders, each order simulated by packets.

use serde_json::Value;

use crate::common::json_lines;
use crate::packets::ended;

/// Under one switch with small buffers: who sends to whom first decides which buffers fill.
fn text(order: &str, optimize: &str) -> String {
    format!(
        "weir: 1
fidelity: {{ packet: {{ buffer: 1KiB }} }}
topology:
  link_types: {{ x: {{ bandwidth: 1GB/s }} }}
  tree:
    s: {{ kind: switch, children: {{ 'g[0-3]': {{ kind: gpu, link: x }} }} }}
workload:
  - transfer: {{ id: a, from: g0, to: g2, size: 100kB }}
  - transfer: {{ id: b, from: g0, to: g3, size: 50kB }}
  - transfer: {{ id: c, from: g0, to: g1, size: 20kB }}
  - transfer: {{ id: d, from: g1, to: g2, size: 120kB }}
  - transfer: {{ id: e, from: g1, to: g3, size: 70kB }}
{order}optimize: {optimize}
"
    )
}

fn found(text: &str, extra: &[&str]) -> Value {
    let ended = ended(text, &[&["optimize", "s.yaml", "--json", "--no-timing"], extra].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    json_lines(&ended.stdout).remove(0)
}

/// The makespan of every order, each a run of its own.
fn makespans() -> Vec<u64> {
    let of_first =
        [["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"], ["c", "a", "b"], ["c", "b", "a"]];
    let orders =
        of_first.iter().flat_map(|first| [["d", "e"], ["e", "d"]].map(|second| (first.join(", "), second.join(", "))));
    let run = |(first, second): (String, String)| {
        let order = format!("order: {{ g0: [{first}], g1: [{second}] }}\n");
        let ended = ended(&text(&order, "{ vary: order }"), &["run", "s.yaml", "--json"]);
        json_lines(&ended.stdout).remove(0)["makespan_ps"].as_u64().expect("it ends")
    };
    orders.map(run).collect()
}

#[test]
fn the_best_order_is_the_best_of_all_runs() {
    let all = makespans();
    let (best, worst) = (all.iter().min(), all.iter().max());
    assert!(best < worst, "{all:?}");
    for method in ["auto", "exhaustive", "local-search"] {
        let found = found(&text("", "{ vary: order }"), &["--method", method]);
        assert_eq!(
            (found["best_ps"].as_u64(), found["baseline_ps"].as_u64()),
            (best.copied(), Some(all[0])),
            "{method}"
        );
        if method != "local-search" {
            assert_eq!((&found["proved_optimal"], &found["candidates"]), (&true.into(), &12.into()));
        }
    }
}

#[test]
fn each_point_of_a_grid_has_its_best_order() {
    let optimize = "{ vary: order, parameters: { 'workload[0].transfer.size': [100kB, 30kB] } }";
    let sweep = found(&text("", optimize), &[]);
    let points = sweep["points"].as_array().expect("a list");
    assert_eq!(points.len(), 2);
    for point in points {
        let size = point["parameters"]["workload[0].transfer.size"].as_str().expect("text");
        let one = text("", "{ vary: order }").replace("to: g2, size: 100kB", &format!("to: g2, size: {size}"));
        let alone = found(&one, &[]);
        assert_eq!((&point["best_ps"], &point["baseline_ps"]), (&alone["best_ps"], &alone["baseline_ps"]), "{point}");
    }
    assert_ne!(points[0]["best_ps"], points[1]["best_ps"]);
}

#[test]
fn what_needs_rates_is_refused_with_what_to_use() {
    for (extra, words) in [
        (&["--method", "branch-and-bound"][..], "use `exhaustive` or `local-search`, which simulate each candidate"),
        (&["--method", "anneal"], "use `exhaustive` or `local-search`, which simulate each candidate"),
        (&["--exact"], "--exact is for orders alone, by the makespan and by rates: leave it out"),
        (&["--shard", "1/2", "-o", "part.json"], "leave it out where each candidate is simulated"),
        (&["--checkpoint", "kept"], "leave it out where each candidate is simulated"),
    ] {
        let refused = ended(&text("", "{ vary: order }"), &[&["optimize", "s.yaml"], extra].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{extra:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{extra:?}: {}", refused.stderr);
    }
}
