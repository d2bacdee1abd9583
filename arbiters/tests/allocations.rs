//! `allocate` takes no memory once its tables have grown.

mod common;
#[path = "../../packets/tests/counting/mod.rs"]
mod counting;

use common::{Phase, Transfer, make, names, t2};
use counting::taken;
use weir_plugin_api::{Binding, Grant, SimTime};

/// Phases of 1 to 60 transfers: all pairs, twice, with priorities, limits and arrivals.
fn phases() -> (weir_sim_core::Fabric, Vec<Phase>) {
    let (fabric, gpus) = t2(11.6e9);
    let mut transfers = Vec::new();
    for step in 1..8 {
        for a in 0..8 {
            let mut t = Transfer::new(gpus[a], gpus[(a + step) % 8]);
            t.priority = (a % 3) as i64;
            t.arrival = (step * 31 + a * 7) as u64 % 5;
            t.limit = if a == 5 { 2e9 } else { f64::INFINITY };
            transfers.push(t);
        }
    }
    transfers.extend_from_within(..4);
    let all = Phase::new(&fabric, &transfers);
    let sizes = [1, 2, 8, 30, 60];
    let phases = sizes.iter().map(|&n| all.subset(&(0..n).collect::<Vec<_>>())).collect();
    (fabric, phases)
}

#[test]
fn nothing_is_taken_after_the_first_round() {
    let (fabric, phases) = phases();
    for name in names() {
        let mut arbiter = make(name, &fabric, "{}");
        let (mut rates, mut bindings) = (vec![0.0; 60], vec![Binding::NONE; 60]);
        let mut round = || {
            for phase in &phases {
                let n = phase.len();
                let (rates, bindings) = (&mut rates[..n], &mut bindings[..n]);
                let mut grant = Grant { rates, bindings, recheck: SimTime::NEVER };
                arbiter.allocate(&phase.view(), &mut grant).expect("rates");
            }
        };
        round();
        let before = taken();
        assert!(before > 0, "the counter counts");
        for _ in 0..3 {
            round();
        }
        assert_eq!(taken(), before, "{name}");
    }
}
