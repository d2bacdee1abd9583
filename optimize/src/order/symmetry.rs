//! Permutations of devices that change no makespan.
//!
//! The group: permutations of the nodes that routes use which keep the tree (kinds, bandwidths, latencies) and the
//! multiset of messages (sizes, leads, gaps, tails). An active set S is *even* if the table of rates has equal bits for rate(πS, πc) and rate(S, c),
//! for all π of the group and all c of S. By induction over the events of a run, the images of a run have its makespan
//! to the picosecond as long as it meets even sets only. Where it meets another one, those images part from it whose
//! rates have other bits and are followed for themselves, so that results are the same with and without symmetries,
//! whatever the arbiter. Arbiters whose sums round differently in another order have a few uneven sets
//! (`pcie-congestion` on the 3-D halo: 160 of 65,536).
//!
//! A state carries the elements π for which it stands for its image: a bit each. Where π and ρ leave it together, the
//! image under ρ goes on for both, with π ρ⁻¹ and the identity.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::candidates::candidates;
use super::plan::Plan;
use super::problem::OrderProblem;
use super::rates::digits_of;
use super::state::State;

/// Most comparisons of rates.
const MOST_COMPARISONS: u64 = 1 << 31;
/// One set in so many may be uneven; with more, symmetries save little.
const UNEVEN: usize = 16;

/// What a permutation does to sources and messages.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Element {
    /// Per source: the source it becomes.
    pub(crate) source: Vec<usize>,
    /// Per source and message: which message of the image source it becomes.
    pub(crate) message: Vec<Vec<usize>>,
}

/// A group of symmetries.
#[derive(Clone, Default, Debug)]
pub struct Symmetry {
    /// Its elements, the identity first; empty for the identity alone.
    elements: Vec<Element>,
    /// Per pair π, ρ of elements: which one is π ρ⁻¹.
    quotient: Vec<u8>,
    /// Per active set (row) whether its images have other rates.
    uneven: Vec<bool>,
    /// Of such a set, per element: a number that is equal where the rates of the images are.
    alike: BTreeMap<u64, Vec<u8>>,
}

impl Symmetry {
    /// Number of elements of the group, the identity included.
    #[must_use]
    pub fn order(&self) -> usize {
        self.elements.len().max(1)
    }

