//! Runs that a page holds in less space: phases packed into spans, many transfers added up.

use std::collections::BTreeMap;

use super::{full, page, page_of};
use crate::common::search::Folder;
use crate::common::{run, scenario};
use serde_json::Value;

/// Of a result: per transfer what each phase says, as (begin, end, rate, deciding link, step, those responsible).
type Said = BTreeMap<String, Vec<(f64, f64, f64, Value, Value, Vec<String>)>>;

/// From `phases` and `explain`.
fn said(result: &Value) -> Said {
    let mut said = Said::new();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    for (phase, explained) in list(&result["phases"]).iter().zip(list(&result["explain"])) {
        let (start, end) = (phase["start_s"].as_f64().expect("s"), phase["end_s"].as_f64().expect("s"));
        for transfer in list(&explained["transfers"]) {
            let id = transfer["id"].as_str().expect("an id");
            let steps = list(&transfer["steps"]);
            let step = steps.iter().rfind(|step| !step["link"].is_null()).or(steps.last());
            let (link, name) = step.map_or((Value::Null, Value::Null), |s| (s["link"].clone(), s["step"].clone()));
            let mut because: Vec<String> =
                step.map_or(Vec::new(), |s| serde_json::from_value(s["because"].clone()).expect("ids"));
            because.retain(|other| other != id);
            because.sort_unstable();
            let rate = phase["rates_Bps"][id].as_f64().expect("a rate");
            said.entry(id.to_owned()).or_default().push((start, end, rate, link, name, because));
        }
    }
    said
}

/// From `packed`, cut where the phases begin.
fn unpacked(run: &Value, phases: &Value) -> Said {
    let packed = &run["packed"];
    let number = |key: &str, i: i64| packed[key][i as usize].as_f64().expect("a number");
    let transfers = run["transfers"].as_array().expect("a list");
    let id = |i: usize| transfers[i]["id"].as_str().expect("an id").to_owned();
    let mut said = Said::new();
    for (i, spans) in packed["spans"].as_array().expect("a list").iter().enumerate() {
        let spans: Vec<i64> = serde_json::from_value(spans.clone()).expect("numbers");
        for span in spans.chunks(5) {
            let link = run["links"].as_array().expect("a list").iter().find(|link| link["id"] == span[3]);
            let link = link.map_or(Value::Null, |l| serde_json::json!({"from": l["from"], "to": l["to"]}));
            let reason = if span[4] < 0 { &Value::Null } else { &packed["reasons"][span[4] as usize] };
            let because: Vec<usize> = serde_json::from_value(reason[1].clone()).unwrap_or_default();
            let mut because: Vec<String> = because.into_iter().filter(|&other| other != i).map(id).collect();
            because.sort_unstable();
            let (start, end) = (number("times_s", span[0]), number("times_s", span[1]));
            for phase in phases.as_array().expect("a list") {
                let (from, to) = (phase["start_s"].as_f64().expect("s"), phase["end_s"].as_f64().expect("s"));
                if from >= start && to <= end {
                    let rate = number("rates_Bps", span[2]);
                    said.entry(id(i)).or_default().push((
                        from,
                        to,
                        rate,
                        link.clone(),
                        reason[0].clone(),
                        because.clone(),
                    ));
                }
            }
        }
    }
    said
}

#[test]
fn packed_runs_say_what_their_phases_say_and_saved_results_pack_to_the_same() {
    let folder = Folder::new();
    for file in ["mapping/helios-stencil.yaml", "offload/eight-gpus-t2.yaml"] {
        let file = scenario(file);
        let mut page = page(&folder, &[&file]);
        let packed = page["runs"][0].take();
        let result = full(&[&file]).remove(0);
        assert_eq!(unpacked(&packed, &result["phases"]), said(&result), "{file}");
        for (key, value) in result.as_object().expect("an object") {
            let absent = matches!(&**key, "phases" | "explain");
            assert_eq!(packed.get(key), Some(value).filter(|_| !absent), "{file}: {key}");
        }
        folder.write("saved.json", &result.to_string());
        let saved = page_of(&folder, "saved.json")["runs"][0].take();
        assert_eq!(with_added(saved, &packed), packed, "{file}");
    }
}

