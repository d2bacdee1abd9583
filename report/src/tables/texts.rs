//! Texts of a column, one behind the other: a million of them are three pieces of memory, as Arrow has them.

use super::Known;

/// Texts that may be missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Texts {
    data: String,
    /// Where each begins in `data`, and the end of the last; one that is missing is empty.
    offsets: Vec<i64>,
    known: Known,
}

impl Default for Texts {
    fn default() -> Self {
        Self { data: String::new(), offsets: vec![0], known: Known::default() }
    }
}

impl Texts {
    /// How many there are, those that are missing included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// A text by its row; `None` where it is missing, or there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        self.known.has(row).then(|| &self.data[self.offsets[row] as usize..self.offsets[row + 1] as usize])
    }

    /// All of them, by row.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The bytes of all texts one behind the other, where each begins there and the last ends, and which are not missing.
    #[must_use]
    pub fn into_parts(self) -> (String, Vec<i64>, Known) {
        (self.data, self.offsets, self.known)
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.offsets.reserve_exact(rows);
    }

    /// Adds a text.
    pub fn push(&mut self, text: Option<&str>) {
        self.data.push_str(text.unwrap_or_default());
        self.end(text.is_some());
    }

    /// Adds what is written, or that a text is missing.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut String) -> Option<std::fmt::Result>) {
        // Writing to a string does not fail.
        let known = write(&mut self.data).is_some();
        self.end(known);
    }

    fn end(&mut self, known: bool) {
        self.offsets.push(self.data.len() as i64);
        self.known.push(known);
    }

    /// Adds all texts of another column.
    pub fn append(&mut self, more: &Self) {
        let before = self.data.len() as i64;
        self.data.push_str(&more.data);
        self.offsets.extend(more.offsets[1..].iter().map(|end| before + end));
        self.known.append(&more.known);
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
    use std::fmt::Write;

    use super::*;

    #[test]
    fn a_missing_text_is_not_an_empty_one() {
        let mut texts: Texts = [Some("a"), None, Some(""), Some("é")].into_iter().collect();
        let more: Texts = [None, Some("b".to_owned())].into_iter().collect();
        texts.append(&more);
        texts.write(|text| Some(write!(text, "{}-{}", 7, 8)));
        texts.write(|_| None);
        let all = [Some("a"), None, Some(""), Some("é"), None, Some("b"), Some("7-8"), None];
        assert_eq!(texts.iter().collect::<Vec<_>>(), all);
        assert_eq!((texts.len(), texts.get(8), texts.is_empty()), (8, None, false));
        let (data, offsets, known) = texts.into_parts();
        assert_eq!((&*data, offsets), ("aéb7-8", vec![0, 1, 1, 1, 3, 3, 4, 7, 7]));
        assert_eq!(known.flags(), Some(vec![true, false, true, true, false, true, true, false]));
        assert!(Texts::default().is_empty() && Texts::default().get(0).is_none());
    }
}
