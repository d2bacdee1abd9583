//! Fits to rows with 0.5 % of noise from machines, groups and options of many kinds: all that is printed of them, how often
//! they simulate, and with which bandwidths, held against what was accepted.

use crate::common::{group, machine_in, measure_under, printed, registry, settings};
use crate::random::Random;
use crate::watched::Watched;
use weir_calibrate::fit::Choice;
use weir_calibrate::{Experiment, FitOptions, MeasuredEnd, fit};
use weir_plugin_api::Registry;
use weir_scenario::{ArbiterSpec, Machine};

const NOISE: f64 = 0.005;
const ARBITERS: [&str; 3] = ["max-min", "pcie-congestion", "equal-share"];

/// A machine of a kind with its values times these factors; in every other one the link of gpu1 is slower than its type.
fn machine(registry: &Registry, kind: usize, slower: bool, factors: [f64; 4]) -> Machine {
    let [slot, up, latency, shared] = factors;
    let (slot, up, latency) = (24.0 * slot, 20.0 * up, 2_000.0 * latency);
    let types = format!(
        "weir: 1\nlink_types:\n  slot: {{ bandwidth: {slot:.3}GB/s, latency: {latency:.1}ns{} }}\n  up: {{ bandwidth: {up:.3}GB/s }}\n  \
         mem: {{ bandwidth: 90GB/s, kind: memory }}\n  sock: {{ bandwidth: {:.3}GB/s, latency: {:.1}ns }}\n",
        if kind == 3 { format!(", shared: {:.3}GB/s", 36.0 * shared) } else { String::new() },
        0.8 * up,
        latency / 2.0,
    );
    let slow = if slower {
        format!("{{ bandwidth: {:.3}GB/s, latency: {latency:.1}ns }}", 0.6 * slot)
    } else {
        "slot".to_owned()
    };
    let gpus = |names: [usize; 2]| {
        let one = |at: usize| format!("gpu{at}: {{ kind: gpu, link: {} }}", if at == 1 { &slow } else { "slot" });
        names.map(one).join(", ")
    };
    let switch = |at: usize| {
        format!("      sw{at}: {{ kind: switch, link: up, children: {{ {} }} }}\n", gpus([2 * at, 2 * at + 1]))
    };
    let root = |at: usize, inside: &str| {
        format!("  rc{at}:\n    kind: root-complex\n    children:\n      cpu{at}: {{ kind: cpu, link: mem }}\n{inside}")
    };
    let tree = match kind {
        0 | 3 => root(
            0,
            &format!(
                "      {}\n      {}\n",
                gpus([0, 1]).replace(", gpu", "\n      gpu"),
                gpus([2, 3]).replace(", gpu", "\n      gpu")
            ),
        ),
        1 => root(0, &(switch(0) + &switch(1))),
        _ => root(0, &switch(0)) + &root(1, &switch(1)),
    };
    let links = if kind == 2 { "links:\n  - { between: [rc0, rc1], type: sock }\n" } else { "" };
    machine_in(registry, &format!("{types}tree:\n{tree}{links}"))
}

/// Copies alone, both ways and of three at once, of 4 kB to 256 MB; of a third the last end alone was measured.
fn experiments(machine: &Machine, random: &mut Random) -> Vec<Experiment> {
    let names: Vec<&str> = ["gpu0", "gpu1", "gpu2", "gpu3", "cpu0"].into();
    let each = |at: usize| {
        let (a, b) = (random.below(5), random.below(4));
        let (a, b) = (names[a], names[if b < a { b } else { b + 1 }]);
        let bytes = [4_000, 1_000_000, 64_000_000, 256_000_000][random.below(4)];
        let third = names.iter().copied().find(|name| *name != a && *name != b).expect("five");
        let copies = match at % 5 {
            3 => vec![(a, b, bytes), (b, a, bytes)],
            4 => vec![(a, b, bytes), (a, third, bytes), (third, b, bytes)],
            _ => vec![(a, b, bytes)],
        };
        let mut all = group(machine, &format!("group {at}"), &copies);
        if at.is_multiple_of(3) {
            all.rows.truncate(1);
            all.rows[0].end = MeasuredEnd::Last;
        }
        all
    };
    (0..14).map(each).collect()
}

/// A fit of a seed, or why there is none.
fn fitted(seed: u64) -> String {
    let mut random = Random::new(seed);
    let kind = seed as usize % 4;
    let factors = [0; 4].map(|_| 0.75 + 0.5 * random.uniform(0.0, 1.0));
    let watched = Watched::new();
    let truth = machine(&registry(), kind, seed % 8 > 3, factors);
    let start = machine(&watched.registry, kind, false, [1.0; 4]);
    let mut all = experiments(&truth, &mut random);
    // What directions share is part of a machine's own arbiter.
    let arbiter = match kind {
        3 => start.arbiters[0].clone(),
        _ => ArbiterSpec::plain(watched.registry.get(ARBITERS[seed as usize % 3]).expect("a built-in arbiter")),
    };
    let of_truth = if kind == 3 { &truth.arbiters[0] } else { &arbiter };
    measure_under(&truth, of_truth, &mut all, || random.factor(NOISE));
    let options = FitOptions {
        latency: [Choice::Auto, Choice::Yes, Choice::No][seed as usize / 2 % 3],
        finer: if seed.is_multiple_of(3) { Choice::Auto } else { Choice::No },
        hold_out: if seed % 3 == 1 { 0.2 } else { 0.0 },
        host_weight: seed % 7 == 6,
        loggp: seed == 11,
        seed,
        ..FitOptions::default()
    };
    match fit(&start, &arbiter, &all, &options) {
        Ok(found) => format!("{}\n{}", printed(&start, &all, &found), watched.of(&start)),
        Err(error) => error.to_string(),
    }
}

fn accepted(name: &str, seeds: std::ops::Range<u64>) {
    let mut settings = settings();
    settings.add_filter(r"(?m)^\S+machine.yaml, under", "machine.yaml, under");
    let all: Vec<String> = seeds.map(|seed| format!("== seed {seed}\n{}", fitted(seed))).collect();
    settings.bind(|| insta::assert_snapshot!(name, all.join("\n")));
}

macro_rules! accepted_seeds {
    ($($test:ident: $seeds:expr;)*) => {
        $(
            #[test]
            fn $test() {
                accepted(concat!("fits-", stringify!($test)), $seeds);
            }
        )*
    };
}

accepted_seeds! {
    seeds_0_to_2: 0..3;
    seeds_3_to_5: 3..6;
    seeds_6_to_8: 6..9;
    seeds_9_to_11: 9..12;
    seeds_12_to_14: 12..15;
    seeds_15_to_17: 15..18;
    seeds_18_to_20: 18..21;
    seeds_21_to_23: 21..24;
}
