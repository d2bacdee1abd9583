//! Columns beside each other: ratios, spreads, partings of rates and packets, and what counts as a change.

use weir_report::{Column, Comparison, Deviation, text};

use crate::ran::{Ran, accepted};

fn column(ran: &Ran) -> Column {
    ran.report(|run| Column::of_run(run, None)).expect("has parameters")
}

#[test]
fn texts_of_comparisons() {
    let shared = |number| Ran::new("shared", number);
    let policies = Comparison::new((0..3).map(|number| column(&shared(number))).collect());
    accepted("compared-policies", &text::compare(&policies));
    // The spread of each is 4 ms: 0.7 ms more is within it.
    let moved = Comparison::new((0..2).map(|number| column(&shared(number).with_spread())).collect());
    accepted("compared-spreads", &text::compare(&moved));
    let changed = [None, Some("arbiter.tau=0.2")].map(|with| column(&shared(0)).changed(with));
    accepted("compared-changes", &text::compare(&Comparison::new(changed.into())));
    let files = Comparison::new(["operations", "many", "events"].map(|name| column(&Ran::new(name, 0))).into());
    accepted("compared-files", &text::compare(&files));
    let fidelities = Comparison::new([0, 1].map(|number| column(&Ran::new("fidelity", number))).into());
    accepted("compared-fidelities", &text::compare(&fidelities));
    let alone = Comparison::new(vec![column(&Ran::new("brief", 0).with_spread()), column(&Ran::new("brief", 0))]);
    accepted("compared-one-spread", &text::compare(&alone));
}

/// A spread is no part of a makespan of 0.
#[test]
fn a_spread_of_nothing_is_not_told() {
    let mut ran = Ran::new("brief", 0).with_spread();
    ran.outcome.makespan = weir_plugin_api::SimTime::ZERO;
    let text = text::compare(&Comparison::new(vec![column(&ran)]));
    let row = text.lines().find(|line| line.starts_with("its spread")).expect("a row");
    assert_eq!(row.split_whitespace().next_back(), Some("–"), "{text}");
}

/// A link of 10 GB/s carries 100 MB, 200 MB, or 100 MB in 10 ms, 20 ms, 10 ms; a change of exactly 100 % up or 50 % down is not
/// beyond that.
#[test]
fn a_change_is_more_than_so_many_per_cent() {
    let of = |makespans: [f64; 2]| {
        let ran = |times: f64| {
            let mut ran = Ran::new("fidelity", 0);
            let ps = (times * 1e9) as u64;
            ran.outcome.makespan = weir_plugin_api::SimTime(ps);
            column(&ran)
        };
        Comparison::new(makespans.map(ran).into())
    };
    for (makespans, change, percent, is_beyond) in [
        ([10.0, 20.0], Deviation::Slower, 100.0, false),
        ([10.0, 20.001], Deviation::Slower, 100.0, true),
        ([20.0, 10.0], Deviation::Faster, 50.0, false),
        ([20.0, 9.999], Deviation::Faster, 50.0, true),
        ([20.0, 9.999], Deviation::Slower, 50.0, false),
    ] {
        let comparison = of(makespans);
        // Two columns of one policy: the second is compared with the first.
        assert_eq!(!comparison.changed(change, percent).is_empty(), is_beyond, "{makespans:?} {change:?} {percent}");
    }
}

/// Of three policies in one file the second and the third are judged against the first; with the same three again each against
/// its own.
#[test]
fn columns_are_judged_against_their_own_policy() {
    let columns = |makespans: &[u64]| {
        let column = |(at, &makespan): (usize, &u64)| {
            let mut ran = Ran::new("shared", at % 3);
            ran.outcome.makespan = weir_plugin_api::SimTime(makespan);
            column(&ran)
        };
        Comparison::new(makespans.iter().enumerate().map(column).collect())
    };
    let pairs = |makespans: &[u64]| -> Vec<(String, String)> {
        let comparison = columns(makespans);
        let changed = comparison.changed(Deviation::Differs, 0.0);
        changed.iter().map(|(own, base)| (own.arbiter.clone(), base.arbiter.clone())).collect()
    };
    let map = "{default: pcie-congestion, memory: max-min, nvlink: max-min}";
    let pair = |own: &str, base: &str| (own.to_owned(), base.to_owned());
    assert_eq!(pairs(&[10, 10, 10]), []);
    assert_eq!(pairs(&[10, 20, 30]), [pair("max-min", "pcie-congestion"), pair(map, "pcie-congestion")]);
    assert_eq!(pairs(&[10, 20, 30, 10, 21, 30]), [pair("max-min", "max-min")]);
}
