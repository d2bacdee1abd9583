//! Lists at their limits: what just fits is shown whole, of one more it is said how many are left out. And what an amount of 0, or
//! one below 1, is told as.

use serde_json::Value;
use weir_plugin_api::{Binding, Cause, LinkId, Relation, Remark, SimTime};
use weir_report::draw::{Canvas, Drawn, tree};
use weir_report::page::Page;
use weir_report::{Alone, Detail, Run, text};
use weir_scenario::{Job, PlannedOperation, Scenario};
use weir_sim_core::{
    EngineId, Outcome, PhaseRecord, RemarkCount, ServiceId, Stop, Task, TaskGraphBuilder, TaskId, TaskTimes, Work,
};

use crate::planned::{estimate, reported, times};
use crate::ran::Ran;
use crate::results::{SECOND, with_run};
use crate::runs::json;

/// Hosts at one switch, and a workload.
fn star(hosts: usize, workload: &str) -> Ran {
    Ran::of_text(&format!(
        "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s }} }}\n  tree: {{ sw: {{ kind: switch, \
         children: {{ \"h[0-{}]\": {{ kind: host, link: x }} }} }} }}\narbiter: max-min\nworkload:\n{workload}",
        hosts - 1
    ))
}

fn line(text: &str, with: &str) -> Option<String> {
    text.lines().find(|line| line.contains(with)).map(str::to_owned)
}

/// Each rank of a ring sends by an engine of its own; bars of 40 are shown.
#[test]
fn bars_of_engines_are_cut() {
    let told = |ranks: usize| {
        let ring = format!(
            "  - collective: {{ id: c, kind: all-gather, size: 1MB, ranks: \"h[0-{}]\", algorithm: ring }}\n",
            ranks - 1
        );
        let text = star(ranks, &ring).report(text::explain);
        let bars = text.lines().filter(|line| line.starts_with("send0.")).count();
        (bars, line(&text, "more engines"))
    };
    assert_eq!(told(40), (40, None));
    assert_eq!(told(42), (40, Some("… 2 more engines: --json lists all".to_owned())));
}

/// Of barriers and computations 40 are shown.
#[test]
fn rows_of_own_operations_are_cut() {
    let told = |count: usize| {
        let barriers: String = (0..count).map(|i| format!("  - barrier: {{ id: b{i} }}\n")).collect();
        let text = star(2, &barriers).report(text::run);
        (text.lines().filter(|line| line.contains("  barrier  ")).count(), line(&text, " more "))
    };
    assert_eq!(told(40), (40, None));
    assert_eq!(told(41), (40, Some("… 1 more operations: --json lists all".to_owned())));
}

/// Each of two programs computes while the other does, on one device: three pairs are named.
#[test]
fn pairs_that_compute_beside_each_other_are_cut() {
    let told = |count: usize| {
        let text = reported(
            |scenario, outcome| {
                outcome.stop = Stop::Finished;
                let x = scenario.operations[0].clone();
                let copy = |i| {
                    let mut copy = PlannedOperation { id: format!("x{i}").into(), ..x.clone() };
                    copy.details.insert("computes_on".into(), serde_json::json!([1]));
                    copy
                };
                scenario.operations = (0..count).map(copy).collect();
            },
            text::run,
        );
        let pairs = text.lines().filter(|line| line.contains("both compute on")).count();
        (pairs, text.contains("more operations run so beside each other"))
    };
    assert_eq!([1, 2, 3, 4].map(told), [(0, false), (1, false), (3, false), (3, true)]);
}

/// A line for the switch and one for each leaf that differs from the one before: 200 in all are shown.
#[test]
fn lines_of_trees_are_cut() {
    let told = |leaves: usize| {
        let leaf = |i: usize| format!("n{i}: {{ kind: {}, link: x }}", ["gpu", "host"][i % 2]);
        let leaves: Vec<String> = (0..leaves).map(leaf).collect();
        let ran = Ran::of_text(&format!(
            "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s }} }}\n  tree: {{ sw: {{ kind: switch, children: {{ {} }} }} }}\n\
             arbiter: max-min\nworkload:\n  - transfer: {{ from: n0, to: n1, size: 1kB }}\n",
            leaves.join(", ")
        ));
        let name = |node| ran.scenario.node_name(node);
        let text = tree(&Drawn { fabric: &ran.scenario.fabric, name: &name }, Canvas { width: 80, unicode: true });
        (text.lines().count(), line(&text, " more"))
    };
    assert_eq!(told(199), (200, None));
    assert_eq!(told(201), (201, Some("and 2 more".to_owned())));
}

