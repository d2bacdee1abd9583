//! Random machines whose link types may differ by direction, measured with 0.3 % noise: the fit explains them, and what it
//! calls known is what made the data. The seeds are fixed.

use crate::common::{accepted, built_in, group, machine_of, measure};
use crate::random::Random;
use weir_calibrate::fit::{Choice, Known, Unseparated};
use weir_calibrate::{Experiment, Fit, FitOptions, fit};

const SEEDS: u64 = 16;
const NOISE: f64 = 0.003;
const TYPES: [&str; 4] = ["leaf", "trunk", "mem", "sock"];

/// GB/s up and down, equal in half of the cases.
fn ways(random: &mut Random, least: f64, most: f64) -> [f64; 2] {
    let up = random.uniform(least, most);
    if random.below(2) == 0 { [up; 2] } else { [up, random.uniform(least, most)] }
}

/// How many there are of each part of a machine.
struct Shape {
    sockets: usize,
    switches: usize,
    gpus: usize,
}

impl Shape {
    /// The machine with GB/s up and down of each type.
    fn text(&self, ways: &[[f64; 2]; 4]) -> String {
        let mut text = "weir: 1\nlink_types:\n".to_owned();
        let kinds = ["", "", ", kind: memory", ", kind: qpi"];
        for ((name, [up, down]), kind) in TYPES.iter().zip(ways).zip(kinds) {
            text += &match up == down {
                true => format!("  {name}: {{ bandwidth: {up}GB/s{kind} }}\n"),
                false => format!("  {name}: {{ up: {up}GB/s, down: {down}GB/s{kind} }}\n"),
            };
        }
        text += "tree:\n";
        for s in 0..self.sockets {
            text +=
                &format!("  rc{s}:\n    kind: root-complex\n    children:\n      cpu{s}: {{ kind: cpu, link: mem }}\n");
            for w in 0..self.switches {
                let at = s * self.switches + w;
                let (first, last) = (at * self.gpus, (at + 1) * self.gpus - 1);
                text += &format!(
                    "      sw{at}: {{ kind: switch, link: trunk, children: {{ 'gpu[{first}-{last}]': {{ kind: gpu, link: leaf, engines: 16 }} }} }}\n"
                );
            }
        }
        if self.sockets == 2 {
            text += "links:\n  - { between: [rc0, rc1], type: sock }\n";
        }
        text
    }

    fn devices(&self) -> Vec<String> {
        let gpus = (0..self.sockets * self.switches * self.gpus).map(|i| format!("gpu{i}"));
        gpus.chain((0..self.sockets).map(|i| format!("cpu{i}"))).collect()
    }
}

/// Lone copies between most devices, and some groups of copies at once.
fn experiments(machine: &weir_scenario::Machine, names: &[String], random: &mut Random) -> Vec<Experiment> {
    let fine = |a: &str, b: &str| a != b && !(a.starts_with("cpu") && b.starts_with("cpu"));
    let mut groups: Vec<Vec<(&str, &str, u64)>> = Vec::new();
    for a in names {
        for b in names.iter().filter(|b| fine(a, b)) {
            if random.uniform(0.0, 1.0) < 0.7 {
                groups.push(vec![(a, b, 1_000_000_000)]);
            }
        }
    }
    for _ in 0..3 + random.below(12) {
        let mut group: Vec<(&str, &str, u64)> = Vec::new();
        for _ in 0..2 + random.below(6) {
            let (a, b) = (&*names[random.below(names.len())], &*names[random.below(names.len())]);
            if fine(a, b) && !group.iter().any(|g| (g.0, g.1) == (a, b)) {
                group.push((a, b, 1_000_000_000));
            }
        }
        groups.push(group);
    }
    let all = groups.iter().enumerate().map(|(at, transfers)| group(machine, &format!("g{at}"), transfers));
    all.filter(|e| !e.rows.is_empty()).collect()
}

