//! What a saved run says of delays, rates, places and the arbiter's steps: one that contradicts itself is refused.

use serde_json::{Value, json};
use weir_plugin_api::SimTime;
use weir_report::Detail;

use crate::ran::Ran;
use crate::runs::json as written;
use crate::saved::{full, read, refused, refused_by};

fn short(ran: &Ran) -> Value {
    serde_json::from_str(&ran.report(|run| written(run, Detail::default()))).expect("is JSON")
}

/// What is said of a result with several changes.
fn said(mut result: Value, changes: &[(&str, Value)]) -> String {
    for (place, value) in changes {
        *result.pointer_mut(place).expect(place) = value.clone();
    }
    read(&result).expect_err("contradicts itself")
}

#[test]
fn delays_rates_and_links_that_contradict_the_rest_are_named() {
    refused(
        &Ran::new("shared", 1),
        &[
            ("/transfers/0/delay/own_limit_s", json!(-1.0), "transfers[0]: `a` has delay.own_limit_s -1, which is no"),
            ("/transfers/0/delay/own_limit_s", json!(1e300), "transfers[0]: `a` has delay.own_limit_s 1"),
            ("/transfers/0/alone_s", Value::Null, "transfers[0]: `a` has `delay` without its time alone"),
            (
                "/transfers/0/sent_bytes",
                json!(60_000_000),
                "transfers[0]: `a` has sent_bytes 60000000 of 60000000 B, and",
            ),
            ("/links/2/peak_Bps", json!(-1.0), "links[2]: `sw` → `rc` has peak_Bps -1"),
            ("/links/2/peak_Bps", json!(9.99e9), "links[2]: `sw` → `rc` has peak_Bps 9990000000, and carries 1000"),
            ("/links/3/peak_Bps", json!(5.0), "links[3]: `rc` → `sw` has peak_Bps 5, and carries 0 B/s at most"),
            ("/links/3/to", json!("rc"), "links[3]: `rc` → `rc` joins a node to itself"),
            ("/links/3/from", json!("gpu0"), "links[4]: `gpu0` → `sw` occurs twice"),
        ],
    );
}

#[test]
fn parts_of_a_delay_are_parts_of_the_time() {
    for (more, key) in [("waiting_s", "waiting_s 1"), ("blocked_s", "blocked_s 1"), ("own_limit_s", "own_limit_s 1")] {
        let result = full(&Ran::new("shared", 1));
        let cut = result["transfers"][0]["delay"]["cut_s"].as_f64().expect("a time");
        let cut = if more == "own_limit_s" { cut } else { cut - 1.0 };
        let [more, less] = [more, "cut_s"].map(|part| format!("/transfers/0/delay/{part}"));
        let said = said(result, &[(&more, json!(1.0)), (&less, json!(cut))]);
        assert!(said.starts_with(&format!("saved.json:1: transfers[0]: `a` has delay.{key}")), "{said}");
    }
}

/// Of a short result neither latencies nor phases are known: links at the source are no faster than they were.
#[test]
fn a_mean_rate_above_that_of_the_links_is_named() {
    let good = short(&Ran::new("shared", 1));
    refused_by(
        read,
        &good,
        &[
            ("/transfers/0/mean_Bps", json!(1e300), "transfers[0]: `a` has mean_Bps 1"),
            (
                "/transfers/0/mean_Bps",
                json!(1.1e10),
                "transfers[0]: `a` has mean_Bps 11000000000, and the links from `gpu1`",
            ),
        ],
    );
    let mut unknown = good;
    unknown["links"].as_array_mut().expect("a list").iter_mut().for_each(|link| link["peak_Bps"] = Value::Null);
    assert_eq!(read(&unknown), Ok(()));
}

