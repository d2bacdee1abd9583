//! Values that simulated data were made with come out again: to 10^-6 without noise, within three standard errors with it.

use crate::common::{
    accepted, bandwidth_of, built_in, group, library, machine, measure, measure_under, registry, values,
};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_calibrate::fit::{Choice, Known, Unseparated, mean_error};
use weir_calibrate::read::{ReadOptions, read_log};
use weir_calibrate::{Experiment, Fit, FitError, FitOptions, fit, write_topology};
use weir_scenario::{LoadOptions, Machine};

const T2: &str = "topologies/cs-storm-t2.yaml";
const SOCKETS: &str = "topologies/two-socket-8gpu.yaml";
const MB: u64 = 1_000_000;

fn run(machine: &Machine, arbiter: &str, experiments: &[Experiment], options: &FitOptions) -> Fit {
    fit(machine, &built_in(arbiter), experiments, options).expect("the data can be fitted")
}

fn value(fit: &Fit, name: &str) -> (f64, Known) {
    let found = fit.parameters.iter().find(|f| f.parameter.name == name);
    found.map(|f| (f.value, f.known)).unwrap_or_else(|| panic!("no {name} in {:#?}", fit.parameters))
}

/// Lone and contending copies on T2.
fn on_t2(machine: &Machine) -> Vec<Experiment> {
    vec![
        group(machine, "inside", &[("gpu0", "gpu1", 300 * MB)]),
        group(machine, "across", &[("gpu4", "gpu1", 300 * MB)]),
        group(machine, "beside", &[("gpu0", "gpu1", 300 * MB), ("gpu4", "gpu1", 300 * MB)]),
        group(machine, "up", &[("gpu0", "gpu2", 200 * MB), ("gpu1", "gpu3", 100 * MB)]),
        group(
            machine,
            "table",
            &[
                ("gpu0", "gpu2", 300 * MB),
                ("gpu1", "gpu4", 300 * MB),
                ("gpu3", "gpu2", 300 * MB),
                ("gpu6", "gpu4", 300 * MB),
            ],
        ),
        group(machine, "more", &[("gpu5", "gpu2", 150 * MB), ("gpu3", "gpu2", 150 * MB)]),
    ]
}

