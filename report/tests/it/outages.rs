//! What a saved result says of links that changed, and what it need not say: it is read where nothing in it contradicts that.

use serde_json::{Value, json};
use weir_plugin_api::SimTime;
use weir_report::Detail;

use crate::ran::Ran;
use crate::runs::json as written;
use crate::saved::{full, read, refused};

fn short(ran: &Ran) -> Value {
    serde_json::from_str(&ran.report(|run| written(run, Detail::default()))).expect("is JSON")
}

/// A link of the route of m0 is down from 4 to 9 ms, another one has half of its bandwidth from 6 to 8 ms; m0 goes another way
/// at 4 ms, and all has ended at 20.0002 ms.
#[test]
fn what_contradicts_itself_of_links_that_change_is_named() {
    let steps = |steps: &[(u64, f64)]| -> Value {
        let step = |&(ps, rate): &(u64, f64)| json!({ "at_s": ps as f64 / 1e12, "at_ps": ps, "bandwidth_Bps": rate });
        steps.iter().map(step).collect()
    };
    let ms = 1_000_000_000;
    let last = 20_000_200_000;
    refused(
        &Ran::new("events", 0),
        &[
            (
                "/link_changes/0/steps/0/at_s",
                json!(0.0041),
                "link_changes[0]: steps[0]: at_s 0.0041 and at_ps 4000000000",
            ),
            ("/link_changes/0/steps/1/at_ps", json!(1), "link_changes[0]: steps[1]: at_s 0.009 and at_ps 1,"),
            ("/link_changes/0/steps", steps(&[(9 * ms, 1e10), (4 * ms, 0.0)]), "link_changes[0]: steps[0].at_ps: 9000"),
            (
                "/link_changes/0/steps",
                steps(&[(4 * ms, 0.0), (last + 1, 1e10)]),
                "link_changes[0]: steps[1].at_ps: 20000",
            ),
            (
                "/link_changes/0/steps",
                steps(&[(4 * ms, 0.0), (last, 1e10)]),
                "link_changes[0]: down_s 0.005 and changes 2",
            ),
            (
                "/link_changes/0/steps",
                steps(&[(4 * ms, 1.0), (9 * ms, 0.0)]),
                "link_changes[0]: down_s 0.005 and changes 2",
            ),
            ("/link_changes/0/changes", json!(1), "link_changes[0]: down_s 0.005 and changes 1 of a link that 2 steps"),
            ("/link_changes/0/down_s", json!(0.0051), "link_changes[0]: down_s 0.0051 and changes 2"),
            (
                "/link_changes/2/down_s",
                json!(0.002),
                "link_changes[2]: down_s 0.002 and changes 2 of a link that 2 steps",
            ),
            (
                "/transfers/0/reroutes/0/at_s",
                json!(0.005),
                "transfers[0]: reroutes[0]: at_s 0.005 and at_ps 4000000000",
            ),
            (
                "/transfers/0/reroutes/0/at_ps",
                json!(0),
                "transfers[0]: reroutes[0]: at_s 0.004 and at_ps 0, which differ",
            ),
            ("/transfers/0/mean_Bps", json!(0.0), "transfers[0]: `m0` has mean_Bps 0 and sent 100000000 B"),
        ],
    );
    // Without steps a link may have been down all the time, and not longer; of changes that are not all listed, too.
    let with = |mut result: Value, changes: u64, down_s: f64| {
        (result["link_changes"][0]["changes"], result["link_changes"][0]["down_s"]) = (json!(changes), json!(down_s));
        read(&result).is_ok()
    };
    let end_s = 0.020_000_2;
    for (result, changes) in [(short(&Ran::new("events", 0)), 2), (full(&Ran::new("events", 0)), 3)] {
        assert!(with(result.clone(), changes, end_s) && !with(result, changes, end_s + 1e-9));
    }
}

/// A transfer that has sent nothing so far has a mean rate of 0; one that has sent something has none of 0.
#[test]
fn who_sent_nothing_has_no_rate() {
    let mut result = short(&Ran::until("shared", 1, SimTime(5_000_000_000)));
    let row = &mut result["transfers"][0];
    assert_eq!((&row["end_s"], row["sent_bytes"].as_u64().is_some_and(|sent| sent > 0)), (&Value::Null, true));
    row["mean_Bps"] = json!(0.0);
    assert!(
        read(&result)
            .expect_err("it sent some")
            .starts_with("saved.json:1: transfers[0]: `a` has mean_Bps 0 and sent ")
    );
    result["transfers"][0]["sent_bytes"] = json!(0);
    assert_eq!(read(&result), Ok(()));
}

/// A bandwidth below 1 B/s is one. Of transfers without routes, or that went elsewhere as a stream, links carried what they say.
#[test]
fn what_a_result_does_not_hold_contradicts_nothing() {
    let mut result = full(&Ran::new("shared", 1));
    let idle =
        result["links"].as_array().expect("a list").iter().position(|link| link["bytes"] == 0).expect("an idle link");
    result["links"][idle]["bandwidth_Bps"] = json!(0.5);
    assert_eq!(read(&result), Ok(()));
    let routed = result.clone();
    for row in result["transfers"].as_array_mut().expect("a list") {
        row.as_object_mut().expect("a row").remove("route");
    }
    (result["phases"], result["explain"]) = (Value::Null, Value::Null);
    result["links"][2]["bytes"] = json!(1);
    assert_eq!(read(&result), Ok(()));
    result = routed;
    for key in ["phases", "explain"] {
        result.as_object_mut().expect("an object").remove(key);
    }
    result["streamed"] = json!({ "transfers": 6, "ended": 6 });
    result["transfers"] = json!([]);
    assert_eq!(read(&result), Ok(()));
}

/// Of packets the last byte leaves before it comes: by the latency of its route, 200 ns here.
#[test]
fn a_last_byte_takes_its_time() {
    let ran = Ran::new("packets", 0);
    let end = full(&ran)["transfers"][0]["end_s"].as_f64().expect("it ended");
    let sent = |early: f64| json!(end - early);
    let with = |early: f64| {
        let mut edited = full(&ran);
        edited["transfers"][0]["sent_s"] = sent(early);
        read(&edited)
    };
    assert_eq!(with(201e-9), Ok(()));
    refused(
        &ran,
        &[
            ("/transfers/0/sent_s", sent(199e-9), "transfers[0]: `a` sends "),
            ("/transfers/0/sent_s", sent(0.0), "transfers[0]: `a` sends "),
        ],
    );
}
