//! Texts that many rows have in common, each once, as Arrow's dictionaries have them.

use rustc_hash::FxHashMap;

use super::{Known, Texts, Values};

/// Texts that may be missing: for each row the place of its text in a list where each stands once.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// In the order in which rows have them first.
    texts: Texts,
    places: Values<i32>,
    /// While rows are added by numbers: by number the place of its text, −1 where it has none yet.
    of_numbers: Vec<i32>,
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        (&self.texts, &self.places) == (&other.texts, &other.places)
    }
}

impl Dictionary {
    /// How many rows there are, those without a text included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A text by its row; `None` where it is missing, or there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        self.texts.get(self.places.get(row)? as usize)
    }

    /// The texts, each once; by row the place of its text, and which rows have one.
    #[must_use]
    pub fn into_parts(self) -> (Texts, Vec<i32>, Known) {
        let (places, known) = self.places.into_parts();
        (self.texts, places, known)
    }

    /// Makes room for so many more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.places.reserve(rows);
    }

    /// Adds rows by the numbers of what they name, from 0 without large gaps.
    pub(super) fn extend<S: AsRef<str>>(
        &mut self,
        numbers: impl Iterator<Item = Option<usize>>,
        name: impl Fn(usize) -> S,
    ) {
        let (texts, of_numbers) = (&mut self.texts, &mut self.of_numbers);
        self.places.extend(numbers.map(|number| {
            let number = number?;
            if number >= of_numbers.len() {
                of_numbers.resize(number + 1, -1);
            }
            let place = &mut of_numbers[number];
            if *place < 0 {
                *place = texts.len() as i32;
                texts.push(Some(name(number).as_ref()));
            }
            Some(*place)
        }));
    }

    /// Adds all rows of another column.
    pub fn append(&mut self, more: &Self) {
        let new = joined(&mut self.texts, &more.texts);
        self.places.extend((0..more.len()).map(|row| Some(new[more.places.get(row)? as usize])));
    }

    /// Gives columns that are parts of one the same list of texts.
    pub(super) fn share_texts<'a>(parts: impl IntoIterator<Item = &'a mut Self>) {
        let mut parts: Vec<_> = parts.into_iter().collect();
        let mut all = Texts::default();
        for part in &mut parts {
            let new = joined(&mut all, &part.texts);
            if new.iter().enumerate().any(|(old, &new)| new as usize != old) {
                part.places.change(|old| new.get(old as usize).copied().unwrap_or_default());
            }
        }
        parts.into_iter().for_each(|part| part.texts = all.clone());
    }
}

/// Where a list has these texts; those that it lacks are added.
fn joined(all: &mut Texts, texts: &Texts) -> Vec<i32> {
    let place = |(place, text): (usize, &str)| (text.to_owned(), place as i32);
    let known: FxHashMap<String, i32> = all.iter().flatten().enumerate().map(place).collect();
    let place = |text: &str| {
        known.get(text).copied().unwrap_or_else(|| {
            all.push(Some(text));
            all.len() as i32 - 1
        })
    };
    texts.iter().flatten().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(numbers: &[Option<usize>]) -> Dictionary {
        let mut column = Dictionary::default();
        for numbers in numbers.chunks(2) {
            column.extend(numbers.iter().copied(), |number| format!("n{number}"));
        }
        column
    }

    fn rows(column: &Dictionary) -> Vec<Option<&str>> {
        (0..column.len()).map(|row| column.get(row)).collect()
    }

    #[test]
    fn each_text_stands_once() {
        let found = column(&[Some(7), None, Some(0), Some(7)]);
        assert_eq!(rows(&found), [Some("n7"), None, Some("n0"), Some("n7")]);
        assert_eq!((found.len(), found.get(4), found.is_empty()), (4, None, false));
        let (texts, places, known) = found.into_parts();
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("n7"), Some("n0")]);
        assert_eq!((places, known.flags()), (vec![0, 0, 1, 0], Some(vec![true, false, true, true])));
        assert!(Dictionary::default().is_empty());
    }

    #[test]
    fn parts_share_their_texts_and_can_be_joined() {
        let (mut first, mut second) = (column(&[Some(1), Some(2)]), column(&[None, Some(3), Some(2), Some(1)]));
        let all = [Some("n1"), Some("n2"), None, Some("n3"), Some("n2"), Some("n1")];
        let mut joined = first.clone();
        joined.append(&second);
        assert_eq!(rows(&joined), all);
        assert_eq!(joined, column(&[Some(1), Some(2), None, Some(3), Some(2), Some(1)]));
        Dictionary::share_texts([&mut first, &mut second]);
        assert_eq!([rows(&first), rows(&second)].concat(), all);
        assert_eq!(first.texts, second.texts);
        assert_eq!(second.texts, joined.texts);
    }
}
