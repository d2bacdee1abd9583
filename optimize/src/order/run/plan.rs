//! Flat tables of a problem for the inner loop: sizes, latencies, and what a choice adds to keys and to the order's
//! number.

use crate::order::problem::{OrderProblem, factorial};

/// Most rows of a full table of rates.
pub(crate) const MOST_ROWS: u64 = 1 << 20;

/// How the active set of a moment becomes a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keys {
    /// Mixed radix over the sources, dense: the row of a table.
    Rows(u64),
    /// A sum of one random number per source: a hash.
    Hashes,
}

/// The tables. A *digit* says what a source does: 0 for nothing (at rest, or in a pause), else which message it sends
/// (and, where the phase's order depends on it, at which place of its order).
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) sources: usize,
    pub(crate) grouped: bool,
    pub(crate) keys: Keys,
    pub(crate) counts: Vec<usize>,
    /// Number of digits per source.
    pub(crate) radix: Vec<u64>,
    /// Number of orders; none above 2^128.
    pub(crate) candidates: Option<u128>,
    message_width: usize,
    bytes: Vec<f64>,
    /// From the last byte sent to the end of all that follows.
    latency: Vec<f64>,
    /// Whether any message has a lead or a gap.
    pub(crate) paced: bool,
    lead: Vec<f64>,
    gap: Vec<f64>,
    digit_width: usize,
    step: Vec<u64>,
    /// Per source and number of messages left before a choice: what each skipped alternative adds to the order's number.
    rank: Vec<u128>,
}

impl Plan {
    pub(crate) fn new(problem: &OrderProblem<'_>) -> Self {
        let counts: Vec<usize> = problem.sources.iter().map(|s| s.messages.len()).collect();
        let digits = |&n: &usize| if problem.grouped { n as u64 + 1 } else { (n * n) as u64 + 1 };
        let radix: Vec<u64> = counts.iter().map(digits).collect();
        let rows = radix.iter().try_fold(1_u64, |rows, &r| rows.checked_mul(r).filter(|&rows| rows <= MOST_ROWS));
        let keys = rows.map_or(Keys::Hashes, Keys::Rows);
        let message_width = counts.iter().copied().max().unwrap_or(0);
        let mut plan = Self {
            sources: counts.len(),
            grouped: problem.grouped,
            keys,
            candidates: problem.candidates(),
            message_width,
            bytes: vec![0.0; counts.len() * message_width],
            latency: vec![0.0; counts.len() * message_width],
            paced: false,
            lead: vec![0.0; counts.len() * message_width],
            gap: vec![0.0; counts.len() * message_width],
            digit_width: radix.iter().copied().max().unwrap_or(0) as usize,
            step: Vec::new(),
            rank: Vec::new(),
            radix,
            counts,
        };
        for (s, source) in problem.sources.iter().enumerate() {
            for (m, message) in source.messages.iter().enumerate() {
                let at = s * message_width + m;
                plan.bytes[at] = message.bytes as f64;
                plan.latency[at] = message.latency.saturating_add(message.tail) as f64;
                (plan.lead[at], plan.gap[at]) = (message.lead as f64, message.gap as f64);
                // The gap of a source's only message never counts.
                plan.paced |= message.lead > 0 || (message.gap > 0 && source.messages.len() > 1);
            }
        }
        plan.step = plan.steps();
        plan.rank = plan.ranks();
        plan
    }

    fn steps(&self) -> Vec<u64> {
        let mut step = vec![0; self.sources * self.digit_width];
        let (mut stride, mut random) = (1_u64, 0_u64);
        // The first source varies slowest, as in the numbers of orders.
        for s in (0..self.sources).rev() {
            for d in 1..self.radix[s] {
                step[s * self.digit_width + d as usize] = match self.keys {
                    Keys::Rows(_) => stride * d,
                    Keys::Hashes => splitmix(&mut random),
                };
            }
            stride = stride.wrapping_mul(self.radix[s]);
        }
        step
    }

    fn ranks(&self) -> Vec<u128> {
        let width = self.message_width + 1;
        let mut rank = vec![0; self.sources * width];
        if self.candidates.is_none() {
            return rank;
        }
        let mut below = 1_u128;
        for s in (0..self.sources).rev() {
            for left in 1..=self.counts[s] {
                rank[s * width + left] = factorial(left - 1).map_or(0, |f| f * below);
            }
            below *= factorial(self.counts[s]).unwrap_or(1);
        }
        rank
    }

    #[inline(always)]
    pub(crate) fn bytes(&self, source: usize, message: usize) -> f64 {
        self.bytes[source * self.message_width + message]
    }

