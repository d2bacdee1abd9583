//! Remembered answers of pure arbiters: bounded, exact, and switched off where they do not help.

use rustc_hash::FxHashMap;
use weir_plugin_api::{Binding, ClassId, Flags, PhaseView, Remark};

use crate::answer::Answer;

/// Sets above this size are not remembered: they hardly recur, and the key would cost more than the answer;
/// *assumed*.
const LARGEST_SET: usize = 32;
/// Most answers kept; a full table is emptied. *Assumed*: at most some MiB.
const ENTRIES: usize = 1 << 12;
/// Look-ups of a trial, of which an eighth must be hits for the table to stay; *assumed*.
const TRIAL: u32 = 512;

/// A remembered answer.
struct Known {
    /// Rate and binding of each transfer.
    rates: Box<[(f64, Binding)]>,
    remarks: Vec<Remark>,
}

/// Answers by the classes of the transfers shown, in id order (with arrival ranks, for arbiters that read them).
pub(crate) struct Memo {
    on: bool,
    reads_arrival: bool,
    entries: FxHashMap<Box<[u32]>, Known>,
    key: Vec<u32>,
    /// Whether the next answer is for `key`.
    open: bool,
    looked: u32,
    hits: u32,
}

impl Memo {
    /// An empty table, in use only for pure arbiters.
    pub(crate) fn new(flags: Flags) -> Self {
        Self {
            on: flags.contains(Flags::PURE),
            reads_arrival: flags.contains(Flags::READS_ARRIVAL),
            entries: FxHashMap::default(),
            key: Vec::new(),
            open: false,
            looked: 0,
            hits: 0,
        }
    }

    /// Forgets all answers: classes have other ids from now on.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.open = false;
    }

    /// Copies the remembered answer for this set, if there is one; else the next [`Self::remember`] is for it.
    pub(crate) fn recall(&mut self, phase: &PhaseView<'_>, answer: &mut Answer) -> bool {
        self.open = self.on && phase.len() <= LARGEST_SET;
        if !self.open {
            return false;
        }
        self.make_key(phase.class.as_slice(), phase.arrival.as_slice());
        let found = self.entries.get(self.key.as_slice());
        let hit = found.is_some();
        if let Some(known) = found {
            answer.clear();
            answer.rates.extend(known.rates.iter().map(|a| a.0));
            answer.bindings.extend(known.rates.iter().map(|a| a.1));
            answer.remarks.extend_from_slice(&known.remarks);
        }
        self.judge(hit);
        hit
    }

    /// Keeps the answer for the set last looked for.
    pub(crate) fn remember(&mut self, answer: &Answer) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        if self.entries.len() >= ENTRIES {
            self.entries.clear();
        }
        let rates = answer.rates.iter().copied().zip(answer.bindings.iter().copied()).collect();
        let known = Known { rates, remarks: answer.remarks.clone() };
        self.entries.insert(self.key.as_slice().into(), known);
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
                self.entries = FxHashMap::default();
                self.open = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_plugin_api::{Cause, LinkId, SimTime, TransferId};

    use crate::classes::Classes;
    use crate::routes::Routes;

    fn recall(memo: &mut Memo, classes: &[u32], arrivals: &[u64]) -> Option<Vec<f64>> {
        let ids: Vec<TransferId> = (0..classes.len()).map(TransferId::from_index).collect();
        let class: Vec<ClassId> = classes.iter().map(|&c| ClassId(c)).collect();
        let (classes, routes) = (Classes::default(), Routes::new());
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: (&ids).into(),
            class: (&class).into(),
            arrival: arrivals.into(),
            classes: classes.table(),
            routes: routes.table(),
        };
        let mut answer = Answer::default();
        memo.recall(&phase, &mut answer).then_some(answer.rates)
    }

    fn remember(memo: &mut Memo, rates: &[f64]) {
        let binding = Binding::new(LinkId(1), Cause::SharedLink, 0);
        let mut answer = Answer::default();
        answer.rates.extend_from_slice(rates);
        answer.bindings.resize(rates.len(), binding);
        memo.remember(&answer);
    }

    #[test]
    fn only_the_same_classes_in_the_same_order_are_recalled() {
        let mut memo = Memo::new(Flags::PURE);
        assert_eq!(recall(&mut memo, &[1, 2], &[0, 0]), None);
        remember(&mut memo, &[3.0, 4.0]);
        assert_eq!(recall(&mut memo, &[1, 2], &[5, 0]), Some(vec![3.0, 4.0]));
        assert_eq!(recall(&mut memo, &[2, 1], &[0, 0]), None);
        assert_eq!(recall(&mut memo, &[1], &[0]), None);
    }

    #[test]
    fn arrival_ranks_count_only_where_they_are_read() {
        let mut memo = Memo::new(Flags::PURE.union(Flags::READS_ARRIVAL));
        assert_eq!(recall(&mut memo, &[1, 2], &[0, 7]), None);
        remember(&mut memo, &[1.0, 0.0]);
        assert_eq!(recall(&mut memo, &[1, 2], &[3, 4]), Some(vec![1.0, 0.0]));
        assert_eq!(recall(&mut memo, &[1, 2], &[4, 3]), None);
    }

    #[test]
    fn impure_arbiters_and_hopeless_loads_are_not_remembered() {
        let mut impure = Memo::new(Flags::default());
        recall(&mut impure, &[1], &[0]);
        remember(&mut impure, &[1.0]);
        assert_eq!(recall(&mut impure, &[1], &[0]), None);
        let mut memo = Memo::new(Flags::PURE);
        for c in 0..TRIAL {
            recall(&mut memo, &[c], &[0]);
            remember(&mut memo, &[1.0]);
        }
        assert!(!memo.on && memo.entries.is_empty());
    }
}
