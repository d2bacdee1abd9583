//! What is said of a fit that does not fit, or does not predict: rows of a fit whose times are put in by hand.

use crate::common::{accepted, built_in, group, library, machine, machine_of, measure};
use weir_calibrate::fit::{Choice, Known, Simulator, parameter::Setting};
use weir_calibrate::{Experiment, Fit, FitOptions, FitReport, Made, fit, json, warnings, write_topology};
use weir_scenario::{LoadOptions, Machine};

const GB: u64 = 1_000_000_000;

fn star() -> Machine {
    machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 10GB/s } }\ntree: { sw: { kind: switch, children: { 'gpu[0-4]': { kind: gpu, link: \
         slot } } } }\n",
    )
}

/// Copies of 1 GB, and of a smaller one, with a fit of all.
fn fitted(machine: &Machine, small: u64) -> (Vec<Experiment>, Fit) {
    let sizes = [("first", GB), ("second", GB), ("third", GB), ("small", small)];
    let mut all: Vec<Experiment> = sizes.map(|(name, bytes)| group(machine, name, &[("gpu0", "gpu1", bytes)])).into();
    measure(machine, ("max-min", None), &mut all, || 1.0);
    let options = FitOptions { hold_out: 0.0, latency: Choice::No, ..FitOptions::default() };
    let found = fit(machine, &built_in("max-min"), &all, &options).expect("a fit");
    (all, found)
}

/// The warnings of a fit whose rows are off by these parts of what was measured.
fn said(machine: &Machine, experiments: &[Experiment], fit: &mut Fit, errors: [f64; 4]) -> String {
    fit.rows.iter_mut().zip(errors).for_each(|(row, error)| row.simulated = row.measured * (1.0 + error));
    let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
    warnings(machine, experiments, fit, made).join("\n")
}

/// Above 20 % on average it does not fit; the rows that are furthest off are named in turn.
#[test]
fn a_mean_error_above_a_fifth_is_said() {
    let machine = star();
    let (all, mut found) = fitted(&machine, GB);
    assert_eq!(said(&machine, &all, &mut found, [0.2, -0.2, 0.2, 0.199]), "");
    let text = said(&machine, &all, &mut found, [0.1, -0.3, 0.5, 0.2]);
    assert!(text.starts_with("the model does not fit: mean error 27.5 %\n  the worst rows: `third` "), "{text}");
    let places =
        ["`third` gpu0 → gpu1, 1 GB: +50", "`second` gpu0 → gpu1, 1 GB: -30", "`small` gpu0 → gpu1, 1 GB: +20"]
            .map(|name| text.find(name).unwrap_or_else(|| panic!("{name}: {text}")));
    assert!(places.is_sorted() && !text.contains("`first`"), "{text}");
}

/// Rows that were held out are judged where those fitted are near.
#[test]
fn rows_held_out_that_are_far_off_are_said() {
    let machine = star();
    let (all, mut found) = fitted(&machine, GB);
    found.rows[3].held_out = true;
    assert_eq!(said(&machine, &all, &mut found, [0.0, 0.0, 0.0, 0.19]), "");
    let text = said(&machine, &all, &mut found, [0.1, 0.0, 0.0, 0.5]);
    assert!(text.starts_with("the model does not predict: mean error 50.0 % of the rows held out\n"), "{text}");
    assert!(text.contains("`small`") && !text.contains("`first`"), "{text}");
    let text = said(&machine, &all, &mut found, [0.5, 0.4, 0.3, 0.1]);
    assert!(text.starts_with("the model does not fit: mean error 40.0 %\n"), "{text}");
}

/// The same in JSON: means of the rows that were fitted and of those held out, and each row with its error.
#[test]
fn json_has_both_means_and_every_row() {
    let machine = star();
    let (all, mut found) = fitted(&machine, GB);
    found.rows[3].held_out = true;
    let warnings = [said(&machine, &all, &mut found, [0.125, -0.25, 0.375, 0.5])];
    let report = FitReport { machine: &machine, experiments: &all, logs: &[], fit: &found, warnings: &warnings };
    let json = json(&report);
    let number = |pointer: &str| json.pointer(pointer).and_then(serde_json::Value::as_f64).expect(pointer);
    for (pointer, expected) in [
        ("/mean_error_fitted", 0.25),
        ("/mean_error_held_out", 0.5),
        ("/rows/1/error", -0.25),
        ("/rows/1/simulated_s", 0.075),
        ("/rows/1/measured_s", 0.1),
        ("/rows/1/bytes", 1e9),
        ("/parameters/0/value", 10e9),
        ("/parameters/0/before", 10e9),
        ("/rank", 1.0),
        ("/freedom", 3.0),
    ] {
        assert!((number(pointer) - expected).abs() <= 1e-9 * expected.abs(), "{pointer}: {}", number(pointer));
    }
    for (pointer, expected) in [
        ("/rows/3/held_out", "true"),
        ("/rows/2/held_out", "false"),
        ("/rows/3/outlier", "false"),
        ("/rows/0/group", "\"first\""),
        ("/rows/0/what", "\"gpu0 → gpu1\""),
        ("/parameters/0/name", "\"bandwidth of slot\""),
        ("/parameters/0/unit", "\"B/s\""),
        ("/parameters/0/state", "\"fitted\""),
        ("/not_explained", "[]"),
        ("/skipped", "[]"),
    ] {
        assert_eq!(json.pointer(pointer).map(ToString::to_string).as_deref(), Some(expected), "{pointer}");
    }
}