/// Copies on two sockets that see the links between GPUs, of memory, and between the sockets, in sizes far apart.
fn on_sockets(machine: &Machine) -> Vec<Experiment> {
    let mut all = vec![
        group(machine, "pair", &[("gpu0", "gpu1", 512 * MB)]),
        group(machine, "sockets", &[("gpu0", "gpu4", 512 * MB)]),
        group(
            machine,
            "four",
            &[
                ("cpu0", "gpu0", 512 * MB),
                ("cpu0", "gpu2", 512 * MB),
                ("cpu0", "nic0", 512 * MB),
                ("cpu0", "nic1", 512 * MB),
            ],
        ),
    ];
    for bytes in [1_000, 100_000, 10 * MB] {
        all.push(group(machine, "small pair", &[("gpu0", "gpu1", bytes)]));
        all.push(group(machine, "small in", &[("cpu0", "gpu0", bytes)]));
        all.push(group(machine, "small over", &[("gpu0", "gpu4", bytes)]));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bandwidth_and_tau_without_noise(tau in 0.02_f64..0.45, gbps in 4.0_f64..30.0) {
        let truth = machine(T2, &[("link_types.pcie.bandwidth", &format!("{gbps}GB/s"))]);
        let mut experiments = on_t2(&truth);
        measure(&truth, ("pcie-congestion", Some(tau)), &mut experiments, || 1.0);
        let found = run(&machine(T2, &[]), "pcie-congestion", &experiments, &FitOptions::default());
        let (fitted, _) = value(&found, "bandwidth of pcie");
        prop_assert!((fitted / (gbps * 1e9) - 1.0).abs() < 1e-6, "{fitted}");
        prop_assert!((value(&found, "tau of pcie-congestion").0 - tau).abs() < 1e-6, "{:#?}", found.parameters);
    }

    #[test]
    fn bandwidths_and_latencies_without_noise(
        pcie in 10.0_f64..40.0, xgmi in 6.0_f64..9.0, share in 0.3_f64..0.9, latency in 0.5_f64..5.0,
    ) {
        // Below what its two copies over different switches ask for together, so that it is seen.
        let memory = 2.0 * pcie * share.max(0.55);
        let set = [
            ("link_types.pcie", format!("{{ bandwidth: {pcie}GB/s, latency: {latency:.6}us }}")),
            ("link_types.xgmi", format!("{{ bandwidth: {xgmi}GB/s, latency: 2us }}")),
            ("link_types.memory", format!("{{ bandwidth: {memory}GB/s, latency: 700ns, kind: memory }}")),
        ];
        let set: Vec<(&str, &str)> = set.iter().map(|(path, value)| (*path, value.as_str())).collect();
        let truth = machine(SOCKETS, &set);
        let mut experiments = on_sockets(&truth);
        measure(&truth, ("max-min", None), &mut experiments, || 1.0);
        let start = machine(SOCKETS, &[]);
        let found = run(&start, "max-min", &experiments, &FitOptions::default());
        for (name, expected) in [("pcie", pcie), ("xgmi", xgmi), ("memory", memory)] {
            let fitted = bandwidth_of(&start, &found.setting, name);
            prop_assert!((fitted / (expected * 1e9) - 1.0).abs() < 1e-6, "{name}: {fitted} {:#?} {:#?}", found.parameters.iter().map(|f| (&f.parameter.name, f.value, f.known)).collect::<Vec<_>>(), found.rows.iter().map(|r| (&experiments[r.experiment].name, r.measured, r.simulated)).collect::<Vec<_>>());
        }
        for (name, expected) in [("pcie", format!("{latency:.6}").parse::<f64>().unwrap()), ("xgmi", 2.0), ("memory", 0.7)] {
            let (fitted, _) = value(&found, &format!("latency of {name}"));
            // Data are whole picoseconds: sums of latencies are known to about one.
            prop_assert!((fitted * 1e6 / expected - 1.0).abs() < 5e-6, "{name}: {fitted}");
        }
    }
}

/// Two root complexes with a NIC each on a network; one PCIe tree has two policies that mark parameters.
const CLUSTER: &str = "\
weir: 1
topology:
  link_types: { slot: { bandwidth: 11.6GB/s }, wire: { bandwidth: 5GB/s, kind: network } }
  tree:
    fabric: { kind: network }
    rc[0-1]:
      kind: root-complex
      children:
        plx[0-1]: { kind: switch, link: slot, children: { 'gpu[0-3]': { kind: gpu, link: slot } } }
        nic: { kind: nic, link: slot }
  links:
    - { type: wire, between: ['rc[0-1]/nic', fabric] }
arbiter:
  # of the trees
  default: pcie-congestion
  network: max-min
workload: []
";

/// Copies inside machine 0, by way of its root complex too, and between the machines.
fn on_cluster(machine: &Machine) -> Vec<Experiment> {
    let gpu = |rc: u32, plx: u32, at: u32| format!("rc{rc}/plx{plx}/gpu{at}");
    let copies = |name: &str, ends: &[(String, String)]| {
        let all: Vec<_> = ends.iter().map(|(from, to)| (from.as_str(), to.as_str(), 300 * MB)).collect();
        group(machine, name, &all)
    };
    let (inside, across) = ((gpu(0, 0, 0), gpu(0, 0, 1)), (gpu(0, 0, 2), gpu(0, 1, 0)));
    let (beside, out) = ((gpu(0, 1, 1), gpu(0, 0, 1)), (gpu(0, 0, 3), gpu(1, 0, 0)));
    vec![
        copies("inside", std::slice::from_ref(&inside)),
        copies("across", std::slice::from_ref(&across)),
        copies("out", std::slice::from_ref(&out)),
        copies("all", &[inside, across, beside, out]),
    ]
}

fn cluster(folder: &std::path::Path, arbiter: &str) -> (std::path::PathBuf, Machine) {
    let file = folder.join("cluster.yaml");
    let text = CLUSTER.replace("default: pcie-congestion", &format!("default: {arbiter}"));
    std::fs::write(&file, text).expect("a file");
    let machine = Machine::load(&file, &LoadOptions::default(), &registry()).expect("a scenario of the test");
    (file, machine)
}

/// In a map of arbiters each policy's marked parameters are fitted, and written under its key.
#[test]
fn the_policies_of_a_map_are_fitted() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = FitOptions::default();
    for (written, expected) in [
        ("pcie-congestion", "{name: pcie-congestion, tau: 0.31}"),
        ("{ name: pcie-congestion, hol: true, tau: 0.05 }", "{name: pcie-congestion, hol: true, tau: 0.31}"),
    ] {
        let (file, machine) = cluster(folder.path(), written);
        let mut experiments = on_cluster(&machine);
        let truth = machine.arbiters[0].with(&values(Some("default"), Some(0.31)));
        assert_eq!(truth.name, format!("{{default: {expected}, network: max-min}}"));
        measure_under(&machine, &truth, &mut experiments, || 1.0);
        let found = fit(&machine, &machine.arbiters[0], &experiments, &options).expect("a fit");
        if written == "pcie-congestion" {
            accepted("policies of a map", &machine, &experiments, &found);
        }
        let (tau, _) = value(&found, "default.tau of pcie-congestion");
        assert!((tau - 0.31).abs() < 1e-6, "{tau}");

        let none = LoadOptions::default();
        let text = write_topology(&file, &machine, &found, &none, &["x.csv".to_owned()]).expect("a text");
        assert!(text.contains("  # of the trees\n"), "{text}");
        std::fs::write(&file, &text).expect("a file");
        let read = Machine::load(&file, &none, &registry()).expect("what was written");
        let written = read.arbiters[0].written["default"]["tau"].as_f64().expect("a number");
        assert!((written - 0.31).abs() < 1e-6, "{text}");
        assert_eq!(read.arbiters[0].written["network"], "max-min");
        assert!(text.contains(&format!("# In scenarios: arbiter: {}\n", read.arbiters[0].name)), "{text}");
    }
}

