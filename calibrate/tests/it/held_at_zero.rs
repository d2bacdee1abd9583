//! Times that a step takes below 0 are held there only as long as the rows ask for it.

use crate::common::{accepted, built_in, group, machine, machine_of, measure};
use crate::random::Random;
use weir_calibrate::fit::{Choice, Known, mean_error};
use weir_calibrate::read::{ReadOptions, read_log_text};
use weir_calibrate::{Experiment, FitOptions, fit};
use weir_scenario::Machine;

const MEASURED: &str = include_str!("../data/three-latencies.csv");

/// The machine of the rows, with bandwidths in GB/s and latencies in ns of its slots, switches' links and sockets.
fn sockets(pcie: [f64; 2], up: [f64; 2], sock: [f64; 2]) -> Machine {
    let of = |[bandwidth, latency]: [f64; 2]| format!("{{ bandwidth: {bandwidth}GB/s, latency: {latency}ns }}");
    let socket = |at: usize, gpus: &str| {
        format!(
            "  rc{at}:\n    kind: root-complex\n    children:\n      cpu{at}: {{ kind: cpu, link: mem }}\n      sw{at}: {{ kind: switch, \
             link: up, children: {{ 'gpu[{gpus}]': {{ kind: gpu, link: pcie, engines: 16 }} }} }}\n"
        )
    };
    machine_of(&format!(
        "weir: 1\nlink_types:\n  pcie: {}\n  mem: {}\n  up: {}\n  sock: {}\ntree:\n{}{}links:\n  - {{ between: [rc0, rc1], type: sock }}\n",
        of(pcie),
        of([95.4, 0.0]),
        of(up),
        of(sock),
        socket(0, "0-2"),
        socket(1, "3-5")
    ))
}

/// A step along what the rows hardly tell takes a latency below 0. From the true values, and from others, the fit ends at the true
/// ones within four standard errors, and no further off the rows than the 1 % that was put on them.
#[test]
fn a_latency_that_a_step_takes_to_0_comes_back() {
    for machine in [
        sockets([21.11, 1148.0], [36.4, 1914.0], [19.2, 1915.0]),
        sockets([26.191, 3012.0], [33.941, 4311.0], [24.252, 2400.0]),
    ] {
        let (_, log) = read_log_text("log", MEASURED, &machine, &ReadOptions::default()).expect("a table");
        let options = FitOptions { hold_out: 0.0, finer: Choice::No, ..FitOptions::default() };
        let found = fit(&machine, &built_in("max-min"), &log.experiments, &options).expect("a fit");
        for (name, expected) in [("pcie", 1148e-9), ("up", 1914e-9), ("sock", 1915e-9)] {
            let name = format!("latency of {name}");
            let fitted = found.parameters.iter().find(|fitted| fitted.parameter.name == name).expect("it is fitted");
            let Known::Error(error) = fitted.known else { panic!("{name}: {:?}", fitted.known) };
            assert!((fitted.value - expected).abs() < 4.0 * error, "{name}: {} ± {error}", fitted.value);
            assert!(error < 0.1e-6, "{name}: {} ± {error}", fitted.value);
        }
        assert!(mean_error(&found.rows).expect("rows") < 0.011, "{:?}", mean_error(&found.rows));
    }
}

/// Copies of 1 kB to 1 MB over 10 GB/s with 0.3 µs on the way through a switch, and with nothing, or less, on the way below it:
/// what is held at 0 holds no other latency there, though it is below a microsecond.
#[test]
fn a_small_latency_beside_one_at_0_has_its_value() {
    let text = "weir: 1\nlink_types:\n  slot: { bandwidth: 10GB/s }\n  up: { bandwidth: 10GB/s }\ntree:\n  rc:\n    kind: root-complex\n    \
                children:\n      sw0: { kind: switch, link: up, children: { 'gpu[0-1]': { kind: gpu, link: slot } } }\n      \
                sw1: { kind: switch, link: up, children: { 'gpu[2-3]': { kind: gpu, link: slot } } }\n";
    let machine = machine_of(text);
    let mut all = Vec::new();
    for bytes in [1_000, 10_000, 100_000, 1_000_000] {
        for (from, to, more) in [("gpu0", "gpu1", -2e-9), ("gpu0", "gpu2", 300e-9), ("gpu3", "gpu1", 300e-9)] {
            let mut copy = group(&machine, &format!("{from} to {to}, {bytes}"), &[(from, to, bytes)]);
            copy.rows[0].seconds = bytes as f64 / 10e9 + more;
            all.push(copy);
        }
    }
    let options = FitOptions { hold_out: 0.0, latency: Choice::Yes, finer: Choice::No, ..FitOptions::default() };
    let found = fit(&machine, &built_in("max-min"), &all, &options).expect("a fit");
    let of = |name: &str| found.parameters.iter().find(|f| f.parameter.name == name).expect("it is fitted");
    assert_eq!(
        (of("latency of slot").value, of("latency of slot").known),
        (0.0, Known::AtZero),
        "{:#?}",
        found.parameters
    );
    let up = of("latency of up");
    assert!((up.value - 150e-9).abs() < 2e-9 && matches!(up.known, Known::Error(_)), "{up:?}");
}

