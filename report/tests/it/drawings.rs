//! The Gantt chart and the Chrome trace of runs whose outcomes are written by hand.
//!
//! ```text
//! t0 from 0: 100 B/s until 2.125 s, 30 B/s until 6 s, then nothing      12 s and 1 ps in all
//! t1 from 2.125 s on: 75 B/s until 6 s, half a second without a phase, 25 B/s from 6.5 s until 10 s
//! ```

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};
use weir_plugin_api::{LinkId, SimDuration, SimTime};
use weir_report::draw::{Canvas, gantt};
use weir_report::{LinkPattern, Run, TraceFilter, write_trace};
use weir_sim_core::{Listener, Outcome, PacketCounts, PhaseRecord, Reroute, TaskId, TaskTimes};

use crate::planned::{at, reported};
use crate::results::with_run;

const ASCII: Canvas = Canvas { width: 51, unicode: false };

fn three_phases(outcome: &mut Outcome) {
    outcome.tasks[1].start = at(2.125);
    let phase = |start, end, rates: &[f64]| PhaseRecord {
        start: at(start),
        end: at(end),
        rates: (0..).map(TaskId).zip(rates.iter().copied()).collect(),
        steps: Vec::new(),
    };
    let phases = [phase(0.0, 2.125, &[100.0]), phase(2.125, 6.0, &[30.0, 75.0]), phase(6.5, 10.0, &[0.0, 25.0])];
    outcome.phases = Some(phases.to_vec());
}

fn chart(canvas: Canvas, change: impl FnOnce(&mut Outcome)) -> Vec<String> {
    with_run(2, change, |run| gantt(run, canvas)).lines().map(str::to_owned).collect()
}

/// 48 columns of a quarter of a second, in four levels of 25 B/s. The ninth holds 100 B/s and 30 B/s for one half each.
#[test]
fn a_column_shows_the_mean_rate_in_it() {
    let row = |name: &str, parts: &[(char, usize)]| -> String {
        format!("{name} ") + &parts.iter().map(|&(mark, count)| mark.to_string().repeat(count)).collect::<String>()
    };
    let lines = chart(ASCII, three_phases);
    assert_eq!(lines[0], row("t0", &[('#', 8), ('=', 1), ('-', 15), ('x', 16)]));
    assert_eq!(lines[1], row("t1", &[('.', 8), ('=', 16), ('x', 2), ('_', 14)]));
    assert_eq!(lines[2], format!("   0 s{}12.000 s", " ".repeat(48 - 3 - 8)));
    assert_eq!(lines[3..], ["_ to # rate up to 100.000 B/s", ". waits for its engine   x sends nothing"]);

    let lines = chart(Canvas { unicode: true, ..ASCII }, three_phases);
    assert_eq!(lines[0], row("t0", &[('█', 8), ('▆', 1), ('▃', 15), ('╌', 16)]), "65 and 30 of 100 in eight levels");
    assert_eq!(lines[1], row("t1", &[('·', 8), ('▆', 16), ('╌', 2), ('▂', 14)]));
    assert_eq!(lines[3], "▁ to █ rate up to 100.000 B/s");
}

/// Rates below 1 B/s are rates, too.
#[test]
fn slow_transfers_are_drawn() {
    let slow = |outcome: &mut Outcome| {
        three_phases(outcome);
        outcome.phases.iter_mut().flatten().flat_map(|phase| &mut phase.rates).for_each(|(_, rate)| *rate /= 1000.0);
    };
    assert_eq!(chart(ASCII, slow)[..3], chart(ASCII, three_phases)[..3]);
}

/// Without phases: 1000 B in 10 s, and in 7.875 s.
#[test]
fn without_phases_a_transfer_has_its_mean_rate() {
    let means = |outcome: &mut Outcome| {
        three_phases(outcome);
        outcome.phases = None;
    };
    let lines = chart(ASCII, means);
    assert_eq!(lines[0], format!("t0 {}", "#".repeat(40)), "100 of 127 in four levels");
    assert_eq!(lines[1], format!("t1 {}{}", ".".repeat(8), "#".repeat(32)));
    assert_eq!(lines[3], "_ to # rate up to 126.984 B/s");
    // In 96 columns the half of one that t1 does not send is one of its own.
    let fine = chart(Canvas { width: 99, ..ASCII }, means);
    assert_eq!(fine[1], format!("t1 {}{}", ".".repeat(17), "#".repeat(63)));
}