/// A fit of a random machine from one value per type, and what made the data.
fn of_seed(seed: u64) -> (Fit, [[f64; 2]; 4]) {
    let mut random = Random::new(seed);
    let shape = Shape { sockets: 1 + random.below(2), switches: 1 + random.below(2), gpus: 1 + random.below(3) };
    let made = [
        ways(&mut random, 15.0, 60.0),
        ways(&mut random, 15.0, 60.0),
        ways(&mut random, 60.0, 200.0),
        ways(&mut random, 10.0, 60.0),
    ];
    let truth = machine_of(&shape.text(&made));
    let start = machine_of(&shape.text(&[[30.0; 2], [30.0; 2], [100.0; 2], [30.0; 2]]));
    let mut all = experiments(&truth, &shape.devices(), &mut random);
    measure(&truth, ("max-min", None), &mut all, || random.factor(NOISE));
    (fit(&start, &built_in("max-min"), &all, &FitOptions::default()).expect("a fit"), made)
}

/// The values that a parameter may have by its name: of one direction, or of any.
fn made_of(name: &str, made: &[[f64; 2]; 4]) -> Vec<f64> {
    let at = TYPES.iter().position(|kind| name.starts_with(&format!("bandwidth of {kind}"))).expect("a type");
    let [up, down] = made[at];
    match () {
        () if name.ends_with(", up") => vec![up],
        () if name.ends_with(", down") => vec![down],
        () => vec![up, down],
    }
}

#[test]
fn machines_with_directions_are_explained_and_nothing_wrong_is_called_known() {
    for seed in 0..SEEDS {
        let (found, made) = of_seed(seed);
        let mean = weir_calibrate::fit::mean_error(&found.rows).expect("rows");
        assert!(mean < 2.0 * NOISE, "seed {seed}: {mean}: {:#?}", found.parameters);
        for fitted in found.parameters.iter().filter(|f| matches!(f.known, Known::Error(_))) {
            let near = |gbps: &f64| (fitted.value / (gbps * 1e9) - 1.0).abs() < 0.015;
            let (name, made) = (&fitted.parameter.name, made_of(&fitted.parameter.name, &made));
            assert!(made.iter().any(near), "seed {seed}: {name} is {} of {made:?}", fitted.value);
        }
    }
}

/// Copies between GPUs below different switches alone: the link of a GPU and the uplink of its switch are always crossed
/// together, and up differs from down. One direction of the uplink explains the rows as well as that of the GPU's link.
#[test]
fn one_direction_of_a_type_can_be_the_narrowest_in_the_place_of_another() {
    let shape = Shape { sockets: 1, switches: 2, gpus: 1 };
    let made = [[36.0, 36.0], [50.0, 30.0], [160.0; 2], [30.0; 2]];
    let (truth, start) =
        (machine_of(&shape.text(&made)), machine_of(&shape.text(&[[30.0; 2], [30.0; 2], [100.0; 2], [30.0; 2]])));
    let copies = [("gpu0", "cpu0"), ("gpu1", "cpu0"), ("cpu0", "gpu0"), ("cpu0", "gpu1")];
    let mut random = Random::new(1);
    let mut all: Vec<Experiment> =
        (0..5).flat_map(|_| copies.map(|(a, b)| group(&truth, "lone", &[(a, b, 1_000_000_000)]))).collect();
    measure(&truth, ("max-min", None), &mut all, || random.factor(NOISE));
    let found = fit(&start, &built_in("max-min"), &all, &FitOptions::default()).expect("a fit");
    accepted("one direction in the place of another", &start, &all, &found);
    for fitted in &found.parameters {
        assert!(!matches!(fitted.known, Known::Error(_)), "{fitted:?}");
    }
    let groups: Vec<_> = found.unclear.iter().filter(|g| g.how == Unseparated::Narrowest).map(|g| &g.names).collect();
    let named = |first: &str, other: &str| groups.iter().any(|g| g[0] == first && g.iter().any(|name| name == other));
    assert!(named("bandwidth of leaf, down", "bandwidth of trunk, down"), "{groups:?}");
    assert!(named("bandwidth of leaf, up", "bandwidth of trunk"), "{groups:?}");
}

