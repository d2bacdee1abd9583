//! A set of small numbers that is walked in order.

/// A bit for each number below a fixed one.
#[derive(Debug, Default)]
pub(super) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set of numbers below `len`.
    pub(super) fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)] }
    }

    #[inline]
    pub(super) fn insert(&mut self, number: u32) {
        self.words[number as usize / 64] |= 1 << (number % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, number: u32) {
        self.words[number as usize / 64] &= !(1 << (number % 64));
    }

    /// The least number that is `from` or more.
    #[inline]
    pub(super) fn next(&self, from: u32) -> Option<u32> {
        let mut at = from as usize / 64;
        let mut word = self.words.get(at)? & (u64::MAX << (from % 64));
        while word == 0 {
            at += 1;
            word = *self.words.get(at)?;
        }
        Some(at as u32 * 64 + word.trailing_zeros())
    }

    /// The largest number that is less than `before`.
    #[inline]
    pub(super) fn previous(&self, before: u32) -> Option<u32> {
        let last = before.checked_sub(1)?;
        let mut at = last as usize / 64;
        let mut word = self.words[at] & (u64::MAX >> (63 - last % 64));
        while word == 0 {
            at = at.checked_sub(1)?;
            word = self.words[at];
        }
        Some(at as u32 * 64 + 63 - word.leading_zeros())
    }
}
