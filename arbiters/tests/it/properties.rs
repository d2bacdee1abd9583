//! What holds for any fabric and any phase.

use crate::common::random::{Case, cases};
use crate::common::{Phase, Transfer, answer, link, make, names, rates, steps};
use proptest::prelude::*;
use weir_plugin_api::{Binding, Cause, LinkId, NodeId, NodeKind, RouteTable};
use weir_sim_core::{Fabric, FabricBuilder};

/// The rate check's tolerance is 2e-9; arbiters stay below half of it.
const TOLERANCE: f64 = 1e-9;

/// The phase of a case, without transfers that the arbiter refuses; `None` if there are no others.
fn phase_for(name: &str, case: &Case) -> Option<Phase> {
    let mut arbiter = make(name, &case.fabric, "{}");
    let all = Phase::new(&case.fabric, &case.transfers);
    let kept: Vec<Transfer> =
        (0..all.len()).filter(|&p| arbiter.admit(all.links(p)).is_ok()).map(|p| all.transfers[p]).collect();
    (!kept.is_empty()).then(|| Phase::new(&case.fabric, &kept))
}

fn load(phase: &Phase, rates: &[f64], link: LinkId) -> f64 {
    (0..phase.len()).filter(|&p| phase.links(p).contains(&link)).map(|p| rates[p]).sum()
}

/// The fabric rebuilt with another kind for some nodes.
fn with_kinds(fabric: &Fabric, kind: impl Fn(NodeKind) -> NodeKind) -> Fabric {
    rebuild(fabric, false, 1.0, kind).0
}

/// The fabric rebuilt, with children in reverse order if `mirrored`, and all bandwidths times `factor`; and the new id of
/// each node. Tree links only.
pub(crate) fn rebuild(
    fabric: &Fabric,
    mirrored: bool,
    factor: f64,
    kind: impl Fn(NodeKind) -> NodeKind,
) -> (Fabric, Vec<NodeId>) {
    let nodes = fabric.nodes();
    let mut children = vec![Vec::new(); nodes.len()];
    for (i, node) in nodes.iter().enumerate().skip(1) {
        children[node.parent.index()].push(i);
    }
    let mut b = FabricBuilder::new();
    let mut new = vec![NodeId::NONE; nodes.len()];
    new[0] = b.root(kind(nodes[0].kind)).expect("a root");
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        if at > 0 {
            let up = nodes[at].up;
            let bandwidth = |link: LinkId| fabric.link(link).bandwidth * factor;
            let (up, down) = (bandwidth(up), bandwidth(LinkId(up.0 + 1)));
            new[at] = b.child(new[nodes[at].parent.index()], kind(nodes[at].kind), link(up, down)).expect("in order");
        }
        let next = children[at].iter().copied();
        if mirrored { stack.extend(next) } else { stack.extend(next.rev()) }
    }
    (b.build(), new)
}