/// Small messages that are slower than larger ones ask for a G below 0. It goes down as far as a fit may go, and has no error.
#[test]
fn a_time_per_byte_at_the_end_of_its_range_has_no_error() {
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let message = |&(bytes, us): &(u64, f64)| {
        let mut one = group(&machine, "one", &[("gpu0", "gpu1", bytes)]);
        one.rows[0].seconds = us * 1e-6;
        one
    };
    let experiments: Vec<Experiment> =
        [(1, 180.0), (1_000, 80.0), (1_000_000, 8.0), (10_000_000, 40.0)].iter().map(message).collect();
    let options = FitOptions {
        hold_out: 0.0,
        bandwidth: false,
        latency: Choice::No,
        arbiter: Some(Vec::new()),
        loggp: true,
        ..FitOptions::default()
    };
    let found = fit(&machine, &built_in("max-min"), &experiments, &options).expect("a fit");
    accepted("a time per byte below 0", &machine, &experiments, &found);
    let of = found.parameters.iter().find(|f| f.parameter.name.starts_with("per_byte")).expect("it is fitted");
    assert_eq!(of.known, Known::AtLeast, "{:#?}", found.parameters);
}

/// A `tau` of 0.006 is so near 0 that a solver may have stopped short of it, but the rows rise on both sides of it: it has a value with
/// an error.
#[test]
fn tau_beside_the_end_of_its_range_has_an_error() {
    let machine = machine("topologies/cs-storm-t2.yaml", &[]);
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let once = [
            group(&machine, "inside", &[("gpu0", "gpu1", 300_000_000)]),
            group(&machine, "across", &[("gpu4", "gpu1", 300_000_000)]),
        ];
        let mut experiments: Vec<Experiment> = (0..4).flat_map(|_| once.clone()).collect();
        measure(&machine, ("pcie-congestion", Some(0.006)), &mut experiments, || random.factor(4e-4));
        let options = FitOptions { finer: Choice::No, ..FitOptions::default() };
        let found = fit(&machine, &built_in("pcie-congestion"), &experiments, &options).expect("a fit");
        let tau = found.parameters.iter().find(|one| one.parameter.name.starts_with("tau")).expect("it is fitted");
        let Known::Error(error) = tau.known else { panic!("{seed}: {:?}", tau.known) };
        assert!((tau.value - 0.006).abs() < 5.0 * error && error < 1e-3, "{seed}: {} ± {error}", tau.value);
    }
}

/// Copies across the root complex that are 5 % faster than inside a board ask for a `tau` below 0. It stays at 0, without an
/// error, and the bandwidth has that of a mean of six rows: √(SSE / (6 · 5)).
#[test]
fn tau_at_the_end_of_its_range_is_no_value_with_an_error() {
    let machine = machine("topologies/cs-storm-t2.yaml", &[]);
    let times = [("gpu1", 25.28), ("gpu1", 25.33), ("gpu1", 25.23), ("gpu4", 24.0), ("gpu4", 24.05), ("gpu4", 23.95)];
    let copy = |&(to, ms): &(&str, f64)| {
        let mut copy = group(&machine, to, &[("gpu0", to, 300_000_000)]);
        copy.rows[0].seconds = ms * 1e-3;
        copy
    };
    let experiments: Vec<Experiment> = times.iter().map(copy).collect();
    let options = FitOptions { hold_out: 0.0, finer: Choice::No, ..FitOptions::default() };
    let found = fit(&machine, &built_in("pcie-congestion"), &experiments, &options).expect("a fit");
    accepted("a tau below 0", &machine, &experiments, &found);
    let of = |name: &str| found.parameters.iter().find(|f| f.parameter.name.starts_with(name)).expect("it is fitted");
    assert_eq!((of("tau").value, of("tau").known), (0.0, Known::AtLeast));
    let logs: Vec<f64> = times.iter().map(|(_, ms)| ms.ln()).collect();
    let mean = logs.iter().sum::<f64>() / 6.0;
    let expected = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 30.0).sqrt();
    let (Known::Error(error) | Known::IfNarrowest(Some(error))) = of("bandwidth").known else {
        panic!("{:?}", of("bandwidth"))
    };
    assert!((error / of("bandwidth").value / expected - 1.0).abs() < 1e-3, "{error}, {expected}");
    assert_eq!(found.freedom, 5);
    // The same where they are less than a hundredth faster.
    let near: Vec<Experiment> =
        times[..3].iter().map(copy).chain([25.1, 25.12, 25.08].map(|ms| copy(&("gpu4", ms)))).collect();
    let found = fit(&machine, &built_in("pcie-congestion"), &near, &options).expect("a fit");
    let tau = found.parameters.iter().find(|f| f.parameter.name.starts_with("tau")).expect("it is fitted");
    assert_eq!((tau.value, tau.known), (0.0, Known::AtLeast));
}

