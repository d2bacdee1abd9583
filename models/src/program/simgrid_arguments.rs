//! The words behind an action of a SimGrid trace, as `src/smpi/internals/smpi_replay.cpp` reads them (version 4.1).

use super::operations::{ANY, FIRST_TAG, Problem};
use crate::quantities::MOST_BYTES;

/// Bytes of the types of data 0 to 29, `MPI_DOUBLE` to `MPI_OFFSET`, on Linux of 64 bits. Their numbers are the same in all
/// versions since 3.21 (`src/smpi/mpi/smpi_datatype.cpp`); those above have changed.
const TYPES: [u8; 30] = [8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8];

/// The words behind an action.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub(super) action: &'a str,
    pub(super) words: &'a [&'a str],
    /// Bytes that a count stands for.
    pub(super) unit: f64,
}

impl<'a> Arguments<'a> {
    fn word(&self, at: usize) -> Result<&str, Problem> {
        let lacks =
            || format!("`{}` has {} arguments, too few; add argument {}", self.action, self.words.len(), at + 1);
        self.words.get(at).copied().ok_or_else(lacks)
    }

    pub(super) fn real(&self, at: usize) -> Result<f64, Problem> {
        let word = self.word(at)?;
        let value = word.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
        value
            .ok_or_else(|| format!("argument {} of `{}` is `{word}`; give a number of at least 0", at + 1, self.action))
    }

    pub(super) fn bytes(&self, at: usize) -> Result<u64, Problem> {
        let bytes = (self.real(at)? * self.unit).round();
        if bytes > MOST_BYTES as f64 {
            return Err(format!("argument {} of `{}` is more than 2^53 bytes; give less", at + 1, self.action));
        }
        Ok(bytes as u64)
    }

    pub(super) fn list(&self, from: usize, count: u32) -> Result<Vec<u64>, Problem> {
        (from..from + count as usize).map(|at| self.bytes(at)).collect()
    }

    /// A rank; -1 stands for any, as does `MPI_ANY_SOURCE` (include/smpi/smpi.h).
    pub(super) fn rank(&self, at: usize) -> Result<u32, Problem> {
        self.number(at, "-555")
    }

    /// A tag; -1 stands for any, as does `MPI_ANY_TAG` (include/smpi/smpi.h).
    pub(super) fn tag(&self, at: usize) -> Result<u32, Problem> {
        self.number(at, "-444")
    }

    fn number(&self, at: usize, any: &str) -> Result<u32, Problem> {
        let word = self.word(at)?;
        if word == "-1" || word == any {
            return Ok(ANY);
        }
        word.parse().ok().filter(|&value: &u32| value < FIRST_TAG).ok_or_else(|| {
            format!("argument {} of `{}` is `{word}`; give a whole number below 2^31", at + 1, self.action)
        })
    }

    /// The root of a collective; rank 0 where it is not given.
    pub(super) fn root(&self, at: usize, ranks: u32) -> Result<u32, Problem> {
        let root = if self.words.len() > at { self.rank(at)? } else { 0 };
        let is_rank = Some(root).filter(|&root| root < ranks);
        is_rank.ok_or_else(|| format!("`{}` is no root; ranks are 0 to {}", self.words[at], ranks - 1))
    }

    /// The same for what is sent and for what is received, each in its type of data: up to `types` may stand behind the
    /// `count` arguments.
    pub(super) fn typed(&self, count: usize, types: usize) -> Result<[Self; 2], Problem> {
        if let Some(word) = self.words.get(count.saturating_add(types)) {
            return Err(format!("`{word}` behind `{}` is an argument too many; leave it out", self.action));
        }
        let unit = |at: usize| match count.checked_add(at).and_then(|at| self.words.get(at)) {
            Some(word) => self.size_of(word),
            None => Ok(self.unit),
        };
        Ok([Self { unit: unit(0)?, ..*self }, Self { unit: unit(1)?, ..*self }])
    }

    fn size_of(&self, word: &str) -> Result<f64, Problem> {
        let size = word.parse().ok().and_then(|number: usize| TYPES.get(number));
        let last = TYPES.len() - 1;
        let unknown = || {
            let action = self.action;
            format!("`{word}` behind `{action}` is no type of data from 0 to {last}; give sizes in bytes, without it")
        };
        size.map(|&bytes| f64::from(bytes)).ok_or_else(unknown)
    }

    /// An `allgatherv` of `n` ranks without its displacements, which stand behind its sizes, or behind its types of data.
    pub(super) fn without_displacements(self, n: usize) -> Self {
        let (count, types) = (self.words.len(), n + 3);
        let kept = match count {
            _ if count > 2 * n + 1 && count == types + n => types,
            _ if count == 2 * n + 1 && count > types => n + 1,
            _ => count,
        };
        Self { words: &self.words[..kept], ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given<'a>(action: &'a str, words: &'a [&'a str]) -> Arguments<'a> {
        Arguments { action, words, unit: 1.0 }
    }

    #[test]
    fn types_of_data_give_counts_their_bytes() {
        // 10 int and 3 double, as `gather` has them in SimGrid's own traces.
        let [sent, received] = given("gather", &["10", "3", "0", "1", "0"]).typed(3, 2).expect("two types");
        assert_eq!((sent.bytes(0), received.bytes(1)), (Ok(40), Ok(24)));
        // Without types a count is of the unit; with one alone what is received, too, is of the unit.
        let [sent, received] = given("gather", &["10", "3", "0", "5"]).typed(3, 2).expect("a type");
        assert_eq!((sent.bytes(0), received.bytes(1)), (Ok(40), Ok(3)));
        for (word, why) in [("30", "no type of data from 0 to 29"), ("x", "no type of data"), ("-1", "no type of data")]
        {
            let error = given("send", &["1", "0", "5", word]).typed(3, 1).err().expect("no type");
            assert!(error.contains(why), "{error}");
        }
        let error = given("send", &["1", "0", "5", "2", "7"]).typed(3, 1).err().expect("too many");
        assert!(error.contains("`7` behind `send` is an argument too many"), "{error}");
    }

    #[test]
    fn displacements_are_told_from_types() {
        let kept = |n: usize, words: &[&str]| given("allgatherv", words).without_displacements(n).words.len();
        // 4 ranks: 1 + 4 sizes, then types, displacements, or both.
        let sizes = ["9", "1", "2", "3", "4"];
        let with = |more: &[&'static str]| [&sizes[..], more].concat();
        assert_eq!(kept(4, &sizes), 5);
        assert_eq!(kept(4, &with(&["1", "1"])), 7);
        assert_eq!(kept(4, &with(&["0", "1", "3", "6"])), 5);
        assert_eq!(kept(4, &with(&["1", "1", "0", "1", "3", "6"])), 7);
        // Of 2 ranks two words more are types, as SimGrid takes them.
        assert_eq!(kept(2, &["9", "1", "2", "0", "1"]), 5);
        assert_eq!(kept(2, &["9", "1", "2", "1", "1", "0", "1"]), 5);
    }
}
