//! Values of a column, one behind the other: a million of them are one piece of memory, as Arrow has them.

/// Which rows have a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Known {
    rows: usize,
    /// By row; empty while all have one.
    flags: Vec<bool>,
}

impl Known {
    /// How many rows there are, those without a value included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether a row has a value.
    #[must_use]
    pub fn has(&self, row: usize) -> bool {
        row < self.rows && self.flags.get(row).is_none_or(|known| *known)
    }

    /// By row; `None` where all have a value.
    #[must_use]
    pub fn flags(self) -> Option<Vec<bool>> {
        (!self.flags.is_empty()).then_some(self.flags)
    }

    /// A row beyond those that are known has none; those before it have one.
    fn skip(&mut self, row: usize) {
        self.flags.resize(row, true);
        self.flags.push(false);
    }

    /// There are so many rows; those that were not skipped have one.
    fn end(&mut self, rows: usize) {
        if !self.flags.is_empty() {
            self.flags.resize(rows, true);
        }
        self.rows = rows;
    }

    /// Adds a row.
    #[inline]
    pub(super) fn push(&mut self, known: bool) {
        if !known {
            self.skip(self.rows);
        }
        self.end(self.rows + 1);
    }

    pub(super) fn append(&mut self, more: &Self) {
        if !self.flags.is_empty() || !more.flags.is_empty() {
            self.flags.resize(self.rows, true);
            self.flags.extend_from_slice(&more.flags);
            self.flags.resize(self.rows + more.rows, true);
        }
        self.rows += more.rows;
    }
}

/// Numbers, or answers, that may be missing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values<T> {
    /// What is missing stands as the default.
    values: Vec<T>,
    known: Known,
}

impl<T: Copy + Default> Values<T> {
    /// How many there are, those that are missing included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A value by its row; `None` where it is missing, or there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<T> {
        self.values.get(row).copied().filter(|_| self.known.has(row))
    }

    /// The values, the default where one is missing, and which are not.
    #[must_use]
    pub fn into_parts(self) -> (Vec<T>, Known) {
        (self.values, self.known)
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.values.reserve_exact(rows);
    }

    /// Changes every value, those that stand for missing ones included.
    pub(super) fn change(&mut self, to: impl Fn(T) -> T) {
        self.values.iter_mut().for_each(|value| *value = to(*value));
    }

    /// Adds all values of another column.
    pub fn append(&mut self, more: &Self) {
        self.values.extend_from_slice(&more.values);
        self.known.append(&more.known);
    }
}

impl<T: Copy + Default> Extend<Option<T>> for Values<T> {
    fn extend<I: IntoIterator<Item = Option<T>>>(&mut self, values: I) {
        let (known, mut row) = (&mut self.known, self.values.len());
        self.values.extend(values.into_iter().map(|value| {
            if value.is_none() {
                known.skip(row);
            }
            row += 1;
            value.unwrap_or_default()
        }));
        known.end(self.values.len());
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Values<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Self {
        let mut all = Self::default();
        all.extend(values);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_known() {
        let mut values: Values<u64> = [Some(1), Some(0)].into_iter().collect();
        assert_eq!((values.len(), values.get(1), values.get(2)), (2, Some(0), None));
        assert_eq!(values.clone().into_parts().1.flags(), None);
        values.append(&[None, Some(3)].into_iter().collect());
        values.append(&[Some(4)].into_iter().collect());
        let all: Vec<_> = (0..5).map(|row| values.get(row)).collect();
        assert_eq!(all, [Some(1), Some(0), None, Some(3), Some(4)]);
        let (numbers, known) = values.into_parts();
        assert_eq!((numbers, known.len(), known.is_empty()), (vec![1, 0, 0, 3, 4], 5, false));
        assert_eq!(known.flags(), Some(vec![true, true, false, true, true]));
        let first: Values<bool> = [None, Some(true)].into_iter().collect();
        assert_eq!((first.get(0), first.get(1), first.is_empty()), (None, Some(true), false));
    }
}
