//! `weir calibrate`: what it says of values that a few rows do not tell.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::run;

/// The parameters of a fit of all rows, and of which kinds.
fn parameters(topology: &str, log: &str, more: &[&str]) -> Vec<Value> {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a UTF-8 path").to_owned();
    std::fs::write(path("t.yaml"), format!("weir: 1\n{topology}")).expect("written");
    std::fs::write(path("l.csv"), format!("from,to,bytes,seconds,group\n{log}")).expect("written");
    let (topology, log) = (path("t.yaml"), path("l.csv"));
    let ended = run(&[&["calibrate", &topology, "--from", &log, "--hold-out", "0", "--json"], more].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let fit: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    fit["parameters"].as_array().expect("a list").clone()
}

fn named<'a>(parameters: &'a [Value], name: &str) -> Option<&'a Value> {
    parameters.iter().find(|parameter| parameter["name"] == *name)
}

/// One copy over three links, and as many rows as parameters: any of the links may be the narrowest.
#[test]
fn one_row_does_not_say_which_link_is_the_narrowest() {
    let topology = "link_types: { slot: { bandwidth: 60GB/s }, up: { bandwidth: 60GB/s } }
tree:
  rc:
    kind: root-complex
    children:
      cpu: { kind: cpu, link: { bandwidth: 200GB/s } }
      sw: { kind: switch, link: up, children: { gpu: { kind: gpu, link: slot } } }
";
    let found = parameters(topology, "cpu,gpu,1000000000,0.05,\n", &[]);
    let slot = named(&found, "bandwidth of slot").expect("is fitted");
    assert_eq!((&slot["state"], &slot["standard_error"]), (&"if narrowest".into(), &Value::Null));
}

/// Copies over NVLink have one size: that others beside them have other sizes says nothing of its latency. 1 MB in 10 µs.
#[test]
fn a_latency_needs_two_sizes_over_its_own_links() {
    let topology = "link_types: { slot: { bandwidth: 25GB/s }, nvl: { bandwidth: 100GB/s, kind: nvlink } }
tree: { rc: { kind: root-complex, children: { \"gpu[0-2]\": { kind: gpu, link: slot } } } }
links: [{ between: [gpu0, gpu1], type: nvl }]
";
    let log = "gpu0,gpu1,1000000,1e-5,a\ngpu2,gpu1,100000000,0.004,a\ngpu0,gpu1,1000000,1.01e-5,b
gpu2,gpu1,1000,4e-8,b\ngpu0,gpu1,1000000,0.99e-5,c\ngpu2,gpu1,1000,4e-8,c\n";
    let found = parameters(topology, log, &[]);
    assert_eq!(named(&found, "latency of nvl"), None);
    let carries = named(&found, "bandwidth of nvl").and_then(|nvl| nvl["value"].as_f64()).expect("is fitted");
    assert!((carries / 100e9 - 1.0).abs() < 0.01, "{carries}");
}

/// Between the processor and a GPU only the sum of two latencies shows, and copies between GPUs have one size.
#[test]
fn a_sum_of_latencies_does_not_tell_either() {
    let topology = "link_types: { slot: { bandwidth: 25GB/s }, mem: { bandwidth: 10GB/s, kind: memory } }
tree:
  rc:
    kind: root-complex
    children: { cpu: { kind: cpu, link: mem }, \"gpu[0-1]\": { kind: gpu, link: slot } }
";
    let rows = |by: f64, of: &str| {
        let row = |ends: &str, bytes: u64, seconds: f64, group: &str| {
            format!("{ends},{bytes},{},{group}{of}\n", seconds * by)
        };
        [
            row("cpu,gpu0", 100_000, 12e-6, "short"),
            row("cpu,gpu0", 1_000_000_000, 0.100002, "long"),
            row("gpu0,gpu1", 16_000, 2.32e-6, "peers"),
            row("cpu,gpu0", 1_000_000_000, 0.200002, "both"),
            row("cpu,gpu1", 1_000_000_000, 0.200002, "both"),
        ]
        .concat()
    };
    let log = [rows(0.995, "1"), rows(1.0, "2"), rows(1.005, "3")].concat();
    let found = parameters(topology, &log, &["--fit", "bandwidth,latency"]);
    for name in ["latency of slot", "latency of mem"] {
        assert_eq!(named(&found, name).expect("is there")["state"], "together", "{name}");
    }
}

/// Where others make up for `tau`, what moves instead stays above 0 all the same.
#[test]
fn latencies_are_not_below_0() {
    let topology = "link_types:
  mem: { bandwidth: 128.52GB/s, kind: memory }
  slotb: { bandwidth: 56.284GB/s }
  slot: { bandwidth: 30.337GB/s }
  upl: { bandwidth: 16.312GB/s }
tree:
  rc0:
    kind: root-complex
    children:
      cpu0: { kind: cpu, link: mem }
      sw00: { kind: switch, link: upl, children: { gpu0: { kind: gpu, link: slotb }, gpu1: { kind: gpu, link: slot } } }
      sw01: { kind: switch, link: upl, children: { gpu2: { kind: gpu, link: slotb }, gpu3: { kind: gpu, link: slot } } }
";
    let log = "gpu0,cpu0,16777216,0.001028519863,g0\ngpu3,cpu0,268435456,0.016456317803,g1
gpu1,cpu0,16777216,0.001028519863,g2\ngpu1,gpu3,1048576,9.2070822e-05,g3\ngpu2,gpu3,1048576,5.0964703e-05,g3\n";
    let found = parameters(topology, log, &["--per-link", "no", "--arbiter", "pcie-congestion"]);
    let below = found.iter().filter(|parameter| parameter["value"].as_f64().is_some_and(|value| value < 0.0));
    assert_eq!(below.collect::<Vec<_>>(), Vec::<&Value>::new());
}
