//! What is written of small scenarios that are really run: each number in it was looked at when it was accepted. The scenarios
//! say what is in them; times and rates follow from sizes and bandwidths that are round.

use serde_json::Value;
use weir_plugin_api::SimTime;
use weir_report::draw::{Canvas, dot, gantt, tree};
use weir_report::page::Page;
use weir_report::{
    Detail, LinkPattern, Run, RunSnapshot, Snapshot, Tables, Tolerance, TraceFilter, text, write_csv,
    write_explanation, write_run, write_trace,
};

use crate::ran::{Ran, accepted};

/// Name and number of the policy of each run.
const RUNS: [(&str, usize); 11] = [
    ("shared", 0),
    ("shared", 1),
    ("shared", 2),
    ("operations", 0),
    ("events", 0),
    ("packets", 0),
    ("many", 0),
    ("spread", 0),
    ("brief", 0),
    ("ports", 0),
    ("detour", 0),
];

pub fn json(run: &Run<'_>, detail: Detail) -> String {
    let mut out = Vec::new();
    write_run(run, detail, &mut out).expect("writes to memory");
    String::from_utf8(out).expect("is UTF-8")
}

/// Each member on a line of its own, and of lists each item.
fn lines(line: &str) -> String {
    let Value::Object(members) = serde_json::from_str(line).expect("is JSON") else { panic!("an object: {line}") };
    let text = |(key, value): (String, Value)| match value {
        Value::Array(items) => items.iter().fold(format!("{key}:\n"), |text, item| format!("{text}  {item}\n")),
        other => format!("{key}: {other}\n"),
    };
    members.into_iter().map(text).collect()
}

#[test]
fn texts_of_runs() {
    for (name, number) in RUNS {
        let ran = Ran::new(name, number);
        accepted(&format!("{name}-{number}-run"), &ran.report(text::run));
        accepted(&format!("{name}-{number}-explained"), &ran.report(text::explain));
    }
}

/// Stopped after 1.2 ms: some have ended, some are under way, some have not begun.
#[test]
fn texts_of_runs_that_stopped() {
    for name in ["operations", "many"] {
        let ran = Ran::until(name, 0, SimTime(1_200_000_000));
        accepted(&format!("{name}-stopped-run"), &ran.report(text::run));
        accepted(
            &format!("{name}-stopped-full"),
            &lines(&ran.report(|run| json(run, Detail { phases: true, full: true }))),
        );
    }
}

/// Ends move from 1 ms before to 3 ms after: by 4 ms, whatever the end.
#[test]
fn texts_of_spreads() {
    for name in ["operations", "many"] {
        let ran = Ran::new(name, 0).with_spread();
        let text = ran.report(text::run);
        let begin = text.find("ends where").expect("a table of spreads");
        accepted(&format!("{name}-moved"), &text[begin..]);
    }
}

#[test]
fn full_results_of_runs() {
    for (name, number) in [("shared", 0), ("shared", 2), ("events", 0), ("packets", 0), ("spread", 0)] {
        let ran = Ran::new(name, number);
        let full = ran.report(|run| json(run, Detail { phases: true, full: true }));
        accepted(&format!("{name}-{number}-full"), &lines(&full));
    }
    let ran = Ran::new("operations", 0);
    accepted("operations-0-short", &lines(&ran.report(|run| json(run, Detail::default()))));
    let mut out = Vec::new();
    ran.report(|run| write_explanation(run, &mut out)).expect("writes to memory");
    let explained: Value = serde_json::from_slice(&out).expect("is JSON");
    accepted("operations-0-plans", &lines(&explained["operations"][0].to_string()));
    let mut out = Vec::new();
    Ran::new("packets", 0).report(|run| write_explanation(run, &mut out)).expect("writes to memory");
    accepted("packets-0-ports", &lines(&String::from_utf8(out).expect("is UTF-8")));
}

#[test]
fn pictures_of_runs() {
    for (name, number) in [("shared", 2), ("events", 0), ("packets", 0), ("many", 0), ("spread", 0), ("narrow", 0)] {
        let mut page = Page::default();
        page.draw();
        Ran::new(name, number).report(|run| page.add_run(run)).expect("has parameters");
        let pictures: Vec<String> =
            page.pictures().iter().map(|picture| format!("{}\n{}", picture.file, picture.svg)).collect();
        accepted(&format!("{name}-{number}-pictures"), &pictures.join("\n"));
    }
}

