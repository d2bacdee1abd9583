//! A result that says two things of one is refused, whatever is changed in it; one that another program rounded is read.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use weir_plugin_api::SimTime;
use weir_report::page::Page;
use weir_report::{Column, Detail};

use crate::ran::Ran;
use crate::runs::json as written;

/// Numbers that nothing else in a result determines, or which may be larger than the rest needs, by the names on the way to
/// them; and those that models say of their operations.
const FREE: [&str; 30] = [
    "arbiter.params.tau",
    "arbiter.regions.links",
    "events",
    "explain.transfers.steps.rate_Bps",
    "fill_bin_s",
    "hops",
    "link_changes.changes",
    "links.bandwidth_Bps",
    "links.buffer_bytes",
    "links.deepest_bytes",
    "links.fill_bytes",
    "links.load_Bps",
    "links.mean_wait_s",
    "links.no_credit_s",
    "links.packets",
    "links.wire_bytes",
    "operations.estimates.seconds",
    "peak_packets",
    "skipped_hops",
    "spread.jitter_s",
    "spread.makespan_s.max",
    "spread.makespan_s.median",
    "spread.makespan_s.min",
    "spread.seeds",
    "transfers.end_spread_s.max",
    "transfers.end_spread_s.median",
    "transfers.end_spread_s.min",
    "transfers.held.time_s",
    "transfers.packets",
    "transfers.time_spread_s",
];
/// The details of models.
const DETAILS: &str = "operations.details.";

pub fn full(ran: &Ran) -> Value {
    let text = ran.report(|run| written(run, Detail { phases: true, full: true }));
    serde_json::from_str(&text).expect("is JSON")
}

pub fn read(result: &Value) -> Result<(), String> {
    Column::of_saved("saved.json", &result.to_string()).map(drop).map_err(|error| error.to_string())
}

fn runs() -> [Value; 11] {
    [
        full(&Ran::new("shared", 0)),
        full(&Ran::new("shared", 2)),
        full(&Ran::new("operations", 0)),
        full(&Ran::new("events", 0)),
        full(&Ran::new("packets", 0)),
        full(&Ran::new("spread", 0)),
        full(&Ran::new("narrow", 0)),
        full(&Ran::new("brief", 0)),
        full(&Ran::new("shared", 1).with_spread()),
        full(&Ran::until("shared", 1, SimTime(5_000_000_000))),
        full(&Ran::until("events", 0, SimTime(5_000_000_000))),
    ]
}

/// The place of each number.
fn numbers(value: &Value, at: &str, all: &mut Vec<String>) {
    match value {
        Value::Number(_) => all.push(at.to_owned()),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, item)| numbers(item, &format!("{at}/{i}"), all)),
        Value::Object(members) => {
            let place = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            members.iter().for_each(|(key, value)| numbers(value, &place(key), all));
        }
        _ => {}
    }
}

/// `transfers.end_s` of `/transfers/3/end_s`.
fn field(place: &str) -> String {
    let words: Vec<&str> = place.split('/').filter(|word| !word.is_empty() && word.parse::<u32>().is_err()).collect();
    // The members of rates are names of transfers.
    let end = words.iter().position(|word| *word == "rates_Bps").map_or(words.len(), |at| at + 1);
    words[..end].join(".")
}

/// The same number a thousandth larger, of whole numbers by 1 at least.
fn larger(value: &Value) -> Value {
    match value.as_u64() {
        Some(whole) => json!(whole + (whole / 1000).max(1)),
        None => json!(value.as_f64().expect("a number") * 1.001 + 1e-6),
    }
}

