//! The candidates: how many, by number, and one step away from each other.

use std::hash::{DefaultHasher, Hash, Hasher};

use rand::{Rng, RngExt};

/// One order of each source, one place of each rank, one value of each axis; empty where that does not vary. They compare as
/// their numbers do: see [`Space`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Candidate {
    /// Value of each axis, by position in its list.
    pub values: Vec<usize>,
    /// Device of each rank, by position in the list of devices.
    pub placement: Vec<usize>,
    /// Per source: what it sends, by position in its own order.
    pub order: Vec<Vec<usize>>,
}

impl Candidate {
    /// A digest of 128 bits, by which those that were seen are known: a space may have more candidates than numbers, and a
    /// digest takes less memory than a candidate. Of 10^9 candidates two have the same with a probability below 10^-20.
    #[must_use]
    pub fn digest(&self) -> u128 {
        let half = |which: u8| {
            let mut hasher = DefaultHasher::new();
            (which, self).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }
}

/// What varies. Candidates are numbered from 0 in mixed radix: values, the first axis slowest, then the placement, then the
/// orders, the last source fastest; placements and permutations are in lexicographic order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Space {
    /// What each source sends, or each stage of one.
    pub sources: Vec<usize>,
    /// Ranks; 0 where their places do not vary.
    pub ranks: usize,
    /// Devices to choose from, at least as many as ranks.
    pub devices: usize,
    /// Values of each axis, at least one.
    pub axes: Vec<usize>,
}

impl Space {
    /// How many candidates there are; none above 2^128.
    #[must_use]
    pub fn candidates(&self) -> Option<u128> {
        self.radices().try_fold(1_u128, |all, radix| all.checked_mul(radix?))
    }

    /// The candidate of a number; numbers beyond the last start again.
    ///
    /// # Panics
    /// Where there are more than 2^128 candidates.
    #[must_use]
    pub fn candidate(&self, number: u128) -> Candidate {
        let mut left = number;
        let mut digits: Vec<u128> = Vec::new();
        for radix in self.radices().collect::<Vec<_>>().into_iter().rev() {
            let radix = radix.expect("candidates have numbers");
            digits.push(left % radix);
            left /= radix;
        }
        let mut digits = digits.into_iter().rev();
        let mut next = || digits.next().unwrap_or(0);
        Candidate {
            values: self.axes.iter().map(|_| next() as usize).collect(),
            placement: arrangement(next(), self.ranks, self.devices),
            order: self.sources.iter().map(|&sent| arrangement(next(), sent, sent)).collect(),
        }
    }

    /// The candidate of number 0, however many there are: every order and placement as it is.
    #[must_use]
    pub fn first(&self) -> Candidate {
        Candidate {
            order: self.sources.iter().map(|&sent| (0..sent).collect()).collect(),
            placement: (0..self.ranks).collect(),
            values: vec![0; self.axes.len()],
        }
    }

    /// The sizes of what a number counts through, slowest first; none above 2^128.
    fn radices(&self) -> impl Iterator<Item = Option<u128>> {
        let axes = self.axes.iter().map(|&values| Some(values as u128));
        let placements = arrangements(self.ranks, self.devices);
        axes.chain([placements]).chain(self.sources.iter().map(|&sent| arrangements(sent, sent)))
    }

    /// Changes one thing: two places in an order, the device of a rank, or a value. Each kind that can change is as likely.
    /// Nothing where there is one candidate alone.
    pub(super) fn step(&self, candidate: &mut Candidate, rng: &mut impl Rng) {
        let sending: Vec<usize> = (0..self.sources.len()).filter(|&source| self.sources[source] > 1).collect();
        let varying: Vec<usize> = (0..self.axes.len()).filter(|&axis| self.axes[axis] > 1).collect();
        let movable = self.ranks > 0 && self.devices > 1;
        let kinds = [!sending.is_empty(), movable, !varying.is_empty()];
        let possible: Vec<usize> = (0..kinds.len()).filter(|&kind| kinds[kind]).collect();
        match possible.get(below(rng, possible.len())) {
            Some(0) => reorder(&mut candidate.order[sending[below(rng, sending.len())]], rng),
            Some(1) => self.displace(&mut candidate.placement, rng),
            Some(_) => {
                let axis = varying[below(rng, varying.len())];
                candidate.values[axis] = other_value(candidate.values[axis], self.axes[axis], rng);
            }
            None => {}
        }
    }

