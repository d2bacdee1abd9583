//! Fits of few rows over few links, whose values are often equal, from starts that are often far off: what becomes of each
//! parameter, what the rows do not tell, and how much was simulated, held against what was accepted.

use std::fmt::Write as _;

use crate::common::{group, machine_in, measure_under, registry, settings};
use crate::random::Random;
use crate::watched::Watched;
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, Fit, FitOptions, Made, MeasuredEnd, fit, warnings};
use weir_plugin_api::Registry;
use weir_scenario::{ArbiterSpec, Machine};

const NAMES: [&str; 4] = ["gpu0", "gpu1", "gpu2", "cpu0"];
const ARBITERS: [&str; 4] = ["max-min", "max-min", "pcie-congestion", "input-fifo"];
const SIZES: [u64; 5] = [4_000, 100_000, 10_000_000, 100_000_000, 1_000_000_000];
/// GB/s; few, so that links tie.
const RATES: [f64; 5] = [6.0, 12.0, 20.0, 24.0, 40.0];

/// The values of a machine: GB/s of its links, µs of a slot and of the way up.
struct Values {
    rates: [f64; 3],
    latencies: [f64; 2],
    shared: Option<f64>,
}

impl Values {
    fn random(random: &mut Random) -> Self {
        Self {
            rates: [0; 3].map(|_| random.one_of(&RATES)),
            latencies: [0; 2].map(|_| random.one_of(&[0.0, 1.0, 1.0, 5.0])),
            shared: (random.below(4) == 0).then(|| random.one_of(&[10.0, 30.0, 70.0])),
        }
    }

    /// Two GPUs below a switch, one beside it, and a host; `slot` is called as the kind of machine calls it.
    fn machine(&self, registry: &Registry, slot: &str) -> Machine {
        let ([own, up, mem], [at_slot, at_up]) = (self.rates, self.latencies);
        let shared = self.shared.map_or(String::new(), |shared| format!(", shared: {shared}GB/s"));
        machine_in(
            registry,
            &format!(
                "weir: 1\nlink_types:\n  {slot}: {{ bandwidth: {own}GB/s, latency: {at_slot}us{shared} }}\n  \
                 up: {{ bandwidth: {up}GB/s, latency: {at_up}us }}\n  mem: {{ bandwidth: {mem}GB/s, kind: memory }}\n\
                 tree:\n  rc:\n    kind: root-complex\n    children:\n      cpu0: {{ kind: cpu, link: mem }}\n      \
                 sw: {{ kind: switch, link: up, children: {{ 'gpu[0-1]': {{ kind: gpu, link: {slot} }} }} }}\n      \
                 gpu2: {{ kind: gpu, link: {slot} }}\n"
            ),
        )
    }
}

/// Two to five experiments of one to three transfers.
fn experiments(machine: &Machine, random: &mut Random) -> Vec<Experiment> {
    let count = 2 + random.below(4);
    let each = |at: usize| {
        let copies: Vec<_> = (0..random.one_of(&[1, 1, 1, 2, 2, 3]))
            .map(|_| {
                let (from, step) = (random.below(4), 1 + random.below(3));
                (NAMES[from], NAMES[(from + step) % 4], random.one_of(&SIZES))
            })
            .collect();
        let mut one = group(machine, &format!("group {at}"), &copies);
        match random.below(8) {
            0 => one.messages = 16,
            1 => one.steps = 3,
            2 => one.reply = Some(8),
            3 => (one.messages, one.steps) = (64, 0),
            4 => one.kernels = true,
            _ => {}
        }
        if random.below(3) == 0 {
            one.rows.truncate(1);
            one.rows[0].end = MeasuredEnd::Last;
        }
        one
    };
    (0..count).map(each).collect()
}

/// The options of a fit: mostly the defaults.
fn options(seed: u64, random: &mut Random) -> FitOptions {
    FitOptions {
        bandwidth: random.below(12) > 0,
        host_weight: random.below(12) == 0,
        latency: random.one_of(&[Choice::Auto, Choice::Auto, Choice::Yes, Choice::No]),
        finer: random.one_of(&[Choice::Auto, Choice::No, Choice::No, Choice::No]),
        hold_out: random.one_of(&[0.0, 0.0, 0.0, 0.3]),
        loggp: random.below(16) == 0,
        seed,
        ..FitOptions::default()
    }
}

