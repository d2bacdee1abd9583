//! Operations that models planned, for a person: the table against their closed forms, their plans over time.

use crate::planned::{D0, at, late, reported, result, times};
use serde_json::{Value, json};
use weir_plugin_api::SimTime;
use weir_report::{text, write_explanation};
use weir_sim_core::{Outcome, Stop, TaskTimes};

#[test]
fn an_operation_that_has_not_ended_has_no_times() {
    let until = |o: &mut Outcome| {
        (o.stop, o.now) = (Stop::Until, at(10.0));
        o.tasks[D0] = TaskTimes { sent: SimTime::NEVER, end: SimTime::NEVER, ..o.tasks[D0] };
        o.tasks[5..8].fill(TaskTimes::NEVER);
    };
    let result = result(|_, o| until(o));
    let [x, y] = [&result["operations"][0], &result["operations"][2]];
    assert_eq!((&x["start_s"], &x["end_s"], &x["end_ps"]), (&json!(0.0), &Value::Null, &Value::Null));
    let difference = json!({"formula": "category", "seconds": null, "relative": null, "because": ["it has not ended"]});
    assert_eq!((&x["details"]["difference"], &x["details"]["simulated_s"]), (&difference, &Value::Null));
    assert_eq!(y["start_s"], Value::Null);
    let table = reported(|_, o| until(o), text::run);
    assert!(table.contains("(--until): 0 of 2 operations and 1 of 2 transfers have ended"), "{table}");
    let plans = reported(|_, o| until(o), text::explain);
    assert!(plans.contains("offload x (model copies 1.2.3): released at 0 s, not ended"), "{plans}");
    assert!(plans.contains("put y (model copies 1.2.3): not released"), "{plans}");
}

/// The cells of the line that begins with `first`.
fn cells(text: &str, first: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(first)).expect("the line is there");
    line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn the_table_holds_operations_against_their_closed_forms() {
    let table = reported(|_, _| (), text::run);
    let header = ["operation", "kind", "released", "end", "time", "by formula", "difference", "because"];
    assert_eq!(cells(&table, "operation"), header);
    assert_eq!(cells(&table, "x"), ["x", "offload", "0 s", "11.500 s", "11.500 s", "category 11.500 s", "equal", "–"]);
    assert_eq!(cells(&table, "y"), ["y", "put", "20.000 s", "31.000 s", "11.000 s", "–", "–", "–"]);
    assert!(table.contains("\ny: packet auto: 512KiB is the fastest alone, 11.500 s, over none 12.000 s\n"), "{table}");
    assert_eq!(cells(&table, "b"), ["b", "barrier", "0 s", "0 s"]);
    let shared = |o: &mut Outcome| {
        late(o);
        (o.tasks[5], o.tasks[6]) = (times(0.0, 0.0, 0.0), times(0.0, 7.5, 8.5));
    };
    let table = reported(|_, o| shared(o), text::run);
    assert_eq!(cells(&table, "x")[6..], ["+8.7 %", "gpu0/copy is shared with y"], "1 s of 11.5 s: {table}");
    let table = reported(
        |world, o| {
            shared(o);
            world.operations[0].estimates[1].because = "a reason too long for a column".to_owned();
        },
        text::run,
    );
    assert_eq!(cells(&table, "x")[7], "see below");
    let below = "\nx: 8.7 % above category: a reason too long for a column; gpu0/copy is shared with y\n";
    assert!(table.contains(below), "{table}");
}