/// A saved run with what only pages of scenarios have.
fn with_added(mut saved: Value, of: &Value) -> Value {
    let run = saved.as_object_mut().expect("an object");
    for key in ["plans", "widening"] {
        if let Some(added) = of.get(key) {
            run.insert(key.into(), added.clone());
        }
    }
    saved
}

/// 2,100 transfers on a board, some at once.
const MANY: &str = "\
weir: 1
name: many
topology:
  link_types: { x: { bandwidth: 10GB/s }, y: { bandwidth: 20GB/s } }
  tree:
    root:
      kind: switch
      children: { \"s[0-3]\": { kind: switch, link: y, children: { \"h[0-3]\": { kind: host, link: x } } } }
ranks: [\"s[0-3]/h[0-3]\"]
arbiter: max-min
workload:
  - pattern: { kind: random, id: load, count: 2100, seed: 7, size: [100kB, 10MB], within: 250ms }
";

#[test]
fn many_transfers_are_aggregated_and_their_bytes_are_all_there() {
    let folder = Folder::new();
    let file = folder.write("many.yaml", MANY);
    let ended = run(&["run", &file, "--full", "--json", "--output", &folder.path("full.json")]);
    assert_eq!(ended.code, 0);
    let result: Value = serde_json::from_str(&folder.read("full.json")).expect("JSON");
    let page_of_run = page(&folder, &[&file]);
    assert!(folder.read("page.html").len() < 1_000_000);
    let aggregated = &page_of_run["runs"][0]["aggregated"];
    assert_eq!((&aggregated["transfers"], &aggregated["rates"]), (&2100.into(), &"phases".into()));
    sums_are_right(aggregated, &result);
    let kept = page_of_run["runs"][0]["transfers"].as_array().expect("a list");
    let transfers = result["transfers"].as_array().expect("a list");
    assert!(!kept.is_empty() && kept.iter().all(|row| transfers.contains(row)));
    let saved = page_of(&folder, "full.json")["runs"][0].take();
    assert_eq!(with_added(saved, &page_of_run["runs"][0]), page_of_run["runs"][0]);
    // Without phases and routes: means, and no loads of links.
    run(&["run", &file, "--json", "--output", &folder.path("plain.json")]);
    let plain = page_of(&folder, "plain.json");
    let means = &plain["runs"][0]["aggregated"];
    assert_eq!((&means["rates"], &means["links"]), (&"means".into(), &Value::Array(Vec::new())));
}

fn sums_are_right(aggregated: &Value, result: &Value) {
    let float = |value: &Value| value.as_f64().expect("a number");
    let width = (float(&aggregated["to_s"]) - float(&aggregated["from_s"])) / float(&aggregated["bins"]);
    let total = |list: &Value| list.as_array().expect("a list").iter().map(float).sum::<f64>() * width;
    let links = result["links"].as_array().expect("a list");
    let used = aggregated["links"].as_array().expect("a list");
    assert_eq!(used.len(), links.iter().filter(|link| link["bytes"] != 0).count());
    for load in used {
        let link = links.iter().find(|link| link["id"] == load["id"]).expect("is a link");
        let bandwidth = float(&link["bandwidth_Bps"]);
        let (bytes, error) = (total(&load["permille"]) / 1000.0 * bandwidth, 250.0 * 0.0005 * bandwidth * width);
        assert!((bytes - float(&link["bytes"])).abs() <= error, "{link}: {bytes}");
    }
    for group in aggregated["groups"].as_array().expect("a list") {
        let own = result["transfers"].as_array().expect("a list").iter().filter(|row| row["from"] == group["name"]);
        let bytes: f64 = own.clone().map(|row| float(&row["bytes"])).sum();
        assert_eq!((float(&group["count"]), float(&group["bytes"])), (own.count() as f64, bytes));
        // Four digits of each bin are written.
        assert!((total(&group["rate_Bps"]) - bytes).abs() <= 6e-4 * bytes, "{}", group["name"]);
    }
}
