//! Why packets wait, in cases small enough to know the answer: which link, and whose transfer.

use serde_json::Value;

use crate::packets::{ended, ends, result};

/// Two transfers from one switch to two devices, one of which has a link of a tenth of the rate.
fn fast_and_slow(slow: &str, size: &str, keys: &str) -> String {
    format!(
        "weir: 1
fidelity: packet
topology:
  link_types:
    l: {{ bandwidth: 10GB/s, latency: 100ns }}
    slow: {{ bandwidth: {slow}, latency: 100ns }}
  tree:
    rc:
      kind: root-complex
      children:
        s0: {{ kind: switch, link: l, children: {{ g0: {{ kind: gpu, link: l }}, g1: {{ kind: gpu, link: l }} }} }}
        g2: {{ kind: gpu, link: l }}
        g3: {{ kind: gpu, link: slow }}
workload:
  - transfer: {{ id: a, from: g0, to: g2, size: {size} }}
  - transfer: {{ id: b, from: g1, to: g3, size: {size} }}
{keys}"
    )
}

/// The longest wait at the source: cause, link, who, microseconds.
fn longest(transfer: &Value) -> (String, String, Option<&str>, f64) {
    let held = &transfer["held"][0];
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let link = format!("{}→{}", text(&held["link"]["from"]), text(&held["link"]["to"]));
    (text(&held["cause"]), link, held["by"].as_str(), 1e6 * held["time_s"].as_f64().expect("a time"))
}

/// An input that sends to one output at a time is busy with `b` for ten of eleven parts of the time: `a` waits for that, and `b`
/// for its own link alone.
#[test]
fn an_input_that_sends_to_a_slow_device_holds_back_who_goes_elsewhere() {
    for keys in ["", "serial", "64KiB", "voq"] {
        let packet = match keys {
            "" => "packet",
            "serial" => "{ packet: { inputs: serial, credit_return: 0ns } }",
            "64KiB" => "{ packet: { buffer: 64KiB } }",
            _ => "{ packet: { queues: voq } }",
        };
        let text = fast_and_slow("1GB/s", "1MB", "").replace("fidelity: packet", &format!("fidelity: {packet}"));
        let result = result(&text);
        let (a, b) = (&result["transfers"][0], &result["transfers"][1]);
        let (cause, link, by, time) = longest(a);
        assert_eq!((&*cause, &*link, by), ("head-of-line", "rc→g3", Some("b")), "{keys}: {a}");
        assert!(time > 700.0, "{keys}: {a}");
        assert_eq!(a["cause"], "head-of-line blocked behind b", "{keys}");
        let (_, link, by, _) = longest(b);
        assert_eq!((&*link, by), ("rc→g3", None), "{keys}: {b}");
    }
}

/// What holds one packet of 280 B sends one in 228 ns, the way there and back: that is what slows `a`, not who goes elsewhere behind
/// a buffer that is never full.
#[test]
fn a_buffer_that_starves_its_link_is_the_reason_whatever_is_contended_behind_it() {
    let text = fast_and_slow("1GB/s", "100kB", "  - transfer: { id: c, from: g4, to: g3, size: 100kB }")
        .replace("fidelity: packet", "fidelity: { packet: { header: 24B, queues: voq, buffer: unlimited } }")
        .replace(
            "    slow: {",
            "    small: { bandwidth: 10GB/s, latency: 100ns, packet: { buffer: 280B } }\n    slow: {",
        )
        .replace("g0: { kind: gpu, link: l }", "g0: { kind: gpu, link: small }")
        .replace("        g3:", "        g4: { kind: gpu, link: l }\n        g3:");
    let result = result(&text);
    let (cause, link, by, _) = longest(&result["transfers"][0]);
    assert_eq!((&*cause, &*link, by), ("credit", "g0→s0", None), "{}", result["transfers"][0]);
    assert_eq!(result["transfers"][0]["cause"], "no room in a buffer ahead");
}

