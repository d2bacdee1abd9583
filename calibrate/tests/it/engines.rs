//! How many transfers a device sends at once, from rows in which one device sends to several: 1 GB each, over links of 10 GB/s.

use std::collections::BTreeSet;

use crate::common::{built_in, group, machine_of, measure};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_calibrate::fit::Known;
use weir_calibrate::fit::parameter::ParameterKind;
use weir_calibrate::{Experiment, FitOptions, MeasuredEnd, fit, write_topology};
use weir_scenario::{LoadOptions, Machine};

const GB: u64 = 1_000_000_000;
const NOT_TOLD: &str = "the rows do not tell how many transfers it sends at once: `engines` stays as it is";

fn machine(engines: u32) -> Machine {
    machine_of(&format!(
        "weir: 1\nlink_types: {{ slot: {{ bandwidth: 10GB/s }}, wide: {{ bandwidth: 100GB/s }} }}\ntree:\n  sw:\n    kind: switch\n    \
         children:\n      'from[0-1]': {{ kind: gpu, link: wide, engines: {engines} }}\n      'to[0-3]': {{ kind: gpu, link: slot }}\n"
    ))
}

/// Copies from a device to as many others, with the seconds of each end.
fn each(machine: &Machine, from: &str, ends: &[f64]) -> Experiment {
    let names: Vec<String> = (0..ends.len()).map(|at| format!("to{at}")).collect();
    let copies: Vec<_> = names.iter().map(|to| (from, to.as_str(), GB)).collect();
    let mut all = group(machine, "each", &copies);
    all.rows.iter_mut().zip(ends).for_each(|(row, &end)| row.seconds = end);
    all
}

/// The same with the end of the last alone.
fn last(machine: &Machine, from: &str, count: usize, seconds: f64) -> Experiment {
    let mut all = each(machine, from, &vec![seconds; count]);
    all.rows.truncate(1);
    all.rows[0].end = MeasuredEnd::Last;
    all
}

/// What the rows tell: the numbers that are others than in the topology, and whose rows tell nothing.
fn told(machine: &Machine, experiments: &[Experiment]) -> Vec<String> {
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    let found = fit(machine, &built_in("max-min"), experiments, &options).expect("a fit");
    let counted = found.parameters.iter().filter(|f| f.parameter.kind == ParameterKind::Engines).map(|f| {
        let more = if f.known == Known::Enough { " or more" } else { "" };
        assert!(!more.is_empty() || f.known == Known::Counted, "{:?}", f.known);
        format!("{}: {}{more}, not {}", f.parameter.name, f.value, f.parameter.start)
    });
    counted.chain(found.notes.iter().filter(|note| note.contains("engines")).cloned()).collect()
}

fn show(engines: &str) -> Vec<String> {
    vec![format!("engines of from0 to from1: {engines}")]
}

fn nothing() -> Vec<String> {
    vec![format!("from0 to from1: {NOT_TOLD}")]
}

/// Batches end at multiples of the first end; what all end together tells the least number alone.
#[test]
fn ends_tell_how_many_are_sent_at_once() {
    let one = [0.1, 0.2, 0.3];
    let two = [0.1, 0.1, 0.2, 0.2];
    let all = [0.1, 0.1, 0.1];
    for (engines, rows, expected) in [
        (2, vec![&one[..]], show("1, not 2")),
        (1, vec![&one], vec![]),
        (1, vec![&two], show("2, not 1")),
        (2, vec![&two, &two], vec![]),
        // Of two transfers that go at once there may be two engines, or more.
        (3, vec![&two, &all[..2]], show("2, not 3")),
        (3, vec![&two, &all], nothing()),
        (3, vec![&two, &one], nothing()),
        (1, vec![&all], show("3 or more, not 1")),
        (1, vec![&all[..2], &all, &all[..2]], show("3 or more, not 1")),
        (3, vec![&all], vec![]),
        (4, vec![&all], vec![]),
        (1, vec![&[0.1, 0.15, 0.17]], nothing()),
        // A device may serve its transfers in another order than that of the log.
        (2, vec![&[0.3, 0.1, 0.2]], show("1, not 2")),
        (1, vec![&[0.2, 0.1, 0.2, 0.1]], show("2, not 1")),
    ] {
        let machine = machine(engines);
        let experiments: Vec<Experiment> = rows.iter().map(|ends| each(&machine, "from0", ends)).collect();
        assert_eq!(told(&machine, &experiments), expected, "{engines} engines, {rows:?}");
    }
}

