//! Parameters of arbiters against their schema, and what `check` finds.

use crate::common::{bad, good, on_t2};
use weir_scenario::{ArbiterParameter, ArbiterValues, Severity, lint};

fn params(given: &str) -> String {
    on_t2(&format!("arbiter: {{ name: pcie-congestion, {given} }}\nworkload: []\n"))
}

#[test]
fn values_become_json() {
    let scenario =
        good(&params("tau: 0.2, hol: false, rounds: 3, mode: slow, burst: 4KiB, floor: 8Gb/s, quantum: 1.5us"));
    let json = serde_json::Value::Object(scenario.arbiters[0].params.clone());
    let expected = serde_json::json!({
        "tau": 0.2, "hol": false, "rounds": 3, "mode": "slow", "burst": 4096, "floor": 1e9, "quantum": 1_500_000
    });
    assert_eq!(json, expected);
    assert_eq!(good(&params("rounds: ~")).arbiters[0].params["rounds"], serde_json::Value::Null);
}

#[test]
fn an_arbiter_is_named_as_it_was_written() {
    let written = "quantum: 1.5us, tau: 0.2, rounds: ~, mode: slow";
    let expected = "{name: pcie-congestion, quantum: 1.5us, tau: 0.2, rounds: null, mode: slow}";
    let whole = &good(&params(written)).arbiters[0];
    assert_eq!(whole.text(), expected);
    let of_results = serde_json::json!({ "quantum": "1.5us", "tau": 0.2, "rounds": null, "mode": "slow" });
    assert_eq!(serde_json::Value::Object(whole.written.clone()), of_results);
    let map = format!("arbiter: {{ default: {{ name: pcie-congestion, {written} }}, pcie: max-min }}\nworkload: []\n");
    let arbiter = &good(&on_t2(&map)).arbiters[0];
    assert_eq!(arbiter.name, format!("{{default: {expected}, pcie: max-min}}"));
    assert_eq!(arbiter.written["default"]["quantum"], "1.5us");
}

/// What was fitted is written with the unit of its schema, whole where that is an integer, and reads as the same.
#[test]
fn other_values_are_written_with_their_units() {
    let values = [("tau", 0.3), ("rounds", 2.6), ("burst", 4096.4), ("floor", 1.5e9), ("quantum", 2_500_000.0)];
    let parameter =
        |key: &str, policy: Option<&str>| ArbiterParameter { policy: policy.map(str::to_owned), key: key.to_owned() };
    let of = |policy| -> ArbiterValues { values.iter().map(|&(key, value)| (parameter(key, policy), value)).collect() };
    let spec = &good(&params("hol: true, tau: 0.1")).arbiters[0];
    let text = "{name: pcie-congestion, hol: true, tau: 0.3, burst: 4096B, floor: 1500000000B/s, quantum: 2500000ps, rounds: 3}";
    assert_eq!(spec.with(&of(None)).text(), text);
    assert_eq!(spec.with(&of(Some("default"))).text(), spec.text(), "of a map");
    assert_eq!(spec.value_text(&parameter("quantum", None), 7.0).as_deref(), Some("7ps"));
    assert_eq!(spec.value_text(&parameter("quantum", Some("default")), 7.0), None);
    let again = good(&on_t2(&format!("arbiter: {text}\nworkload: []\n")));
    assert_eq!(again.arbiters[0].params["quantum"], spec.with(&of(None)).params["quantum"]);
    assert_eq!(parameter("tau", Some("my.kind")).to_string(), "\"my.kind\".tau");
}

#[test]
fn wrong_values_are_refused() {
    let refused = |given: &str, message: &str, help: &str| {
        let found = bad(params(given)).remove(0);
        let position = found.position.as_ref().unwrap();
        assert_eq!(position.line, 5, "{found}");
        assert!(found.message.contains(message), "{found}");
        assert!(found.help.as_ref().unwrap().contains(help), "{found}");
    };
    refused("tua: 0.1", "arbiter `pcie-congestion` has no parameter `tua`", "did you mean `tau`?");
    refused("tau: 0.5", "`tau` of arbiter `pcie-congestion`: `0.5` is out of range", "at least 0 and below 0.5");
    refused("tau: -0.1", "out of range", "at least 0 and below 0.5");
    refused("tau: \"0.1\"", "does not fit", "number");
    refused("tau: nan", "not a finite number", "finite");
    refused("tau: [0.1]", "cannot be a list", "number");
    refused("hol: no", "does not fit", "`true` or `false`");
    refused("rounds: 1.5", "not a whole number", "whole number");
    refused("rounds: 0", "out of range", "at least 1");
    refused("mode: slwo", "not one of the values", "did you mean `slow`?");
    refused("burst: 4096", "has no unit", "300MB");
    refused("quantum: 4KiB", "unknown unit", "ps ns us");
}

#[test]
fn lint_finds_what_has_no_effect() {
    let messages = |text: &str| {
        let scenario = good(text);
        let found = lint(&scenario);
        assert!(found.iter().all(|d| d.severity == Severity::Warning && d.help.is_some()));
        found.into_iter().map(|d| d.message).collect::<Vec<_>>()
    };
    let transfer = |rest: &str| format!("  - transfer: {{ id: a, from: gpu0, to: gpu1, size: 1B{rest} }}\n");
    let other = "  - transfer: { from: gpu0, to: gpu2, size: 1B }\n";
    assert!(messages(&on_t2(&format!("workload:\n{}{other}", transfer("")))).is_empty());
    assert_eq!(
        messages(&on_t2(&format!("ranks: gpu0\nworkload:\n{}{other}", transfer(", limit: 12GB/s")))),
        [
            "`ranks` has no effect: no pattern and no transfer uses it",
            "`limit` of `a` has no effect: a link of its route is no faster"
        ]
    );
    assert_eq!(
        messages(&on_t2(&format!("workload:\n{}", transfer(", weight: 2, priority: 4")))),
        ["`weight` has no effect: every transfer has 2", "`priority` has no effect: every transfer has 4"]
    );
    let apart = "  - transfer: { from: gpu4, to: gpu5, size: 1B }\n";
    assert_eq!(
        messages(&on_t2(&format!("workload:\n{}{apart}", transfer("")))),
        ["no two transfers share a link or an engine"]
    );
    let spare = "weir: 1\ntopology:\n  link_types: { used: { bandwidth: 1GB/s }, spare: { bandwidth: 1GB/s } }\n  tree: { s: { kind: switch, children: { a: { kind: gpu, link: used, engines: 2 }, b: { kind: gpu, link: used } } } }\nworkload:\n  - transfer: { from: b, to: a, size: 1B }\n";
    assert_eq!(
        messages(spare),
        ["no link has the type `spare`", "`engines` has no effect: nothing queues for an engine of `a`"]
    );
}