/// Two sockets whose link has a latency. Copies of about one size across it do not tell that from a link narrower than those of
/// the GPUs; small ones do. A latency of 0, which copies of two sizes tell, is in nobody's place.
#[test]
fn a_bandwidth_can_slow_the_copies_in_the_place_of_a_latency() {
    let text = |far: &str| {
        format!(
            "weir: 1\nlink_types:\n  leaf: {{ bandwidth: 20GB/s }}\n  far: {{ bandwidth: 100GB/s, latency: {far} }}\ntree:\n  \
             'rc[0-1]': {{ kind: root-complex, children: {{ 'gpu[0-1]': {{ kind: gpu, link: leaf }} }} }}\n\
             links:\n  - {{ between: [rc0, rc1], type: far }}\n"
        )
    };
    let (truth, start) = (machine_of(&text("2ms")), machine_of(&text("1ms")));
    let near = [("rc0/gpu0", "rc0/gpu1"), ("rc1/gpu1", "rc1/gpu0")];
    let far = [("rc0/gpu0", "rc1/gpu0"), ("rc1/gpu1", "rc0/gpu1")];
    let lone = |size: u64, ends: &[(&str, &str)]| -> Vec<Experiment> {
        ends.iter().map(|&(a, b)| group(&truth, "lone", &[(a, b, size)])).collect()
    };
    let found = |other: u64, noise: f64| {
        let mut random = Random::new(1);
        let near = [lone(1_000_000_000, &near), lone(10_000_000, &near)].concat();
        let mut all = [near, lone(1_000_000_000, &far), lone(other, &far)].concat();
        measure(&truth, ("max-min", None), &mut all, || 1.0 + noise * (random.factor(NOISE) - 1.0));
        let options = FitOptions { latency: Choice::Yes, ..FitOptions::default() };
        fit(&start, &built_in("max-min"), &all, &options).expect("a fit")
    };
    let latency = |found: &Fit| {
        let latency = found.parameters.iter().find(|f| f.parameter.name == "latency of far").expect("fitted");
        (latency.value, latency.known)
    };
    let alike = found(990_000_000, 1.0);
    let [group] = &alike.unclear[..] else { panic!("{:?}", alike.unclear) };
    assert_eq!(
        (group.how, &group.names[..]),
        (Unseparated::Instead, &["latency of far".to_owned(), "bandwidth of far".to_owned()][..])
    );
    assert!(group.remedy.contains("a lone copy of 1 KiB from rc0/gpu0 to rc1/gpu0"), "{}", group.remedy);
    assert!(matches!(latency(&alike).1, Known::IfNarrowest(Some(_))), "{:?}", latency(&alike));
    for noise in [0.0, 1.0] {
        let apart = found(10_000_000, noise);
        let (value, known) = latency(&apart);
        assert!(apart.unclear.is_empty() && matches!(known, Known::Error(_)), "{:?} {known:?}", apart.unclear);
        assert!((value / 2e-3 - 1.0).abs() < 0.005, "{value}");
    }
}

