//! Packing, bins and groups against slow and obvious twins; what saved lines are taken for.

mod searches;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::PageError;
use super::aggregate::WholeRun;
use super::groups::Grouping;
use super::pack::Packed;
use super::phases::{Active, Moment, MomentListener, PhaseSource, Why};
use super::{Counts, Page};
use crate::json::{LinkRow, NodeRow, TransferRow};

const STEPS: [&str; 2] = ["A", "D (8)"];

/// A source that is known beforehand.
#[derive(Debug)]
struct Known(Vec<Moment<'static>>);

impl PhaseSource for Known {
    fn each(&self, _: bool, listener: &mut MomentListener<'_>) -> Result<(), PageError> {
        for moment in &self.0 {
            if !listener(moment)? {
                break;
            }
        }
        Ok(())
    }
}

/// Of three transfers: rate and why of each active one.
fn active() -> impl Strategy<Value = Vec<Active<'static>>> {
    let why = (0..2_usize, proptest::option::of(0..4_u32), proptest::collection::vec(0..3_u32, 0..3));
    let one = (proptest::option::of((0..4_u8, proptest::option::of(why))), 0..3_u32);
    proptest::collection::vec(one, 3).prop_map(|states| {
        let some = states.into_iter().enumerate().filter_map(|(i, (state, _))| Some((i, state?)));
        some.map(|(i, (rate, why))| Active {
            transfer: i as u32,
            rate: f64::from(rate) * 1.1,
            why: why.map(|(step, link, because)| Why { step: STEPS[step], link, because }),
        })
        .collect()
    })
}

/// Phases in the order of time, some with a pause before.
fn source() -> impl Strategy<Value = Known> {
    proptest::collection::vec((0..2_u32, 1..5_u32, active()), 0..12).prop_map(|phases| {
        let mut now = 0.0;
        let moments = phases.into_iter().map(|(pause, span, active)| {
            let start_s = now + f64::from(pause) * 0.1;
            now = start_s + f64::from(span) * 0.1;
            Moment { start_s, end_s: now, active }
        });
        Known(moments.collect())
    })
}

/// What packed spans say of a transfer in an interval: rate, link, step, and those responsible with the transfer itself.
fn unpacked(packed: &Value, transfer: usize, start: f64, end: f64) -> Option<(f64, i64, Value, Value)> {
    let spans: Vec<i64> = serde_json::from_value(packed["spans"][transfer].clone()).expect("numbers");
    assert_eq!(spans.len() % 5, 0);
    let mut found = spans.chunks(5).filter(|span| {
        let at = |i: i64| packed["times_s"][i as usize].as_f64().expect("a time");
        at(span[0]) <= start && end <= at(span[1])
    });
    let span = found.next()?;
    assert!(found.next().is_none(), "spans overlap");
    let reason = if span[4] < 0 { Value::Null } else { packed["reasons"][span[4] as usize].clone() };
    let rate = packed["rates_Bps"][span[2] as usize].as_f64().expect("a rate");
    Some((rate, span[3], reason[0].clone(), reason[1].clone()))
}

fn together(active: &Active<'_>) -> (f64, i64, Value, Value) {
    let Some(why) = &active.why else { return (active.rate, -1, Value::Null, Value::Null) };
    let mut because = why.because.clone();
    if !because.is_empty() {
        because.push(active.transfer);
    }
    because.sort_unstable();
    because.dedup();
    (active.rate, why.link.map_or(-1, i64::from), json!(why.step), json!(because))
}

