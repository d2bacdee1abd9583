//! With 2 % noise on every row, values lie within two of their standard errors about 95 times of 100. The seeds are fixed.

use crate::common::{accepted, built_in, group, machine, machine_of, measure, measure_under};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_calibrate::fit::parameter::{Loggp, Setting};
use weir_calibrate::fit::{Choice, Known, Simulator};
use weir_calibrate::{Experiment, Fit, FitOptions, MeasuredEnd, fit};
use weir_scenario::Machine;

const T2: &str = "topologies/cs-storm-t2.yaml";
const SOCKETS: &str = "topologies/two-socket-8gpu.yaml";
const MB: u64 = 1_000_000;
const SEEDS: u64 = 40;
const NOISE: f64 = 0.02;

/// A normal number: the sum of twelve uniform ones less 6.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let uniform = |random: &mut ChaCha8Rng| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// A factor: 1 and a normal number times the noise.
fn factor(random: &mut ChaCha8Rng) -> f64 {
    1.0 + NOISE * normal(random)
}

/// Counts how many values lie within two standard errors of what they were made with.
#[derive(Default)]
struct Count {
    within: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, fit: &Fit, name: &str, expected: f64) {
        let fitted = fit.parameters.iter().find(|f| f.parameter.name.starts_with(name));
        let fitted = fitted.unwrap_or_else(|| panic!("no {name} in {:#?}", fit.parameters));
        let (Known::Error(error) | Known::IfNarrowest(Some(error))) = fitted.known else {
            panic!("{name} has no error: {fitted:?}")
        };
        // Of the size of the noise: tau is a difference of two times.
        assert!(
            error < 5.0 * NOISE * expected && error > NOISE * expected / 50.0,
            "{name}: {} ± {error}",
            fitted.value
        );
        self.within += usize::from((fitted.value - expected).abs() <= 2.0 * error);
        self.all += 1;
    }

    /// About 95 %: three standard deviations of so many draws.
    fn about_95_percent(&self) {
        let share = self.within as f64 / self.all as f64;
        let most = 3.0 * (0.9545 * 0.0455 / self.all as f64).sqrt();
        assert!((share - 0.9545).abs() < most, "{} of {}: {share}", self.within, self.all);
    }
}

fn run(machine: &Machine, arbiter: &str, experiments: &[Experiment], options: &FitOptions) -> Fit {
    fit(machine, &built_in(arbiter), experiments, options).expect("the data can be fitted")
}

fn plain() -> FitOptions {
    FitOptions { finer: Choice::No, ..FitOptions::default() }
}

#[test]
fn bandwidth_and_tau() {
    let (truth, start) = (machine(T2, &[("link_types.pcie.bandwidth", "12.5GB/s")]), machine(T2, &[]));
    let mut count = Count::default();
    for seed in 0..SEEDS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let once = [
            group(&truth, "inside", &[("gpu0", "gpu1", 300 * MB)]),
            group(&truth, "across", &[("gpu4", "gpu1", 300 * MB)]),
            group(&truth, "both", &[("gpu0", "gpu2", 300 * MB), ("gpu4", "gpu1", 300 * MB)]),
        ];
        let mut experiments: Vec<Experiment> = (0..5).flat_map(|_| once.clone()).collect();
        measure(&truth, ("pcie-congestion", Some(0.2)), &mut experiments, || factor(&mut random));
        let found = run(&start, "pcie-congestion", &experiments, &plain());
        if seed == 0 {
            accepted("bandwidth and tau with noise", &start, &experiments, &found);
        }
        count.add(&found, "bandwidth of pcie", 12.5e9);
        count.add(&found, "tau of pcie-congestion", 0.2);
    }
    count.about_95_percent();
}