#[test]
fn charts_fit_their_width_and_names_line_up() {
    let narrow = chart(Canvas { width: 5, ..ASCII }, three_phases);
    assert_eq!(narrow[1].chars().count(), 3 + 14, "16 columns at least, of which the last are empty: {narrow:?}");
    assert_eq!(narrow[2], format!("   0 s{}12.000 s", " ".repeat(5)));
    assert_eq!(narrow[3], "_ to # rate up to ~");
    // 29, 22 and 15 characters with 3 between.
    let legend = |width| chart(Canvas { width, ..ASCII }, three_phases).len() - 3;
    assert_eq!([39, 40, 53, 54, 71, 72].map(legend), [3, 2, 2, 2, 2, 1]);
    let many = with_run(11, |_| (), |run| gantt(run, ASCII));
    assert!(many.starts_with("t0  #") && many.contains("\nt10 x") && !many.contains("that lost most"), "{many}");
    let most = with_run(41, |_| (), |run| gantt(run, ASCII));
    assert!(most.ends_with("\nthe 20 of 41 transfers that lost most\n"), "{most}");
    for empty in
        [with_run(0, |_| (), |run| gantt(run, ASCII)), with_run(2, |o| o.now = SimTime(0), |run| gantt(run, ASCII))]
    {
        assert_eq!(empty, "no transfers to draw; weir explain shows what engines do\n");
    }
}

/// Of runs that recorded their phases, or have none.
fn no_replay(_: Listener<'_>) -> bool {
    true
}

fn trace(run: &Run<'_>) -> Vec<Value> {
    filtered(run, &TraceFilter::default())["traceEvents"].as_array().expect("a list").clone()
}

fn filtered(run: &Run<'_>, filter: &TraceFilter) -> Value {
    let mut out = Vec::new();
    write_trace(run, filter, &no_replay, &|| false, &mut out).expect("writes to memory");
    serde_json::from_slice(&out).expect("is JSON")
}

/// Of the events of one kind these members.
fn of<const N: usize>(events: &[Value], ph: &str, keys: [&str; N]) -> Vec<[Value; N]> {
    events.iter().filter(|event| event["ph"] == ph).map(|event| keys.map(|key| event[key].clone())).collect()
}

#[test]
fn a_trace_has_a_process_per_link_with_slices_and_counters() {
    let events = with_run(2, three_phases, trace);
    let names = of(&events, "M", ["pid", "name", "args"]);
    let expected = [(1, "a → sw"), (2, "sw → b")].map(|(pid, name)| {
        [
            [json!(pid), json!("process_name"), json!({ "name": name })],
            [json!(pid), json!("process_sort_index"), json!({ "sort_index": pid })],
        ]
    });
    assert_eq!(names, expected.concat());
    // 100, 105 and 25 of 400 B/s, and nothing between.
    for pid in [1, 2] {
        let own: Vec<Value> = events.iter().filter(|event| event["pid"] == pid).cloned().collect();
        let counted = of(&own, "C", ["ts", "name", "args"]);
        let expected = [(0.0, 100.0), (2.125e6, 105.0), (6e6, 0.0), (6.5e6, 25.0), (10e6, 0.0)].map(|(ts, load)| {
            [("rate", json!({ "GB/s": load / 1e9 })), ("utilisation", json!({ "%": load / 4.0 }))]
                .map(|(name, args)| [json!(ts), json!(name), numbers(args)])
        });
        let counted: Vec<_> = counted.into_iter().map(|[ts, name, args]| [ts, name, numbers(args)]).collect();
        assert_eq!(counted, expected.concat());
    }
    let ids =
        [json!({ "local": "0x1" }), json!({ "local": "0x2" }), json!({ "local": "0x3" }), json!({ "local": "0x4" })];
    let begun = of(&events, "b", ["pid", "ts", "name", "id2"]);
    let slices =
        [(1, 0.0, "t0", &ids[0]), (2, 0.0, "t0", &ids[1]), (1, 2.125e6, "t1", &ids[2]), (2, 2.125e6, "t1", &ids[3])];
    assert_eq!(begun, slices.map(|(pid, ts, name, id)| [json!(pid), json!(ts), json!(name), id.clone()]));
    assert_eq!(of(&events, "e", ["ts", "id2"]), ids.map(|id| [json!(10e6), id]));
    let args = &of(&events, "b", ["args"])[2][0];
    assert_eq!(args["start_ns"], 2.125e9);
    assert_eq!(
        (&args["bytes"], &args["from"], &args["to"], &args["bottleneck"]),
        (&json!(1000), &json!("a"), &json!("b"), &json!("a → sw"))
    );
    assert!((args["mean GB/s"].as_f64().expect("a rate") * 1e9 - 1000.0 / 7.875).abs() < 1e-9);
}