/// Of 40 transfers all ends that move are shown, of 41 the 20 that move furthest.
#[test]
fn rows_of_spreads_are_cut() {
    let told = |count: usize| {
        let transfers: String =
            (0..count).map(|i| format!("  - transfer: {{ id: t{i}, from: h0, to: h1, size: 1MB }}\n")).collect();
        let text = star(2, &transfers).with_spread().report(text::run);
        let spread = text[text.find("ends where").expect("a table")..].to_owned();
        (spread.lines().filter(|line| line.starts_with('t')).count(), line(&spread, "largest spread"))
    };
    assert_eq!(told(40), (40, None));
    assert_eq!(told(41), (21, Some("the 20 of 41 transfers with the largest spread: --json lists all".to_owned())));
}

/// Both directions of a link change together. Three links are named, of the others how many they are and for how long they were down.
#[test]
fn links_that_changed_are_cut() {
    let mut ran = Ran::new("events", 0);
    let first = ran.outcome.link_changes[0];
    let mut told = |links: u32| {
        let both = |link: u32| [2 * link, 2 * link + 1].map(LinkId);
        let totals = |link| {
            let mut totals = first;
            totals.link = link;
            totals
        };
        ran.outcome.link_changes = (0..links).flat_map(both).map(totals).collect();
        let text = ran.report(text::run);
        (
            text.matches(" changed twice and was down for 5.000 ms").count(),
            text.lines().find(|line| line.starts_with("note: ") && line.contains(" more link")).map(str::to_owned),
        )
    };
    assert_eq!(told(3), (3, None));
    assert_eq!(told(4), (3, Some("note: 1 more link changed, down for 5.000 ms together".to_owned())));
    assert_eq!(told(5), (3, Some("note: 2 more links changed, down for 10.000 ms together".to_owned())));
}

/// An operation that is over at once moved its bytes at no rate and is no part of its bound, and one that takes no time alone has no
/// slowdown; x takes 11.5 s, twice the 5.75 s of its bound, and 2 s alone.
#[test]
fn what_takes_no_time_has_no_rate() {
    let told = |takes: bool, alone_s: f64| {
        let moved = |scenario: &mut Scenario, outcome: &mut Outcome| {
            outcome.stop = Stop::Finished;
            scenario.operations.truncate(1);
            scenario.operations[0].details.insert("moved".into(), serde_json::json!({ "algbw": 23e9 }));
            scenario.operations[0].estimates.insert(0, estimate("bound", 5.75, Relation::Unstated));
            if !takes {
                outcome.tasks[..4].fill(times(0.0, 0.0, 0.0));
            }
        };
        let text = reported(moved, |run| {
            let part = move |tasks: std::ops::Range<u32>| Some(vec![times(0.0, 0.0, alone_s); tasks.len()]);
            let alone = Alone::unknown(&run.scenario.fabric, &run.scenario.tasks, &run.scenario.routes);
            // From the end of the first, its release.
            let part = move |tasks| {
                let mut part = part(tasks)?;
                part[0] = times(0.0, 0.0, 0.0);
                Some(part)
            };
            let alone = alone.with_parts(Box::new(part));
            text::run(&Run {
                scenario: run.scenario,
                arbiter: run.arbiter,
                outcome: run.outcome,
                alone: &alone,
                spread: None,
            })
        });
        let moved = line(&text, "algbw");
        (text.contains('×'), moved)
    };
    let moved = "x: algbw 2.000 GB/s, 50.0 % of the bound".to_owned();
    assert_eq!(told(true, 2.0), (true, Some(moved.clone())));
    assert_eq!(told(true, 0.0), (false, Some(moved)));
    assert_eq!(told(false, 2.0).1, None);
}

/// A page of one run has less than 1 MB, whatever the run: 1000 transfers whose rates change with each phase are packed, and
/// where that is too much beside their rows, aggregated.
#[test]
fn a_page_has_less_than_a_megabyte() {
    let page = |phases: u64| {
        let mut page = Page::default();
        let change = |outcome: &mut Outcome| {
            let span = outcome.now.0 / phases;
            let rate = |task: u32, at: u64| (TaskId(task), f64::from(task % 7 + 1) * (at % 3 + 1) as f64 / 1000.0);
            let phase = |at: u64| PhaseRecord {
                start: SimTime(at * span),
                end: SimTime((at + 1) * span),
                rates: (0..1000).map(|task| rate(task, at)).collect(),
                steps: Vec::new(),
            };
            outcome.phases = Some((0..phases).map(phase).collect());
        };
        with_run(1000, change, |run| page.add_run(run).expect("has parameters"));
        let mut out = Vec::new();
        page.write(&mut out).expect("writes to memory");
        let text = String::from_utf8(out).expect("is UTF-8");
        assert!(text.len() < 1_000_000, "{} of {phases} phases", text.len());
        (text.contains("\"packed\":{"), text.contains("\"aggregated\":{"))
    };
    let forms = [5, 20, 30, 40, 60].map(page);
    assert_eq!((forms[0], forms[1], forms[4]), ((false, false), (true, false), (false, true)));
}