/// Where the log has the last end alone, n GB until then are a sum of rates. Of the 10 GB/s of a lone copy it is r times, and
/// with more than 1.1 times there are at least r − 0.1 engines, as a whole number from above.
#[test]
fn a_sum_of_rates_tells_the_least_number() {
    for (engines, count, times, expected) in [
        (1, 4, 3.2, show("4 or more, not 1")),
        (1, 4, 3.05, show("3 or more, not 1")),
        (3, 4, 3.05, vec![]),
        (4, 4, 3.05, vec![]),
        (1, 4, 1.12, show("2 or more, not 1")),
        (1, 4, 1.05, nothing()),
        (1, 4, 0.95, nothing()),
    ] {
        let machine = machine(engines);
        let lone = |from, seconds| each(&machine, from, &[seconds]);
        let together = last(&machine, "from0", count, count as f64 * 0.1 / times);
        // The fastest of its lone copies counts, not those of others and of kernels.
        let kernel = Experiment { kernels: true, ..lone("from0", 0.02) };
        let all = [lone("from0", 0.11), lone("from0", 0.1), lone("from1", 0.02), kernel, together];
        assert_eq!(told(&machine, &all), expected, "{engines} engines, {times} times");
        let without: Vec<Experiment> = all.into_iter().skip(2).collect();
        assert_eq!(told(&machine, &without), nothing(), "without a lone copy");
    }
}

/// Both sides count all messages: four at a time of a quarter of the bytes are the same rates.
#[test]
fn messages_behind_each_other_count() {
    let machine = machine(1);
    let four = |mut experiment: Experiment| {
        experiment.messages = 4;
        experiment.transfers.iter_mut().for_each(|transfer| transfer.bytes /= 4);
        experiment
    };
    let lone = each(&machine, "from0", &[0.1]);
    let together = last(&machine, "from0", 4, 0.4 / 3.05);
    let expected = show("3 or more, not 1");
    for experiments in [[four(lone.clone()), together.clone()], [lone.clone(), four(together.clone())]] {
        assert_eq!(told(&machine, &experiments), expected);
    }
}

/// Devices that are written as one have one number, which the rows of all tell; where these contradict each other, none.
#[test]
fn devices_that_are_written_as_one_have_one_number() {
    let machine = machine(2);
    let of = |ends: [&[f64]; 2]| {
        ["from0", "from1"].into_iter().zip(ends).map(|(from, ends)| each(&machine, from, ends)).collect::<Vec<_>>()
    };
    let (one, all) = (&[0.1, 0.2, 0.3][..], &[0.1, 0.1, 0.1][..]);
    assert_eq!(told(&machine, &of([one, one])), show("1, not 2"));
    assert_eq!(told(&machine, &of([one, all])), nothing());
}

/// A group that is held out tells nothing, and `--fit` without engines leaves them.
#[test]
fn engines_that_are_not_fitted_stay() {
    let machine = machine(2);
    let experiments = [each(&machine, "from0", &[0.1]), each(&machine, "from0", &[0.1, 0.2, 0.3])];
    let engines = |options: &FitOptions| {
        let found = fit(&machine, &built_in("max-min"), &experiments, options).expect("a fit");
        found.setting.engines.send_slots(machine.device("from0").expect("a device"))
    };
    assert_eq!(engines(&FitOptions::default()), Some(1));
    assert_eq!(engines(&FitOptions { engines: false, ..FitOptions::default() }), Some(2));
    assert_eq!(engines(&FitOptions { bandwidth: false, ..FitOptions::default() }), Some(1));
    let seeds = (0..20).map(|seed| engines(&FitOptions { hold_out: 0.5, seed, ..FitOptions::default() }));
    let seeds: BTreeSet<Option<u32>> = seeds.collect();
    assert_eq!(seeds, BTreeSet::from([Some(1), Some(2)]));
}

