//! The state of one run of one order, with the arithmetic of the simulation.
//!
//! Per source (a *lane*): the bytes left at its last change of rate, that instant, when its message began, the rate, the instant its
//! last byte leaves, and the messages not yet started. A lane that pauses before its next message is in no active set; its end is
//! the instant at which that message begins. Times are whole picoseconds in f64, exact below 2^53; up to 2^52 the
//! results have the bits of `time_to_send` and `remaining_after` of the simulation, which the tests compare.

use super::plan::Plan;
use crate::PS_PER_S;

/// Times at and above this are refused.
pub(crate) const MOST_PS: f64 = 4_503_599_627_370_496.0;

/// ⌈remaining / rate⌉ in whole picoseconds, of a message that has `lasted` so many; infinite at rate 0. The bits of
/// `weir_sim_core::time_to_send` below 2^52, which forgives 2^-10 ps and 2^-48 of the whole time.
#[inline(always)]
fn ps_to_send(remaining: f64, rate: f64, lasted: f64) -> f64 {
    const FORGIVEN: f64 = 1.0 / (1_u64 << 10) as f64;
    const UNSURE: f64 = 1.0 / (1_u64 << 48) as f64;
    let ps = remaining * PS_PER_S / rate;
    let unsure = FORGIVEN + (lasted + ps) * UNSURE;
    let ps = ps - if unsure < 0.5 { unsure } else { 0.5 };
    // Adding and taking away 2^52 rounds to the nearest whole number; one more where that was below. Selects only, so
    // that lanes share instructions.
    let nearest = (ps + MOST_PS) - MOST_PS;
    let up = if nearest < ps { nearest + 1.0 } else { nearest };
    // NaN (nothing left at rate 0) and infinity alike are "never".
    if up < f64::INFINITY { up } else { f64::INFINITY }
}

/// What is left after `span` ps. The bits of `weir_sim_core::remaining_after`.
#[inline(always)]
fn remaining_after(remaining: f64, rate: f64, span: f64) -> f64 {
    let left = remaining - rate * span / PS_PER_S;
    if left > 0.0 { left } else { 0.0 }
}

/// The state of a run with up to `N` sources.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct State<const N: usize> {
    pub(crate) remaining: [f64; N],
    pub(crate) since: [f64; N],
    pub(crate) began: [f64; N],
    pub(crate) rate: [f64; N],
    pub(crate) end: [f64; N],
    /// Messages not yet started: a bit each in the tree searches, their number in the annealer.
    pub(crate) left: [u32; N],
    pub(crate) digit: [u16; N],
    /// In a pause: the digit of the message that begins at its end; else 0.
    pub(crate) next: [u16; N],
    /// The number of the order as far as it is decided.
    pub(crate) number: u128,
    /// The symmetries under which it stands for its image too: a bit each, the lowest for itself.
    pub(crate) images: u128,
    /// Key of the active set.
    pub(crate) key: u64,
    pub(crate) now: f64,
    /// Latest arrival of a last byte so far.
    pub(crate) latest: f64,
    /// Sources that are not at rest.
    pub(crate) busy: u32,
    /// Sources with two or more messages left to choose from.
    pub(crate) undecided: u32,
}

