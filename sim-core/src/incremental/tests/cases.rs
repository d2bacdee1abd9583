//! Random links and transfers: trees and arbitrary routes, weights 1 to 5, limits, shared instants, and in half of the
//! cases equal sizes and bandwidths, so that many things are tied.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Cases compared with exact rationals.
pub(super) const COUNT: u64 = 400;

#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) start: u64,
    pub(super) route: Vec<usize>,
    pub(super) weight: u32,
    /// B/s.
    pub(super) limit: Option<u64>,
    pub(super) bytes: u64,
    /// 0 to 2.
    pub(super) priority: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    /// B/s.
    pub(super) capacities: Vec<u64>,
    /// By start.
    pub(super) offers: Vec<Offer>,
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

impl Case {
    pub(super) fn random(seed: u64) -> Self {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
        let (hosts, offers) = (2 + dice.below(7) as usize, 2 + dice.below(28) as usize);
        Self::sized(&mut dice, hosts, offers)
    }

    pub(super) fn large(seed: u64) -> Self {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(1000 + seed));
        Self::sized(&mut dice, 64, 400)
    }

    fn sized(dice: &mut Dice, hosts: usize, offers: usize) -> Self {
        let (tied, tree) = (dice.one_in(2), dice.one_in(2));
        let parents: Vec<usize> = (1..hosts).map(|i| dice.below(i as u64) as usize).collect();
        let links = if tree { 2 * (hosts - 1) } else { hosts };
        let capacities =
            (0..links).map(|_| if tied { 1_000_000 << dice.below(3) } else { 1_000_000 + dice.below(4_000_000) });
        let capacities: Vec<u64> = capacities.collect();
        let mut offers: Vec<Offer> = (0..offers)
            .map(|_| {
                let route = if tree { tree_route(dice, &parents) } else { any_route(dice, links) };
                let start = if tied || dice.one_in(2) { dice.below(4) * 1_000_000 } else { dice.below(5_000_000) };
                let bytes = if tied { 1 + dice.below(4) } else { 1 + dice.below(20) };
                let weight = if dice.one_in(3) { 1 + dice.below(5) as u32 } else { 1 };
                let limit = dice.one_in(3).then(|| if tied { 500_000 } else { 1 + dice.below(2_000_000) });
                let priority = dice.below(3) as i64;
                Offer { start, route, weight, limit, bytes, priority }
            })
            .collect();
        offers.sort_by_key(|o| o.start);
        Self { capacities, offers }
    }
}

/// Up from one node to the common ancestor and down to another; link 2i leads up from node i + 1, 2i + 1 down to it.
fn tree_route(dice: &mut Dice, parents: &[usize]) -> Vec<usize> {
    let nodes = parents.len() as u64 + 1;
    loop {
        let (mut a, mut b) = (dice.below(nodes) as usize, dice.below(nodes) as usize);
        let (mut up, mut down) = (Vec::new(), Vec::new());
        while a != b {
            // Parents have lower numbers.
            if a > b {
                up.push(2 * (a - 1));
                a = parents[a - 1];
            } else {
                down.push(2 * (b - 1) + 1);
                b = parents[b - 1];
            }
        }
        up.extend(down.into_iter().rev());
        if !up.is_empty() {
            return up;
        }
    }
}

fn any_route(dice: &mut Dice, links: usize) -> Vec<usize> {
    let count = 1 + dice.below(5) as usize;
    let mut route = Vec::new();
    for _ in 0..count {
        let link = dice.below(links as u64) as usize;
        if !route.contains(&link) {
            route.push(link);
        }
    }
    route
}
