//! Errors that go with the size are said, with the sizes to leave out.

use crate::common::{built_in, group, machine_of};
use weir_calibrate::fit::Choice;
use weir_calibrate::{Experiment, FitOptions, Made, MeasuredEnd, fit, warnings};
use weir_scenario::Machine;

fn pair() -> Machine {
    machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 50GB/s } }\ntree:\n  rc:\n    kind: root-complex\n    children: { 'gpu[0-1]': { kind: gpu, \
         link: slot } }\n",
    )
}

/// Copies of 1 kB to 2 GB, each twice the size before, with these seconds.
fn copies(machine: &Machine, seconds: impl Fn(usize, f64) -> f64) -> Vec<Experiment> {
    let copy = |at: usize| {
        let bytes = 1000 << at;
        let mut copy = group(machine, &format!("of {bytes} B"), &[("gpu0", "gpu1", bytes)]);
        copy.rows[0].seconds = seconds(at, bytes as f64);
        copy
    };
    (0..22).map(copy).collect()
}

fn said(machine: &Machine, copies: &[Experiment]) -> Option<String> {
    let found = fit(machine, &built_in("max-min"), copies, &FitOptions::default()).expect("a fit");
    let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
    warnings(machine, copies, &found, made).into_iter().find(|text| text.contains("drift with the size"))
}

/// Each size has a rate a tenth above the one before, and no latency is fitted: errors that rise evenly. About their mean they are
/// −3.5 to 3.5 steps: the products of neighbours are 26.25, the squares 42. Seven sizes do not say it, nor do eight of which one
/// gives the end of the last.
#[test]
fn eight_sizes_are_enough() {
    let machine = pair();
    let mut all = copies(&machine, |at, bytes| bytes / (10e9 * 1.1_f64.powi(at as i32)))[8..16].to_vec();
    let options = FitOptions { hold_out: 0.0, latency: Choice::No, ..FitOptions::default() };
    let said_of = |copies: &[Experiment], outlier: bool| {
        let mut found = fit(&machine, &built_in("max-min"), copies, &options).expect("a fit");
        found.rows.iter_mut().for_each(|row| row.outlier = outlier);
        let made = Made { arbiter: "max-min", arbiters: &[], per_link: true };
        warnings(&machine, copies, &found, made).into_iter().find(|text| text.contains("drift with the size"))
    };
    let said = |copies: &[Experiment]| said_of(copies, false);
    // 1/1.1² of the fastest is above 80 %, 1/1.1³ is not.
    let text = said(&all).expect("a warning");
    assert!(text.contains("leave out all that is smaller than `of 8192000 B`"), "{text}");
    // However often a size was measured.
    let often = [&all[..], &all[..1], &all[..1]].concat();
    assert_eq!(said(&often).map(|text| text.contains("`of 8192000 B`")), Some(true));
    assert_eq!(said_of(&all, true), None, "none of the rows counts");
    assert_eq!(said(&all[..7]), None);
    all[7].rows[0].end = MeasuredEnd::Last;
    assert_eq!(said(&all), None);
}

/// 10 µs; below 4 MB 5 GB/s, from then on 40: no one line through both. The first size with 80 % of 40 GB/s is 4.096 MB, which takes
/// 10 + 102 µs: 36.4 GB/s; half of it has 5 GB/s.
#[test]
fn two_protocols_are_no_one_line() {
    let machine = pair();
    let two = copies(&machine, |at, bytes| 1e-5 + bytes / if at < 12 { 5e9 } else { 40e9 });
    let text = said(&machine, &two).expect("a warning");
    assert!(text.contains("leave out all that is smaller than `of 4096000 B`"), "{text}");
    // One latency and one bandwidth, with errors of 15 % that say nothing of the size.
    let one = |at: usize, bytes: f64| (1e-5 + bytes / 40e9) * if at.is_multiple_of(2) { 1.15 } else { 0.85 };
    assert_eq!(said(&machine, &copies(&machine, one)), None);
    let exact = copies(&machine, |_, bytes| 1e-5 + bytes / 40e9);
    assert_eq!(said(&machine, &exact), None);
}