/// A parameter of a map is asked for by its path; other names are refused with the paths that there are.
#[test]
fn a_parameter_of_a_map_is_asked_for_by_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, machine) = cluster(folder.path(), "pcie-congestion");
    let mut experiments = on_cluster(&machine);
    let truth = machine.arbiters[0].with(&values(Some("default"), Some(0.1)));
    measure_under(&machine, &truth, &mut experiments, || 1.0);
    let asked = |key: &str| {
        let arbiter = Some(vec![key.to_owned()]);
        let options = FitOptions { bandwidth: false, latency: Choice::No, arbiter, ..FitOptions::default() };
        fit(&machine, &machine.arbiters[0], &experiments, &options)
    };
    let found = asked("default.tau").expect("a fit");
    assert_eq!(found.parameters.len(), 1);
    assert!((value(&found, "default.tau of pcie-congestion").0 - 0.1).abs() < 1e-7, "{:?}", found.parameters);
    for key in ["tau", "network.tau", "default.hol"] {
        match asked(key) {
            Err(FitError::NotMarked { marked, .. }) => assert_eq!(marked[0].to_string(), "default.tau"),
            other => panic!("{key}: {other:?}"),
        }
    }
}

/// A standard normal number: the sum of twelve uniform ones, less 6.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
}

/// With 2 % noise on every row, for each of these seeds.
#[test]
fn within_three_standard_errors_with_noise() {
    let truth = machine(T2, &[("link_types.pcie.bandwidth", "12.5GB/s")]);
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Everything measured three times.
        let mut experiments: Vec<Experiment> = (0..3).flat_map(|_| on_t2(&truth)).collect();
        measure(&truth, ("pcie-congestion", Some(0.2)), &mut experiments, || 1.0 + 0.02 * normal(&mut random));
        let found = run(&machine(T2, &[]), "pcie-congestion", &experiments, &FitOptions::default());
        for (name, expected) in [("bandwidth of pcie", 12.5e9), ("tau of pcie-congestion", 0.2)] {
            let (fitted, Known::Error(error)) = value(&found, name) else { panic!("seed {seed}: {name} has no error") };
            assert!((fitted - expected).abs() <= 3.0 * error, "seed {seed}: {name} {fitted} ± {error}");
            assert!(error > 1e-4 * expected && error < 0.05 * expected, "seed {seed}: {name} ± {error}");
        }
        let mean = mean_error(&found.rows).expect("rows");
        assert!((0.01..0.03).contains(&mean), "seed {seed}: {mean}");
    }
}

