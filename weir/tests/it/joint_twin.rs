//! Searches that simulate each candidate, beside nested loops over scenarios that are read anew.

use std::path::Path;

use proptest::prelude::*;
use weir::Scenario;
use weir::optimize::{Method, Objective, SearchOptions};

use crate::joint::{file, found};

/// A program: each transfer with its ranks, megabytes, and which earlier item it waits for, if any.
#[derive(Clone, Debug)]
struct Program {
    transfers: Vec<(usize, usize, u32, Option<usize>)>,
    /// An item that a computation waits for, with its ms.
    compute: Option<(usize, u32)>,
    /// Items before a barrier that the others wait for.
    barrier: Option<usize>,
    /// GB/s of the upper links.
    up: u32,
}

fn programs() -> impl Strategy<Value = Program> {
    let transfer = (0..3_usize, 1..3_usize, 1..9_u32, prop::option::weighted(0.4, 0..5_usize));
    let transfers = prop::collection::vec(transfer, 2..6);
    let (compute, barrier) = (prop::option::of((0..5_usize, 1..9_u32)), prop::option::of(1..5_usize));
    (transfers, compute, barrier, 1..4_u32).prop_map(|(transfers, compute, barrier, up)| {
        let count = transfers.len();
        let own = |(at, (from, by, size, after)): (usize, (usize, usize, u32, Option<usize>))| {
            (from, (from + by) % 3, size, after.map(|a| a % count).filter(|&a| a < at))
        };
        let transfers = transfers.into_iter().enumerate().map(own).collect();
        let barrier = barrier.filter(|&first| first < count);
        Program { transfers, compute: compute.map(|(after, time)| (after % count, time)), barrier, up }
    })
}

impl Program {
    fn text(&self, optimize: &str) -> String {
        let is_later = |i: usize| self.barrier.is_some_and(|first| i >= first);
        let transfer = |(i, &(from, to, size, wait)): (usize, &(usize, usize, u32, Option<usize>))| {
            let ends = format!("from: {{ rank: {from} }}, to: {{ rank: {to} }}");
            let waits = wait.map(|after| format!("t{after}")).into_iter().chain(is_later(i).then(|| "b".to_owned()));
            let waits = waits.collect::<Vec<_>>().join(", ");
            format!("  - transfer: {{ id: t{i}, {ends}, size: {size}MB, after: [{waits}] }}\n")
        };
        let mut items: String = self.transfers.iter().enumerate().map(transfer).collect();
        if let Some(first) = self.barrier {
            let before: Vec<String> = (0..first).map(|i| format!("t{i}")).collect();
            items += &format!("  - barrier: {{ id: b, after: [{}] }}\n", before.join(", "));
        }
        if let Some((wait, time)) = self.compute {
            items += &format!("  - compute: {{ id: k, device: g0, time: {time}ms, after: t{wait} }}\n");
        }
        format!(
            "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s, latency: 1us }}, up: {{ bandwidth: {}GB/s }} }}\n  \
             tree:\n    r:\n      kind: switch\n      children:\n        \
             s: {{ kind: switch, link: up, children: {{ \"g[0-1]\": {{ kind: gpu, link: x }} }} }}\n        \
             \"g[2-3]\": {{ kind: gpu, link: x }}\narbiter: max-min\nranks: [g0, g1, g2]\nworkload:\n{items}{optimize}",
            self.up
        )
    }
}

/// All orders of some items.
fn permutations(items: &[String]) -> Vec<Vec<String>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: usize| {
        let rest: Vec<String> = items.iter().enumerate().filter(|(i, _)| *i != first).map(|(_, t)| t.clone()).collect();
        permutations(&rest).into_iter().map(move |tail| [vec![items[first].clone()], tail].concat())
    };
    (0..items.len()).flat_map(with_first).collect()
}