/// A machine whose ways are not alike: beside a switch, and to the other one.
fn tree(engines: &str, [slot, way]: [u32; 2]) -> String {
    let switch = |name: &str, first: usize, last: usize, engines: &str| {
        format!(
            "      {name}: {{ kind: switch, link: way, children: {{ 'gpu[{first}-{last}]': {{ kind: gpu, link: slot{engines} }} }} }}\n"
        )
    };
    format!(
        "weir: 1\nlink_types: {{ slot: {{ bandwidth: {slot}GB/s }}, way: {{ bandwidth: {way}GB/s }} }}\ntree:\n  rc0:\n    \
         kind: root-complex\n    children:\n{}{}",
        switch("sw0", 0, 3, engines),
        switch("sw1", 4, 5, ""),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Ends that a machine with a number of slots made, with noise, give the number back over ways that are not alike, and the
    /// topology is written with it.
    #[test]
    fn numbers_come_out_again(slots in 1_u32..=5, has in 1_u32..=5, slot in 8_u32..=16, way in 8_u32..=16, noise in 0_u64..1000) {
        let truth = machine_of(&tree(&format!(", engines: {slots}"), [slot, way]));
        let mut experiments = Vec::new();
        for (from, to) in [("gpu0", "gpu1"), ("gpu1", "gpu0"), ("gpu0", "gpu4"), ("gpu5", "gpu2")] {
            experiments.push(group(&truth, "alone", &[(from, to, GB)]));
        }
        let others: Vec<_> = ["gpu4", "gpu1", "gpu2", "gpu5", "gpu3"].map(|to| ("gpu0", to, GB)).into();
        experiments.push(group(&truth, "to all", &others));
        let mut random = ChaCha8Rng::seed_from_u64(noise);
        measure(&truth, ("max-min", None), &mut experiments, || 0.99 + 0.02 * (random.next_u32() as f64 / u32::MAX as f64));
        let text = tree(&if has == 1 { String::new() } else { format!(", engines: {has}") }, [11, 11]);
        let machine = machine_of(&text);
        let found = fit(&machine, &built_in("max-min"), &experiments, &FitOptions::default()).expect("a fit");
        let of_gpu0 = found.setting.engines.send_slots(machine.device("gpu0").expect("a device"));
        prop_assert_eq!(of_gpu0, Some(slots));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("machine.yaml");
        std::fs::write(&path, text).expect("a file");
        let written = write_topology(&path, &machine, &found, &LoadOptions::default(), &[]).expect("a text");
        let read = machine_of(&written);
        let numbers = ["gpu0", "gpu3", "gpu4"].map(|gpu| read.send_slots(read.device(gpu).expect("a device")));
        prop_assert_eq!(numbers, [Some(slots), Some(slots), Some(1)], "{}", written);
    }
}

/// In a map of engines the number that is sent at once is changed alone; one copy engine decides it, and stays.
#[test]
fn maps_of_engines_are_changed_where_they_may_be() {
    for (map, second, expected) in [
        ("compute: 2", 0.1, "{ compute: 2, send: 2 }"),
        ("copy: 2, send: 3", 0.2, "{ copy: 2, send: 1 }"),
        ("copy: 1", 0.1, "{ copy: 1 }"),
    ] {
        let text = tree(&format!(", engines: {{ {map} }}"), [10, 10]);
        let machine = machine_of(&text);
        let mut all = group(&machine, "all", &[("gpu0", "gpu1", GB), ("gpu0", "gpu2", GB)]);
        (all.rows[0].seconds, all.rows[1].seconds) = (0.1, second);
        let found = fit(&machine, &built_in("max-min"), &[all], &FitOptions::default()).expect("a fit");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("machine.yaml");
        std::fs::write(&path, &text).expect("a file");
        let written = write_topology(&path, &machine, &found, &LoadOptions::default(), &[]).expect("a text");
        let line = written.lines().find(|line| line.contains("gpu[0-3]")).expect("the line");
        assert!(line.contains(&format!("engines: {expected} ")), "{map}: {line}");
    }
}

/// What the ends of copies tell that a machine made, of a topology that has another number of engines: where lone copies show
/// that one link is slower than others of its type, and where copies are of different sizes, or all devices send at once.
#[test]
fn ends_of_many_kinds_tell() {
    let text = |engines: u32, slow: u32| {
        let of = |gpu: &str, slot: &str| format!("      {gpu}: {{ kind: gpu, link: {slot}, engines: {engines} }}\n");
        format!(
            "weir: 1\nlink_types: {{ slot: {{ bandwidth: 20GB/s }} }}\ntree:\n  rc0:\n    kind: root-complex\n    children:\n{}{}",
            of("'gpu[0-3]'", "slot"),
            of("gpu4", &format!("{{ bandwidth: {slow}GB/s }}")),
        )
    };
    let names = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"];
    let from = |gpu: &'static str, sizes: [u64; 4]| {
        let others = names.into_iter().filter(move |name| *name != gpu);
        others.zip(sizes).map(move |(to, gb)| (gpu, to, gb * GB)).collect::<Vec<_>>()
    };
    for (engines, has) in [(1, 4), (2, 1), (3, 4), (4, 1)] {
        let (truth, machine) = (machine_of(&text(engines, 8)), machine_of(&text(has, 20)));
        let mut lone: Vec<_> = names.iter().skip(1).map(|to| group(&truth, "lone", &[("gpu0", to, GB)])).collect();
        lone.extend(names.iter().skip(1).map(|from| group(&truth, "lone", &[(from, "gpu0", GB)])));
        let alike = group(&truth, "all", &from("gpu0", [1; 4]));
        let sizes = group(&truth, "sizes", &from("gpu0", [3, 1, 2, 1]));
        let everybody: Vec<_> = names.into_iter().flat_map(|gpu| from(gpu, [1; 4])).collect();
        let mut missing = alike.clone();
        missing.rows.remove(1);
        for telling in [alike, sizes, missing, group(&truth, "everybody", &everybody)] {
            let what = telling.name.clone();
            let mut experiments = [&lone[..], &[telling]].concat();
            measure(&truth, ("max-min", None), &mut experiments, || 1.0);
            let found = fit(&machine, &built_in("max-min"), &experiments, &FitOptions::default()).expect("a fit");
            let slots = found.setting.engines.send_slots(machine.device("gpu0").expect("a device"));
            assert_eq!(slots, Some(engines), "{what} of a machine with {engines}, by a topology with {has}");
            let worst = found.rows.iter().map(|row| row.error().abs()).fold(0.0, f64::max);
            assert!(worst < 1e-3, "{what}, {engines} engines: {worst}");
        }
    }
}