/// One size tells the sum of latency and bytes over bandwidth: the latency of the topology is kept, unless the bandwidth is.
#[test]
fn latencies_stay_where_all_copies_have_one_size() {
    let truth = machine(T2, &[]);
    let pair = |bytes: u64| group(&truth, "pair", &[("gpu0", "gpu1", bytes)]);
    let options = FitOptions { latency: Choice::Yes, ..FitOptions::default() };
    let of = |sizes: &[u64], options: &FitOptions| {
        let mut experiments: Vec<Experiment> = sizes.iter().map(|&bytes| pair(bytes)).collect();
        measure(&truth, ("max-min", None), &mut experiments, || 1.0);
        let found = run(&truth, "max-min", &experiments, options);
        let names = found.parameters.iter().map(|f| f.parameter.name.clone()).collect::<Vec<_>>();
        (names, found.notes.join("; "))
    };
    let (names, notes) = of(&[300 * MB; 3], &options);
    assert_eq!(names, ["bandwidth of pcie"]);
    assert!(notes.contains("latency of pcie stays as in the topology: one size of copies"), "{notes}");
    let (names, notes) = of(&[300 * MB, 300 * MB, MB], &options);
    assert_eq!((names, &*notes), (vec!["bandwidth of pcie".to_owned(), "latency of pcie".to_owned()], ""));
    let (names, _) = of(&[300 * MB; 3], &FitOptions { bandwidth: false, ..options });
    assert_eq!(names, ["latency of pcie"]);
}

/// 64 messages of 1 MB in flight hide the latency as an endless copy does. Beside one such message alone they tell it, though all
/// have one size.
#[test]
fn messages_in_flight_tell_a_latency_from_a_bandwidth() {
    let pcie = [("link_types.pcie", "{ bandwidth: 14GB/s, latency: 3us }")];
    let (truth, start) = (machine(T2, &pcie), machine(T2, &[]));
    let one = group(&truth, "one", &[("gpu0", "gpu1", MB)]);
    let many = Experiment { messages: 64, steps: 0, ..one.clone() };
    for (mut experiments, told) in [(vec![one.clone(), many], true), (vec![one.clone(), one], false)] {
        measure(&truth, ("max-min", None), &mut experiments, || 1.0);
        let found = run(&start, "max-min", &experiments, &FitOptions::default());
        let latency = found.parameters.iter().find(|f| f.parameter.name == "latency of pcie").map(|f| f.value);
        assert_eq!(latency.is_some_and(|latency| (latency / 3e-6 - 1.0).abs() < 1e-6), told, "{latency:?}");
    }
}

/// tau = 1 − 1/1.21 and 300 MB / 25.2829 ms (Martinasso et al., SC16, section VII).
#[test]
fn the_published_way_to_tau() {
    let file = library("measured/tau-t2.yaml");
    let machine = Machine::load(&file, &LoadOptions::default(), &registry()).expect("a scenario of the library");
    let (_, log) = read_log(&library("measured/tau-t2.csv"), &machine, &ReadOptions::default()).expect("its data");
    // Far from the answer, which is the arbiter's own default.
    let arbiter = built_in("pcie-congestion").with(&values(None, Some(0.05)));
    let found = fit(&machine, &arbiter, &log.experiments, &FitOptions::default()).expect("a fit");
    accepted("the published way to tau", &machine, &log.experiments, &found);
    let (tau, known) = value(&found, "tau of pcie-congestion");
    assert!((tau - (1.0 - 1.0 / 1.21)).abs() < 1e-7, "{tau}");
    assert_eq!(known, Known::Exactly);
    let (bandwidth, _) = value(&found, "bandwidth of pcie");
    assert!((bandwidth - 3e8 / 25.2829e-3).abs() < 1e3, "{bandwidth}");
}