/// A row of t seconds has the weight 1/√(1 + (s/t)²). With s of three quarters of the rows of 1 GB these have 0.8, and one of an
/// eighth of the bytes, with t = s/6, has 1/√37 = 0.1644.
#[test]
fn rows_are_judged_by_how_much_they_count() {
    let machine = star();
    let (all, mut found) = fitted(&machine, GB / 8);
    found.even = 0.75 * found.rows[0].measured;
    let mean = |small: f64| 100.0 * (3.0 * 0.8 * 0.2 + 0.1644 * small) / (3.0 * 0.8 + 0.1644);
    assert_eq!(said(&machine, &all, &mut found, [0.2, 0.2, 0.2, 0.19]), "");
    let text = said(&machine, &all, &mut found, [0.2, 0.2, 0.2, 3.0]);
    let expected = format!("the model does not fit: mean error {:.1} %, each row by how much it counts,\n", mean(3.0));
    assert!(text.starts_with(&expected), "{expected}: {text}");
    // The worst are those with the largest part in that: 0.8 · 0.3 is above 0.1644 · 0.5.
    let text = said(&machine, &all, &mut found, [0.3, 0.3, 0.3, 0.5]);
    assert!(text.contains("`first`") && text.contains("`third`") && !text.contains("`small`"), "{text}");
}

/// Where small rows are further off than large ones, or the ones too fast and the others too slow, the latency is to blame. By
/// how far they are off is told by the logarithm: half as long is as far as twice as long.
#[test]
fn small_rows_are_to_blame_where_they_are_further_off() {
    let machine = star();
    let (all, mut found) = fitted(&machine, GB / 64);
    for (errors, factor) in [
        ([0.5, 0.5, 0.5, 3.0], Some("4.0")),
        ([0.5, 0.5, 0.5, -0.5], Some("2.0")),
        ([1.0, 1.0, 1.0, -0.4], Some("1.7")),
        ([1.0, 1.0, 1.0, 1.0], Some("2.0")),
        ([1.0, 1.0, 1.0, 0.9], None),
        ([-0.5, -0.5, -0.5, -0.4], None),
        ([-0.5, -0.5, -0.5, 0.3], Some("1.3")),
        ([1.0, 1.0, 1.0, -0.1], None),
    ] {
        let text = said(&machine, &all, &mut found, errors);
        let expected = factor
            .map(|factor| format!("`small` of 15.625 MB is off by a factor of {factor}, and no latency is fitted"));
        assert_eq!(expected.is_some(), text.contains("no latency is fitted"), "{errors:?}: {text}");
        assert!(expected.is_none_or(|expected| text.contains(&expected)), "{errors:?}: {text}");
    }
    // What is more than a 64th of the largest is not small.
    let (all, mut found) = fitted(&machine, GB / 63);
    assert!(!said(&machine, &all, &mut found, [0.5, 0.5, 0.5, 3.0]).contains("no latency"));
    // A row that counts for little blames nobody.
    let (all, mut found) = fitted(&machine, GB / 64);
    found.even = 1e3;
    assert!(!said(&machine, &all, &mut found, [0.5, 0.5, 0.5, 3.0]).contains("no latency"));
}

/// The three that are the furthest above what a link carries, by the factor and not by the rate.
#[test]
fn the_worst_above_a_link_come_first() {
    let machine = machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 10GB/s }, thin: { bandwidth: 1GB/s } }\ntree: { sw: { kind: switch, children: { \
         'gpu[0-4]': { kind: gpu, link: slot }, 'nic[0-3]': { kind: nic, link: thin } } } }\n",
    );
    let copies = [
        ("twice", "gpu0", "gpu1", 20.0),
        ("five times", "nic0", "nic1", 5.0),
        ("three times", "gpu2", "gpu3", 30.0),
        ("four times", "nic2", "nic3", 4.0),
    ];
    // Two copies each: a lone one that a fit misses is an error of the fit.
    let two = |(name, from, to, _)| group(&machine, name, &[(from, to, GB / 2); 2]);
    let mut all: Vec<Experiment> = copies.map(two).into();
    measure(&machine, ("max-min", None), &mut all, || 1.0);
    let options = FitOptions { hold_out: 0.0, latency: Choice::No, finer: Choice::No, ..FitOptions::default() };
    let found = fit(&machine, &built_in("max-min"), &all, &options).expect("a fit");
    for (experiment, (.., rate)) in all.iter_mut().zip(copies) {
        experiment.rows.iter_mut().for_each(|row| row.seconds = 1.0 / rate);
    }
    let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
    let text = warnings(&machine, &all, &found, made).join("\n");
    assert!(text.starts_with("4 groups are not explained by this topology"), "{text}");
    let places = ["`five times`", "`four times`", "`three times`"].map(|name| text.find(name).expect(name));
    assert!(places.is_sorted() && !text.contains("`twice`"), "{text}");
}

