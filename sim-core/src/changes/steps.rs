//! When the links of a source change, and to what.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use weir_plugin_api::{HORIZON, SimDuration, SimTime};

use super::LinkState;

/// States of links over time.
#[derive(Clone, PartialEq, Debug)]
pub enum Steps {
    /// These, by time.
    Listed(Vec<(SimTime, LinkState)>),
    /// From `first` on, every `every`, this state for `lasts`; up between.
    Periodic {
        /// The first time.
        first: SimTime,
        /// From one begin to the next; above `lasts`.
        every: SimDuration,
        /// For how long; above 0.
        lasts: SimDuration,
        /// The state.
        state: LinkState,
    },
    /// Up for a random time and in this state for another, by turns: both are distributed exponentially.
    Random {
        /// Of the generator, ChaCha8.
        seed: u64,
        /// Which of its streams: sources with different ones are independent.
        stream: u64,
        /// Whether they are up at first.
        begins_up: bool,
        /// The mean time for which they are up.
        up: SimDuration,
        /// The mean time for which they are in the state.
        lasts: SimDuration,
        /// The state.
        state: LinkState,
    },
}

impl Steps {
    /// All states that occur.
    pub(super) fn states(&self) -> impl Iterator<Item = LinkState> + '_ {
        let (listed, one) = match self {
            Self::Listed(all) => (&all[..], None),
            Self::Periodic { state, .. } | Self::Random { state, .. } => (&[][..], Some(*state)),
        };
        listed.iter().map(|step| step.1).chain(one)
    }
}

/// Goes through the steps of a source.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    steps: &'a Steps,
    /// How many steps were taken.
    taken: u64,
    random: Option<ChaCha8Rng>,
    /// The next step; never after the last.
    next: SimTime,
}

impl<'a> Walk<'a> {
    pub(super) fn new(steps: &'a Steps) -> Self {
        let mut walk = Self { steps, taken: 0, random: None, next: SimTime::NEVER };
        walk.next = match steps {
            Steps::Listed(all) => all.first().map_or(SimTime::NEVER, |step| step.0),
            Steps::Periodic { first, .. } => *first,
            Steps::Random { seed, stream, begins_up, up, .. } => {
                let mut random = ChaCha8Rng::seed_from_u64(*seed);
                random.set_stream(*stream);
                let first = if *begins_up { exponential(&mut random, *up) } else { SimDuration::ZERO };
                walk.random = Some(random);
                SimTime::ZERO.after(first)
            }
        };
        walk
    }

    /// When its links change next; [`SimTime::NEVER`] for not any more.
    pub(super) fn next(&self) -> SimTime {
        self.next
    }

    /// Whether there is a next step.
    pub(super) fn goes_on(&self) -> bool {
        !self.next.is_never()
    }

    /// Takes the next step. Returns the state from then on.
    pub(super) fn take(&mut self) -> LinkState {
        let now = self.next;
        self.taken += 1;
        let begins = self.taken % 2 == 1;
        match self.steps {
            Steps::Listed(all) => {
                let at = self.taken as usize;
                self.next = all.get(at).map_or(SimTime::NEVER, |step| step.0);
                all[at - 1].1
            }
            Steps::Periodic { every, lasts, state, .. } => {
                self.next = now.after(if begins { *lasts } else { SimDuration(every.0 - lasts.0) });
                if begins { *state } else { LinkState::Up }
            }
            Steps::Random { up, lasts, state, .. } => {
                let mean = if begins { *lasts } else { *up };
                let time = self.random.as_mut().map_or(mean, |random| exponential(random, mean));
                self.next = now.after(time);
                if begins { *state } else { LinkState::Up }
            }
        }
    }
}

/// A random time, distributed exponentially with this mean; at least 1 ps. The same bits on every machine.
fn exponential(random: &mut ChaCha8Rng, mean: SimDuration) -> SimDuration {
    // 53 bits: a number in [0, 1).
    let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let time = -libm::log1p(-unit) * mean.0 as f64;
    SimDuration((time as u64).clamp(1, HORIZON.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(steps: &Steps, count: usize) -> Vec<(u64, LinkState)> {
        let mut walk = Walk::new(steps);
        let mut all = Vec::new();
        while all.len() < count && walk.goes_on() {
            let time = walk.next().0;
            all.push((time, walk.take()));
        }
        all
    }

    #[test]
    fn periods_begin_and_end_by_turns() {
        let (every, lasts) = (SimDuration(10), SimDuration(3));
        let steps = Steps::Periodic { first: SimTime(5), every, lasts, state: LinkState::Down };
        let (down, up) = (LinkState::Down, LinkState::Up);
        assert_eq!(times(&steps, 4), [(5, down), (8, up), (15, down), (18, up)]);
    }

    #[test]
    fn listed_steps_come_once() {
        let steps = Steps::Listed(vec![(SimTime(1), LinkState::Share(0.5)), (SimTime(4), LinkState::Up)]);
        assert_eq!(times(&steps, 9), [(1, LinkState::Share(0.5)), (4, LinkState::Up)]);
    }

    /// 20,000 times of a mean of 1 µs: the mean of them is within 3 % (four standard errors), and so is the part above the
    /// mean, 1/e.
    #[test]
    fn random_times_are_exponential() {
        let (up, lasts) = (SimDuration(1_000_000), SimDuration(1_000_000));
        let steps = Steps::Random { seed: 1, stream: 2, begins_up: true, up, lasts, state: LinkState::Down };
        let all = times(&steps, 20_000);
        let spans: Vec<u64> = all.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let mean = spans.iter().sum::<u64>() as f64 / spans.len() as f64;
        let above = spans.iter().filter(|&&span| span > 1_000_000).count() as f64 / spans.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.03 && (above - 1.0 / std::f64::consts::E).abs() < 0.014, "{mean} {above}");
        let of = |stream, begins_up| Steps::Random { seed: 1, stream, begins_up, up, lasts, state: LinkState::Down };
        assert_ne!(times(&of(3, true), 2), times(&steps, 2));
        // The same times without the first one.
        let down_at_first = times(&of(2, false), 3);
        assert_eq!(down_at_first[0], (0, LinkState::Down));
        assert_eq!(down_at_first[1].0, all[0].0);
        assert_eq!(down_at_first[2].0, all[1].0);
    }
}
