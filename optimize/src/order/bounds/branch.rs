//! A proven best order by branch and bound over the tree of decisions.
//!
//! A node is a moment at which sources decide. Expanding it makes all children, runs each to its next decision, and drops
//! it as soon as a potential's bound is too large; the others are visited by (largest bound, mean of bounds). The
//! workload's own order is the first incumbent. Two rules:
//! - within 1e-9: drop at bound ≥ best · (1 − 1e-9). Rounding to ps leaves the optimum a few ps above a tight bound.
//! - to the picosecond: drop at bound − 1e-13 · best > best − 1; makespans are whole, 1e-13 pays for sums in f64.
//!
//! One thread up to 10^5 nodes; then batches of 64 subtrees in fixed order, which share the incumbent between batches
//! only: the result is the same on any number of threads.
//!
//! Not used, as they are wrong for arbiters under which removing a transfer can slow others: "less left and not later is
//! no worse", and bounds from runs without some messages.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ordered_float::OrderedFloat;
use rayon::prelude::*;

use super::potentials::Potentials;
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::best::Best;
use crate::order::run::plan::{Plan, with_lanes};
use crate::order::run::rates::Memo;
use crate::order::run::state::State;
use crate::order::run::tree::{advance, begin, covered, makespan, run};

/// Nodes that one thread visits before several share the work; *assumed*: easy searches end earlier.
const ALONE: u64 = 100_000;
/// Subtrees of a batch; *assumed*: enough for the cores of a large machine. The result depends on it.
const BATCH: usize = 64;
/// Nodes of one subtree in a batch; what is left of it goes back in front of the queue;
/// *assumed*.
const SUBTREE: u64 = 4_000;
/// Most children of a node: 2^18 of them take up to 600 MB; *assumed* to be at hand.
const MOST_CHILDREN: u64 = 1 << 18;

/// How close to the best is proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rule {
    /// Within 1e-9.
    #[default]
    Close,
    /// To the picosecond.
    Exact,
}

impl Rule {
    /// Whether nothing below a node of this bound is worth visiting.
    #[inline]
    fn drops(self, bound: f64, best: u64) -> bool {
        let best = best as f64;
        match self {
            Self::Close => bound >= best * (1.0 - 1e-9),
            Self::Exact => bound - 1e-13 * best > best - 1.0,
        }
    }
}

/// What branch and bound has to prove, and when it gives up.
#[derive(Clone, Copy, Debug)]
pub struct BranchOptions {
    /// How close to the best the result has to be.
    pub rule: Rule,
    /// Stop after about so many nodes.
    pub nodes: u64,
}

impl Default for BranchOptions {
    /// Within 1e-9, 10^6 nodes.
    fn default() -> Self {
        Self { rule: Rule::Close, nodes: 1_000_000 }
    }
}

/// What branch and bound found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Branched {
    /// The best order that was found; proven to be the best of all only where `proved` says so.
    pub best: Best,
    /// Makespan of the workload's own order, ps.
    pub baseline: u64,
    /// No order is faster than this, ps.
    pub bound: f64,
    /// Moments of decision whose alternatives were tried.
    pub nodes: u64,
    /// Orders run to their end.
    pub runs: u64,
    /// Whether `best` is proven by the rule.
    pub proved: bool,
}

/// Searches for a proven best order.
///
/// # Errors
/// A wrong answer of the arbiter; more sources, messages or first choices than a tree search covers.
pub fn branch_and_bound(
    problem: &OrderProblem<'_>,
    options: BranchOptions,
    cancel: &AtomicBool,
) -> Result<Branched, OrderError> {
    let plan = Plan::new(problem);
    covered(&plan)?;
    if plan.first_choices().is_none_or(|firsts| firsts > MOST_CHILDREN) {
        return Err(OrderError::TooManyFirst { most: MOST_CHILDREN });
    }
    with_lanes!(plan.sources, search(problem, &plan, options, cancel))
}

/// A moment of decision.
struct Node<const N: usize> {
    state: State<N>,
    deciding: u64,
    /// Per potential: the loss so far, ps.
    losses: Box<[f64]>,
    bound: f64,
    mean: f64,
}

impl<const N: usize> Node<N> {
    /// The order in which children are visited.
    fn rank(&self) -> (OrderedFloat<f64>, OrderedFloat<f64>) {
        (OrderedFloat(self.bound), OrderedFloat(self.mean))
    }
}

struct Shared<'p, 'a> {
    problem: &'p OrderProblem<'a>,
    plan: &'p Plan,
    potentials: Potentials,
    rule: Rule,
    cancel: &'p AtomicBool,
    /// Per source and message: the earlier messages that are equal to it, a bit each. Only the first that is left is
    /// tried.
    alike: Vec<u32>,
}

/// The best order so far, and the work it took.
#[derive(Clone, Copy)]
struct Found {
    best: Best,
    nodes: u64,
    runs: u64,
}

/// One greedy depth-first descent: children are visited by their bounds, the most promising first.
struct Descent<'s, 'p, 'a, const N: usize> {
    shared: &'s Shared<'p, 'a>,
    memo: Memo<'s, 'a, N>,
    found: Found,
}