/// A link that holds less than is under way on it slows a lone transfer, and those behind it, which carry as much, do not.
#[test]
fn a_lone_transfer_waits_for_the_link_that_its_buffer_starves() {
    let text = "weir: 1
fidelity: packet
topology:
  link_types: { ib: { bandwidth: 400Gb/s, latency: 1us, kind: infiniband } }
  tree:
    core: { kind: network, children: { leaf: { kind: network, link: ib, children: { h0: { kind: host, link: ib } } },
      other: { kind: network, link: ib, children: { h2: { kind: host, link: ib } } } } }
workload:
  - transfer: { id: a, from: h0, to: h2, size: 10MB }
";
    let result = result(text);
    let (cause, link, by, time) = longest(&result["transfers"][0]);
    assert_eq!((&*cause, &*link, by), ("credit", "h0→leaf", None), "{}", result["transfers"][0]);
    let links = result["links"].as_array().expect("a list");
    let starved = links.iter().find(|link| link["from"] == "h0").expect("it is used")["no_credit_s"].as_f64();
    assert!((starved.expect("a time") * 1e6 / time - 1.0).abs() < 1e-2, "{links:?}");
}

/// Packets that PCIe has cut to 256 B go over a network whose own are 4 kB. Its buffer, which holds one of these, holds 14 of those:
/// the link between the cards is busy throughout, and is what holds `a` back.
#[test]
fn what_waits_is_a_packet_as_the_links_before_have_cut_it() {
    let machine = |root: &str, gpus: &str, card: &str| {
        format!(
            "{root}: {{ kind: root-complex, children: {{ '{gpus}': {{ kind: gpu, link: p }}, {card}: {{ kind: nic, link: p }} }} }}"
        )
    };
    let text = format!(
        "weir: 1
fidelity: packet
topology:
  link_types:
    p: {{ bandwidth: 10GB/s, latency: 100ns }}
    n: {{ bandwidth: 10GB/s, latency: 10ns, kind: network, packet: {{ buffer: 4140B }} }}
  tree:
    {}
    {}
  links: [{{ between: [nic, nid], type: n }}]
workload:
  - transfer: {{ id: a, from: gpu0, to: gpu2, size: 1MB }}
",
        machine("rc", "gpu[0-1]", "nic"),
        machine("rd", "gpu[2-3]", "nid")
    );
    let result = result(&text);
    let (_, link, by, _) = longest(&result["transfers"][0]);
    assert_eq!((&*link, by), ("nic→nid", None), "{}", result["transfers"][0]);
    let links = result["links"].as_array().expect("a list");
    let link = links.iter().find(|link| link["from"] == "nic" && link["to"] == "nid").expect("it is used");
    assert!(link["busy_s"].as_f64().is_some_and(|busy| busy > 109e-6) && link["no_credit_s"] == 0.0, "{link}");
}

/// The link of `a` is down for 30 of 50 us. `b` is behind it in one queue, and uses its own link for 10 us: both wait for that of `a`.
#[test]
fn who_waits_in_one_queue_for_a_link_that_is_down_says_so() {
    let text = fast_and_slow("10GB/s", "100kB", "events:\n  - { at: 3us, link: [rc, g2], bandwidth: down, for: 30us }");
    let result = result(&text);
    let (a, b) = (&result["transfers"][0], &result["transfers"][1]);
    let (cause, link, by, _) = longest(a);
    assert_eq!((&*cause, &*link, by), ("link-down", "rc→g2", None), "{a}");
    assert_eq!((&a["cause"], &a["bottleneck"]["to"]), (&"link down".into(), &"g2".into()));
    let (cause, link, by, _) = longest(b);
    assert_eq!((&*cause, &*link, by), ("head-of-line", "rc→g2", Some("a")), "{b}");
    assert_eq!(b["cause"], "head-of-line blocked behind a");
}

