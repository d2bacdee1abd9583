//! Messages that have come before their receives (the unexpected messages of MPI), and receives before their messages.

use std::collections::{BTreeMap, VecDeque};

use super::operations::{ANY, Program};

/// When a message or a receive came, and which it is.
type Entry = (u64, u32);
/// Source and tag.
type Key = (u32, u32);

/// What waits at a rank for its other end.
pub(super) struct Mailbox {
    /// Messages with this tag or a higher one are those of collectives, which no receive with any tag takes.
    first_of_collectives: u32,
    /// By source and tag.
    posted: BTreeMap<Key, VecDeque<Entry>>,
    unexpected: BTreeMap<Key, VecDeque<Entry>>,
    /// The same messages, but for those of collectives, in the order in which they came: under each key of receives that take
    /// from any rank or with any tag. Kept where there are such receives.
    any: BTreeMap<(Key, u64), Key>,
}

/// What receives from any rank or with any tag may have as source and tag to take a message.
fn wild((from, tag): Key) -> [Key; 3] {
    [(ANY, tag), (from, ANY), (ANY, ANY)]
}

impl Mailbox {
    /// An empty one for each rank of a program.
    pub(super) fn of_ranks(program: &Program) -> impl Iterator<Item = Self> {
        let first_of_collectives = program.first_of_collectives();
        (0..program.ranks).map(move |_| Self {
            first_of_collectives,
            posted: BTreeMap::new(),
            unexpected: BTreeMap::new(),
            any: BTreeMap::new(),
        })
    }

    /// A receive, from [`ANY`] rank and with [`ANY`] tag too, has been posted.
    pub(super) fn post(&mut self, key: Key, count: u64, receive: u32) {
        self.posted.entry(key).or_default().push_back((count, receive));
    }

    /// A message without receive has come; `is_wild`: some receive of the program takes from any rank or with any tag.
    pub(super) fn arrive(&mut self, key: Key, count: u64, send: u32, is_wild: bool) {
        self.unexpected.entry(key).or_default().push_back((count, send));
        if is_wild && key.1 < self.first_of_collectives {
            self.any.extend(wild(key).map(|wild| ((wild, count), key)));
        }
    }

    /// Takes the first message that a receive fits.
    pub(super) fn take_message(&mut self, wanted: Key) -> Option<u32> {
        let key = match wanted.0 == ANY || wanted.1 == ANY {
            true => *self.any.range((wanted, 0)..=(wanted, u64::MAX)).next()?.1,
            false => wanted,
        };
        let queue = self.unexpected.get_mut(&key)?;
        let (count, send) = queue.pop_front()?;
        if queue.is_empty() {
            self.unexpected.remove(&key);
        }
        if !self.any.is_empty() {
            wild(key).iter().for_each(|wild| _ = self.any.remove(&(*wild, count)));
        }
        Some(send)
    }

    /// Takes the first receive that a message fits.
    pub(super) fn take_receive(&mut self, (from, tag): Key) -> Option<u32> {
        let keys = [(from, tag), (ANY, tag), (from, ANY), (ANY, ANY)];
        let keys = if tag < self.first_of_collectives { &keys[..] } else { &keys[..2] };
        let first = |key: &Key| Some((self.posted.get(key)?.front()?.0, *key));
        let (_, key) = keys.iter().filter_map(first).min()?;
        self.posted.get_mut(&key)?.pop_front().map(|entry| entry.1)
    }

    /// The first message that nobody has received.
    pub(super) fn left(&self) -> Option<Entry> {
        self.unexpected.values().flatten().copied().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first message of a list that a receive fits: the plain way.
    fn plain(messages: &mut Vec<(Key, u32)>, (from, tag): Key, first_of_collectives: u32) -> Option<u32> {
        let fits = |&(own, _): &(Key, u32)| {
            let is_wild = own.1 < first_of_collectives;
            (own.0 == from || (is_wild && from == ANY)) && (own.1 == tag || (is_wild && tag == ANY))
        };
        messages.iter().position(fits).map(|at| messages.remove(at).1)
    }

    proptest! {
        /// Three ranks and tags, of which the last may be that of a collective; 3 stands for any.
        #[test]
        fn receives_take_the_first_message_that_fits(
            steps in prop::collection::vec((any::<bool>(), 0..4_u32, 0..4_u32), 1..60), first_of_collectives in 2..4_u32,
        ) {
            let program = Program { ranks: 1, ..Program::default() };
            let mut mailbox = Mailbox::of_ranks(&program).next().expect("a rank");
            mailbox.first_of_collectives = first_of_collectives;
            let mut messages = Vec::new();
            for (send, (arrives, from, tag)) in (0..).zip(steps) {
                if arrives && from < 3 && tag < 3 {
                    mailbox.arrive((from, tag), send.into(), send, true);
                    messages.push(((from, tag), send));
                    continue;
                }
                let wanted = (if from == 3 { ANY } else { from }, if tag == 3 { ANY } else { tag });
                prop_assert_eq!(mailbox.take_message(wanted), plain(&mut messages, wanted, first_of_collectives));
            }
        }
    }
}
