//! Better rings than those that are known, where links beside the tree, or what links share, leave room.
//!
//! **Definition.** Of up to 8 ranks all orders are tried. Of more, first by thresholds: a ring whose largest load is at most a
//! threshold is looked for rank by rank, and given up where a rank is left that the ring can no longer reach or leave. Loads
//! are whole numbers of messages times the time of a byte, so that between the bound and the best ring there are few
//! thresholds; they are bisected. A search that ends without a ring proves that there is none. Then the best ring is changed, as
//! long as that helps: a stretch is reversed, or up to three ranks stand elsewhere; and, where a better one may exist, from
//! rings in which stretches were swapped at random, with a fixed seed. **Ties.** The first that is found.
//! **Source.** Bottleneck by thresholds: Garfinkel and Gilbert, *The Bottleneck Traveling Salesman Problem*, JACM 25(3), 1978.
//! The fewest ways on first: Warnsdorff's rule. Stretches: Lin and Kernighan, Operations Research 21(2), 1973; Or's thesis, 1976;
//! swaps: Martin, Otto and Felten, Complex Systems 5(3), 1991.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::order::{Best, Cost, is_better, meets};

/// Most ranks whose order is searched: the bits of a set.
pub(super) const MOST_RANKS: usize = 64;
/// Most ranks whose orders are all tried: 7! = 5040 rings.
const EXACT: usize = 8;
/// Messages that the search for one threshold looks at, and those that all changes do (*assumed*: together below a second).
const EFFORT: [u64; 2] = [1_000_000, 3_000_000];
/// Ranks from which a threshold's search begins, each with its part of the effort (*assumed*).
const STARTS: usize = 4;
/// What has found a ring of which it is not said yet whether it is the best.
const FOUND: &str = "search";

/// What the messages between ranks load.
pub(super) struct Ways {
    ranks: usize,
    /// From each rank to each, by place: what it loads, each as often as it does. Nothing where there is no way.
    loaded: Vec<Box<[u32]>>,
    /// The sum of the times of a byte of these, ps.
    sums: Vec<f64>,
    /// Time of a byte, ps.
    per_byte: Vec<f64>,
    /// Messages that load it, in a ring at hand.
    counts: Vec<u32>,
}

impl Ways {
    /// `loaded` names by numbers what `per_byte` has.
    pub(super) fn new(ranks: usize, per_byte: &[f64], loaded: Vec<Option<Vec<u32>>>) -> Self {
        let mut used: Vec<u32> = loaded.iter().flatten().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let renumbered = |number: u32| used.binary_search(&number).map_or(0, |at| at as u32);
        let renumbered = |way: Option<Vec<u32>>| way.unwrap_or_default().into_iter().map(renumbered).collect();
        let loaded: Vec<Box<[u32]>> = loaded.into_iter().map(renumbered).collect();
        let per_byte: Vec<f64> = used.iter().map(|&number| per_byte[number as usize]).collect();
        let each = |loaded: &u32| per_byte[*loaded as usize];
        let sums = loaded.iter().map(|way| way.iter().map(each).sum()).collect();
        Self { ranks, loaded, sums, per_byte, counts: vec![0; used.len()] }
    }

    /// Adds the message between two ranks; the largest load of what it loads, infinite where there is no way.
    fn add(&mut self, from: usize, to: usize) -> f64 {
        let way = &self.loaded[from * self.ranks + to];
        way.iter().for_each(|&loaded| self.counts[loaded as usize] += 1);
        let load = |&loaded: &u32| f64::from(self.counts[loaded as usize]) * self.per_byte[loaded as usize];
        if way.is_empty() { f64::INFINITY } else { way.iter().map(load).fold(0.0, f64::max) }
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.loaded[from * self.ranks + to].iter().for_each(|&loaded| self.counts[loaded as usize] -= 1);
    }

    fn cost(&mut self, order: &[usize]) -> Cost {
        let neighbours = || order.iter().copied().zip(order.iter().copied().cycle().skip(1));
        let cost = neighbours().fold((0.0, 0.0), |cost: Cost, (from, to)| {
            (cost.0.max(self.add(from, to)), cost.1 + self.sums[from * self.ranks + to])
        });
        neighbours().for_each(|(from, to)| self.remove(from, to));
        cost
    }