/// The first number that is no link's; a fifth more than a link carries; and of rates, less than was sent over it until the stop.
#[test]
fn bytes_and_routes_are_those_of_the_links() {
    let whole = full(&Ran::new("shared", 1));
    let links = whole["links"].as_array().expect("a list").len();
    let text = said(whole, &[("/transfers/0/route/0", json!(links))]);
    assert!(text.contains(&format!("has link {links} on its route, and the run has {links} links")), "{text}");

    let result = short(&Ran::new("shared", 1));
    let is_full = |row: &Value| {
        let [bytes, peak, busy] = ["bytes", "peak_Bps", "busy_s"].map(|key| row[key].as_f64().unwrap_or(0.0));
        bytes > 1e6 && bytes > 0.95 * peak * busy
    };
    let at = result["links"].as_array().expect("a list").iter().position(is_full).expect("one is full");
    let bytes = result["links"][at]["bytes"].as_u64().expect("bytes");
    let text = said(result, &[(&format!("/links/{at}/bytes"), json!(bytes + bytes / 5))]);
    assert!(text.contains(&format!(" carried {} B in ", bytes + bytes / 5)), "{text}");

    let stopped = full(&Ran::until("shared", 0, SimTime(5_000_000_000)));
    let used = |row: &Value| row["bytes"].as_u64().is_some_and(|bytes| bytes > 1_000_000);
    let at = stopped["links"].as_array().expect("a list").iter().position(used).expect("one carries bytes");
    let bytes = stopped["links"][at]["bytes"].as_u64().expect("bytes");
    let text = said(stopped, &[(&format!("/links/{at}/bytes"), json!(bytes / 2))]);
    assert!(text.contains(&format!(" carried {} B, and transfers sent ", bytes / 2)), "{text}");
}

/// A transfer that starts late is blocked after its start, not for longer.
#[test]
fn nobody_is_blocked_for_longer_than_under_way() {
    let result = full(&Ran::new("shared", 1));
    let number = |row: &Value, key: &str| row[key].as_f64().expect(key);
    let rows = result["transfers"].as_array().expect("a list");
    let at = rows.iter().position(|row| number(row, "start_s") > 1e-6 && row["delay"].is_object()).expect("a late one");
    let row = &rows[at];
    let [ready, start, end, alone] = ["ready_s", "start_s", "end_s", "alone_s"].map(|key| number(row, key));
    let blocked = end - start / 2.0;
    let cut = end - ready - alone - number(&row["delay"], "waiting_s") - blocked;
    let place = |key: &str| format!("/transfers/{at}/delay/{key}");
    let text = said(result.clone(), &[(&place("blocked_s"), json!(blocked)), (&place("cut_s"), json!(cut))]);
    assert!(text.contains("has delay.blocked_s "), "{text}");
}

/// No number of events excuses more bytes than the link carries.
#[test]
fn many_events_excuse_no_bytes() {
    let events = ("/events", json!(1_000_000_000_000_000_000_u64));
    let said = said(short(&Ran::new("shared", 1)), &[events, ("/links/0/bytes", json!(1_000_000_000_000_u64))]);
    assert!(said.contains(" carried 1000000000000 B in "), "{said}");
}

#[test]
fn what_has_not_ended_has_sent_some_until_the_stop() {
    for (name, until) in [("shared", 5_000_000_000), ("packets", 100_000_000)] {
        let result = full(&Ran::until(name, 0, SimTime(until)));
        let rows = result["transfers"].as_array().expect("a list");
        let open = |row: &Value| row["end_s"].is_null() && row["mean_Bps"].as_f64().is_some_and(|mean| mean > 0.0);
        let at = rows.iter().position(open).expect("one is under way");
        let (id, mean) = (rows[at]["id"].as_str().expect("a text"), rows[at]["mean_Bps"].as_f64().expect("a rate"));
        let bytes = rows[at]["bytes"].as_u64().expect("bytes");
        let place = |key: &str| format!("/transfers/{at}/{key}");
        refused_by(
            read,
            &result,
            &[
                (&place("mean_Bps"), json!(mean / 2.0), &format!("transfers[{at}]: `{id}` sends ")),
                (
                    &place("sent_bytes"),
                    json!(bytes + 1),
                    &format!("transfers[{at}]: `{id}` has sent_bytes {}", bytes + 1),
                ),
                (&place("sent_bytes"), Value::Null, &format!("transfers[{at}]: `{id}` has sent_bytes null")),
            ],
        );
    }
    let result = full(&Ran::until("shared", 0, SimTime(80_000_000)));
    let said = said(result, &[("/transfers/4/mean_Bps", json!(1.0))]);
    assert!(said.contains("`e` has mean_Bps 1, and has not started"), "{said}");
}

