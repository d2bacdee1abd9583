//! Lower bounds of makespans by potentials.
//!
//! Weights w_c ≥ 0 (seconds per byte) with g(S) = Σ_{c∈S} w_c · rate_c(S) ≤ 1 for every active set S. Along any run the
//! time of the last byte is T = ∫g + ∫(1 − g), and ∫g ≥ Σ w_c · bytes_c (ends are rounded up). So at any moment
//! T ≥ Σ w_c · bytes_c + ∫ so far (1 − g): a value at the root and the loss so far. Nothing is assumed about what
//! happens when transfers come or go. Potentials:
//! - *link l*: w_c = 1 / cap(c, l) for c over l, cap(c, l) = the largest capacity that l can have while c is on it. Proof:
//!   the capacity of l under S is at most cap(c, l) for each c of S on l, so Σ w · rate ≤ Σ rate / capacity ≤ 1.
//! - *source s*: w_c = 1 / min(limit, cap(c, l) over c's links) for the messages of s, one of which is active at a time.
//!
//! Pauses: while a source pauses before a message it is in no active set, and the above holds as it is. A potential with
//! weights of one source only has g = 0 there, so each pause that must still come is a loss that is still to come. Before
//! the start these are at least the lead of some first message and the gaps of the others; of a source that has started,
//! what is left of its present pause and the gaps of the messages left, as each begins no sooner than its gap after the
//! last byte before it. All of them end before the last byte of that source, so T ≥ root + loss so far + pauses to come.
//!
//! The last byte arrives a route's latency later, and what follows it takes its time; the least sum of both is added.

use std::cmp::Reverse;

use ordered_float::OrderedFloat;
use weir_sim_core::TOLERANCE;
use weir_sim_core::api::LinkId;

use crate::PS_PER_S;
use crate::order::problem::sources::{Message, Source};
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::oracle::Oracle;
use crate::order::run::plan::{Keys, Plan};
use crate::order::run::rates::digits_of;

/// The potentials of a problem, none dominated by another.
#[derive(Clone, Debug)]
pub(crate) struct Potentials {
    /// Per potential: the weight of each message ([`Plan::message`]), seconds per byte.
    pub(crate) weights: Vec<Vec<f64>>,
    /// Per potential: its bound before anything has happened, ps, without latency.
    pub(crate) roots: Vec<f64>,
    /// Potentials of one source that makes pauses: (potential, source).
    pub(crate) paced: Vec<(usize, usize)>,
    /// Per entry of `paced`: the pauses that come in every order, ps.
    pauses: Vec<f64>,
    /// The least time from the last byte of a message to the end of all that follows it, ps.
    pub(crate) latency: f64,
}

impl Potentials {
    pub(crate) fn new(problem: &OrderProblem<'_>, plan: &Plan) -> Self {
        let mut weights = links(problem, plan);
        weights.extend(sources(problem, plan));
        let alone = |w: &[f64]| alone(plan, w).filter(|&source| plan.paced && plan.pauses(source) > 0.0);
        let weights = undominated(weights, alone);
        let root = |w: &Vec<f64>| {
            let each = |(s, &n): (usize, &usize)| (0..n).map(move |m| (s, m));
            let all = plan.counts.iter().enumerate().flat_map(each);
            all.map(|(s, m)| w[plan.message(s, m)] * plan.bytes(s, m)).sum::<f64>() * PS_PER_S
        };
        let roots = weights.iter().map(root).collect();
        let paced: Vec<(usize, usize)> =
            weights.iter().enumerate().filter_map(|(potential, w)| Some((potential, alone(w)?))).collect();
        let pauses = paced.iter().map(|&(_, source)| plan.pauses(source)).collect();
        let latency = messages(problem).map(|(s, m, _)| plan.latency(s, m)).fold(f64::INFINITY, f64::min);
        Self { weights, roots, paced, pauses, latency }
    }

    /// Those of the largest bounds before anything has happened, `most` at most; of equal ones the first.
    pub(crate) fn strongest(&self, most: usize) -> Self {
        let mut by_root: Vec<usize> = (0..self.roots.len()).collect();
        by_root.sort_by_key(|&potential| Reverse(OrderedFloat(self.roots[potential])));
        by_root.truncate(most);
        let kept = |&(potential, source): &(usize, usize)| {
            by_root.iter().position(|&p| p == potential).map(|potential| (potential, source))
        };
        let paced = || self.paced.iter().zip(&self.pauses).filter_map(|(of, &pauses)| Some((kept(of)?, pauses)));
        Self {
            weights: by_root.iter().map(|&p| self.weights[p].clone()).collect(),
            roots: by_root.iter().map(|&p| self.roots[p]).collect(),
            paced: paced().map(|(of, _)| of).collect(),
            pauses: paced().map(|(_, pauses)| pauses).collect(),
            latency: self.latency,
        }
    }

    /// No order is faster than this, ps.
    pub(crate) fn root(&self) -> f64 {
        let paced = self.paced.iter().zip(&self.pauses).map(|(&(potential, _), pauses)| self.roots[potential] + pauses);
        self.roots.iter().copied().chain(paced).fold(0.0, f64::max) + self.latency
    }
}

/// No order of the problem is faster than this, in ps: the largest potential at the root.
#[must_use]
pub fn root_bound(problem: &OrderProblem<'_>) -> f64 {
    Potentials::new(problem, &Plan::new(problem)).root()
}