/// A stopped run, whose last transfers have no end.
#[test]
fn pictures_of_a_stopped_run() {
    let mut page = Page::default();
    page.draw();
    Ran::until("many", 0, SimTime(1_200_000_000)).report(|run| page.add_run(run)).expect("has parameters");
    let timeline = page.pictures().iter().find(|picture| picture.file.ends_with("timeline.svg"));
    accepted("many-stopped-timeline", &timeline.expect("is drawn").svg);
}

fn drawn(ran: &Ran, kind: &str) -> String {
    let mut page = Page::default();
    page.draw();
    ran.report(|run| page.add_run(run)).expect("has parameters");
    let ending = format!("-{kind}.svg");
    page.pictures().iter().find(|picture| picture.file.ends_with(&ending)).expect(kind).svg.clone()
}

/// At time 0 nothing was used, and all there is stands at the left, 200 pixels from the edge.
#[test]
fn pictures_of_an_instant() {
    let ran = Ran::until("narrow", 0, SimTime::ZERO);
    let topology = drawn(&ran, "topology");
    assert!(topology.contains(">0.0 % of 1.000 kB/s<") && !topology.contains("100.0 %"), "{topology}");
    let mut page = Page::default();
    page.draw();
    ran.report(|run| page.add_run(run)).expect("has parameters");
    assert!(page.pictures().iter().all(|picture| !picture.file.ends_with("-links.svg")), "no link has a load");
    let timeline = drawn(&ran, "timeline");
    assert!(timeline.contains("<line x1=\"200.0\"") && !timeline.contains("NaN"), "{timeline}");
}

/// A link of 1 kB/s that was wider for a while may have carried 8 kB in 4 s: no bar is longer than the whole one.
#[test]
fn no_link_is_used_by_more_than_all_of_it() {
    let mut ran = Ran::new("narrow", 0);
    ran.outcome.links[0].bytes = 8000;
    let topology = drawn(&ran, "topology");
    assert!(topology.contains(">100.0 % of 1.000 kB/s<") && topology.contains("width=\"90.00\""), "{topology}");
    assert!(!topology.contains("125.0 %") && !topology.contains("200.0 %"), "{topology}");
}

/// A switch and 405 hosts are 406 rows, of which 400 are shown: 86 pixels from the top, 22 each, and 15 to the foot of a line.
#[test]
fn rows_of_topologies_are_cut() {
    let topology = drawn(&Ran::new("wide", 0), "topology");
    assert!(topology.contains("<text x=\"16.0\" y=\"8901.0\" fill=\"#5f6b76\">and 6 more</text>"));
}

#[test]
fn drawings_of_runs() {
    for (name, number) in [("shared", 1), ("operations", 0), ("many", 0)] {
        let ran = Ran::new(name, number);
        let drawn = [true, false].map(|unicode| ran.report(|run| gantt(run, Canvas { width: 90, unicode })));
        accepted(&format!("{name}-{number}-gantt"), &drawn.join("\n"));
    }
}

#[test]
fn drawings_of_topologies() {
    for name in ["shared", "many", "spread", "narrow"] {
        let scenario = crate::ran::read(name);
        let name_of = |node| scenario.node_name(node);
        let drawn = weir_report::draw::Drawn { fabric: &scenario.fabric, name: &name_of };
        let trees = [(100, true), (60, false)].map(|(width, unicode)| tree(&drawn, Canvas { width, unicode }));
        accepted(&format!("{name}-topology"), &format!("{}\n{}", trees.join("\n"), dot(&scenario.name, &drawn)));
    }
}

#[test]
fn timelines_of_runs() {
    for (name, number) in [("shared", 1), ("operations", 0), ("events", 0), ("packets", 0), ("spread", 0)] {
        let mut out = Vec::new();
        let ran = Ran::new(name, number);
        ran.report(|run| write_trace(run, &TraceFilter::default(), &|_| true, &|| false, &mut out)).expect("writes");
        accepted(&format!("{name}-{number}-trace"), &lines(&String::from_utf8(out).expect("is UTF-8")));
    }
}

#[test]
fn tables_of_runs() {
    for (name, number) in [("shared", 0), ("operations", 0), ("packets", 0)] {
        let mut tables = Tables::default();
        Ran::new(name, number).report(|run| tables.add(run));
        let mut out = Vec::new();
        for table in tables.all() {
            out.extend(format!("{}\n", table.name).into_bytes());
            write_csv(table, &mut out).expect("writes to memory");
        }
        accepted(&format!("{name}-{number}-tables"), &String::from_utf8(out).expect("is UTF-8"));
    }
}