    /// All symmetries of a problem whose table of rates is given by row; only the identity where there are too many
    /// candidates to check.
    pub(crate) fn new<'t>(
        problem: &OrderProblem<'_>,
        plan: &Plan,
        rows: u64,
        row: impl Fn(u64) -> &'t [f64],
        cancel: &AtomicBool,
    ) -> Self {
        let elements = bounded(candidates(problem));
        let comparisons = (elements.len() as u64).saturating_mul(rows.saturating_mul(plan.sources as u64));
        if elements.len() < 2 || comparisons > MOST_COMPARISONS {
            return Self::default();
        }
        let Some(uneven) = uneven(&elements, plan, rows, &row, cancel) else { return Self::default() };
        if uneven.iter().filter(|&&u| u).count() > uneven.len() / UNEVEN {
            return Self::default();
        }
        let equal = |at: u64, e: &Element| {
            let digits = digits(plan, at);
            let first = elements.iter().position(|other| e.keeps_rates(other, plan, &digits, &row));
            first.unwrap_or(0) as u8
        };
        let rows = (0..rows).filter(|&at| uneven[at as usize]);
        let alike = rows.map(|at| (at, elements.iter().map(|e| equal(at, e)).collect())).collect();
        Self { quotient: quotients(&elements), elements, uneven, alike }
    }

    /// Whether images of a run part from it here.
    #[inline(always)]
    pub(crate) fn parts<const N: usize>(&self, state: &State<N>) -> bool {
        state.images > 1 && self.uneven[state.key as usize] && self.parts_here(state)
    }

    #[cold]
    fn parts_here<const N: usize>(&self, state: &State<N>) -> bool {
        let Some(alike) = self.alike.get(&state.key) else { return false };
        bits(state.images).any(|e| alike[e] != alike[0])
    }

    /// The state and the images that part from it here, each with those that go on with it.
    pub(crate) fn images<const N: usize>(&self, plan: &Plan, state: &State<N>) -> Vec<State<N>> {
        let Some(alike) = self.alike.get(&state.key) else { return vec![state.clone()] };
        let order = plan.order(state.number);
        let (mut left, mut images) = (state.images, Vec::new());
        while left != 0 {
            let lead = left.trailing_zeros() as usize;
            let with = bits(left).filter(|&e| alike[e] == alike[lead]).fold(0, |all, e| all | 1 << e);
            left &= !with;
            let mut image = self.elements[lead].state(plan, state, &order);
            let quotient = |e: usize| self.quotient[e * self.elements.len() + lead];
            image.images = bits(with).fold(0, |all, e| all | 1 << quotient(e));
            images.push(image);
        }
        images
    }

    /// The least number among an order and some of its images.
    pub(crate) fn lowest(&self, plan: &Plan, number: u128, images: u128) -> u128 {
        let order = plan.order(number);
        let of = |e: usize| plan.number(&self.elements[e].image(&order));
        bits(images & !1).map(of).fold(number, u128::min)
    }

    /// If a first choice is the first of its orbit: one element for each choice of the orbit, a bit each.
    pub(crate) fn orbit(&self, first: &[usize]) -> Option<u128> {
        let (mut images, mut seen) = (1, Vec::new());
        for (e, element) in self.elements.iter().enumerate().skip(1) {
            match element.compare(first) {
                std::cmp::Ordering::Less => return None,
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => {
                    let image = element.first(first);
                    if !seen.contains(&image) {
                        seen.push(image);
                        images |= 1 << e;
                    }
                }
            }
        }
        Some(images)
    }
}

/// Per active set whether its images have other rates; none when it was asked to stop. Where the images of a set have its
/// rates, they have those of each other: one set of each orbit is compared with the others.
fn uneven<'t>(
    elements: &[Element],
    plan: &Plan,
    rows: u64,
    row: &impl Fn(u64) -> &'t [f64],
    cancel: &AtomicBool,
) -> Option<Vec<bool>> {
    /// Rows between two looks at `cancel`.
    const LOOK: u64 = 1 << 10;
    let mut uneven = vec![None; rows as usize];
    let mut images = Vec::with_capacity(elements.len());
    for at in 0..rows {
        if at % LOOK == 0 && cancel.load(Ordering::Relaxed) {
            return None;
        }
        if uneven[at as usize].is_some() {
            continue;
        }
        let digits = digits(plan, at);
        images.clear();
        images.extend(elements.iter().map(|element| element.row(plan, &digits)));
        let equal = |(element, &image): (&Element, &u64)| element.same_rates(row(at), row(image));
        let changed = !elements.iter().zip(&images).all(equal);
        images.iter().for_each(|&image| uneven[image as usize] = Some(changed));
    }
    Some(uneven.into_iter().map(|uneven| uneven.unwrap_or(false)).collect())
}

/// What each source does.
type Digits = [u16; super::tree::MOST_DECIDING];

fn digits(plan: &Plan, row: u64) -> Digits {
    let mut digits = [0; super::tree::MOST_DECIDING];
    digits_of(plan, row, &mut digits);
    digits
}

fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 128).then_some(lowest)
    })
}

/// At most 128 elements, a subgroup: those that keep the first source, then the second too, and so on.
fn bounded(mut elements: Vec<Element>) -> Vec<Element> {
    let mut kept = 0;
    while elements.len() > 128 {
        elements.retain(|e| e.source[kept] == kept);
        kept += 1;
    }
    elements
}

/// Per pair π, ρ: the position of π ρ⁻¹, which is the one that composed with ρ is π.
fn quotients(elements: &[Element]) -> Vec<u8> {
    let mut quotients = vec![0; elements.len() * elements.len()];
    for (q, quotient) in elements.iter().enumerate() {
        for (r, rho) in elements.iter().enumerate() {
            if let Ok(pi) = elements.binary_search(&quotient.after(rho)) {
                quotients[pi * elements.len() + r] = q as u8;
            }
        }
    }
    quotients
}