/// The slow twin: every placement, values, and orders that `order` takes, each read from the file with `--set`. Makespans of
/// those that end, ps.
fn nested(file: &Path, program: &Program, placements: &[[&str; 3]], ups: &[&str]) -> Vec<u64> {
    let sent = |rank: usize| -> Vec<String> {
        let own = program.transfers.iter().enumerate().filter(|(_, transfer)| transfer.0 == rank);
        own.map(|(i, _)| format!("t{i}")).collect()
    };
    let mut makespans = Vec::new();
    for placement in placements {
        for up in ups {
            for first in permutations(&sent(0)) {
                for second in permutations(&sent(1)) {
                    for third in permutations(&sent(2)) {
                        let lists = [&first, &second, &third];
                        let queues = placement.iter().zip(lists).filter(|(_, list)| !list.is_empty());
                        let queues: Vec<String> =
                            queues.map(|(d, list)| format!("{d}: [{}]", list.join(", "))).collect();
                        let opener = Scenario::opener()
                            .set("topology.link_types.up.bandwidth", *up)
                            .set("ranks", format!("[{}]", placement.join(", ")))
                            .set("order", format!("{{ {} }}", queues.join(", ")));
                        // Else it contradicts a wait.
                        if let Ok(scenario) = opener.open(file) {
                            makespans.push(scenario.run().expect("it ends").makespan().0);
                        }
                    }
                }
            }
        }
    }
    makespans
}

const SIX: [[&str; 3]; 6] = [
    ["g0", "g1", "g2"],
    ["g0", "g2", "g1"],
    ["g1", "g0", "g2"],
    ["g1", "g2", "g0"],
    ["g2", "g0", "g1"],
    ["g2", "g1", "g0"],
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_places_and_values_are_those_of_nested_loops(program in programs()) {
        let ups = "parameters: { topology.link_types.up.bandwidth: [1GB/s, 2GB/s] }";
        let optimize = format!("optimize: {{ vary: [order, placement, parameters], {ups} }}\n");
        let file = file("nested.yaml", &program.text(&optimize));
        let all = nested(&file, &program, &SIX, &["1GB/s", "2GB/s"]);
        let exhaustive = SearchOptions { method: Some(Method::Exhaustive), ..SearchOptions::default() };
        let whole = found(&file, &exhaustive).result;
        prop_assert_eq!(whole.best, *all.iter().min().expect("some") as f64);
        prop_assert_eq!((whole.evaluated, whole.candidates), (all.len() as u128, Some(all.len() as u128)));
        prop_assert!(whole.proved_optimal && whole.bound == Some(whole.best));
        prop_assert_eq!(whole.worst, all.iter().max().map(|&worst| worst as f64));
        // What a bound says holds for the best of all, and where it says that something is the best, it is.
        let local = SearchOptions { method: Some(Method::LocalSearch), candidates: Some(20), ..exhaustive };
        let some = found(&file, &local).result;
        prop_assert!(some.bound.expect("a bound") <= whole.best && whole.best <= some.best);
        prop_assert!(!some.proved_optimal || some.best <= whole.best * (1.0 + 1e-9));
    }

    /// Orders alone of a program, and never worse than the baseline.
    #[test]
    fn orders_of_programs_are_those_of_nested_loops(program in programs(), seed: u64) {
        let file = file("program.yaml", &program.text("optimize: { vary: order }\n"));
        let own = [["g0", "g1", "g2"]];
        let all = nested(&file, &program, &own, &[&format!("{}GB/s", program.up)]);
        let local = SearchOptions { method: Some(Method::LocalSearch), candidates: Some(16), seed, ..SearchOptions::default() };
        // Without two of one source there is nothing to order.
        if all.len() == 1 && program.transfers.iter().enumerate().all(|(i, t)| program.transfers[..i].iter().all(|u| u.0 != t.0)) {
            return Ok(());
        }
        let some = found(&file, &local).result;
        prop_assert!(some.best <= some.baseline);
        prop_assert!(some.bound.expect("a bound") <= *all.iter().min().expect("some") as f64);
        for objective in [Objective::Throughput, Objective::Makespan] {
            let whole = found(&file, &SearchOptions { objective: Some(objective), ..SearchOptions::default() }).result;
            prop_assert!(whole.proved_optimal);
            // None is left out that can be followed.
            prop_assert_eq!(whole.evaluated, all.len() as u128);
            if objective == Objective::Makespan {
                prop_assert_eq!(whole.best, *all.iter().min().expect("some") as f64);
            } else {
                prop_assert!(whole.best >= whole.baseline);
            }
        }
    }
}