/// Requests of a read wait for a write of higher priority, until that has been sent: the read ends as much later as its first request
/// was held up.
#[test]
fn a_read_is_held_up_with_its_first_request() {
    let text = |write: &str| {
        format!(
            "weir: 1
fidelity: {{ packet: {{ payload: 256B, header: 24B, rate: wire, port_arbiter: strict-priority }} }}
topology:
  link_types: {{ l: {{ bandwidth: 57.88Gb/s, latency: 100ns, kind: pcie }} }}
  tree: {{ g0: {{ kind: gpu, engines: 4, children: {{ g1: {{ kind: gpu, link: l, engines: 4 }} }} }} }}
workload:
  - transfer: {{ id: r, from: g0, to: g1, size: 1MB, read: true }}
{write}"
        )
    };
    let both = result(&text("  - transfer: { id: w, from: g1, to: g0, size: 1MB, priority: 5 }"));
    let (cause, link, by, time) = longest(&both["transfers"][0]);
    assert_eq!((&*cause, &*link, by), ("arbitration", "g1→g0", Some("w")), "{}", both["transfers"][0]);
    assert_eq!((1e6 * time).round() as u64, ends(&both)[0] - ends(&result(&text("")))[0]);
    assert_eq!(both["transfers"][0]["cause"], "link shared with w");
}

/// 120 B take 10 ns to the switch and 100 ns from there. The third packet of `a` is ready at 10 ns, when its second one is granted,
/// and its window opens at 310 ns; those of `b` are ready at 150 ns and 160 ns. `oldest-first` serves by that: a, a, b, a, b.
#[test]
fn a_packet_is_ready_before_its_window_opens() {
    let text = "weir: 1
fidelity: { packet: { payload: 100B, header: 20B, rate: wire, window: 2, port_arbiter: oldest-first, buffer: 64KiB } }
topology:
  link_types:
    f: { bandwidth: 12GB/s, latency: 0ns, kind: pcie }
    s: { bandwidth: 1.2GB/s, latency: 100ns, kind: pcie }
  tree: { sw: { kind: switch, children: { 'g[0-1]': { kind: gpu, link: f }, g2: { kind: gpu, link: s } } } }
workload:
  - transfer: { id: a, from: g0, to: g2, size: 300B }
  - transfer: { id: b, from: g1, to: g2, size: 200B, start: 150ns }
";
    // Five packets one after another from when the first header has come, at 1,667 ps; the last two latencies of 100 ns.
    assert_eq!(ends(&result(text)), [501_667, 601_667]);
}

/// Links that change for as long as the run lasts neither end it, nor hide a circle of full buffers.
#[test]
fn links_that_go_on_changing_end_no_run_of_packets() {
    let steady = "weir: 1
fidelity: packet
topology:
  link_types: { l: { bandwidth: 1GB/s, latency: 10ns, kind: pcie } }
  tree: { sw: { kind: switch, children: { 'g[0-3]': { kind: gpu, link: l } } } }
workload:
  - transfer: { id: a, from: g0, to: g1, size: 25MB }
";
    // Half a million changes of a link that nothing crosses.
    let events = "events: [ { at: 1us, link: [g3, sw], bandwidth: 50%, for: 50ns, every: 100ns } ]\n";
    assert_eq!(ends(&result(&format!("{steady}{events}"))), ends(&result(steady)));
    let ring = include_str!("../../../scenarios/packets/ring.yaml").replace(", channel: 1", "");
    assert!(!ring.contains("channel: "), "{ring}");
    let changing =
        format!("{ring}\nevents: [ {{ at: 1us, link: [h0, sw0], bandwidth: 50%, for: 1us, every: 10us }} ]\n");
    let ended = ended(&changing, &["run", "s.yaml"]);
    assert!(ended.code == 3 && ended.stderr.contains("sw0 → sw1 waits for sw1 → sw2"), "{}", ended.stderr);
}
