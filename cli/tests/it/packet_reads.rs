//! Reads, channels, credits and hops of runs packet by packet, through the whole command.

use std::time::Instant;

use crate::common;
use crate::packets::{ended, ends, result, t2};

/// A host and a device over PCIe Gen3 x8 as pcie-bench has it (Neugebauer et al., SIGCOMM 2018): 57.88 Gb/s on the wire.
fn gen3_x8(packet: &str, latency: &str, workload: &str) -> String {
    format!(
        "weir: 1
fidelity: {{ packet: {{ rate: wire, buffer: unlimited{packet} }} }}
topology:
  link_types: {{ pcie: {{ kind: pcie, bandwidth: 57.88Gb/s, latency: {latency} }} }}
  tree: {{ rc: {{ kind: root-complex, children: {{ mem: {{ kind: cpu, link: pcie }}, nic: {{ kind: nic, link: pcie }} }} }} }}
workload:
{workload}"
    )
}

const READ: &str = "  - transfer: { id: r, from: mem, to: nic, size: 20MB, read: true }\n";
const WRITE: &str = "  - transfer: { id: w, from: nic, to: mem, size: 20MB }\n";

fn gigabits(bytes: f64, ends: &[u64]) -> f64 {
    bytes * 8000.0 / *ends.iter().max().expect("one has ended") as f64
}

#[test]
fn reads_and_writes_reach_the_published_rates() {
    for (workload, published) in
        [(READ.to_owned(), 53.69), (WRITE.to_owned(), 52.92), (format!("{READ}{WRITE}"), 50.75)]
    {
        let found = gigabits(20e6, &ends(&result(&gen3_x8("", "0ns", &workload))));
        assert!((found / published - 1.0).abs() < 1e-3, "{found} of {published}");
    }
}

/// min(tags · request / round trip, link), and the wait for tags is named.
#[test]
fn tags_bound_reads() {
    let text = gen3_x8(", tags: 4, service: 300ns", "250ns", READ);
    let result = result(&text);
    let wire = |bytes: f64| bytes * 8000.0 / 57.88;
    // A request and an answer cross two links each, which forward headers; the second packet of an answer follows.
    let round_trip = 4.0 * 250_000.0 + 300_000.0 + 2.0 * wire(24.0) + wire(20.0) + 2.0 * wire(276.0);
    let (found, expected) = (gigabits(20e6, &ends(&result)), 4.0 * 512.0 * 8000.0 / round_trip);
    assert!((found / expected - 1.0).abs() < 2e-3, "{found} of {expected}");
    let read = &result["transfers"][0];
    assert_eq!((&read["held"][0]["cause"], &read["packets"]), (&"tags".into(), &78125.into()), "{read}");
}

#[test]
fn what_reads_and_channels_cannot_be_is_refused() {
    for (text, words) in [
        (gen3_x8("", "0ns", &READ.replace("read: true", "channel: 8")), "write a whole number from 0 to 7"),
        (gen3_x8("", "0ns", &READ.replace("read: true", "read: maybe")), "write `true` or `false`"),
        (
            gen3_x8("", "0ns", &READ.replace("true", "true, model: loggp")),
            "`read` has no effect on a transfer with a model",
        ),
        (gen3_x8(", tags: 0", "0ns", READ), "give at least 1"),
        (gen3_x8(", request: 0B", "0ns", READ), "is zero bytes"),
        (gen3_x8(", completion_header: 5KiB", "0ns", READ), "give at most 4KiB"),
        (gen3_x8(", credits: { header: 4, data: 1KiB }", "0ns", READ), "`credits` stands in place of `buffer`"),
        (
            gen3_x8("", "0ns", READ).replace("buffer: unlimited", "credits: { header: 4, data: 100B }"),
            "have 100 B of `data`, packets 256 B of payload",
        ),
        (gen3_x8("", "0ns", READ).replace("kind: nic,", "kind: nic, interleave: random,"), "has `interleave`"),
    ] {
        let ended = ended(&text, &["run", "s.yaml"]);
        assert!(ended.code == 2 && ended.stderr.contains(words), "{words}: {}{}", ended.stdout, ended.stderr);
    }
}