/// Instead of the slowdowns of operations and jobs a line says that they are left out.
#[test]
fn slowdowns_that_are_left_out_are_told() {
    let text = Ran::new("operations", 0).without_parts().report(text::run);
    assert!(text.contains("\nslowdown: left out, the workload is too large to run each job alone\n"), "{text}");
    assert!(!Ran::new("operations", 0).report(text::run).contains("left out"));
}

/// Each of five transfers left its `via`: three are named.
#[test]
fn detours_of_several_transfers_are_told() {
    let mut ran = Ran::new("events", 0);
    let first = ran.outcome.reroutes[0].clone();
    let mut told = |count: u32| {
        let other = |task| weir_sim_core::Reroute { task: weir_sim_core::TaskId(task), ..first.clone() };
        ran.outcome.reroutes = (0..count).map(other).collect();
        let text = ran.report(text::run);
        let line = text.lines().find(|line| line.starts_with("note: the other routes of ")).expect("a note");
        line.split(" take the fewest").next().unwrap_or_default().to_owned()
    };
    assert_eq!(told(2), "note: the other routes of m0, m1");
    assert_eq!(told(3), "note: the other routes of m0, m1, m2");
    assert_eq!(told(5), "note: the other routes of m0, m1, m2 and 2 more");
    // Of what comes in a row the tasks are not known: it left no `via`.
    let unknown = weir_sim_core::TaskId(ran.scenario.tasks.tasks().len() as u32);
    ran.outcome.reroutes = vec![weir_sim_core::Reroute { task: unknown, ..first.clone() }];
    assert!(!ran.report(text::run).contains("the other routes of"));
    let mut again = |count| {
        ran.outcome.reroutes = vec![first.clone(); count];
        ran.report(text::run)
            .lines()
            .find_map(|line| line.strip_prefix("note: it took another route "))
            .map(str::to_owned)
    };
    assert_eq!([3, 4, 5].map(&mut again), [None, Some("once more".to_owned()), Some("2 times more".to_owned())]);
}

/// Five links that carried bytes are shown, of none there is no table.
#[test]
fn the_busiest_links_are_shown() {
    let mut ran = Ran::new("many", 0);
    let mut told = |count: usize| {
        for (at, link) in ran.outcome.links.iter_mut().enumerate() {
            link.bytes = u64::from(at < count);
        }
        let text = ran.report(text::run);
        let more = text.lines().find(|line| line.contains("more links carried")).map(str::to_owned);
        (text.contains("busiest links"), more)
    };
    assert_eq!(told(0), (false, None));
    assert_eq!(told(5), (true, None));
    assert_eq!(told(7), (true, Some("… 2 more links carried bytes: --json lists all".to_owned())));
}

/// A path names one node, and a pattern of two one link.
#[test]
fn links_are_named_by_the_paths_of_their_nodes() {
    let scenario = crate::ran::read("events");
    let is_known = |pattern| LinkPattern::new(pattern).is_known(&scenario);
    assert!(is_known("net/leaf0->net/spine0") && is_known("h0->net/leaf0") && is_known("net/spine1"));
    assert!(!is_known("net/leaf0->net/leaf1") && !is_known("net/leaf0->h3") && !is_known("net/leaf9"));
}

/// What was accepted is read as it was, and differs from itself in nothing.
#[test]
fn accepted_runs_are_read_as_they_were() {
    for (name, number) in RUNS {
        let run = Ran::new(name, number).report(RunSnapshot::of);
        let snapshot = Snapshot::new(&"0".repeat(64), vec![run]);
        let read = Snapshot::of_text(&snapshot.to_text()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.to_text(), snapshot.to_text());
        assert!(snapshot.difference(&read, Tolerance(0.0)).runs.is_empty(), "{name}");
    }
}

/// Each end and the makespan are 1 µs earlier: what differs first is told.
#[test]
fn differences_of_runs_are_told() {
    let snapshot = |ran: &Ran| Snapshot::new(&"0".repeat(64), vec![ran.report(RunSnapshot::of)]);
    let mut ran = Ran::new("many", 0);
    let was = snapshot(&ran);
    ran.outcome.tasks.iter_mut().for_each(|times| times.end.0 -= 1_000_000);
    ran.outcome.makespan.0 -= 1_000_000;
    let difference = was.difference(&snapshot(&ran), Tolerance(0.0));
    accepted("many-earlier", &difference.runs.iter().map(|run| run.to_text()).collect::<String>());
}