fn fitted(seed: u64) -> String {
    let mut random = Random::new(seed);
    let watched = Watched::new();
    let slot = random.one_of(&["slot", "slot", "pcie3-x16", "pcie4-x8", "nvlink3-x4", "xgmi-x1"]);
    let (truth, mut start) = (Values::random(&mut random), Values::random(&mut random));
    if random.below(3) == 0 {
        start.rates = truth.rates;
    }
    start.shared = truth.shared.map(|_| start.shared.unwrap_or(50.0));
    let (truth, start) = (truth.machine(&registry(), slot), start.machine(&watched.registry, slot));
    let name = random.one_of(&ARBITERS);
    // What directions share is part of a machine's own arbiter.
    let arbiter = |machine: &Machine, registry: &Registry| match machine.fabric.shared().is_empty() {
        false => machine.arbiters[0].clone(),
        true => ArbiterSpec::plain(registry.get(name).expect("a built-in arbiter")),
    };
    let mut all = experiments(&truth, &mut random);
    let options = options(seed, &mut random);
    let noise = random.one_of(&[0.0, 0.005, 0.05]);
    measure_under(&truth, &arbiter(&truth, &registry()), &mut all, || random.factor(noise));
    if random.below(6) == 0 {
        all[0].rows[0].seconds *= 1.5;
    }
    let under = arbiter(&start, &watched.registry);
    let found = match fit(&start, &under, &all, &options) {
        Ok(found) => lines_of(&start, &all, &found),
        Err(error) => format!("{error}\n"),
    };
    format!("== seed {seed}, {}\n{found}{}\n", under.name, watched.count())
}

/// A line for each parameter, each group that the rows do not tell apart, and all that is said of the fit.
fn lines_of(machine: &Machine, experiments: &[Experiment], fit: &Fit) -> String {
    let mut text = String::new();
    for one in &fit.parameters {
        let error = |error: f64| if error < 1e-6 * one.value { "0".to_owned() } else { format!("{error:.1e}") };
        let known = match one.known {
            Known::Error(by) => format!("± {}", error(by)),
            Known::IfNarrowest(Some(by)) => format!("± {} if narrowest", error(by)),
            other => format!("{other:?}"),
        };
        writeln!(text, "{}: {:.4e} {known}", one.parameter.name, one.value).expect("a text");
    }
    for unclear in &fit.unclear {
        let told = unclear.told.as_deref().unwrap_or("nothing");
        writeln!(text, "{:?} {}: {told}; {}", unclear.how, unclear.names.join(", "), unclear.remedy).expect("a text");
    }
    for (a, b, by) in &fit.correlated {
        let [a, b] = [*a, *b].map(|at| &fit.parameters[at].parameter.name);
        writeln!(text, "{a} and {b}: {by:.3}").expect("a text");
    }
    let outliers = fit.rows.iter().filter(|row| row.outlier).count();
    let worst = fit.rows.iter().map(|row| row.error().abs()).fold(0.0, f64::max);
    writeln!(text, "rank {}, {} free, {outliers} outliers, {worst:.3} off at most", fit.rank, fit.freedom)
        .expect("a text");
    let made = Made { arbiter: &fit.arbiter.name, arbiters: &[], per_link: false };
    for words in fit.notes.iter().cloned().chain(warnings(machine, experiments, fit, made)) {
        writeln!(text, "{words}").expect("a text");
    }
    text
}

macro_rules! accepted_seeds {
    ($($test:ident: $seeds:expr;)*) => {
        $(
            #[test]
            fn $test() {
                let all: String = $seeds.map(fitted).collect();
                settings().bind(|| insta::assert_snapshot!(concat!("small-fits-", stringify!($test)), all));
            }
        )*
    };
}

accepted_seeds! {
    seeds_0_to_14: 0..15;
    seeds_15_to_29: 15..30;
    seeds_30_to_44: 30..45;
    seeds_45_to_59: 45..60;
    seeds_60_to_74: 60..75;
    seeds_75_to_89: 75..90;
    seeds_90_to_104: 90..105;
    seeds_105_to_119: 105..120;
}
