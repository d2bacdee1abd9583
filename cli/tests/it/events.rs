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

fn run_in(folder: &TempDir, text: &str, arguments: &[&str]) -> Ended {
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

#[test]
fn a_table_has_changes_too() {
    let folder = TempDir::new().expect("a folder");
    let keys = two_hosts("events: [{ file: outages.csv }]");
    let write = |text: &str| std::fs::write(folder.path().join("outages.csv"), text).expect("written");
    write("from,to,at,bandwidth\nh0,sw,400us,down\nh0,sw,700us,up\n");
    let ended = run_in(&folder, &keys, &["run", "s.yaml", "--json"]);
    assert_eq!(json_lines(&ended.stdout)[0]["makespan_ps"], 1300 * US, "{}", ended.stderr);
    for (table, message) in [
        ("", "the table is empty"),
        ("from,to,at\n", "no column `bandwidth`"),
        ("from,to,at,bandwidth,why\n", "unexpected column `why`"),
        ("from,to,at,bandwidth\nh0,sw,400us\n", "the row has 3 fields"),
        ("from,to,at,bandwidth\nh0,h1,400us,down\n", "no link joins `h0` and `h1`"),
        ("from,to,at,bandwidth\nh0,sw,soon,down\n", "`at`: "),
    ] {
        write(table);
        let ended = run_in(&folder, &keys, &["check", "s.yaml"]);
        assert_eq!(ended.code, 2, "{table}");
        assert!(ended.stderr.contains(message) && ended.stderr.contains("outages.csv:"), "{}", ended.stderr);
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
        ("on_failure: reroute", 2, "write `wait`, `restart` or `fail`"),
        ("fidelity: packet\nevents: [{ at: 1us, link: [h0, sw], bandwidth: down }]", 2, "packet by packet"),
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
    assert!(other.code == 2 && other.stderr.contains("does not know of links that change"), "{}", other.stderr);
}
