//! Logs of few rows: nothing is fitted to their noise, and what is left over says how far off values may be.

use crate::common::{accepted, group, machine_of, measure_under};
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, Fit, FitOptions, FitReport, Made, fit, text, warnings};
use weir_report::text::ROWS;
use weir_scenario::Machine;

const GB: u64 = 1_000_000_000;

/// Two GPUs with a link between them, of GB/s up, down, and beside.
fn pair([up, down, beside]: [f64; 3]) -> Machine {
    machine_of(&format!(
        "weir: 1\nlink_types:\n  pcie: {{ kind: pcie, up: {up}GB/s, down: {down}GB/s }}\n  mem: {{ kind: memory, bandwidth: 200GB/s }}\n  \
         xgmi: {{ bandwidth: {beside}GB/s }}\ntree:\n  rc0:\n    kind: root-complex\n    children:\n      cpu0: {{ kind: cpu, link: mem }}\n      \
         gpu0: {{ kind: gpu, link: pcie }}\n      gpu1: {{ kind: gpu, link: pcie }}\nlinks:\n  - {{ between: [gpu0, gpu1], type: xgmi }}\n"
    ))
}

/// Lone copies between all three, `times` each.
fn lone(machine: &Machine, times: usize) -> Vec<Experiment> {
    let ends =
        [("cpu0", "gpu0"), ("cpu0", "gpu1"), ("gpu0", "cpu0"), ("gpu1", "cpu0"), ("gpu0", "gpu1"), ("gpu1", "gpu0")];
    let one = |&(from, to): &(&str, &str)| group(machine, from, &[(from, to, GB)]);
    (0..times).flat_map(|_| ends.iter().map(one)).collect()
}

/// Numbers that are normal enough, of the standard deviation 1: sums of twelve uniform ones, by a linear congruence.
fn normal(state: &mut u64) -> f64 {
    let mut uniform = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

fn fitted(machine: &Machine, experiments: &[Experiment]) -> Fit {
    let options = FitOptions { hold_out: 0.0, latency: Choice::No, ..FitOptions::default() };
    fit(machine, &machine.arbiters[0], experiments, &options).expect("a fit")
}

/// Standard errors and the factors of Student's t distribution beyond which 1 of 1000 values lies, by degrees of freedom from 1 on.
const ONE_OF_1000: [f64; 12] = [636.6, 31.6, 12.9, 8.61, 6.87, 5.96, 5.41, 5.04, 4.78, 4.59, 4.44, 4.32];

/// Rows repeat to 0.4 %. No link is called another than those of its type, and no value is further off than its error says.
#[test]
fn noise_makes_no_links_differ() {
    let (truth, start) = (pair([26.2, 25.1, 47.3]), pair([26.0, 25.9, 48.0]));
    let mut state = 1;
    for seed in 0..24 {
        let mut experiments = lone(&truth, 1 + seed % 3);
        measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0 + 0.004 * normal(&mut state));
        let found = fitted(&start, &experiments);
        for of in &found.parameters {
            let name = &of.parameter.name;
            assert!(!name.contains(" at ") && !name.contains("elsewhere"), "{seed}: {name}");
            let (Known::Error(error) | Known::IfNarrowest(Some(error))) = of.known else { continue };
            let expected = match () {
                () if name.ends_with("pcie, up") => 26.2e9,
                () if name.ends_with("pcie, down") => 25.1e9,
                () if name.ends_with("xgmi") => 47.3e9,
                () => continue,
            };
            let most = ONE_OF_1000.get(found.freedom - 1).copied().unwrap_or(4.3);
            assert!((of.value - expected).abs() < most * error, "{seed}: {name} {} ± {error}", of.value);
        }
    }
}

/// What a log of six rows had: a link that is 0.9 % slower in the only row over it.
#[test]
fn one_row_is_not_fitted_by_itself() {
    let machine = pair([26.0, 25.9, 48.0]);
    let mut experiments = lone(&machine, 1);
    let seconds = [0.039_900, 0.040_244, 0.038_335, 0.038_338, 0.021_196, 0.021_174];
    experiments.iter_mut().zip(seconds).for_each(|(e, seconds)| e.rows[0].seconds = seconds);
    let found = fitted(&machine, &experiments);
    accepted("six rows", &machine, &experiments, &found);
    let names: Vec<&str> = found.parameters.iter().map(|f| &*f.parameter.name).collect();
    assert_eq!(
        names,
        ["bandwidth of pcie, up", "bandwidth of pcie, down", "bandwidth of mem", "bandwidth of xgmi"],
        "freedom {}",
        found.freedom
    );
    assert_eq!(found.freedom, 3);
    let (logs, warnings) = (Vec::new(), Vec::new());
    let report =
        FitReport { machine: &machine, experiments: &experiments, logs: &logs, fit: &found, warnings: &warnings };
    let printed = text(&report);
    assert!(printed.contains("3 rows more than parameters: 95 of 100 values are within 3.18 standard"), "{printed}");
}