/// Members as real numbers, however they are written.
fn numbers(mut args: Value) -> Value {
    args.as_object_mut().expect("an object").values_mut().for_each(|value| *value = json!(value.as_f64()));
    args
}

/// As a link of the route was down when t0 began, all of it goes over another, here `sw → rc`. t1 goes over that one from 4 s on,
/// after 400 B.
fn rerouted(outcome: &mut Outcome) {
    three_phases(outcome);
    outcome.phases = None;
    outcome.tasks[1].start = at(0.0);
    outcome.links[UP.index()] = outcome.links[2];
    let other =
        |task, time: f64, sent| Reroute { time: at(time), task: TaskId(task), down: LinkId(2), sent, links: vec![UP] };
    outcome.reroutes = vec![other(0, 0.0, 0), other(1, 4.0, 400)];
}

/// `sw → rc`.
const UP: LinkId = LinkId(0);

#[test]
fn a_trace_has_a_slice_for_each_route_that_a_transfer_took() {
    let events = with_run(2, rerouted, trace);
    let names = of(&events, "M", ["pid", "name", "args"]);
    let process = |name: &str| {
        names.iter().find(|[_, _, args]| args["name"] == name).map(|[pid, ..]| pid.clone()).expect("a process")
    };
    let slices: Vec<_> = of(&events, "b", ["pid", "name", "args"])
        .into_iter()
        .map(|[pid, name, args]| [pid, name, args["start_ns"].clone(), args["end_ns"].clone(), args["bytes"].clone()])
        .collect();
    let slice = |link: &str, name: &str, from: f64, to: f64, bytes: u64| {
        [process(link), json!(name), json!(from * 1e9), json!(to * 1e9), json!(bytes)]
    };
    let expected = [
        slice("sw → rc", "t0", 0.0, 10.0, 1000),
        slice("a → sw", "t1", 0.0, 4.0, 400),
        slice("sw → b", "t1", 0.0, 4.0, 400),
        slice("sw → rc", "t1", 4.0, 10.0, 600),
    ];
    for slice in &expected {
        assert!(slices.contains(slice), "{slice:?} of {slices:?}");
    }
    assert_eq!(slices.len(), expected.len());
    // Of those that cross the link, one.
    let filter = TraceFilter { links: vec![LinkPattern::new("a->sw")], most: Some(1) };
    let left = with_run(2, rerouted, |run| filtered(run, &filter));
    assert_eq!(of(left["traceEvents"].as_array().expect("a list"), "b", ["name"]), [[json!("t1")]]);
}

/// The last byte leaves its source at 10 s and arrives at 12 s: until then links carry packets of the transfer.
#[test]
fn a_trace_of_packets_lasts_until_they_have_arrived() {
    let packets = |outcome: &mut Outcome| {
        outcome.phases = None;
        outcome.packets = Some(PacketCounts { fingerprint: 0xdef, ..PacketCounts::default() });
    };
    let written = with_run(1, packets, |run| filtered(run, &TraceFilter::default()));
    assert_eq!(written["otherData"]["fingerprint"], "0000000000000def");
    let events = written["traceEvents"].as_array().expect("a list");
    assert_eq!(of(events, "e", ["ts"]), [[json!(12e6)], [json!(12e6)]]);
    let means = of(events, "b", ["args"]).into_iter().map(|[args]| args["mean GB/s"].as_f64().expect("a rate") * 1e9);
    assert!(means.clone().all(|mean| (mean - 1000.0 / 12.0).abs() < 1e-9));
    // 48 columns of a quarter of a second.
    let lines = with_run(1, packets, |run| gantt(run, ASCII));
    assert_eq!(lines.lines().next(), Some(&*format!("t0 {}", "#".repeat(48))));
}

#[test]
fn a_trace_leaves_out_who_never_began() {
    let never = |outcome: &mut Outcome| {
        three_phases(outcome);
        outcome.tasks[1] = TaskTimes { ready: at(0.0), ..TaskTimes::NEVER };
        outcome.sent_bytes[1] = 0;
    };
    assert_eq!(of(&with_run(2, never, trace), "b", ["name"]), [[json!("t0")], [json!("t0")]]);
    let mut out = Vec::new();
    let error =
        with_run(2, three_phases, |run| write_trace(run, &TraceFilter::default(), &no_replay, &|| true, &mut out))
            .expect_err("it is stopped");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}

