//! Whether two results are of one load.

use super::rows::Subject;

/// How many rows of a column are like those of the first.
#[derive(Clone, Default)]
pub(super) struct Likeness {
    own: Vec<Subject>,
    other: Vec<Subject>,
    both: usize,
    alike: usize,
}

impl Likeness {
    pub(super) fn add(&mut self, own: Option<Subject>, other: Option<Subject>) {
        self.own.extend(own);
        self.other.extend(other);
        if let Some((own, other)) = own.zip(other) {
            self.both += 1;
            self.alike += usize::from(own.is_like(other));
        }
    }

    /// Both have rows. None has the id of another or most of those are unlike, and most of the fewer are not the same as any
    /// under another id.
    pub(super) fn differ(mut self) -> bool {
        let fewer = self.own.len().min(self.other.len());
        fewer > 0 && (self.both == 0 || 2 * self.alike < self.both) && 2 * self.same() < fewer
    }

    /// Rows with equal ends and sizes, whatever their ids.
    fn same(&mut self) -> usize {
        self.own.sort_unstable();
        self.other.sort_unstable();
        let (mut own, mut other, mut same) = (&self.own[..], &self.other[..], 0);
        while let (Some(a), Some(b)) = (own.first(), other.first()) {
            same += usize::from(a == b);
            (own, other) = (&own[usize::from(a <= b)..], &other[usize::from(b <= a)..]);
        }
        same
    }
}