/// 200 links with the fullest buffers keep how full they are; of 201 the one that was least full does not, and it is told. So it
/// is with loads.
#[test]
fn buffers_of_many_links_are_cut() {
    let kept = |links: u64| {
        let link = |i: u64| {
            format!(
                r#"{{"from":"a{i}","to":"b","bytes":{0},"busy_s":0.0,"packets":0,"wire_bytes":{0},"buffer_bytes":9,"fill_bytes":[{0}],"load_Bps":[{0}],"peak_Bps":null}}"#,
                i + 1
            )
        };
        let links: Vec<String> = (0..links).map(link).collect();
        let run = format!(
            r#"{{"weir":1,"kind":"run","version":"0","scenario":"s","file":"f","input_sha256":"{:064}","arbiter":{{"name":"a","version":"0","params":{{}}}},"fidelity":"packet","complete":true,"fingerprint":"{:016}","makespan_s":0.0,"makespan_ps":0,"events":0,"fill_bin_s":1.0,"transfers":[],"links":[{}],"operations":[]}}"#,
            0,
            0,
            links.join(",")
        );
        let mut page = Page::default();
        page.add_saved("s.json", &run).expect("is a run");
        let mut out = Vec::new();
        page.write(&mut out).expect("writes to memory");
        let text = String::from_utf8(out).expect("is UTF-8");
        let note = text.contains("how full buffers are is shown of the 200 fullest of 201");
        let loads = text.contains("loads over time are shown of the 200 of 201 links that carried most");
        assert_eq!((note, text.matches("\"load_Bps\":[").count()), (loads, 200));
        (
            text.matches("\"fill_bytes\":[").count(),
            text.contains("\"fill_bytes\":[1]"),
            text.contains("how full buffers are is shown of"),
            note,
        )
    };
    assert_eq!(kept(200), (200, true, false, false));
    assert_eq!(kept(201), (200, false, true, true));
}

/// A job of barriers begins with the first of them, at once, and ends with a, and alone takes no time: it has no slowdown. Two
/// transfers of one source slow each other.
#[test]
fn what_takes_no_time_alone_has_no_slowdown() {
    let mut ran = star(
        3,
        "  - transfer: { id: a, from: h0, to: h1, size: 1MB }\n  - barrier: { id: first }\n  - barrier: { id: then, after: [a] }\n  \
         - transfer: { id: b, from: h2, to: h1, size: 1MB }\n",
    );
    let [a, first, then] = ["a", "first", "then"].map(|id| ran.scenario.task(id).expect("a task").0);
    let job = |id: &str, tasks| Job { id: id.into(), kind: "parallel".into(), tasks };
    ran.scenario.jobs = vec![job("nothing", first..then + 1), job("slowed", a..a + 1)];
    let result: Value = serde_json::from_str(&ran.report(|run| json(run, Detail::default()))).expect("is JSON");
    let row = &result["jobs"][0];
    assert_eq!((&row["start_s"], &row["end_s"], &row["alone_s"]), (&0.0.into(), &0.002.into(), &0.0.into()));
    assert_eq!((&row["slowdown"], &result["jobs"][1]["slowdown"]), (&Value::Null, &2.0.into()));
    let text = ran.report(text::run);
    let row = |name: &str| line(&text, name).expect("a row");
    assert!(row("nothing  ").ends_with(" –") && row("slowed  ").ends_with(" 2.000×"), "{text}");
}

/// A message of no bytes takes no time alone over links without latency, and 2 s here, of which it waits 1 s.
#[test]
fn what_has_no_bytes_has_no_slowdown() {
    let empty = |scenario: &mut Scenario, outcome: &mut Outcome| {
        let [from, to] = ["gpu0", "gpu1"].map(|name| scenario.node(name).expect("a GPU"));
        let route = scenario.routes.between(&scenario.fabric, from, to).expect("a route");
        let mut tasks = TaskGraphBuilder::new();
        let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
        let work = Work::Carries { bytes: 0, class };
        tasks.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work });
        (scenario.tasks, scenario.operations) = (tasks.build().expect("no cycle"), Vec::new());
        outcome.tasks = vec![times(0.0, 1.0, 2.0)];
        outcome.sent_bytes = vec![0];
    };
    let text = reported(empty, text::run);
    let row = line(&text, "gpu0 → gpu1").expect("a row");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[2..7], ["0 s", "1.000 s", "2.000 s", "0.000 B/s", "–"], "{text}");
    // What is sent in an instant has no mean rate.
    let text = with_run(1, |outcome| outcome.tasks[0].sent = outcome.tasks[0].start, text::run);
    let row = line(&text, "a → b").expect("a row");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[2..5], ["0 s", "12.000 s", "–"], "{text}");
}

