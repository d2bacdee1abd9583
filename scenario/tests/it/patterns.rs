//! Every pattern against a list derived by hand from its rule.

use crate::common::{first_bad, good, on_t2, transfers};
use weir_sim_core::TaskId;

/// Ids of the transfers of one pattern on T2, without the pattern's own id.
fn pairs(pattern: &str) -> Vec<String> {
    let scenario = good(&on_t2(&format!("workload:\n  - pattern: {{ id: p, {pattern} }}\n")));
    let short = |line: String| line.split(' ').next().unwrap().strip_prefix("p.").unwrap().to_owned();
    transfers(&scenario).into_iter().map(short).collect()
}

/// Bytes of the transfers of one pattern on T2.
fn bytes(pattern: &str) -> Vec<u64> {
    let scenario = good(&on_t2(&format!("workload:\n  - pattern: {{ {pattern} }}\n")));
    transfers(&scenario).iter().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn halo() {
    // 4 × 2: rank = x + 4 y. Neighbours in order: x − 1, x + 1, y − 1, y + 1.
    assert_eq!(
        pairs("kind: halo, size: 1kB, grid: [4, 2]"),
        words("0-1 0-4 1-0 1-2 1-5 2-1 2-3 2-6 3-2 3-7 4-5 4-0 5-4 5-6 5-1 6-5 6-7 6-2 7-6 7-3")
    );
    // Axis 1 fastest: rank = y + 2 x. Axis 0 (x) still comes first.
    assert_eq!(
        pairs("kind: halo, size: 1kB, grid: [4, 2], axis_order: [1, 0]"),
        words("0-2 0-1 1-3 1-0 2-0 2-4 2-3 3-1 3-5 3-2 4-2 4-6 4-5 5-3 5-7 5-4 6-4 6-7 7-5 7-6")
    );
    assert_eq!(
        pairs("kind: halo, size: 1kB, grid: [2, 2, 2]"),
        words("0-1 0-2 0-4 1-0 1-3 1-5 2-3 2-0 2-6 3-2 3-1 3-7 4-5 4-6 4-0 5-4 5-7 5-1 6-7 6-4 6-2 7-6 7-5 7-3")
    );
    assert_eq!(bytes("kind: halo, size: 10B, grid: [2, 1, 2], weights: [1, 9, 2.5]"), [10, 25, 10, 25, 10, 25, 10, 25]);
}

#[test]
fn torus() {
    assert_eq!(pairs("kind: torus, size: 1kB, grid: [3]"), words("0-2 0-1 1-0 1-2 2-1 2-0"));
    assert_eq!(pairs("kind: torus, size: 1kB, grid: [2]"), words("0-1 1-0"));
    assert_eq!(pairs("kind: torus, size: 1kB, grid: [2], wrap2: twice"), words("0-1 0-1#2 1-0 1-0#2"));
    // 3 × 2 with a third axis of length 1, which sends nothing: rank = x + 3 y.
    assert_eq!(
        pairs("kind: torus, size: 1kB, grid: [3, 2, 1]"),
        words("0-2 0-1 0-3 1-0 1-2 1-4 2-1 2-0 2-5 3-5 3-4 3-0 4-3 4-5 4-1 5-4 5-3 5-2")
    );
}

#[test]
fn hypercube() {
    assert_eq!(pairs("kind: hypercube, size: 1kB, dimensions: 2"), words("0-1 0-2 1-0 1-3 2-3 2-0 3-2 3-1"));
    assert_eq!(bytes("kind: hypercube, size: 1kB, dimensions: 2, weights: [1, 3]"), [1000, 3000].repeat(4));
}

#[test]
fn ring_and_all_to_all() {
    assert_eq!(pairs("kind: ring, size: 1kB, ranks: \"gpu[0-2]\""), words("0-1 1-2 2-0"));
    assert_eq!(
        pairs("kind: all-to-all, size: 1kB, ranks: \"gpu[0-3]\""),
        words("0-1 0-2 0-3 1-2 1-3 1-0 2-3 2-0 2-1 3-0 3-1 3-2")
    );
}

#[test]
fn scatter_and_gather() {
    assert_eq!(pairs("kind: scatter, size: 1kB, ranks: \"gpu[0-3]\""), words("0-1 0-2 0-3"));
    assert_eq!(pairs("kind: scatter, size: 1kB, root: 2, ranks: \"gpu[0-3]\""), words("2-0 2-1 2-3"));
    assert_eq!(pairs("kind: gather, size: 1kB, root: 2, ranks: \"gpu[0-3]\""), words("0-2 1-2 3-2"));
}

#[test]
fn graph() {
    let graph = "kind: graph, unit: 10B, edges: [[0, 1, 3], [2, 0, 0.5], [0, 1]]";
    assert_eq!(pairs(graph), words("0-1 1-0 2-0 0-2 0-1#2 1-0#2"));
    assert_eq!(bytes(graph), [30, 30, 5, 5, 10, 10]);
}

#[test]
fn random_is_seeded() {
    let text = |seed: u64| {
        on_t2(&format!(
            "workload:\n  - pattern: {{ kind: random, count: 200, seed: {seed}, size: [1kB, 4MB], within: 3ms }}\n"
        ))
    };
    let (a, b, other) = (good(&text(7)), good(&text(7)), good(&text(8)));
    assert_eq!(a.generator.as_deref(), Some("chacha8"));
    assert_eq!(transfers(&a), transfers(&b));
    assert_ne!(transfers(&a), transfers(&other));
    let starts: Vec<u64> = a.tasks.tasks().iter().map(|t| t.start.0).collect();
    assert!(starts.iter().all(|&s| s < 3_000_000_000) && starts.iter().any(|&s| s > 2_000_000_000));
    let sizes: Vec<u64> = transfers(&a).iter().map(|l| l.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    assert!(sizes.iter().all(|s| (1000..=4_000_000).contains(s)));
    // Log-uniform: about half lie below the geometric mean of 63 kB.
    let small = sizes.iter().filter(|&&s| s < 63_246).count();
    assert!((70..130).contains(&small), "{small}");
    // Pinned: results of one seed must never change.
    let first = ["random.1-2 gpu1->gpu2 344227", "random.4-2 gpu4->gpu2 1992", "random.2-7 gpu2->gpu7 5263"];
    assert_eq!(transfers(&a)[..3], first);
    // Names are unique, and lead back to their transfers.
    for i in 0..200 {
        let task = TaskId(i);
        assert_eq!(a.task(&a.task_name(task)), Some(task));
    }
}

#[test]
fn refuses_patterns_that_cannot_be() {
    let refused = |pattern: &str, message: &str, help: &str| {
        let (line, _, said, remedy) = first_bad(on_t2(&format!("workload:\n  - pattern: {{ {pattern} }}\n")));
        assert!(line == 6 && said.contains(message), "{line}: {said}");
        assert!(remedy.contains(help), "{remedy}");
    };
    refused("kind: halo, size: 1kB, grid: [3, 3]", "`grid` needs 9 ranks; there are 8", "`ranks`");
    refused("kind: halo, size: 1kB, grid: [4294967295, 4294967295, 4294967295]", "ranks; there are 8", "`ranks`");
    refused("kind: halo, size: 1kB, grid: [0]", "too short", "at least 1");
    refused("kind: halo, size: 1kB, grid: [4, 2], weights: [1]", "1 items for 2 axes", "each axis");
    refused("kind: halo, size: 1B, grid: [4, 2], weights: [1, 0.5]", "not a whole number of bytes", "whole");
    refused("kind: halo, size: 1B, grid: [4, 2], weights: [1, 0]", "is zero bytes", "at least 1B");
    refused("kind: halo, size: 1kB, grid: [4, 2], axis_order: [0, 0]", "every axis once", "0 to 1");
    refused("kind: hypercube, size: 1kB, dimensions: 4", "needs 16 ranks", "`ranks`");
    refused("kind: scatter, size: 1kB, root: 8", "there is no rank 8", "8 ranks");
    refused("kind: graph, unit: 1kB, edges: [[0, 8]]", "there is no rank 8", "8 ranks");
    refused("kind: graph, unit: 1kB, edges: [[1, 1]]", "from rank 1 to itself", "different");
    refused("kind: ring, size: 1kB, ranks: gpu0", "at least two ranks", "`ranks`");
    refused("kind: ring, size: 1kB, ranks: [gpu0, gpu0]", "the same node", "different");
    refused("kind: ring, size: 1kB, ranks: \"gpu[0-8]\"", "no node is named `gpu8`", "did you mean");
    refused("kind: rnig, size: 1kB", "no pattern has the kind `rnig`", "did you mean `ring`?");
    refused("kind: random, count: 1, seed: 1, size: [2kB, 1kB]", "ends before it begins", "swap");
    refused("size: 1kB", "needs the key `kind`", "all-to-all");
}

#[test]
fn fewer_ranks_than_devices_is_a_warning() {
    let scenario = good(&on_t2("workload:\n  - pattern: { kind: halo, size: 1kB, grid: [2, 2] }\n"));
    assert_eq!(scenario.warnings.len(), 1);
    assert!(scenario.warnings[0].message.contains("the last 4 take no part"));
}
