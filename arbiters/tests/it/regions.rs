//! Fabrics cut into regions: what must hold whatever the policies are.

use std::sync::Arc;

use crate::common::random::{Case, cases};
use crate::common::{Phase, Transfer, answer, make, names, rates};
use crate::properties::rebuild;
use proptest::prelude::*;
use proptest::sample::Index;
use weir_arbiters::register;
use weir_plugin_api::{Flags, LinkId, RateArbiter, Registry, RouteTable};
use weir_sim_core::{Division, Fabric, LIMITED, RegionPolicy, region_arbiter};

/// The policies of a fabric's regions, by name; `keys` says which of them each pair of directed links has.
pub(crate) fn cut(
    fabric: &Fabric,
    names: &[&str],
    keys: impl Fn(usize) -> usize,
) -> (Arc<Division>, Box<dyn RateArbiter>) {
    cut_claiming(fabric, names, keys, Flags::KNOWN)
}

/// The same, where the policies claim these flags at most.
fn cut_claiming(
    fabric: &Fabric,
    names: &[&str],
    keys: impl Fn(usize) -> usize,
    claimed: Flags,
) -> (Arc<Division>, Box<dyn RateArbiter>) {
    let mut registry = Registry::new();
    register(&mut registry).expect("an empty registry takes all");
    let policy = |name: &&str| {
        let entry = registry.get(name).expect("a known name");
        RegionPolicy {
            name: entry.name.as_str().into(),
            make: entry.make.clone(),
            flags: Flags(entry.flags.0 & claimed.0),
            params: "{}".into(),
        }
    };
    let policies: Vec<RegionPolicy> = names.iter().map(policy).collect();
    let keys: Vec<u32> = (0..fabric.links().len()).map(|link| keys(link / 2) as u32).collect();
    let division = Arc::new(Division::of(fabric, &keys));
    let arbiter = region_arbiter(&fabric.view(), division.clone(), &policies).expect("policies take their regions");
    (division, arbiter)
}

/// A case with a policy for each of three keys, and the key of each link.
fn cut_cases() -> impl Strategy<Value = (Case, Vec<Index>, [Index; 3])> {
    (cases(14, 16, 3), prop::collection::vec(any::<Index>(), 1..40), any::<[Index; 3]>())
}

fn key(dealt: &[Index], pair: usize) -> usize {
    dealt[pair % dealt.len()].index(3)
}