/// A link that carries four packets in each round of credit, whatever its buffer holds.
#[test]
fn headers_have_credit_of_their_own() {
    let text = gen3_x8("", "100ns", WRITE).replace("buffer: unlimited", "credits: { header: 4, data: 1MiB }");
    let result = result(&text);
    // Room is free once a packet has left the switch, which forwards it once its header has come.
    let (header, sends, packets) = (24.0 * 8000.0 / 57.88, 280.0 * 8000.0 / 57.88, 78125.0);
    let expected = packets / 4.0 * (200_000.0 + header + sends);
    let end = ends(&result)[0] as f64;
    assert!((end / expected - 1.0).abs() < 1e-3, "{end} of {expected}");
    let links = result["links"].as_array().expect("a list");
    let link = links.iter().find(|link| link["from"] == "nic").expect("it is used");
    let idle = link["no_credit_s"].as_f64().expect("a time") * 1e12;
    assert!((idle / (expected - packets * sends) - 1.0).abs() < 1e-2, "{link}");
    assert!(result["peak_packets"].as_u64() >= Some(2), "{result}");
    let checked = ended(&text, &["check", "s.yaml"]);
    assert!(checked.stderr.contains("`header: 7` and `data: 1792B` would do"), "{}", checked.stderr);
}

#[test]
fn another_channel_breaks_the_circle_of_a_deadlock() {
    let file = common::library().join("packets/ring.yaml");
    let text = std::fs::read_to_string(file).expect("a scenario of the library");
    let ends = ends(&result(&text));
    assert!(ends.iter().all(|&end| end > 300_000_000), "{ends:?}");
    let stuck = ended(&text.replace(", channel: 1", ""), &["run", "s.yaml"]);
    let words = "full buffers wait for each other: sw0 → sw1 waits for sw1 → sw2";
    assert!(stuck.code == 3 && stuck.stderr.contains(words), "{}", stuck.stderr);
    assert!(stuck.stderr.contains("another `channel`") && !stuck.stderr.contains("at 0 s"), "{}", stuck.stderr);
}

#[test]
fn hops_are_bounded() {
    let text = t2("skip_ahead: false", &[("a", "gpu0", "gpu1"), ("b", "gpu4", "gpu1")]);
    let stopped = ended(&text, &["run", "s.yaml", "--max-hops", "1000"]);
    assert_eq!(stopped.code, 3, "{}", stopped.stderr);
    assert!(stopped.stderr.contains("--max-hops"), "{}", stopped.stderr);
    // 10^12 hops: known before the first.
    let (huge, begun) = (text.replace("10MB", "64TB"), Instant::now());
    let refused = ended(&huge, &["run", "s.yaml", "--max-hops", "2000000000000"]);
    assert!(refused.code == 2 && begun.elapsed().as_secs() < 10, "{}", refused.stderr);
    assert!(refused.stderr.contains("more than 10^11 packets times links"), "{}", refused.stderr);
}

/// Answers with less header than writes have carry more than `bandwidth`, which is what full packets of writes carry.
#[test]
fn short_headers_of_answers_are_no_error() {
    let text = gen3_x8(", completion_header: 4B", "0ns", READ).replace("rate: wire", "rate: goodput");
    // 256 B with 4 B in place of 24 B.
    let found = gigabits(20e6, &ends(&result(&text)));
    assert!((found / (57.88 * 280.0 / 260.0) - 1.0).abs() < 1e-3, "{found}");
    let folder = tempfile::TempDir::new().expect("a folder");
    let saved = ended(&text, &["run", "s.yaml", "--full", "--json"]).stdout;
    std::fs::write(folder.path().join("saved.json"), saved).expect("written");
    let page = common::weir().args(["report", "saved.json"]).current_dir(folder.path()).output();
    let page = common::ended(page.expect("the command starts"));
    assert_eq!(page.code, 0, "{}", page.stderr);
}
