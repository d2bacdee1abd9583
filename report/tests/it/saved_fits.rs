//! Saved changes, tuned packets, measured times and comparisons that contradict themselves are refused.

use serde_json::{Value, json};
use weir_plugin_api::{SimDuration, SimTime};
use weir_report::{Change, Changed, Tried, TunedOperation, TunedSize, Tuning, WhatIf};

use crate::saved::refused_by;
use crate::saved_searches::read;
use crate::searches::{MS, bound, change, under};

fn value(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Value {
    let mut line = Vec::new();
    write(&mut line).expect("writes to memory");
    serde_json::from_slice(&line).expect("is JSON")
}

/// Of 100 ms; with costs what saves most by cost comes first, and what has none last.
fn what_if(has_costs: bool) -> WhatIf {
    let mut result = WhatIf::new("s", "f.yaml", "00", under(), SimTime(100 * MS));
    let costing = |cost: f64, change: Change| match has_costs {
        true => Change { cost: Some(cost), saved_s_per_cost: Some(change.saved_s / cost), ..change },
        false => change,
    };
    result.changes = vec![
        costing(1.0, change("link_types.x", Changed::Bandwidth, Some(2.0), 30.0)),
        costing(2.0, change("link_types.y", Changed::Latency, Some(0.5), 20.0)),
        change("link_types.y", Changed::Bandwidth, None, -1.0),
    ];
    result.bound = bound(40.0, [0.01, 0.0, 0.03, 0.02]);
    result
}

#[test]
fn changes_that_contradict_themselves_are_named() {
    let written = |has_costs| value(|out| what_if(has_costs).write(out));
    refused_by(
        read,
        &written(false),
        &[
            ("/makespan_s", json!(1.0), "makespan_s 1 and makespan_ps 100000000000, which differ"),
            ("/changes/0/makespan_s", json!(1.0), "changes[0]: makespan_s 1 and makespan_ps 70000000000, which differ"),
            ("/changes/0/saved_s", json!(0.1), "changes[0]: saved_s: 0.1, but by what it follows from 0.03"),
            ("/changes/2/saved_percent", json!(1.0), "changes[2]: saved_percent: 1, but by what it follows from -1"),
            ("/changes/0/factor", json!(0.0), "changes[0]: factor: 0"),
            (
                "/changes/0/saved_s_per_cost",
                json!(1.0),
                "changes[0]: saved_s_per_cost: 1, but by what it follows from null",
            ),
            ("/bound/makespan_ps", json!(1), "bound: makespan_s 0.06 and makespan_ps 1, which differ"),
            ("/bound/saved_s", json!(1.0), "bound: saved_s: 1, but by what it follows from 0.04"),
            ("/bound/waiting_s", json!(1.0), "bound: its parts are 1.04 s of 0.06 s"),
        ],
    );
    refused_by(
        read,
        &written(true),
        &[
            ("/changes/0/cost", json!(-1.0), "changes[0]: cost: -1"),
            ("/changes/0/cost", json!(3.0), "changes[0]: saved_s_per_cost: 0.03, but by what it follows from 0.01"),
        ],
    );
    for has_costs in [false, true] {
        for (first, then) in [(0, 1), (1, 2)] {
            let mut result = what_if(has_costs);
            result.changes.swap(first, then);
            let said = read(&value(|out| result.write(out))).expect_err("not in order");
            assert!(said.contains(&format!("changes[{then}]: it is better than the one before it")), "{said}");
        }
    }
}

#[test]
fn tuned_packets_that_contradict_themselves_are_named() {
    let time = |ms: u64| SimDuration(ms * MS);
    let way = |packet, ms| Tried { packet, seconds: time(ms).seconds() };
    let tried = Some(vec![way(Some(1 << 18), 2), way(None, 3)]);
    let sizes = vec![
        TunedSize { tried, ..TunedSize::new(1 << 20, Some(1 << 18), time(2), Some(time(3))) },
        TunedSize::new(1 << 21, None, time(0), None),
    ];
    let mut tuning = Tuning::new("s", "f.yaml", "00", under());
    tuning.operations = ["p", "q"].map(|id| TunedOperation { id: id.into(), sizes: sizes.clone() }).into();
    refused_by(
        read,
        &value(|out| tuning.write(out)),
        &[
            ("/operations/1/id", json!("p"), "operations[1].id: p occurs twice"),
            ("/operations/0/sizes/1/bytes", json!(1), "operations[0]: sizes[1].bytes: 1 after 1048576"),
            ("/operations/0/sizes/0/ps", json!(1), "operations[0]: sizes[0]: seconds 0.002 and ps 1, which differ"),
            (
                "/operations/0/sizes/0/gain",
                json!(1.0),
                "operations[0]: sizes[0]: gain: 1, but by what it follows from 0.5",
            ),
            (
                "/operations/0/sizes/0/gain",
                Value::Null,
                "operations[0]: sizes[0]: gain: null, but by what it follows from",
            ),
            (
                "/operations/0/sizes/1/gain",
                json!(1.0),
                "operations[0]: sizes[1]: gain: 1, but by what it follows from null",
            ),
            ("/operations/0/sizes/0/bandwidth_Bps", json!(1.0), "operations[0]: sizes[0]: bandwidth_Bps: 1, but by"),
            (
                "/operations/0/sizes/0/packet",
                json!(1),
                "operations[0]: sizes[0]: seconds: 0.002, but by what it follows",
            ),
            ("/operations/0/sizes/0/tried/0/seconds", json!(1.0), "operations[0]: sizes[0]: seconds: 0.002, but by"),
            (
                "/operations/0/sizes/0/tried/1/seconds",
                json!(1.0),
                "operations[0]: sizes[0]: without_packets_s: 0.003, but",
            ),
        ],
    );
}

/// Measured 1, 2 and 4 s, simulated 1.1, 2.1 and 2 s: errors of 10, 5 and -50 %.
fn validation() -> Value {
    let row = |id: &str, measured: f64, simulated: f64| {
        json!({ "id": id, "from": "a", "to": "b", "bytes": 1, "measured_s": measured, "simulated_s": simulated,
            "error": simulated / measured - 1.0, "bottleneck": null, "cause": null, "cause_detail": null })
    };
    let bin = |from: Value, to: Value, count: u64| json!({ "from": from, "to": to, "count": count });
    json!({
        "weir": 1, "kind": "validation", "scenario": "s", "file": "f", "arbiter": { "name": "a", "params": {} },
        "within_15_percent": 2.0 / 3.0, "mean_error": (0.1 + 0.05 + 0.5) / 3.0, "lowest_error": -0.5, "highest_error": 0.1,
        "transfers": [row("a", 1.0, 1.1), row("b", 2.0, 2.1), row("c", 4.0, 2.0)],
        "rows_left": [], "rows_again": [], "not_measured": ["d"],
        "not_explained": [{ "over": "x → y", "measured_Bps": 2.0, "carries_Bps": 1.0, "transfers": ["a"] }],
        "histogram": { "within_5_percent": 1.0 / 3.0, "within_10_percent": 2.0 / 3.0, "within_15_percent": 2.0 / 3.0,
            "bins": [bin(Value::Null, json!(0.0), 1), bin(json!(0.0), Value::Null, 2)] }
    })
}

#[test]
fn errors_that_contradict_their_times_are_named() {
    refused_by(
        read,
        &validation(),
        &[
            ("/transfers/1/id", json!("a"), "transfers[1].id: a occurs twice"),
            ("/transfers/0/error", json!(0.2), "transfers[0]: `a` has error 0.2, but its times make it 0.1"),
            ("/transfers/0/measured_s", json!(0.0), "transfers[0]: `a` has error 0.1"),
            ("/transfers/0/from", Value::Null, "transfers[0]: `a` has some of from, to and bytes, and not all"),
            ("/transfers/0/cause", json!("x"), "transfers[0]: `a` has one of cause and cause_detail"),
            ("/within_15_percent", json!(1.0), "within_15_percent: 1, but of the errors 0.66"),
            ("/within_15_percent", Value::Null, "within_15_percent: there are errors with it, and none without"),
            ("/mean_error", json!(0.5), "mean_error: 0.5, but by what it follows from 0.21"),
            ("/lowest_error", json!(0.0), "lowest_error: 0, but by what it follows from -0.5"),
            ("/highest_error", Value::Null, "highest_error: null, but by what it follows from 0.1"),
            ("/not_measured/0", json!("a"), "not_measured: `a` was measured"),
            ("/not_explained/0/transfers/0", json!("z"), "not_explained: `z` was not measured"),
            (
                "/not_explained/0/measured_Bps",
                json!(0.5),
                "not_explained: measured_Bps 0.5 over x → y, which carries 1",
            ),
            ("/histogram/bins/0/count", json!(7), "histogram.bins: 9 in all of 3 transfers"),
            ("/histogram/within_5_percent", json!(1.0), "histogram.within_5_percent: 1, but of the errors 0.33"),
            ("/histogram/within_10_percent", json!(0.0), "histogram.within_10_percent: 0, but of the errors"),
            ("/histogram/within_15_percent", json!(0.0), "histogram.within_15_percent: 0, but of the errors"),
        ],
    );
    let mut nothing = validation();
    let none = ["within_15_percent", "mean_error", "lowest_error", "highest_error"].map(|key| (key, Value::Null));
    let lists = ["transfers", "not_measured", "not_explained"].map(|key| (key, json!([])));
    none.into_iter().chain(lists).for_each(|(key, value)| nothing[key] = value);
    nothing.as_object_mut().expect("an object").remove("histogram");
    assert_eq!(read(&nothing), Ok(()));
}

#[test]
fn a_comparison_has_changes_for_each_result() {
    let comparison =
        |with: Value| json!({ "weir": 1, "kind": "comparison", "results": [], "with": with, "ratios": {} });
    assert_eq!(read(&comparison(json!([]))), Ok(()));
    let said = read(&comparison(json!([null]))).expect_err("one too many");
    assert!(said.contains("with: 1 changes, but 0 results: this is not what `weir compare --json` writes"), "{said}");
}