#[test]
fn bandwidth_per_direction_and_latency() {
    let memory = ("link_types.memory", "{ bandwidth: 204.8GB/s, latency: 1us, kind: memory }");
    let set = [("link_types.pcie", "{ up: 20GB/s, down: 24GB/s, latency: 2us }"), memory];
    let start = machine(SOCKETS, &[("link_types.pcie", "{ up: 15GB/s, down: 30GB/s }")]);
    let truth = machine(SOCKETS, &set);
    let mut count = Count::default();
    for seed in 0..SEEDS / 2 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = [1_000, 100 * MB];
        let ends = [("cpu0", "gpu0"), ("gpu1", "cpu0"), ("gpu4", "gpu6")];
        let once = sizes.iter().flat_map(|&bytes| ends.map(|(a, b)| group(&truth, "lone", &[(a, b, bytes)])));
        let mut experiments: Vec<Experiment> = (0..3).flat_map(|_| once.clone()).collect();
        measure(&truth, ("max-min", None), &mut experiments, || factor(&mut random));
        let found = run(&start, "max-min", &experiments, &plain());
        if seed == 0 {
            accepted("directions and latencies with noise", &start, &experiments, &found);
        }
        count.add(&found, "bandwidth of pcie, up", 20e9);
        count.add(&found, "bandwidth of pcie, down", 24e9);
        count.add(&found, "latency of pcie", 2e-6);
        count.add(&found, "latency of memory", 1e-6);
    }
    count.about_95_percent();
}

#[test]
fn a_link_of_its_own() {
    let slow = "{ gpu0: { kind: gpu, link: pcie }, gpu1: { kind: gpu, link: { bandwidth: 6GB/s } } }";
    let truth = machine(T2, &[("tree.rc.children.plx0.children.k80a.children", slow)]);
    let start = machine(T2, &[]);
    let names = ["gpu0", "gpu1", "gpu2", "gpu3"];
    let mut count = Count::default();
    for seed in 0..SEEDS / 4 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let pairs = names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b)));
        let mut experiments: Vec<Experiment> =
            pairs.flat_map(|(a, b)| [(); 2].map(|()| group(&truth, "pair", &[(a, b, 300 * MB)]))).collect();
        measure(&truth, ("max-min", None), &mut experiments, || factor(&mut random));
        let found = run(&start, "max-min", &experiments, &FitOptions::default());
        count.add(&found, "bandwidth of pcie at gpu1", 6e9);
        count.add(&found, "bandwidth of pcie, elsewhere", 11.6e9);
    }
    count.about_95_percent();
}

#[test]
fn gap_and_time_per_byte() {
    const TRUE: Loggp = Loggp { latency: 5e-6, overhead: 1e-6, gap: 2e-6, per_byte: 0.8e-9 };
    let (machine, arbiter) = (machine(SOCKETS, &[]), built_in("max-min"));
    let one = |bytes| group(&machine, "one", &[("gpu0", "gpu1", bytes)]);
    let window = |bytes| {
        let mut window = Experiment { messages: 16, reply: Some(4), ..one(bytes) };
        window.rows[0].end = MeasuredEnd::Last;
        window
    };
    let once = [one(1), one(10_001), one(1_000_001), window(1), window(1001), window(100_001)];
    let all: Vec<Experiment> = (0..4).flat_map(|_| once.clone()).collect();
    let simulator = Simulator::new(&machine, &arbiter, &all).expect("routes");
    let setting = Setting { loggp: Some(TRUE), ..Setting::of(&machine) };
    let seconds = simulator.seconds(&setting, |_| true).expect("messages");
    let (latency, arbiter) = (Choice::No, Some(Vec::new()));
    let options = FitOptions { bandwidth: false, latency, arbiter, loggp: true, ..plain() };
    let mut count = Count::default();
    for seed in 0..SEEDS / 4 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut experiments = all.clone();
        for (experiment, seconds) in experiments.iter_mut().zip(&seconds) {
            experiment.rows[0].seconds = seconds[0] * factor(&mut random);
        }
        let found = run(&machine, "max-min", &experiments, &options);
        count.add(&found, "gap g", TRUE.gap);
        count.add(&found, "per_byte G", TRUE.per_byte);
    }
    count.about_95_percent();
}

