//! Transfers that take several routes at once, and links that share a bandwidth, against progressive filling with the part of the
//! bytes that each link carries.

use crate::common::{Phase, Transfer, answer, assert_close, link, names, rates, steps};
use crate::regions::cut;
use proptest::prelude::*;
use proptest::sample::Index;
use weir_plugin_api::{Cause, LinkId, NodeId, NodeKind};
use weir_sim_core::{Fabric, FabricBuilder, LIMITED, Selection, branches, shares};

/// Ends, dealt to leaves, each of which has a link to every spine.
fn leaf_spine(ends: &[(usize, f64)], leaves: usize, spines: &[f64]) -> (Fabric, Vec<NodeId>) {
    half_duplex(ends, leaves, spines, &[])
}

/// The same; of some links, in their order, both directions share a bandwidth, or of some ends all links do.
fn half_duplex(ends: &[(usize, f64)], leaves: usize, spines: &[f64], shared: &[Option<f64>]) -> (Fabric, Vec<NodeId>) {
    let mut builder = FabricBuilder::new();
    let mut roots = |kind, count| (0..count).map(|_| builder.root(kind).expect("a root")).collect::<Vec<_>>();
    let (hosts, leaf) = (roots(NodeKind::Host, ends.len()), roots(NodeKind::Network, leaves));
    let spine = roots(NodeKind::Network, spines.len());
    for (&host, &(at, bandwidth)) in hosts.iter().zip(ends) {
        builder.lateral(host, leaf[at % leaves], link(bandwidth, bandwidth)).expect("a link");
    }
    for (&host, memory) in hosts.iter().zip(shared) {
        memory.iter().for_each(|memory| builder.share_node(host, *memory));
    }
    let mut shared = shared.iter().rev();
    for &leaf in &leaf {
        for (&spine, &bandwidth) in spine.iter().zip(spines) {
            builder.lateral(leaf, spine, link(bandwidth, bandwidth)).expect("a link");
            shared.next().copied().flatten().into_iter().for_each(|shared| builder.share_last_link(shared));
        }
    }
    (builder.build(), hosts)
}

/// What a route loads: links, and after them what links share, each with the part of the bytes that goes there.
fn resources(fabric: &Fabric, route: &[LinkId]) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> =
        shares(fabric, route).into_iter().map(|(link, part)| (link.index(), part)).collect();
    let count = branches(fabric, route).count() as f64;
    for (at, shared) in fabric.shared().iter().enumerate() {
        let crosses = |branch: &&[LinkId]| branch.iter().any(|link| shared.links.contains(link));
        let crossing = branches(fabric, route).filter(crosses).count() as f64;
        all.push((fabric.links().len() + at, crossing / count));
    }
    all.retain(|&(_, part)| part > 0.0);
    all
}

/// Weighted max-min fair rates: all rise together for their weights until a link is full, whose transfers then keep theirs; a
/// transfer loads a link with the part of its bytes that goes there.
fn filled(fabric: &Fabric, phase: &Phase) -> Vec<f64> {
    let parts: Vec<_> = (0..phase.len()).map(|p| resources(fabric, phase.links(p))).collect();
    let bandwidth = |resource: usize| match resource.checked_sub(fabric.links().len()) {
        None => fabric.links()[resource].bandwidth,
        Some(shared) => fabric.shared()[shared].bandwidth,
    };
    let (mut rates, mut level) = (vec![None; phase.len()], 0.0);
    while rates.iter().any(Option::is_none) {
        let mut room = vec![(f64::INFINITY, 0.0); fabric.links().len() + fabric.shared().len()];
        for (link, (room, rising)) in room.iter_mut().enumerate() {
            *room = bandwidth(link);
            for ((parts, rate), transfer) in parts.iter().zip(&rates).zip(&phase.transfers) {
                let part = parts.iter().find(|(on, _)| *on == link).map_or(0.0, |&(_, part)| part);
                match rate {
                    Some(rate) => *room -= part * rate,
                    None => {
                        let part = part * transfer.weight;
                        (*room, *rising) = (*room - part * level, *rising + part);
                    }
                }
            }
        }
        let open = |p: &usize| rates[*p].is_none();
        let own = |p: usize| phase.transfers[p].limit / phase.transfers[p].weight - level;
        let links = room.iter().filter(|(_, rising)| *rising > 0.0).map(|(room, rising)| room / rising);
        let step = links.chain((0..phase.len()).filter(open).map(own)).fold(f64::INFINITY, f64::min).max(0.0);
        let full = |link: usize| room[link].0 <= room[link].1 * step * (1.0 + 1e-12) + 1e-3;
        let held = |p: &usize| own(*p) - step <= 1e-3 || parts[*p].iter().any(|&(link, _)| full(link));
        let fixed: Vec<usize> = (0..phase.len()).filter(open).filter(held).collect();
        level += step;
        fixed.into_iter().for_each(|p| rates[p] = Some(level * phase.transfers[p].weight));
    }
    rates.into_iter().flatten().collect()
}

