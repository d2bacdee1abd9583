//! A column of a table that grows, held on both sides of a pipe: only what is new travels.

use serde::{Deserialize, Serialize};

/// What a column has become: so many of the items that the other side has, then these.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Growth<T> {
    kept: u64,
    new: Vec<T>,
}

/// A column as the other side has it.
#[derive(Clone, Debug)]
pub(crate) struct Mirror<T>(Vec<T>);

impl<T> Default for Mirror<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + PartialEq> Mirror<T> {
    /// What the other side lacks of a column. One that has changed otherwise than by growing is sent whole.
    pub(crate) fn growth_to(&mut self, column: impl ExactSizeIterator<Item = T> + Clone) -> Growth<T> {
        let has = self.0.len();
        let is_prefix = column.len() >= has && self.0.iter().copied().eq(column.clone().take(has));
        let kept = if is_prefix { has } else { 0 };
        self.0.truncate(kept);
        self.0.extend(column.skip(kept));
        Growth { kept: kept as u64, new: self.0[kept..].to_vec() }
    }
}

/// How much of a column the other side has, where a column only grows.
#[derive(Clone, Debug)]
pub(crate) struct Sent<T> {
    count: usize,
    /// The last item, by which another column is noticed.
    last: Option<T>,
}

impl<T> Default for Sent<T> {
    fn default() -> Self {
        Self { count: 0, last: None }
    }
}

impl<T: Copy + PartialEq> Sent<T> {
    /// What the other side lacks of a column.
    pub(crate) fn growth_to<U>(&mut self, column: &[U], as_sent: impl Fn(&U) -> T) -> Growth<T> {
        let goes_on = self.count.checked_sub(1).is_some_and(|at| column.get(at).map(&as_sent) == self.last);
        let kept = if goes_on { self.count } else { 0 };
        let new: Vec<T> = column[kept..].iter().map(as_sent).collect();
        self.count = column.len();
        self.last = new.last().copied().or(self.last.filter(|_| goes_on));
        Growth { kept: kept as u64, new }
    }
}

/// Does to a column what the other side says; false where it says what cannot be.
pub(crate) fn grow<T, U>(column: &mut Vec<U>, growth: Growth<T>, as_item: impl Fn(T) -> Option<U>) -> Option<()> {
    let kept = usize::try_from(growth.kept).ok().filter(|&kept| kept <= column.len())?;
    column.truncate(kept);
    column.reserve(growth.new.len());
    for item in growth.new {
        column.push(as_item(item)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{Growth, Mirror, Sent, grow};

    #[test]
    fn only_what_is_new_travels_and_what_changed_travels_whole() {
        let (mut mirror, mut column) = (Mirror::default(), Vec::new());
        for (now, travels) in
            [(vec![1, 2], 2), (vec![1, 2, 3], 1), (vec![1, 2, 3], 0), (vec![1, 9, 3, 4], 4), (vec![1], 1)]
        {
            let growth = mirror.growth_to(now.iter().copied());
            assert_eq!(growth.new.len(), travels, "{now:?}");
            grow(&mut column, growth, Some).expect("right");
            assert_eq!(column, now);
        }
        let (mut sent, mut column) = (Sent::default(), Vec::new());
        let cases =
            [(vec![], 0), (vec![1, 2], 2), (vec![1, 2, 3], 1), (vec![1, 2, 3], 0), (vec![1, 2], 2), (vec![4, 5, 6], 3)];
        for (now, travels) in cases {
            let growth: Growth<u8> = sent.growth_to(&now, |&item| item);
            assert_eq!(growth.new.len(), travels, "{now:?}");
            grow(&mut column, growth, Some).expect("right");
            assert_eq!(column, now);
        }
        assert!(grow(&mut column, Growth { kept: 4, new: vec![7] }, Some).is_none(), "there are three items");
    }
}
