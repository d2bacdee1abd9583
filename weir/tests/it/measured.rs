//! Measured times beside simulated ones, and dumps of machines.

use std::path::{Path, PathBuf};

use weir::{Input, RunOptions, Scenario, Since, Validation, measured};

fn table(name: &str, rows: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, rows).expect("the table is written");
    file
}

#[test]
fn rows_of_one_group_are_told_from_others() {
    let file = table(
        "groups.csv",
        "from,to,bytes,seconds,group\ng0,g1,1000,1e-3,day\ng1,g0,2000,2e-3,night\ng0,g1,3000,3e-3,night\n",
    );
    let bytes = |group: Option<&str>| {
        let (rows, _) = measured(&file, group).expect("a table");
        rows.iter().map(|row| row.bytes.expect("bytes")).collect::<Vec<_>>()
    };
    assert_eq!(bytes(Some("night")), [2000, 3000]);
    assert_eq!(bytes(None), [1000, 2000, 3000]);
    let error = measured(&file, Some("noon")).expect_err("no row").to_string();
    assert!(error.contains("has no row of the group `noon`"), "{error}");
}

/// An all-gather of 4 MB over a ring of four has three rounds of 1 ms each: an operation lasts until the last of its tasks.
#[test]
fn an_operation_ends_with_its_last_task() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-3]': { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - collective: { id: ring, kind: all-gather, size: 4MB, ranks: 'g[0-3]', algorithm: ring }
";
    let scenario = Scenario::opener().load(Input::text(text, "ring.yaml", None)).expect("is right");
    let (rows, _) = measured(&table("ring.csv", "id,from,to,bytes,seconds\nring,,,,0.006\n"), None).expect("a table");
    let run = scenario.run_with(&RunOptions::default()).expect("ends");
    let errors = run.report(|run| {
        let validation = Validation::new(run, ("ring.csv", &rows), Since::Ready, false).expect("a row matches");
        validation.result().transfers.iter().map(|row| (row.simulated_s, row.error)).collect::<Vec<_>>()
    });
    assert_eq!(errors.expect("a report"), [(0.003, -0.5)]);
}

/// A GPU below a switch: what is not there is not counted in the summary.
#[test]
fn a_summary_counts_what_a_machine_has() {
    let dump = b"-[0000:00]---01.0-[01]----00.0  NVIDIA Corporation Device 2330\n";
    let options = weir_import::Options::default();
    let imported = weir::import_topology(dump, "node", "dump.txt", &options).expect("a dump");
    let first = imported.summary.lines().next().expect("a line");
    assert!(first.contains(": 1 GPU, 0 network cards, 1 NUMA node"), "{first}");
    for none in ["FPGA", "NVLink", "xGMI"] {
        assert!(!first.contains(none), "{first}");
    }
}
