//! The parts of a transfer's delay: each is what the phases of the run say, and together they are the whole difference
//! between its time and its time alone.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;
use weir::{RunOptions, Scenario};

/// A tree of two switches below a root complex; two slots of `gpu4`'s engine; a host that sends all at once.
const TOPOLOGY: &str = "weir: 1
topology:
  link_types: { pcie: { bandwidth: 10GB/s, latency: 1us }, wide: { bandwidth: 16GB/s } }
  tree:
    rc:
      kind: root-complex
      children:
        s0: { kind: switch, link: wide, children: { 'gpu[0-2]': { kind: gpu, link: pcie } } }
        s1: { kind: switch, link: pcie, children: { gpu3: { kind: gpu, link: pcie }, gpu4: { kind: gpu, link: pcie, engines: 2 } } }
        cpu0: { kind: cpu, link: wide }
";
const DEVICES: [&str; 6] = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "cpu0"];
const ARBITERS: [&str; 6] = [
    "max-min",
    "equal-share",
    "strict-priority",
    "fcfs",
    "pcie-congestion",
    "{ default: pcie-congestion, memory: max-min }",
];

#[derive(Clone, Debug)]
struct Drawn {
    from: usize,
    to: usize,
    bytes: u64,
    start_us: u64,
    after_previous: bool,
    limit: Option<u64>,
    priority: i64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let ends = (0..DEVICES.len(), 1..DEVICES.len()).prop_map(|(from, by)| (from, (from + by) % DEVICES.len()));
    let limit = proptest::option::weighted(0.3, 1..12_u64);
    (ends, 1..5_000_000_u64, 0..300_u64, proptest::bool::weighted(0.2), limit, 0..3_i64).prop_map(
        |((from, to), bytes, start_us, after_previous, limit, priority)| Drawn {
            from,
            to,
            bytes,
            start_us,
            after_previous,
            limit,
            priority,
        },
    )
}

fn scenario(arbiter: &str, transfers: &[Drawn]) -> String {
    let mut yaml = format!("{TOPOLOGY}arbiter: {arbiter}\nworkload:\n");
    for (i, t) in transfers.iter().enumerate() {
        let Drawn { from, to, bytes, start_us, after_previous, limit, priority } = t;
        let (from, to) = (DEVICES[*from], DEVICES[*to]);
        let after = if *after_previous && i > 0 { format!(", after: [t{}]", i - 1) } else { String::new() };
        let limit = limit.map_or_else(String::new, |limit| format!(", limit: {limit}GB/s"));
        let _ = writeln!(
            yaml,
            "  - transfer: {{ id: t{i}, from: {from}, to: {to}, size: {bytes}B, start: {start_us}us, priority: {priority}{after}{limit} }}"
        );
    }
    yaml
}

/// Seconds at rate 0, and seconds lost below the rate alone, by the phases of a run.
fn by_phases(result: &Value, alone: &BTreeMap<String, f64>) -> BTreeMap<String, (f64, f64)> {
    let mut sums = BTreeMap::<String, (f64, f64)>::new();
    for phase in result["phases"].as_array().expect("phases") {
        let span = phase["end_s"].as_f64().expect("a number") - phase["start_s"].as_f64().expect("a number");
        for (id, rate) in phase["rates_Bps"].as_object().expect("rates") {
            let (rate, (blocked, cut)) = (rate.as_f64().expect("a number"), sums.entry(id.clone()).or_default());
            if rate == 0.0 {
                *blocked += span;
            } else {
                *cut += span * (1.0 - rate / alone[id]);
            }
        }
    }
    sums
}