/// A time alone that is not known, of transfers that had all of their links: one that waited and has not started queues, one that
/// did not wait had its full rate, whether it has ended or not.
#[test]
fn without_a_time_alone_only_who_waits_was_queued() {
    let told = |mut ran: Ran, task: u32| {
        ran.outcome.bottlenecks[0].binding = Binding::new(LinkId(6), Cause::FullRate, u32::MAX);
        ran.report(|run| {
            let alone = Alone::unknown(&run.scenario.fabric, &run.scenario.tasks, &run.scenario.routes);
            let (scenario, arbiter, outcome) = (run.scenario, run.arbiter, run.outcome);
            weir_report::cause_text(&Run { scenario, arbiter, outcome, alone: &alone, spread: None }, TaskId(task))
        })
    };
    let until = || Ran::until("shared", 1, SimTime(5_000_000_000));
    assert_eq!(told(until(), 0).as_deref(), Some("full rate of the narrowest link"));
    assert_eq!(told(until(), 5).as_deref(), Some("queued for its engine"));
    assert_eq!(told(Ran::new("shared", 1), 0).as_deref(), Some("full rate of the narrowest link"));
}

/// t0 takes 7 s alone, of which 5 s are under way. A millionth of its time is rounding; what it took longer others cost it, whatever its last
/// byte had.
#[test]
fn what_took_longer_than_alone_was_shared() {
    let told = |more_ps: u64| {
        let change = |outcome: &mut Outcome| {
            let end = SimTime(7 * SECOND + more_ps);
            outcome.tasks[0] = TaskTimes { end, ..outcome.tasks[0] };
            outcome.bottlenecks[0].binding = Binding::new(LinkId(2), Cause::FullRate, u32::MAX);
        };
        with_run(1, change, |run| weir_report::cause_text(run, TaskId(0)))
    };
    let (full, shared) = (Some("full rate of the narrowest link"), Some("link shared with others"));
    assert_eq!([0, 6_900_000, 7_100_000].map(told).each_ref().map(Option::as_deref), [full, full, shared]);
    assert_eq!(told(5 * SECOND).as_deref(), shared);
}

/// Of one region alone the name says nothing.
#[test]
fn remarks_name_their_region_where_there_are_several() {
    let told = |arbiter: &str, kind: &str| {
        let mut ran = Ran::of_text(&format!(
            "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s, kind: network }}, y: {{ bandwidth: 1GB/s, kind: {kind} }} }}\n  \
             tree: {{ sw: {{ kind: switch, children: {{ a: {{ kind: gpu, link: x }}, b: {{ kind: gpu, link: x }} }} }} }}\n  \
             links: [{{ between: [a, b], type: y }}]\narbiter: {arbiter}\nworkload:\n  - transfer: {{ from: a, to: b, size: 1MB }}\n"
        ));
        let remark = Remark { region: 0, text: "it was so".to_owned() };
        ran.outcome.remarks = vec![RemarkCount { remark, phases: 1, of: 2 }];
        line(&ran.report(text::run), "it was so").expect("a note")
    };
    assert_eq!(told("max-min", "nvlink"), "note: in 1 of 2 phases it was so");
    assert_eq!(told("{ default: max-min, network: max-min }", "network"), "note: in 1 of 2 phases it was so");
    let several = told("{ default: max-min, nvlink: pcie-congestion }", "nvlink");
    assert!(several.starts_with("note: in 1 of 2 phases of region `"), "{several}");
}

/// Two spines of 10 GB/s each carry a half of what a host sends at 20 GB/s; with one of them down, only 10 GB/s are left. Of
/// hosts of 10 GB/s nothing is lost.
#[test]
fn a_detour_over_fewer_routes_carries_less() {
    let told = |end: &str| {
        let ran = Ran::of_text(&format!(
            "weir: 1\ntopology:\n  link_types: {{ end: {{ bandwidth: {end}, kind: network }}, spine: {{ bandwidth: 10GB/s, kind: network }} }}\n  \
             tree: {{ \"h[0-1]\": {{ kind: host }} }}\n  networks: {{ net: {{ leaf-spine: {{ leaves: 2, spines: 2 }}, ends: \"h[0-1]\", \
             types: {{ end: end, spine: spine }} }} }}\narbiter: max-min\nrouting: spread\non_failure: reroute\nevents:\n  \
             - {{ at: 0s, for: 5s, link: [net/leaf0, net/spine0], bandwidth: down }}\nworkload:\n  \
             - transfer: {{ id: a, from: h0, to: h1, size: 20MB }}\n"
        ));
        ran.report(|run| weir_report::cause_text(run, TaskId(0)))
    };
    assert_eq!(told("20GB/s").as_deref(), Some("link down"));
    assert_eq!(told("10GB/s").as_deref(), Some("full rate of the narrowest link"));
}