/// What no topology holds is written as a comment that a scenario can take.
#[test]
fn weights_and_loggp_are_written_as_scenarios_take_them() {
    let file = library("topologies/two-socket-8gpu.yaml");
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let one = |bytes, seconds| {
        let mut one = group(&machine, "one", &[("gpu0", "gpu1", bytes)]);
        one.rows[0].seconds = seconds;
        one
    };
    // 2·o + L = 7 µs, and 1 MB more takes 800 µs more; g stays where it was.
    let rows = [one(1, 7e-6), one(1_001, 7.8e-6), one(1_000_001, 807e-6)];
    let options = FitOptions {
        hold_out: 0.0,
        bandwidth: false,
        latency: Choice::No,
        arbiter: Some(Vec::new()),
        loggp: true,
        ..FitOptions::default()
    };
    let found = fit(&machine, &built_in("max-min"), &rows, &options).expect("a fit");
    let logs = ["x.csv".to_owned()];
    let text = write_topology(&file, &machine, &found, &LoadOptions::default(), &logs).expect("a text");
    let hint = text.lines().find(|line| line.contains("In scenarios")).expect("a hint");
    let parts: Vec<&str> = hint.split([',', '{', '}']).map(str::trim).collect();
    let nanoseconds = |at: usize, key: &str| -> f64 {
        let value = parts[at].strip_prefix(key).and_then(|value| value.strip_suffix("ns"));
        value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{key} in {hint}"))
    };
    assert_eq!((parts[0], parts[1]), ("# In scenarios: model:", "name: loggp"), "{hint}");
    let told = nanoseconds(2, "latency: ") + 2.0 * nanoseconds(3, "overhead: ");
    assert!((told - 7_000.0).abs() < 0.01, "{hint}");
    assert_eq!((parts[4], parts[5]), ("gap: 1400ns", "per_byte: 800ps"), "{hint}");
}

/// Copies out of host memory that weigh one and a half: both ways at once they get three fifths of what the directions share.
#[test]
fn the_weight_of_host_memory_is_found_and_written() {
    let text = "weir: 1\nlink_types:\n  pcie: { bandwidth: 50GB/s, shared: 80GB/s }\n  mem: { bandwidth: 300GB/s, kind: memory }\ntree:\n  \
                rc: { kind: root-complex, children: { cpu: { kind: cpu, link: mem }, 'gpu[0-1]': { kind: gpu, link: pcie } } }\n";
    let truth = machine_of(text);
    let arbiter = truth.arbiters[0].clone();
    let ways = [("cpu", "gpu0", 3 * GB), ("gpu0", "cpu", 2 * GB)];
    let mut all = vec![
        group(&truth, "in", &ways[..1]),
        group(&truth, "out", &ways[1..]),
        group(&truth, "both", &ways),
        group(&truth, "other", &[("cpu", "gpu1", GB), ("gpu1", "cpu", GB)]),
    ];
    let simulator = Simulator::new(&truth, &arbiter, &all).expect("routes");
    let setting = Setting { host_weight: 1.5, ..Setting::of(&truth) };
    let seconds = simulator.seconds(&setting, |_| true).expect("all can be simulated");
    all.iter_mut().zip(seconds).for_each(|(e, seconds)| {
        e.rows.iter_mut().zip(seconds).for_each(|(row, seconds)| row.seconds = seconds);
    });
    // 48 and 32 of 80 GB/s: all 3 and all 2 GB end after 62.5 ms.
    assert!(all[2].rows.iter().all(|row| (row.seconds - 0.0625).abs() < 1e-11), "{:?}", all[2].rows);
    let options = FitOptions { hold_out: 0.0, latency: Choice::No, host_weight: true, ..FitOptions::default() };
    let found = fit(&truth, &arbiter, &all, &options).expect("a fit");
    let weight = found.parameters.iter().find(|f| f.parameter.name.starts_with("weight")).expect("is fitted");
    assert!((weight.value - 1.5).abs() < 1e-6 && matches!(weight.known, Known::Error(_)), "{weight:?}");
    assert_eq!(weight.parameter.start, 1.0);
    accepted("a weight of host memory", &truth, &all, &found);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("machine.yaml");
    std::fs::write(&file, text).expect("a file");
    let text = write_topology(&file, &truth, &found, &LoadOptions::default(), &["x.csv".to_owned()]).expect("a text");
    assert!(text.contains("# In scenarios: weight: 1.5 of transfers out of host memory\n"), "{text}");
}
