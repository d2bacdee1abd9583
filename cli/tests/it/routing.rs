//! Transfers over several routes, and links that share a bandwidth, from the file to the answer, with ends by hand.

use proptest::prelude::*;
use weir::{Run, RunOptions, Scenario};

fn scenario(text: &str) -> Scenario {
    Scenario::opener().read(text.to_owned(), ".").expect("it is a scenario")
}

fn ends(run: &Run) -> Vec<u64> {
    let transfers = run.transfers().expect("they ended");
    transfers.iter().map(|transfer| transfer.end.expect("it ended").0 / 1_000_000).collect()
}

/// Two leaves, four spines of 25 GB/s; hosts of 100 GB/s; latencies of 4 us in all.
const LEAF_SPINE: &str = "weir: 1
topology:
  link_types: { ib: { bandwidth: 100GB/s, latency: 1us }, up: { bandwidth: 25GB/s, latency: 1us } }
  tree: { 'h[0-3]': { kind: host } }
  networks: { net: { leaf-spine: { leaves: 2, spines: 4 }, ends: 'h[0-3]', types: { end: ib, spine: up } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: h0, to: h2, size: 1000000002B, routing: spread }
  - transfer: { id: b, from: h1, to: h3, size: 1GB, via: net/spine3 }
  - transfer: { id: c, from: h1, to: h2, size: 1GB, via: net/spine3 }
";

/// a sends a quarter of its bytes over each spine; on spine3, a / 4 + b + c = 25 GB/s, and all are 100 / 9 GB/s.
#[test]
fn a_spread_transfer_is_as_fast_as_its_slowest_route_lets_it() {
    let scenario = scenario(LEAF_SPINE);
    let run = scenario.run().expect("it runs");
    assert_eq!(ends(&run), [90_004, 90_004, 90_004]);
    let bytes = |from: &str, to: &str| {
        run.links().into_iter().find(|link| link.from == from && link.to == to).expect("a link").bytes
    };
    let spines = [0, 1, 2, 3].map(|spine| bytes("leaf0", &format!("spine{spine}")));
    assert_eq!(spines, [250_000_001, 250_000_001, 250_000_000, 2_250_000_000]);
    assert_eq!([bytes("h0", "leaf0"), bytes("leaf1", "h2")], [1_000_000_002, 2_000_000_002]);
    // Alone it has all four spines.
    let a = run.transfer("a").expect("a transfer");
    assert_eq!(a.alone.expect("it has a rate alone").0 / 1_000_000, 10_004);
    assert_eq!(a.bottleneck, Some(("leaf0".to_owned(), "spine3".to_owned())));
}

/// The other built-in policies serve several routes, too, or say that they do not.
#[test]
fn other_policies_take_several_routes_or_refuse_them() {
    let scenario = scenario(LEAF_SPINE);
    let mut refused = 0;
    for arbiter in scenario.other_arbiters() {
        match scenario.run_under(&arbiter, &RunOptions::default()) {
            Ok(run) => {
                let links = run.links();
                assert!(links.iter().all(|link| link.utilisation <= 1.0), "{}", arbiter.name);
                // What spine3 carries takes 90 ms, whoever divides it.
                assert!(ends(&run).iter().max() >= Some(&90_000), "{}: {:?}", arbiter.name, ends(&run));
            }
            Err(error) => {
                refused += 1;
                let text = error.to_string();
                assert!(
                    text.contains("routes of a transfer one after the other") || text.contains("lateral"),
                    "{text}"
                );
            }
        }
    }
    assert_eq!(refused, 2);
}

/// 170 GB/s up and 320 of 421 GB/s down make the 490 GB/s that both share, whatever the policy.
#[test]
fn both_directions_share_what_they_have_together() {
    let scenario = scenario(
        "weir: 1
topology:
  link_types: { c2c: { up: 170GB/s, down: 421GB/s, shared: 490GB/s, kind: nvlink } }
  tree: { cpu: { kind: cpu, children: { gpu: { kind: gpu, link: c2c } } } }
arbiter: max-min
workload:
  - transfer: { id: in, from: cpu, to: gpu, size: 1GB }
  - transfer: { id: out, from: gpu, to: cpu, size: 1GB }
",
    );
    assert_eq!(ends(&scenario.run().expect("it runs")), [3125, 5882]);
    for arbiter in scenario.other_arbiters() {
        let run = scenario.run_under(&arbiter, &RunOptions::default()).expect("it runs");
        assert_eq!(ends(&run), [3125, 5882], "{}", arbiter.name);
    }
}

/// A memory of 100 GB/s with one reader and two writers: 33.3 GB/s each.
#[test]
fn a_memory_is_shared_by_all_that_touches_it() {
    let scenario = scenario(
        "weir: 1
topology:
  link_types: { p: { bandwidth: 55GB/s }, m: { bandwidth: 300GB/s, kind: memory } }
  tree:
    rc:
      kind: root-complex
      children:
        cpu: { kind: cpu, link: m, memory: { bandwidth: 100GB/s } }
        'gpu[0-2]': { kind: gpu, link: p }
arbiter: { default: pcie-congestion, memory: max-min }
workload:
  - transfer: { id: a, from: cpu, to: gpu0, size: 1GB }
  - transfer: { id: b, from: gpu1, to: cpu, size: 1GB }
  - transfer: { id: c, from: gpu2, to: cpu, size: 1GB }
",
    );
    let run = scenario.run().expect("it runs");
    assert_eq!(ends(&run), [30_000; 3]);
    let cause = run.transfer("a").and_then(|transfer| transfer.cause);
    assert_eq!(cause.as_deref(), Some("memory of cpu shared with b"));
}

/// A transfer that goes over a half-duplex link to a card and back takes its bandwidth twice, as two transfers would; one
/// that passes a node takes its memory once, and one that passes it twice takes it twice.
#[test]
fn a_transfer_takes_a_shared_bandwidth_as_often_as_it_uses_it() {
    let text = |link: &str, node: &str, transfers: &str| {
        format!(
            "weir: 1
topology:
  link_types: {{ w: {{ bandwidth: 10GB/s{link} }}, p: {{ bandwidth: 10GB/s }} }}
  tree:
    'h[0-1]': {{ kind: host }}
    n: {{ kind: nic }}
    net: {{ kind: network{node} }}
  links: [{{ between: ['h[0-1]', net], type: p }}, {{ between: [n, net], type: w }}]
arbiter: max-min
workload:
{transfers}"
        )
    };
    let back = "  - transfer: { id: a, from: h0, to: h1, size: 1GB, via: n }\n";
    let apart = "  - transfer: { from: h0, to: n, size: 1GB }\n  - transfer: { from: n, to: h1, size: 1GB }\n";
    let plain = "  - transfer: { from: h0, to: h1, size: 1GB }\n";
    let (shared, memory) = (", shared: 10GB/s", ", memory: { bandwidth: 10GB/s }");
    for (link, node, transfers, expected) in [
        (shared, "", back, vec![200_000]),
        (shared, "", apart, vec![200_000, 200_000]),
        (shared, "", plain, vec![100_000]),
        ("", memory, back, vec![200_000]),
        ("", memory, plain, vec![100_000]),
        ("", "", back, vec![100_000]),
    ] {
        let run = scenario(&text(link, node, transfers)).run().expect("it runs");
        assert_eq!(ends(&run), expected, "{link}{node}: {transfers}");
    }
}

/// Three hosts on a switch, 1 GB/s up and 2 GB/s both ways: all three have room for their 1 GB/s, whatever their weights.
#[test]
fn weights_do_not_keep_a_shared_bandwidth_from_being_used() {
    let scenario = scenario(
        "weir: 1
topology:
  link_types: { end: { up: 1GB/s, down: 7GB/s, shared: 2GB/s } }
  tree: { 'h[0-2]': { kind: host }, s: { kind: network } }
  links: [{ between: ['h[0-2]', s], type: end }]
arbiter: max-min
workload:
  - transfer: { id: a, from: h1, to: h0, size: 100MB, weight: 10 }
  - transfer: { id: b, from: h0, to: h2, size: 100MB, weight: 2 }
  - transfer: { id: c, from: h2, to: h1, size: 100MB }
",
    );
    let run = scenario.run().expect("it runs");
    assert_eq!(ends(&run), [100_000, 100_000, 100_000]);
    assert!(run.transfers().expect("they ended").iter().all(|t| t.cause.as_deref() != Some("its own limit")));
}

/// The reason names what is shared, also where the two transfers have no link in common.
#[test]
fn reasons_name_the_bandwidth_that_links_share() {
    let causes = |run: &Run| {
        let transfers = run.transfers().expect("they ended");
        transfers.iter().map(|t| (t.cause_kind, t.cause.clone().unwrap_or_default())).collect::<Vec<_>>()
    };
    let shared = Some(weir::Cause::SharedBandwidth);
    let memory = scenario(
        "weir: 1
topology:
  link_types: { p: { bandwidth: 10GB/s } }
  tree: { rc: { kind: root-complex, memory: { bandwidth: 10GB/s }, children: { 'gpu[0-3]': { kind: gpu, link: p } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: gpu0, to: gpu1, size: 1GB }
  - transfer: { id: b, from: gpu2, to: gpu3, size: 1GB }
",
    );
    let run = memory.run().expect("it runs");
    assert_eq!(ends(&run), [200_000, 200_000]);
    assert_eq!(
        causes(&run),
        [(shared, "memory of rc shared with b".to_owned()), (shared, "memory of rc shared with a".to_owned())]
    );
    assert!(run.to_text().expect("a table").contains("memory of rc   memory of rc shared with b"));
    let both = scenario(
        "weir: 1
topology:
  link_types: { p: { bandwidth: 10GB/s, shared: 10GB/s } }
  tree: { cpu: { kind: cpu, children: { gpu: { kind: gpu, link: p } } } }
arbiter: { default: max-min }
workload:
  - transfer: { id: up, from: gpu, to: cpu, size: 1GB }
  - transfer: { id: down, from: cpu, to: gpu, size: 1GB }
",
    );
    let run = both.run().expect("it runs");
    let words = |other: &str| (shared, format!("link shared in both directions with {other}"));
    assert_eq!(causes(&run), [words("down"), words("up")]);
}

/// Of three messages over one card one moves at a time, though one policy prefers the last and the other the first.
#[test]
fn policies_that_serve_in_order_do_not_hold_each_other_up() {
    let text = "weir: 1
topology:
  link_types: { p: { bandwidth: 10GB/s, kind: pcie }, n: { bandwidth: 10GB/s, kind: network } }
  tree:
    s: { kind: switch, children: { 'h[0-2]': { kind: host, link: p }, nic: { kind: nic, link: p } } }
    w: { kind: network }
    r: { kind: host }
  links: [ { between: [nic, w], type: n }, { between: [r, w], type: n } ]
arbiter: [ { default: strict-priority, network: fcfs }, { default: fcfs, network: strict-priority } ]
workload:
  - transfer: { id: a, from: h0, to: r, size: 1GB }
  - transfer: { id: b, from: h1, to: r, size: 1GB, priority: 1 }
  - transfer: { id: c, from: h2, to: r, size: 1GB, priority: 2 }
";
    let scenario = scenario(text);
    for arbiter in scenario.arbiters() {
        let run = scenario.run_under(arbiter, &RunOptions::default()).expect("it goes on");
        let mut ends = ends(&run);
        ends.sort_unstable();
        assert_eq!(ends, [100_000, 200_000, 300_000], "{}", arbiter.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 20, ..ProptestConfig::default() })]

    /// Large runs under bandwidths that links share are computed incrementally, with the ends that phases give.
    #[test]
    fn shared_bandwidths_are_kept_up_to_date_incrementally(
        memory in 4u32..20, shared in 4u32..20, switch in 6u32..40, seed in 0u32..1000, within in 1000u32..4000,
    ) {
        let scenario = scenario(&format!(
            "weir: 1
topology:
  link_types: {{ p: {{ bandwidth: 10GB/s, shared: {shared}GB/s }} }}
  tree:
    cpu:
      kind: root-complex
      memory: {{ bandwidth: {memory}GB/s }}
      children:
        s[0-1]:
          {{ kind: switch, link: p, memory: {{ bandwidth: {switch}GB/s }},
            children: {{ 'h[0-3]': {{ kind: host, link: p, memory: {{ bandwidth: 8GB/s }} }} }} }}
ranks: ['s[0-1]/h[0-3]']
arbiter: [max-min, strict-priority]
workload:
  - pattern: {{ kind: random, id: r, count: 1200, seed: {seed}, size: [1MB, 20MB], within: {within}ms }}
"
        ));
        for arbiter in scenario.arbiters() {
            let run = |phase_by_phase| {
                let options = RunOptions { phase_by_phase, ..RunOptions::default() };
                scenario.run_under(arbiter, &options).expect("it runs")
            };
            let (fast, slow) = (run(false), run(true));
            let times = |run: &Run| run.report(|run| (run.outcome.incremental, run.outcome.tasks.clone()));
            let ((incremental, x), (phases, y)) = (times(&fast).expect("names"), times(&slow).expect("names"));
            prop_assert!(incremental && !phases);
            // Each of 2,400 events rounds once in both ways.
            for (x, y) in x.iter().zip(&y) {
                prop_assert!(x.end.0.abs_diff(y.end.0) <= 4_800, "{} and {}", x.end, y.end);
            }
            let transfers = fast.transfers().expect("they ended");
            prop_assert!(transfers.iter().any(|t| t.cause_kind == Some(weir::Cause::SharedBandwidth)));
        }
    }
}

/// Each of the three meets four routes of each other, which is named once.
#[test]
fn an_explanation_names_a_spread_transfer_once() {
    let text = LEAF_SPINE.replace(", via: net/spine3", ", routing: spread");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, text).expect("it is written");
    let ended = crate::common::run(&["explain", file.to_str().expect("UTF-8")]);
    let phase = ended.stdout.split("phase 2").next().expect("the first phase");
    let because = |id: &str| {
        let row = phase.lines().find(|line| line.starts_with(&format!("{id} "))).expect("a row");
        row.rsplit("   ").next().map(str::trim).map(str::to_owned)
    };
    assert_eq!(["a", "b", "c"].map(because), ["b, c", "a, c", "a, b"].map(|names| Some(names.to_owned())), "{phase}");
}

/// Three rounds of a ring, in each 4 MB through a memory of 10 GB/s: 400 us for each of 12 transfers.
#[test]
fn an_operation_is_held_back_at_the_memory_that_its_transfers_share() {
    let ring = scenario(
        "weir: 1
topology:
  link_types: { p: { bandwidth: 8GB/s } }
  tree: { rc: { kind: root-complex, memory: { bandwidth: 10GB/s }, children: { 'gpu[0-3]': { kind: gpu, link: p } } } }
arbiter: max-min
workload:
  - collective: { id: c, kind: all-gather, size: 4MB, ranks: 'gpu[0-3]' }
",
    );
    let text = ring.run().expect("it runs").to_text().expect("a table");
    let reason = "held back at memory of rc for 4.800 ms (sum over 12 transfers): shared with its own transfers";
    assert!(text.contains(reason), "{text}");
}