proptest! {
    #[test]
    fn packed_phases_say_what_phases_say(source in source()) {
        let packed = Packed::new(&source, 3, usize::MAX).expect("in order").expect("fits");
        let packed = serde_json::to_value(&packed).expect("writes");
        let times: Vec<f64> = serde_json::from_value(packed["times_s"].clone()).expect("numbers");
        prop_assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        for moment in &source.0 {
            for transfer in 0..3 {
                let said = moment.active.iter().find(|active| active.transfer == transfer).map(together);
                let read = unpacked(&packed, transfer as usize, moment.start_s, moment.end_s);
                prop_assert_eq!(read, said);
            }
        }
        // Neighbours that say the same are one span.
        for spans in packed["spans"].as_array().expect("a list") {
            let spans: Vec<i64> = serde_json::from_value(spans.clone()).expect("numbers");
            let spans: Vec<&[i64]> = spans.chunks(5).collect();
            prop_assert!(spans.windows(2).all(|pair| pair[0][1] < pair[1][0] || pair[0][2..] != pair[1][2..]));
        }
    }

    #[test]
    fn bins_of_phases_hold_all_bytes(source in source(), hosts in 1..3_usize) {
        let (list, links) = (rows(&[(0, 7), (1, 7), (2, 7)], hosts), links());
        let (list, links) = (parsed(&list), read_links(&links));
        let end_s = source.0.last().map_or(1.0, |moment| moment.end_s);
        let whole = WholeRun { transfers: &list, links: &links, nodes: &[], end_s, load_bin_s: None };
        let value = serde_json::to_value(whole.aggregated(Some(&source)).expect("in order").0).expect("writes");
        prop_assert_eq!(&value["rates"], "phases");
        let width = (value["to_s"].as_f64().expect("s") - value["from_s"].as_f64().expect("s")) / 250.0;
        let sent: f64 = source.0.iter().flat_map(|m| m.active.iter().map(|a| a.rate * (m.end_s - m.start_s))).sum();
        let busy: f64 = source.0.iter().map(|m| m.active.len() as f64 * (m.end_s - m.start_s)).sum();
        // Four digits of each bin are written.
        let (rate, active) = (summed(&value, "rate_Bps") * width, summed(&value, "active") * width);
        prop_assert!((rate - sent).abs() <= 6e-4 * sent, "{rate} of {sent}");
        prop_assert!((active - busy).abs() <= 6e-4 * busy, "{active} of {busy}");
        // Every transfer takes link 0, whose bandwidth is 100; a thousandth is rounded by a half at most.
        let load: f64 = value["links"][0]["permille"].as_array().into_iter().flatten().filter_map(Value::as_f64).sum();
        prop_assert!((load / 1000.0 * 100.0 * width - sent).abs() <= 250.0 * 0.0005 * 100.0 * width + 1e-9);
    }
}

fn summed(value: &Value, key: &str) -> f64 {
    let groups = value["groups"].as_array().expect("a list").iter();
    groups.flat_map(|group| group[key].as_array().expect("a list")).map(|v| v.as_f64().expect("a number")).sum()
}

/// Rows of transfers that are ready at 0, start at a second and take as long as another says, at 10 B/s, from `hosts`.
fn rows(times: &[(u32, u32)], hosts: usize) -> String {
    let row = |(i, &(start, span)): (usize, &(u32, u32))| {
        json!({"id": format!("t{i}"), "from": format!("h{}", i % hosts), "to": "x", "bytes": span * 10, "ready_s": 0.0,
            "start_s": start, "end_s": start + span, "mean_Bps": 10.0, "alone_s": null, "route": [0]})
    };
    json!(times.iter().enumerate().map(row).collect::<Vec<_>>()).to_string()
}

fn links() -> String {
    json!([{"id": 0, "from": "h0", "to": "x", "bytes": 0, "busy_s": 0.0, "bandwidth_Bps": 100.0}]).to_string()
}

fn parsed(list: &str) -> Vec<TransferRow<'_>> {
    serde_json::from_str(list).expect("rows")
}

fn read_links(list: &str) -> Vec<LinkRow<'_>> {
    serde_json::from_str(list).expect("rows")
}

