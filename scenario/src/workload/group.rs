//! Names and places of tasks. Tasks that were made from one operation share one entry; names are written when they are
//! asked for, so that a million of them cost nothing until then.

use std::borrow::Cow;
use std::fmt::Write;
use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap};
use weir_sim_core::TaskId;

use super::messages::{Pairs, Plans};
use super::model::check::TaskNames;
use super::trace::names::TraceNames;
use crate::source::Span;

/// What a task is to the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskKind {
    /// It carries bytes.
    Transfer,
    /// It takes a fixed time on its device's compute engine.
    Compute,
    /// A join that the user wrote.
    Barrier,
    /// A task that a model planned.
    Planned,
    /// A join that `after` made of many tasks, or the release of an operation of a model; no part of results.
    Join,
}

/// The tasks of one operation: consecutive ids.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// What they are, but for releases.
    pub(crate) kind: TaskKind,
    /// Where the operation stands.
    pub(crate) span: Span,
    /// The id of the operation.
    pub(crate) id: Box<str>,
    /// How its tasks are named.
    pub(crate) names: Names,
}

/// How the tasks of a group are named.
#[derive(Debug)]
pub(crate) enum Names {
    /// One task, named as the operation.
    Own,
    /// `id#1` … `id#n`.
    Repeat,
    /// `id.<from>-<to>`, with `#2` and so on for further occurrences.
    Pattern(Pairs),
    /// The same of a pattern with a model: these are releases, each before its tasks `id.<from>-<to>/<task>`.
    PlannedPattern(Pairs, Plans),
    /// `id:<row>`, or what the row says.
    Trace(TraceNames),
    /// `id/<task>` after a release, which has the id; repeated: `id#1/<task>` and so on, after releases `id#1` ….
    Planned {
        /// Names of the tasks of one repetition.
        names: TaskNames,
        /// Whether there may be more than one.
        repeated: bool,
    },
}

/// All groups, in order of their first tasks.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: Vec<Group>,
    /// Group by id of the operation.
    index: FxHashMap<Box<str>, u32>,
    /// Task by the hash of the id that its row in a trace gives; on a collision the next free number.
    rows: FxHashMap<u64, u32>,
}

impl Groups {
    /// Adds a group; when its id is taken, returns the place of the other one.
    pub(crate) fn add(&mut self, group: Group) -> Result<(), Span> {
        if let Some(&other) = self.index.get(&group.id) {
            return Err(self.groups[other as usize].span);
        }
        self.index.insert(group.id.clone(), self.groups.len() as u32);
        self.groups.push(group);
        Ok(())
    }

    /// Makes the ids that the rows of the last group give known; of a repeated one, returns both tasks.
    pub(crate) fn index_rows(&mut self) -> Result<(), (TaskId, TaskId)> {
        let Some(Group { first, count, names: Names::Trace(names), .. }) = self.groups.last() else { return Ok(()) };
        for i in 0..*count {
            let Some(name) = names.explicit(i) else { continue };
            match self.row(name) {
                Ok(other) => return Err((TaskId(first + i), other)),
                Err(free) => drop(self.rows.insert(free, first + i)),
            }
        }
        Ok(())
    }

    /// The task of a row with this id, or where in the table it would stand.
    fn row(&self, name: &str) -> Result<TaskId, u64> {
        let mut key = FxBuildHasher.hash_one(name);
        while let Some(&task) = self.rows.get(&key) {
            if self.name(TaskId(task)) == name {
                return Ok(TaskId(task));
            }
            key = key.wrapping_add(1);
        }
        Err(key)
    }

    /// The task of a name that is not the id of an operation.
    pub(crate) fn named(&self, name: &str) -> Option<TaskId> {
        self.row(name).ok().or_else(|| self.generated(name))
    }

    /// The task of a name.
    pub(crate) fn task(&self, name: &str) -> Option<TaskId> {
        match self.by_id(name) {
            Some(Group { first, names: Names::Own, .. }) => Some(TaskId(*first)),
            // `id#2` of an operation of a model is many tasks.
            _ => self.named(name).filter(|_| self.tasks_of(name).is_none()),
        }
    }

    /// Ids that the user gave and that another task has, too: the id, its place, the other task.
    pub(crate) fn clashes(&self) -> Vec<(Box<str>, Span, TaskId)> {
        let mut clashes = Vec::new();
        for group in &self.groups {
            if let Some(task) = self.named(&group.id) {
                clashes.push((group.id.clone(), group.span, task));
            }
            let Names::Trace(names) = &group.names else { continue };
            for i in 0..group.count {
                let Some(name) = names.explicit(i) else { continue };
                let other = self.generated(name).filter(|task| task.0 != group.first + i);
                clashes.extend(other.map(|task| (name.into(), names.place(i), task)));
            }
        }
        clashes
    }

