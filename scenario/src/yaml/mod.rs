//! YAML decoded once into a tree with source positions; scalars keep their text, so `007`, `no` and `1_000` stay as
//! written.

mod edit;
mod parse;
mod write;

pub use edit::key_of_path;
pub(crate) use edit::{Edit, Path, path_of};
pub(crate) use parse::parse;
pub(crate) use write::{flow, key, same, write_block, write_entries, write_items};

use crate::source::Span;

/// Levels of nesting at most.
pub(crate) const DEPTH: usize = 64;

/// A value of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Data {
    /// One word, number or text.
    Scalar(Scalar),
    Sequence(Vec<Value>),
    /// A map, in file order; keys are distinct.
    Mapping(Vec<Entry>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scalar {
    /// The text, without quotes.
    pub(crate) text: Box<str>,
    /// Whether it stood without quotes.
    pub(crate) plain: bool,
}

impl Scalar {
    pub(crate) fn is_null(&self) -> bool {
        self.plain && matches!(&*self.text, "" | "~" | "null")
    }
}

/// One key of a map with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Box<str>,
    pub(crate) key_span: Span,
    pub(crate) value: Value,
}

impl Value {
    /// What it is, in words.
    pub(crate) fn describe(&self) -> String {
        match &self.data {
            Data::Scalar(scalar) if scalar.is_null() => "empty".to_owned(),
            Data::Scalar(scalar) => format!("the text {}", crate::diagnostic::quoted(&scalar.text)),
            Data::Sequence(_) => "a list".to_owned(),
            Data::Mapping(_) => "a map".to_owned(),
        }
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Data::Mapping(entries) = &self.data else { return None };
        entries.iter().find(|e| &*e.key == key).map(|e| &e.value)
    }

    /// As [`Self::get`].
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Data::Mapping(entries) = &mut self.data else { return None };
        entries.iter_mut().find(|e| &*e.key == key).map(|e| &mut e.value)
    }

    /// Whether nothing was given.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.data, Data::Scalar(scalar) if scalar.is_null())
    }

    /// Number of values in it, itself included, but no further than `most`.
    pub(crate) fn count(&self, most: usize) -> usize {
        let mut count = 1;
        let add = |count: usize, value: &Self| {
            if count > most { count } else { count + value.count(most - count) }
        };
        match &self.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => count = items.iter().fold(count, add),
            Data::Mapping(entries) => count = entries.iter().fold(count, |count, e| add(count + 1, &e.value)),
        }
        count
    }

    /// Levels of lists and maps in it.
    pub(crate) fn depth(&self) -> usize {
        match &self.data {
            Data::Scalar(_) => 0,
            Data::Sequence(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Data::Mapping(entries) => 1 + entries.iter().map(|e| e.value.depth()).max().unwrap_or(0),
        }
    }
}
