//! Which makespans differ from those of the baseline, and by how much.

use super::{Column, Comparison};

/// In which direction a makespan differs from the baseline's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deviation {
    /// It is above.
    Slower,
    /// It is below.
    Faster,
    /// Either.
    Differs,
}

impl Deviation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Slower, Self::Faster, Self::Differs];

    /// Its name on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Differs => "differs",
        }
    }

    fn is_beyond(self, ratio: f64, percent: f64) -> bool {
        let (slower, faster) = (ratio > 1.0 + percent / 100.0, ratio < 1.0 - percent / 100.0);
        match self {
            Self::Slower => slower,
            Self::Faster => faster,
            Self::Differs => slower || faster,
        }
    }
}

impl Comparison {
    /// The columns whose makespan is more than `percent` above the baseline's, below it, or either, by no less than the spread
    /// of either; each with its baseline. Where a file or change follows the first, that is the first one's column of the same
    /// policy, or its first column, and the columns of the first are not judged. Else it is the first column.
    #[must_use]
    pub fn changed(&self, change: Deviation, percent: f64) -> Vec<(&Column, &Column)> {
        let (own, others) = self.columns.split_at(self.own());
        let (baselines, judged) = if others.is_empty() { (&own[..own.len().min(1)], own) } else { (own, others) };
        let baseline = |column: &Column| baselines.iter().find(|own| own.policy() == column.policy());
        let pairs = judged.iter().filter_map(|column| Some((column, baseline(column).or(baselines.first())?)));
        pairs.filter(|(column, baseline)| column.deviates(baseline, change, percent)).collect()
    }

    /// How many columns the first file has: those up to another file or change, or a policy that was there.
    fn own(&self) -> usize {
        let is_own = |at: &usize| {
            let (column, first) = (&self.columns[*at], &self.columns[0]);
            let known = self.columns[..*at].iter().any(|before| before.policy() == column.policy());
            (&column.file, &column.with) == (&first.file, &first.with) && !known
        };
        (0..self.columns.len()).take_while(is_own).count()
    }
}

impl Column {
    /// What divides bandwidth among its transfers.
    fn policy(&self) -> (&str, &str, bool) {
        (&self.arbiter, &self.params, self.is_packets)
    }

    fn deviates(&self, baseline: &Self, change: Deviation, percent: f64) -> bool {
        let (own, other) = (self.makespan, baseline.makespan);
        match (other.time, own.time) {
            // Two makespans of 0 are the same, and nothing else is a multiple of one.
            (Some(was), Some(now)) if was != now => {
                change.is_beyond(now as f64 / was as f64, percent) && own.within_spread(&other) != Some(true)
            }
            _ => false,
        }
    }
}