impl Element {
    /// First the other, then this.
    fn after(&self, other: &Self) -> Self {
        let source = other.source.iter().map(|&s| self.source[s]).collect();
        let through =
            |(s, messages): (usize, &Vec<usize>)| messages.iter().map(|&m| self.message[other.source[s]][m]).collect();
        Self { source, message: other.message.iter().enumerate().map(through).collect() }
    }

    fn image(&self, order: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut image = vec![Vec::new(); order.len()];
        for (s, sequence) in order.iter().enumerate() {
            image[self.source[s]] = sequence.iter().map(|&m| self.message[s][m]).collect();
        }
        image
    }

    fn first(&self, first: &[usize]) -> Vec<usize> {
        let mut image = vec![0; first.len()];
        for (s, &m) in first.iter().enumerate() {
            image[self.source[s]] = self.message[s][m];
        }
        image
    }

    fn digit(&self, plan: &Plan, source: usize, digit: u16) -> u16 {
        if digit == 0 {
            return 0;
        }
        let (message, place) = plan.meaning(source, digit);
        plan.digit(self.source[source], self.message[source][message], place)
    }

    /// The image of a state, whose order as far as decided begins `order`.
    fn state<const N: usize>(&self, plan: &Plan, state: &State<N>, order: &[Vec<usize>]) -> State<N> {
        let mut image = State { images: 1, key: 0, ..state.clone() };
        let mut begun = order.to_vec();
        for (s, sequence) in begun.iter_mut().enumerate() {
            let (t, left) = (self.source[s], state.left[s]);
            image.move_lane(t, state, s);
            image.digit[t] = self.digit(plan, s, state.digit[s]);
            image.next[t] = self.digit(plan, s, state.next[s]);
            image.key = image.key.wrapping_add(plan.step(t, image.digit[t]));
            image.left[t] =
                (0..plan.counts[s]).filter(|m| left >> m & 1 == 1).fold(0, |l, m| l | 1 << self.message[s][m]);
            // What is left counts as in the order of the workload, in the image too.
            sequence.truncate(plan.counts[s] - left.count_ones() as usize);
        }
        let mut sequences = self.image(&begun);
        for (t, sequence) in sequences.iter_mut().enumerate() {
            sequence.extend((0..plan.counts[t]).filter(|m| image.left[t] >> m & 1 == 1));
        }
        image.number = plan.number(&sequences);
        image
    }

    /// The row of an active set's image.
    fn row(&self, plan: &Plan, digits: &Digits) -> u64 {
        (0..plan.sources).map(|s| plan.step(self.source[s], self.digit(plan, s, digits[s]))).sum()
    }

    /// Whether the rates of an active set are those of its image, bit for bit.
    fn same_rates(&self, of: &[f64], image: &[f64]) -> bool {
        self.source.iter().zip(of).all(|(&t, rate)| image[t].to_bits() == rate.to_bits())
    }

    /// Whether the images of an active set under this and another element have the same rates.
    fn keeps_rates<'t>(&self, other: &Self, plan: &Plan, digits: &Digits, rates: &impl Fn(u64) -> &'t [f64]) -> bool {
        let (here, there) = (rates(self.row(plan, digits)), rates(other.row(plan, digits)));
        (0..plan.sources).all(|s| here[self.source[s]].to_bits() == there[other.source[s]].to_bits())
    }

    /// The image of a first choice against itself, in the order of numbers.
    fn compare(&self, first: &[usize]) -> std::cmp::Ordering {
        let mut image = [0_u8; super::tree::MOST_DECIDING];
        for (s, &m) in first.iter().enumerate() {
            image[self.source[s]] = self.message[s][m] as u8;
        }
        let pairs = image.iter().zip(first).map(|(&i, &f)| (i as usize).cmp(&f));
        pairs.into_iter().find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    }
}