/// Eight ranks of a Cray CS-Storm exchange halos.
fn halos(ranks: &str, optimize: &str) -> String {
    let topology = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/topologies/cs-storm-t2.yaml");
    file("cs-storm-t2.yaml", &std::fs::read_to_string(topology).expect("a topology of the library"));
    format!(
        "weir: 1\ntopology: cs-storm-t2.yaml\narbiter: pcie-congestion\nranks: {ranks}\nworkload:\n  \
         - pattern: {{ kind: halo, grid: [2, 4], size: 1MiB }}\noptimize: {{ {optimize} }}\n"
    )
}

/// The best placement by distance, and then its best order by annealing, is where the joint search begins.
#[test]
fn together_is_no_worse_than_one_after_the_other() {
    let plain = SearchOptions::default();
    let placed = found(&file("placed.yaml", &halos("\"gpu[0-7]\"", "vary: placement, objective: distance")), &plain);
    let ranks = placed.result.solution.placement.expect("a placement").join(", ");
    let anneal = SearchOptions { method: Some(Method::Anneal), ..plain };
    let ordered = found(&file("ordered.yaml", &halos(&format!("[{ranks}]"), "vary: order")), &anneal).result;
    let together = found(&file("together.yaml", &halos("\"gpu[0-7]\"", "vary: [order, placement]")), &plain).result;
    assert!(together.best <= ordered.best, "{} above {}", together.best, ordered.best);
    assert!(ordered.best < ordered.baseline, "{}", ordered.best);
}

/// Two values of which each has thousands, beside orders and placements: a few candidates are no worse than the best values
/// alone, which are at the ends of the ranges.
#[test]
fn together_is_no_worse_than_values_alone() {
    let (bandwidth, latency) = ("topology.link_types.pcie.bandwidth", "topology.link_types.pcie.latency");
    let ranges = format!(
        "parameters: {{ {bandwidth}: {{ from: 2GB/s, to: 30GB/s, step: 1MB/s }}, \
         {latency}: {{ from: 1ns, to: 1us, step: 1ns }} }}"
    );
    let file = file("values.yaml", &halos("\"gpu[0-7]\"", &format!("vary: [order, placement, parameters], {ranges}")));
    let values = Scenario::opener().set(bandwidth, "30GB/s").set(latency, "1ns").open(&file).expect("it is read");
    let values = values.run().expect("it runs").makespan().0 as f64;
    for seed in 0..3 {
        let options = SearchOptions { seed, candidates: Some(400), ..SearchOptions::default() };
        let together = found(&file, &options).result;
        assert!(together.best <= values, "seed {seed}: {} above {values}", together.best);
    }
}

/// Eight ranks on eight devices: by makespan `auto` simulates all 40,320 placements, and none is better than what it names.
#[test]
fn placements_by_makespan_are_all_simulated() {
    let ring = "edges: [[0, 2], [2, 4], [4, 6], [6, 1], [1, 3], [3, 5], [5, 7], [7, 0]], unit";
    let ring = halos("\"gpu[0-7]\"", "vary: placement, objective: makespan")
        .replace("kind: halo, grid: [2, 4], size", &format!("kind: graph, {ring}"));
    let file = file("ring.yaml", &ring);
    let result = found(&file, &SearchOptions::default()).result;
    assert_eq!((result.evaluated, result.candidates, result.proved_optimal), (40_320, Some(40_320), true));
    assert!(result.best < 0.9 * result.baseline, "{} of {}", result.best, result.baseline);
    let placement = result.solution.placement.expect("a placement").join(", ");
    let again = Scenario::opener().set("ranks", format!("[{placement}]")).open(&file).expect("it is read");
    assert_eq!(again.run().expect("it runs").makespan().0 as f64, result.best);
}