/// Three rows over one link that is 20 % slower are no noise.
#[test]
fn a_link_that_is_slower_gets_a_value_of_its_own() {
    let (truth, start) = (pair([26.2, 25.1, 47.3]), pair([26.0, 25.9, 48.0]));
    let mut experiments = lone(&truth, 3);
    let mut state = 5;
    measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0 + 0.004 * normal(&mut state));
    experiments.iter_mut().skip(1).step_by(6).for_each(|e| e.rows[0].seconds *= 1.25);
    let found = fitted(&start, &experiments);
    accepted("a link that is slower", &start, &experiments, &found);
    assert!(found.parameters.iter().any(|f| f.parameter.name.contains(" at ")), "{:#?}", found.parameters);
}

/// As many rows as a table lists are all of them.
#[test]
fn a_table_that_holds_all_rows_says_nothing_of_others() {
    let machine = pair([26.0, 25.0, 48.0]);
    for (more, cut) in [(0, false), (1, true)] {
        let mut experiments: Vec<Experiment> = lone(&machine, ROWS).into_iter().take(ROWS + more).collect();
        measure_under(&machine, &machine.arbiters[0], &mut experiments, || 1.0);
        let found = fitted(&machine, &experiments);
        let report = FitReport { machine: &machine, experiments: &experiments, logs: &[], fit: &found, warnings: &[] };
        assert_eq!(text(&report).contains("rows with the largest errors"), cut, "{more}");
    }
}

/// Copies of 1 GB and of 16 B, whose 1.3 us are latency: without one, no bandwidth fits both, and nothing else is to blame.
#[test]
fn small_rows_without_a_latency_are_named_as_the_cause() {
    let machine = pair([50.0, 50.0, 50.0]);
    let mut experiments = lone(&machine, 1);
    experiments.iter_mut().for_each(|e| e.rows[0].seconds = 0.02);
    let advice = |experiments: &[Experiment], latency: Choice| {
        let options = FitOptions { hold_out: 0.0, latency, ..FitOptions::default() };
        let found = fit(&machine, &machine.arbiters[0], experiments, &options).expect("a fit");
        let arbiters = ["fcfs".to_owned(), "max-min".to_owned()];
        let made = Made { arbiter: "max-min", arbiters: &arbiters, per_link: false };
        warnings(&machine, experiments, &found, made).join("\n")
    };
    let named = "leave out small rows, or fit latencies as well (--fit bandwidth,latency)";
    assert!(!advice(&experiments, Choice::No).contains("small rows"));
    for (from, to) in [("gpu0", "gpu1"), ("gpu1", "gpu0")] {
        let mut tiny = group(&machine, "tiny", &[(from, to, 16)]);
        tiny.rows[0].seconds = 1.3e-6;
        experiments.push(tiny);
    }
    let text = advice(&experiments, Choice::No);
    assert!(text.contains(named) && text.contains("`tiny` of 16 B is off by a factor of"), "{text}");
    assert!(!text.contains("--devices") && !text.contains("the topology has the links"), "{text}");
    assert!(!advice(&experiments, Choice::Yes).contains("small rows"), "{}", advice(&experiments, Choice::Yes));
    // Beside a large copy, a small one is no small row: what the copies share may be the cause.
    let mut beside = experiments[..6].to_vec();
    for (a, b) in [("gpu0", "gpu1"), ("gpu1", "gpu0")] {
        let mut both = group(&machine, "both", &[(a, b, 16), (b, a, GB)]);
        (both.rows[0].seconds, both.rows[1].seconds) = (1.3e-6, 0.02);
        beside.push(both);
    }
    let text = advice(&beside, Choice::No);
    assert!(text.contains("does not fit") && !text.contains("small rows"), "{text}");
    // Large rows that do not fit are no matter of latencies.
    experiments.truncate(6);
    experiments[0].rows[0].seconds = 0.2;
    let large = advice(&experiments, Choice::No);
    assert!(large.contains("does not fit") && large.contains("--devices") && !large.contains("small rows"), "{large}");
}