    /// The largest loads that a ring may have, from the bound up to below a load, ascending.
    fn thresholds(&self, bound: f64, below: f64) -> Vec<f64> {
        let mut per_byte = self.per_byte.clone();
        per_byte.sort_by(f64::total_cmp);
        per_byte.dedup();
        let times = |loaded: &[u32]| loaded.iter().map(|one| loaded.iter().filter(|other| *other == one).count()).max();
        let most = self.ranks * self.loaded.iter().filter_map(|loaded| times(loaded)).max().unwrap_or(1);
        let of = |per_byte: f64| {
            let first = (bound / per_byte * (1.0 - 1e-9)).ceil().max(1.0) as usize;
            (first..=most).map(move |times| times as f64 * per_byte).take_while(|load| *load < below * (1.0 - 1e-9))
        };
        let mut all: Vec<f64> = per_byte.into_iter().flat_map(of).collect();
        all.sort_by(f64::total_cmp);
        all.dedup_by(|a, b| *a <= *b * (1.0 + 1e-12));
        all
    }
}

/// Replaces the best ring by a better one where one is found; returns the least load that a ring can have, as far as is known.
pub(super) fn improve(best: &mut Best, bound: f64, mut ways: Ways) -> f64 {
    if ways.ranks <= EXACT {
        let order = (0..ways.ranks).collect();
        try_all(&mut ways, best, order, 1);
        return best.0.0;
    }
    let bound = by_thresholds(&mut ways, best, bound);
    Changes { ways, effort: EFFORT[1], random: ChaCha8Rng::seed_from_u64(1) }.run(best, bound);
    if best.2 == FOUND {
        best.2 = if meets(best.0, bound) { "exact" } else { "local" };
    }
    bound
}

/// Keeps the better of two; whether it was the new one.
fn better(ways: &mut Ways, best: &mut Best, order: &[usize], search: &'static str) -> bool {
    let cost = ways.cost(order);
    if is_better(cost, best.0) {
        *best = (cost, order.to_vec(), search);
        return true;
    }
    false
}

/// Tries all orders of the places from `fixed` on; the first rank stays.
fn try_all(ways: &mut Ways, best: &mut Best, mut order: Vec<usize>, fixed: usize) {
    if fixed == order.len() {
        better(ways, best, &order, "exact");
        return;
    }
    for next in fixed..order.len() {
        order.swap(fixed, next);
        try_all(ways, best, order.clone(), fixed + 1);
        order.swap(fixed, next);
    }
}

/// Bisects the thresholds; returns the least load that a ring can have, as far as is known.
fn by_thresholds(ways: &mut Ways, best: &mut Best, bound: f64) -> f64 {
    let thresholds = ways.thresholds(bound, best.0.0);
    let (mut low, mut high, mut proven) = (0, thresholds.len(), 0);
    while low < high {
        let middle = low.midpoint(high);
        match ring(ways, thresholds[middle]) {
            Ring::Is(order) => {
                better(ways, best, &order, FOUND);
                high = middle;
            }
            Ring::IsNot => (low, proven) = (middle + 1, middle + 1),
            Ring::Unknown => low = middle + 1,
        }
    }
    // Where none is left below the best ring, that is the least.
    thresholds.get(proven).map_or(best.0.0, |&least| least.min(best.0.0)).max(bound)
}

enum Ring {
    Is(Vec<usize>),
    IsNot,
    Unknown,
}

/// A ring whose largest load is at most `most`.
fn ring(ways: &mut Ways, most: f64) -> Ring {
    let n = ways.ranks;
    let (mut out, mut into) = (vec![0; n], vec![0; n]);
    let most = most * (1.0 + 1e-9);
    for (from, to) in (0..n * n).map(|pair| (pair / n, pair % n)).filter(|(from, to)| from != to) {
        if ways.add(from, to) <= most {
            out[from] |= 1_u64 << to;
            into[to] |= 1_u64 << from;
        }
        ways.remove(from, to);
    }
    for start in (0..STARTS).map(|part| part * n / STARTS) {
        let effort = EFFORT[0] / STARTS as u64 / n as u64;
        let mut path = Path { ways, most, out: &out, into: &into, order: vec![start], effort };
        let left = (u64::MAX >> (u64::BITS as usize - n)) & !(1 << start);
        let found = path.extend(left);
        let mut order = std::mem::take(&mut path.order);
        order.windows(2).for_each(|pair| ways.remove(pair[0], pair[1]));
        match found {
            Some(true) => {
                let first = order.iter().position(|&place| place == 0).unwrap_or(0);
                order.rotate_left(first);
                return Ring::Is(order);
            }
            Some(false) => return Ring::IsNot,
            None => {}
        }
    }
    Ring::Unknown
}

/// The ranks of a set.
fn each(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// The begin of a ring.
struct Path<'a> {
    ways: &'a mut Ways,
    most: f64,
    /// Per rank: to which, and from which, a message alone loads nothing more than that.
    out: &'a [u64],
    into: &'a [u64],
    order: Vec<usize>,
    /// Ranks that may still be added.
    effort: u64,
}