    /// The group of an id.
    pub(crate) fn by_id(&self, id: &str) -> Option<&Group> {
        self.index.get(id).map(|&g| &self.groups[g as usize])
    }

    /// The group of a task; `None` for joins that the expansion made.
    #[inline]
    pub(crate) fn of(&self, task: TaskId) -> Option<&Group> {
        let after = self.groups.partition_point(|g| g.first <= task.0);
        // Groups without tasks share their first id with the next one.
        self.groups[..after].iter().rev().find(|g| g.count > 0).filter(|g| task.0 - g.first < g.count)
    }

    /// The item of the workload that a task came of: each item has made one group.
    pub(crate) fn item(&self, task: TaskId) -> Option<usize> {
        let group = self.of(task)?;
        self.groups.iter().position(|other| std::ptr::eq(group, other))
    }

    /// The name of a task.
    pub(crate) fn name(&self, task: TaskId) -> Cow<'_, str> {
        self.of(task).map_or(Cow::Borrowed("(join)"), |group| group.name(task.0 - group.first))
    }

    /// Writes the name of a task.
    pub(crate) fn write_name(&self, task: TaskId, to: &mut impl Write) -> std::fmt::Result {
        match self.of(task) {
            Some(group) => group.names.write(&group.id, task.0 - group.first, to),
            None => to.write_str("(join)"),
        }
    }

    /// A part of what the name of a task is made of.
    pub(crate) fn read_name(&self, task: TaskId) -> u32 {
        match self.of(task) {
            Some(Group { first, names: Names::Pattern(pairs), .. }) => pairs.all()[(task.0 - first) as usize].from,
            _ => 0,
        }
    }

    /// The task that a generated name means: `id/h0`, `id#3`, `id.0-1`, `id.0-1#2`, `id:7`.
    pub(crate) fn generated(&self, name: &str) -> Option<TaskId> {
        if let Some((operation, task)) = name.rsplit_once('/')
            && let Some((release, names)) = self.planned(operation)
            && let Some(task) = names.task(task)
        {
            return Some(TaskId(release.0 + 1 + task));
        }
        if let Some((base, number)) = name.rsplit_once('#')
            && let Some(number) = canonical(number).filter(|&n| n > 0)
        {
            return match self.by_id(base) {
                Some(group) => group.repeated(number),
                None => self.message(base, number).map(|(group, message)| group.sent(message)),
            };
        }
        if let Some((id, row)) = name.rsplit_once(':')
            && let Some(group) = self.by_id(id)
        {
            let row = canonical(row).filter(|&n| n > 0 && n <= group.count)?;
            let Names::Trace(names) = &group.names else { return None };
            return names.explicit(row - 1).is_none().then_some(TaskId(group.first + row - 1));
        }
        self.message(name, 1).map(|(group, message)| group.sent(message))
    }

    /// Release and tasks of an operation of a model, or of one repetition of it.
    fn planned(&self, name: &str) -> Option<(TaskId, &TaskNames)> {
        if let Some(Group { first, names: Names::Planned { names, repeated: false }, .. }) = self.by_id(name) {
            return Some((TaskId(*first), names));
        }
        let (base, number) = match name.rsplit_once('#') {
            Some((base, number)) => (base, canonical(number)?),
            None => (name, 1),
        };
        let Some(Group { first, count, names: Names::Planned { names, repeated: true }, .. }) = self.by_id(base) else {
            let (group, message) = self.message(base, number)?;
            let Names::PlannedPattern(_, plans) = &group.names else { return None };
            let (start, names) = plans.of(message);
            return Some((TaskId(group.first + start), names));
        };
        let repetition = if base.len() < name.len() { number } else { return None };
        let before = repetition.checked_sub(1)?.checked_mul(names.len() + 1).filter(|before| before < count)?;
        Some((TaskId(first + before), names))
    }

    /// Release and number of tasks of an operation of a model, or of one repetition of it.
    pub(crate) fn operation(&self, name: &str) -> Option<(TaskId, u32)> {
        self.planned(name).map(|(release, names)| (release, names.len()))
    }

    /// What a task is part of where whole operations count: the release of its operation of a model, or itself.
    pub(crate) fn whole(&self, task: TaskId) -> TaskId {
        match self.of(task) {
            Some(Group { first, names: Names::Planned { names, .. }, .. }) => {
                TaskId(first + (task.0 - first) / (names.len() + 1) * (names.len() + 1))
            }
            Some(Group { first, names: Names::PlannedPattern(_, plans), .. }) => {
                TaskId(first + plans.of(plans.message(task.0 - first)).0)
            }
            _ => task,
        }
    }

    /// All tasks of an operation of a model, or of one repetition, as (first, number); of all repetitions the last.
    pub(crate) fn tasks_of(&self, name: &str) -> Option<(TaskId, u32)> {
        if let Some((release, names)) = self.planned(name) {
            return Some((TaskId(release.0 + 1), names.len()));
        }
        let Group { first, count, names: Names::Planned { names, .. }, .. } = self.by_id(name)? else { return None };
        Some((TaskId(first + count - names.len()), names.len()))
    }

    /// All tasks of what has a name, as (first, number): an item of the workload with all its repetitions, one of these, a
    /// message of a pattern, a row of a trace.
    pub(crate) fn range(&self, name: &str) -> Option<(TaskId, u32)> {
        let item = self.by_id(name).map(|group| (TaskId(group.first), group.count));
        item.or_else(|| self.tasks_of(name)).or_else(|| self.named(name).map(|task| (task, 1)))
    }

    /// The pattern and the number of the message of a name without its occurrence, and that.
    fn message(&self, name: &str, number: u32) -> Option<(&Group, u32)> {
        let (id, pair) = name.rsplit_once('.')?;
        let (from, to) = pair.split_once('-')?;
        let (from, to) = (canonical(from)?, canonical(to)?);
        let group = self.by_id(id)?;
        let (Names::Pattern(pairs) | Names::PlannedPattern(pairs, _)) = &group.names else { return None };
        Some((group, pairs.find(from, to, number)?))
    }

    /// Ids of operations, for remedies.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.groups.iter().map(|g| &*g.id)
    }
}

