//! Names of the messages of patterns, and of the tasks that a model planned for each.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::model::check::TaskNames;

/// The messages of a pattern, by the ranks between which each goes.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// Source and destination rank of each message.
    ranks: Vec<(u32, u32)>,
    /// Occurrence of each pair, from 1; empty when no pair occurs twice.
    occurrence: Vec<u32>,
    /// Message by ranks and occurrence, made when a name is first looked up.
    index: OnceLock<FxHashMap<(u32, u32, u32), u32>>,
}

impl Pairs {
    /// Messages between ranks, each with its occurrence.
    pub(super) fn new(ranks: Vec<(u32, u32)>, mut occurrence: Vec<u32>) -> Self {
        if occurrence.iter().all(|&n| n == 1) {
            occurrence = Vec::new();
        }
        Self { ranks, occurrence, index: OnceLock::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(crate) fn ranks(&self) -> &[(u32, u32)] {
        &self.ranks
    }

    /// The name of message `i` of the pattern `id`.
    pub(crate) fn name(&self, id: &str, i: u32) -> String {
        let at = i as usize;
        let (from, to) = self.ranks[at];
        name(id, from, to, self.occurrence.get(at).copied().unwrap_or(1))
    }

    /// The message between two ranks that is the `number`-th of its pair.
    pub(crate) fn find(&self, from: u32, to: u32, number: u32) -> Option<u32> {
        let index = self.index.get_or_init(|| {
            let number = |i: usize| self.occurrence.get(i).copied().unwrap_or(1);
            self.ranks.iter().enumerate().map(|(i, &(from, to))| ((from, to, number(i)), i as u32)).collect()
        });
        index.get(&(from, to, number)).copied()
    }
}

/// `h.0-1`, and `h.0-1#2` of the second message between the same ranks.
pub(super) fn name(id: &str, from: u32, to: u32, occurrence: u32) -> String {
    match occurrence {
        1 => format!("{id}.{from}-{to}"),
        n => format!("{id}.{from}-{to}#{n}"),
    }
}

/// What a model planned for each message of a pattern: a release and tasks, one message after the other.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// Per message the place of its release in the group, and the number of the list with the names of its tasks.
    starts: Vec<(u32, u32)>,
    /// Lists of names; messages that follow each other and are planned alike share one.
    names: Vec<TaskNames>,
}

impl Plans {
    /// Adds the plan of the next message, whose release stands at a place of the group.
    pub(super) fn push(&mut self, start: u32, names: TaskNames) {
        if self.names.last().is_none_or(|last| !last.same(&names)) {
            self.names.push(names);
        }
        self.starts.push((start, self.names.len() as u32 - 1));
    }

    /// Place of the release of a message, and the names of its tasks.
    pub(crate) fn of(&self, message: u32) -> (u32, &TaskNames) {
        let (start, names) = self.starts[message as usize];
        (start, &self.names[names as usize])
    }

    /// The message that a task of the group is part of.
    pub(crate) fn message(&self, task: u32) -> u32 {
        // The first message begins where the group does.
        self.starts.partition_point(|&(start, _)| start <= task) as u32 - 1
    }
}