fn search<const N: usize>(
    problem: &OrderProblem<'_>,
    plan: &Plan,
    options: BranchOptions,
    cancel: &AtomicBool,
) -> Result<Branched, OrderError> {
    let potentials = Potentials::new(problem, plan);
    let (rule, alike) = (options.rule, alike(problem, plan));
    let shared = Shared { problem, plan, potentials, rule, cancel, alike };
    let mut memo = shared.memo::<N>()?;
    let baseline = run(plan, &mut memo, &plan.own_order())?;
    let result = |Found { best, nodes, runs }, bound, proved| Branched { best, baseline, bound, nodes, runs, proved };
    let found = Found { best: Best { makespan: baseline, number: 0 }, nodes: 0, runs: 1 };
    let mut descent = Descent { shared: &shared, memo, found };
    let mut open = descent.root()?;
    if shared.cancelled() {
        // Some nodes may be missing.
        let bound = shared.potentials.root().min(descent.found.best.makespan as f64);
        return Ok(result(descent.found, bound, false));
    }
    descent.go_on(&mut open, ALONE.min(options.nodes))?;
    open.reverse();
    let mut queue = VecDeque::from(open);
    let found = shared.batches(&mut queue, descent.found, descent.memo, options.nodes)?;
    let (best, proved) = (found.best.makespan, queue.is_empty());
    let bound = shared.proven(found.best, queue.iter().map(|node| node.bound));
    tracing::info!(nodes = found.nodes, runs = found.runs, best, bound, proved, "branch and bound ends");
    Ok(result(found, bound, proved))
}

impl<'a> Shared<'_, 'a> {
    fn memo<const N: usize>(&self) -> Result<Memo<'_, 'a, N>, OrderError> {
        Memo::new(self.problem, self.plan, self.potentials.weights.clone())
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Visits the nodes of a queue, which are in order of visit, batch by batch until none is left or about `most` were
    /// expanded.
    fn batches<'s, const N: usize>(
        &'s self,
        queue: &mut VecDeque<Node<N>>,
        mut found: Found,
        memo: Memo<'s, 'a, N>,
        most: u64,
    ) -> Result<Found, OrderError> {
        let idle = Mutex::new(vec![memo]);
        while !queue.is_empty() && found.nodes < most && !self.cancelled() {
            let batch: Vec<Node<N>> = queue.drain(..BATCH.min(queue.len())).collect();
            let best = found.best;
            let done: Vec<_> = batch.into_par_iter().map(|node| self.subtree(node, best, &idle)).collect();
            let mut left = Vec::new();
            for subtree in done {
                let (Found { best, nodes, runs }, open) = subtree?;
                found = Found { best: found.best.min(best), nodes: found.nodes + nodes, runs: found.runs + runs };
                left.extend(open);
            }
            let (nodes, best, open) = (found.nodes, found.best.makespan, queue.len() + left.len());
            tracing::debug!(nodes, best, open, "a batch of subtrees is done");
            left.into_iter().rev().for_each(|node| queue.push_front(node));
            queue.retain(|node| !self.rule.drops(node.bound, best));
        }
        Ok(found)
    }

    /// What comes of the subtree below a node, and what is still open there, in order of visit.
    fn subtree<'s, const N: usize>(
        &'s self,
        node: Node<N>,
        best: Best,
        idle: &Mutex<Vec<Memo<'s, 'a, N>>>,
    ) -> Result<(Found, Vec<Node<N>>), OrderError> {
        let kept = idle.lock().ok().and_then(|mut idle| idle.pop());
        let memo = kept.map_or_else(|| self.memo(), Ok)?;
        let mut descent = Descent { shared: self, memo, found: Found { best, nodes: 0, runs: 0 } };
        let mut open = vec![node];
        descent.go_on(&mut open, SUBTREE)?;
        open.reverse();
        if let Ok(mut idle) = idle.lock() {
            idle.push(descent.memo);
        }
        Ok((descent.found, open))
    }

    /// No order is faster than this: the root's bound, or what the rule and the open nodes leave.
    fn proven(&self, best: Best, open: impl Iterator<Item = f64>) -> f64 {
        let best = best.makespan as f64;
        let least = if self.rule == Rule::Exact { best } else { best * (1.0 - 1e-9) };
        open.fold(least, f64::min).max(self.potentials.root()).min(best)
    }
}

