//! Jobs: the items of the workload that are many tasks.

use std::ops::Range;

use weir_sim_core::TaskId;

use super::group::Groups;
use crate::unroll::WrittenGroup;
use crate::yaml::{Data, Value};

/// An item of the workload beside others that became several transfers or operations: a group, a pattern, a trace. What a model
/// plans is an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its id; of a group without one its place, `workload[2]`.
    pub id: Box<str>,
    /// The key that it stands under: `sequence`, `parallel`, `pattern`, `trace`, or that of one operation that is repeated.
    pub kind: Box<str>,
    /// Its tasks.
    pub tasks: Range<u32>,
}

/// The jobs of a workload while its items are expanded, in the order of the file.
pub(super) struct Jobs<'g> {
    groups: std::iter::Peekable<std::slice::Iter<'g, WrittenGroup>>,
    /// Where the group begins that is being expanded.
    begin: u32,
    /// Items of it that are more than a barrier; a pattern or a trace counts as two.
    inside: usize,
    jobs: Vec<Job>,
    /// Items of the file so far.
    items: usize,
}

impl<'g> Jobs<'g> {
    pub(super) fn new(groups: &'g [WrittenGroup]) -> Self {
        Self { groups: groups.iter().peekable(), begin: 0, inside: 0, jobs: Vec::new(), items: 0 }
    }

    /// Takes up the item at an index, which became these tasks.
    pub(super) fn add(&mut self, index: usize, item: &Value, tasks: Range<u32>, names: &Groups) {
        // A group may be written out to nothing.
        while let Some(group) = self.groups.next_if(|group| group.items.end <= index) {
            self.items += usize::from(!group.items.is_empty());
        }
        let Some(group) = self.groups.peek().filter(|group| group.items.contains(&index)) else {
            self.items += 1;
            self.jobs.extend(plain(item, &tasks, names).map(|(id, kind)| Job { id, kind, tasks }));
            return;
        };
        if index == group.items.start {
            (self.begin, self.inside) = (tasks.start, 0);
        }
        self.inside += match kind(item) {
            Some("barrier") => 0,
            Some("pattern" | "trace") => tasks.len().min(2),
            _ => 1,
        };
        if index + 1 == group.items.end && self.inside > 1 {
            let (id, kind) = (group.id.clone(), group.kind.clone());
            self.jobs.push(Job { id, kind, tasks: self.begin..tasks.end });
        }
    }

    /// The jobs; none of a workload of one item.
    pub(super) fn finish(self) -> Vec<Job> {
        let items = self.items + self.groups.filter(|group| !group.items.is_empty()).count();
        if items > 1 { self.jobs } else { Vec::new() }
    }
}

/// Id and kind of a pattern or a trace of several transfers.
fn plain(item: &Value, tasks: &Range<u32>, names: &Groups) -> Option<(Box<str>, Box<str>)> {
    let kind = kind(item).filter(|kind| matches!(*kind, "pattern" | "trace") && tasks.len() > 1)?;
    Some((names.of(TaskId(tasks.start))?.id.clone(), kind.into()))
}

/// The key that an item stands under.
fn kind(item: &Value) -> Option<&str> {
    let Data::Mapping(entries) = &item.data else { return None };
    Some(&entries.first()?.key)
}