impl Path<'_> {
    /// Adds all ranks that are left, if they can be; `None` where the effort is spent before that is known.
    fn extend(&mut self, left: u64) -> Option<bool> {
        let (Some(&start), Some(&end)) = (self.order.first(), self.order.last()) else { return Some(false) };
        if left == 0 {
            let fits = self.ways.add(end, start) <= self.most;
            self.ways.remove(end, start);
            return Some(fits);
        }
        self.effort = self.effort.checked_sub(1)?;
        if self.is_cut_off(left, (start, end)) {
            return Some(false);
        }
        let mut next: Vec<usize> = each(self.out[end] & left).collect();
        next.sort_by(|&a, &b| {
            let ways_on = |rank: usize| (self.out[rank] & left).count_ones();
            let sum = |rank: usize| self.ways.sums[end * self.ways.ranks + rank];
            ways_on(a).cmp(&ways_on(b)).then_with(|| sum(a).total_cmp(&sum(b)))
        });
        for rank in next {
            if self.ways.add(end, rank) <= self.most {
                self.order.push(rank);
                match self.extend(left & !(1 << rank)) {
                    Some(false) => _ = self.order.pop(),
                    found => return found,
                }
            }
            self.ways.remove(end, rank);
        }
        Some(false)
    }

    /// Whether the ranks that are left cannot all lie on the way from the end to the start: each needs one before and another
    /// behind it, none may be the only one for two, and the end must lead to all.
    fn is_cut_off(&self, left: u64, (start, end): (usize, usize)) -> bool {
        let mut only = [0_u64; 2];
        for rank in each(left | 1 << start) {
            let before = self.into[rank] & (left | 1 << end);
            let behind = self.out[rank] & (left | 1 << start);
            let sets = if rank == start { [before & left, 0] } else { [before, behind] };
            if sets[0] == 0 || rank != start && (behind == 0 || (before | behind).is_power_of_two()) {
                return true;
            }
            for (only, set) in only.iter_mut().zip(sets).filter(|(_, set)| set.is_power_of_two()) {
                if *only & set != 0 {
                    return true;
                }
                *only |= set;
            }
        }
        let (mut reached, mut next) = (0, self.out[end] & left);
        while next != 0 {
            reached |= next;
            next = each(next).fold(0, |all, rank| all | self.out[rank]) & left & !reached;
        }
        reached != left
    }
}

/// Changes of a ring that may make it better.
struct Changes {
    ways: Ways,
    /// Messages that may still be looked at.
    effort: u64,
    random: ChaCha8Rng,
}

impl Changes {
    /// From the best ring, then from others near it, while a better one may exist.
    fn run(&mut self, best: &mut Best, bound: f64) {
        let mut from = best.clone();
        while self.descend(&mut from) {
            if is_better(from.0, best.0) {
                *best = from;
            }
            if meets(best.0, bound) {
                return;
            }
            let order = self.swapped(&best.1);
            from = (self.ways.cost(&order), order, FOUND);
        }
        if is_better(from.0, best.0) {
            *best = from;
        }
    }

    /// Changes a ring as long as that helps; false where the effort is spent.
    fn descend(&mut self, best: &mut Best) -> bool {
        let n = self.ways.ranks;
        loop {
            let mut helped = false;
            for first in 1..n {
                for end in first + 2..=n {
                    helped |= self.change(best, |order| order[first..end].reverse());
                }
                for (count, to) in (1..=3).flat_map(|count| (1..n).map(move |to| (count, to))) {
                    let end = first + count;
                    if end <= n && to < first {
                        helped |= self.change(best, |order| order[to..end].rotate_right(count));
                    } else if to > end && to <= n {
                        helped |= self.change(best, |order| order[first..to].rotate_left(count));
                    }
                }
                if self.effort == 0 {
                    return false;
                }
            }
            if !helped {
                return true;
            }
        }
    }

    fn change(&mut self, best: &mut Best, change: impl FnOnce(&mut [usize])) -> bool {
        self.effort = self.effort.saturating_sub(self.ways.ranks as u64);
        let mut order = best.1.clone();
        change(&mut order);
        better(&mut self.ways, best, &order, FOUND)
    }

    /// Three stretches behind the first rank, in another order.
    fn swapped(&mut self, order: &[usize]) -> Vec<usize> {
        let mut at = [0; 3].map(|_| self.random.random_range(1..order.len()));
        at.sort_unstable();
        let [first, second, third] = at;
        [&order[..first], &order[second..third], &order[first..second], &order[third..]].concat()
    }
}
