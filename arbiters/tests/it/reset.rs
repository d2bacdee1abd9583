//! After `reset` an arbiter is as a new one: nothing that it learnt by the ids of one table of routes is left for another.

use crate::common::random::cases;
use crate::common::{Phase, Transfer, answer, make, names, steps};
use proptest::prelude::*;
use weir_sim_core::Fabric;

/// A phase of the transfers that the arbiter admits, all of which it has been asked about.
fn admitted(arbiter: &mut dyn weir_plugin_api::RateArbiter, fabric: &Fabric, transfers: &[Transfer]) -> Option<Phase> {
    let all = Phase::new(fabric, transfers);
    let kept: Vec<Transfer> =
        (0..all.len()).filter(|&p| arbiter.admit(all.links(p)).is_ok()).map(|p| all.transfers[p]).collect();
    (!kept.is_empty()).then(|| Phase::new(fabric, &kept))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reset_arbiter_equals_a_fresh_one(case in cases(12, 10, 3), split in 0.0_f64..1.0, explained in any::<bool>()) {
        // Two tables on one fabric whose ids of routes and classes stand for different links.
        let at = ((case.transfers.len() as f64 * split) as usize).min(case.transfers.len());
        let (before, mut after) = (&case.transfers[..at], case.transfers.to_vec());
        after.reverse();
        for name in names() {
            let mut used = make(name, &case.fabric, "{}");
            if let Some(phase) = admitted(&mut *used, &case.fabric, before) {
                for last in 1..=phase.len() {
                    let part = phase.subset(&(0..last).collect::<Vec<_>>());
                    answer(&mut *used, &part);
                    if explained {
                        steps(&mut *used, &part);
                    }
                }
            }
            used.reset();
            let mut fresh = make(name, &case.fabric, "{}");
            let again = admitted(&mut *used, &case.fabric, &after);
            let Some(phase) = admitted(&mut *fresh, &case.fabric, &after) else {
                prop_assert!(again.is_none());
                continue;
            };
            prop_assert_eq!(again.map(|phase| phase.len()), Some(phase.len()), "{} admits other routes", name);
            for last in (1..=phase.len()).rev() {
                let part = phase.subset(&(0..last).collect::<Vec<_>>());
                prop_assert_eq!(answer(&mut *used, &part), answer(&mut *fresh, &part), "{}", name);
                prop_assert_eq!(steps(&mut *used, &part), steps(&mut *fresh, &part), "{}", name);
            }
        }
    }
}