/// Eight copies at once: 44 44 43 43 25 25 25 25 GB/s want 274 GB/s of memory and 100 between the sockets.
#[test]
fn eight_copies_from_the_host() {
    let file = library("measured/h2d-eight-gpus.yaml");
    // What tables say of such machines: PCIe 5.0 x16, eight channels of DDR4-3200, one UPI link.
    let set = [("pcie", "48GB/s"), ("memory", "204.8GB/s"), ("upi", "22GB/s")];
    let set = set.map(|(name, value)| (format!("topology.link_types.{name}.bandwidth"), value.to_owned())).into();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let machine = Machine::load(&file, &options, &registry()).expect("a scenario of the library");
    let data = library("measured/h2d-eight-gpus.csv");
    let (_, log) = read_log(&data, &machine, &ReadOptions::default()).expect("its data");
    let found = run(&machine, "max-min", &log.experiments, &FitOptions { finer: Choice::No, ..FitOptions::default() });
    accepted("eight copies from the host", &machine, &log.experiments, &found);
    for (name, expected) in [("pcie", 56e9), ("memory", 274e9), ("upi", 100e9)] {
        let fitted = bandwidth_of(&machine, &found.setting, name);
        assert!((fitted / expected - 1.0).abs() < 2e-3, "{name}: {fitted}");
    }
}

#[test]
fn what_the_data_cannot_tell_apart_is_named_with_what_would() {
    let truth = machine(SOCKETS, &[("link_types.pcie.latency", "2us"), ("link_types.memory.latency", "1us")]);
    let mut experiments: Vec<Experiment> =
        [1_000, 1_000_000, 500 * MB].map(|bytes| group(&truth, "in", &[("cpu0", "gpu0", bytes)])).into();
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let found = run(&machine(SOCKETS, &[]), "max-min", &experiments, &FitOptions::default());
    accepted("latencies of one way", &machine(SOCKETS, &[]), &experiments, &found);
    assert_eq!(
        found.unclear.len(),
        2,
        "{:#?}",
        found.parameters.iter().map(|f| (&f.parameter.name, f.value, f.known)).collect::<Vec<_>>()
    );
    let names: Vec<_> = found.unclear[0].parameters.iter().map(|&i| &*found.parameters[i].parameter.name).collect();
    assert_eq!(names, ["latency of pcie", "latency of memory"]);
    assert!(found.unclear[0].remedy.starts_with("measure a lone copy of 1 KiB from"), "{}", found.unclear[0].remedy);
    // A lone copy's rate does not say which link is the narrowest: the GPU's is taken, as the nearest.
    let narrowest = &found.unclear[1];
    let names: Vec<_> = narrowest.parameters.iter().map(|&i| &*found.parameters[i].parameter.name).collect();
    assert_eq!((&*names, narrowest.how), (&["bandwidth of pcie", "bandwidth of memory"][..], Unseparated::Narrowest));
    assert!(narrowest.remedy.contains("at once"), "{}", narrowest.remedy);
    // Nothing came near the memory's bandwidth.
    assert_eq!(value(&found, "bandwidth of memory"), (204.8e9, Known::Unseen));
}