#[test]
fn causes_and_steps_are_of_links_and_transfers_of_the_run() {
    let link = |to: &str| json!({ "from": "rc", "to": to });
    let (one, steps) = ("/explain/0/transfers/1/id", "/explain/0/transfers/0/steps/0");
    let step = |key: &str| format!("{steps}/{key}");
    let first = full(&Ran::new("shared", 0))["explain"][0]["transfers"][0]["id"].clone();
    let twice = format!("explain[0]: {} is listed twice", first.to_string().replace('"', "`"));
    refused(
        &Ran::new("shared", 0),
        &[
            ("/transfers/0/cause", Value::Null, "transfers[0]: one of `cause` and `cause_detail` is missing"),
            ("/transfers/0/cause_detail/link", link("z"), "transfers[0]: cause_detail.link: `rc` → `z`, but the bottl"),
            (
                "/transfers/0/cause_detail/link",
                Value::Null,
                "transfers[0]: cause_detail.link: null, but the bottleneck",
            ),
            ("/transfers/0/cause_detail/engine", json!("gpu1/send"), "transfers[0]: cause_detail: `engine` and"),
            ("/transfers/0/cause_detail/node", json!("z"), "transfers[0]: `a`: the run has no node `z`"),
            ("/transfers/5/cause_detail/by", json!("z"), "transfers[5]: cause_detail.by: the run has no transfer `z`"),
            ("/explain/0/transfers", json!([]), "explain[0]: `"),
            (one, first, &twice),
            (&step("rate_Bps"), json!(-1.0), "explain[0]: transfers[0]: steps[0]: rate_Bps: -1 is no rate"),
            (&step("rate_Bps"), json!(1e300), "explain[0]: transfers[0]: steps[0]: rate_Bps: 1"),
            (&step("link"), link("z"), "explain[0]: transfers[0]: steps[0]: `rc` → `z` is no link"),
            (
                &step("because"),
                json!(["z"]),
                "explain[0]: transfers[0]: steps[0]: because: the run has no transfer `z`",
            ),
        ],
    );
}

#[test]
fn places_of_packets_and_of_other_routes_are_in_the_run() {
    let packets = full(&Ran::new("packets", 0));
    let rows = packets["transfers"].as_array().expect("a list");
    let at = rows.iter().position(|row| row["held"][0]["link"].is_object()).expect("one is held at a link");
    let place = |key: &str| format!("/transfers/{at}/held/0/{key}");
    refused_by(
        read,
        &packets,
        &[
            (&place("by"), json!("z"), &format!("transfers[{at}]: held[0]: by: the run has no transfer `z`")),
            (&place("link/to"), json!("z"), &format!("transfers[{at}]: held[0]: `")),
        ],
    );
    let lost = "transfers[0]: reroutes[0]: ";
    refused(
        &Ran::new("events", 0),
        &[
            ("/link_changes/0/link/to", json!("z"), "link_changes[0]: `"),
            ("/transfers/0/reroutes/0/down/to", json!("z"), lost),
            ("/transfers/0/reroutes/0/links/0/to", json!("z"), "transfers[0]: reroutes[0]: links[0]: `"),
            ("/transfers/0/reroutes/0/links", json!([]), "transfers[0]: reroutes[0]: its route has other links than"),
        ],
    );
}

/// 100 transfers of a chain, each a little larger than the one before.
#[test]
fn percentiles_are_those_of_the_transfers() {
    let text = "weir: 1\ntopology:\n  link_types: { x: { bandwidth: 10GB/s } }\n  tree: { a: { kind: switch, children: { \
                \"g[0-10]\": { kind: gpu, link: x } } } }\narbiter: max-min\nworkload: [{ pattern: { kind: all-to-all, \
                ranks: \"g[0-10]\", size: 1MB } }]\n";
    let result = full(&Ran::of_text(text));
    assert_eq!(result["transfers"].as_array().map(Vec::len), Some(110));
    refused_by(
        read,
        &result,
        &[
            ("/percentiles/completion_s/99", json!(1.0), "percentiles.completion_s.99: 1, but by what it follows from"),
            ("/percentiles/completion_s/1", json!(1.0), "percentiles.completion_s.5: "),
            ("/percentiles/slowdown/1", json!(1e9), "percentiles.slowdown.5: "),
        ],
    );
}

#[test]
fn as_many_as_were_streamed_have_ended() {
    let with = |ended: u64, events: u64| {
        let mut result = short(&Ran::new("shared", 1));
        (result["transfers"], result["events"]) = (json!([]), json!(events));
        result["streamed"] = json!({ "transfers": 6, "ended": ended });
        read(&result).err().unwrap_or_default()
    };
    assert_eq!(with(6, 16), "");
    assert!(with(7, 16).starts_with("saved.json:1: streamed.ended: 7 of 6 transfers"));
    assert!(with(5, 16).starts_with("saved.json:1: streamed.ended: 5 of 6 transfers"));
    assert!(with(6, 11).starts_with("saved.json:1: events: 11, but transfers alone started and ended 12 times"));
}