/// The link of a GPU is measured towards the memory and towards the other socket. Both ways beyond it happen to have its
/// bandwidth in the file: together they explain the rows, too, one alone does not.
#[test]
fn two_bandwidths_can_be_the_narrowest_together_in_the_place_of_one() {
    let text = |leaf: &str, others: &str| {
        format!(
            "weir: 1\nlink_types:\n  leaf: {{ bandwidth: {leaf} }}\n  mem: {{ bandwidth: {others}, kind: memory }}\n  sock: {{ bandwidth: {others}, kind: qpi }}\ntree:\n  \
             rc0: {{ kind: root-complex, children: {{ cpu0: {{ kind: cpu, link: mem }}, gpu0: {{ kind: gpu, link: leaf }} }} }}\n  \
             rc1: {{ kind: root-complex, children: {{ cpu1: {{ kind: cpu, link: wide }} }} }}\n\
             links:\n  - {{ between: [rc0, rc1], type: sock }}\n"
        )
        .replace("tree:", "  wide: { bandwidth: 500GB/s, kind: memory }\ntree:")
    };
    let truth = machine_of(&text("20GB/s", "200GB/s"));
    let copies = [("gpu0", "cpu0"), ("gpu0", "cpu1"), ("cpu0", "gpu0"), ("cpu1", "gpu0")];
    let mut all: Vec<Experiment> = copies.map(|(a, b)| group(&truth, "lone", &[(a, b, 1_000_000_000)])).to_vec();
    measure(&truth, ("max-min", None), &mut all, || 1.0);
    let found = |others: &str| {
        let start = machine_of(&text("15GB/s", others));
        fit(&start, &built_in("max-min"), &all, &FitOptions::default()).expect("a fit")
    };
    let together = found("20GB/s");
    let [group] = &together.unclear[..] else { panic!("{:?}", together.unclear) };
    assert_eq!(
        (group.how, group.names.join(", ")),
        (Unseparated::Narrowest, "bandwidth of leaf, bandwidth of mem, bandwidth of sock".to_owned())
    );
    assert!(matches!(together.parameters[0].known, Known::IfNarrowest(_)), "{:?}", together.parameters[0]);
    let wide = found("100GB/s");
    assert!(wide.unclear.is_empty() && matches!(wide.parameters[0].known, Known::Error(_)), "{:?}", wide.unclear);
}

/// Four GPUs of 10 GB/s, two below each of two switches, get 30 GB/s together from the host: the uplinks carry 15 down each, or the
/// link of the host 30. Copies to the two below one switch get 15 or 20; lone ones, and those towards the host, 10 each.
#[test]
fn copies_to_the_devices_below_one_switch_are_proposed_where_they_alone_separate() {
    let text = |leaf: u32, down: u32, host: u32| {
        format!(
            "weir: 1\nlink_types:\n  leaf: {{ bandwidth: {leaf}GB/s }}\n  trunk: {{ up: 100GB/s, down: {down}GB/s }}\n  \
             mem: {{ up: {host}GB/s, down: 100GB/s, kind: memory }}\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
             cpu0: {{ kind: cpu, link: mem }}\n      \
             'sw[0-1]': {{ kind: switch, link: trunk, children: {{ gpu: {{ kind: gpu, link: leaf, repeat: 2, engines: 16 }} }} }}\n"
        )
    };
    let (truth, start) = (machine_of(&text(10, 15, 60)), machine_of(&text(12, 20, 50)));
    let gpus = ["sw0/gpu0", "sw0/gpu1", "sw1/gpu0", "sw1/gpu1"];
    let size = 1_000_000_000;
    let down: Vec<_> = gpus.map(|gpu| ("cpu0", gpu, size)).to_vec();
    let up: Vec<_> = gpus.map(|gpu| (gpu, "cpu0", size)).to_vec();
    let inside = group(&truth, "inside", &[(gpus[0], gpus[1], size)]);
    let mut all = vec![inside, group(&truth, "down", &down), group(&truth, "up", &up)];
    all.extend(down.iter().chain(&up).map(|one| group(&truth, "lone", &[*one])));
    measure(&truth, ("max-min", None), &mut all, || 1.0);
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    let found = fit(&start, &built_in("max-min"), &all, &options).expect("a fit");
    accepted("copies below one switch", &start, &all, &found);
    let [group] = &found.unclear[..] else { panic!("{:#?}", found.unclear) };
    assert_eq!(group.names, ["bandwidth of trunk, down", "bandwidth of mem, up"]);
    assert_eq!(group.remedy, "measure copies of 1 GiB from cpu0 to every device below sw0 at once to separate them");
}