/// One engine serves x/h0, x/h1, x/d0 and y/k0, none of them beside another; all but k0 wait before.
#[test]
fn a_trace_has_a_thread_per_engine_with_slices_of_work_and_of_waiting() {
    let events = reported(|_, _| (), trace);
    let threads = of(&events, "M", ["pid", "tid", "name", "args"]);
    let copy = [json!(1), json!(1), json!("thread_name"), json!({ "name": "copy" })];
    assert_eq!(threads[0][3], json!({ "name": "gpu0: engines" }));
    assert_eq!(threads[2], copy);
    let work = of(&events, "X", ["tid", "ts", "dur", "name"]);
    let spans = [(1e6, 3e6, "x/h0"), (4.5e6, 3e6, "x/h1"), (9.5e6, 2e6, "x/d0"), (20e6, 1e6, "y/k0")];
    assert_eq!(work, spans.map(|(ts, dur, name)| [json!(1), json!(ts), json!(dur), json!(name)]));
    let waiting: Vec<Value> = events.iter().filter(|event| event["cat"] == "waiting").cloned().collect();
    let expected = [(0.0, "x/h0 waits"), (0.0, "x/h1 waits"), (4e6, "x/d0 waits")];
    assert_eq!(of(&waiting, "b", ["ts", "name"]), expected.map(|(ts, name)| [json!(ts), json!(name)]));
    assert_eq!(of(&waiting, "e", ["ts"]), [1e6, 4.5e6, 9.5e6].map(|ts| [json!(ts)]));

    // k0 beside d0: a thread for each slot that is busy at once.
    let beside = |_: &mut _, outcome: &mut Outcome| outcome.tasks[6] = crate::planned::times(9.0, 10.0, 11.0);
    let events = reported(beside, trace);
    let named: Vec<Value> = of(&events, "M", ["name", "args"])
        .into_iter()
        .filter_map(|[name, args]| (name == "thread_name").then(|| args["name"].clone()))
        .collect();
    assert_eq!(named, ["copy 1", "copy 2"]);
    assert_eq!(of(&events, "X", ["tid", "name"])[3], [json!(2), json!("y/k0")]);
}

/// Of a part of a run all 2 links together have 40,000 values: the means of 0.6 ms of 12 s each. A run of fewer changes keeps
/// them all. t0 has sent 60 B after 0.6 ms and ends 0.3 ms later, t1 sends all of its bytes between two instants.
#[test]
fn a_part_of_a_run_has_means() {
    let counters = |events: u64, filter: TraceFilter, now: SimTime| {
        let asked = Cell::new(None);
        let busy = |outcome: &mut Outcome| {
            (outcome.phases, outcome.events, outcome.now) = (None, events, now);
            let times = |start: u64, sent: u64| TaskTimes {
                ready: SimTime(start),
                start: SimTime(start),
                sent: SimTime(sent),
                end: SimTime(sent),
            };
            (outcome.tasks[0], outcome.tasks[1]) = (times(0, 900_000_000), times(1_300_000_000, 1_400_000_000));
            (outcome.sent_bytes[0], outcome.sent_bytes[1]) = (90, 12);
        };
        let replay = |listener: Listener<'_>| {
            if let Listener::Progress { every, take } = listener {
                asked.set(Some(every));
                take(SimTime(600_000_000), &[(TaskId(0), 60)]);
                (2..=20_000).for_each(|part| take(SimTime(part * 600_000_000), &[]));
            }
            true
        };
        let mut out = Vec::new();
        with_run(2, busy, |run| write_trace(run, &filter, &replay, &|| false, &mut out)).expect("writes to memory");
        let trace: Value = serde_json::from_slice(&out).expect("is JSON");
        let events = trace["traceEvents"].as_array().expect("a list").clone();
        let rates = events.iter().filter(|event| event["name"] == "rate" && event["pid"] == 1);
        let rate = |event: &Value| {
            (event["ts"].as_f64().expect("a time"), event["args"]["GB/s"].as_f64().expect("a rate") * 1e9)
        };
        (asked.get(), rates.map(rate).map(|(ts, rate)| (ts, rate.round())).collect::<Vec<_>>())
    };
    let top = || TraceFilter { links: Vec::new(), most: Some(2) };
    let links = TraceFilter { links: vec![LinkPattern::new("*")], most: None };
    let (every, rates) = counters(60_000, top(), at(12.0));
    assert_eq!(every, Some(SimDuration(600_000_000)));
    // 60 B and 30 B in 0.6 ms, then 12 B.
    assert_eq!(rates, [(0.0, 100_000.0), (600.0, 50_000.0), (1200.0, 20_000.0), (1800.0, 0.0)]);
    assert_eq!(counters(60_000, links, at(12.0)).0, every);
    // A picosecond more than 20,000 parts are longer parts, not one more of them.
    assert_eq!(counters(60_000, top(), SimTime(at(12.0).0 + 1)).0, Some(SimDuration(600_000_001)));
    let whole = |events, filter| counters(events, filter, at(12.0)).0;
    assert_eq!((whole(60_000, TraceFilter::default()), whole(19_999, top())), (None, None));
    assert_eq!(whole(20_000, top()), every);
}