/// Two at once, of which one goes 1.6 times as fast, end as if one had gone after the other, but not in the same order.
#[test]
fn it_counts_which_transfer_ended_when() {
    let machine = machine_of(
        "weir: 1\nlink_types: { slow: { bandwidth: 10GB/s }, fast: { bandwidth: 16.18GB/s } }\ntree:\n  sw:\n    kind: switch\n    \
         children:\n      from0: { kind: gpu, link: { bandwidth: 100GB/s } }\n      to0: { kind: gpu, link: slow }\n      \
         to1: { kind: gpu, link: fast }\n",
    );
    let lone = |to: &str, seconds: f64| {
        let mut lone = group(&machine, to, &[("from0", to, GB)]);
        lone.rows[0].seconds = seconds;
        lone
    };
    let experiments = [lone("to0", 0.1), lone("to1", 0.0618), each(&machine, "from0", &[0.1, 0.0618])];
    assert_eq!(told(&machine, &experiments), ["engines of from0: 2 or more, not 1"]);
}

/// The end of the last tells the number where lone copies show what every link carries: four copies take four times as long as one
/// if they go one by one, and twice if two or three go at once.
#[test]
fn the_end_of_the_last_tells_beside_lone_copies() {
    for (has, seconds, expected) in [
        (4, 0.4, show("1, not 4")),
        (1, 0.4, vec![]),
        (4, 0.2, show("2, not 4")),
        (3, 0.2, vec![]),
        (1, 0.1, show("4 or more, not 1")),
    ] {
        let machine = machine(has);
        let lone = (0..4).map(|to| {
            let mut lone = group(&machine, "lone", &[("from0", &format!("to{to}"), GB)]);
            lone.rows[0].seconds = 0.1;
            lone
        });
        let all: Vec<Experiment> = lone.chain([last(&machine, "from0", 4, seconds)]).collect();
        assert_eq!(told(&machine, &all), expected, "{has} engines, {seconds} s");
    }
}

/// Where all that tells is held out, a note says so.
#[test]
fn what_is_held_out_is_named() {
    let machine = machine(2);
    let experiments = [each(&machine, "from0", &[0.1]), each(&machine, "from0", &[0.1, 0.2, 0.3])];
    let notes = (0..20).flat_map(|seed| {
        let options = FitOptions { hold_out: 0.5, seed, ..FitOptions::default() };
        fit(&machine, &built_in("max-min"), &experiments, &options).expect("a fit").notes
    });
    let held_out = "from0 to from1: the one group that tells how many transfers it sends at once is held out: `engines` stays \
                    as it is (--hold-out 0, or another --seed)";
    assert!(notes.into_iter().any(|note| note == held_out));
}