impl Names {
    /// The name of task number `i`, from 0, of the operation with this id.
    pub(super) fn of<'a>(&'a self, id: &'a str, i: u32) -> Cow<'a, str> {
        match self {
            Self::Own => Cow::Borrowed(id),
            Self::Planned { repeated: false, .. } if i == 0 => Cow::Borrowed(id),
            Self::Trace(names) if let Some(name) = names.explicit(i) => Cow::Borrowed(name),
            _ => {
                let mut name = String::new();
                // Writing to a string does not fail.
                let _ = self.write(id, i, &mut name);
                name.into()
            }
        }
    }

    /// Writes the name that [`Self::of`] gives.
    fn write(&self, id: &str, i: u32, to: &mut impl Write) -> std::fmt::Result {
        match self {
            Self::Own => to.write_str(id),
            Self::Repeat => write!(to, "{id}#{}", i + 1),
            Self::Pattern(pairs) => pairs.write_name(id, i, to),
            Self::PlannedPattern(pairs, plans) => {
                let message = plans.message(i);
                let (start, names) = plans.of(message);
                pairs.write_name(id, message, to)?;
                if i == start { Ok(()) } else { write!(to, "/{}", names.name(i - start - 1)) }
            }
            Self::Trace(names) => match names.explicit(i) {
                Some(name) => to.write_str(name),
                None => write!(to, "{id}:{}", i + 1),
            },
            Self::Planned { names, repeated } => {
                let (number, task) = (i / (names.len() + 1), i % (names.len() + 1));
                to.write_str(id)?;
                if *repeated {
                    write!(to, "#{}", number + 1)?;
                }
                if task > 0 { write!(to, "/{}", names.name(task - 1)) } else { Ok(()) }
            }
        }
    }
}

impl Group {
    /// The name of its task number `i`, from 0.
    fn name(&self, i: u32) -> Cow<'_, str> {
        self.names.of(&self.id, i)
    }

    /// What its task number `i` is.
    pub(crate) fn kind(&self, i: u32) -> TaskKind {
        match &self.names {
            Names::Planned { names, .. } if i.is_multiple_of(names.len() + 1) => TaskKind::Join,
            Names::PlannedPattern(_, plans) if plans.of(plans.message(i)).0 == i => TaskKind::Join,
            _ => self.kind,
        }
    }

    /// Where its task number `i` stands.
    pub(crate) fn place(&self, i: u32) -> Span {
        match &self.names {
            Names::Trace(names) => names.place(i),
            _ => self.span,
        }
    }

    /// The task of a message of a pattern; of one that a model planned, its release.
    fn sent(&self, message: u32) -> TaskId {
        match &self.names {
            Names::PlannedPattern(_, plans) => TaskId(self.first + plans.of(message).0),
            _ => TaskId(self.first + message),
        }
    }

    fn repeated(&self, number: u32) -> Option<TaskId> {
        let each = match &self.names {
            Names::Repeat => 1,
            Names::Planned { names, repeated: true } => names.len() + 1,
            _ => return None,
        };
        let before = (number - 1).checked_mul(each).filter(|&before| before < self.count)?;
        Some(TaskId(self.first + before))
    }
}

/// A number written as names write it: no sign, no leading zeros.
fn canonical(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}
