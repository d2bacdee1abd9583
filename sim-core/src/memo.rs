//! Remembered answers of pure arbiters: bounded, exact, and switched off where they do not help.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use weir_plugin_api::{Binding, ClassId, Flags};

/// Sets above this size are not remembered: they hardly recur, and the key would cost more than the answer.
const LARGEST_SET: usize = 32;
/// Entries of the direct-mapped table.
const ENTRIES: usize = 1 << 12;
/// Look-ups after which the table must have earned its keep.
const TRIAL: u32 = 512;

#[derive(Clone, Debug, Default)]
struct Entry {
    key: Vec<u32>,
    rates: Vec<f64>,
    bindings: Vec<Binding>,
}

/// Answers by the classes of the transfers shown, in id order (with arrival ranks, for arbiters that read them).
pub(crate) struct Memo {
    on: bool,
    reads_arrival: bool,
    entries: Vec<Entry>,
    key: Vec<u32>,
    at: Option<usize>,
    looked: u32,
    hits: u32,
}

impl Memo {
    /// An empty table, in use only for pure arbiters.
    pub(crate) fn new(flags: Flags) -> Self {
        Self {
            on: flags.contains(Flags::PURE),
            reads_arrival: flags.contains(Flags::READS_ARRIVAL),
            entries: Vec::new(),
            key: Vec::new(),
            at: None,
            looked: 0,
            hits: 0,
        }
    }

    /// Copies the remembered answer for this set, if there is one; else the next [`Self::remember`] is for it.
    pub(crate) fn recall(
        &mut self,
        classes: &[ClassId],
        arrivals: &[u64],
        rates: &mut Vec<f64>,
        bindings: &mut Vec<Binding>,
    ) -> bool {
        self.at = None;
        if !self.on || classes.len() > LARGEST_SET {
            return false;
        }
        self.make_key(classes, arrivals);
        let at = (hash(&self.key) >> 40) as usize % ENTRIES;
        self.at = Some(at);
        if self.entries.is_empty() {
            self.entries.resize(ENTRIES, Entry::default());
        }
        let entry = &self.entries[at];
        let hit = !entry.key.is_empty() && entry.key == self.key;
        if hit {
            rates.clone_from(&entry.rates);
            bindings.clone_from(&entry.bindings);
        }
        self.judge(hit);
        hit
    }

    /// Keeps the answer for the set last looked for, in the place of another.
    pub(crate) fn remember(&mut self, rates: &[f64], bindings: &[Binding]) {
        if let Some(at) = self.at.take() {
            let entry = &mut self.entries[at];
            entry.key.clone_from(&self.key);
            entry.rates.clear();
            entry.rates.extend_from_slice(rates);
            entry.bindings.clear();
            entry.bindings.extend_from_slice(bindings);
        }
    }

    fn make_key(&mut self, classes: &[ClassId], arrivals: &[u64]) {
        self.key.clear();
        self.key.extend(classes.iter().map(|c| c.0));
        if self.reads_arrival {
            // Rank by (arrival, id): how many arrive before.
            for (i, a) in arrivals.iter().enumerate() {
                let before = arrivals.iter().enumerate().filter(|&(j, b)| (b, j) < (a, i)).count();
                self.key.push(before as u32);
            }
        }
    }

    /// Random loads never repeat a set: after a trial with few hits the table is given up.
    fn judge(&mut self, hit: bool) {
        self.looked += 1;
        self.hits += u32::from(hit);
        if self.looked == TRIAL {
            self.on = self.hits * 8 >= TRIAL;
            (self.looked, self.hits) = (0, 0);
            if !self.on {
                self.entries = Vec::new();
                self.at = None;
            }
        }
    }
}

fn hash(key: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    key.iter().for_each(|&k| hasher.write_u32(k));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_plugin_api::{Cause, LinkId};

    const ANSWER: Binding = Binding::new(LinkId(1), Cause::SharedLink, 0);

    fn recall(memo: &mut Memo, classes: &[u32], arrivals: &[u64]) -> Option<Vec<f64>> {
        let classes: Vec<ClassId> = classes.iter().map(|&c| ClassId(c)).collect();
        let (mut rates, mut bindings) = (Vec::new(), Vec::new());
        memo.recall(&classes, arrivals, &mut rates, &mut bindings).then_some(rates)
    }

    #[test]
    fn only_the_same_classes_in_the_same_order_are_recalled() {
        let mut memo = Memo::new(Flags::PURE);
        assert_eq!(recall(&mut memo, &[1, 2], &[0, 0]), None);
        memo.remember(&[3.0, 4.0], &[ANSWER, ANSWER]);
        assert_eq!(recall(&mut memo, &[1, 2], &[5, 0]), Some(vec![3.0, 4.0]));
        assert_eq!(recall(&mut memo, &[2, 1], &[0, 0]), None);
        assert_eq!(recall(&mut memo, &[1], &[0]), None);
    }

    #[test]
    fn arrival_ranks_count_only_where_they_are_read() {
        let mut memo = Memo::new(Flags::PURE.union(Flags::READS_ARRIVAL));
        assert_eq!(recall(&mut memo, &[1, 2], &[0, 7]), None);
        memo.remember(&[1.0, 0.0], &[ANSWER, ANSWER]);
        assert_eq!(recall(&mut memo, &[1, 2], &[3, 4]), Some(vec![1.0, 0.0]));
        assert_eq!(recall(&mut memo, &[1, 2], &[4, 3]), None);
    }

    #[test]
    fn impure_arbiters_and_hopeless_loads_are_not_remembered() {
        let mut impure = Memo::new(Flags::default());
        recall(&mut impure, &[1], &[0]);
        impure.remember(&[1.0], &[ANSWER]);
        assert_eq!(recall(&mut impure, &[1], &[0]), None);
        let mut memo = Memo::new(Flags::PURE);
        for c in 0..TRIAL {
            recall(&mut memo, &[c], &[0]);
            memo.remember(&[1.0], &[ANSWER]);
        }
        assert!(!memo.on && memo.entries.is_empty());
    }
}