/// In two links' 20,000 parts, 2000 transfers at once that others follow as they end are 40 million numbers; with 4000 at once only
/// 12,500 parts are below 50 million.
#[test]
fn parts_are_longer_where_many_are_sent_at_once() {
    let every = |starts: [f64; 2]| {
        let asked = Cell::new(None);
        let busy = |outcome: &mut Outcome| {
            (outcome.phases, outcome.events, outcome.now) = (None, 60_000, at(10.0));
            for (task, times) in outcome.tasks[..4000].iter_mut().enumerate() {
                let start = starts[task / 2000];
                *times = TaskTimes { ready: at(start), start: at(start), sent: at(start + 5.0), end: at(start + 5.0) };
            }
        };
        let replay = |listener: Listener<'_>| {
            if let Listener::Progress { every, .. } = listener {
                asked.set(Some(every));
            }
            true
        };
        let filter = TraceFilter { links: Vec::new(), most: Some(2) };
        with_run(4000, busy, |run| write_trace(run, &filter, &replay, &|| false, &mut Vec::new())).expect("writes");
        asked.get()
    };
    assert_eq!(every([0.0, 5.0]), Some(SimDuration(500_000_000)));
    assert_eq!(every([0.0, 4.0]), Some(SimDuration(800_000_000)));
}

/// Links that are not wanted have no counters.
#[test]
fn counters_are_those_of_links_that_are_shown() {
    let filter = TraceFilter { links: vec![LinkPattern::new("a->sw")], most: None };
    let written = with_run(2, three_phases, |run| filtered(run, &filter));
    let counted = of(written["traceEvents"].as_array().expect("a list"), "C", ["pid"]);
    assert!(!counted.is_empty() && counted.iter().all(|[pid]| *pid == 1), "{counted:?}");
}

/// Phases that a run did not record come one by one; what failed to come is no timeline.
#[test]
fn a_trace_of_phases_that_come_one_by_one_is_the_same() {
    let written = |has_phases: bool, is_whole: bool| {
        let hidden = RefCell::new(None);
        let hide = |outcome: &mut Outcome| {
            three_phases(outcome);
            if !has_phases {
                *hidden.borrow_mut() = outcome.phases.take();
            }
        };
        let replay = |listener: Listener<'_>| {
            let Listener::Phases(take) = listener else { panic!("each phase is shown") };
            hidden.take().into_iter().flatten().for_each(take);
            is_whole
        };
        let mut out = Vec::new();
        with_run(2, hide, |run| write_trace(run, &TraceFilter::default(), &replay, &|| false, &mut out)).map(|()| out)
    };
    assert_eq!(written(true, false).expect("has phases"), written(false, true).expect("they come"));
    assert!(written(false, false).is_err());
}

/// A load of 1 B/s is one, from the begin on, and one of less as well.
#[test]
fn counters_tell_the_first_load() {
    let times = |slower: f64| {
        let slow = |outcome: &mut Outcome| {
            three_phases(outcome);
            outcome
                .phases
                .iter_mut()
                .flatten()
                .flat_map(|phase| &mut phase.rates)
                .for_each(|(_, rate)| *rate /= slower);
        };
        of(&with_run(2, slow, trace), "C", ["ts", "pid", "name"])
    };
    assert_eq!(times(1000.0), times(1.0));

    let slow = |outcome: &mut Outcome| {
        three_phases(outcome);
        outcome.phases.iter_mut().flatten().flat_map(|phase| &mut phase.rates).for_each(|(_, rate)| *rate = 1.0);
    };
    let events = with_run(2, slow, trace);
    let first = events.iter().find(|event| event["ph"] == "C" && event["name"] == "rate").expect("a counter");
    assert_eq!((&first["ts"], &first["args"]["GB/s"]), (&json!(0.0), &json!(1e-9)));
}
