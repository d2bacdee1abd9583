//! Which link or memory would save most if it were twice as wide: whole lists by hand.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir::{Input, Run, RunOptions, Scenario, SimTime};

fn run_with(text: String, options: &RunOptions) -> Run {
    let scenario = Scenario::opener().load(Input::text(text, "wider.yaml", None)).expect("is right");
    scenario.run_with(options).expect("it runs")
}

/// Each link by the node farther from the root, what the makespan is less, and all ends together: ms.
fn listed(text: String) -> Vec<(String, f64, f64)> {
    let ms = |seconds: f64| (seconds * 1e9).round() / 1e6;
    let widenings = run_with(text, &RunOptions::default()).widenings(None).expect("it runs again");
    assert!(widenings.iter().all(|wider| wider.times == 2.0));
    widenings.into_iter().map(|wider| (wider.from, ms(wider.saved_s), ms(wider.sum_saved_s))).collect()
}

fn rows(rows: &[(&str, f64, f64)]) -> Vec<(String, f64, f64)> {
    rows.iter().map(|&(from, saved, sum)| (from.to_owned(), saved, sum)).collect()
}

/// 10 MB out of g0 at 1 GB/s and 1 MB out of g1, and then 1 MB out of g2, each into a device of 4 GB/s; nothing out of g3.
const FOUR: &str = "weir: 1
topology:
  link_types: { thin: { bandwidth: 1GB/s }, wide: { bandwidth: 4GB/s } }
  tree:
    s:
      kind: switch
      children:
        'g[0-3]': { kind: gpu, link: thin }
        'to[0-2]': { kind: gpu, link: wide }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: to0, size: 10MB }
  - transfer: { id: b, from: g1, to: to1, size: 1MB }
  - transfer: { id: c, from: g2, to: to2, size: 1MB, after: [a, b] }
";

/// The makespan comes first, then the sum of ends, then the order of links; what carries nothing is not listed.
#[test]
fn links_are_ranked_by_what_they_save() {
    let expected = [
        ("g0", 5.0, 10.0),
        ("g2", 0.5, 0.5),
        ("g1", 0.0, 0.5),
        ("to0", 0.0, 0.0),
        ("to1", 0.0, 0.0),
        ("to2", 0.0, 0.0),
    ];
    assert_eq!(listed(FOUR.to_owned()), rows(&expected));
}

/// A run that did not end has none, nor one whose further runs are cancelled.
#[test]
fn only_whole_runs_have_them() {
    let early = RunOptions { until: Some(SimTime(1_000_000_000)), ..RunOptions::default() };
    assert_eq!(run_with(FOUR.to_owned(), &early).widenings(None).expect("none"), []);
    let cancelled = Arc::new(AtomicBool::new(true));
    let run = run_with(FOUR.to_owned(), &RunOptions::default());
    assert_eq!(run.widenings(Some(&cancelled)).expect("none"), []);
}

/// Two GPUs read 10 MB each from a memory of 20 GB/s, over links of 40 GB/s: 1 ms, 0.5 ms with twice that. A link whose two
/// directions share 20 GB/s carries 10 MB each way in 1 ms; so that it saves, what it shares must be twice as wide, too. A memory
/// that nobody uses is not tried.
#[test]
fn what_links_share_is_widened() {
    let of = |topology: &str, to: [&str; 4]| {
        let [a, b, c, d] = to;
        format!(
            "weir: 1\narbiter: max-min\ntopology: {topology}\nworkload:
  - transfer: {{ from: {a}, to: {b}, size: 10MB }}\n  - transfer: {{ from: {c}, to: {d}, size: 10MB }}\n"
        )
    };
    let memory = "{ link_types: { p: { bandwidth: 40GB/s } }, tree: { cpu: { kind: cpu, memory: { bandwidth: 20GB/s }, \
                  children: { \"gpu[0-1]\": { kind: gpu, link: p }, idle: { kind: gpu, link: p, memory: { bandwidth: 1GB/s } } } } } }";
    let expected = [("cpu", 0.5, 1.0), ("gpu0", 0.0, 0.0), ("gpu1", 0.0, 0.0)];
    assert_eq!(listed(of(memory, ["cpu", "gpu0", "cpu", "gpu1"])), rows(&expected));
    // A memory that carries bytes and limits nobody is one of the busiest.
    let expected = [("gpu0", 0.0, 0.125), ("gpu1", 0.0, 0.125), ("cpu", 0.0, 0.0)];
    let wide = memory.replace("20GB/s", "200GB/s");
    assert_eq!(listed(of(&wide, ["cpu", "gpu0", "cpu", "gpu1"])), rows(&expected));
    let both = "{ link_types: { p: { bandwidth: 15GB/s, shared: 20GB/s } }, \
                tree: { cpu: { kind: cpu, children: { gpu: { kind: gpu, link: p } } } } }";
    assert_eq!(listed(of(both, ["cpu", "gpu", "gpu", "cpu"])), rows(&[("gpu", 0.5, 1.0)]));
}

