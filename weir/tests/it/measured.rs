//! Measured times beside simulated ones, and dumps of machines.

use weir::{Input, RunOptions, Scenario, Since, Validation, measured};

use crate::joint::file;

#[test]
fn rows_of_one_group_are_told_from_others() {
    let file = file(
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
    let (rows, _) = measured(&file("ring.csv", "id,from,to,bytes,seconds\nring,,,,0.006\n"), None).expect("a table");
    let run = scenario.run_with(&RunOptions::default()).expect("ends");
    let errors = run.report(|run| {
        let validation = Validation::new(run, ("ring.csv", &rows), Since::Ready, false).expect("a row matches");
        let text = validation.text();
        assert!(text.contains("6.000 ms") && text.contains("3.000 ms"), "{text}");
        assert!(text.contains("1 measured time: 0.0 % within ±15 %, mean error 50.000 %"), "{text}");
        validation.result().transfers.iter().map(|row| (row.simulated_s, row.error)).collect::<Vec<_>>()
    });
    assert_eq!(errors.expect("a report"), [(0.003, -0.5)]);
    // One that has not ended has no time.
    let early = RunOptions { until: Some(weir::SimTime(2_000_000_000)), ..RunOptions::default() };
    let run = scenario.run_with(&early).expect("stops");
    let of = |run: &weir_report::Run<'_>| Validation::new(run, ("ring.csv", &rows), Since::Ready, false).is_err();
    assert!(run.report(of).expect("a report"));
}

/// Transfers that ended are matched by their devices and bytes: 1 MB at 1 GB/s in 1 ms, half of what was measured. Since 0 the
/// second, which waits for the first, takes 2 ms.
#[test]
fn transfers_are_held_against_their_rows() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-3]': { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g1, size: 1MB }
  - transfer: { id: b, from: g1, to: g2, size: 1MB, after: [a] }
";
    let scenario = Scenario::opener().load(Input::text(text, "pair.yaml", None)).expect("is right");
    let rows = "from,to,bytes,seconds\ng0,g1,1000000,0.002\ng1,g2,1000000,0.002\n";
    let (rows, _) = measured(&file("pair.csv", rows), None).expect("a table");
    let run = scenario.run_with(&RunOptions::default()).expect("ends");
    for (since, expected) in
        [(Since::Ready, [0.001, 0.001]), (Since::Start, [0.001, 0.001]), (Since::Zero, [0.001, 0.002])]
    {
        let simulated = run.report(|run| {
            let validation = Validation::new(run, ("pair.csv", &rows), since, false).expect("rows match");
            let mut all: Vec<f64> = validation.result().transfers.iter().map(|row| row.simulated_s).collect();
            all.sort_by(f64::total_cmp);
            let within =
                if since == Since::Zero { "2 measured times: 50.0 % within" } else { "2 measured times: 0.0 % within" };
            assert!(validation.text().contains(within), "{}", validation.text());
            all
        });
        assert_eq!(simulated.expect("a report"), expected);
    }
}

/// Behind a computation of 1 ms a ring takes 3 ms from its release, and ends after 4.
#[test]
fn an_operation_begins_with_its_release() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-3]': { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - compute: { id: k, device: g0, time: 1ms }
  - collective: { id: ring, kind: all-gather, size: 4MB, ranks: 'g[0-3]', algorithm: ring, after: [k] }
";
    let scenario = Scenario::opener().load(Input::text(text, "late.yaml", None)).expect("is right");
    let (rows, _) = measured(&file("late.csv", "id,from,to,bytes,seconds\nring,,,,0.004\n"), None).expect("a table");
    let run = scenario.run_with(&RunOptions::default()).expect("ends");
    for (since, simulated) in [(Since::Ready, 0.003), (Since::Start, 0.003), (Since::Zero, 0.004)] {
        let found = run.report(|run| {
            let validation = Validation::new(run, ("late.csv", &rows), since, false).expect("a row matches");
            validation.result().transfers[0].simulated_s
        });
        assert_eq!(found.expect("a report"), simulated, "{since:?}");
    }
}

/// A GPU below a switch: what is not there is not counted in the summary.
#[test]
fn a_summary_counts_what_a_machine_has() {
    let dump = b"-[0000:00]---01.0-[01]----00.0  NVIDIA Corporation Device 2330\n";
    let options = weir_import::Options::default();
    let imported = weir::import_topology(dump, "node", "dump.txt", &options).expect("a dump");
    let first = imported.summary.lines().next().expect("a line");
    assert!(first.contains(": 1 GPU, 0 network cards, 1 NUMA node"), "{first}");
    // Warnings stand apart from what the summary says.
    assert!(imported.warnings.iter().all(|warning| warning.starts_with("warning: ")), "{:?}", imported.warnings);
    assert!(!imported.summary.contains("warning: ") && imported.summary.contains("assumed: "), "{}", imported.summary);
    for none in ["FPGA", "NVLink", "xGMI"] {
        assert!(!first.contains(none), "{first}");
    }
}

/// A log in the place of a dump: what it is, and what takes it.
#[test]
fn a_log_is_no_dump() {
    let osu = "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1048576      24000.0\n";
    let csv = "from,to,bytes,seconds\ngpu0,gpu1,1000,1e-3\n";
    for (log, kind) in [(osu, "osu"), (csv, "csv")] {
        let of = |options: &weir_import::Options| {
            weir::import_topology(log.as_bytes(), "m", "m.txt", options).expect_err("no dump").to_string()
        };
        let error = of(&weir_import::Options::default());
        assert!(
            error.contains(&format!("a log of measurements ({kind})")) && error.contains("`weir calibrate`"),
            "{error}"
        );
        let as_dump = weir_import::Options { format: Some("lspci".parse().expect("a format")), ..Default::default() };
        assert!(!of(&as_dump).contains("calibrate"));
    }
}