/// The largest g(S) of all potentials over all active sets; at most 1 where the arbiter keeps to the capacities that
/// were given. None with more than 2^20 sets.
///
/// # Errors
/// A wrong answer of the arbiter.
pub fn largest_potential(problem: &OrderProblem<'_>) -> Result<Option<f64>, OrderError> {
    let plan = Plan::new(problem);
    let Keys::Rows(rows) = plan.keys else { return Ok(None) };
    let potentials = Potentials::new(problem, &plan);
    let mut oracle = Oracle::new(problem)?;
    let (mut digits, mut rates) = (vec![0; plan.sources], vec![0.0; plan.sources]);
    let mut largest = 0.0_f64;
    for row in 0..rows {
        digits_of(&plan, row, &mut digits);
        oracle.ask(&plan, &digits, &mut rates)?;
        for weights in &potentials.weights {
            let active = digits.iter().enumerate().filter(|&(_, &digit)| digit > 0);
            let used = active.map(|(s, &digit)| weights[plan.message(s, plan.meaning(s, digit).0)] * rates[s]);
            largest = largest.max(used.sum());
        }
    }
    Ok(Some(largest))
}

fn messages<'p>(problem: &'p OrderProblem<'_>) -> impl Iterator<Item = (usize, usize, &'p Message)> {
    let of =
        |(s, source): (usize, &'p Source)| source.messages.iter().enumerate().map(move |(m, message)| (s, m, message));
    problem.sources.iter().enumerate().flat_map(of)
}

fn route<'p>(problem: &'p OrderProblem<'_>, message: &Message) -> &'p [LinkId] {
    problem.routes.links(problem.classes.route(message.class))
}

fn links(problem: &OrderProblem<'_>, plan: &Plan) -> Vec<Vec<f64>> {
    let mut of_link = std::collections::BTreeMap::new();
    for (s, m, message) in messages(problem) {
        for &link in route(problem, message) {
            let weights = of_link.entry(link).or_insert_with(|| vec![0.0; plan.messages()]);
            let Capacity { most, promised } = capacity(problem, message, link);
            weights[plan.message(s, m)] = 1.0 / most / slack(promised);
        }
    }
    of_link.into_values().collect()
}

fn sources(problem: &OrderProblem<'_>, plan: &Plan) -> Vec<Vec<f64>> {
    let mut of_source = vec![vec![0.0; plan.messages()]; plan.sources];
    for (s, m, message) in messages(problem) {
        let promised = route(problem, message).iter().all(|&link| capacity(problem, message, link).promised);
        of_source[s][plan.message(s, m)] = 1.0 / highest(problem, message) / slack(promised);
    }
    of_source
}

/// The highest rate that a message can have, B/s.
fn highest(problem: &OrderProblem<'_>, message: &Message) -> f64 {
    let caps = route(problem, message).iter().map(|&l| capacity(problem, message, l).most);
    caps.fold(problem.classes.limit(message.class), f64::min)
}

/// The longest time that a message takes on links of full bandwidth, ps: the unit of temperatures.
pub(crate) fn unit(problem: &OrderProblem<'_>) -> f64 {
    let alone = |(_, _, m): (usize, usize, &Message)| {
        let bandwidths = route(problem, m).iter().map(|&l| problem.fabric.link(l).bandwidth);
        m.bytes as f64 / bandwidths.fold(problem.classes.limit(m.class), f64::min) * PS_PER_S
    };
    messages(problem).map(alone).fold(0.0, f64::max)
}

/// Per message ([`Plan::message`]): its time at the highest rate it can have, ps.
pub(crate) fn lone_times(problem: &OrderProblem<'_>, plan: &Plan) -> Vec<f64> {
    let mut times = vec![0.0; plan.messages()];
    for (s, m, message) in messages(problem) {
        times[plan.message(s, m)] = message.bytes as f64 / highest(problem, message) * PS_PER_S / (1.0 + TOLERANCE);
    }
    times
}

/// The largest capacity that a link can have while a message is on it.
struct Capacity {
    /// B/s.
    most: f64,
    /// Whether the arbiter says so; else sums may exceed the bandwidth by the tolerance of the check of its answers.
    promised: bool,
}

fn capacity(problem: &OrderProblem<'_>, message: &Message, link: LinkId) -> Capacity {
    let bandwidth = problem.fabric.link(link).bandwidth;
    match problem.capacities.get(&(problem.classes.route(message.class), link)) {
        Some(&most) => Capacity { most: most.min(bandwidth), promised: true },
        None => Capacity { most: bandwidth, promised: false },
    }
}

/// By which factor a sum of rates may exceed a capacity.
fn slack(promised: bool) -> f64 {
    if promised { 1.0 } else { 1.0 + TOLERANCE }
}

/// The only source whose messages have weights, if there is one.
fn alone(plan: &Plan, weights: &[f64]) -> Option<usize> {
    let weighs = |s: &usize| (0..plan.counts[*s]).any(|m| weights[plan.message(*s, m)] > 0.0);
    let mut sources = (0..plan.sources).filter(weighs);
    sources.next().filter(|_| sources.next().is_none())
}

/// Those that are not at most another in every component; of equal ones the first. One that is `alone` with the pauses
/// of its source stands back only for another of that source.
fn undominated(all: Vec<Vec<f64>>, alone: impl Fn(&[f64]) -> Option<usize>) -> Vec<Vec<f64>> {
    let alone: Vec<Option<usize>> = all.iter().map(|w| alone(w)).collect();
    let below = |i: usize, j: usize| {
        (alone[i].is_none() || alone[i] == alone[j]) && all[i].iter().zip(&all[j]).all(|(a, b)| a <= b)
    };
    let kept = |i: usize| {
        let dominates = |j: usize| below(i, j) && (j < i || !below(j, i));
        !(0..all.len()).any(|j| j != i && dominates(j))
    };
    (0..all.len()).filter(|&i| kept(i)).map(|i| all[i].clone()).collect()
}