#[test]
fn without_phases_transfers_count_with_their_mean_rates() {
    let (list, links) = (rows(&[(0, 4), (1, 1), (3, 1)], 2), links());
    let (list, links) = (parsed(&list), read_links(&links));
    let whole = WholeRun { transfers: &list, links: &links, nodes: &[], end_s: 4.0, load_bin_s: None };
    let (aggregated, kept) = whole.aggregated(None).expect("nothing is damaged");
    let value = serde_json::to_value(&aggregated).expect("writes");
    assert_eq!((&value["rates"], &value["bins"], &value["by"]), (&"means".into(), &250.into(), &"source".into()));
    assert_eq!((&value["transfers"], &value["kept"], kept.len()), (&3.into(), &"the 3 longest".into(), 3));
    // 16 ms each: in bin 0 one transfer of 10 B/s, in bin 100 (1.6 s) two, each a tenth of the link.
    let load = &value["links"][0]["permille"];
    assert_eq!((&load[0], &load[100], &load[200]), (&100.into(), &200.into(), &200.into()));
    // Bin 187 is [2.992 s, 3.008 s): half of it with the third.
    assert_eq!(load[187], 150);
    let h0 = &value["groups"][0];
    assert_eq!((&h0["name"], &h0["count"], &h0["bytes"]), (&"h0".into(), &2.into(), &50.into()));
    assert_eq!((&h0["active"][10], &h0["active"][249]), (&1.into(), &2.into()));
    // The third waits from 0 to 3 s.
    assert_eq!((&h0["waiting"][10], &h0["waiting"][187], &h0["waiting"][188]), (&1.into(), &0.5.into(), &0.into()));
    assert_eq!((&h0["start_s"], &h0["end_s"]), (&0.0.into(), &4.0.into()));
}

