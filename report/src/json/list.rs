//! Lists of results: a run makes its rows one at a time while they are written, a saved result has them at hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::write::bytes;

/// What makes the rows of a list.
pub(crate) trait RowMaker {
    type ResultRow;

    fn rows(&self) -> impl Iterator<Item = Self::ResultRow>;
}

/// The rows of a list.
pub(crate) enum List<R: RowMaker> {
    Made(R),
    AtHand(Vec<R::ResultRow>),
}

impl<R: RowMaker> List<R> {
    /// Makes the rows that are not at hand.
    pub(crate) fn make(&mut self) {
        if let Self::Made(rows) = self {
            let all = rows.rows().collect();
            *self = Self::AtHand(all);
        }
    }

    /// The rows that are at hand.
    pub(crate) fn at_hand(&self) -> &[R::ResultRow] {
        match self {
            Self::Made(_) => &[],
            Self::AtHand(rows) => rows,
        }
    }
}

impl<R: RowMaker<ResultRow: Serialize>> List<R> {
    /// Keeps the first rows that are within so many bytes; says how many of how many, where that is not all.
    pub(crate) fn cut(&mut self, most: usize) -> Option<(usize, usize)> {
        self.make();
        let Self::AtHand(rows) = self else { return None };
        let mut rest = most;
        let mut fits = |row: &R::ResultRow| bytes(row, rest).map(|bytes| rest -= bytes).is_some();
        let (all, few) = (rows.len(), rows.iter().take_while(|row| fits(row)).count());
        rows.truncate(few);
        (few < all).then_some((few, all))
    }
}

impl<R: RowMaker<ResultRow: Serialize>> Serialize for List<R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Made(rows) => to.collect_seq(rows.rows()),
            Self::AtHand(rows) => to.collect_seq(rows),
        }
    }
}

impl<'de, R: RowMaker<ResultRow: Deserialize<'de>>> Deserialize<'de> for List<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self::AtHand)
    }
}

impl<R: RowMaker<ResultRow: JsonSchema>> JsonSchema for List<R> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<R::ResultRow>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers;

    impl RowMaker for Numbers {
        type ResultRow = u64;

        fn rows(&self) -> impl Iterator<Item = u64> {
            [10, 11, 12].into_iter()
        }
    }

    /// Rows of 2 bytes each.
    #[test]
    fn rows_are_kept_as_long_as_there_is_room() {
        let cut = |most| List::Made(Numbers).cut(most);
        assert_eq!([6, 5, 4, 1].map(cut), [None, Some((2, 3)), Some((2, 3)), Some((0, 3))]);
    }
}