fn seconds(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// Rounding of times to picoseconds, at each change of rate.
const ROUNDING: f64 = 1e-9;

fn check(yaml: &str) -> Result<(), TestCaseError> {
    let scenario = Scenario::opener().read(yaml, ".").expect("it is a scenario");
    let options = RunOptions { phases: true, ..RunOptions::default() };
    let run = scenario.run_with(&options).expect("it runs");
    let result: Value = serde_json::from_str(&run.to_json().expect("JSON")).expect("JSON");
    let rows = result["transfers"].as_array().expect("a list");
    let latency = |row: &Value| {
        let ends = [&row["from"], &row["to"]].into_iter().filter(|end| **end != "cpu0").count() as f64;
        let switch = |end: &Value| match end.as_str() {
            Some("gpu3" | "gpu4") => 1,
            Some("cpu0") => 2,
            _ => 0,
        };
        // The links of GPUs and of s1 have 1 µs each.
        let (from, to) = (switch(&row["from"]), switch(&row["to"]));
        (ends + if (from == 1) != (to == 1) { 1.0 } else { 0.0 }) * 1e-6
    };
    let rate_alone = |row: &Value| seconds(row, "bytes") / (seconds(row, "alone_s") - latency(row));
    let alone = rows.iter().map(|row| (row["id"].as_str().expect("an id").to_owned(), rate_alone(row))).collect();
    let phases = by_phases(&result, &alone);
    for row in rows {
        let (id, delay) = (row["id"].as_str().expect("an id"), &row["delay"]);
        let (blocked, cut) = phases[id];
        let close = |a: f64, b: f64| (a - b).abs() <= ROUNDING;
        let (waiting, own_limit) = (seconds(delay, "waiting_s"), seconds(delay, "own_limit_s"));
        prop_assert!(close(waiting, seconds(row, "start_s") - seconds(row, "ready_s")), "{row}");
        prop_assert!(close(seconds(delay, "blocked_s"), blocked), "{row}: {blocked}");
        prop_assert!(close(seconds(delay, "cut_s"), cut), "{row}: {cut}");
        let parts = waiting + seconds(delay, "blocked_s") + seconds(delay, "cut_s") + own_limit;
        let free = seconds(row, "alone_s") - own_limit;
        prop_assert!(close(parts, seconds(row, "end_s") - seconds(row, "ready_s") - free), "{row}");
        prop_assert!(own_limit >= 0.0, "{row}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_parts_of_a_delay_are_those_of_the_phases_and_add_up(
        arbiter in 0..ARBITERS.len(),
        transfers in proptest::collection::vec(drawn(), 1..20),
    ) {
        check(&scenario(ARBITERS[arbiter], &transfers))?;
    }
}

/// From 1,000 transfers on an incremental side knows no more than whether anything was blocked at all; the parts add up.
#[test]
fn in_large_runs_what_is_not_told_apart_is_null() {
    for (arbiter, is_known) in [("max-min", true), ("strict-priority", false)] {
        let transfers: Vec<Drawn> = (0..1200_u64)
            .map(|i| {
                let (from, by) = ((i % 6) as usize, (1 + i / 6 % 5) as usize);
                let (to, bytes, start_us) = ((from + by) % 6, 50_000 + 997 * i, 17 * i % 30_000);
                let (limit, priority) = ((i % 7 == 0).then_some(3), (i % 3) as i64);
                Drawn { from, to, bytes, start_us, after_previous: false, limit, priority }
            })
            .collect();
        let scenario = Scenario::opener().read(scenario(arbiter, &transfers), ".").expect("it is a scenario");
        let result = scenario.run().expect("it runs").to_json().expect("JSON");
        let result: Value = serde_json::from_str(&result).expect("JSON");
        let rows = result["transfers"].as_array().expect("a list");
        assert_eq!(rows.iter().all(|row| row["delay"]["blocked_s"] == 0.0), is_known, "{arbiter}");
        assert_eq!(rows.iter().any(|row| row["delay"]["blocked_s"].is_null()), !is_known, "{arbiter}");
        for row in rows {
            let part = |key: &str| row["delay"][key].as_f64().unwrap_or(0.0);
            let parts: f64 = ["waiting_s", "blocked_s", "cut_s", "own_limit_s"].into_iter().map(part).sum();
            let free = seconds(row, "alone_s") - part("own_limit_s");
            assert!((parts - (seconds(row, "end_s") - seconds(row, "ready_s") - free)).abs() <= ROUNDING, "{row}");
        }
    }
}

/// `a` is alone for its last 0.5 ms of 99.5, after `b` has ended. Further transfers make the run incremental, which tells of the
/// last byte alone: that others shared the link before is said all the same.
#[test]
fn in_large_runs_who_was_cut_had_not_the_full_rate() {
    let other = |i: u32| format!("  - transfer: {{ id: z{i}, from: gpu2, to: gpu3, size: 1kB, start: 1s }}\n");
    let others: String = (0..1000).map(other).collect();
    let workload = "arbiter: max-min
workload:
  - transfer: { id: a, from: gpu0, to: gpu1, size: 1GB }
  - transfer: { id: b, from: cpu0, to: gpu1, size: 990MB }
  - transfer: { id: c, from: gpu1, to: gpu0, size: 1GB }
";
    for others in ["", &others] {
        let text = format!("{TOPOLOGY}{workload}{others}");
        let run = Scenario::opener().read(text, ".").expect("it is a scenario").run().expect("it runs");
        let why = |id| run.transfer(id).and_then(|t| t.cause_kind);
        assert_eq!((why("a"), why("c")), (Some(weir::Cause::SharedLink), Some(weir::Cause::FullRate)), "{others}");
    }
}

/// Three sends of one GPU at 10 GB/s, one of them limited to 4 GB/s; each takes the engine when the one before has sent.
#[test]
fn a_queue_is_a_reason_and_names_whom_it_waits_for() {
    let workload = "arbiter: max-min
workload:
  - transfer: { id: a, from: gpu0, to: gpu3, size: 100MB }
  - transfer: { id: b, from: gpu0, to: gpu1, size: 20MB, limit: 4GB/s }
  - transfer: { id: c, from: gpu0, to: gpu2, size: 30MB }
";
    let scenario = Scenario::opener().read(format!("{TOPOLOGY}{workload}"), ".").expect("it is a scenario");
    let run = scenario.run().expect("it runs");
    let delay = |id| run.transfer(id).and_then(|t| t.delay).expect("it has ended");
    let parts = |id| {
        let weir::Delay { waiting_s, blocked_s, cut_s, own_limit_s } = delay(id);
        [waiting_s, blocked_s.expect("it is known"), cut_s, own_limit_s]
    };
    // a sends for 100 MB / 10 GB/s = 10 ms; b for 20 MB / 4 GB/s = 5 ms where 2 ms would do; c begins at 15 ms.
    assert_eq!(parts("a"), [0.0, 0.0, 0.0, 0.0]);
    assert_eq!(parts("b"), [0.01, 0.0, 0.0, 0.003]);
    assert_eq!(parts("c"), [0.015, 0.0, 0.0, 0.0]);
    let why = |id| run.transfer(id).map(|t| (t.cause_kind, t.cause));
    assert_eq!(why("a"), Some((Some(weir::Cause::FullRate), Some("full rate of the narrowest link".to_owned()))));
    assert_eq!(why("b"), Some((Some(weir::Cause::EngineBusy), Some("queued behind a".to_owned()))));
    assert_eq!(why("c"), Some((Some(weir::Cause::EngineBusy), Some("queued behind b".to_owned()))));
    let text = run.to_text().expect("text");
    assert!(text.contains("gpu0/send") && text.contains("queued behind b"), "{text}");
    // c ends at 18.002 ms, alone it takes 3.002 ms.
    assert!(text.contains("5.997×"), "{text}");
}

/// 10 kB at 10 GB/s take 1 us. Each is issued in 2 us, once the one before has sent; issuing is no delay, queueing is.
#[test]
fn the_time_to_issue_precedes_the_bytes_and_is_no_delay() {
    let text = "weir: 1
topology:
  link_types: { pcie: { bandwidth: 10GB/s } }
  tree: { s: { kind: switch, children: { a: { kind: gpu, link: pcie, overhead: 2us }, b: { kind: gpu, link: pcie } } } }
arbiter: max-min
workload:
  - transfer: { id: x, from: a, to: b, size: 10kB }
  - transfer: { id: y, from: a, to: b, size: 10kB }
";
    let scenario = Scenario::opener().read(text.to_owned(), ".").expect("it is a scenario");
    let run = scenario.run().expect("it runs");
    let times = |id| {
        let transfer = run.transfer(id).expect("a transfer");
        let ns = |time: Option<weir::SimTime>| time.expect("it has ended").0 / 1000;
        (ns(transfer.start), ns(transfer.end), transfer.delay.expect("it has ended").waiting_s)
    };
    assert_eq!(times("x"), (2000, 3000, 0.0));
    assert_eq!(times("y"), (5000, 6000, 3e-6));
}
