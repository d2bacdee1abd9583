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
    /// The same messages, but for those of collectives, in the order in which they came, of all and by tag; kept where a
    /// receive takes from any rank or with any tag.
    all: BTreeMap<u64, Key>,
    by_tag: BTreeMap<(u32, u64), u32>,
}

impl Mailbox {
    /// An empty one for each rank of a program.
    pub(super) fn of_ranks(program: &Program) -> impl Iterator<Item = Self> {
        let first_of_collectives = program.first_of_collectives();
        (0..program.ranks).map(move |_| Self {
            first_of_collectives,
            posted: BTreeMap::new(),
            unexpected: BTreeMap::new(),
            all: BTreeMap::new(),
            by_tag: BTreeMap::new(),
        })
    }

    /// A receive, from [`ANY`] rank and with [`ANY`] tag too, has been posted.
    pub(super) fn post(&mut self, key: Key, count: u64, receive: u32) {
        self.posted.entry(key).or_default().push_back((count, receive));
    }

    /// A message without receive has come; `is_wild`: some receive of the program takes from any rank or with any tag.
    pub(super) fn arrive(&mut self, (from, tag): Key, count: u64, send: u32, is_wild: bool) {
        self.unexpected.entry((from, tag)).or_default().push_back((count, send));
        if is_wild && tag < self.first_of_collectives {
            self.all.insert(count, (from, tag));
            self.by_tag.insert((tag, count), from);
        }
    }

    /// Takes the first message that a receive fits.
    pub(super) fn take_message(&mut self, (from, tag): Key) -> Option<u32> {
        let key = match (from == ANY, tag == ANY) {
            (false, false) => (from, tag),
            (true, true) => *self.all.first_key_value()?.1,
            (true, false) => (*self.by_tag.range((tag, 0)..=(tag, u64::MAX)).next()?.1, tag),
            (false, true) => {
                let of_rank = self.unexpected.range((from, 0)..(from, self.first_of_collectives));
                let firsts = of_rank.filter_map(|(key, queue)| Some((queue.front()?.0, *key)));
                firsts.min()?.1
            }
        };
        let queue = self.unexpected.get_mut(&key)?;
        let (count, send) = queue.pop_front()?;
        if queue.is_empty() {
            self.unexpected.remove(&key);
        }
        self.all.remove(&count);
        self.by_tag.remove(&(key.1, count));
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
