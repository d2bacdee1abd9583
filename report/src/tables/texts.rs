//! Texts of a column, one behind the other: a million of them are three pieces of memory, as Arrow has them.

use std::fmt::{Display, Write as _};

/// Texts that may be missing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Texts {
    data: String,
    /// Where each ends in `data`; one that is missing is empty.
    ends: Vec<usize>,
    known: Vec<bool>,
}

impl Texts {
    /// How many there are, those that are missing included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A text by its row; `None` where it is missing, or there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let begin = if row == 0 { 0 } else { *self.ends.get(row - 1)? };
        self.known.get(row).filter(|known| **known).map(|_| &self.data[begin..self.ends[row]])
    }

    /// All of them, by row.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The bytes of all texts one behind the other, where each ends there, and which are not missing.
    #[must_use]
    pub fn into_parts(self) -> (String, Vec<usize>, Vec<bool>) {
        (self.data, self.ends, self.known)
    }

    /// Adds a text.
    pub fn push(&mut self, text: Option<&str>) {
        self.data.push_str(text.unwrap_or_default());
        self.ends.push(self.data.len());
        self.known.push(text.is_some());
    }

    /// Adds a text as it is displayed.
    pub(crate) fn write(&mut self, text: Option<impl Display>) {
        let known = text.is_some();
        // Writing to a string does not fail.
        let _ = text.map(|text| write!(self.data, "{text}"));
        self.ends.push(self.data.len());
        self.known.push(known);
    }

    /// Adds all texts of another column.
    pub fn append(&mut self, more: &Self) {
        let before = self.data.len();
        self.data.push_str(&more.data);
        self.ends.extend(more.ends.iter().map(|end| before + end));
        self.known.extend_from_slice(&more.known);
    }
}

impl<S: AsRef<str>> FromIterator<Option<S>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<S>>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref().map(AsRef::as_ref)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_text_is_not_an_empty_one() {
        let mut texts: Texts = [Some("a"), None, Some(""), Some("é")].into_iter().collect();
        let more: Texts = [None, Some("b".to_owned())].into_iter().collect();
        texts.append(&more);
        texts.write(Some(format_args!("{}-{}", 7, 8)));
        texts.write(None::<&str>);
        let all = [Some("a"), None, Some(""), Some("é"), None, Some("b"), Some("7-8"), None];
        assert_eq!(texts.iter().collect::<Vec<_>>(), all);
        assert_eq!((texts.len(), texts.get(8), texts.is_empty()), (8, None, false));
        let parts = (
            "aéb7-8".to_owned(),
            vec![1, 1, 1, 3, 3, 4, 7, 7],
            vec![true, false, true, true, false, true, true, false],
        );
        assert_eq!(texts.into_parts(), parts);
        assert!(Texts::default().is_empty() && Texts::default().get(0).is_none());
    }
}
