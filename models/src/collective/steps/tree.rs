//! `tree`: a binomial tree.
//!
//! **Definition.** d = ⌈log2 n⌉. Round i of the way down, with h = 2^(d − 1 − i): every p that 2h divides sends to p + h,
//! if there is such a rank, all bytes; in a scatter the parts from p + h to below p + 2h. The way up is the same
//! backwards. All-reduce: up to position 0, then down. **Source.** Thakur, Rabenseifner, Gropp, *Optimization of
//! Collective Communication Operations in MPICH*, International Journal of High Performance Computing Applications
//! 19(1), 2005.

use super::{Kind, Send, Steps};

pub(super) fn sends(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let d = steps.digits();
    let up = match steps.kind {
        Kind::Reduce | Kind::Gather => true,
        Kind::AllReduce => round < d,
        _ => false,
    };
    let distance = 1 << if up { round } else { d - 1 - round % d };
    for p in (0..steps.n).step_by(2 * distance as usize) {
        let child = p + distance;
        if child >= steps.n {
            break;
        }
        let bytes = match steps.kind {
            Kind::Scatter | Kind::Gather => steps.parts(child, distance.min(steps.n - child)),
            _ => steps.size,
        };
        let (from, to) = if up { (child, p) } else { (p, child) };
        let send = Send::new(from, to, bytes).adding(up && steps.kind != Kind::Gather);
        out.push(Send { lane: u8::from(!up), ..send });
    }
}
