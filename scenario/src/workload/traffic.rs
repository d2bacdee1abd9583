//! Which transfers go from rank to rank: what a placement of the ranks can bring closer together.

use weir_sim_core::{TaskGraph, TaskId, Work};

use super::group::{Groups, Names};
use super::messages::Pair;
use crate::source::Span;

/// Transfers that one item of the workload makes between two of the scenario's ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: u64,
    pub(crate) count: u64,
}

/// The transfers between ranks, in file order. Those of patterns are not kept twice.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    parts: Vec<RankMessages>,
    unit: Option<u64>,
    fixed: Option<Span>,
    /// Whether something runs on a rank, or goes from or to one.
    pub(crate) uses_ranks: bool,
}

#[derive(Debug)]
enum RankMessages {
    /// First task and number of tasks of a pattern over the scenario's ranks.
    Pattern(TaskId, u32),
    Transfer(Made),
}

impl Traffic {
    /// A pattern over the scenario's ranks, with its `size` or `unit`.
    pub(super) fn pattern(&mut self, first: TaskId, count: u32, unit: u64) {
        self.parts.push(RankMessages::Pattern(first, count));
        self.smallest(unit);
    }

    /// Messages of a pattern over the scenario's ranks that are no tasks of their own, with its `size` or `unit`.
    pub(super) fn messages_of(&mut self, messages: impl IntoIterator<Item = Made>, unit: u64) {
        self.parts.extend(messages.into_iter().map(RankMessages::Transfer));
        self.smallest(unit);
    }

    pub(super) fn transfer(&mut self, made: Made) {
        self.parts.push(RankMessages::Transfer(made));
        self.smallest(made.bytes);
    }

    /// Something at a place sends between devices that are named, wherever the ranks are.
    pub(super) fn fixed(&mut self, span: Span) {
        self.fixed.get_or_insert(span);
    }

    fn smallest(&mut self, unit: u64) {
        self.unit = Some(self.unit.map_or(unit, |smallest| smallest.min(unit)));
    }

    /// The smallest `size` or `unit`.
    pub(crate) fn unit(&self) -> Option<u64> {
        self.unit
    }

    /// The first place where something is sent between devices that are named.
    pub(crate) fn first_fixed(&self) -> Option<Span> {
        self.fixed
    }

    /// All messages: from rank, to rank, bytes.
    pub(crate) fn messages(&self, groups: &Groups, tasks: &TaskGraph) -> Vec<(u32, u32, u64)> {
        let mut all = Vec::new();
        for part in &self.parts {
            match *part {
                RankMessages::Transfer(Made { from, to, bytes, count }) => {
                    all.extend((0..count).map(|_| (from, to, bytes)));
                }
                RankMessages::Pattern(first, count) => {
                    let Some(Names::Pattern(pairs)) = groups.of(first).map(|group| &group.names) else {
                        continue;
                    };
                    let tasks = &tasks.tasks()[first.index()..first.index() + count as usize];
                    all.extend(pairs.all().iter().zip(tasks).filter_map(
                        |(&Pair { from, to, .. }, task)| match task.work {
                            Work::Carries { bytes, .. } => Some((from, to, bytes)),
                            _ => None,
                        },
                    ));
                }
            }
        }
        all
    }
}
