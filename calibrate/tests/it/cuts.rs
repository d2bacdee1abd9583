//! Measurements above what a link carries are named; all others are not.

use crate::common::{built_in, group, machine, machine_of};
use weir_calibrate::cuts::{CutPlace, TimedTransfer, exceeded, not_explained};
use weir_calibrate::fit::Choice;
use weir_calibrate::{Experiment, FitOptions, Made, fit, warnings};
use weir_plugin_api::LinkId;
use weir_scenario::Machine;

const MB: u64 = 1_000_000;

/// The machine of ../shared/truth/pcie-switches.csv: two switches with an uplink each on two root ports.
fn two_switches() -> Machine {
    machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 56GB/s } }\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
         sw0: { kind: switch, link: slot, children: { 'gpu[0-3]': { kind: gpu, link: slot } } }\n      \
         sw1: { kind: switch, link: slot, children: { 'gpu[4-7]': { kind: gpu, link: slot } } }\n",
    )
}

/// A group whose transfers end together at this aggregate rate, GB/s.
fn at_once(machine: &Machine, name: &str, ends: &[(&str, &str)], gbps: f64) -> Experiment {
    let transfers: Vec<_> = ends.iter().map(|&(a, b)| (a, b, 1000 * MB)).collect();
    let mut all = group(machine, name, &transfers);
    let seconds = ends.len() as f64 / gbps;
    all.rows.iter_mut().for_each(|row| row.seconds = seconds);
    all
}

#[test]
fn what_all_cross_carries_no_more_than_its_bandwidth() {
    let machine = two_switches();
    let experiments = vec![
        at_once(&machine, "lone", &[("gpu0", "gpu4")], 56.3),
        at_once(&machine, "lone 2", &[("gpu1", "gpu0")], 56.3),
        at_once(&machine, "right", &[("gpu0", "gpu4"), ("gpu1", "gpu5")], 56.4),
        at_once(&machine, "other ways", &[("gpu0", "gpu4"), ("gpu5", "gpu1")], 112.5),
        at_once(&machine, "inside", &[("gpu0", "gpu1"), ("gpu2", "gpu3")], 112.5),
        at_once(&machine, "too fast", &[("gpu0", "gpu4"), ("gpu1", "gpu5")], 112.5),
        at_once(&machine, "into one", &[("gpu0", "gpu1"), ("gpu2", "gpu1")], 80.0),
    ];
    let options = FitOptions { finer: Choice::No, ..FitOptions::default() };
    let fitted: Vec<Experiment> = experiments[..5].to_vec();
    let found = fit(&machine, &built_in("max-min"), &fitted, &options).expect("a fit");
    let names: Vec<&str> =
        not_explained(&machine, &experiments, &found).iter().map(|(at, _)| &*experiments[*at].name).collect();
    assert_eq!(names, ["too fast", "into one"]);
    // Fitted with all, the warning names them, the worst first.
    let found = fit(&machine, &built_in("max-min"), &experiments, &options).expect("a fit");
    let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
    let said = warnings(&machine, &experiments, &found, made);
    let text = said.iter().find(|text| text.contains("not explained by this topology")).expect("a warning");
    assert!(text.contains("`too fast` over sw0 → rc: measured 112.5"), "{text}");
}

/// Those that end first cross a link, too: 1 GB in 10 ms, whatever the others take.
#[test]
fn the_first_to_end_are_tested_by_themselves() {
    let machine = two_switches();
    let mut uneven = at_once(&machine, "uneven", &[("gpu0", "gpu4"), ("gpu1", "gpu5"), ("gpu2", "gpu6")], 30.0);
    uneven.rows[0].seconds = 0.02;
    uneven.rows[1].seconds = 0.02;
    let fine = at_once(&machine, "lone", &[("gpu0", "gpu4")], 56.0);
    let found =
        fit(&machine, &built_in("max-min"), std::slice::from_ref(&fine), &FitOptions::default()).expect("a fit");
    // As four messages behind each other, of a quarter each, they are as many bytes.
    let mut messages = uneven.clone();
    messages.messages = 4;
    messages.transfers.iter_mut().for_each(|transfer| transfer.bytes /= 4);
    let all = not_explained(&machine, &[uneven, messages, fine], &found);
    assert_eq!(all.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 1]);
    for (_, above) in all {
        assert_eq!(above.transfers, [0, 1]);
        assert!((above.measured / 100e9 - 1.0).abs() < 1e-9);
    }
}