/// Packets say what links carried: 30 B/s for 2 s, then 120 B/s, of which the bandwidth of 100 B/s is the most.
#[test]
fn loads_of_packets_stand_for_mean_rates_on_links() {
    let (list, mut links) =
        (rows(&[(0, 4), (1, 1), (3, 1)], 2), serde_json::from_str::<Value>(&links()).expect("rows"));
    links[0]["load_Bps"] = json!([30, 120]);
    let (list, links) = (parsed(&list), links.to_string());
    let links = read_links(&links);
    let whole = WholeRun { transfers: &list, links: &links, nodes: &[], end_s: 4.0, load_bin_s: Some(2.0) };
    let value = serde_json::to_value(whole.aggregated(None).expect("nothing is damaged").0).expect("writes");
    let load = &value["links"][0]["permille"];
    assert_eq!([0, 124, 125, 249].map(|bin| load[bin].as_u64()), [300, 300, 1000, 1000].map(Some));
    assert_eq!(value["links"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_longest_are_kept_in_their_order() {
    let times: Vec<(u32, u32)> = (0..1500).map(|i| (0, 1 + (i * 7) % 1500)).collect();
    let list = rows(&times, 1);
    let list = parsed(&list);
    let whole = WholeRun { transfers: &list, links: &[], nodes: &[], end_s: 1500.0, load_bin_s: None };
    let (_, kept) = whole.aggregated(None).expect("nothing is damaged");
    let spans: Vec<u64> = kept.iter().map(|&place| list[place].end_s.expect("a time") as u64).collect();
    assert_eq!(spans.len(), 1000);
    let expected: Vec<u64> = times.iter().map(|time| u64::from(time.1)).filter(|&span| span > 500).collect();
    assert_eq!(spans, expected);
}

/// Who has not started counts as nothing, who has not ended until the end of the run; long rows leave room for fewer.
#[test]
fn what_is_kept_counts_unfinished_transfers_as_far_as_they_came() {
    let mut list: Vec<Value> = serde_json::from_str(&rows(&[(0, 1); 1002], 1)).expect("rows");
    (list[0]["start_s"], list[0]["end_s"]) = (Value::Null, Value::Null);
    (list[1]["start_s"], list[1]["end_s"]) = (9.5.into(), Value::Null);
    let kept = |list: &[Value]| {
        let list = json!(list).to_string();
        let list = parsed(&list);
        let whole = WholeRun { transfers: &list, links: &[], nodes: &[], end_s: 10.0, load_bin_s: None };
        whole.aggregated(None).expect("nothing is damaged").1
    };
    assert_eq!(kept(&list), (2..1002).collect::<Vec<_>>());
    list[1]["start_s"] = 8.5.into();
    assert_eq!(kept(&list), (1..1001).collect::<Vec<_>>());

    list.truncate(400);
    list.iter_mut().for_each(|row| row["id"] = "x".repeat(1000).into());
    let kept = kept(&list).len();
    assert!((200..250).contains(&kept), "{kept} of more than 1000 B each in 250,000");
}

/// Each transfer takes link 0 and one of its own, the first one with a quarter of its bytes. The link that carried least of
/// 201 is left out.
#[test]
fn links_that_carried_most_have_loads_by_the_part_they_carry() {
    let mut list: Vec<Value> = serde_json::from_str(&rows(&[(0, 4); 200], 1)).expect("rows");
    for (i, row) in list.iter_mut().enumerate() {
        row["route"] = json!([0, i + 1]);
        let rate = if i == 7 { 9 } else { 40 };
        (row["mean_Bps"], row["bytes"]) = (f64::from(rate).into(), (4 * rate).into());
    }
    list[0]["shares"] = json!([1.0, 0.25]);
    let links: Vec<Value> = (0..201)
        .map(|id| json!({"id": id, "from": "h0", "to": "x", "bytes": 0, "busy_s": 0.0, "bandwidth_Bps": 100.0}))
        .collect();
    let (list, links) = (json!(list).to_string(), json!(links).to_string());
    let (list, links) = (parsed(&list), read_links(&links));
    let whole = WholeRun { transfers: &list, links: &links, nodes: &[], end_s: 4.0, load_bin_s: None };
    let value = serde_json::to_value(whole.aggregated(None).expect("nothing is damaged").0).expect("writes");
    let loads = value["links"].as_array().expect("a list");
    let ids: Vec<u64> = loads.iter().filter_map(|link| link["id"].as_u64()).collect();
    assert_eq!(ids, (0..201).filter(|&id| id != 8).collect::<Vec<_>>());
    let load = |at: usize| loads[at]["permille"][9].as_u64();
    assert_eq!([load(0), load(1), load(2)], [Some(199 * 400 + 90), Some(100), Some(400)]);
}

#[test]
fn nothing_that_happened_is_no_trouble() {
    for ready in ["null", "0.0"] {
        let list = format!(
            r#"[{{"id":"a","from":"h","to":"x","bytes":5,"ready_s":{ready},"start_s":null,"end_s":null,"mean_Bps":null,"alone_s":null,"sent_bytes":0}}]"#
        );
        let list = parsed(&list);
        let whole = WholeRun { transfers: &list, links: &[], nodes: &[], end_s: 0.0, load_bin_s: None };
        let value = serde_json::to_value(whole.aggregated(None).expect("nothing is damaged").0).expect("writes");
        assert!(value["to_s"].as_f64() > value["from_s"].as_f64(), "{ready}");
        assert_eq!((&value["groups"][0]["count"], &value["groups"][0]["rate_Bps"][0]), (&1.into(), &0.into()));
    }
}

/// Who has begun, went another way and has sent nothing by either is not counted as sending.
#[test]
fn who_sent_nothing_was_not_active() {
    let list = r#"[{"id":"a","from":"h","to":"x","bytes":5,"ready_s":0.0,"start_s":0.0,"end_s":null,"mean_Bps":0.0,"alone_s":null,"sent_bytes":0,"route":[0],
        "reroutes":[{"at_s":1.0,"at_ps":1000000000000,"down":{"from":"h","to":"x"},"sent_bytes":0,"links":[],"route":[0]}]}]"#;
    let (list, links) = (parsed(list), links());
    let links = read_links(&links);
    let whole = WholeRun { transfers: &list, links: &links, nodes: &[], end_s: 2.0, load_bin_s: None };
    let value = serde_json::to_value(whole.aggregated(None).expect("nothing is damaged").0).expect("writes");
    assert_eq!((summed(&value, "active"), summed(&value, "rate_Bps"), &value["links"]), (0.0, 0.0, &json!([])));
}

#[test]
fn many_sources_are_grouped_by_what_is_above_them() {
    // Six hosts below three switches below one root.
    let node = |(id, &(name, parent)): (u32, &(&'static str, Option<u32>))| NodeRow {
        id,
        name: name.into(),
        kind: "switch".into(),
        parent,
    };
    let names = [
        ("s0", Some(9)),
        ("s1", Some(9)),
        ("s2", Some(9)),
        ("h0", Some(0)),
        ("h1", Some(1)),
        ("h2", Some(2)),
        ("h3", Some(0)),
        ("h4", Some(1)),
        ("h5", Some(2)),
        ("root", None),
    ];
    let nodes: Vec<NodeRow<'_>> = (0..).zip(&names).map(node).collect();
    let list = rows(&[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6)], 6);
    let list = parsed(&list);
    let grouped = |nodes, most| {
        let Grouping { by, names, of } = Grouping::new(&list, nodes, most);
        (by, names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), of)
    };
    assert_eq!(grouped(&nodes, 6), ("source".into(), "h0 h1 h2 h3 h4 h5".into(), vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(grouped(&nodes, 5), ("the node above their source".into(), "s0 s1 s2".into(), vec![0, 1, 2, 0, 1, 2]));
    assert_eq!(grouped(&nodes, 2), ("the node 2 levels above their source".into(), "root".into(), vec![0; 6]));
    // Without nodes the two with most bytes stay.
    assert_eq!(grouped(&[], 3), ("source".into(), "h4 h5 4 others".into(), vec![2, 2, 2, 2, 0, 1]));
}

#[test]
fn packing_stops_where_it_would_be_too_large() {
    let active = |rate| vec![Active { transfer: 0, rate, why: None }];
    let moment = |i: i32| Moment { start_s: f64::from(i), end_s: f64::from(i + 1), active: active(f64::from(i)) };
    let source = Known((0..100).map(moment).collect());
    assert!(Packed::new(&source, 1, 1000).expect("in order").is_some());
    assert!(Packed::new(&source, 1, 999).expect("in order").is_none());
    let source = Known([1, 0].map(moment).into());
    assert_eq!(
        Packed::new(&source, 1, 1000).err().map(|e| e.to_string()).as_deref(),
        Some("its phases are not in the order of time")
    );
}

#[test]
fn lines_that_a_page_does_not_show_are_named() {
    let cases = [
        (r#"{"weir":1,"kind":"explanation","phases":[]}"#, "this is a result of `weir explain`"),
        (r#"{"weir_part":1,"subject":{}}"#, "this is a part of a search"),
        (
            r#"{"weir":1,"kind":"sweep","vary":"order","axes":[]}"#,
            "missing field `version`: this is not what `weir optimize",
        ),
        (r#"{"id":"a","from":"g","bytes":1,"alone_s":null}"#, "this is a transfer that `weir run --stream` wrote"),
        (r#"{"weir":1,"kind":"calibration","mean_error_fitted":0}"#, "this is a result of `weir calibrate`"),
        (r#"{"weir":1,"fingerprint":"0"}"#, "this is not a result of weir as this version writes it"),
        (r#"{"weir":1,"kind":"plugin-list","arbiters":[]}"#, "this is a list of plugins"),
        (r#"{"weir":2,"kind":"search"}"#, "weir: this version of weir reads results of format 1, not 2: save it again"),
        (
            r#"{"weir":1,"kind":"run","makespan_s":-1}"#,
            "makespan_s: -1 is below 0: this is not what `weir run --json` writes",
        ),
        (r#"{"weir":1,"kind":"riddle"}"#, "this is not a result of weir as this version writes it"),
        (
            r#"{"weir":1,"kind":"run","version":"0","scenario":"s"}"#,
            "missing field `file`: this is not what `weir run --json`",
        ),
    ];
    for (text, message) in cases {
        let error = Page::default().add_value(text).expect_err(text).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let mut page = Page::default();
    page.add_value(r#"{"weir":1,"kind":"comparison","results":[],"ratios":{}}"#).expect("a comparison");
    let tuned = r#"{"weir":1,"kind":"tuning","version":"0","scenario":"s","file":"f","input_sha256":"0","arbiter":{"name":"a","params":{}},"operations":[{"id":"p","sizes":[]}]}"#;
    page.add_value(tuned).expect("a tuned scenario");
    assert_eq!((page.counts(), page.tuned[0].get()), (Counts { tuned: 1, ..Counts::default() }, tuned));
}

#[test]
fn scenarios_are_not_saved_results() {
    for scenario in [
        "weir: 1\n",
        r#"{"weir":1,"name":"x","tree":{},"workload":[]}"#,
        "{weir: 1}",
        "{\"weir\": 1, \"name\": x}",
        r#"{"weir":1"#,
        "",
    ] {
        assert!(!crate::kind::is_saved(scenario), "{scenario}");
    }
    let cut = [r#"{"weir":1,"kind":"run","vers"#, "{\n  \"weir\": 1,\n  \"kind\": \"search\",\n", r#"{"weir":1,"ki"#];
    for saved in [r#"{"weir":1,"fingerprint":"0"}"#, " \n{}"].into_iter().chain(cut) {
        assert!(crate::kind::is_saved(saved), "{saved}");
    }
}

#[test]
fn a_wrong_line_is_told_by_its_number_and_adds_nothing() {
    let search = r#"{"weir":1,"kind":"search","version":"0","scenario":"s","file":"f","input_sha256":"0000000000000000000000000000000000000000000000000000000000000000","arbiter":{"name":"a","version":"0","params":{}},"vary":"order","method":"exhaustive","candidates":340282366920938463463374607431768211455,"evaluated":1,"complete":true,"proved_optimal":true,"objective":"makespan","baseline_s":1.0,"baseline_ps":1000000000000,"best_s":1.0,"best_ps":1000000000000,"solution":{"order":{}}}"#;
    let mut page = Page::default();
    page.add_saved("x.json", &format!("\n{search}\n{search}\n\n")).expect("two results");
    assert_eq!(page.counts(), Counts { searches: 2, ..Counts::default() });
    let error = page.add_saved("x.json", &format!("{search}\n\n\n{{\"weir\":2}}\n")).expect_err("no kind").to_string();
    assert!(error.starts_with("x.json:4: this is not a result of weir as this version writes it"), "{error}");
    let error = page.add_saved("x.json", &format!("{search}\n{}", &search[..50])).expect_err("cut off").to_string();
    assert!(error.starts_with("x.json:2: its JSON is incomplete"), "{error}");
    let negative = search.replace("\"best_s\":1.0", "\"best_s\":-1.0");
    let error = page.add_saved("x.json", &negative).expect_err("below 0").to_string();
    assert!(error.starts_with("x.json:1: best_s: -1 is below 0: this is not what `weir optimize --json`"), "{error}");
    assert_eq!(page.counts().searches, 2);
    let mut out = Vec::new();
    page.write(&mut out).expect("memory takes it");
    // Numbers beyond what a double holds keep their digits.
    assert!(String::from_utf8(out).expect("UTF-8").contains(&format!("\"searches\":[{search},{search}]")));
}
