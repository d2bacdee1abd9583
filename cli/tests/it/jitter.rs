//! `--jitter`: how far ends move when every transfer starts a little later.

use proptest::prelude::*;
use weir::{Jitter, Run, RunOptions, Scenario, SimDuration, SimTime, Spread};

use crate::common::{scenario, weir};

const US: u64 = 1_000_000;

/// A host, which sends all at once, and a GPU below one switch; 1 GB/s is 1 B in 1000 ps.
const TWO: &str = "weir: 1
name: two
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree:
    sw:
      kind: switch
      children:
        a: { kind: host, link: x }
        b: { kind: gpu, link: x }
arbiter: max-min
workload:
";

fn read(yaml: &str) -> Scenario {
    Scenario::opener().read(yaml, ".").expect("it reads")
}

fn run(scenario: &Scenario, jitter_ps: u64, seeds: u32) -> Run {
    let jitter = Some(Jitter::new(SimDuration(jitter_ps), seeds).expect("it is one"));
    scenario.run_with(&RunOptions { jitter, ..RunOptions::default() }).expect("it runs")
}

fn spread(run: &Run) -> &Spread {
    run.spread().expect("it is complete")
}

fn transfers(count: usize, size: &str) -> Scenario {
    let item = |i| format!("  - transfer: {{ id: t{i}, from: a, to: b, size: {size} }}\n");
    read(&format!("{TWO}{}", (0..count).map(item).collect::<String>()))
}

#[test]
fn the_end_of_a_lone_transfer_moves_by_its_draw() {
    let alone = transfers(1, "1MB");
    let plain = alone.run().expect("it runs");
    let end = SimTime(1_000_000_000);
    assert_eq!(plain.makespan(), end, "1 MB at 1 GB/s");
    // The first 64 bits of ChaCha8 under each seed, times 1 µs, over 2^64.
    let draws: Vec<u64> =
        (0..5).map(|seed| run(&alone, US, seed + 1)).map(|run| spread(&run).makespan.max.0 - end.0).collect();
    assert!(draws.is_sorted(), "a seed more can only raise the latest end: {draws:?}");
    let five = run(&alone, US, 5);
    assert_eq!((five.makespan(), five.fingerprint()), (end, plain.fingerprint()), "the result stays as it is");
    let range = spread(&five).makespan;
    assert_eq!(five.transfer("t0").expect("it is there").end_spread, Some(range));
    assert!(end <= range.min && range.min < range.median && range.median < range.max, "{range:?}");
    assert!(range.max.0 < end.0 + US, "{range:?}");
    // Twice the jitter is twice the draw, rounded down.
    let twice = spread(&run(&alone, 2 * US, 5)).makespan;
    let parts = [(range.min, twice.min), (range.median, twice.median), (range.max, twice.max)];
    for (once, twice) in parts.map(|(once, twice)| (once.0 - end.0, twice.0 - end.0)) {
        assert!((2 * once..2 * once + 2).contains(&twice), "{once} {twice}");
    }
}

#[test]
fn of_two_equal_transfers_the_later_ends_when_all_bytes_have_crossed() {
    // The link is busy from the first start on: the makespan is 2 ms after it, and the first start is the smaller draw. The
    // first to end has sent alone for as long as the other came later: twice that is what it gains on the last end.
    let two = transfers(2, "1MB");
    let run = run(&two, US, 16);
    let Spread { makespan, .. } = spread(&run);
    assert!((2_000_000_000..2_000_000_000 + US).contains(&makespan.min.0), "{makespan:?}");
    assert!(makespan.max.0 < 2_000_000_000 + US, "{makespan:?}");
    for id in ["t0", "t1"] {
        let range = run.transfer(id).and_then(|transfer| transfer.end_spread).expect("it has ended");
        assert!(range.min.0 > 2_000_000_000 - US && range.max <= makespan.max, "{id}: {range:?}");
    }
}

#[test]
fn what_waits_follows_and_adds_its_own_draw() {
    let chain = read(&format!(
        "{TWO}  - transfer: {{ id: t, from: a, to: b, size: 1MB }}
  - compute: {{ id: c, device: b, time: 1ms, after: [t] }}
  - transfer: {{ id: u, from: b, to: a, size: 1MB, after: [c] }}
"
    ));
    let run = run(&chain, US, 1);
    let end = |id: &str| run.transfer(id).and_then(|transfer| transfer.end_spread).expect("it has ended").max.0;
    let (first, second) = (end("t") - 1_000_000_000, end("u") - 3_000_000_000);
    assert!(first < US && (first..first + US).contains(&second), "{first} {second}");
}

