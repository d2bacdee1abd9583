//! The JSON and the tables of a small run whose outcome is written by hand, so that every number here has one source.
//!
//! ```text
//! rc ── sw ─┬─ a      a → b with 1000 B at 100 B/s: starts at 0, sent at 10 s
//!           └─ b      then a barrier, then a computation that has not ended
//! ```

use weir_plugin_api::{Binding, CallError, Cause, Grant, LinkId, PhaseView, RateArbiter, SimDuration, SimTime};
use weir_report::page::{MOST_ROWS, Page};
use weir_report::{Alone, ArbiterInfo, Detail, Run, results_schema, text, write_explanation, write_run};
use weir_scenario::Scenario;
use weir_sim_core::{
    Bottleneck, EngineId, LinkTotals, Listener, Outcome, PhaseRecord, PhaseStep, ServiceId, Stop, Task,
    TaskGraphBuilder, TaskId, TaskTimes, Work,
};

pub(crate) const SECOND: u64 = 1_000_000_000_000;

/// Gives a lone transfer 200 B/s.
struct Twice;

/// Gives a lone transfer a rate that may be wrong, or fails.
struct Lone(Result<f64, CallError>);

impl RateArbiter for Lone {
    fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        grant.rates[0] = self.0.clone()?;
        Ok(())
    }
}

impl RateArbiter for Twice {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        assert_eq!(phase.len(), 1);
        grant.rates[0] = 200.0;
        Ok(())
    }
}

/// `copies` transfers a → b, a barrier, a computation; then a join that no result shows. Names and links are read, tasks are
/// written here, without engines.
fn world(copies: usize) -> Scenario {
    let transfer = |i| format!("  - transfer: {{ id: t{i}, from: a, to: b, size: 1kB }}\n");
    let transfers: String = (0..copies).map(transfer).collect();
    let text = format!(
        "weir: 1\nname: a small world\ntopology:\n  link_types: {{ x: {{ bandwidth: 400B/s, latency: 1s }} }}\n  \
         tree:\n    rc:\n      kind: root-complex\n      children:\n        \
         sw: {{ kind: switch, link: x, children: {{ a: {{ kind: gpu, link: x }}, b: {{ kind: gpu, link: x }} }} }}\n\
         workload:\n{transfers}  - barrier: {{ id: t{copies} }}\n  - barrier: {{ id: t{} }}\n",
        copies + 1
    );
    let mut world = crate::common::loaded("small.yaml", &text);
    let [a, b] = ["a", "b"].map(|name| world.node(name).expect("is there"));
    let mut tasks = TaskGraphBuilder::new();
    let route = world.routes.between(&world.fabric, a, b).expect("a route");
    let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
    let mut add =
        |work| tasks.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work });
    for _ in 0..copies {
        add(Work::Carries { bytes: 1000, class });
    }
    add(Work::Nothing { counted: true });
    add(Work::Lasts(SimDuration(SECOND)));
    add(Work::Nothing { counted: false });
    world.tasks = tasks.build().expect("no cycle");
    world
}

fn outcome(world: &Scenario) -> Outcome {
    let (count, copies) = (world.tasks.tasks().len(), world.tasks.tasks().len() - 3);
    let times = |ready: u64, start: u64, sent: u64, end: u64| TaskTimes {
        ready: SimTime(ready * SECOND),
        start: SimTime(start * SECOND),
        sent: SimTime(sent * SECOND),
        end: SimTime(end * SECOND),
    };
    let mut tasks = vec![times(0, 0, 10, 12); count];
    tasks[copies] = times(12, 12, 12, 12);
    tasks[copies + 1] = TaskTimes { ready: SimTime(12 * SECOND), start: SimTime(12 * SECOND), ..TaskTimes::NEVER };
    let binding = Binding::new(LinkId(2), Cause::HeadOfLine, 1);
    let bottleneck = Bottleneck { binding, time: SimDuration(10 * SECOND), blocked: SimDuration::ZERO };
    let mut links = vec![LinkTotals::default(); world.fabric.links().len()];
    links[2] = LinkTotals { bytes: 1000, busy: SimDuration(10 * SECOND), peak: Some(100.0) };
    links[5] = links[2];
    let step = |name: &str, rate| PhaseStep {
        task: TaskId(0),
        region: 0,
        step: name.to_owned(),
        link: LinkId(2),
        rate,
        because: vec![TaskId(1)],
    };
    Outcome {
        stop: Stop::Until,
        now: SimTime(12 * SECOND + 1),
        makespan: SimTime(12 * SECOND),
        events: 5,
        fingerprint: 0xabc,
        tasks,
        sent_bytes: vec![1000; count],
        bottlenecks: vec![bottleneck; count],
        queued_behind: vec![TaskId::NONE; count],
        held: Vec::new(),
        links,
        phases: Some(vec![PhaseRecord {
            start: SimTime::ZERO,
            end: SimTime(10 * SECOND),
            rates: vec![(TaskId(0), 100.0)],
            steps: vec![step("A", 200.0), step("B", 100.0)],
        }]),
        arbitrations: 1,
        remarks: Vec::new(),
        incremental: false,
        link_changes: Vec::new(),
        link_steps: Vec::new(),
        reroutes: Vec::new(),
        packets: None,
    }
}

