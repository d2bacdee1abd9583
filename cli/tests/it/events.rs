//! Links that change while a scenario runs: ends worked out by hand, what is refused, and seeds that are swept.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{self, Ended, json_lines, scenario, weir};

/// Two hosts at a switch, 1 GB/s: 1 MB takes 1 ms.
fn two_hosts(keys: &str) -> String {
    format!(
        "weir: 1
topology:
  link_types: {{ nic: {{ bandwidth: 1GB/s, kind: network }} }}
  tree: {{ sw: {{ kind: switch, children: {{ 'h[0-2]': {{ kind: host, link: nic }} }} }} }}
{keys}
workload:
  - transfer: {{ id: a, from: h0, to: h1, size: 1MB }}
"
    )
}

pub(crate) fn run_in(folder: &TempDir, text: &str, arguments: &[&str]) -> Ended {
    std::fs::write(folder.path().join("s.yaml"), text).expect("written");
    let mut command = weir();
    common::ended(command.args(arguments).current_dir(folder.path()).output().expect("the command starts"))
}

fn run(keys: &str, arguments: &[&str]) -> Ended {
    run_in(&TempDir::new().expect("a folder"), &two_hosts(keys), arguments)
}

fn result(keys: &str) -> Value {
    let ended = run(keys, &["run", "s.yaml", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    json_lines(&ended.stdout).remove(0)
}

fn end_ps(keys: &str) -> u64 {
    result(keys)["transfers"][0]["end_ps"].as_u64().expect("it ends")
}

const US: u64 = 1_000_000;

/// Traffic with a seed begins at once, as without: 1 MB has half of the link, for a mean time that is far longer than it takes.
#[test]
fn random_traffic_begins_with_on() {
    for seed in 0..4 {
        let keys =
            format!("events: [{{ load: {{ links: [[h0, sw]], share: 50%, on: 10s, off: 1us, seed: {seed} }} }}]");
        assert_eq!(end_ps(&keys), 2000 * US, "{seed}");
    }
}

/// 3 GB/s are three quarters of one direction and more than the other had: both together keep three quarters of their 4 GB/s. 3 MB
/// each way share that.
#[test]
fn what_directions_share_goes_by_the_one_that_loses_more() {
    let text = "weir: 1
topology:
  link_types: { l: { up: 4GB/s, down: 2GB/s, shared: 4GB/s }, wide: { bandwidth: 100GB/s } }
  tree: { sw: { kind: switch, children: { h0: { kind: host, link: l }, h1: { kind: host, link: wide } } } }
events: [{ at: 0s, link: [h0, sw], bandwidth: 3GB/s }]
arbiter: max-min
workload:
  - transfer: { from: h0, to: h1, size: 3MB }
  - transfer: { from: h1, to: h0, size: 3MB }
";
    let ended = run_in(&TempDir::new().expect("a folder"), text, &["run", "s.yaml", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(json_lines(&ended.stdout).remove(0)["makespan_ps"], 2000 * US);
}

/// A formula knows the links of the topology: where one carries more for a while, that is said, not a mistake of the model.
#[test]
fn operations_over_links_that_carry_more_are_no_error_of_the_model() {
    let keys = "events: [{ at: 0s, links: all, bandwidth: 4GB/s }]";
    let text =
        two_hosts(keys) + "  - collective: { id: c, kind: all-gather, size: 4MB, ranks: 'h[0-1]', start: 10ms }\n";
    let ended = run_in(&TempDir::new().expect("a folder"), &text, &["run", "s.yaml"]);
    assert!(ended.stdout.contains("links changed during the run, the formula takes them as"), "{}", ended.stdout);
    assert!(ended.stdout.contains("% of the bound of the links as the topology has them"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("an error of the model"), "{}", ended.stdout);
}

#[test]
fn events_by_hand() {
    let down = "{ at: 400us, for: 300us, link: [h0, sw], bandwidth: down }";
    for (keys, end_us) in [
        (format!("events: [{down}]"), 1300),
        (format!("events: [{down}]\non_failure: restart"), 1700),
        // The way back is the same link.
        ("events: [{ at: 400us, for: 300us, link: [sw, h0], bandwidth: down }]".into(), 1300),
        ("events: [{ at: 500us, link: [h1, sw], bandwidth: 50% }]".into(), 1500),
        (
            "events: [{ at: 500us, link: [h1, sw], bandwidth: 250MB/s }, { at: 1ms, link: [h1, sw], bandwidth: up }]"
                .into(),
            1375,
        ),
        ("events: [{ at: 200us, for: 100us, every: 500us, links: all, bandwidth: 0% }]".into(), 1200),
        ("events: [{ at: 200us, for: 100us, every: 500us, links: all, bandwidth: 0GB/s }]".into(), 1200),
        // 100 us with a half, 100 us with all: 75 % on average, from 0 on.
        ("events: [{ load: { links: [[h0, sw]], share: 50%, on: 100us, off: 100us } }]".into(), 1350),
        // The end of the shorter one is no end of the longer.
        (
            "events: [{ at: 100us, for: 500us, link: [h0, sw], bandwidth: down }, \
             { at: 200us, for: 100us, link: [h0, sw], bandwidth: down }]"
                .into(),
            1500,
        ),
        // Named from both ends it is one link.
        ("events: [{ load: { links: [[h0, sw], [sw, h0]], share: 50%, on: 100us, off: 100us } }]".into(), 1350),
        // Hardly anything for 1 ms, and its last byte is not beyond the horizon.
        ("events: [{ at: 500us, for: 1ms, link: [h0, sw], bandwidth: 1B/s }]".into(), 2000),
        // Another link changes every microsecond for two seconds.
        (
            "events: [{ at: 500us, for: 2s, link: [h0, sw], bandwidth: down }, \
             { at: 0s, for: 500ns, every: 1us, link: [h2, sw], bandwidth: 50% }]"
                .into(),
            2_001_000,
        ),
        // Of two at one time the last one stands.
        (
            "events: [{ at: 0s, link: [h0, sw], bandwidth: down }, { at: 0s, link: [h0, sw], bandwidth: up }]".into(),
            1000,
        ),
    ] {
        assert!(end_ps(&keys).abs_diff(end_us * US) <= 2, "{keys}: {}", end_ps(&keys));
    }
}

#[test]
fn a_result_says_who_waited_for_which_link() {
    let ended = common::ended(
        weir().args(["run", &scenario("events/shuffle-nic-down.yaml"), "--json"]).output().expect("it starts"),
    );
    let result = json_lines(&ended.stdout).remove(0);
    let transfer = |at: usize| &result["transfers"][at];
    let ends: Vec<_> = (0..4).map(|at| transfer(at)["end_ps"].as_u64()).collect();
    assert_eq!(ends, [15, 10, 10, 16].map(|ms| Some(ms * 1000 * US)));
    assert_eq!((&transfer(0)["cause"], &transfer(0)["delay"]["blocked_s"]), (&"link down".into(), &0.005.into()));
    assert_eq!(transfer(3)["cause_detail"]["kind"], "link-reduced");
    let [first, ..] = &result["link_changes"].as_array().expect("a list")[..] else { panic!("{result}") };
    assert_eq!((&first["changes"], &first["down_s"]), (&2.into(), &0.005.into()));
    assert!(result["remarks"][0].as_str().expect("a sentence").contains("down for 5.000 ms"), "{result}");
}

/// Several routes of one transfer cross the link that goes down: 1 MB in 1 ms, a wait of 1 ms, and 3 MB.
#[test]
fn a_link_that_routes_of_one_transfer_share_goes_down() {
    let text = "weir: 1
topology:
  link_types: { nic: { bandwidth: 8Gb/s, kind: network } }
  tree: { 'h[0-3]': { kind: host } }
  networks: { net: { leaf-spine: { leaves: 2, spines: 2 }, ends: 'h[0-3]', types: nic } }
on_failure: WHAT
events: [{ at: 1ms, for: 1ms, link: [h0, net/leaf0], bandwidth: down }]
workload:
  - transfer: { id: a, from: h0, to: h2, size: 4MB, routing: spread }
";
    let folder = TempDir::new().expect("a folder");
    for (what, end_us) in [("wait", 5000), ("restart", 6000), ("reroute", 5000)] {
        let ended = run_in(&folder, &text.replace("WHAT", what), &["run", "s.yaml", "--json"]);
        assert_eq!(ended.code, 0, "{what}: {}", ended.stderr);
        let result = json_lines(&ended.stdout).remove(0);
        assert_eq!(result["transfers"][0]["end_ps"], end_us * US, "{what}");
    }
    let ended = run_in(&folder, &text.replace("WHAT", "fail"), &["run", "s.yaml"]);
    assert!(
        ended.stderr.starts_with("error: s.yaml: ") && ended.stderr.contains("h0 → leaf0 is down"),
        "{}",
        ended.stderr
    );
}

/// From 200 us on the link of h0 is down for 100 us, that of h1 for 500 us: it waits longest for the second.
#[test]
fn a_wait_is_for_the_link_that_is_down_then() {
    let down = |host: &str, time: &str| format!("{{ at: 200us, for: {time}, link: [{host}, sw], bandwidth: down }}");
    let result = result(&format!("events: [{}, {}]", down("h0", "100us"), down("h1", "500us")));
    let transfer = &result["transfers"][0];
    assert_eq!(transfer["end_ps"], 1500 * US);
    assert_eq!(transfer["bottleneck"], serde_json::json!({ "from": "sw", "to": "h1" }));
}

#[test]
fn a_table_has_changes_too() {
    let folder = TempDir::new().expect("a folder");
    let keys = two_hosts("events: [{ file: outages.csv }]");
    let write = |text: &str| std::fs::write(folder.path().join("outages.csv"), text).expect("written");
    write("from,to,at,bandwidth\nh0,sw,400us,down\nh0,sw,700us,up\n");
    let ended = run_in(&folder, &keys, &["run", "s.yaml", "--json"]);
    assert_eq!(json_lines(&ended.stdout)[0]["makespan_ps"], 1300 * US, "{}", ended.stderr);
    for (table, place, message) in [
        ("", "", "the table is empty"),
        ("from,to,at\n", "1:1", "no column `bandwidth`"),
        ("from,to,at,bandwidth,why\n", "1:22", "unexpected column `why`"),
        ("from,to,at,bandwidth\nh0,sw,400us\n", "2:1", "the row has 3 fields"),
        ("from,to,at,bandwidth\nh0,h1,400us,down\n", "2:1", "no link joins `h0` and `h1`"),
        ("from,to,at,bandwidth\nh0,sw,soon,down\n", "2:7", "`at`: "),
        ("from,to,at,bandwidth\nh0,sw,1us,down\nh0,sw,-1us,down\n", "3:7", "`at`: `-1us` is negative"),
        ("from,to,at,bandwidth\nh0,sw,NaN,down\n", "2:7", "`at`: "),
        ("from,to,at,bandwidth\nh0,sw,1us,150%\n", "2:11", "`bandwidth`: `150%` is above 100 %"),
        ("from,to,at,bandwidth\nh9,sw,1us,down\n", "2:1", "`from`: no node is named `h9`"),
    ] {
        write(table);
        let ended = run_in(&folder, &keys, &["check", "s.yaml"]);
        assert_eq!(ended.code, 2, "{table}");
        let place = format!("outages.csv:{place}");
        assert!(ended.stderr.contains(message) && ended.stderr.contains(&place), "{}", ended.stderr);
    }
}

/// Half duplex: 10 GB/s in all, 5 at a half. 100 MB each way.
#[test]
fn what_both_directions_have_together_changes_with_them() {
    let text = "weir: 1
topology:
  link_types: { half: { bandwidth: 10GB/s, shared: 10GB/s, kind: network } }
  tree: { a: { kind: host }, b: { kind: host } }
  links: [{ between: [a, b], type: half }]
events: [{ at: 0s, link: [a, b], bandwidth: 50% }]
workload:
  - transfer: { id: x, from: a, to: b, size: 100MB }
  - transfer: { id: y, from: b, to: a, size: 100MB }
";
    let ended = run_in(&TempDir::new().expect("a folder"), text, &["run", "s.yaml", "--json"]);
    assert_eq!(json_lines(&ended.stdout)[0]["makespan_ps"], 40_000 * US, "{}", ended.stderr);
}

#[test]
fn other_traffic_alone_takes_no_link_down() {
    let load = "events: [{ load: { share: 30%, on: 100us, off: 100us, seed: 1 } }]";
    let text = two_hosts(load).replace("h[0-2]", "h[0-7]");
    let ended = run_in(&TempDir::new().expect("a folder"), &text, &["run", "s.yaml"]);
    assert!(ended.stdout.contains("note: 5 more links changed\n"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("down for"), "{}", ended.stdout);
}

#[test]
fn tables_in_utf_16_and_utf_32_are_named() {
    let table = "at,from,to,bandwidth\n1ms,h0,sw,down\n";
    let wide = |of: fn(char) -> Vec<u8>| -> Vec<u8> { "\u{feff}".chars().chain(table.chars()).flat_map(of).collect() };
    for (bytes, name) in [
        (wide(|c| (c as u16).to_le_bytes().to_vec()), "UTF-16 (little-endian)"),
        (wide(|c| (c as u32).to_be_bytes().to_vec()), "UTF-32 (big-endian)"),
    ] {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("e.csv"), bytes).expect("written");
        let ended = run_in(&folder, &two_hosts("events: [{ file: e.csv }]"), &["run", "s.yaml"]);
        let expected = format!("error: `e.csv` is encoded as {name}, not as UTF-8");
        assert!(ended.code == 2 && ended.stderr.contains(&expected), "{}", ended.stderr);
    }
}

/// Packets of 1000 B take 1 us on links without latency: the second link forwards each as it comes. A link that is down begins
/// none; one with a half takes 2 us for each. Skipping ahead changes nothing.
#[test]
fn packets_meet_links_that_change() {
    let down = "{ at: 400us, for: 300us, link: [h0, sw], bandwidth: down }";
    for (events, end_us) in [
        (format!("[{down}]"), 1300),
        ("[{ at: 400us, for: 300us, link: [sw, h1], bandwidth: down }]".to_owned(), 1300),
        ("[{ at: 500us, link: [h1, sw], bandwidth: 50% }]".to_owned(), 1500),
        ("[{ load: { links: [[h0, sw]], share: 50%, on: 100us, off: 100us } }]".to_owned(), 1350),
    ] {
        let of = |skips: bool| {
            let packet = format!("{{ payload: 1000B, header: 1B, skip_ahead: {skips} }}");
            result(&format!("fidelity: {{ packet: {packet} }}\nevents: {events}"))
        };
        let (fast, slow) = (of(true), of(false));
        let end = fast["makespan_ps"].as_u64().expect("it ends");
        // The packet that is on its way when the link changes, and the last one on the second link.
        assert!(end.abs_diff(end_us * US) <= 3 * US, "{events}: {end}");
        assert_eq!(
            (&fast["makespan_ps"], &fast["fingerprint"]),
            (&slow["makespan_ps"], &slow["fingerprint"]),
            "{events}"
        );
        // A change every 100 us comes before any period is found.
        assert!(fast["skipped_hops"].as_u64() > Some(0) || events.contains("load"), "{fast}");
    }
    // For most of its time, or a tenth, on either link: the cause is the link as it was for longest.
    for (link, at, kind) in
        [("[h0, sw]", 100, "link-reduced"), ("[sw, h1]", 100, "link-reduced"), ("[h0, sw]", 950, "full-rate")]
    {
        let slowed = result(&format!("fidelity: packet\nevents: [{{ at: {at}us, link: {link}, bandwidth: 50% }}]"));
        let cause = &slowed["transfers"][0]["cause_detail"];
        assert_eq!(cause["kind"], kind, "{slowed}");
        let near = link.trim_start_matches('[').split(',').next().expect("a node");
        assert!(kind == "full-rate" || cause["link"]["from"] == near, "{slowed}");
    }
    let waits = result(&format!("fidelity: packet\nevents: [{down}]"));
    assert_eq!(waits["transfers"][0]["cause"], "link down");
    assert_eq!(waits["link_changes"][0]["down_s"], 0.0003);
}

/// A placement is run with its events: the ranks leave the host whose link is slow.
#[test]
fn a_placement_knows_of_events() {
    let text = "weir: 1
topology:
  link_types: { nic: { bandwidth: 1GB/s, kind: network } }
  tree: { sw: { kind: switch, children: { 'h[0-2]': { kind: host, link: nic } } } }
ranks: [h0, h1]
events: [{ at: 0s, link: [h0, sw], bandwidth: 10% }]
optimize: { vary: placement, objective: OBJECTIVE, devices: [h0, h1, h2] }
workload:
  - transfer: { id: a, from: { rank: 0 }, to: { rank: 1 }, size: 1MB }
";
    let folder = TempDir::new().expect("a folder");
    let run =
        |objective: &str| run_in(&folder, &text.replace("OBJECTIVE", objective), &["optimize", "s.yaml", "--json"]);
    let ended = run("makespan");
    let found = json_lines(&ended.stdout).remove(0);
    assert_eq!((&found["baseline_s"], &found["best_s"]), (&0.01.into(), &0.001.into()), "{found} {}", ended.stderr);
    let ended = run("distance");
    assert!(
        ended.code == 2 && ended.stderr.contains("use `objective: makespan` in place of `distance`"),
        "{}",
        ended.stderr
    );
}

/// Full results say what a link carries from when on.
#[test]
fn full_results_have_the_times_of_changes() {
    let down = "{ at: 400us, for: 300us, link: [h0, sw], bandwidth: down }";
    let events = &format!("events: [{down}, {{ at: 800us, link: [h1, sw], bandwidth: 50% }}]");
    let result = json_lines(&run(events, &["run", "s.yaml", "--full", "--json"]).stdout).remove(0);
    let steps = |at: usize| {
        let steps = result["link_changes"][at]["steps"].as_array().expect("full results have them");
        steps.iter().map(|step| (step["at_ps"].as_u64(), step["bandwidth_Bps"].as_f64())).collect::<Vec<_>>()
    };
    assert_eq!(steps(0), [(Some(400 * US), Some(0.0)), (Some(700 * US), Some(1e9))]);
    assert_eq!(steps(2), [(Some(800 * US), Some(5e8))]);
    let short = json_lines(&run(events, &["run", "s.yaml", "--json"]).stdout).remove(0);
    assert!(short["link_changes"][0]["steps"].is_null(), "{short}");
}

#[test]
fn what_is_wrong_is_told() {
    for (keys, code, message) in [
        ("events: [{ at: 1us, link: [h0, h1], bandwidth: down }]", 2, "no link joins `h0` and `h1`"),
        ("events: [{ at: 1us, link: [h0, h9], bandwidth: down }]", 2, "no node is named `h9`"),
        ("events: [{ at: 1us, links: nvlink, bandwidth: down }]", 2, "no link is of the kind `nvlink`"),
        ("events: [{ at: 1us, bandwidth: down }]", 2, "an event needs `link`"),
        ("events: [{ link: [h0, sw], bandwidth: down }]", 2, "an event needs `at`"),
        ("events: [{ at: 1us, every: 5us, link: [h0, sw], bandwidth: down }]", 2, "must end"),
        (
            "events: [{ at: 1us, every: 5us, for: 5us, link: [h0, sw], bandwidth: down }]",
            2,
            "`for` is not below `every`",
        ),
        ("events: [{ at: 1us, link: [h0, sw], bandwidth: -5% }]", 2, "bandwidth"),
        ("events: [{ at: 1us, link: [h0, sw], bandwidth: NaN }]", 2, "bandwidth"),
        ("events: [{ failures: { mtbf: 0s, mttr: 1ms } }]", 2, "`mtbf` is 0"),
        ("events: [{ load: { share: 100%, on: 1ms, off: 1ms } }]", 2, "takes none or all"),
        ("events: [{ file: x.csv, at: 1us }]", 2, "`file` and `at`"),
        (
            "events: [{ at: 1us, link: [h0, sw], bandwidth: down }, { load: { share: 50%, on: 1us, off: 1us } }]",
            3,
            "link h0 → sw is down and never comes up again",
        ),
        (
            "on_failure: fail\nevents: [{ at: 0s, for: 1ms, link: [h0, sw], bandwidth: down }]",
            3,
            "link h0 → sw is down under transfer `a`",
        ),
        ("events: [{ load: { links: [h0, sw], share: 50%, on: 1us, off: 1us } }]", 2, "`links: [[nic0, leaf1]]`"),
        ("on_failure: detour", 2, "write `wait`, `restart`, `reroute` or `fail`"),
        ("on_failure: [wait, restart]", 2, "write one of the words, or `[reroute, restart]`"),
        ("on_failure: [reroute, detour]", 2, "write `wait`, `restart`, `reroute` or `fail`"),
        (
            "fidelity: packet\non_failure: reroute\nevents: [{ at: 1us, link: [h0, sw], bandwidth: down }]",
            2,
            "packets wait for a link that is down",
        ),
        (
            "fidelity: packet\nevents: [{ at: 1us, link: [h0, sw], bandwidth: down }]",
            3,
            "link h0 → sw is down and never comes up again",
        ),
        (
            "on_failure: reroute\nevents: [{ at: 1us, link: [h0, sw], bandwidth: down }]",
            3,
            "link h0 → sw is down and never comes up again, no other route leads around it",
        ),
        ("events: [{ at: -1us, link: [h0, sw], bandwidth: down }]", 2, "`at`"),
        ("events: [{ at: NaN, link: [h0, sw], bandwidth: down }]", 2, "`at`"),
        ("events: [{ at: 1us, link: [h0, sw], bandwidth: 101% }]", 2, "above 100 %"),
        ("events: [{ at: 1us, link: [h0, sw], bandwidth: 101% }]", 2, "such as `20GB/s`"),
        ("events: [{ load: { share: 120%, on: 1ms, off: 1ms } }]", 2, "above 100 %"),
        ("events: [{ load: { share: 120%, on: 1ms, off: 1ms } }]", 2, "give a part, such as `50%`\n"),
        (
            "on_failure: fail\nevents: [{ at: 1us, link: [h0, sw], bandwidth: down }]",
            3,
            "link h0 → sw is down under transfer `a`",
        ),
        ("events: [{ at: 1us, link: [h0, sw], bandwidth: down }]", 3, "link h0 → sw is down and never comes up again"),
    ] {
        let ended = run(keys, &["run", "s.yaml"]);
        assert_eq!(ended.code, code, "{keys}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{keys}: {}", ended.stderr);
        assert!(code != 2 || ended.stderr.contains("s.yaml:"), "{keys}: {}", ended.stderr);
    }
}

/// The distribution over seeds, whatever the number of threads.
#[test]
fn seeds_are_swept() {
    let keys = "events: [{ failures: { mtbf: 300us, mttr: 100us, seed: 0 } }]
optimize: { vary: parameters, parameters: { 'events[0].failures.seed': { from: 0, to: 39, step: 1 } } }";
    let swept = |threads: &str| run(keys, &["optimize", "s.yaml", "--json", "--no-timing", "--threads", threads]);
    let (one, two) = (swept("1"), swept("2"));
    assert_eq!((one.code, &one.stdout), (0, &two.stdout), "{}", one.stderr);
    let found = json_lines(&one.stdout).remove(0);
    let [best, median, worst] = ["best_s", "median_s", "worst_s"].map(|key| found[key].as_f64().expect("a time"));
    assert!(0.001 <= best && best < median && median < worst, "{found}");
    let other = run(
        "events: [{ at: 1us, link: [h0, sw], bandwidth: 50% }]\noptimize: { vary: order, method: anneal }",
        &["optimize", "s.yaml"],
    );
    assert!(other.code == 2 && other.stderr.contains("use the method `local-search`"), "{}", other.stderr);
}
