//! Permutations of devices that change no makespan.
//!
//! The group: permutations of the nodes that routes use which keep the tree (kinds, bandwidths, latencies) and the
//! multiset of messages (sizes, leads, gaps, tails). An active set S is *even* if the table of rates has equal bits for rate(πS, πc) and rate(S, c),
//! for all π of the group and all c of S. By induction over the events of a run, the images of a run have its makespan
//! to the picosecond as long as it meets even sets only. Where it meets another one, those images part from it whose
//! rates have other bits and are followed for themselves, so that results are the same with and without symmetries,
//! whatever the arbiter. Arbiters whose sums round differently in another order have a few uneven sets
//! (PCIe switches on the 3-D halo: 160 of 65,536).
//!
//! A state carries the elements π for which it stands for its image: a bit each. Where π and ρ leave it together, the
//! image under ρ goes on for both, with π ρ⁻¹ and the identity.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::element::{Element, digits};
use super::permutations::candidates;
use crate::order::problem::OrderProblem;
use crate::order::run::plan::Plan;
use crate::order::run::state::State;

/// Most comparisons of a rate with its image, some seconds of work; with more the search does without symmetries;
/// *assumed*.
const MOST_COMPARISONS: u64 = 1 << 31;
/// One set in so many may be uneven; with more, symmetries save little; *assumed*.
const UNEVEN: usize = 16;

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