impl<const N: usize> Descent<'_, '_, '_, N> {
    /// Expands nodes depth first, the last one first, until none or about `most` were.
    fn go_on(&mut self, open: &mut Vec<Node<N>>, most: u64) -> Result<(), OrderError> {
        let mut children = Vec::new();
        while self.found.nodes < most && !self.shared.cancelled() {
            let Some(node) = open.pop() else { return Ok(()) };
            if self.shared.rule.drops(node.bound, self.found.best.makespan) {
                continue;
            }
            self.found.nodes += 1;
            self.decide(&node.state, node.deciding, &node.losses, &mut children)?;
            if self.shared.cancelled() {
                // Some children may be missing.
                open.push(node);
                return Ok(());
            }
            // A stable sort: equal ones stay in order of their numbers.
            children.sort_by_key(Node::rank);
            open.extend(children.drain(..).rev());
        }
        Ok(())
    }

    /// The children of the moment before anything has started, in reverse order of visit.
    fn root(&mut self) -> Result<Vec<Node<N>>, OrderError> {
        let (state, deciding) = begin::<N>(self.shared.plan);
        let mut children = Vec::new();
        let none = vec![0.0; self.shared.potentials.roots.len()];
        if deciding == 0 {
            self.follow(state, &none, &mut children)?;
        } else {
            self.found.nodes += 1;
            self.decide(&state, deciding, &none, &mut children)?;
        }
        children.sort_by_key(|child| Reverse(child.rank()));
        Ok(children)
    }

    /// Makes the children of a state: every combination of choices of the sources that decide; some only when cancelled.
    fn decide(
        &mut self,
        state: &State<N>,
        deciding: u64,
        losses: &[f64],
        children: &mut Vec<Node<N>>,
    ) -> Result<(), OrderError> {
        let plan = self.shared.plan;
        let source = deciding.trailing_zeros() as usize;
        let mut left = state.left[source];
        while left != 0 && !self.shared.cancelled() {
            let message = left.trailing_zeros() as usize;
            left &= left - 1;
            if self.shared.alike[plan.message(source, message)] & state.left[source] != 0 {
                continue;
            }
            let mut child = state.clone();
            child.choose::<true>(plan, source, message);
            match deciding & (deciding - 1) {
                0 => self.follow(child, losses, children)?,
                others => self.decide(&child, others, losses, children)?,
            }
        }
        Ok(())
    }

    /// Runs a child to its next decision, or to its end.
    fn follow(&mut self, mut state: State<N>, losses: &[f64], children: &mut Vec<Node<N>>) -> Result<(), OrderError> {
        let mut losses: Box<[f64]> = losses.into();
        loop {
            let before = state.now;
            let at = self.memo.find(&state)?;
            state.apply(self.memo.rates(at));
            let deciding = advance::<N, true>(self.shared.plan, &mut state)?;
            let (bound, mean) = self.bound(at, state.now - before, &mut losses, &state);
            if self.shared.rule.drops(bound, self.found.best.makespan) {
                return Ok(());
            }
            if deciding != 0 {
                children.push(Node { state, deciding, losses, bound, mean });
                return Ok(());
            }
            if state.busy == 0 {
                self.found.runs += 1;
                let best = Best { makespan: makespan(&state)?, number: state.number };
                if best.makespan < self.found.best.makespan {
                    tracing::debug!(best = best.makespan, nodes = self.found.nodes, "found a better order");
                }
                self.found.best = self.found.best.min(best);
                return Ok(());
            }
        }
    }

    /// Adds the loss of a phase; the largest bound, and the mean of bounds.
    #[inline]
    fn bound(&self, at: usize, span: f64, losses: &mut [f64], state: &State<N>) -> (f64, f64) {
        let potentials = &self.shared.potentials;
        let (mut most, mut sum) = (0.0_f64, 0.0);
        for ((loss, &rate), &root) in losses.iter_mut().zip(self.memo.losses(at)).zip(&potentials.roots) {
            *loss += rate * span;
            let bound = root + *loss;
            most = if bound > most { bound } else { most };
            sum += bound;
        }
        for &(potential, source) in &potentials.paced {
            let pauses = state.pauses_left(self.shared.plan, source);
            most = most.max(potentials.roots[potential] + losses[potential] + pauses);
            sum += pauses;
        }
        ((most + potentials.latency).max(state.latest), sum)
    }
}

fn alike(problem: &OrderProblem<'_>, plan: &Plan) -> Vec<u32> {
    let mut alike = vec![0; plan.messages()];
    for (s, source) in problem.sources.iter().enumerate() {
        let key = |m: usize| {
            let m = &source.messages[m];
            (m.class, m.bytes, m.lead, m.gap, m.tail)
        };
        for m in 0..source.messages.len() {
            let earlier = (0..m).filter(|&e| key(e) == key(m));
            alike[plan.message(s, m)] = earlier.fold(0, |bits, e| bits | 1 << e);
        }
    }
    alike
}

#[cfg(test)]
mod tests {
    use super::Rule;

    /// At a best of 1 s and of 1 us: what could be better by more than the rule asks for is kept.
    #[test]
    fn rules_drop_what_cannot_be_better_by_enough() {
        let best = 1e12;
        let close = |part: f64| Rule::Close.drops(best * (1.0 - part), best as u64);
        assert_eq!([0.0, 0.5e-9, 1e-9, 2e-9, 0.5e-3].map(close), [true, true, true, false, false]);
        // Makespans are whole: only one that is a picosecond less is better, and a bound may be 1e-13 too high.
        let exact = |less: f64| Rule::Exact.drops(1e6 - less, 1_000_000);
        assert_eq!([0.5, 1.0 - 2e-7, 1.0 - 0.5e-7, 1.0, 1.1].map(exact), [true, true, false, false, false]);
    }
}
