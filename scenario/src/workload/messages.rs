//! The messages of patterns and their names, and those of the tasks that a model planned for each.

use std::fmt::Write;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::model::check::TaskNames;

/// Between whom a message of a pattern goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Pair {
    /// Rank of its source.
    pub(crate) from: u32,
    /// Rank of its destination.
    pub(crate) to: u32,
    /// Which one it is between these two, from 1.
    pub(crate) occurrence: u32,
}

/// The messages of a pattern, by the ranks between which each goes.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    all: Vec<Pair>,
    /// By message its number, made when a name is first looked up.
    index: OnceLock<FxHashMap<Pair, u32>>,
}

impl Pairs {
    /// Messages between ranks, each with its occurrence.
    pub(super) fn new(all: Vec<Pair>) -> Self {
        Self { all, index: OnceLock::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn all(&self) -> &[Pair] {
        &self.all
    }

    /// Writes the name of message `i` of the pattern `id`.
    pub(crate) fn write_name(&self, id: &str, i: u32, to: &mut impl Write) -> std::fmt::Result {
        self.all[i as usize].write_name(id, to)
    }

    /// The message between two ranks that is the `number`-th of its pair.
    pub(crate) fn find(&self, from: u32, to: u32, number: u32) -> Option<u32> {
        let number_of = |(i, pair): (usize, &Pair)| (*pair, i as u32);
        let index = self.index.get_or_init(|| self.all.iter().enumerate().map(number_of).collect());
        index.get(&Pair { from, to, occurrence: number }).copied()
    }
}

impl Pair {
    /// `h.0-1`, and `h.0-1#2` of the second message between the same ranks.
    pub(super) fn name(&self, id: &str) -> String {
        let mut name = String::new();
        // Writing to a string does not fail.
        let _ = self.write_name(id, &mut name);
        name
    }

    /// Writes [`Self::name`]. Tables of large runs have millions of them, so numbers are written without the formatter of the
    /// standard library.
    fn write_name(&self, id: &str, into: &mut impl Write) -> std::fmt::Result {
        let mut number = itoa::Buffer::new();
        into.write_str(id)?;
        into.write_char('.')?;
        into.write_str(number.format(self.from))?;
        into.write_char('-')?;
        into.write_str(number.format(self.to))?;
        if self.occurrence > 1 {
            into.write_char('#')?;
            into.write_str(number.format(self.occurrence))?;
        }
        Ok(())
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