#[test]
fn a_link_that_differs_from_its_type_is_found() {
    let truth = machine(
        T2,
        &[(
            "tree.rc.children.plx0.children.k80a.children",
            "{ gpu0: { kind: gpu, link: pcie }, gpu1: { kind: gpu, link: { bandwidth: 6GB/s } } }",
        )],
    );
    let names = ["gpu0", "gpu1", "gpu2", "gpu3"];
    let pairs = names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b)));
    let mut experiments: Vec<Experiment> = pairs.map(|(a, b)| group(&truth, "pair", &[(a, b, 300 * MB)])).collect();
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let start = machine(T2, &[]);
    let found = run(&start, "max-min", &experiments, &FitOptions::default());
    accepted("a slower card", &start, &experiments, &found);
    let slow = start.fabric.node(start.device("gpu1").unwrap()).up;
    assert!((found.setting.bandwidth[slow.index()] / 6e9 - 1.0).abs() < 1e-6, "{:#?}", found.parameters);
    let fast = start.fabric.node(start.device("gpu0").unwrap()).up;
    assert!((found.setting.bandwidth[fast.index()] / 11.6e9 - 1.0).abs() < 1e-6, "{:#?}", found.parameters);
}

#[test]
fn whole_groups_are_held_out_by_the_seed() {
    let truth = machine(T2, &[]);
    let mut experiments = on_t2(&truth);
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let held_out = |seed| {
        let options = FitOptions { hold_out: 0.34, seed, ..FitOptions::default() };
        let found = run(&truth, "max-min", &experiments, &options);
        let out: std::collections::BTreeSet<usize> =
            found.rows.iter().filter(|r| r.held_out).map(|r| r.experiment).collect();
        let mixed = found.rows.iter().any(|r| !r.held_out && out.contains(&r.experiment));
        assert!(!mixed && out.len() == 2 && mean_error(&found.rows).unwrap() < 1e-6);
        out
    };
    assert_eq!(held_out(1), held_out(1));
    assert!((2..10).any(|seed| held_out(seed) != held_out(1)));
}

/// Lone copies of 25 GB/s are no memory of 25 GB/s, which four copies at once would share.
#[test]
fn lone_copies_leave_shared_memory_alone() {
    for start in ["12GB/s", "24GB/s", "40GB/s"] {
        let start = machine(SOCKETS, &[("link_types.pcie", &format!("{{ bandwidth: {start} }}"))]);
        for rates in [&[25e9][..], &[25e9, 25.1e9, 24.9e9, 25.05e9], &[10e9, 10e9, 10e9, 10e9]] {
            let ends = [("cpu0", "gpu0"), ("cpu0", "gpu1"), ("gpu0", "cpu0"), ("cpu1", "gpu4")];
            let mut experiments = Vec::new();
            for (&rate, (a, b)) in rates.iter().zip(ends) {
                let mut copy = group(&start, "lone", &[(a, b, 512 * MB)]);
                copy.rows[0].seconds = 512e6 / rate;
                experiments.push(copy);
            }
            let found = run(&start, "max-min", &experiments, &FitOptions::default());
            assert_eq!(value(&found, "bandwidth of memory"), (204.8e9, Known::Unseen));
            let pcie = value(&found, "bandwidth of pcie").0;
            assert!((pcie / rates[0] - 1.0).abs() < 0.01, "{pcie}");
        }
    }
}

/// A type that held the rows back and is not the narrowest goes to the least value that holds none back.
#[test]
fn what_holds_nothing_back_goes_no_further_than_the_data() {
    let truth = machine(SOCKETS, &[("link_types.pcie", "{ bandwidth: 25GB/s }")]);
    let mut experiments = vec![group(&truth, "lone", &[("cpu0", "gpu0", 512 * MB)])];
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let start = machine(SOCKETS, &[("link_types.memory", "{ bandwidth: 6GB/s, kind: memory }")]);
    let found = run(&start, "max-min", &experiments, &FitOptions::default());
    accepted("a memory that held rows back", &start, &experiments, &found);
    let (memory, known) = value(&found, "bandwidth of memory");
    assert!((25e9..25e9 * 1.001).contains(&memory) && known == Known::Enough, "{memory} {known:?}");
    assert!((value(&found, "bandwidth of pcie").0 / 25e9 - 1.0).abs() < 1e-6);
}