/// The transfers of a case that all regions admit.
fn admitted(case: &Case, arbiter: &mut dyn RateArbiter) -> Option<Phase> {
    let all = Phase::new(&case.fabric, &case.transfers);
    let kept: Vec<Transfer> =
        (0..all.len()).filter(|&p| arbiter.admit(all.links(p)).is_ok()).map(|p| all.transfers[p]).collect();
    (!kept.is_empty()).then(|| Phase::new(&case.fabric, &kept))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn max_min_in_any_regions_is_max_min_as_a_whole((case, dealt, _) in cut_cases()) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let apart = Flags(Flags::KNOWN.0 & !Flags::CUT_ANYWHERE.0);
        let (_, mut regions) = cut_claiming(&case.fabric, &["max-min"; 3], |pair| key(&dealt, pair), apart);
        let whole = rates(&mut *make("max-min", &case.fabric, "{}"), &phase);
        let weighted = case.transfers.iter().any(|t| t.weight != 1.0);
        for (position, (got, expected)) in rates(&mut *regions, &phase).into_iter().zip(whole).enumerate() {
            // Levels of weighted transfers differ by their weights, so that "the lowest" is another one.
            prop_assert!(weighted || (got - expected).abs() <= 1e-9 * expected, "{position}: {got} {expected}");
        }
    }

    /// Touching regions of one policy that may be cut anywhere are served as one, whatever the weights; what is explained
    /// names the regions as they are written.
    #[test]
    fn regions_that_are_served_as_one_keep_their_names((case, dealt, _) in cut_cases()) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let (division, mut regions) = cut(&case.fabric, &["max-min"; 3], |pair| key(&dealt, pair));
        let whole = rates(&mut *make("max-min", &case.fabric, "{}"), &phase);
        prop_assert_eq!(rates(&mut *regions, &phase), whole.clone());
        let mut steps = Vec::new();
        prop_assert!(regions.explain(&phase.view(), &mut steps).expect("it explains"));
        for (position, &rate) in whole.iter().enumerate() {
            let own = || steps.iter().filter(|step| step.transfer as usize == position);
            prop_assert_eq!(own().filter(|step| step.step != LIMITED).map(|step| step.rate).collect::<Vec<_>>(), [rate]);
            let mut named: Vec<usize> = own().map(|step| step.region as usize).collect();
            named.sort_unstable();
            let mut crossed: Vec<usize> = phase.links(position).iter().map(|&link| division.region_of(link)).collect();
            crossed.sort_unstable();
            crossed.dedup();
            prop_assert_eq!(named, crossed);
        }
        for step in steps.iter().filter(|step| step.step != LIMITED && !step.link.is_none()) {
            prop_assert_eq!(step.region as usize, division.region_of(step.link));
        }
    }

    #[test]
    fn one_region_has_the_bits_of_its_policy((case, _, picks) in cut_cases()) {
        let all: Vec<&str> = names().collect();
        let name = *picks[0].get(&all);
        let (division, mut regions) = cut(&case.fabric, &[name], |_| 0);
        prop_assert!(division.regions.len() <= case.fabric.links().len());
        let Some(phase) = admitted(&case, &mut *regions) else { return Ok(()) };
        let whole = answer(&mut *make(name, &case.fabric, "{}"), &phase);
        prop_assert_eq!(answer(&mut *regions, &phase), whole);
    }

    #[test]
    fn every_mixture_is_feasible_and_sets_do_not_affect_each_other((case, dealt, picks) in cut_cases()) {
        let all: Vec<&str> = names().collect();
        let names = picks.map(|pick| *pick.get(&all));
        let (_, mut regions) = cut(&case.fabric, &names, |pair| key(&dealt, pair));
        let Some(phase) = admitted(&case, &mut *regions) else { return Ok(()) };
        let (rates, bindings) = answer(&mut *regions, &phase);
        let load = |link: LinkId| -> f64 {
            (0..phase.len()).filter(|&p| phase.links(p).contains(&link)).map(|p| rates[p]).sum()
        };
        for link in (0..case.fabric.links().len()).map(LinkId::from_index) {
            prop_assert!(load(link) <= case.fabric.bandwidths()[link.index()] * (1.0 + 2e-9), "{names:?}");
        }
        for p in (0..phase.len()).filter(|&p| rates[p] == 0.0) {
            // In the end all wait for somebody who moves, or whom the policy does not name.
            let waits_for = |&p: &usize| bindings.get(p).filter(|_| rates[p] == 0.0).map(|binding| binding.by as usize);
            let mut chain = std::iter::successors(Some(p), waits_for);
            prop_assert!(chain.nth(phase.len()).is_none(), "{names:?}: {p} waits in a circle: {rates:?} {bindings:?}");
        }
        for (p, (rate, binding)) in rates.iter().zip(&bindings).enumerate() {
            prop_assert!(*rate >= 0.0 && *rate <= phase.transfers[p].limit);
            prop_assert!(binding.link.is_none() || phase.links(p).contains(&binding.link));
            prop_assert!(binding.by == u32::MAX || (binding.by as usize) < phase.len());
        }
        for set in phase.connected_sets() {
            // A run goes on: not all wait for each other.
            prop_assert!(set.iter().any(|&p| rates[p] > 0.0), "{names:?}: nobody moves");
            let alone = answer(&mut *regions, &phase.subset(&set)).0;
            for (at, &p) in set.iter().enumerate() {
                prop_assert_eq!(alone[at].to_bits(), rates[p].to_bits(), "{:?}: {:?} beside, {:?} alone", names, rates, alone);
            }
        }
    }

    /// All bandwidths and limits times a power of two: so are all rates, to the bit.
    #[test]
    fn the_unit_of_bandwidth_does_not_matter(case in cases(14, 16, 0), dealt in prop::collection::vec(any::<Index>(), 1..40), picks: [Index; 3]) {
        let all: Vec<&str> = names().collect();
        let names = picks.map(|pick| *pick.get(&all));
        let factor = 2.0_f64.powi(-40);
        let (small, _) = rebuild(&case.fabric, false, factor, |kind| kind);
        let (_, mut regions) = cut(&case.fabric, &names, |pair| key(&dealt, pair));
        let (_, mut others) = cut(&small, &names, |pair| key(&dealt, pair));
        let Some(phase) = admitted(&case, &mut *regions) else { return Ok(()) };
        let scaled = |t: &Transfer| Transfer { limit: t.limit * factor, ..*t };
        let slow = Phase::new(&small, &phase.transfers.iter().map(scaled).collect::<Vec<_>>());
        let (one, bindings) = answer(&mut *regions, &phase);
        let one: Vec<f64> = one.iter().map(|rate| rate * factor).collect();
        prop_assert_eq!((one, bindings), answer(&mut *others, &slow), "{:?}", names);
    }

    #[test]
    fn a_lone_transfer_has_the_least_of_its_regions_full_rates((case, dealt, picks) in cut_cases()) {
        let all: Vec<&str> = names().collect();
        let names = picks.map(|pick| *pick.get(&all));
        let (division, mut regions) = cut(&case.fabric, &names, |pair| key(&dealt, pair));
        let Some(phase) = admitted(&case, &mut *regions) else { return Ok(()) };
        for p in 0..phase.len() {
            let rate = rates(&mut *regions, &phase.subset(&[p]))[0];
            let least = phase.links(p).iter().map(|l| case.fabric.bandwidths()[l.index()]).fold(f64::INFINITY, f64::min);
            let full = least.min(phase.transfers[p].limit);
            let congested = phase.links(p).iter().any(|&l| {
                names[division.regions[division.region_of(l)].policy as usize] == "pcie-congestion"
            });
            prop_assert!(rate == full || (congested && rate >= full * (1.0 - 21.0 / 121.0) * (1.0 - 1e-12)), "{rate} {full}");
        }
    }
}

proptest! {
    /// Of one region, a link can carry what its policy says of the routes that are in use: of each alone, and of all.
    #[test]
    fn a_link_can_carry_what_the_policy_of_its_region_says(case in cases(14, 16, 3), pick: Index) {
        let all: Vec<&str> = names().collect();
        let name = *pick.get(&all);
        let (_, mut regions) = cut(&case.fabric, &[name], |_| 0);
        let Some(phase) = admitted(&case, &mut *regions) else { return Ok(()) };
        let mut whole = make(name, &case.fabric, "{}");
        answer(&mut *whole, &phase);
        answer(&mut *regions, &phase);
        for link in (0..case.fabric.links().len()).map(LinkId::from_index) {
            for p in 0..phase.len() {
                let offsets = [0, phase.links(p).len() as u64];
                let alone = RouteTable { offsets: offsets[..].into(), links: phase.links(p).into() };
                for routes in [&alone, &phase.view().routes] {
                    prop_assert_eq!(regions.capacity(link, routes), whole.capacity(link, routes), "{} {:?}", name, link);
                }
            }
        }
    }
}
