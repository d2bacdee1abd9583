//! Tables of runs, searches and sweeps, and best packets, from numbers that are written by hand.

use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value};
use weir_optimize::parameters::{Axis, Grid};
use weir_optimize::search::{Method, SearchResult, Vary};
use weir_optimize::sweep::Sweep;
use weir_plugin_api::{SimDuration, SimTime};
use weir_report::{
    ArbiterInfo, ColumnValues, Detail, Run, SearchArbiter, SearchSubject, Solution, SweepReport, TABLES, Tables,
    TunedOperation, TunedSize, Values, write_run,
};
use weir_sim_core::{Outcome, PacketCounts};

use crate::ran::accepted;
use crate::results::{SECOND, with_run};

fn column<'a>(tables: &'a Tables, table: &str, name: &str) -> &'a ColumnValues {
    let table = tables.all().iter().find(|known| known.name == table).expect("the table is made");
    &table.columns.iter().find(|column| column.name == name).expect("it has the column").values
}

fn of_runs(runs: usize, left_out: &[&'static str], change: fn(&mut Outcome)) -> Tables {
    let mut tables = Tables::default();
    tables.leave_out(left_out.iter().copied());
    (0..runs).for_each(|_| with_run(2, change, |run| tables.add(run)));
    tables
}

#[test]
fn links_that_carried_bytes_have_their_utilisation() {
    let tables = of_runs(1, &[], |_| ());
    assert_eq!(*column(&tables, "links", "id"), ColumnValues::Whole([Some(2), Some(5)].into_iter().collect()));
    let now = (12 * SECOND + 1) as f64 / 1e12;
    let used = 1000.0 / (400.0 * now);
    assert_eq!(*column(&tables, "links", "utilisation"), ColumnValues::Real([Some(used); 2].into_iter().collect()));
    let at_once = of_runs(1, &[], |outcome| outcome.now = SimTime(0));
    assert_eq!(*column(&at_once, "links", "utilisation"), ColumnValues::Real([None; 2].into_iter().collect()));
    let soon = of_runs(1, &[], |outcome| outcome.now = SimTime(SECOND / 2));
    assert_eq!(*column(&soon, "links", "utilisation"), ColumnValues::Real([Some(5.0); 2].into_iter().collect()));
}

#[test]
fn runs_share_tables_and_some_are_left_out() {
    let tables = of_runs(2, &["phases"], |_| ());
    let rows: Vec<_> = tables.all().iter().map(|table| (table.name, table.rows())).collect();
    assert_eq!(rows, [("transfers", 4), ("links", 4), ("operations", 4)]);
    assert!(rows.iter().all(|(name, _)| TABLES.contains(name)));
    assert!(!column(&tables, "links", "id").is_empty() && ColumnValues::Flag(Values::default()).is_empty());
    assert_eq!(column(&tables, "transfers", "mean_Bps").len(), 4);
}

/// What a result has is known of tables that are left out, too.
#[test]
fn tables_of_a_run_are_named_though_left_out() {
    let tables = of_runs(1, &["links", "candidates"], |_| ());
    assert_eq!(tables.names(), ["transfers", "links", "phases", "operations"]);
    assert!(Tables::default().names().is_empty());
}

/// The last byte leaves its source at 10 s and arrives at 12 s, and packets count until then: 1000 B in 12 s.
#[test]
fn the_mean_rate_of_packets_is_one_in_the_table_and_in_json() {
    let text = "weir: 1\nname: p\nfidelity: packet\ntopology:\n  link_types: { x: { bandwidth: 400B/s, latency: 1s } }\n  \
                tree: { rc: { kind: root-complex, children: { sw: { kind: switch, link: x, children: { a: { kind: gpu, \
                link: x }, b: { kind: gpu, link: x } } } } } }\nworkload: [{ transfer: { from: a, to: b, size: 1kB } }]\n";
    let same_fabric = crate::common::loaded("p.yaml", text);
    let plan = same_fabric.arbiters[0].packets.as_deref().expect("packets");
    let (mut tables, mut json) = (Tables::default(), Vec::new());
    let by_packets = |outcome: &mut Outcome| {
        let links = outcome.links.iter().map(|_| Default::default()).collect();
        (outcome.phases, outcome.packets) = (None, Some(PacketCounts { links, ..PacketCounts::default() }));
    };
    with_run(1, by_packets, |run| {
        let arbiter = ArbiterInfo { packets: Some(plan), ..run.arbiter };
        let run = Run { arbiter, scenario: run.scenario, outcome: run.outcome, alone: run.alone, spread: None };
        tables.add(&run);
        write_run(&run, Detail::default(), &mut json).expect("writes to memory");
    });
    let json: Value = serde_json::from_slice(&json).expect("is JSON");
    let mean = json["transfers"][0]["mean_Bps"].as_f64();
    assert_eq!(mean, Some(1000.0 / 12.0));
    assert_eq!(*column(&tables, "transfers", "mean_Bps"), ColumnValues::Real([mean].into_iter().collect()));
}

/// As it is, a point takes its size one and a half times, at best once; 10 is not proved, and 2 is not finished.
pub fn sweep(sizes: &[&str]) -> SweepReport {
    sweep_of(vec![Axis::list("size", sizes.iter().copied()), Axis::list("tau", ["0", "0.5"])])
}

fn sweep_of(axes: Vec<Axis>) -> SweepReport {
    let search = |values: &[(&str, &str)]| {
        let size: f64 = values[0].1.parse().expect("a number");
        let solution = Solution::of_placement(Vec::new());
        let result = SearchResult::new(Vary::Order, Method::Exhaustive, 1.5 * size, size, solution);
        Ok((size != 2.0).then_some(SearchResult { proved_optimal: !(10.0..1e11).contains(&size), ..result }))
    };
    let sweep = Sweep::run(Grid::repeating(axes).expect("a grid"), search, &AtomicBool::new(false)).expect("it ends");
    let arbiter = SearchArbiter { name: "a".into(), version: "1".into(), sha256: None, params: Map::new() };
    let subject = SearchSubject { scenario: "s".into(), file: "f".into(), input_sha256: "0".into(), arbiter };
    SweepReport { subject, sweep, wall_s: None }
}

pub fn json(sweep: &SweepReport) -> Value {
    let mut out = Vec::new();
    sweep.write(&mut out).expect("writes to memory");
    serde_json::from_slice(&out).expect("is JSON")
}

#[test]
fn totals_are_proved_where_all_of_them_are_and_finished() {
    for (sizes, points, complete, proved, gain) in [
        (&["4", "6"][..], 2, true, true, Some(50.0)),
        (&["4", "10"], 2, true, false, Some(50.0)),
        (&["4", "2"], 1, false, false, Some(50.0)),
        (&["2"], 0, false, false, None),
    ] {
        let sweep = sweep(sizes);
        let mut tables = Tables::default();
        tables.add_sweep(&sweep);
        let written = json(&sweep);
        for (at, total) in written["totals"].as_array().expect("a list").iter().enumerate() {
            assert_eq!(total["points"], points, "{sizes:?}");
            assert_eq!((&total["complete"], &total["proved_optimal"]), (&complete.into(), &proved.into()), "{sizes:?}");
            assert_eq!(total.get("gain_percent").map(Value::as_f64), gain.map(Some), "{sizes:?}");
            assert_eq!(total["parameters"]["tau"], ["0", "0.5"][at]);
        }
        assert_eq!(
            *column(&tables, "totals", "complete"),
            ColumnValues::Flag([Some(complete); 2].into_iter().collect())
        );
        assert_eq!(
            *column(&tables, "totals", "proved_optimal"),
            ColumnValues::Flag([Some(proved); 2].into_iter().collect())
        );
        assert_eq!(*column(&tables, "totals", "gain_percent"), ColumnValues::Real([gain; 2].into_iter().collect()));
        let gains = ColumnValues::Real(vec![Some(50.0); 2 * points].into_iter().collect());
        assert_eq!(*column(&tables, "points", "gain_percent"), gains);
        for point in written["points"].as_array().expect("a list") {
            assert_eq!(point["gain_percent"], 50.0);
        }
    }
}

/// One axis and two, values that occur twice, points that are not finished, and more combinations than columns.
#[test]
fn texts_of_sweeps() {
    let one = |sizes: &[&str]| sweep_of(vec![Axis::list("size", sizes.iter().copied())]);
    let many = Axis::list("tau", (0..9).map(|i| i.to_string()));
    let mut all = [
        sweep(&["4", "6"]),
        sweep(&["4", "10"]),
        sweep(&["4", "2"]),
        one(&["4000000", "6000000"]),
        one(&["4", "6", "4"]),
        one(&["4", "2"]),
        sweep_of(vec![Axis::list("size", ["4", "6"]), many]),
    ];
    all[0].wall_s = Some(0.25);
    let texts: Vec<String> = all.iter().map(weir_report::text::sweep).collect();
    accepted("sweeps", &texts.join("\n---\n"));
    // Eight combinations have a column each, and no more have any.
    let columns = |count: usize| {
        let tau = Axis::list("tau", (0..count).map(|i| i.to_string()));
        let text = weir_report::text::sweep(&sweep_of(vec![Axis::list("size", ["4", "6"]), tau]));
        text.lines().find(|line| line.trim_start().starts_with("size ")).map(|line| line.split_whitespace().count())
    };
    assert_eq!((columns(8), columns(9)), (Some(9), None));
    // One value of a second parameter is a combination, and has its total.
    let one = weir_report::text::sweep(&sweep_of(vec![Axis::list("size", ["4", "6"]), Axis::list("tau", ["0"])]));
    let header = one.lines().find(|line| line.trim_start().starts_with("size ")).expect("a header");
    assert_eq!(header.split_whitespace().collect::<Vec<_>>(), ["size", "(1)"], "{one}");
}

/// What tells two subjects apart is told in the order input, name, parameters, rest.
#[test]
fn subjects_differ_in_what_decides_their_results() {
    let one = sweep(&["3"]).subject;
    assert_eq!(one.differs(&SearchSubject { file: "elsewhere".into(), ..one.clone() }), None);
    let mut other = one.clone();
    let mut said = Vec::new();
    other.arbiter.version = "2".into();
    said.push(one.differs(&other));
    other.arbiter.params.insert("tau".into(), 0.2.into());
    said.push(one.differs(&other));
    other.arbiter.name = "b".into();
    said.push(one.differs(&other));
    other.input_sha256 = "1".into();
    said.push(one.differs(&other));
    let words = [
        "version of the arbiter",
        "choice of the arbiter's parameters",
        "arbiter",
        "scenario, or the scenario was changed since",
    ];
    assert_eq!(said, words.map(Some));
}

/// 1000 B in 2 s, and in 3 s without packets: half as fast again.
#[test]
fn the_gain_of_packets_is_that_in_bandwidth() {
    let row = TunedSize::new(1000, Some(100), SimDuration(2 * SECOND), Some(SimDuration(3 * SECOND)));
    assert_eq!((row.seconds, row.ps, row.without_packets_s), (2.0, 2 * SECOND, Some(3.0)));
    assert_eq!((row.bandwidth, row.gain), (Some(500.0), Some(0.5)));
    let at_once = TunedSize::new(1000, None, SimDuration(0), Some(SimDuration(SECOND)));
    assert_eq!((at_once.bandwidth, at_once.gain), (None, None));
    let mut out = Vec::new();
    let operation = TunedOperation { id: "p".into(), sizes: vec![row, at_once] };
    operation.write_csv(&mut out).expect("writes to memory");
    assert_eq!(out, b"bytes,packet\n1000,100\n1000,\n");
}