    /// A rank goes to another device, and whoever is there takes its place.
    fn displace(&self, placement: &mut [usize], rng: &mut impl Rng) {
        let rank = below(rng, placement.len());
        let to = (placement[rank] + 1 + below(rng, self.devices - 1)) % self.devices;
        match placement.iter().position(|&device| device == to) {
            Some(other) => placement.swap(rank, other),
            None => placement[rank] = to,
        }
    }
}

/// A number below `most`; 0 where there is none.
fn below(rng: &mut impl Rng, most: usize) -> usize {
    if most > 1 { rng.random_range(0..most) } else { 0 }
}

/// Exchanges two, or takes one out and puts it in elsewhere.
fn reorder(order: &mut [usize], rng: &mut impl Rng) {
    let from = below(rng, order.len());
    let to = (from + 1 + below(rng, order.len() - 1)) % order.len();
    match (below(rng, 2), from < to) {
        (0, _) => order.swap(from, to),
        (_, true) => order[from..=to].rotate_left(1),
        (_, false) => order[to..=from].rotate_right(1),
    }
}

/// A neighbour, as ranges are in order, an end, or any other.
fn other_value(value: usize, values: usize, rng: &mut impl Rng) -> usize {
    let last = values - 1;
    match below(rng, 5) {
        0 if value < last => value + 1,
        1 if value > 0 => value - 1,
        2 => {
            if value < last {
                last
            } else {
                0
            }
        }
        _ => (value + 1 + below(rng, last)) % values,
    }
}

/// The number of ways to place `ranks` on as many of some devices; none above 2^128.
pub(crate) fn arrangements(ranks: usize, devices: usize) -> Option<u128> {
    (0..ranks).try_fold(1_u128, |all, rank| all.checked_mul(devices.checked_sub(rank)? as u128))
}

/// The arrangement of a number, in lexicographic order: mixed radix, rank 0 most significant, by the devices that are left.
fn arrangement(number: u128, ranks: usize, devices: usize) -> Vec<usize> {
    let (mut left, mut digits) = (number, Vec::with_capacity(ranks));
    for rank in (0..ranks).rev() {
        let radix = (devices - rank) as u128;
        digits.push((left % radix) as usize);
        left /= radix;
    }
    let mut free: Vec<usize> = (0..devices).collect();
    digits.into_iter().rev().map(|digit| free.remove(digit)).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn small() -> Space {
        Space { sources: vec![2, 1, 3], ranks: 2, devices: 3, axes: vec![2, 2] }
    }

    #[test]
    fn numbers_count_values_then_placements_then_orders() {
        let space = small();
        // 2 · 2 values, 3 · 2 placements, 2! · 1 · 3! orders.
        assert_eq!(space.candidates(), Some(288));
        let at = |number| space.candidate(number);
        let order = |first: &[usize], last: &[usize]| vec![first.to_vec(), vec![0], last.to_vec()];
        assert_eq!(at(0), space.first());
        assert_eq!(at(0), Candidate { order: order(&[0, 1], &[0, 1, 2]), placement: vec![0, 1], values: vec![0, 0] });
        assert_eq!(at(1).order, order(&[0, 1], &[0, 2, 1]));
        assert_eq!(at(6).order, order(&[1, 0], &[0, 1, 2]));
        assert_eq!(at(12).placement, [0, 2]);
        assert_eq!(at(72).values, [0, 1]);
        assert_eq!(at(287), Candidate { order: order(&[1, 0], &[2, 1, 0]), placement: vec![2, 1], values: vec![1, 1] });
    }

    #[test]
    fn too_many_candidates_have_no_number() {
        assert_eq!(Space { sources: vec![40], ..Space::default() }.candidates(), None);
        assert_eq!(Space::default().candidates(), Some(1));
    }

    /// Steps reach every candidate, never leave the space, and always change something.
    #[test]
    fn steps_reach_all_of_the_space() {
        let space = small();
        let all: std::collections::BTreeSet<_> = (0..288).map(|n| format!("{:?}", space.candidate(n))).collect();
        let (mut at, mut seen) = (space.candidate(0), std::collections::BTreeSet::new());
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            let before = at.clone();
            space.step(&mut at, &mut rng);
            assert_ne!(at, before);
            seen.insert(format!("{at:?}"));
        }
        assert_eq!(seen, all);
        let mut alone = Candidate::default();
        Space::default().step(&mut alone, &mut rng);
        assert_eq!(alone, Candidate::default());
    }
}