/// The names a binding uses are on the transfer's route, and the responsible transfer shares the link.
fn check_binding(phase: &Phase, position: usize, binding: &Binding) -> Result<(), TestCaseError> {
    prop_assert_ne!(binding.cause(), Cause::Unknown);
    prop_assert_eq!(binding.link.is_none(), binding.cause() == Cause::OwnLimit);
    prop_assert!(binding.link.is_none() || phase.links(position).contains(&binding.link));
    let alone = matches!(binding.cause(), Cause::OwnLimit | Cause::FullRate);
    prop_assert!(!alone || binding.by == u32::MAX);
    prop_assert!(alone || binding.cause() == Cause::RootComplex || binding.by != u32::MAX, "{binding:?}");
    if binding.by != u32::MAX {
        prop_assert_ne!(binding.by as usize, position);
        prop_assert!(phase.links(binding.by as usize).contains(&binding.link));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_sound(case in cases(16, 30, 2)) {
        for name in names() {
            let Some(phase) = phase_for(name, &case) else { continue };
            let (rates, bindings) = answer(&mut *make(name, &case.fabric, "{}"), &phase);
            for (p, &rate) in rates.iter().enumerate() {
                prop_assert!(rate.is_finite() && rate >= 0.0 && rate <= phase.transfers[p].limit, "{name}: {rate}");
                prop_assert!(rate > 0.0 || matches!(name, "strict-priority" | "fcfs"), "{name}: {rates:?}");
                check_binding(&phase, p, &bindings[p])?;
                let full = phase.links(p).iter().map(|&l| case.fabric.link(l).bandwidth).fold(f64::INFINITY, f64::min);
                let own = matches!(bindings[p].cause(), Cause::OwnLimit | Cause::FullRate);
                prop_assert!(!own || rate >= full.min(phase.transfers[p].limit), "{name}: {:?}", bindings[p]);
                let lowered = rate < full.min(phase.transfers[p].limit);
                prop_assert!(lowered || own || name != "pcie-congestion", "{name}: {:?}", bindings[p]);
                for &l in phase.links(p) {
                    let bandwidth = case.fabric.link(l).bandwidth;
                    prop_assert!(load(&phase, &rates, l) <= bandwidth * (1.0 + TOLERANCE), "{name} {l:?}");
                }
                for q in (0..phase.len()).filter(|&q| phase.class[q] == phase.class[p]) {
                    let ranked = name == "fcfs";
                    prop_assert!(ranked || rates[q].to_bits() == rate.to_bits(), "{name}: equal classes");
                }
            }
            prop_assert!(rates.iter().any(|&r| r > 0.0), "{name} stalls");
        }
    }

    /// What a policy says that a link can carry holds for every set of routes in use, each alone and all together.
    #[test]
    fn no_link_carries_more_than_the_policy_says(case in cases(16, 30, 2)) {
        for name in names() {
            let Some(phase) = phase_for(name, &case) else { continue };
            let mut arbiter = make(name, &case.fabric, "{}");
            let (rates, _) = answer(&mut *arbiter, &phase);
            for p in 0..phase.len() {
                let offsets = [0, phase.links(p).len() as u64];
                let alone = RouteTable { offsets: offsets[..].into(), links: phase.links(p).into() };
                for &l in phase.links(p) {
                    let carried = load(&phase, &rates, l);
                    for routes in [&alone, &phase.view().routes] {
                        let most = arbiter.capacity(l, routes).expect("a bound").unwrap_or(f64::INFINITY);
                        prop_assert!(carried <= most * (1.0 + TOLERANCE), "{name} {l:?}: {carried} above {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn highest_priority_and_earliest_arrival_are_served(case in cases(12, 20, 1)) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let highest = phase.transfers.iter().map(|t| t.priority).max().unwrap();
        let strict = rates(&mut *make("strict-priority", &case.fabric, "{}"), &phase);
        let earliest = (0..phase.len()).min_by_key(|&p| (phase.transfers[p].arrival, p)).unwrap();
        let fcfs = rates(&mut *make("fcfs", &case.fabric, "{}"), &phase);
        prop_assert!((0..phase.len()).all(|p| phase.transfers[p].priority < highest || strict[p] > 0.0));
        prop_assert!(fcfs[earliest] > 0.0);
    }

    #[test]
    fn unconnected_sets_get_the_same_bits_alone(case in cases(24, 24, 2)) {
        for name in names() {
            let Some(phase) = phase_for(name, &case) else { continue };
            let (all, all_bindings) = answer(&mut *make(name, &case.fabric, "{}"), &phase);
            let mut arbiter = make(name, &case.fabric, "{}");
            for set in phase.connected_sets() {
                let (alone, bindings) = answer(&mut *arbiter, &phase.subset(&set));
                for (i, &p) in set.iter().enumerate() {
                    prop_assert_eq!(alone[i].to_bits(), all[p].to_bits(), "{} {:?} {:?}", name, set, all);
                    let by = bindings[i].by;
                    let by = if by == u32::MAX { by } else { set[by as usize] as u32 };
                    prop_assert_eq!(Binding { by, ..bindings[i] }, all_bindings[p], "{}", name);
                }
            }
        }
    }

    #[test]
    fn earlier_calls_leave_no_trace(first in cases(12, 16, 1), keep in prop::collection::vec(any::<bool>(), 16)) {
        for name in names() {
            let Some(phase) = phase_for(name, &first) else { continue };
            let some: Vec<usize> = (0..phase.len()).filter(|&p| keep[p]).collect();
            if some.is_empty() {
                continue;
            }
            let mut used = make(name, &first.fabric, "{}");
            rates(&mut *used, &phase);
            let subset = phase.subset(&some);
            prop_assert_eq!(answer(&mut *used, &subset), answer(&mut *make(name, &first.fabric, "{}"), &subset));
        }
    }

    #[test]
    fn order_of_transfers_does_not_matter(case in cases(12, 20, 1), shift in 0..20_usize) {
        for name in names() {
            let Some(phase) = phase_for(name, &case) else { continue };
            let n = phase.len();
            let mut order: Vec<usize> = (0..n).map(|i| n - 1 - (i + shift) % n).collect();
            if name == "fcfs" {
                // The rank decides there: only those without simultaneous arrivals.
                order.retain(|&p| (0..n).all(|q| q == p || phase.arrival[q] != phase.arrival[p]));
            }
            let mut straight = order.clone();
            straight.sort_unstable();
            if order.is_empty() {
                continue;
            }
            let mut arbiter = make(name, &case.fabric, "{}");
            let one = rates(&mut *arbiter, &phase.subset(&straight));
            let other = rates(&mut *arbiter, &phase.subset(&order));
            for (i, p) in order.iter().enumerate() {
                let same = one[straight.binary_search(p).unwrap()];
                prop_assert!((other[i] - same).abs() <= 1e-12 * same + 1e-4, "{name}: {} and {same}", other[i]);
            }
        }
    }

    #[test]
    fn labels_do_not_matter(case in cases(12, 20, 0)) {
        let (mirror, new) = rebuild(&case.fabric, true, 1.0, |k| k);
        let moved: Vec<Transfer> = case
            .transfers
            .iter()
            .map(|t| Transfer { from: new[t.from.index()], to: new[t.to.index()], ..*t })
            .collect();
        for name in names() {
            let one = rates(&mut *make(name, &case.fabric, "{}"), &Phase::new(&case.fabric, &case.transfers));
            let other = rates(&mut *make(name, &mirror, "{}"), &Phase::new(&mirror, &moved));
            for (a, b) in one.iter().zip(&other) {
                prop_assert!((a - b).abs() <= 1e-12 * a + 1e-4, "{name}: {one:?} {other:?}");
            }
        }
    }

    /// All bandwidths and limits times a power of two: so are all rates, to the bit, even those far below 1 B/s.
    #[test]
    fn the_unit_of_bandwidth_does_not_matter(case in cases(12, 20, 0)) {
        let factor = 2.0_f64.powi(-40);
        let (small, _) = rebuild(&case.fabric, false, factor, |k| k);
        for name in names() {
            let Some(phase) = phase_for(name, &case) else { continue };
            let scaled = |t: &Transfer| Transfer { limit: t.limit * factor, ..*t };
            let slow = Phase::new(&small, &phase.transfers.iter().map(scaled).collect::<Vec<_>>());
            let (one, bindings) = answer(&mut *make(name, &case.fabric, "{}"), &phase);
            let (other, others) = answer(&mut *make(name, &small, "{}"), &slow);
            let one: Vec<f64> = one.iter().map(|rate| rate * factor).collect();
            prop_assert_eq!(&one, &other, "{}", name);
            prop_assert_eq!(&bindings, &others, "{}", name);
        }
    }

    #[test]
    fn without_tau_a_root_complex_is_a_switch(case in cases(12, 16, 0)) {
        let to_switch = |k| if k == NodeKind::RootComplex { NodeKind::Switch } else { k };
        let plain = with_kinds(&case.fabric, to_switch);
        let phase = Phase::new(&case.fabric, &case.transfers);
        let expected = rates(&mut *make("pcie-congestion", &plain, "{}"), &phase);
        for params in [r#"{"tau": 0}"#, r#"{"root_penalty": false, "tau": 0.3}"#] {
            let actual = rates(&mut *make("pcie-congestion", &case.fabric, params), &phase);
            crate::common::assert_close(&actual, &expected, 1e-12);
        }
    }

    #[test]
    fn work_conserving_arbiters_leave_nothing(case in cases(16, 30, 2)) {
        for name in ["max-min", "strict-priority"] {
            let phase = Phase::new(&case.fabric, &case.transfers);
            let rates = rates(&mut *make(name, &case.fabric, "{}"), &phase);
            for p in 0..phase.len() {
                let at_limit = rates[p] >= phase.transfers[p].limit * (1.0 - TOLERANCE);
                let full = |&l: &LinkId| load(&phase, &rates, l) >= case.fabric.link(l).bandwidth * (1.0 - 2e-9);
                prop_assert!(at_limit || phase.links(p).iter().any(full), "{name}: {p} could be raised: {rates:?}");
            }
        }
    }

    #[test]
    fn explanations_end_at_the_rates(case in cases(12, 16, 1)) {
        for name in names() {
            let Some(phase) = phase_for(name, &case) else { continue };
            let mut arbiter = make(name, &case.fabric, "{}");
            let rates = rates(&mut *arbiter, &phase);
            let steps = steps(&mut *arbiter, &phase);
            prop_assert!(steps.is_sorted_by_key(|s| s.transfer));
            for (p, rate) in rates.iter().enumerate() {
                let last = steps.iter().rfind(|s| s.transfer as usize == p).expect("steps for each transfer");
                let close = (last.rate - rate).abs() <= 1e-15 * rate;
                prop_assert!(close, "{name}: {} and {rate}", last.rate);
            }
            for step in &steps {
                let p = step.transfer as usize;
                prop_assert!(step.link.is_none() || phase.links(p).contains(&step.link));
                for &other in &step.because {
                    prop_assert!(other as usize != p && phase.links(other as usize).contains(&step.link));
                }
            }
        }
    }
}