impl<const N: usize> State<N> {
    /// Before the first start: all messages are left.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut state = Self {
            remaining: [0.0; N],
            since: [0.0; N],
            began: [0.0; N],
            rate: [0.0; N],
            end: [f64::INFINITY; N],
            left: [0; N],
            digit: [0; N],
            next: [0; N],
            number: 0,
            images: 1,
            key: 0,
            now: 0.0,
            latest: 0.0,
            busy: 0,
            undecided: 0,
        };
        for (s, &count) in plan.counts.iter().enumerate() {
            state.left[s] = u32::MAX >> (32 - count.min(32));
            state.undecided += u32::from(count > 1);
        }
        state
    }

    /// The next instant at which a last byte leaves or a pause is over; infinite when none does.
    #[inline(always)]
    pub(crate) fn next_end(&self) -> f64 {
        let mut least = [f64::INFINITY; 4];
        for chunk in self.end.chunks_exact(4) {
            for (l, &e) in least.iter_mut().zip(chunk) {
                *l = if e < *l { e } else { *l };
            }
        }
        least.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
    }

    /// The lanes from `base` on, 64 at most, whose last byte leaves or whose pause is over at `time`, as bits.
    #[inline(always)]
    pub(crate) fn ended(&self, time: f64, base: usize) -> u64 {
        let mut mask = 0;
        for (i, &end) in self.end[base..(base + 64).min(N)].iter().enumerate() {
            mask |= u64::from(end == time) << i;
        }
        mask
    }

    /// A last byte leaves `source` now: its arrival counts, and the lane is free.
    #[inline(always)]
    pub(crate) fn finish(&mut self, plan: &Plan, source: usize) {
        let (message, _) = plan.meaning(source, self.digit[source]);
        let arrival = self.now + plan.latency(source, message);
        self.latest = if arrival > self.latest { arrival } else { self.latest };
    }

    /// The lane has nothing more to send.
    #[inline(always)]
    pub(crate) fn rest(&mut self, plan: &Plan, source: usize) {
        self.put_digit(plan, source, 0);
        self.remaining[source] = 0.0;
        self.rate[source] = 0.0;
        self.end[source] = f64::INFINITY;
        self.busy -= 1;
    }

    /// The lane's next message: it starts now, or the lane pauses before it. `PACED` as in [`super::tree::advance`].
    #[inline(always)]
    pub(crate) fn start<const PACED: bool>(&mut self, plan: &Plan, source: usize, message: usize, place: usize) {
        let digit = plan.digit(source, message, place);
        if PACED && plan.paced && self.pauses(plan, source, digit, plan.begin(source, message, place, self.now)) {
            return;
        }
        self.send(plan, source, message, digit);
    }

    /// The lane starts a message now, at the rate of the next [`Self::apply`].
    #[inline(always)]
    fn send(&mut self, plan: &Plan, source: usize, message: usize, digit: u16) {
        self.put_digit(plan, source, digit);
        self.remaining[source] = plan.bytes(source, message);
        self.since[source] = self.now;
        self.began[source] = self.now;
        self.rate[source] = 0.0;
        self.end[source] = f64::INFINITY;
    }

    /// If the message of a digit begins later, the lane pauses until then. Rates of 0 stay 0, so that [`Self::apply`]
    /// leaves the end of the pause as it is.
    #[inline(never)]
    fn pauses(&mut self, plan: &Plan, source: usize, digit: u16, begin: f64) -> bool {
        if begin <= self.now {
            return false;
        }
        self.put_digit(plan, source, 0);
        self.next[source] = digit;
        self.remaining[source] = 0.0;
        self.since[source] = self.now;
        self.rate[source] = 0.0;
        self.end[source] = begin;
        true
    }

    /// If what ends now is the lane's pause, its message starts.
    #[inline(always)]
    pub(crate) fn resumes<const PACED: bool>(&mut self, plan: &Plan, source: usize) -> bool {
        PACED && plan.paced && self.next[source] != 0 && self.resume(plan, source)
    }

    #[inline(never)]
    fn resume(&mut self, plan: &Plan, source: usize) -> bool {
        let digit = std::mem::take(&mut self.next[source]);
        let (message, _) = plan.meaning(source, digit);
        self.send(plan, source, message, digit);
        true
    }

    /// In a tree search: the pauses that the lane must still make from now on, ps; of a lane that has started.
    pub(crate) fn pauses_left(&self, plan: &Plan, source: usize) -> f64 {
        let left = self.left[source];
        let gaps = (0..plan.counts[source]).filter(|&m| left >> m & 1 == 1).map(|m| plan.gap(source, m));
        let now = if self.next[source] == 0 { 0.0 } else { self.end[source] - self.now };
        gaps.sum::<f64>() + now
    }

    /// Takes over the progress of another state's lane.
    pub(crate) fn move_lane(&mut self, to: usize, other: &Self, from: usize) {
        self.remaining[to] = other.remaining[from];
        self.since[to] = other.since[from];
        self.began[to] = other.began[from];
        self.rate[to] = other.rate[from];
        self.end[to] = other.end[from];
    }

    #[inline(always)]
    fn put_digit(&mut self, plan: &Plan, source: usize, digit: u16) {
        let (old, new) = (plan.step(source, self.digit[source]), plan.step(source, digit));
        self.key = self.key.wrapping_sub(old).wrapping_add(new);
        self.digit[source] = digit;
    }

    /// In a tree search: the lane starts one of the messages that are left to it.
    #[inline(always)]
    pub(crate) fn choose<const PACED: bool>(&mut self, plan: &Plan, source: usize, message: usize) {
        let left = self.left[source];
        let count = left.count_ones();
        let skipped = (left & ((1_u32 << message) - 1)).count_ones();
        self.number += plan.rank(source, count) * u128::from(skipped);
        self.left[source] = left & !(1 << message);
        self.undecided -= u32::from(count == 2);
        self.start::<PACED>(plan, source, message, plan.counts[source] - count as usize);
    }

    /// Gives every lane its rate from now on. Lanes whose rate keeps its value are not touched.
    #[inline(always)]
    pub(crate) fn apply(&mut self, rates: &[f64; N]) {
        let now = self.now;
        for (i, &new) in rates.iter().enumerate() {
            let old = self.rate[i];
            let left = remaining_after(self.remaining[i], old, now - self.since[i]);
            let end = now + ps_to_send(left, new, now - self.began[i]);
            let changed = new != old;
            self.remaining[i] = if changed { left } else { self.remaining[i] };
            self.since[i] = if changed { now } else { self.since[i] };
            self.end[i] = if changed { end } else { self.end[i] };
            self.rate[i] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_sim_core::api::SimDuration;

    proptest! {
        /// The simulation's own functions are the twin; whole numbers of ps, ties and tiny remainders included.
        #[test]
        fn times_have_the_bits_of_the_simulation(
            bytes in prop_oneof![1.0..1e12_f64, (1_u64..1 << 40).prop_map(|b| b as f64), 0.0..1e-3_f64],
            rate in prop_oneof![1e6..1e12_f64, Just(11.6e9), Just(1e9), 1e9..1e9 + 2.0],
            span in 0_u64..1 << 52,
            lasted in prop_oneof![Just(0_u64), 0_u64..1 << 45],
        ) {
            let exact = weir_sim_core::time_to_send(bytes, rate, SimDuration(lasted));
            if (exact.0 as f64) < MOST_PS {
                prop_assert_eq!(ps_to_send(bytes, rate, lasted as f64), exact.0 as f64);
            } else {
                prop_assert!(ps_to_send(bytes, rate, lasted as f64) >= MOST_PS);
            }
            let left = weir_sim_core::remaining_after(bytes, rate, SimDuration(span));
            prop_assert_eq!(remaining_after(bytes, rate, span as f64).to_bits(), left.to_bits());
        }
    }

    #[test]
    fn no_rate_is_never() {
        assert_eq!(ps_to_send(1.0, 0.0, 0.0), f64::INFINITY);
        assert_eq!(ps_to_send(0.0, 0.0, 0.0), f64::INFINITY);
        assert_eq!(ps_to_send(0.0, 1.0, 0.0), 0.0);
    }
}
