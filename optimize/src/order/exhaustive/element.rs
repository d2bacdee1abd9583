//! One permutation of devices: what it does to sources, messages, active sets and states.

use crate::order::problem::limits::MOST_DECIDING;
use crate::order::run::plan::Plan;
use crate::order::run::rates::digits_of;
use crate::order::run::state::State;

/// What a permutation does to sources and messages.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Element {
    /// Per source: the source it becomes.
    pub(super) source: Vec<usize>,
    /// Per source and message: which message of the image source it becomes.
    pub(super) message: Vec<Vec<usize>>,
}

pub(super) type Digits = [u16; MOST_DECIDING];

pub(super) fn digits(plan: &Plan, row: u64) -> Digits {
    let mut digits = [0; MOST_DECIDING];
    digits_of(plan, row, &mut digits);
    digits
}

impl Element {
    /// First the other, then this.
    pub(super) fn after(&self, other: &Self) -> Self {
        let source = other.source.iter().map(|&s| self.source[s]).collect();
        let through =
            |(s, messages): (usize, &Vec<usize>)| messages.iter().map(|&m| self.message[other.source[s]][m]).collect();
        Self { source, message: other.message.iter().enumerate().map(through).collect() }
    }

    pub(super) fn image(&self, order: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut image = vec![Vec::new(); order.len()];
        for (s, sequence) in order.iter().enumerate() {
            image[self.source[s]] = sequence.iter().map(|&m| self.message[s][m]).collect();
        }
        image
    }

    pub(super) fn first(&self, first: &[usize]) -> Vec<usize> {
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
    pub(super) fn state<const N: usize>(&self, plan: &Plan, state: &State<N>, order: &[Vec<usize>]) -> State<N> {
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
    pub(super) fn row(&self, plan: &Plan, digits: &Digits) -> u64 {
        (0..plan.sources).map(|s| plan.step(self.source[s], self.digit(plan, s, digits[s]))).sum()
    }

    /// Whether the rates of an active set are those of its image, bit for bit.
    pub(super) fn same_rates(&self, of: &[f64], image: &[f64]) -> bool {
        self.source.iter().zip(of).all(|(&t, rate)| image[t].to_bits() == rate.to_bits())
    }

    /// Whether the images of an active set under this and another element have the same rates.
    pub(super) fn keeps_rates<'t>(
        &self,
        other: &Self,
        plan: &Plan,
        digits: &Digits,
        rates: &impl Fn(u64) -> &'t [f64],
    ) -> bool {
        let (here, there) = (rates(self.row(plan, digits)), rates(other.row(plan, digits)));
        (0..plan.sources).all(|s| here[self.source[s]].to_bits() == there[other.source[s]].to_bits())
    }

    /// The image of a first choice against itself, in the order of numbers.
    pub(super) fn compare(&self, first: &[usize]) -> std::cmp::Ordering {
        let mut image = [0_u8; MOST_DECIDING];
        for (s, &m) in first.iter().enumerate() {
            image[self.source[s]] = self.message[s][m] as u8;
        }
        let pairs = image.iter().zip(first).map(|(&i, &f)| (i as usize).cmp(&f));
        pairs.into_iter().find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random_on_t2;

    /// The identity, and an exchange of the first two sources: they keep the rates of an active set that has the same for both.
    #[test]
    fn elements_that_keep_rates_give_the_same_ones() {
        let world = random_on_t2(2, 1, "max-min");
        let problem = world.problem();
        let plan = Plan::new(&problem);
        let sources = plan.sources;
        let message: Vec<Vec<usize>> = plan.counts.iter().map(|&count| (0..count).collect()).collect();
        let identity = Element { source: (0..sources).collect(), message: message.clone() };
        let exchanged = Element { source: [1, 0].into_iter().chain(2..sources).collect(), message };
        let row = digits(&plan, 0);
        let (alike, uneven) = (vec![1.0; sources], (0..sources).map(|s| s as f64).collect::<Vec<_>>());
        for (rates, kept) in [(&alike, true), (&uneven, false)] {
            let of = |_: u64| &**rates;
            assert_eq!(exchanged.keeps_rates(&identity, &plan, &row, &of), kept);
            assert_eq!(exchanged.same_rates(rates, rates), kept);
            assert!(identity.keeps_rates(&identity, &plan, &row, &of));
        }
    }
}