/// Copies begin after 8 µs, give or take 2, and have rates within 0.5 %: half of the rows are noise, the others tell the rates.
#[test]
fn starts_that_vary_do_not_hide_what_long_copies_tell() {
    const GPU: &str = "{ kind: pcie, bandwidth: 55GB/s, latency: 8us, shared: 101GB/s }";
    let topology = "topologies/h100-host.yaml";
    let truth = machine(topology, &[("link_types.pcie5-x16", GPU)]);
    let start = machine(topology, &[]);
    for seed in 0..SEEDS / 8 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = (0..18).map(|i| 4_000 << i);
        let (r#in, out) = (|bytes| ("cpu0", "gpu0", bytes), |bytes| ("gpu0", "cpu0", bytes));
        let once = |bytes| [vec![r#in(bytes)], vec![out(bytes)], vec![r#in(bytes), out(bytes)]];
        let mut experiments: Vec<Experiment> = sizes.flat_map(once).map(|g| group(&truth, "copies", &g)).collect();
        measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
        for row in experiments.iter_mut().flat_map(|e| &mut e.rows) {
            row.seconds = row.seconds * (1.0 + 0.005 * normal(&mut random)) + 2e-6 * normal(&mut random).max(-3.0);
        }
        let found = fit(&start, &start.arbiters[0], &experiments, &FitOptions::default()).expect("a fit");
        for (name, expected) in [("bandwidth of pcie5-x16", 55e9), ("shared of pcie5-x16", 101e9)] {
            let fitted = found.parameters.iter().find(|f| f.parameter.name.starts_with(name)).expect("a parameter");
            let (Known::Error(error) | Known::IfNarrowest(Some(error))) = fitted.known else { panic!("{fitted:?}") };
            assert!((fitted.value / expected - 1.0).abs() < 0.01, "{seed}: {name} {}", fitted.value);
            assert!(error < 0.01 * expected, "{seed}: {name} ± {error}");
        }
        assert!(found.notes.iter().any(|note| note.contains("count less")), "{:?}", found.notes);
    }
}

/// Where all that varies is when copies begin, long rows repeat to 10^-5 and weights stay: errors are of that size.
#[test]
fn weights_stay_where_long_rows_leave_nothing_to_explain() {
    let topology = "topologies/h100-host.yaml";
    let truth = machine(topology, &[("link_types.pcie5-x16", "{ kind: pcie, bandwidth: 25GB/s, latency: 5us }")]);
    let start = machine(topology, &[("link_types.pcie5-x16", "{ kind: pcie, bandwidth: 16GB/s, latency: 2us }")]);
    for seed in 0..SEEDS / 8 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = (0..10).map(|i| 4_096_u64 << (2 * i));
        let ways = sizes.flat_map(|bytes| [("cpu0", "gpu0", bytes), ("gpu0", "cpu0", bytes)]);
        let mut experiments: Vec<Experiment> = ways.map(|one| group(&truth, "lone", &[one])).collect();
        measure_under(&truth, &truth.arbiters[0], &mut experiments, || 1.0);
        for row in experiments.iter_mut().flat_map(|e| &mut e.rows) {
            row.seconds = row.seconds * (1.0 + 3e-5 * normal(&mut random)) + 1e-6 * normal(&mut random).max(-3.0);
        }
        let found = fit(&start, &start.arbiters[0], &experiments, &FitOptions::default()).expect("a fit");
        if seed == 0 {
            accepted("starts that vary", &start, &experiments, &found);
        }
        let fitted = found.parameters.iter().find(|f| f.parameter.name.starts_with("bandwidth of pcie5-x16"));
        let value = fitted.expect("a bandwidth").value;
        assert!((value / 25e9 - 1.0).abs() < 2e-4, "{seed}: {value}");
        assert!(found.even > 0.0, "{seed}");
    }
}

/// The sum of two latencies is all that is told, and one is held at 0: a copy over both does not separate them.
#[test]
fn a_copy_over_both_does_not_separate_two_latencies() {
    let text = |leaf, trunk| {
        format!(
            "weir: 1\nlink_types:\n  leaf: {{ bandwidth: 25GB/s, latency: {leaf} }}\n  trunk: {{ bandwidth: 50GB/s, latency: {trunk} }}\n  \
             mem: {{ bandwidth: 200GB/s, latency: 0us, kind: memory }}\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
             cpu0: {{ kind: cpu, link: mem }}\n      sw: {{ kind: switch, link: trunk, children: {{ 'gpu[0-1]': {{ kind: gpu, link: leaf }} }} }}\n"
        )
    };
    let (truth, start) = (machine_of(&text("3us", "1.5us")), machine_of(&text("1us", "1us")));
    let sizes = [1_024, 65_536, MB, 100 * MB];
    let ends = [("cpu0", "gpu0"), ("gpu0", "gpu1"), ("gpu1", "cpu0")];
    let mut experiments: Vec<Experiment> =
        sizes.iter().flat_map(|&bytes| ends.map(|(a, b)| group(&truth, "lone", &[(a, b, bytes)]))).collect();
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let found = run(&start, "max-min", &experiments, &FitOptions::default());
    accepted("a latency that is held at 0", &start, &experiments, &found);
    let between = |one: &weir_calibrate::fit::Unclear| one.names == ["latency of trunk", "latency of mem"];
    let unclear = found.unclear.iter().find(|one| between(one)).unwrap_or_else(|| panic!("{:?}", found.unclear));
    assert!(unclear.remedy.starts_with("none of the copies"), "{unclear:?}");
}

/// Three of a hundred rows 1.4 to 2.5 times as slow, as where something else ran: values stay within 0.5 %, and a note names
/// the rows. The same rows without them say nothing.
#[test]
fn few_rows_that_are_far_slower_do_not_count() {
    let truth = machine(T2, &[("link_types.pcie.bandwidth", "12.5GB/s")]);
    let start = machine(T2, &[]);
    let names = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"];
    for (seed, slow) in (0..6).flat_map(|seed| [(seed, true), (seed, false)]) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let pairs = names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b)));
        let mut experiments: Vec<Experiment> =
            pairs.flat_map(|(a, b)| [(); 5].map(|()| group(&truth, "pair", &[(a, b, 300 * MB)]))).collect();
        measure(&truth, ("max-min", None), &mut experiments, || factor(&mut random));
        if slow {
            for (row, times) in [(7, 1.4), (41, 2.5), (78, 1.8)] {
                experiments[row].rows[0].seconds *= times;
            }
        }
        let found = run(&start, "max-min", &experiments, &plain());
        if seed == 0 && slow {
            accepted("three rows that are far slower", &start, &experiments, &found);
        }
        let bandwidth = found.parameters.iter().find(|f| f.parameter.name == "bandwidth of pcie").expect("is fitted");
        assert!((bandwidth.value / 12.5e9 - 1.0).abs() < 0.005, "{seed}: {}", bandwidth.value);
        let notes: Vec<_> = found.notes.iter().filter(|note| note.contains("do not count")).collect();
        assert_eq!(notes.len(), usize::from(slow), "{:?}", found.notes);
        assert!(notes.iter().all(|note| note.starts_with("3 rows do not count")), "{notes:?}");
    }
}