/// A switch with devices of these names and link types, and a sink that takes 1 TB/s.
fn many(types: &str, devices: &[(&str, &str)], workload: &str) -> String {
    let device = |(name, link): &(&str, &str)| format!("        \"{name}\": {{ kind: host, link: {link} }}\n");
    let devices: String = devices.iter().map(device).collect();
    format!(
        "weir: 1\narbiter: max-min\ntopology:\n  link_types: {{ {types}, sink: {{ bandwidth: 1TB/s }} }}\n  tree:\n    s:\n      \
         kind: switch\n      children:\n{devices}        w: {{ kind: host, link: sink, memory: {{ bandwidth: 1TB/s }} }}\nworkload:\n{workload}"
    )
}

fn sent(from: &str, to: &str, size: &str) -> String {
    format!("  - transfer: {{ from: {from}, to: {to}, size: {size} }}\n")
}

fn numbered<T>(name: &str, from: usize, row: T, count: usize) -> Vec<(String, T, T)>
where
    T: Copy + Default,
{
    (from..from + count).map(|at| (format!("{name}{at}"), T::default(), row)).collect()
}

/// Of 19 links 16 are tried where nothing is lost: those of the longest critical path, and the busiest, which are those of 5 ms
/// and then those of 1 ms, however many bytes others carry. Each alone saves nothing of the makespan.
#[test]
fn the_busiest_links_are_tried() {
    let fast = (0..8).map(|i| sent(&format!("f{i}"), "w", if i < 2 { "5MB" } else { "10MB" }));
    let slow = (0..10).map(|i| sent(&format!("s{i}"), "w", "5MB"));
    let types = "fast: { bandwidth: 10GB/s }, slow: { bandwidth: 1GB/s }";
    let text = many(types, &[("f[0-7]", "fast"), ("s[0-9]", "slow")], &fast.chain(slow).collect::<String>());
    assert_eq!(listed(text), [numbered("s", 0, 2.5, 10), numbered("f", 2, 0.5, 6)].concat());
}

/// A third of the links tried, six, are those at which most is lost, however idle they are. Two transfers of x each into r_i
/// share 1 GB/s: both end after 2x, and at twice the bandwidth after x. Ten others are busy for 10 ms.
#[test]
fn links_at_which_most_is_lost_are_tried() {
    let pair = |i: usize| {
        let size = format!("{}kB", 100 * (i + 1));
        [format!("p{i}"), format!("q{i}")].map(|from| sent(&from, &format!("r{i}"), &size)).concat()
    };
    let busy: String = (0..20).map(|i| sent(&format!("h{i}"), "w", "10MB")).collect();
    let workload = (0..8).map(pair).collect::<String>() + &busy;
    let types = "thin: { bandwidth: 1GB/s }";
    let devices = [("p[0-7]", "sink"), ("q[0-7]", "sink"), ("r[0-7]", "thin"), ("h[0-19]", "thin")];
    let lost = (2..8).rev().map(|i| (format!("r{i}"), 0.0, 0.2 * (i + 1) as f64));
    let lost: Vec<_> = lost.map(|(name, saved, sum)| (name, saved, (sum * 1e6_f64).round() / 1e6)).collect();
    assert_eq!(listed(many(types, &devices, &workload)), [numbered("h", 0, 5.0, 10), lost].concat());
}

/// Twenty transfers keep their links busy for 12 ms. Two of 10 ms follow each other to the end at 20 ms: only their own links
/// make the run shorter, each by 5 ms, and the first lets both end earlier.
#[test]
fn links_of_the_critical_path_are_tried() {
    let busy: String = (0..20).map(|i| sent(&format!("h{i}"), "w", "12MB")).collect();
    let chain = "  - transfer: { id: first, from: w, to: g0, size: 10MB }
  - transfer: { from: w, to: g1, size: 10MB, after: first }\n";
    let text = many("l: { bandwidth: 1GB/s }", &[("h[0-19]", "l"), ("g[0-1]", "l")], &(busy + chain));
    let expected = [("g0", 5.0, 10.0), ("g1", 5.0, 5.0)];
    assert_eq!(listed(text)[..2], rows(&expected));
}
