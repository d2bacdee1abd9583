//! A part of an enumeration as data: written to a file it can go on later, and shards merge into the whole.

use serde::{Deserialize, Serialize};

use super::counter::Runs;
use crate::distribution::Distribution;
use crate::order::problem::OrderError;
use crate::order::run::best::{Best, better};

/// Version of the format of parts.
pub(super) const FORMAT: u32 = 2;

/// One shard of an enumeration, finished or not. Equal problems give equal bytes, however the work was cut.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Version of the format of parts, 2.
    pub weir_order_part: u32,
    /// Digest of the problem.
    pub digest: String,
    /// Which shard, from 1.
    pub shard: u64,
    /// The number of shards that share the first choices.
    pub shards: u64,
    /// Order of the group of symmetries in use; 1 for none.
    pub symmetries: u64,
    /// Number of all orders.
    #[serde(with = "crate::order::run::text")]
    pub candidates: u128,
    /// Number of first choices of all sources together.
    pub first_choices: u64,
    /// First choices below this index are done.
    pub next: u64,
    /// Of the first choice of this index, that many of its subtrees are done.
    pub inside: u64,
    /// Makespan of the workload's own order, ps.
    pub baseline: u64,
    /// The best order so far.
    pub best: Option<Best>,
    /// The makespans of the orders visited so far.
    pub distribution: Distribution,
}

impl Part {
    /// Whether all of the shard was visited.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.next >= self.first_choices
    }

    /// The whole search, finished, without results.
    fn head(&self) -> Self {
        let (digest, next) = (self.digest.clone(), self.first_choices);
        Self {
            digest,
            next,
            inside: 0,
            shard: 1,
            shards: 1,
            best: None,
            distribution: Distribution::default(),
            ..*self
        }
    }

    /// Whether it belongs to this enumeration.
    pub(crate) fn check(&self, digest: &str, firsts: u64, symmetries: u64) -> Result<(), OrderError> {
        let shard = (1..=self.shards).contains(&self.shard);
        if self.weir_order_part == FORMAT && self.digest == digest && self.first_choices == firsts && shard {
            if self.symmetries != symmetries {
                return Err(other("use of symmetries"));
            }
            return if self.whole() { Ok(()) } else { Err(OrderError::Shards(CHANGED.to_owned())) };
        }
        Err(other("scenario, arbiter or version of weir"))
    }

    /// Whether its counts and its best belong together; they do unless the file was damaged.
    fn whole(&self) -> bool {
        let (count, first) = (self.distribution.count(), self.distribution.pairs().first().map(|pair| pair.0));
        let known = match self.best {
            Some(best) => first.is_none_or(|first| first == best.makespan) && best.number < self.candidates,
            None => first.is_none(),
        };
        let all = !(self.complete() && self.shards == 1) || count == self.candidates;
        known && all && count <= self.candidates && self.next <= self.first_choices
    }

    /// The whole of all shards, the same bytes as of one run without shards.
    ///
    /// # Errors
    /// A shard that is missing, unfinished or there twice; shards of different problems.
    pub fn merge(parts: &[Self]) -> Result<Self, OrderError> {
        let first = parts.first().ok_or_else(|| OrderError::Shards("there is nothing to merge".to_owned()))?;
        let mut seen = std::collections::BTreeSet::new();
        let mut runs = Runs::default();
        let mut whole = first.head();
        for part in parts {
            part.check(&first.digest, first.first_choices, first.symmetries)?;
            let (shard, shards) = (part.shard, part.shards);
            if shards != first.shards || part.candidates != first.candidates || part.baseline != first.baseline {
                return Err(OrderError::Shards(format!(
                    "shard {shard} of {shards} belongs to another division than the first"
                )));
            }
            if !part.complete() {
                return Err(OrderError::Shards(format!(
                    "shard {shard} of {shards} is not finished; let it finish first"
                )));
            }
            if !seen.insert(shard) {
                return Err(OrderError::Shards(format!("shard {shard} of {shards} is given twice")));
            }
            runs.add(part.distribution.clone());
            whole.best = better(whole.best, part.best);
        }
        if let Some(missing) = (1..=first.shards).find(|i| !seen.contains(i)) {
            return Err(OrderError::Shards(format!("shard {missing} of {} is missing", first.shards)));
        }
        whole.distribution = runs.merged();
        let count = whole.distribution.count();
        if count != whole.candidates {
            let all = whole.candidates;
            return Err(OrderError::Shards(format!(
                "the shards hold {count} orders instead of {all}; they were changed"
            )));
        }
        Ok(whole)
    }
}

const CHANGED: &str = "the saved result contradicts itself: the file was damaged; start anew";

fn other(what: &str) -> OrderError {
    OrderError::Shards(format!("the saved result is of another {what}; start anew"))
}
