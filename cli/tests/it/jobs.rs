//! Jobs: groups, patterns and traces beside other items, and how much the others slow them.

use proptest::prelude::*;
use serde_json::Value;
use weir::Scenario;

use crate::common::search::Folder;
use crate::common::{json_lines, run};

/// Eight devices below one switch, 1 GB/s each, with four transfers at once.
fn text(arbiter: &str, items: &[&str]) -> String {
    format!(
        "weir: 1
topology:
  link_types: {{ l: {{ bandwidth: 1GB/s, latency: 1us }} }}
  tree: {{ sw: {{ kind: root-complex, children: {{ 'g[0-7]': {{ kind: gpu, link: l, engines: 4 }} }} }} }}
arbiter: {arbiter}
workload:
{}",
        items.concat()
    )
}

fn result(text: &str) -> Value {
    let json = Scenario::opener().read(text, ".").expect("read").run().expect("it runs").to_json().expect("JSON");
    serde_json::from_str(&json).expect("JSON")
}

#[derive(Debug)]
struct Job {
    id: String,
    kind: String,
    end: f64,
    alone: Option<f64>,
    slowdown: Option<f64>,
}

fn jobs(result: &Value) -> Vec<Job> {
    let of = |row: &Value| Job {
        id: row["id"].as_str().expect("an id").to_owned(),
        kind: row["kind"].as_str().expect("a kind").to_owned(),
        end: row["end_s"].as_f64().expect("an end"),
        alone: row["alone_s"].as_f64(),
        slowdown: row["slowdown"].as_f64(),
    };
    result["jobs"].as_array().map_or_else(Vec::new, |rows| rows.iter().map(of).collect())
}

/// Three steps, each two copies of 10 ms on links that they share, and 30 ms on one link: 20 + 30 ms.
const TRAIN: &str = "  - sequence:
      - for: { i: [1, 2] }
        transfer: { id: 'a{i}', from: g0, to: 'g{i}', size: 10MB }
      - compute: { id: c, device: g1, time: 10ms }
      - transfer: { id: d, from: g1, to: g2, size: 20MB }
    repeat: 3
    id: train
";

/// One operation that is repeated is a job under its own key and id; without an id it has its place.
#[test]
fn a_repeated_operation_is_named_as_itself() {
    let all = [
        "  - pattern: { id: h, kind: ring, size: 1MB }\n    repeat: 3\n",
        "  - repeat: 2\n    transfer: { from: g0, to: g1, size: 5MB }\n",
    ];
    let found = jobs(&result(&text("max-min", &all)));
    let names: Vec<_> = found.iter().map(|job| (&*job.id, &*job.kind)).collect();
    assert_eq!(names, [("h", "pattern"), ("workload[1]", "transfer")]);
}

/// Alone the copies have the link of g0, and take 20 ms. Beside a load that is longer they have two thirds of it: 30 ms, and a
/// step 60 ms for 50.
#[test]
fn others_slow_a_job() {
    let text = |items: &[&str]| text("max-min", items).replace(", latency: 1us", "");
    let load = "  - parallel: [ { transfer: { id: x, from: g0, to: g5, size: 1GB } } ]\n";
    let both = jobs(&result(&text(&[TRAIN, load])));
    let [train] = &both[..] else { panic!("one transfer is no job: {both:?}") };
    assert_eq!((&*train.id, &*train.kind), ("train", "sequence"));
    let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9);
    assert!(near(Some(train.end), 0.18) && near(train.alone, 0.15) && near(train.slowdown, 1.2), "{both:?}");
    assert!(jobs(&result(&text(&[TRAIN]))).is_empty(), "nothing else is there");
}

#[test]
fn the_text_has_jobs_where_one_is_slowed() {
    let folder = Folder::new();
    let load = "  - pattern: { id: p, kind: all-to-all, ranks: 'g[0-3]', size: 30MB }\n";
    let file = |items: &[&str]| folder.write("s.yaml", &text("max-min", items));
    let slowed = run(&["run", &file(&[TRAIN, load])]);
    assert!(slowed.stdout.contains("\njob     kind"), "{}", slowed.stdout);
    let rows: Vec<&str> = slowed.stdout.lines().filter(|line| line.ends_with('×')).collect();
    assert!(rows[0].starts_with("train   sequence") && rows[1].starts_with("p       pattern"), "{rows:?}");
    let apart = "  - pattern: { id: p, kind: all-to-all, ranks: 'g[4-7]', size: 30MB }\n";
    let free = run(&["run", &file(&[TRAIN, apart])]);
    assert!(!free.stdout.contains("\njob "), "{}", free.stdout);
    let rows = json_lines(&run(&["run", &file(&[TRAIN, apart]), "--json"]).stdout).remove(0)["jobs"].clone();
    assert_eq!(
        (rows.as_array().map(Vec::len), &rows[0]["slowdown"], &rows[1]["slowdown"]),
        (Some(2), &1.0.into(), &1.0.into())
    );
}

