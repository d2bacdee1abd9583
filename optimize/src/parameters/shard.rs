//! A share of the candidates.

use std::fmt;
use std::str::FromStr;

use super::error::ParameterError;

/// Shard `index` of `count`: the candidates whose number is `index` − 1 modulo `count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// All candidates: shard 1 of 1.
    pub const ALL: Self = Self { index: 1, count: 1 };

    /// Shard `index` of `count`, counted from 1.
    ///
    /// # Errors
    /// An index outside of 1 to `count`.
    pub fn new(index: u64, count: u64) -> Result<Self, ParameterError> {
        let shard = Self { index, count };
        if (1..=count).contains(&index) { Ok(shard) } else { Err(ParameterError::Shard { text: shard.to_string() }) }
    }

    /// Which of the shards it is, from 1.
    #[must_use]
    pub fn index(self) -> u64 {
        self.index
    }

    /// The number of shards that share the candidates.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// How many of some candidates are in the shard.
    pub(super) fn size(self, candidates: u64) -> u64 {
        candidates.saturating_sub(self.index - 1).div_ceil(self.count)
    }

    /// The candidate at a position of the shard; the position is one of [`Self::size`].
    pub(super) fn candidate(self, position: u64) -> u64 {
        position * self.count + (self.index - 1)
    }
}

/// As on the command line: `2/3`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// As on the command line: `2/3`.
impl FromStr for Shard {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let whole = |part: &str| part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten();
        let parts = text.split_once('/').and_then(|(index, count)| Some((whole(index)?, whole(count)?)));
        let (index, count) = parts.ok_or_else(|| ParameterError::Shard { text: text.to_owned() })?;
        Self::new(index, count)
    }
}
