//! Copies between host memory and eight H800 by nvbandwidth: what they share is fitted, and the copies out of eight GPUs at
//! once, both ways, are predicted. And those of one H100, by tools/measure.
//!
//! Numbers of liguodongiot/llm-action, commit b676a90b, in scenarios/measured/h800-host.csv; one column for each GPU.

use std::fmt::Write as _;

use crate::common::{library, machine};
use weir_calibrate::fit::{Known, mean_error};
use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Experiment, Fit, FitOptions, fit};
use weir_scenario::Machine;

const HELD_OUT: &str = "all_to_host_bidirectional_memcpy_ce";
/// What the two sockets have before the fit: far from what the rows ask for.
const START: [(&str, &str); 3] = [
    ("link_types.pcie", "{ up: 50GB/s, down: 50GB/s, shared: 95GB/s }"),
    ("link_types.memory", "{ up: 300GB/s, down: 300GB/s, kind: memory }"),
    ("tree.\"rc[0-1]\".children.cpu.memory.bandwidth", "400GB/s"),
];

/// The rows as nvbandwidth prints them, but for GPU 1 both ways: it has 50.5 GB/s out where the seven others have 34.3 to
/// 34.7, and 24.6 in of 33.5 to 34.4 with all at once. Nothing known of the machine explains that.
fn log() -> String {
    let mut out = String::from("nvbandwidth Version: v0.5\n\n");
    let table = std::fs::read_to_string(library("measured/h800-host.csv")).expect("the table");
    for row in table.lines().filter(|line| !line.starts_with(['#', 't'])) {
        let cells: Vec<&str> = row.split(',').collect();
        let cells_of = cells[4..].iter().enumerate();
        let each: Vec<&str> =
            cells_of.map(|(gpu, &cell)| if cells[3] == "yes" && gpu == 1 { "N/A" } else { cell }).collect();
        let ways = if cells[1] == "in" { "->" } else { "<-" };
        let _ = write!(
            out,
            "Running {}.\nmemcpy CE CPU(row) {ways} GPU(column) bandwidth (GB/s)\n           0         1         2         3         4         5         6         7\n 0     {}\n\nSUM {} 1.0\n\n",
            cells[0],
            each.join("     "),
            cells[0]
        );
    }
    out
}

fn experiments(machine: &Machine) -> Vec<Experiment> {
    let options = ReadOptions { kind: Some(LogKind::Nvbandwidth), ..ReadOptions::default() };
    let (_, log) = read_log_text("h800", &log(), machine, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(log.experiments.len(), 4 * 8 + 4 * 7, "{:?}", log.skipped);
    log.experiments
}

/// The fit without the rows held out, and the largest error of each test, those held out last.
fn predicted(host_weight: bool) -> (Fit, f64, f64) {
    let machine = machine("topologies/h800-host.yaml", &START);
    let (out, kept): (Vec<_>, Vec<_>) = experiments(&machine).into_iter().partition(|e| e.name.starts_with(HELD_OUT));
    let found = fit(&machine, &machine.arbiters[0], &kept, &FitOptions { host_weight, ..FitOptions::default() })
        .expect("a fit");
    let simulator = weir_calibrate::fit::Simulator::new(&machine, &machine.arbiters[0], &out).expect("the same copies");
    let simulated = simulator.seconds(&found.setting, |_| true).expect("they can be simulated");
    let error = |(simulated, e): (&Vec<f64>, &Experiment)| (simulated[0] / e.rows[0].seconds - 1.0).abs();
    let held_out = simulated.iter().zip(&out).map(error).fold(0.0, f64::max);
    let fitted = found.rows.iter().map(|row| row.error().abs()).fold(0.0, f64::max);
    (found, fitted, held_out)
}

/// The weight is told by one GPU both ways, and the memory by copies into eight; what eight copies out get follows.
#[test]
fn copies_out_of_eight_gpus_are_predicted() {
    let (found, fitted, held_out) = predicted(true);
    for f in &found.parameters {
        println!("{}: {} {:?}", f.parameter.name, f.value, f.known);
    }
    println!("fitted {fitted}, held out {held_out}, mean {:?}", mean_error(&found.rows));
    assert!(fitted < 0.1 && held_out < 0.1, "fitted {fitted}, held out {held_out}");
    let weight = found.parameters.iter().find(|f| f.parameter.name == "weight of copies out of host memory");
    let weight = weight.expect("a weight was asked for");
    assert!((1.4..1.6).contains(&weight.value) && matches!(weight.known, Known::Error(_)), "{weight:?}");
}

/// With equal weights no shared bandwidth explains that copies in win.
#[test]
fn equal_weights_do_not_explain_them() {
    let (found, fitted, held_out) = predicted(false);
    println!("fitted {fitted}, held out {held_out}, {:?}", found.parameters);
    assert!(fitted.max(held_out) > 0.15, "fitted {fitted}, held out {held_out}");
}

/// The values of a topology for one GPU are found again from the rows that they come from, from far off.
fn links_are_found_from_copies_of_all_sizes(gpu: &str, values: [(&str, f64, f64); 3]) {
    let start = [
        ("link_types.pcie5-x16", "{ kind: pcie, bandwidth: 30GB/s, latency: 100us, shared: 50GB/s }"),
        ("link_types.memory", "{ kind: memory, bandwidth: 300GB/s }"),
    ];
    let machine = machine(&format!("topologies/{gpu}-host.yaml"), &start);
    let name = format!("{gpu}-fitted.csv");
    let text = std::fs::read_to_string(library(&format!("measured/{name}"))).expect("the rows");
    let (kind, log) = read_log_text(&name, &text, &machine, &ReadOptions::default()).expect("a log");
    assert_eq!((kind, log.experiments.len(), log.skipped.len()), (LogKind::Csv, 38 + 19, 0));
    let found = fit(&machine, &machine.arbiters[0], &log.experiments, &FitOptions::default()).expect("a fit");
    let value = |name: &str| {
        let of = found.parameters.iter().find(|f| f.parameter.name == name);
        of.unwrap_or_else(|| panic!("{name} in {:?}", found.parameters)).value
    };
    println!("{:?}", found.parameters);
    for (name, wanted, room) in values {
        assert!((value(name) / wanted - 1.0).abs() < room, "{name}: {}", value(name));
    }
    // Copies of 1 MB and more take 23 µs and more.
    let large = found.rows.iter().filter(|row| row.measured > 22e-6);
    assert!(large.map(|row| row.error().abs()).fold(0.0, f64::max) < 0.1);
}

#[test]
fn links_of_an_h100_are_found() {
    let values = [
        ("bandwidth of pcie5-x16", 55.3e9, 0.01),
        ("shared of pcie5-x16", 98.6e9, 0.015),
        ("latency of pcie5-x16", 7.937e-6, 0.05),
    ];
    links_are_found_from_copies_of_all_sizes("h100", values);
}

#[test]
fn links_of_an_h200_are_found() {
    let values = [
        ("bandwidth of pcie5-x16", 55.29e9, 0.01),
        ("shared of pcie5-x16", 101.5e9, 0.015),
        ("latency of pcie5-x16", 8.205e-6, 0.05),
    ];
    links_are_found_from_copies_of_all_sizes("h200", values);
}