#[test]
fn a_plan_shows_its_engines_over_time_and_what_each_task_waited_for() {
    let text = reported(|_, o| (o.tasks[5], o.tasks[6]) = (times(0.0, 0.0, 0.0), times(0.0, 7.5, 8.5)), text::explain);
    let plan = text.split("\n\n").find(|part| part.starts_with("offload x")).expect("the plan of x");
    let lines: Vec<&str> = plan.lines().collect();
    assert_eq!(lines[0], "offload x (model copies 1.2.3): 0 s to 11.500 s");
    assert!(lines[1].starts_with("engine     0 s ") && lines[1].ends_with(" 11.500 s     idle"), "{plan}");
    // 64 columns for 11.5 s: h0 from column 5.6 to 22.3, h1 from 25.04 to 41.7, y's k0 to 47.3, d0 from 52.9 on; where two
    // share a column, the one that was longer there. Idle: 2.5 of 11.5 s.
    let bar = format!(
        "{}{}..{}{}{}{}",
        ".".repeat(5),
        "h".repeat(18),
        "h".repeat(17),
        "#".repeat(6),
        ".".repeat(4),
        "d".repeat(12)
    );
    assert_eq!(bar.len(), 64);
    assert_eq!(lines[2], format!("gpu0/copy  {bar}   21.7 %"));
    assert_eq!(lines[3], "h: h0 to h1, d: d0, .: idle, #: others");
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{plan}");
    let rows = |text: &str, task| cells(text, task)[2..].join(" | ");
    assert_eq!(rows(&text, "h0"), "0 s | 1.000 s | 1.000 s | 4.000 s | 3.000 s | release + lead");
    assert_eq!(rows(&text, "h1"), "0 s | 1.000 s | 4.500 s | 7.500 s | 3.000 s | end of h0 + gap");
    assert_eq!(rows(&text, "d0"), "4.000 s | 2.000 s | 9.500 s | 11.500 s | 2.000 s | turn-around after y/k0");
    let alone = reported(|_, _| (), text::explain);
    assert!(rows(&alone, "d0").ends_with("turn-around after h1"), "{alone}");
    assert_eq!(rows(&alone, "m0"), "21.000 s | – | 21.000 s | 31.000 s | 1 kB | k0");
    assert!(!alone.contains("no bytes moved"), "{alone}");
}

/// Of two waits that were over at once the first is told. What starts late has no lead of its own to turn around in: it waits for
/// the end of what the engine served before. Joins have no row among the bars, and tasks of no time on engines have their place.
#[test]
fn a_plan_tells_why_its_tasks_started() {
    let reason = |name: &str, change: fn(&mut Outcome)| {
        let text = reported(|_, outcome| change(outcome), text::explain);
        cells(&text, name).pop().expect("a reason")
    };
    assert_eq!(reason("m0", |_| ()), "k0");
    assert_eq!(reason("m0", |o| o.tasks[6] = times(20.0, 20.0, 20.0)), "release");
    let late = |o: &mut Outcome| (o.tasks[5], o.tasks[6]) = (times(5.0, 5.0, 5.0), times(5.0, 11.5, 12.5));
    assert_eq!(reason("k0", late), "end of x/d0");
    let joined = reported(|scenario, _| scenario.operations[0].tasks = 1..5, text::explain);
    let plan = joined.split("\n\n").find(|part| part.starts_with("offload x")).expect("the plan of x");
    let rows: Vec<&str> = plan.lines().skip(2).collect();
    assert!(rows.len() == 2 && rows[0].starts_with("gpu0/copy "), "{plan}");
    assert_eq!(rows[1], "h: h0 to h1, d: d0, .: idle");
}

/// A reason of 32 characters stands in the table, one of 33 below it.
#[test]
fn long_reasons_stand_below_the_table() {
    let cell = |length: usize| {
        let because = |world: &mut weir_scenario::Scenario, o: &mut Outcome| {
            late(o);
            world.operations[0].estimates[1].because = "a".repeat(length);
            world.operations[0].estimates[1].relation = weir_plugin_api::Relation::Unstated;
        };
        cells(&reported(because, text::run), "x").pop().expect("a reason")
    };
    assert_eq!((cell(32), cell(33).as_str()), ("a".repeat(32), "see below"));
}

#[test]
fn an_explanation_lists_the_plans_engine_by_engine() {
    let line = reported(
        |_, _| (),
        |run| {
            let mut out = Vec::new();
            write_explanation(run, &mut out).expect("writes to memory");
            String::from_utf8(out).expect("is UTF-8")
        },
    );
    let value: Value = serde_json::from_str(&line).expect("is JSON");
    let task = |name: &str, ready: f64, start: f64, end: f64| json!({"task": name, "ready_s": ready, "start_s": start, "end_s": end});
    let expected = json!([
        {"id": "x", "engines": [{"engine": "gpu0/copy", "busy_s": 8.0, "tasks": [
            task("h0", 0.0, 1.0, 4.0), task("h1", 0.0, 4.5, 7.5), task("d0", 4.0, 9.5, 11.5)]}]},
        {"id": "y", "engines": [
            {"engine": "gpu0/copy", "busy_s": 1.0, "tasks": [task("k0", 20.0, 20.0, 21.0)]},
            {"engine": null, "busy_s": 10.0, "tasks": [task("m0", 21.0, 21.0, 31.0)]}]},
    ]);
    assert_eq!(value["operations"], expected);
}