/// 8 transfers at 50 ms that wait for 9 of another item, through a barrier that weir makes: alone it is ready at once.
#[test]
fn barriers_that_weir_makes_do_not_begin_a_job() {
    let late = "  - parallel:
      - { for: { i: [0..7] }, transfer: { id: 'a{i}', from: 'g{i}', to: 'g{(i + 1) mod 8}', size: 1MB, start: 50ms } }
    after: [b0, b1, b2, b3, b4, b5, b6, b7, b8]
    id: late
";
    let early = "  - { for: { i: [0..8] }, transfer: { id: 'b{i}', from: g0, to: g2, size: 1kB } }\n";
    let empty = "  - { for: { i: [1..0] }, transfer: { id: 'c{i}', from: g0, to: g2, size: 1kB } }\n";
    let found = result(&text("max-min", &[late, early]).replace(", latency: 1us", ""));
    assert_eq!(found["jobs"][0]["start_s"], 0.05);
    let late = &jobs(&found)[0];
    assert_eq!((&*late.id, late.alone, late.slowdown), ("late", Some(0.001), Some(1.0)));
    assert!(jobs(&result(&text("max-min", &[early, empty]))).is_empty(), "nothing else is there");
    let one =
        "  - parallel: [ { collective: { id: r, kind: all-reduce, size: 1MB, ranks: 'g[0-3]' } } ]\n    id: one\n";
    assert_eq!(jobs(&result(&text("max-min", &[early, one]))).len(), 1, "one operation is no job");
}

/// 41 groups, of which the last shares its link with another transfer.
#[test]
fn the_text_names_a_slowed_job_that_it_does_not_show() {
    let free = |i: usize| {
        format!(
            "  - parallel: [ {{ transfer: {{ id: x{i}, from: g0, to: g1, size: 1kB, start: {i}ms }} }}, {{ transfer: {{ id: z{i}, from: g2, to: g3, size: 1kB, start: {i}ms }} }} ]\n    id: j{i}\n"
        )
    };
    let mut items: Vec<String> = (0..41).map(free).collect();
    items[40] = items[40].replace("from: g0, to: g1", "from: g4, to: g5");
    items.push("  - transfer: { id: y, from: g4, to: g5, size: 100MB, start: 30ms }\n".to_owned());
    let all: Vec<&str> = items.iter().map(String::as_str).collect();
    let run = Scenario::opener().read(text("max-min", &all), ".").expect("read").run().expect("it runs");
    let said = run.to_text().expect("text");
    assert!(said.contains("\nmost slowed: j40, 1."), "{said}");
}

/// A group that waits for itself through more than 64 pairs, for which weir makes a barrier; a pattern; a chain behind others.
fn item(kind: usize, at: usize, size: u32) -> String {
    match kind {
        0 => format!(
            "  - sequence:
      - {{ for: {{ i: [0..2], j: [5..7] }}, transfer: {{ id: 'm{at}-{{i}}-{{j}}', from: 'g{{i}}', to: 'g{{j}}', size: {size}kB }} }}
      - {{ for: {{ i: [0..3], j: [4..6] }}, transfer: {{ id: 'n{at}-{{i}}-{{j}}', from: 'g{{j}}', to: 'g{{i}}', size: {size}kB }} }}
    repeat: 2
    id: job{at}
"
        ),
        1 => format!("  - pattern: {{ id: job{at}, kind: all-to-all, ranks: 'g[1-4]', size: {size}kB, start: {at}ms }}\n"),
        2 => format!("  - pattern: {{ id: job{at}, kind: random, count: 20, seed: {size}, size: [1kB, {size}kB], within: 2ms, ranks: 'g[0-7]' }}\n"),
        _ => format!(
            "  - parallel:
      - {{ transfer: {{ id: 'x{at}', from: g2, to: g6, size: {size}kB }} }}
      - collective: {{ id: 'r{at}', kind: all-reduce, size: {size}kB, ranks: 'g[2-5]', algorithm: ring }}
      - {{ compute: {{ id: 'c{at}', device: g3, time: 1ms, after: 'r{at}' }} }}
      - {{ transfer: {{ id: 'y{at}', from: g3, to: g7, size: {size}kB, after: ['c{at}', 'x{at}'] }} }}
    id: job{at}
"
        ),
    }
}

/// From when the first of all tasks is ready to the last end.
fn whole(result: &Value) -> f64 {
    let ready = |list: &str, key: &str| -> Vec<f64> {
        result[list].as_array().expect("a list").iter().filter_map(|row| row[key].as_f64()).collect()
    };
    let first =
        [ready("transfers", "ready_s"), ready("operations", "start_s")].concat().into_iter().fold(f64::MAX, f64::min);
    result["makespan_s"].as_f64().expect("a time") - first
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// What is said of a job alone is what the scenario says without the other items.
    #[test]
    fn a_job_alone_is_the_scenario_without_the_others(
        items in prop::collection::vec((0_usize..4, 1_u32..5000), 2..5),
        arbiter in prop::sample::select(vec!["max-min", "fcfs", "{ name: pcie-congestion, tau: 0.1 }", "equal-share"]),
    ) {
        let items: Vec<String> = items.iter().enumerate().map(|(at, &(kind, size))| item(kind, at, size)).collect();
        let all: Vec<&str> = items.iter().map(String::as_str).collect();
        let found = jobs(&result(&text(arbiter, &all)));
        prop_assert_eq!(found.len(), items.len());
        for (at, Job { id, alone, slowdown, .. }) in found.iter().enumerate() {
            prop_assert_eq!(id, &format!("job{at}"));
            let lone = whole(&result(&text(arbiter, &all[at..=at])));
            let known = alone.expect("known");
            prop_assert!((known - lone).abs() < 2e-12, "{}: {} alone, {} without the others", id, known, lone);
            prop_assert!(slowdown.is_some());
        }
    }
}