/// One copy of a group that is faster by itself than its way may be a slip of the log; of a collective it is not, whose copies are
/// simulated by an algorithm.
#[test]
fn one_copy_of_a_group_says_nothing_of_the_topology() {
    let machine = two_switches();
    let fine = at_once(&machine, "lone", &[("gpu0", "gpu4")], 56.0);
    let mut one = at_once(&machine, "one", &[("gpu0", "gpu1"), ("gpu2", "gpu3")], 56.0);
    one.rows[0].seconds = 0.01;
    let kernels = Experiment { kernels: true, ..one.clone() };
    let found =
        fit(&machine, &built_in("max-min"), std::slice::from_ref(&fine), &FitOptions::default()).expect("a fit");
    let all = not_explained(&machine, &[one, kernels, fine], &found);
    assert_eq!(all.iter().map(|(at, above)| (*at, above.transfers.clone())).collect::<Vec<_>>(), [(1, vec![0])]);
}

/// A memory that all touch is a bound as well.
#[test]
fn shared_bandwidths_are_tested() {
    let machine = machine("measured/gh200-both-ways.yaml", &[]);
    let both = |gbps| at_once(&machine, "both ways", &[("host", "gpu"), ("gpu", "host")], gbps);
    let lone = at_once(&machine, "lone", &[("host", "gpu")], 421.0);
    let back = at_once(&machine, "back", &[("gpu", "host")], 340.0);
    for (gbps, expected) in [(490.0, 0), (600.0, 1)] {
        let experiments = [lone.clone(), back.clone(), both(gbps)];
        let found = fit(&machine, &machine.arbiters[0], &experiments[..2], &FitOptions::default()).expect("a fit");
        assert_eq!(not_explained(&machine, &experiments, &found).len(), expected, "{gbps}");
    }
}

/// A memory of 10 GB/s that both ends of a way touch carries the bytes of a copy once; what both directions of a link share,
/// those of a way through both, such as up and down through one slot, for each.
#[test]
fn a_way_crosses_a_memory_once() {
    let machine = machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 20GB/s } }\ntree:\n  rc:\n    kind: root-complex\n    memory: { bandwidth: 10GB/s }\n    children:\n      \
         'gpu[0-3]': { kind: gpu, link: slot }\n",
    );
    let fabric = &machine.fabric;
    let device = |name: &str| fabric.node(machine.device(name).expect("a device")).up;
    // Up from gpu0, which enters rc, and down to gpu1, which leaves it: both are links of the node.
    let links = vec![device("gpu0"), LinkId(device("gpu1").0 + 1)];
    assert!(links.iter().all(|&link| !fabric.shared_by(link).is_empty()), "{links:?}");
    let copy = |seconds| [TimedTransfer { links: links.clone(), bytes: 10e9, seconds }];
    assert_eq!(exceeded(fabric, fabric.bandwidths(), &copy(1.0)), None);
    assert_eq!(exceeded(fabric, fabric.bandwidths(), &copy(0.96)), None);
    let above = exceeded(fabric, fabric.bandwidths(), &copy(0.5)).expect("20 GB/s through 10");
    assert_eq!((above.place, above.carries, above.measured), (CutPlace::Shared(0), 10e9, 20e9));
}