/// One row in twenty may be an outlier, where there are twenty rows; more are no exception.
#[test]
fn no_more_than_one_row_in_twenty_is_left_out() {
    let machine = machine(T2, &[]);
    let names = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"];
    let pairs = names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b)));
    let all: Vec<Experiment> = pairs.map(|(a, b)| group(&machine, "pair", &[(a, b, 300 * MB)])).collect();
    let said = |rows: usize, slow: usize| {
        let mut experiments: Vec<Experiment> = all.iter().cycle().take(rows).cloned().collect();
        let mut random = ChaCha8Rng::seed_from_u64(3);
        measure(&machine, ("max-min", None), &mut experiments, || factor(&mut random));
        experiments[2..2 + slow].iter_mut().for_each(|one| one.rows[0].seconds *= 2.0);
        let found = run(&machine, "max-min", &experiments, &plain());
        let note = found.notes.iter().find(|note| note.contains("not count"));
        note.map(|note| note.split(' ').next().unwrap_or_default().parse::<usize>().expect("a number"))
    };
    assert_eq!([said(19, 1), said(20, 1), said(20, 2)], [None, Some(1), None]);
    assert_eq!([said(40, 2), said(40, 3)], [Some(2), None]);
}

/// What most rows between two ends say is no outlier, however far from all others: the link differs.
#[test]
fn a_link_that_is_slow_each_time_counts() {
    let slow = "{ gpu0: { kind: gpu, link: pcie }, gpu1: { kind: gpu, link: { bandwidth: 6GB/s } } }";
    let truth = machine(T2, &[("tree.rc.children.plx0.children.k80a.children", slow)]);
    let names = ["gpu0", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"];
    let mut pairs: Vec<(&str, &str)> =
        names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b))).collect();
    pairs.extend([("gpu1", "gpu2"); 3]);
    let mut experiments: Vec<Experiment> =
        pairs.iter().map(|&(a, b)| group(&truth, "pair", &[(a, b, 300 * MB)])).collect();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    measure(&truth, ("max-min", None), &mut experiments, || factor(&mut random));
    let found = run(&machine(T2, &[]), "max-min", &experiments, &plain());
    assert!(!found.notes.iter().any(|note| note.contains("not count")), "{:?}", found.notes);
}
