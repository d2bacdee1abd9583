//! LogGP: simulated messages against the formulas, and the fit of what the data tell.

use crate::common::{accepted, built_in, group, machine};
use weir_calibrate::fit::parameter::{Loggp, Setting};
use weir_calibrate::fit::{Choice, Known, Simulator};
use weir_calibrate::{Experiment, FitOptions, MeasuredEnd, fit};
use weir_scenario::Machine;

const TRUE: Loggp = Loggp { latency: 5e-6, overhead: 1e-6, gap: 2e-6, per_byte: 0.8e-9 };

/// One-way times of single messages, and windows of `messages` with a reply of 4 bytes.
fn experiments(machine: &Machine) -> Vec<Experiment> {
    let one = |bytes| group(machine, "one", &[("gpu0", "gpu1", bytes)]);
    let window = |bytes| {
        let mut window = Experiment { messages: 64, reply: Some(4), ..one(bytes) };
        window.rows[0].end = MeasuredEnd::Last;
        window
    };
    vec![one(1), one(1001), one(1_000_001), window(1), window(1001), window(100_001)]
}

fn simulated(machine: &Machine) -> Vec<Experiment> {
    simulated_with(machine, TRUE)
}

fn simulated_with(machine: &Machine, values: Loggp) -> Vec<Experiment> {
    seconds_of(machine, values, experiments(machine))
}

fn seconds_of(machine: &Machine, values: Loggp, mut all: Vec<Experiment>) -> Vec<Experiment> {
    let arbiter = built_in("max-min");
    let simulator = Simulator::new(machine, &arbiter, &all).expect("routes");
    let setting = Setting { loggp: Some(values), ..Setting::of(machine) };
    let seconds = simulator.seconds(&setting, |_| true).expect("messages");
    all.iter_mut().zip(seconds).for_each(|(e, s)| e.rows[0].seconds = s[0]);
    all
}

/// o + (k − 1)·G + L + o for one; o + 64·(k − 1)·G + 63·g + L + o for a window, and L + 2·o + 3·G for its reply.
#[test]
fn messages_take_the_times_of_the_formulas() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let lone = 5e-6 + 2.0 * 1e-6;
    let window = |bytes: f64| lone + 64.0 * bytes * 0.8e-9 + 63.0 * 2e-6 + lone + 3.0 * 0.8e-9;
    let expected = [lone, lone + 0.8e-6, lone + 0.8e-3, window(0.0), window(1e3), window(1e5)];
    for (experiment, expected) in simulated(&machine).iter().zip(expected) {
        assert!((experiment.rows[0].seconds / expected - 1.0).abs() < 1e-9, "{experiment:?}: {expected}");
    }
}

/// Of the five steps of a collective, each begins with what the step before brought: L + 2·o in each, and the bytes once.
#[test]
fn each_step_of_a_collective_pays_overheads_and_latency() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let steps = Experiment { steps: 5, ..group(&machine, "steps", &[("gpu0", "gpu1", 1_001)]) };
    let found = seconds_of(&machine, TRUE, vec![steps])[0].rows[0].seconds;
    let expected = 5.0 * (5e-6 + 2.0 * 1e-6) + 1e3 * 0.8e-9;
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
}

/// What is missing of the two kinds of rows is what is to be measured.
#[test]
fn the_remedy_is_not_what_was_given() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let latency = Choice::No;
    let options =
        FitOptions { bandwidth: false, latency, arbiter: Some(Vec::new()), loggp: true, ..FitOptions::default() };
    let options = FitOptions { hold_out: 0.0, ..options };
    for (several, missing, given) in [(true, "osu_latency", "osu_bw"), (false, "osu_bw", "osu_latency")] {
        let mut data = simulated(&machine);
        data.retain(|e| (e.messages > 1) == several);
        let found = fit(&machine, &built_in("max-min"), &data, &options).expect("a fit");
        accepted(if several { "windows alone" } else { "single messages alone" }, &machine, &data, &found);
        let of_gap = found.unclear.iter().filter(|group| group.names.iter().any(|name| name.starts_with("gap")));
        for group in of_gap {
            assert!(several, "lone messages have no gap: {group:?}");
            assert!(group.remedy.contains(missing) && !group.remedy.contains(given), "{group:?}");
        }
        let named: Vec<&str> = found.unclear.iter().flat_map(|group| group.names.iter().map(String::as_str)).collect();
        assert!(!several || named.iter().any(|name| name.starts_with("gap")), "{named:?}");
        let mut once = named.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), named.len(), "{named:?}");
    }
}

/// g, G and 2·o + L come out; o and L apart cannot, also where o is above g, since o overlaps the message before.
#[test]
fn gap_and_time_per_byte_are_found_and_overhead_is_not() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let arbiter = built_in("max-min");
    let latency = Choice::No;
    let options =
        FitOptions { bandwidth: false, latency, arbiter: Some(Vec::new()), loggp: true, ..FitOptions::default() };
    for values in [TRUE, Loggp { overhead: 3e-6, gap: 0.5e-6, ..TRUE }, Loggp { per_byte: 40e-12, ..TRUE }] {
        let data = simulated_with(&machine, values);
        let found = fit(&machine, &arbiter, &data, &options).expect("a fit");
        let value =
            |name: &str| found.parameters.iter().find(|f| f.parameter.name.starts_with(name)).expect("a parameter");
        let near =
            |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 1e-6, "{value}, not {expected}");
        near(value("gap").value, values.gap);
        near(value("per_byte").value, values.per_byte);
        near(2.0 * value("overhead").value + value("latency").value, 2.0 * values.overhead + values.latency);
        assert_eq!((value("overhead").known, value("latency").known), (Known::Together, Known::Together));
        assert!(found.unclear.len() == 1 && found.unclear[0].remedy.contains("2·o + L"), "{:?}", found.unclear);
    }
}
