//! Arbiters that claim to be pure, and whether they are.

use weir_sim_core::api::{Flags, Grant, PhaseView};
use weir_sim_core::{AnswerError, RunOptions, SimError};

use crate::simulation::{Fixed, pair};

/// It claims to be pure, and gives less with each call: at the latest the repetition of its second answer finds it out. One
/// that claims nothing may do so.
#[test]
fn an_arbiter_that_is_not_as_pure_as_it_claims_is_found_out() {
    for (flags, is_refused) in [(Flags::PURE, true), (Flags::default(), false)] {
        let mut p = pair(0);
        let tasks = [p.send(0, 1000, true), p.send(0, 1000, true), p.send(0, 1000, true)];
        let mut calls = 0;
        let mut tired = Fixed(move |_: &PhaseView<'_>, grant: &mut Grant<'_>| {
            calls += 1;
            grant.rates.fill(1e9 - f64::from((calls - 1) / 2));
        });
        match p.run_with(&mut tired, flags, RunOptions::default()) {
            Err(SimError::Arbiter(AnswerError::Impure { task, rate: 1e9, again, .. })) if is_refused => {
                assert_eq!((task, again), (tasks[1], 1e9 - 1.0));
            }
            other => assert!(!is_refused && other.is_ok(), "{other:?}"),
        }
    }
}

/// Answers are remembered for other times and ids, and without [`Flags::READS_ARRIVAL`] for other arrivals: an arbiter that
/// looks at any of these is not pure. One that looks at the order of arrivals may, where it says so.
#[test]
fn a_pure_arbiter_looks_at_no_time_id_or_arrival() {
    type Rate = fn(&PhaseView<'_>, usize) -> f64;
    let by_time: Rate = |phase, _| 1e8 + phase.now.0 as f64;
    let by_id: Rate = |phase, i| 1e8 + f64::from(phase.id.as_slice()[i].0);
    let by_arrival: Rate = |phase, i| 1e8 + phase.arrival.as_slice()[i] as f64;
    let by_order: Rate = |phase, i| {
        let arrivals = phase.arrival.as_slice();
        1e8 / (1 + arrivals.iter().filter(|&&other| other < arrivals[i]).count()) as f64
    };
    let ranks = Flags::PURE.union(Flags::READS_ARRIVAL);
    for (rate, flags, is_refused) in [
        (by_time, Flags::PURE, true),
        (by_id, Flags::PURE, true),
        (by_arrival, Flags::PURE, true),
        (by_order, Flags::PURE, true),
        (by_arrival, ranks, true),
        (by_order, ranks, false),
    ] {
        let mut p = pair(0);
        for start in [5, 7, 9] {
            p.send(start, 1000, false);
        }
        let mut arbiter = Fixed(move |phase: &PhaseView<'_>, grant: &mut Grant<'_>| {
            (0..phase.len()).for_each(|i| grant.rates[i] = rate(phase, i));
        });
        let found = p.run_with(&mut arbiter, flags, RunOptions::default());
        let found_out = matches!(found, Err(SimError::Arbiter(AnswerError::Impure { .. })));
        assert_eq!(found_out, is_refused, "{found:?}");
    }
}