/// Of each field up to four numbers are tried in each run.
#[test]
fn a_number_that_is_a_thousandth_larger_is_refused() {
    let (mut all, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for mut result in runs() {
        assert_eq!(read(&result), Ok(()));
        Page::default().add_saved("saved.json", &result.to_string()).expect("is as it was written");
        let mut places = Vec::new();
        numbers(&result, "", &mut places);
        places.sort_by_key(|place| field(place));
        places.retain(|place| !field(place).starts_with(DETAILS));
        for places in places.chunk_by(|a, b| field(a) == field(b)) {
            let name = field(&places[0]);
            for place in places.iter().step_by(places.len().div_ceil(4)) {
                let value = result.pointer_mut(place).expect("is there");
                let good = std::mem::replace(value, Value::Null);
                *result.pointer_mut(place).expect("is there") = larger(&good);
                if !refused.contains(&name) && read(&result).is_err() {
                    refused.insert(name.clone());
                }
                *result.pointer_mut(place).expect("is there") = good;
            }
            all.insert(name);
        }
    }
    let free: Vec<&str> = all.difference(&refused).map(String::as_str).collect();
    assert_eq!(free, FREE);
}

/// Twelve digits are enough for picoseconds of a second.
#[test]
fn numbers_of_twelve_digits_are_read() {
    for mut result in runs() {
        let mut places = Vec::new();
        numbers(&result, "", &mut places);
        for place in places {
            let value = result.pointer_mut(&place).expect("is there");
            if let Some(number) = value.as_f64().filter(|_| value.is_f64()) {
                *value = json!(format!("{number:.11e}").parse::<f64>().expect("a number"));
            }
        }
        assert_eq!(read(&result), Ok(()));
    }
}

/// One change each, and what is said of it.
pub fn refused(ran: &Ran, changes: &[(&str, Value, &str)]) {
    refused_by(read, &full(ran), changes);
}

/// The same of any result that this reads.
pub fn refused_by(read: fn(&Value) -> Result<(), String>, good: &Value, changes: &[(&str, Value, &str)]) {
    assert_eq!(read(good), Ok(()));
    for (place, value, what) in changes {
        let mut edited = good.clone();
        let (parent, key) = place.rsplit_once('/').expect("a place");
        match edited.pointer_mut(parent).expect(place) {
            Value::Object(members) => drop(members.insert((*key).to_owned(), value.clone())),
            Value::Array(items) => items[key.parse::<usize>().expect("a number")] = value.clone(),
            _ => panic!("{place} is in no list"),
        }
        let said = read(&edited).expect_err(&format!("{place} {value}"));
        assert!(said.starts_with(&format!("saved.json:1: {what}")), "{place} {value}: {said}");
        assert!(said.ends_with("save it again"), "{said}");
    }
}

/// In order of the file: links 0 and 1 are those of the cpu, a goes over 6, 2 and 1.
#[test]
fn what_contradicts_the_rest_is_named() {
    refused(
        &Ran::new("shared", 1),
        &[
            ("/fingerprint", json!("0123456789abcdeF"), "fingerprint: `0123456789abcdeF` is not 16"),
            ("/input_sha256", json!("0"), "input_sha256: `0` is not 64"),
            ("/complete", json!(false), "complete: false, with no stopped_ps"),
            ("/events", json!(11), "events: 11, but transfers alone started and ended 12 times"),
            ("/makespan_ps", json!(1), "makespan_s "),
            ("/transfers/0/mean_Bps", json!(-1.0), "transfers[0]: `a` has mean_Bps -1"),
            ("/transfers/0/mean_Bps", json!(1e9), "transfers[0]: `a` sends 60000000 B until 0.06 s"),
            ("/transfers/0/mean_Bps", json!(1e11), "transfers[0]: `a` sends 60000000 B until 0.0006 s"),
            ("/transfers/0/alone_s", json!(1.0), "transfers[0]: `a` took 0.011302 s, but alone_s and the parts"),
            ("/transfers/0/delay/blocked_s", json!(1.0), "transfers[0]: `a` took "),
            ("/transfers/0/delay/waiting_s", json!(1.0), "transfers[0]: `a` took "),
            ("/transfers/0/cause_detail/by", json!("z"), "transfers[0]: cause_detail.by: the run has no transfer `z`"),
            ("/transfers/0/bottleneck/to", json!("z"), "transfers[0]: `a` has the bottleneck `rc` → `z`"),
            ("/transfers/1/id", json!("a"), "transfers[1].id: a occurs twice"),
            ("/transfers/0/route", json!([6, 2, 99]), "transfers[0]: `a` has link 99 on its route"),
            (
                "/transfers/0/route",
                json!([2, 6, 1]),
                "transfers[0]: `a` has a route that goes from `gpu1` on over `sw`",
            ),
            ("/transfers/0/route", json!([6, 2]), "transfers[0]: `a` has a route that ends at `rc`, not at `cpu`"),
            ("/transfers/0/shares", json!([1.0]), "transfers[0]: `a` has `shares` that are no parts"),
            ("/links/2/busy_s", json!(1.0), "links[2]: `sw` → `rc` is busy for 1 s of "),
            ("/links/2/peak_Bps", json!(1e11), "links[2]: `sw` → `rc` has peak_Bps 100000000000 over"),
            ("/links/2/peak_Bps", json!(1e3), "links[2]: `sw` → `rc` carried 90000000 B"),
            ("/links/2/bytes", json!(89_999_990), "links[2]: `sw` → `rc` carried 89999990 B, and transfers"),
            ("/links/3/bandwidth_Bps", json!(0.0), "links[3]: `rc` → `sw`: it has no bandwidth_Bps above 0"),
            ("/links/3/direction", json!("left"), "links[3]: `rc` → `sw`: direction `left` is none of"),
            ("/links/3/id", json!(4), "links[4].id: 4 occurs twice"),
            ("/links/13/id", json!(14), "links[13]: `gpu3` → `gpu0`: its id is 14, not 13"),
            ("/nodes/2/name", json!("z"), "links[2]: `sw` → `rc`: the run has no node `sw`"),
            ("/nodes/2/kind", json!("cow"), "nodes[2]: `sw` is a `cow`"),
            ("/nodes/1/parent", json!(2), "nodes[1].parent: 2 is not an earlier node"),
            ("/phases/0/end_s", json!(0.002), "phases[1]: start_s 0.001 is before the end of the phase before it"),
            ("/phases/0/rates_Bps/z", json!(1.0), "phases[0]: the run has no transfer `z`"),
            ("/phases/0/rates_Bps/a", json!(-1.0), "phases[0]: `a` has rate -1"),
            ("/phases/0/rates_Bps/a", json!(1e11), "phases[0]: rates of "),
            ("/phases/0/rates_Bps/a", json!(4e9), "transfers[0]: `a` has 60000000 bytes, and `phases` send "),
            ("/explain", json!([]), "explain: 0 phases, but `phases` has "),
            ("/explain/0/end_s", json!(0.002), "explain[0]: its times are not those of the phase"),
            ("/explain/0/transfers/0/id", json!("e"), "explain[0]: `e` has no rate in this phase"),
        ],
    );
}

/// a goes over 1 link first, then over 2, 4 and so on: its shares are 1, ½ and ¼.
#[test]
fn parts_of_routes_are_parts() {
    let ran = Ran::new("spread", 0);
    let shares = full(&ran)["transfers"][0]["shares"].clone();
    let with = |first: f64| {
        let mut shares = shares.clone();
        shares[0] = json!(first);
        shares
    };
    let what = "transfers[0]: `a` has `shares` that are no parts";
    refused(
        &ran,
        &[
            ("/transfers/0/shares", with(0.0), what),
            ("/transfers/0/shares", with(1.5), what),
            ("/transfers/0/shares", with(1.001), what),
            ("/transfers/0/shares", json!([1.0]), what),
            ("/transfers/0/shares", with(0.5), "links["),
        ],
    );
}

/// Each of four routes carries whole bytes: over the first link, which carries all, 4 + 1 may be missing, and no more.
#[test]
fn bytes_of_several_routes_are_whole() {
    let result = full(&Ran::new("spread", 0));
    let first = result["transfers"][0]["route"][0].as_u64().expect("a link") as usize;
    let with = |more: u64| {
        let mut edited = result.clone();
        edited["links"][first]["bytes"] = json!(10_000_003 + more);
        read(&edited)
    };
    assert_eq!(with(4), Ok(()));
    let said = with(6).expect_err("too many");
    assert!(said.contains("carried 10000009 B, and transfers sent 10000003 B over it"), "{said}");
}

#[test]
fn jobs_and_spreads_that_contradict_themselves_are_named() {
    refused(
        &Ran::new("operations", 0),
        &[
            ("/jobs/0/slowdown", json!(1.0), "jobs[0]: `workload[5]` has slowdown 1, which its times contradict"),
            ("/jobs/0/alone_s", json!(null), "jobs[0]: `workload[5]` has slowdown 1.499"),
            ("/jobs/0/start_s", json!(1.0), "jobs[0]: `workload[5]` has end_s "),
            ("/operations/1/start_s", json!(1.0), "operations[1]: `k1` has end_s "),
        ],
    );
    refused(
        &Ran::new("many", 0).with_spread(),
        &[
            ("/spread/makespan_s/min", json!(1.0), "spread.makespan_s: min 1, median "),
            ("/spread/makespan_s/median", json!(1.0), "spread.makespan_s: min "),
            ("/spread/seeds", json!(0), "spread: jitter_s 0.004 and 0 seeds"),
            ("/transfers/0/end_spread_s/max", json!(0.0005), "transfers[0].end_spread_s: min "),
            ("/transfers/0/time_spread_s", json!(1.0), "a `time_spread_s` is longer than its latest end"),
            (
                "/transfers/0/end_spread_s/max",
                json!(1.0),
                "transfers[0].end_spread_s.max: 1 is after that of the makespan",
            ),
        ],
    );
}

/// Ranges of one value are in order; what served an engine may be no transfer; very large runs do not tell what blocked; and of
/// a run that stopped before anything had ended links were busy until then.
#[test]
fn what_contradicts_nothing_is_read() {
    let mut result = full(&Ran::new("many", 0).with_spread());
    let end = json!(0.06);
    result["spread"]["makespan_s"] = json!({ "min": end, "median": end, "max": end });
    for row in result["transfers"].as_array_mut().expect("a list") {
        row["end_spread_s"] = json!({ "min": 0.005, "median": 0.005, "max": 0.005 });
    }
    assert_eq!(read(&result), Ok(()));
    let mut result = full(&Ran::new("shared", 1));
    assert_eq!(result["transfers"][5]["cause_detail"]["kind"], "engine-busy");
    result["transfers"][5]["cause_detail"]["by"] = json!("k");
    result["transfers"][0]["delay"]["blocked_s"] = Value::Null;
    assert_eq!(read(&result), Ok(()));
    for name in ["shared", "packets"] {
        let result = full(&Ran::until(name, 0, SimTime(80_000_000)));
        assert_eq!((&result["makespan_ps"], &result["stopped_ps"]), (&json!(0), &json!(80_000_000)));
        assert_eq!(read(&result), Ok(()));
    }
}

/// Of more than 24 members the rest is compared by hashes.
#[test]
fn no_member_occurs_twice() {
    let members: Map<String, Value> = (0..30).map(|i| (format!("k{i}"), json!(i))).collect();
    let text = Value::Object(members).to_string();
    for twice in [0, 23, 24, 29] {
        let text = text.replacen('{', &format!("{{\"k{twice}\":0,"), 1);
        let said = Column::of_saved("saved.json", &text).err().map(|error| error.to_string());
        let expected = format!("saved.json:1: the key `k{twice}` occurs twice: save it again");
        assert_eq!(said, Some(expected));
    }
}