#[test]
fn the_bits_are_the_same_again_and_on_any_number_of_threads() {
    for (file, fidelity) in [("pcie/all-to-all-t2.yaml", None), ("pcie/four-transfers.yaml", Some("packet"))] {
        let mut arguments = vec!["run", "--json", "--jitter", "1us", "--seeds", "5"];
        arguments.extend(fidelity.iter().flat_map(|&fidelity| ["--fidelity", fidelity]));
        let path = scenario(file);
        arguments.push(&path);
        let on = |threads: &str| {
            let output = weir().args(&arguments).env("RAYON_NUM_THREADS", threads).output().expect("it starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("it is UTF-8")
        };
        let once = on("1");
        assert!(once.contains("\"end_spread_s\":{\"min\":"), "{once}");
        assert_eq!(once, on("1"));
        assert_eq!(once, on("4"));
    }
}

#[test]
fn a_chaotic_load_moves_by_far_more_than_the_jitter() {
    let load = "ranks: \"gpu[0-7]\"\nworkload:\n  - pattern: { kind: random, id: r, count: 300, seed: 7, size: [1MB, 9MB], within: 5ms }\n";
    let t2 = std::fs::read_to_string(scenario("pcie/all-to-all-t2.yaml")).expect("it is there");
    let topology = t2.lines().find(|line| line.starts_with("topology:")).expect("it names one");
    let yaml = format!("weir: 1\nname: chaos\n{topology}\narbiter: pcie-congestion\n{load}");
    let chaos = Scenario::opener().read(yaml, scenario("pcie")).expect("it reads");
    let run = run(&chaos, US, 8);
    let widest = run.transfers().expect("they are there").iter().filter_map(|t| Some(t.end_spread?.width().0)).max();
    assert!(widest.is_some_and(|widest| widest > 1000 * US), "{widest:?}");
}

/// Whether `b` is before or behind `a` moves the end of `c`, which waits for `a` and has its links for itself, by 100 ms. The time of `c`
/// from ready to end moves by its own delay alone.
#[test]
fn a_time_moves_by_less_than_an_end_behind_others() {
    let chain = read(
        "weir: 1\ntopology:\n  link_types: { p: { bandwidth: 1GB/s }, q: { bandwidth: 1GB/s } }\n  tree:\n    s: { kind: switch, children: { \
         'h[0-1]': { kind: host, link: p }, g: { kind: host, link: p }, 'k[0-1]': { kind: host, link: q } } }\narbiter: fcfs\nworkload:\n  \
         - transfer: { id: a, from: h0, to: g, size: 100MB }\n  - transfer: { id: b, from: h1, to: g, size: 100MB }\n  \
         - transfer: { id: c, from: k0, to: k1, size: 10MB, after: a }\n",
    );
    let spread = run(&chain, US, 8).spread().expect("it is complete").clone();
    let own = chain.contents().tasks.transfers().map(|(task, _)| spread.transfer(task).expect("a transfer"));
    let c = own.last().expect("three");
    assert!(c.end.width().0 > 99_000 * US && c.time.0 < US, "{c:?}");
}

/// The least number of hops with which a run ends is not enough for the same with other starts.
#[test]
fn most_hops_bound_the_further_runs_too() {
    let two = read(
        "weir: 1\ntopology:\n  link_types: { p: { bandwidth: 10GB/s } }\n  tree:\n    rc: { kind: root-complex, children: { 'g[0-3]': { kind: gpu, \
         link: p, engines: 10 } } }\nfidelity: packet\nworkload:\n  - transfer: { from: g0, to: g1, size: 300kB }\n  \
         - transfer: { from: g2, to: g1, size: 300kB }\n",
    );
    let ends = |most: u64, jitter: Option<Jitter>| {
        two.run_with(&RunOptions { most_hops: Some(most), jitter, ..RunOptions::default() })
    };
    let least = (1..10_000).collect::<Vec<u64>>().partition_point(|&most| ends(most, None).is_err()) as u64 + 1;
    let jitter = Some(Jitter::new(SimDuration(US), 4).expect("it is one"));
    let error = ends(least, jitter).expect_err("some need more").to_string();
    assert!(error.contains("hops") && error.contains("--jitter in the run of seed"), "{error}");
}

#[test]
fn a_run_that_fails_names_the_seed_and_one_with_too_many_ends_is_refused() {
    assert!(Jitter::new(SimDuration::ZERO, 8).is_err() && Jitter::new(SimDuration(1), 1001).is_err());
    let alone = transfers(1, "1MB");
    // The horizon is 100 days: a start that much later lies beyond it under some seed, or ends there.
    let jitter = Some(Jitter::new(SimDuration(weir_plugin_api::HORIZON.0), 1).expect("it is one"));
    match alone.run_with(&RunOptions { jitter, ..RunOptions::default() }) {
        Ok(run) => assert!(spread(&run).makespan.max > run.makespan()),
        Err(error) => assert!(error.to_string().contains("seed 0"), "{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_lone_transfer_moves_by_less_than_the_jitter(jitter in 1_u64..1_000_000_000_000, bytes in 1_u64..1_000_000_000, seeds in 1_u32..20) {
        let run = run(&transfers(1, &format!("{bytes}B")), jitter, seeds);
        let range = spread(&run).makespan;
        prop_assert!(run.makespan() <= range.min && range.min <= range.median && range.median <= range.max);
        prop_assert!(range.max.0 < run.makespan().0 + jitter);
    }
}
