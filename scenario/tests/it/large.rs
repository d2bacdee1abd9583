//! Large inputs are read in time that grows with their size alone.

use std::fmt::Write as _;
use std::time::Instant;

use crate::common::{registry, write};
use weir_scenario::{LoadOptions, load};
use weir_sim_core::TaskId;

#[test]
fn a_large_trace_over_many_hosts() {
    // 16 pods × 16 racks × 256 hosts; host names repeat in every rack, so that every reference is a path.
    let link = "link: { bandwidth: 10GB/s }";
    let tree = format!(
        "weir: 1\ntopology:\n  tree:\n    core:\n      kind: network\n      children:\n        pod:\n          kind: switch\n          repeat: 16\n          {link}\n          children: {{ \"rack[0-15]\": {{ kind: switch, {link}, children: {{ \"h[0-255]\": {{ kind: host, {link} }} }} }} }}\nworkload:\n  - trace: {{ file: flows.csv }}\n"
    );
    let rows = if cfg!(debug_assertions) { 100_000_u64 } else { 1_000_000 };
    let mut table = String::from("from,to,bytes,start_s\n");
    let name = |n: u64| format!("pod{}/rack{}/h{}", n >> 12, (n >> 8) & 15, n & 255);
    for i in 0..rows {
        let (from, to) = (i * 40_503 % 65_536, (i * 30_103 + 1 + i / 65_536) % 65_536);
        let to = if from == to { (to + 1) % 65_536 } else { to };
        let _ =
            writeln!(table, "{},{},{},{}.{:06}", name(from), name(to), 1000 + i % 1000, i / 1_000_000, i % 1_000_000);
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("s.yaml", &tree), ("flows.csv", &table)]);
    let begin = Instant::now();
    let scenario = load(&folder.path().join("s.yaml"), &LoadOptions::default(), &registry()).unwrap();
    let took = begin.elapsed();
    eprintln!("{rows} rows over {} nodes: {took:?}", scenario.fabric.nodes().len());
    assert_eq!(scenario.tasks.tasks().len() as u64, rows);
    assert_eq!(scenario.task_name(TaskId(rows as u32 - 1)), format!("flows:{rows}"));
    // Generous: the measure is 1 µs a row on a quiet machine; this catches a scan of all nodes for every row.
    assert!(took.as_micros() < 20 * u128::from(rows) + 2_000_000, "{took:?}");
}
