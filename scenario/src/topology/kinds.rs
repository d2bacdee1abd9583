//! The kinds of links: a word each, which policies by kind are given for.

use weir_plugin_api::LinkKind;

/// A kind of link, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KindId(u16);

/// The kinds with a number that arbiters know, in its order, and the one of lateral links that say none.
const WORDS: [&str; 6] = ["pcie", "qpi", "nvlink", "network", "memory", "other"];

impl KindId {
    pub(crate) const PCIE: Self = Self(0);
    pub(crate) const NETWORK: Self = Self(3);
    pub(crate) const MEMORY: Self = Self(4);
    pub(crate) const OTHER: Self = Self(5);

    /// What arbiters see of it.
    pub(crate) fn link_kind(self) -> LinkKind {
        if self.0 < Self::OTHER.0 { LinkKind(u32::from(self.0)) } else { LinkKind::OTHER }
    }
}

/// The kinds of a topology's links.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    /// Words beyond [`WORDS`].
    more: Vec<Box<str>>,
    /// Per pair of directed links.
    of_pairs: Vec<KindId>,
}

impl Kinds {
    /// The kind of a word.
    pub(crate) fn of(&mut self, word: &str) -> KindId {
        let known = self.names().position(|name| name == word);
        let number = known.unwrap_or_else(|| {
            self.more.push(word.into());
            WORDS.len() + self.more.len() - 1
        });
        // Words beyond the last number, which no topology of this size limit has, share it.
        KindId(u16::try_from(number).unwrap_or(u16::MAX))
    }

    /// The same with the kind of each pair of directed links.
    pub(crate) fn with_pairs(self, of_pairs: Vec<KindId>) -> Self {
        Self { of_pairs, ..self }
    }

    /// All words, by number.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        WORDS.into_iter().chain(self.more.iter().map(|word| &**word))
    }

    /// The words of the kinds that links have.
    pub(crate) fn used(&self) -> Vec<&str> {
        let used = |(number, _): &(usize, &str)| self.of_pairs.iter().any(|kind| usize::from(kind.0) == *number);
        self.names().enumerate().filter(used).map(|(_, word)| word).collect()
    }

    /// The number of the kind of each directed link.
    pub(crate) fn of_links(&self) -> impl Iterator<Item = usize> {
        self.of_pairs.iter().flat_map(|kind| [usize::from(kind.0); 2])
    }
}
