//! The kinds of links: a word each, which policies by kind are given for.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use weir_plugin_api::LinkKind;

/// A kind of link, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KindId(u32);

/// The kinds with a number that arbiters know, in its order, and the one of lateral links that say none.
const WORDS: [&str; 6] = ["pcie", "qpi", "nvlink", "network", "memory", "other"];

impl KindId {
    pub(crate) const PCIE: Self = Self(0);
    pub(crate) const NETWORK: Self = Self(3);
    pub(crate) const MEMORY: Self = Self(4);
    pub(crate) const OTHER: Self = Self(5);

    /// What arbiters see of it.
    pub(crate) fn link_kind(self) -> LinkKind {
        if self.0 < Self::OTHER.0 { LinkKind(self.0) } else { LinkKind::OTHER }
    }
}

/// The kinds of a topology's links.
#[derive(Debug)]
pub(crate) struct Kinds {
    /// By number.
    words: IndexSet<Box<str>, FxBuildHasher>,
    /// Per pair of directed links.
    of_pairs: Vec<KindId>,
}

impl Default for Kinds {
    fn default() -> Self {
        Self { words: WORDS.into_iter().map(Box::from).collect(), of_pairs: Vec::new() }
    }
}

impl Kinds {
    /// The kind of a word.
    pub(crate) fn of(&mut self, word: &str) -> KindId {
        let number = self.words.get_index_of(word).unwrap_or_else(|| self.words.insert_full(word.into()).0);
        KindId(number as u32)
    }

    /// The same with the kind of each pair of directed links.
    pub(crate) fn with_pairs(self, of_pairs: Vec<KindId>) -> Self {
        Self { of_pairs, ..self }
    }

    /// All words, by number.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }

    /// The words of the kinds that links have.
    pub(crate) fn used(&self) -> Vec<&str> {
        let mut used = vec![false; self.words.len()];
        self.of_pairs.iter().for_each(|kind| used[kind.0 as usize] = true);
        self.names().zip(used).filter(|(_, used)| *used).map(|(word, _)| word).collect()
    }

    /// The word of the kind of each directed link.
    pub(crate) fn words_of_links(&self) -> impl Iterator<Item = &str> {
        self.of_links().map(|kind| &*self.words[kind])
    }

    /// The number of the kind of each directed link.
    pub(crate) fn of_links(&self) -> impl Iterator<Item = usize> {
        self.of_pairs.iter().flat_map(|kind| [kind.0 as usize; 2])
    }
}