#[derive(Clone, Debug)]
struct Case {
    ends: Vec<(usize, f64)>,
    leaves: usize,
    spines: Vec<f64>,
    shared: Vec<Option<f64>>,
    transfers: Vec<(Index, Index, Option<f64>, f64, bool)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let gbps = || (1..200_u32).prop_map(|gbps| f64::from(gbps) * 1e9);
    let ends = prop::collection::vec((0..8_usize, gbps()), 2..9);
    let weight = prop::sample::select(vec![1.0, 1.0, 2.0, 0.5, 10.0]);
    let transfers = (any::<Index>(), any::<Index>(), prop::option::of(gbps()), weight, any::<bool>());
    let transfers = prop::collection::vec(transfers, 1..12);
    let shared = prop::collection::vec(prop::option::of(gbps()), 0..8);
    (ends, 2..5_usize, prop::collection::vec(gbps(), 1..6), shared, transfers)
        .prop_map(|(ends, leaves, spines, shared, transfers)| Case { ends, leaves, spines, shared, transfers })
}

impl Case {
    fn phase(&self) -> Option<(Fabric, Phase)> {
        let (fabric, hosts) = half_duplex(&self.ends, self.leaves, &self.spines, &self.shared);
        let mut transfers = Vec::new();
        let mut spread = Vec::new();
        for &(from, to, limit, weight, all) in &self.transfers {
            let (from, to) = (*from.get(&hosts), *to.get(&hosts));
            if from != to {
                let limit = limit.unwrap_or(f64::INFINITY);
                transfers.push(Transfer { limit, weight, ..Transfer::new(from, to) });
                spread.push(all);
            }
        }
        let selection = |p: usize| if spread[p] { Selection::All } else { Selection::Hashed(p as u128 * 7) };
        let phase = Phase::select(&fabric, &transfers, selection);
        (!transfers.is_empty()).then_some((fabric, phase))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn max_min_over_several_routes_is_progressive_filling(case in cases()) {
        let Some((fabric, phase)) = case.phase() else { return Ok(()) };
        let (_, mut arbiter) = cut(&fabric, &["max-min"], |_| 0);
        let (got, expected) = (rates(&mut *arbiter, &phase), filled(&fabric, &phase));
        for (position, (got, expected)) in got.into_iter().zip(expected).enumerate() {
            prop_assert!((got - expected).abs() <= 1e-6 * expected, "{}: {} {}", position, got, expected);
        }
    }

    #[test]
    fn every_policy_overfills_no_link_and_leaves_nobody_behind(case in cases(), pick in any::<Index>()) {
        let Some((fabric, phase)) = case.phase() else { return Ok(()) };
        let all: Vec<&str> = names().collect();
        let (_, mut arbiter) = cut(&fabric, &[*pick.get(&all)], |_| 0);
        if (0..phase.len()).any(|p| arbiter.admit(phase.links(p)).is_err()) {
            return Ok(());
        }
        let (rates, bindings) = answer(&mut *arbiter, &phase);
        let mut loads = vec![0.0; fabric.links().len() + fabric.shared().len()];
        for (position, rate) in rates.iter().enumerate() {
            prop_assert!(*rate >= 0.0 && *rate <= phase.transfers[position].limit);
            prop_assert_ne!(bindings[position].by, position as u32);
            for (resource, part) in resources(&fabric, phase.links(position)) {
                loads[resource] += part * rate;
            }
        }
        let bandwidths = fabric.links().iter().map(|link| link.bandwidth);
        let bandwidths = bandwidths.chain(fabric.shared().iter().map(|shared| shared.bandwidth));
        for (bandwidth, load) in bandwidths.zip(loads) {
            prop_assert!(load <= bandwidth * (1.0 + 2e-9));
        }
        prop_assert!(rates.iter().any(|rate| *rate > 0.0));
    }
}

#[test]
fn a_lone_transfer_has_all_routes_and_its_narrowest_link_is_the_reason() {
    let (fabric, hosts) = leaf_spine(&[(0, 100e9), (1, 100e9)], 2, &[10e9, 10e9, 10e9]);
    let phase = Phase::select(&fabric, &[Transfer::new(hosts[0], hosts[1])], |_| Selection::All);
    let (_, mut arbiter) = cut(&fabric, &["max-min"], |_| 0);
    let (rates, bindings) = answer(&mut *arbiter, &phase);
    assert_close(&rates, &[30e9], 1e-12);
    assert_eq!(bindings[0].cause(), Cause::FullRate);
}

#[test]
fn on_a_shared_link_a_spread_transfer_counts_as_one() {
    // a over three spines, b over the first alone: 10 = a / 3 + b on it, so 7.5 each, and a leaves room on the others.
    let (fabric, hosts) = leaf_spine(&[(0, 100e9), (1, 100e9), (0, 100e9), (1, 100e9)], 2, &[10e9, 10e9, 10e9]);
    let transfers = [Transfer::new(hosts[0], hosts[1]), Transfer::new(hosts[2], hosts[3])];
    let selection = |p| if p == 0 { Selection::All } else { Selection::First };
    let phase = Phase::select(&fabric, &transfers, selection);
    let (_, mut arbiter) = cut(&fabric, &["max-min"], |_| 0);
    assert_close(&rates(&mut *arbiter, &phase), &[7.5e9, 7.5e9], 1e-12);
}

#[test]
fn a_policy_that_serves_routes_in_turn_refuses_several_at_once() {
    let (fabric, hosts) = leaf_spine(&[(0, 100e9), (1, 100e9)], 2, &[10e9, 10e9]);
    let phase = Phase::select(&fabric, &[Transfer::new(hosts[0], hosts[1])], |_| Selection::All);
    for name in names() {
        let (_, mut arbiter) = cut(&fabric, &[name], |_| 0);
        let refused = arbiter.admit(phase.links(0)).is_err_and(|error| error.to_string().contains("routing: ecmp"));
        assert_eq!(refused, name == "fcfs", "{name}");
    }
}

proptest! {
    /// Steps are those of whole transfers, whatever part of the bytes a route carries: the least that any step leaves a transfer
    /// is its rate.
    #[test]
    fn the_least_step_of_a_transfer_is_its_rate(case in cases()) {
        let Some((fabric, phase)) = case.phase() else { return Ok(()) };
        let (_, mut arbiter) = cut(&fabric, &["max-min"], |_| 0);
        let rates = rates(&mut *arbiter, &phase);
        let steps = steps(&mut *arbiter, &phase);
        for (position, rate) in rates.into_iter().enumerate() {
            let own = steps.iter().filter(|step| step.transfer as usize == position && step.step != LIMITED);
            let least = own.map(|step| step.rate).fold(f64::INFINITY, f64::min);
            prop_assert!((least - rate).abs() <= 1e-9 * rate, "{}: {} of {}", position, least, rate);
        }
    }
}