    #[inline(always)]
    pub(crate) fn latency(&self, source: usize, message: usize) -> f64 {
        self.latency[source * self.message_width + message]
    }

    /// When a message begins that a source sends as its `place`-th, after another that ended at `now`.
    #[inline(always)]
    pub(crate) fn begin(&self, source: usize, message: usize, place: usize, now: f64) -> f64 {
        let at = self.message(source, message);
        if place == 0 { self.lead[at] } else { self.lead[at].max(now + self.gap[at]) }
    }

    /// Time before a message after another, ps.
    pub(crate) fn gap(&self, source: usize, message: usize) -> f64 {
        self.gap[self.message(source, message)]
    }

    /// The pauses that a source makes in every order, ps: the lead of the first and the gaps of all others.
    pub(crate) fn pauses(&self, source: usize) -> f64 {
        let of = |m: usize| self.message(source, m);
        let gaps: f64 = (0..self.counts[source]).map(|m| self.gap[of(m)]).sum();
        let first = |m: usize| gaps - self.gap[of(m)] + self.lead[of(m)];
        (0..self.counts[source]).map(first).fold(f64::INFINITY, f64::min)
    }

    /// Position of a message in tables over all sources.
    #[inline(always)]
    pub(crate) fn message(&self, source: usize, message: usize) -> usize {
        source * self.message_width + message
    }

    /// Length of tables over all sources' messages.
    pub(crate) fn messages(&self) -> usize {
        self.bytes.len()
    }

    /// What a digit adds to the key.
    #[inline(always)]
    pub(crate) fn step(&self, source: usize, digit: u16) -> u64 {
        self.step[source * self.digit_width + digit as usize]
    }

    /// What each skipped alternative adds to the order's number when `left` messages are left to choose from.
    #[inline(always)]
    pub(crate) fn rank(&self, source: usize, left: u32) -> u128 {
        self.rank[source * (self.message_width + 1) + left as usize]
    }

    /// The digit of a message sent as the `place`-th of its source.
    #[inline(always)]
    pub(crate) fn digit(&self, source: usize, message: usize, place: usize) -> u16 {
        if self.grouped { 1 + message as u16 } else { 1 + (message * self.counts[source] + place) as u16 }
    }

    /// Message and place of a digit above 0; place 0 where places do not matter.
    #[inline]
    pub(crate) fn meaning(&self, source: usize, digit: u16) -> (usize, usize) {
        let at = digit as usize - 1;
        if self.grouped { (at, 0) } else { (at / self.counts[source], at % self.counts[source]) }
    }

    /// The number of an order, given as positions among each source's messages.
    pub(crate) fn number(&self, order: &[Vec<usize>]) -> u128 {
        let mut number = 0;
        for (s, sequence) in order.iter().enumerate() {
            for (k, &m) in sequence.iter().enumerate() {
                let smaller = sequence[k + 1..].iter().filter(|&&later| later < m).count();
                number += self.rank(s, (sequence.len() - k) as u32) * smaller as u128;
            }
        }
        number
    }

    /// The workload's own order, as positions among each source's messages.
    pub(crate) fn own_order(&self) -> Vec<Vec<usize>> {
        self.counts.iter().map(|&count| (0..count).collect()).collect()
    }

    /// Number of first choices of all sources together; none above 2^64.
    pub(crate) fn first_choices(&self) -> Option<u64> {
        self.counts.iter().try_fold(1, |all: u64, &count| all.checked_mul(count as u64))
    }

    /// The order of a number, as positions among each source's messages.
    pub(crate) fn order(&self, mut number: u128) -> Vec<Vec<usize>> {
        let sequence = |(s, &count): (usize, &usize)| {
            let mut left: Vec<usize> = (0..count).collect();
            let mut choose = |k: usize| {
                let rank = self.rank(s, (count - k) as u32).max(1);
                let skipped = ((number / rank) as usize).min(left.len() - 1);
                number -= rank * skipped as u128;
                left.remove(skipped)
            };
            (0..count).map(&mut choose).collect()
        };
        self.counts.iter().enumerate().map(sequence).collect()
    }
}

/// SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014, fig. 17): the next
/// number of the sequence.
pub(crate) fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Calls a function for the narrowest state that has a lane for each source.
macro_rules! with_lanes {
    ($sources:expr, $call:ident($($argument:expr),*)) => {
        match $sources {
            0..=8 => $call::<8>($($argument),*),
            9..=16 => $call::<16>($($argument),*),
            17..=32 => $call::<32>($($argument),*),
            33..=64 => $call::<64>($($argument),*),
            _ => $call::<256>($($argument),*),
        }
    };
}
pub(crate) use with_lanes;
