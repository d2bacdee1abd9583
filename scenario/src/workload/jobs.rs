//! Jobs: the items of the workload that are many tasks.

use std::ops::Range;

use weir_sim_core::TaskId;

use super::group::Groups;
use crate::unroll::WrittenGroup;
use crate::yaml::{Data, Value};

/// An item of the workload beside others that became many tasks: a group, a pattern, a trace. What a model plans is an
/// operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its id; of a group without one its place, `workload[2]`.
    pub id: Box<str>,
    /// The key that it stands under: `sequence`, `parallel`, `pattern`, `trace`.
    pub kind: Box<str>,
    /// Its tasks.
    pub tasks: Range<u32>,
}

/// The jobs of a workload while its items are expanded, in the order of the file.
pub(super) struct Jobs<'g> {
    groups: std::iter::Peekable<std::slice::Iter<'g, WrittenGroup>>,
    /// Where the group begins that is being expanded.
    begin: u32,
    jobs: Vec<Job>,
    /// Items of the file so far.
    items: usize,
}

impl<'g> Jobs<'g> {
    pub(super) fn new(groups: &'g [WrittenGroup]) -> Self {
        Self { groups: groups.iter().peekable(), begin: 0, jobs: Vec::new(), items: 0 }
    }

    /// Takes up the item at an index, which became these tasks.
    pub(super) fn add(&mut self, index: usize, item: &Value, tasks: Range<u32>, names: &Groups) {
        // A group may be written out to nothing.
        while self.groups.next_if(|group| group.items.end <= index).is_some() {
            self.items += 1;
        }
        let Some(group) = self.groups.peek().filter(|group| group.items.contains(&index)) else {
            self.items += 1;
            self.push(plain(item, &tasks, names), tasks);
            return;
        };
        if index == group.items.start {
            self.begin = tasks.start;
        }
        if index + 1 == group.items.end {
            let (id, kind) = (group.id.clone(), group.kind.into());
            self.push(Some((id, kind)), self.begin..tasks.end);
        }
    }

    fn push(&mut self, named: Option<(Box<str>, Box<str>)>, tasks: Range<u32>) {
        if let Some((id, kind)) = named.filter(|_| tasks.len() > 1) {
            self.jobs.push(Job { id, kind, tasks });
        }
    }

    /// The jobs; none of a workload of one item.
    pub(super) fn finish(self) -> Vec<Job> {
        let items = self.items + self.groups.count();
        if items > 1 { self.jobs } else { Vec::new() }
    }
}

/// Id and kind of a pattern or a trace.
fn plain(item: &Value, tasks: &Range<u32>, names: &Groups) -> Option<(Box<str>, Box<str>)> {
    let Data::Mapping(entries) = &item.data else { return None };
    let kind = &entries.first()?.key;
    let is_job = matches!(&**kind, "pattern" | "trace") && !tasks.is_empty();
    let group = names.of(TaskId(tasks.start)).filter(|_| is_job)?;
    Some((group.id.clone(), kind.clone()))
}