/// What the memory carries is told by the one group of four copies. Held out of the fit, it is no error of the topology: all
/// that is known of the memory is that it is enough for one copy.
#[test]
fn what_is_only_known_to_be_enough_is_no_limit() {
    let machine = machine_of(
        "weir: 1\nlink_types: { leaf: { bandwidth: 20GB/s }, mem: { bandwidth: 18GB/s, kind: memory } }\ntree:\n  rc:\n    \
         kind: root-complex\n    children:\n      cpu0: { kind: cpu, link: mem }\n      'gpu[0-3]': { kind: gpu, link: leaf }\n",
    );
    let ends = [("cpu0", "gpu0"), ("cpu0", "gpu1"), ("cpu0", "gpu2"), ("cpu0", "gpu3")];
    let mut experiments: Vec<Experiment> = ends.iter().map(|one| at_once(&machine, "lone", &[*one], 25.0)).collect();
    experiments.push(at_once(&machine, "pair", &ends[..2], 50.0));
    experiments.push(at_once(&machine, "all", &ends, 100.0));
    let mut held_out = 0;
    for seed in 0..8 {
        let options = FitOptions { hold_out: 0.2, seed, latency: Choice::No, ..FitOptions::default() };
        let found = fit(&machine, &built_in("max-min"), &experiments, &options).expect("a fit");
        held_out += usize::from(found.rows.iter().any(|row| row.held_out && row.experiment == 5));
        let cuts = not_explained(&machine, &experiments, &found);
        assert!(cuts.is_empty(), "seed {seed}: {cuts:?}");
    }
    assert!(held_out > 0);
}

/// Groups above what the wire carries, or far above what lone copies show of a link, say nothing of its bandwidth.
#[test]
fn what_no_fit_explains_does_not_count() {
    let text = |slot: &str| {
        format!(
            "weir: 1\nlink_types: {{ slot: {slot} }}\ntree:\n  rc:\n    kind: root-complex\n    children:\n      'gpu[0-3]': {{ kind: gpu, link: slot }}\n"
        )
    };
    for slot in ["{ generation: 4, width: 16, efficiency: 0.83 }", "{ bandwidth: 26GB/s }"] {
        let machine = machine_of(&text(slot));
        let lone = [("gpu0", "gpu1"), ("gpu1", "gpu2"), ("gpu2", "gpu3"), ("gpu3", "gpu0")];
        let mut experiments: Vec<_> = lone.iter().map(|ends| at_once(&machine, "lone", &[*ends], 26.2)).collect();
        experiments.push(at_once(&machine, "into one", &[("gpu1", "gpu0"), ("gpu2", "gpu0")], 48.0));
        let options = FitOptions { finer: Choice::No, ..FitOptions::default() };
        let found = fit(&machine, &built_in("max-min"), &experiments, &options).expect("a fit");
        let values: Vec<f64> = found.parameters.iter().map(|fitted| fitted.value).collect();
        assert!(values.len() == 1 && (values[0] / 26.2e9 - 1.0).abs() < 1e-6, "{slot}: {values:?}");
        let left_out: Vec<usize> = found.rows.iter().filter(|row| row.outlier).map(|row| row.experiment).collect();
        assert_eq!(left_out, [4, 4], "{slot}");
        let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
        let said = warnings(&machine, &experiments, &found, made).join("\n");
        let words = "1 group is not explained by this topology, under any arbiter, and left out of the fit:\n  `into one` over rc → gpu0: \
                     measured 48.000 GB/s, it carries 26.2";
        assert!(said.contains(words), "{slot}: {said}");
    }
}

/// Where nothing would be left, the fit is refused, and the reason is not a link between these GPUs.
#[test]
fn a_group_that_is_all_there_is_is_refused_by_its_name() {
    let machine = machine_of(
        "weir: 1\nlink_types: { slot: { generation: 4, width: 16 } }\ntree:\n  rc:\n    kind: root-complex\n    children:\n      'gpu[0-1]': { kind: gpu, link: slot }\n",
    );
    let thrice = at_once(&machine, "thrice", &[("gpu0", "gpu1"); 3], 78.9);
    let refused =
        fit(&machine, &built_in("max-min"), &[thrice], &FitOptions::default()).expect_err("too fast").to_string();
    assert!(
        refused.contains("the fastest group: 3 transfers of `thrice` over one link, 78.900 GB/s together"),
        "{refused}"
    );
    assert!(refused.contains("give each its own group") && !refused.contains("NVLink"), "{refused}");
}
