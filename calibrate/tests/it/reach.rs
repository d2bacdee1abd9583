//! What a fit may move, and how far from the topology's values: as far as the measured throughputs ask.

use crate::common::{built_in, group, machine_of};
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, FitOptions, fit};
use weir_scenario::Machine;

/// Two GPUs at one switch.
fn machine(bandwidth: &str) -> Machine {
    machine_of(&format!(
        "weir: 1\nlink_types: {{ leaf: {{ bandwidth: {bandwidth} }} }}\ntree: {{ rc: {{ kind: root-complex, children: {{ 'gpu[0-1]': {{ \
         kind: gpu, link: leaf }} }} }} }}\n"
    ))
}

/// Copies of so many bytes that took so many seconds each.
fn rows(machine: &Machine, measured: &[(u64, f64)]) -> Vec<Experiment> {
    let one = |&(bytes, seconds): &(u64, f64)| {
        let mut one = group(machine, "copy", &[("gpu0", "gpu1", bytes)]);
        one.rows[0].seconds = seconds;
        one
    };
    measured.iter().map(one).collect()
}

/// The bandwidth of the topology, the bytes and seconds of copies, and their rate.
type Case<'a> = (&'a str, &'a [(u64, f64)], f64);

/// The rate of lone copies is bytes over seconds, whatever the topology says: 12 GB in 1 s, and 1 GB in 100 s, 1200 times less. One
/// row tells it, too.
#[test]
fn a_start_a_thousand_times_off_finds_the_measured_rate() {
    let cases: [Case<'_>; 4] = [
        ("13.5TB/s", &[(12_000_000_000, 1.0), (6_000_000_000, 0.5)], 12e9),
        ("12GB/s", &[(1_000_000_000, 100.0), (2_000_000_000, 200.0)], 1e7),
        ("12GB/s", &[(1_000_000_000, 100.0)], 1e7),
        ("10MB/s", &[(12_000_000_000, 1.0), (6_000_000_000, 0.5)], 12e9),
    ];
    for (start, measured, expected) in cases {
        let machine = machine(start);
        let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
        let found = fit(&machine, &built_in("max-min"), &rows(&machine, measured), &options).expect("a fit");
        let [leaf] = &found.parameters[..] else { panic!("{:?}", found.parameters) };
        assert!((leaf.value / expected - 1.0).abs() < 1e-9, "{start}: {leaf:?}");
        assert!(matches!(leaf.known, Known::Error(_) | Known::Exactly), "{start}: {leaf:?}");
    }
}

/// A copy of a cache line takes its latency, on any link.
#[test]
fn tiny_copies_tell_no_bandwidth() {
    let machine = machine("12GB/s");
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    let error = fit(&machine, &built_in("max-min"), &rows(&machine, &[(64, 1e-6), (8, 1e-6)]), &options).unwrap_err();
    assert!(error.to_string().contains("tell latencies, and no bandwidth"), "{error}");
    let latency = FitOptions { bandwidth: false, latency: Choice::Yes, ..options };
    fit(&machine, &built_in("max-min"), &rows(&machine, &[(64, 1e-6), (8, 1e-6)]), &latency).expect("a latency");
}

/// No parameter has an empty name: the message says what has one.
#[test]
fn an_empty_name_is_nothing_to_fit() {
    let machine = machine("12GB/s");
    let options = FitOptions { arbiter: Some(vec![String::new()]), ..FitOptions::default() };
    let error = fit(&machine, &built_in("max-min"), &rows(&machine, &[(1, 1.0)]), &options).unwrap_err().to_string();
    assert!(error.contains("name bandwidth, latency, weight, loggp") && !error.contains("  "), "{error}");
}
