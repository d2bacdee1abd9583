//! `ring`: every rank sends to the next one; broadcast and reduce go along a chain.
//!
//! **Definition.** Round s: p sends part p − s to p + 1, which in the first n − 1 rounds of an all-reduce adds it. A
//! reduce-scatter sends part p − s − 1, so that p ends with part p. Broadcast: s sends all to s + 1. Reduce: n − 1 −
//! s to n − 2 − s, which adds it. **Source.** P. Patarasu, X. Yuan, *Bandwidth optimal all-reduce algorithms for
//! clusters of workstations*, Journal of Parallel and Distributed Computing 69(2), 2009.

use super::{Kind, Send, Steps};

pub(super) fn sends(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let (n, size) = (steps.n, steps.size);
    let shift = match steps.kind {
        Kind::Broadcast => return out.push(Send::new(round, round + 1, size)),
        Kind::Reduce => return out.push(Send::new(n - 1 - round, n - 2 - round, size).adding(true)),
        Kind::ReduceScatter => round + 1,
        _ => round,
    };
    let adds = match steps.kind {
        Kind::AllReduce => round < n - 1,
        kind => kind == Kind::ReduceScatter,
    };
    out.extend((0..n).map(|p| Send::new(p, (p + 1) % n, steps.parts(p + n - shift % n, 1)).adding(adds)));
}
