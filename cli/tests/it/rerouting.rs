//! Other routes where a link fails: ends worked out by hand, what results say of them, and searches over them.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{self, json_lines, scenario, weir};
use crate::events::run_in;

const US: u64 = 1_000_000;

fn run_of(file: &str, arguments: &[&str]) -> Value {
    let ended =
        common::ended(weir().args(["run", &scenario(file), "--json"]).args(arguments).output().expect("it starts"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    json_lines(&ended.stdout).remove(0)
}

fn ends_ps(result: &Value) -> Vec<u64> {
    let transfers = result["transfers"].as_array().expect("a list");
    transfers.iter().map(|transfer| transfer["end_ps"].as_u64().expect("it ends")).collect()
}

/// The ends that the scenarios derive by hand; what is saved holds together when it is read back.
#[test]
fn a_rerouted_transfer_says_when_and_over_which_links() {
    let result = run_of("events/uplink-down-reroute.yaml", &[]);
    assert_eq!(ends_ps(&result), [16_000 * US, 16_000 * US, 12_000 * US]);
    let reroutes = result["transfers"][0]["reroutes"].as_array().expect("a list");
    let [reroute] = &reroutes[..] else { panic!("{result}") };
    assert_eq!((&reroute["at_ps"], &reroute["sent_bytes"]), (&(4000 * US).into(), &50_000_000.into()));
    assert_eq!(reroute["down"], serde_json::json!({ "from": "leaf0", "to": "spine0" }));
    let links = reroute["links"].as_array().expect("a list");
    let nodes: Vec<_> = links.iter().map(|link| link["to"].as_str().expect("a name")).collect();
    assert_eq!(nodes, ["leaf0", "spine1", "leaf1", "h3"]);
    assert!(result["transfers"][1]["reroutes"].is_null() && result["transfers"][2]["reroutes"].is_null(), "{result}");

    let folder = TempDir::new().expect("a folder");
    let saved = folder.path().join("saved.json");
    for (file, full) in [("events/uplink-down-reroute.yaml", "--full"), ("events/server-bridge-down.yaml", "--phases")]
    {
        let result = run_of(file, &[full]);
        std::fs::write(&saved, result.to_string()).expect("written");
        let saved = saved.to_str().expect("a path");
        let ended = common::ended(weir().args(["compare", saved, saved]).output().expect("it starts"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
}

#[test]
fn without_another_route_the_cause_says_so() {
    let result = run_of("events/server-bridge-down.yaml", &[]);
    assert_eq!(ends_ps(&result), [8004 * US; 2]);
    let transfer = |at: usize| &result["transfers"][at];
    assert_eq!(transfer(1)["cause"], "link down, no other route");
    assert_eq!(transfer(1)["cause_detail"]["kind"], "no-other-route");
    assert_eq!(transfer(0)["reroutes"][0]["sent_bytes"], 40_000_000);
}

/// Two ways between two hosts, 10 GB/s each, and one of three goes down at 2 ms.
fn ways(on_failure: &str, transfer: &str) -> Value {
    let text = format!(
        "weir: 1
topology:
  link_types: {{ ib: {{ bandwidth: 10GB/s, kind: network }} }}
  tree: {{ h0: {{ kind: host }}, h1: {{ kind: host }}, 's[0-2]': {{ kind: network }} }}
  links:
    - {{ between: [h0, 's[0-2]'], type: ib }}
    - {{ between: [h1, 's[0-2]'], type: ib }}
arbiter: max-min
on_failure: {on_failure}
workload:
  - transfer: {{ id: a, from: h0, to: h1, {transfer} }}
events:
  - {{ at: 2ms, link: [h0, s0], bandwidth: down }}
"
    );
    let ended = run_in(&TempDir::new().expect("a folder"), &text, &["run", "s.yaml", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    json_lines(&ended.stdout).remove(0)["transfers"][0].clone()
}

/// 20 MB of 60 were sent in vain over h0 → s0, then all go another way at once: it has not waited for one.
#[test]
fn what_is_sent_in_vain_before_another_route_is_no_lack_of_one() {
    let transfer = ways("[reroute, restart]", "size: 60MB");
    assert_eq!(transfer["end_ps"], 8000 * US);
    assert_eq!((&transfer["cause"], &transfer["bottleneck"]["to"]), (&"link down".into(), &"s0".into()), "{transfer}");
    assert_eq!(transfer["cause_detail"]["kind"], "link-down");
}

/// Of 30 GB/s over three ways 20 are left for 140 of 200 MB: 2 ms + 7 ms, not 6.67 ms, and the link that failed is named.
#[test]
fn the_failure_is_named_where_fewer_ways_are_left() {
    let transfer = ways("reroute", "size: 200MB, routing: spread");
    assert_eq!(transfer["end_ps"], 9000 * US);
    assert_eq!((&transfer["cause"], &transfer["bottleneck"]["to"]), (&"link down".into(), &"s0".into()), "{transfer}");
    // Another way of the same bandwidth loses nothing.
    let transfer = ways("reroute", "size: 60MB");
    assert_eq!((&transfer["end_ps"], &transfer["cause_detail"]["kind"]), (&(6000 * US).into(), &"full-rate".into()));
}

/// Random failures under a leaf with two uplinks: the same on any number of threads, and rerouting never loses to waiting
/// where each transfer is alone.
#[test]
fn seeds_are_swept_over_other_routes() {
    let text = "weir: 1
topology:
  link_types: { nic: { bandwidth: 1GB/s, kind: network } }
  tree: { 'h[0-1]': { kind: host } }
  networks: { net: { leaf-spine: { leaves: 2, spines: 2 }, ends: 'h[0-1]', types: nic } }
on_failure: CHOICE
events: [{ failures: { links: [[net/leaf0, 'net/spine[0-1]']], mtbf: 300us, mttr: 200us, seed: 0 } }]
workload:
  - transfer: { id: a, from: h0, to: h1, size: 1MB }
optimize: { vary: parameters, parameters: { 'events[0].failures.seed': { from: 0, to: 39, step: 1 } } }
";
    let folder = TempDir::new().expect("a folder");
    let swept = |choice: &str, threads: &str| {
        let arguments = ["optimize", "s.yaml", "--json", "--no-timing", "--threads", threads];
        let ended = run_in(&folder, &text.replace("CHOICE", choice), &arguments);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        json_lines(&ended.stdout).remove(0)
    };
    let (one, two) = (swept("reroute", "1"), swept("reroute", "2"));
    assert_eq!(one, two);
    let waits = swept("wait", "2");
    let of = |found: &Value, key: &str| found[key].as_f64().expect("a time");
    for key in ["best_s", "median_s", "worst_s"] {
        assert!(of(&one, key) <= of(&waits, key), "{key}: {one} {waits}");
    }
    assert!(of(&one, "median_s") < of(&waits, "median_s"), "{one} {waits}");
}

/// The uplink of m0 fails at 4 ms. All of it goes over the other one then: at 6.25 GB/s each, m1 ends its 75 MB at 16 ms, when m0
/// has sent 75 of its 125 MB; the other 50 MB take 4 ms alone. Its `via` does not hold for the detour, which is said.
#[test]
fn all_of_a_transfer_goes_around_and_leaves_its_via() {
    let text = std::fs::read_to_string(scenario("events/uplink-down-reroute.yaml")).expect("it is there");
    let folder = TempDir::new().expect("a folder");
    let run = |text: &str, more: &[&str]| run_in(&folder, text, &[&["run", "s.yaml"], more].concat());
    let again = text.replace("on_failure: reroute", "on_failure: [restart, reroute]");
    let result = json_lines(&run(&again, &["--json"]).stdout).remove(0);
    let ends = result["transfers"].as_array().expect("a list").iter().map(|row| row["end_ps"].as_u64());
    assert_eq!(ends.collect::<Vec<_>>(), [20, 16, 12].map(|ms| Some(ms * 1000 * US)));
    assert_eq!(result["transfers"][0]["reroutes"][0]["sent_bytes"], 0);
    let printed = run(&again, &[]).stdout;
    assert!(printed.contains("m0 began again at 4.000 ms, as link leaf0 – spine0 was down"), "{printed}");
    let note = "the other routes of m0 take the fewest links that are up; `via` and `nic` do not apply to them";
    assert!(printed.contains(note), "{printed}");
    assert!(run(&text, &[]).stdout.contains(note));
    assert!(!run(&text.replace(", via: net/spine0", ""), &[]).stdout.contains("do not apply to them"));
}

/// A run whose transfers come in a row tells their other routes, too.
#[test]
fn streamed_transfers_go_around() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s, kind: network } }
  tree: { sw: { kind: switch, children: { 'h[0-2]': { kind: host, link: x } } } }
  links: [{ between: [h0, h1], type: x }]
on_failure: reroute
events: [{ at: 300us, link: [h0, h1], bandwidth: down }]
workload:
  - trace: { file: s.csv }
";
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("s.csv"), "id,from,to,bytes,start_s\na,h0,h1,1000000,0\n").expect("written");
    let ended = run_in(&folder, text, &["run", "s.yaml", "--stream", "out.csv"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("a went on at 300.000 µs"), "{}", ended.stdout);
}

/// 10 MB go over the own way until 1 ms, 20 MB over the detour until 3 ms, and arrive 20 ms later. The last 1 MB waits for its
/// own way until 103 ms: what was sent over the detour is there long before.
#[test]
fn what_a_detour_carried_arrives_while_the_rest_waits() {
    let text = "weir: 1
topology:
  link_types:
    near: { bandwidth: 10GB/s, kind: network }
    far: { bandwidth: 10GB/s, kind: network, latency: 20ms }
  tree: { h0: { kind: host }, h1: { kind: host }, s0: { kind: network }, s1: { kind: network }, m: { kind: network } }
  links:
    - { between: [h0, s0], type: near }
    - { between: [s0, s1], type: near }
    - { between: [s1, h1], type: near }
    - { between: [s0, m], type: far }
    - { between: [m, s1], type: near }
arbiter: max-min
on_failure: reroute
events:
  - { at: 1ms, for: 1ms, link: [s0, s1], bandwidth: down }
  - { at: 3ms, for: 100ms, link: [h0, s0], bandwidth: down }
workload:
  - transfer: { id: a, from: h0, to: h1, size: 31MB }
";
    let ended = run_in(&TempDir::new().expect("a folder"), text, &["run", "s.yaml", "--json"]);
    assert_eq!(json_lines(&ended.stdout)[0]["makespan_ps"], 103_100 * US, "{}", ended.stderr);
}
