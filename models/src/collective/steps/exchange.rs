//! Algorithms in which ranks exchange bytes over changing distances.
//!
//! **Source.** Thakur, Rabenseifner, Gropp, *Optimization of Collective Communication Operations in MPICH*,
//! International Journal of High Performance Computing Applications 19(1), 2005; for `bruck` its reference to Bruck,
//! Ho, Kipnis, Upfal, Weathersby, *Efficient algorithms for all-to-all communications in multiport message-passing
//! systems*, IEEE Transactions on Parallel and Distributed Systems 8(11), 1997.

use super::{Algorithm, Kind, Send, Steps};

/// `recursive-doubling`: round i with the rank whose number differs in digit i. All-gather: all that the rank has so
/// far; all-reduce: all bytes, which are added. `recursive-halving-doubling`: distances n/2, n/4 … 1 with the half of
/// the parts that the other one keeps, which are added; then for an all-reduce back with distances 1, 2, 4 …
pub(super) fn halves(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let digits = steps.digits();
    let halving = steps.algorithm == Algorithm::RecursiveHalvingDoubling && round < digits;
    let distance = 1_u64 << if halving { digits - 1 - round } else { round % digits };
    let whole = steps.algorithm == Algorithm::RecursiveDoubling && steps.kind == Kind::AllReduce;
    out.extend((0..steps.n).map(|p| {
        let (q, adds) = (p ^ distance, halving || whole);
        // What the other one keeps, or what this one has.
        let keeper = if halving { q } else { p };
        let bytes = if whole { steps.size } else { steps.parts(keeper / distance * distance, distance) };
        Send::new(p, q, bytes).adding(adds)
    }));
}

/// `pairwise`: round i from p to p + i + 1 its part, while p − i − 1 sends to p.
pub(super) fn pairwise(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let adds = steps.kind == Kind::ReduceScatter;
    out.extend((0..steps.n).map(|p| {
        let to = (p + round + 1) % steps.n;
        Send::new(p, to, steps.parts(to, 1)).adding(adds)
    }));
}

/// `bruck`: round i over the distance 2^i. All-gather: to p − 2^i what p has, but no more than is missing there.
/// All-to-all: to p + 2^i the parts whose distance to go has digit i.
pub(super) fn bruck(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let (n, distance) = (steps.n, 1_u64 << round);
    out.extend((0..n).map(|p| match steps.kind {
        Kind::AllGather => Send::new(p, (p + n - distance) % n, steps.parts(p, distance.min(n - distance))),
        _ => Send::new(p, (p + distance) % n, steps.parts(p + distance, with_digit(n, distance))),
    }));
}

/// How many numbers below n hold the binary digit `digit`.
pub(in crate::collective) fn with_digit(n: u64, digit: u64) -> u64 {
    n / (2 * digit) * digit + (n % (2 * digit)).saturating_sub(digit)
}

/// `direct`: all messages at once.
pub(super) fn direct(steps: &Steps, out: &mut Vec<Send>) {
    let n = steps.n;
    let others = |p: u64| (1..n).map(move |by| (p, (p + by) % n));
    let all = (0..n).flat_map(others);
    match steps.kind {
        Kind::AllReduce => out.extend(all.map(|(p, q)| Send::new(p, q, steps.size).adding(true))),
        Kind::AllGather => out.extend(all.map(|(p, q)| Send::new(p, q, steps.parts(p, 1)))),
        Kind::ReduceScatter => out.extend(all.map(|(p, q)| Send::new(p, q, steps.parts(q, 1)).adding(true))),
        Kind::AllToAll => out.extend(all.map(|(p, q)| Send::new(p, q, steps.parts(q, 1)))),
        Kind::Broadcast => out.extend(others(0).map(|(p, q)| Send::new(p, q, steps.size))),
        Kind::Scatter => out.extend(others(0).map(|(p, q)| Send::new(p, q, steps.parts(q, 1)))),
        Kind::Reduce => out.extend(others(0).map(|(p, q)| Send::new(q, p, steps.size).adding(true))),
        Kind::Gather => out.extend(others(0).map(|(p, q)| Send::new(q, p, steps.parts(q, 1)))),
        Kind::SendRecvChain => out.extend((0..n).map(|p| Send::new(p, (p + 1) % n, steps.size))),
    }
}