/// Copies across the root complex that are three times as slow ask for a `tau` of 2/3, and it is just below 1/2 at most.
#[test]
fn tau_at_the_other_end_of_its_range_is_no_value_either() {
    let machine = machine("topologies/cs-storm-t2.yaml", &[]);
    let times = [("gpu1", 25.3), ("gpu1", 25.2), ("gpu4", 75.6), ("gpu4", 75.9), ("gpu4", 76.1)];
    let copy = |(to, ms): (&str, f64)| {
        let mut copy = group(&machine, to, &[("gpu0", to, 300_000_000)]);
        copy.rows[0].seconds = ms * 1e-3;
        copy
    };
    let experiments = times.map(copy);
    let options = FitOptions { finer: Choice::No, ..FitOptions::default() };
    let found = fit(&machine, &built_in("pcie-congestion"), &experiments, &options).expect("a fit");
    let tau = found.parameters.iter().find(|f| f.parameter.name.starts_with("tau")).expect("it is fitted");
    assert_eq!((tau.value, tau.known), (0.499_999, Known::AtMost));
}

/// One row of 4 kB among large ones with errors of 0.3 % tells a sum of latencies. The fit takes two of the three to 0; the error of the
/// third one counts that they need not be.
#[test]
fn one_short_row_tells_no_latency_by_itself() {
    let machine = machine_of(
        "weir: 1\nlink_types:\n  slot: { bandwidth: 50GB/s, latency: 1us }\n  up: { bandwidth: 12GB/s, latency: 1us }\n  \
         mem: { bandwidth: 100GB/s, latency: 1us }\ntree:\n  rc: { kind: root-complex, children: { cpu0: { kind: cpu, link: mem }, \
         sw: { kind: switch, link: up, children: { 'gpu[0-1]': { kind: gpu, link: slot } } }, \
         sw1: { kind: switch, link: up, children: { 'gpu[2-3]': { kind: gpu, link: slot } } } } }\n",
    );
    // Made with 2.03, 0.26 and 1.96 us.
    let text = "from,to,bytes,seconds,group\n\
         gpu0,cpu0,100000000,0.00832489361,g0\n\
         gpu1,cpu0,1000000000,0.0831559532,g1\n\
         gpu0,gpu1,1000000000,0.0198887491,g1\n\
         gpu0,gpu1,100000000,0.00200392085,g2\n\
         gpu2,gpu3,100000000,0.00200841708,g2\n\
         gpu2,gpu0,100000000,0.00833442974,g3\n\
         gpu1,gpu0,100000000,0.0020090488,g4\n\
         gpu2,gpu3,1000000000,0.0200141269,g5\n\
         gpu0,gpu3,1000000000,0.0832621533,g6\n\
         gpu3,gpu1,1000000000,0.0832778585,g7\n\
         gpu3,gpu2,100000000,0.0020062559,g8\n\
         gpu2,cpu0,4096,4.58874144e-06,g9\n";
    let (_, log) = read_log_text("log", text, &machine, &ReadOptions::default()).expect("a table");
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    let found = fit(&machine, &built_in("max-min"), &log.experiments, &options).expect("a fit");
    for (name, truth) in [("slot", 2.03e-6), ("up", 0.26e-6), ("mem", 1.96e-6)] {
        let fitted =
            found.parameters.iter().find(|f| f.parameter.name == format!("latency of {name}")).expect("a parameter");
        if let Known::Error(error) = fitted.known {
            assert!((fitted.value - truth).abs() < 4.0 * error, "{name}: {} ± {error}", fitted.value);
        }
    }
    assert!(
        found
            .parameters
            .iter()
            .any(|f| matches!(f.known, Known::Error(error) if f.parameter.name.starts_with("latency") && error > 1e-6))
    );
}