pub(crate) fn with_run<T>(copies: usize, change: impl FnOnce(&mut Outcome), report: impl FnOnce(&Run<'_>) -> T) -> T {
    let world = world(copies);
    let mut outcome = outcome(&world);
    change(&mut outcome);
    let params = serde_json::from_str(r#"{"tau":0.2}"#).expect("a map");
    report(&Run {
        scenario: &world,
        arbiter: ArbiterInfo {
            name: "twice",
            version: "1.0",
            sha256: None,
            params: &params,
            legend: &[],
            regions: None,
            packets: None,
        },
        outcome: &outcome,
        alone: &Alone::new(&world.fabric, &world.tasks, &world.routes, Box::new(Twice)),
        spread: None,
    })
}

fn json(run: &Run<'_>, detail: Detail) -> String {
    let mut out = Vec::new();
    write_run(run, detail, &mut out).expect("writes to memory");
    String::from_utf8(out).expect("is UTF-8")
}

fn assert_valid(line: &str) {
    let validator = jsonschema::validator_for(&results_schema()).expect("the schema is one");
    let value: serde_json::Value = serde_json::from_str(line).expect("is JSON");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn the_plain_result_has_the_fields_of_the_format_in_order() {
    let line = with_run(2, |o| o.stop = Stop::Finished, |run| json(run, Detail::default()));
    // alone: 1000 B at 200 B/s is 5 s, and two links of 1 s latency.
    let transfer = |id: &str, cause: &str, by: &str| {
        format!(
            "{{\"id\":\"{id}\",\"from\":\"a\",\"to\":\"b\",\"bytes\":1000,\"ready_s\":0.0,\"start_s\":0.0,\"end_s\":12.0,\
             \"end_ps\":12000000000000,\"mean_Bps\":100.0,\"alone_s\":7.0,\
             \"delay\":{{\"waiting_s\":0.0,\"blocked_s\":0.0,\"cut_s\":5.0,\"own_limit_s\":0.0}},\
             \"bottleneck\":{{\"from\":\"a\",\"to\":\"sw\"}},\"cause\":\"{cause}\",\
             \"cause_detail\":{{\"kind\":\"head-of-line\",\"link\":{{\"from\":\"a\",\"to\":\"sw\"}},\"by\":{by}}}}}"
        )
    };
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "{{\"weir\":1,\"kind\":\"run\",\"version\":\"{version}\",\"scenario\":\"a small world\",\"file\":\"small.yaml\",\
         \"input_sha256\":\"00\",\"arbiter\":{{\"name\":\"twice\",\"version\":\"1.0\",\"params\":{{\"tau\":0.2}}}},\
         \"complete\":true,\"fingerprint\":\"0000000000000abc\",\"makespan_s\":12.0,\"makespan_ps\":12000000000000,\
         \"events\":5,\"transfers\":[{},{}],\
         \"links\":[{{\"from\":\"a\",\"to\":\"sw\",\"bytes\":1000,\"busy_s\":10.0,\"peak_Bps\":100.0}},\
         {{\"from\":\"sw\",\"to\":\"b\",\"bytes\":1000,\"busy_s\":10.0,\"peak_Bps\":100.0}}],\
         \"operations\":[{{\"id\":\"t2\",\"kind\":\"barrier\",\"start_s\":12.0,\"end_s\":12.0,\
         \"end_ps\":12000000000000,\"estimates\":[],\"details\":{{}}}},{{\"id\":\"t3\",\"kind\":\"compute\",\
         \"start_s\":12.0,\"end_s\":null,\"end_ps\":null,\"estimates\":[],\"details\":{{}}}}]}}\n",
        transfer("t0", "head-of-line blocked behind t1", "\"t1\""),
        transfer("t1", "head-of-line blocked", "null")
    );
    assert_eq!(line, expected);
    assert_valid(&line);
}

#[test]
fn an_incomplete_result_says_how_far_it_came() {
    let unfinished = |o: &mut Outcome| {
        o.tasks[0] = TaskTimes { sent: SimTime::NEVER, end: SimTime::NEVER, ..o.tasks[0] };
        o.tasks[1] = TaskTimes::NEVER;
        o.sent_bytes[0] = 600;
        o.sent_bytes[1] = 0;
        o.now = SimTime(6 * SECOND);
        o.bottlenecks[1].binding = Binding::NONE;
    };
    let line = with_run(2, unfinished, |run| json(run, Detail::default()));
    assert_valid(&line);
    let value: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
    assert_eq!(value["complete"], false);
    assert_eq!(value["stopped_ps"], 6 * SECOND);
    let [first, second] = [&value["transfers"][0], &value["transfers"][1]];
    assert_eq!((&first["end_s"], &first["mean_Bps"], &first["sent_bytes"]), (&().into(), &100.0.into(), &600.into()));
    assert_eq!((&second["start_s"], &second["mean_Bps"], &second["cause"]), (&().into(), &().into(), &().into()));
}

#[test]
fn a_wrong_answer_about_a_lone_transfer_leaves_its_time_out_and_is_told() {
    let world = world(1);
    let asked = |answer| {
        let alone = Alone::new(&world.fabric, &world.tasks, &world.routes, Box::new(Lone(answer)));
        let time = alone.time(1000, weir_plugin_api::ClassId(0));
        (time.map(|t| t.0), alone.trouble().map(|trouble| trouble.to_string()))
    };
    assert_eq!(asked(Ok(400.0)), (Some(9 * SECOND / 2), None), "1000 B at 400 B/s, and 2 s of latency");
    assert_eq!(asked(Ok(0.0)), (None, None), "no steady rate, but no wrong answer");
    for wrong in [f64::NAN, -1.0, -0.0, 5e-324, 1e-310, f64::INFINITY] {
        let expected = format!("it gave the rate {wrong:?} B/s: rates must be finite, and 0 or at least 2.3e-308");
        assert_eq!(asked(Ok(wrong)), (None, Some(expected)));
    }
    let (time, trouble) = asked(Ok(401.0));
    let trouble = trouble.expect("is told");
    assert_eq!(time, None);
    assert!(trouble.starts_with("it gave 401 B/s, above the 400 B/s that"), "{trouble}");
    let (time, trouble) = asked(Err(CallError::Failed("broken".to_owned())));
    assert_eq!(time, None);
    assert!(trouble.expect("is told").contains("broken"));
}

/// A reason without a link, or a link without a reason, is told; where neither is known there is no cause.
#[test]
fn a_cause_is_told_where_a_reason_or_a_link_is_known() {
    let told = |link: LinkId, cause: Cause| {
        let bound = |o: &mut Outcome| o.bottlenecks[0].binding = Binding::new(link, cause, u32::MAX);
        let line = with_run(1, bound, |run| json(run, Detail::default()));
        let value: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
        let transfer = &value["transfers"][0];
        (transfer["cause"].as_str().map(str::to_owned), transfer["bottleneck"]["from"].as_str().map(str::to_owned))
    };
    assert_eq!(told(LinkId::NONE, Cause::OwnLimit), (Some("its own limit".to_owned()), None));
    assert_eq!(told(LinkId::NONE, Cause::Unknown), (None, None));
    let (cause, link) = told(LinkId(2), Cause::Unknown);
    assert!(cause.is_some() && link.as_deref() == Some("a"), "{cause:?}");
}

#[test]
fn an_interrupted_run_has_no_percentiles() {
    let line = with_run(100, |o| o.stop = Stop::Cancelled, |run| json(run, Detail::default()));
    assert_valid(&line);
    assert!(!line.contains("percentiles"));
    assert!(!with_run(100, |o| o.stop = Stop::Cancelled, text::run).contains("percentile"));
}

#[test]
fn phases_and_full_add_what_they_promise() {
    let line = with_run(2, |_| (), |run| json(run, Detail { phases: true, full: false }));
    assert_valid(&line);
    assert!(line.contains(r#""phases":[{"start_s":0.0,"end_s":10.0,"rates_Bps":{"t0":100.0}}]"#), "{line}");
    let line = with_run(2, |_| (), |run| json(run, Detail { phases: false, full: true }));
    assert_valid(&line);
    let value: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
    assert_eq!(value["nodes"][2], serde_json::json!({"id": 2, "name": "a", "kind": "gpu", "parent": 1}));
    assert_eq!(value["transfers"][0]["route"], serde_json::json!([2, 5]));
    assert_eq!(value["links"].as_array().map(Vec::len), Some(6));
    assert_eq!(value["links"][2]["bandwidth_Bps"], 400.0);
    assert_eq!(value["explain"][0]["transfers"][0]["steps"][1]["because"], serde_json::json!(["t1"]));
}

#[test]
fn large_loads_have_percentiles_and_a_short_table() {
    let line = with_run(100, |_| (), |run| json(run, Detail::default()));
    assert_valid(&line);
    let value: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
    assert_eq!(value["percentiles"]["completion_s"]["99"], 12.0);
    assert_eq!(value["percentiles"]["slowdown"]["1"], 12.0 / 7.0);
    assert!(!with_run(99, |_| (), |run| json(run, Detail::default())).contains("percentiles"));
    let later = |o: &mut Outcome| {
        o.tasks[70].end = SimTime(13 * SECOND);
        o.tasks[90] = TaskTimes { end: SimTime::NEVER, sent: SimTime::NEVER, ..o.tasks[90] };
    };
    let table = with_run(100, later, text::run);
    assert!(table.contains("\nthe 20 of 100 transfers that lost most: --json lists all\n"), "{table}");
    let listed: Vec<&str> =
        table.lines().filter(|l| l.starts_with('t') && l.contains("a → b")).map(|l| &l[..3]).collect();
    assert_eq!(
        listed[..3],
        ["t90", "t70", "t0 "],
        "what has not ended, then by what it lost, then in file order: {table}"
    );
    assert_eq!((listed.len(), listed[19]), (20, "t17"));
    assert!(table.contains("percentile"), "{table}");
    let forty = with_run(40, |_| (), text::run);
    assert!(forty.contains("t39 ") && !forty.contains("lost most") && !forty.contains("percentile"), "{forty}");
    assert!(with_run(41, |_| (), text::run).contains("percentile"), "wherever the table is cut");
}

#[test]
fn waiting_for_a_send_engine_has_a_column_of_its_own() {
    let header = |table: &str| -> Vec<String> {
        let line = table.lines().find(|line| line.starts_with("transfer")).expect("a header");
        line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(header(&with_run(2, |_| (), text::run))[2..4], ["start", "end"]);
    let table = with_run(2, |o| o.tasks[1].start = SimTime(3 * SECOND), text::run);
    assert_eq!(header(&table)[2..5], ["ready", "start", "end"]);
    let row = table.lines().find(|line| line.starts_with("t1 ")).expect("a row for t1");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[2..5], ["0 s", "3.000 s", "12.000 s"]);
}

#[test]
fn the_table_shows_exact_picoseconds_beside_rounded_units() {
    let table = with_run(2, |o| o.stop = Stop::Finished, text::run);
    assert!(
        table.starts_with("a small world\nsmall.yaml, twice (tau 0.2)\n\nmakespan 12.000 s (12000000000000 ps)"),
        "{table}"
    );
    let row = table.lines().find(|line| line.starts_with("t0 ")).expect("a row for t0");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let expected =
        ["t0", "a → b", "0 s", "12.000 s", "100.000 B/s", "1.714×", "a → sw", "head-of-line blocked behind t1"];
    assert_eq!(cells, expected);
    // 1000 B over 400 B/s · 12 s.
    assert!(table.contains("20.8 %"), "{table}");
}

#[test]
fn an_explanation_has_a_column_per_step() {
    let table = with_run(2, |_| (), text::explain);
    let header = table.lines().find(|line| line.starts_with("transfer")).expect("a header");
    let names: Vec<&str> = header.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(names, ["transfer", "from → to", "A", "B", "rate", "decided at", "because of"]);
    let row = table.lines().find(|line| line.starts_with("t0 ")).expect("a row for t0");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells, ["t0", "a → b", "0.5000", "0.2500", "100.000 B/s", "a → sw", "t1"]);
    let line = with_run(
        2,
        |_| (),
        |run| {
            let mut out = Vec::new();
            write_explanation(run, &mut out).expect("writes to memory");
            String::from_utf8(out).expect("is UTF-8")
        },
    );
    let value: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
    let steps = &value["phases"][0]["transfers"][0]["steps"];
    let expected = serde_json::json!([
        {"step": "A", "link": {"from": "a", "to": "sw"}, "rate_Bps": 200.0, "because": ["t1"]},
        {"step": "B", "link": {"from": "a", "to": "sw"}, "rate_Bps": 100.0, "because": ["t1"]},
    ]);
    assert_eq!(steps, &expected);
}

/// It is the last step that changed the rate and names a link; where none did both, the last that names one.
#[test]
fn the_deciding_step_is_the_last_change_with_a_link() {
    let decided = |steps: &[(f64, u32)]| {
        let explained = |o: &mut Outcome| {
            let phase = &mut o.phases.as_mut().expect("there is one")[0];
            phase.steps = (0..)
                .zip(steps)
                .map(|(i, &(rate, link))| PhaseStep {
                    step: format!("S{i}"),
                    rate,
                    link: LinkId(link),
                    task: TaskId(0),
                    region: 0,
                    because: Vec::new(),
                })
                .collect();
        };
        let table = with_run(2, explained, text::explain);
        let row = table.lines().find(|line| line.starts_with("t0 ")).expect("a row for t0");
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        cells[3 + steps.len()].to_owned()
    };
    let none = LinkId::NONE.0;
    assert_eq!(decided(&[(200.0, 2), (100.0, 5)]), "sw → b");
    assert_eq!(decided(&[(200.0, 2), (200.0, 5)]), "a → sw");
    assert_eq!(decided(&[(200.0, 2), (100.0, none)]), "a → sw");
    assert_eq!(decided(&[(200.0, none), (200.0, 5)]), "sw → b");
    assert_eq!(decided(&[(200.0, none), (100.0, none)]), "–");
}

#[test]
fn a_page_of_retold_phases_is_that_of_recorded_ones() {
    let page = |add: &dyn Fn(&mut Page, &Run<'_>), change: fn(&mut Outcome)| {
        let mut page = Page::default();
        with_run(MOST_ROWS + 1, change, |run| add(&mut page, run));
        let mut html = Vec::new();
        page.write(&mut html).expect("writes to memory");
        String::from_utf8(html).expect("is UTF-8")
    };
    let phases = with_run(MOST_ROWS + 1, |_| (), |run| run.outcome.phases.clone()).expect("are recorded");
    let tell = |complete: bool| {
        let phases = &phases;
        move |listener: Listener<'_>| {
            let Listener::Phases(take) = listener else { panic!("pages show phases") };
            phases.iter().cloned().for_each(take);
            complete
        }
    };
    let recorded = page(&|page, run| page.add_run(run).expect("is whole"), |_| ());
    let retold = page(&|page, run| page.add_replayed(run, &tell(true)).expect("is whole"), |o| o.phases = None);
    assert!(recorded.contains(r#""rates":"phases""#));
    assert_eq!(recorded, retold);
    let unknown = page(&|page, run| page.add_run(run).expect("is whole"), |o| o.phases = None);
    assert!(unknown.contains(r#""rates":"means""#));
    let interrupted = page(&|page, run| page.add_replayed(run, &tell(false)).expect("is whole"), |o| o.phases = None);
    assert!(interrupted.contains(r#""rates":"means""#));
    assert!(interrupted.contains("interrupted, so rates over time are not known"));
}
