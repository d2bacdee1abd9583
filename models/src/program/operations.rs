//! What the ranks of a program do, in a form that all formats share.

use std::collections::BTreeMap;

use weir_plugin_api::CallError;

use super::calls::{Call, What};
pub(super) use crate::operation::shown;
use crate::operation::{MOST_TASKS, MOST_TIME_PS, refused};
use crate::quantities::Files;

/// Operations of a program at most, before its tasks are counted; *assumed*: they take about a gigabyte.
const MOST_OPERATIONS: usize = MOST_TASKS as usize / 2;

/// Ranks at most; *assumed*, as many as endpoints.
pub(super) const MOST_RANKS: u32 = 1 << 20;

/// Tags from here on are those of collectives.
pub(super) const FIRST_TAG: u32 = 1 << 31;
/// Collectives of one group that have tags of their own; *assumed*, more than a trace has.
pub(super) const COLLECTIVES: u32 = 1 << 20;

/// What to do where ranks do not meet in collectives.
pub(super) const SAME_COLLECTIVES: &str =
    "let all ranks have the same collectives, with the same sizes, in the same order";

/// Processors and lanes from here on are those of planned collectives; files have fewer processors that have collectives.
pub(super) const FIRST_LANE: u32 = 2;
/// Stands for no lane: what is ready goes.
pub(super) const NO_LANE: u32 = u32::MAX;

/// Stands for any source or any tag of a receive.
pub(super) const ANY: u32 = u32::MAX;

/// One operation of a rank.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Work {
    /// A message to another rank.
    Send { to: u32, bytes: u64, tag: u32 },
    /// The message with this tag from another rank; both may be [`ANY`].
    Receive { from: u32, bytes: u64, tag: u32 },
    /// A computation, ps.
    Compute { time: f64 },
    /// Bytes of a planned collective over the links to another rank, which are received by no operation: who needs them waits
    /// for this one. `cpu` is its lane, which carries one behind the other, each after `lead` ps from when it is ready.
    Carry { to: u32, bytes: u64, lead: f64 },
    /// Nothing: what it waits for is waited for by others.
    Join,
}

impl Work {
    /// Whether it is a receive from any rank or with any tag.
    pub(super) fn is_wild(self) -> bool {
        matches!(self, Self::Receive { from, tag, .. } if from == ANY || tag == ANY)
    }
}

/// One operation, and where it stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Operation {
    pub(super) rank: u32,
    pub(super) work: Work,
    /// The stream of the rank's processor, and the network interface, that serve it.
    pub(super) cpu: u32,
    pub(super) nic: u32,
    /// Its line, or its number in a binary file.
    pub(super) line: u32,
}

/// One operation begins once another has ended, or has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dependency {
    pub(super) of: u32,
    pub(super) on: u32,
    /// Of the other one's begin.
    pub(super) begin: bool,
}

/// The operations of all ranks, in the order of the file.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Program {
    pub(super) ranks: u32,
    pub(super) operations: Vec<Operation>,
    pub(super) dependencies: Vec<Dependency>,
    /// Operations by the word that the file has for them.
    pub(super) counted: BTreeMap<Box<str>, u64>,
    /// Of a binary file, which has no lines: the number of each operation's node.
    pub(super) nodes: Vec<u64>,
    /// Of MSCCL where a line has several steps: the number of each operation's step in its thread block.
    pub(super) steps: Vec<u32>,
    /// The names of several files; empty where there is one.
    pub(super) files: Vec<Box<str>>,
    /// Which of them each rank has.
    pub(super) file_of: Vec<u32>,
    /// Whether each stream of a processor does one operation behind the other, as their dependencies say.
    pub(super) cpus_are_in_order: bool,
    /// Whether the format has collectives, so that tags from [`FIRST_TAG`] on are theirs.
    pub(super) has_collectives: bool,
    /// By tag: the first rank that has this collective, and which one it is.
    pub(super) collectives: BTreeMap<u32, (u32, Box<str>)>,
    /// By tag: collectives to be planned.
    pub(super) calls: BTreeMap<u32, Call>,
    /// The first operation of each planned collective, ascending, and what it is. They come behind all others.
    pub(super) plans: Vec<(u32, What)>,
}

impl Program {
    /// Of some ranks, read from these files.
    pub(super) fn of(ranks: u32, files: &Files) -> Self {
        let several = files.0.len() > 1;
        let files = files.0.iter().filter(|_| several).map(|file| file.name.as_str().into()).collect();
        Self { ranks, files, has_collectives: true, ..Self::default() }
    }

    /// An operation as messages name it: `rank 3, line 12: send 4096 B to rank 1, tag 0`.
    pub(super) fn text(&self, operation: u32) -> String {
        let Operation { rank, .. } = self.operations[operation as usize];
        format!("rank {rank}, {}", self.text_of_rank(operation))
    }

    /// The same without its rank: `line 12: send 4096 B to rank 1, tag 0`.
    pub(super) fn text_of_rank(&self, operation: u32) -> String {
        let Operation { work, .. } = self.operations[operation as usize];
        let of = |what: &str, number: u32| match number {
            ANY => format!("any {what}"),
            number => format!("{what} {number}"),
        };
        let tagged = |tag: u32| match self.is_of_collective(tag) {
            true => format!("collective {}", (tag - FIRST_TAG) % COLLECTIVES + 1),
            false => of("tag", tag),
        };
        let what = match work {
            Work::Send { to, bytes, tag } => format!("send {bytes} B to rank {to}, {}", tagged(tag)),
            Work::Receive { from, bytes, tag } => {
                format!("receive {bytes} B from {}, {}", of("rank", from), tagged(tag))
            }
            Work::Carry { to, bytes, .. } => match self.planned_collective(operation) {
                Some(of) => format!("{of}, {bytes} B to rank {to}"),
                None => format!("{bytes} B to rank {to}"),
            },
            Work::Compute { .. } => "compute".to_owned(),
            Work::Join => self.planned_collective(operation).map_or_else(|| "wait".to_owned(), What::to_string),
        };
        format!("{}: {what}", self.place(operation))
    }

    /// Where the operations of planned collectives begin; the end where there are none.
    pub(super) fn first_planned(&self) -> u32 {
        self.plans.first().map_or(self.operations.len() as u32, |(first, _)| *first)
    }

    /// The planned collective of which an operation is a message, the begin or the end.
    pub(super) fn planned_collective(&self, operation: u32) -> Option<&What> {
        let first = self.plans.first()?.0;
        let other = |d: &Dependency| match operation {
            n if n == d.of && d.on >= first => Some(d.on),
            n if n == d.on && d.of >= first => Some(d.of),
            _ => None,
        };
        let planned = if operation >= first { operation } else { self.dependencies.iter().find_map(other)? };
        let at = self.plans.partition_point(|(first, _)| *first <= planned);
        self.plans.get(at.checked_sub(1)?).map(|(_, what)| what)
    }

    /// Where an operation stands: `line 12`; of several files with the name, as in `trace.3.et, node 17`; of several steps in a
    /// line `line 1, thread block 0, step 3`.
    pub(super) fn place(&self, operation: u32) -> String {
        let Operation { rank, line, cpu, .. } = self.operations[operation as usize];
        let file = self.file_of.get(rank as usize).and_then(|&file| self.files.get(file as usize));
        let file = file.map_or_else(String::new, |name| format!("{name}, "));
        match (self.nodes.get(operation as usize), self.steps.get(operation as usize)) {
            (Some(node), _) => format!("{file}node {node}"),
            (None, Some(step)) => format!("{file}line {line}, thread block {cpu}, step {step}"),
            (None, None) => format!("{file}line {line}"),
        }
    }

    /// Whether some message is of a rank that the program does not have.
    pub(super) fn names_more_ranks(&self) -> bool {
        self.operations.iter().any(|operation| match operation.work {
            Work::Send { to: other, .. } | Work::Receive { from: other, .. } => other >= self.ranks && other != ANY,
            _ => false,
        })
    }

    /// Whether some receive takes from any rank or with any tag.
    pub(super) fn is_wild(&self) -> bool {
        self.operations.iter().any(|operation| operation.work.is_wild())
    }

    /// The first tag of collectives, whose messages have a context of their own (MPI 4.1, section 6.1): no receive with any
    /// tag takes them. [`ANY`] where the file has all tags for itself.
    pub(super) fn first_of_collectives(&self) -> u32 {
        if self.has_collectives { FIRST_TAG } else { ANY }
    }

    /// Whether messages with a tag are those of a collective.
    pub(super) fn is_of_collective(&self, tag: u32) -> bool {
        (self.first_of_collectives()..ANY).contains(&tag)
    }

    /// Notes which collective a rank has under a tag: all ranks have the same.
    pub(super) fn agree(&mut self, tag: u32, rank: u32, which: &str) -> Result<(), Problem> {
        let (first, other) = self.collectives.entry(tag).or_insert_with(|| (rank, which.into()));
        if **other == *which {
            return Ok(());
        }
        let number = (tag - FIRST_TAG) % COLLECTIVES + 1;
        let other = format!("rank {rank} has `{which}` as collective {number}, and rank {first} `{other}`");
        Err(format!("{other}; {SAME_COLLECTIVES}"))
    }

    /// Counts an operation by its word.
    pub(super) fn count(&mut self, word: &str) {
        match self.counted.get_mut(word) {
            Some(count) => *count += 1,
            None => drop(self.counted.insert(word.into(), 1)),
        }
    }

    /// Adds an operation, unless there are too many; returns its number.
    pub(super) fn add(&mut self, operation: Operation) -> Result<u32, String> {
        if self.operations.len() >= MOST_OPERATIONS {
            return Err(format!("more than {MOST_OPERATIONS} operations; give fewer"));
        }
        self.operations.push(operation);
        Ok(self.operations.len() as u32 - 1)
    }

    /// Whether a receive waits for the begin of what its own processor does then: it is posted once the processor is done with
    /// that, as by a thread that posts it behind an `isend`.
    pub(super) fn is_posted_behind(&self, receive: u32, on: u32) -> bool {
        let [receive, on] = [receive, on].map(|number| self.operations[number as usize]);
        let is_busy = matches!(on.work, Work::Send { .. } | Work::Compute { .. });
        is_busy && matches!(receive.work, Work::Receive { .. }) && (receive.rank, receive.cpu) == (on.rank, on.cpu)
    }

    /// How many dependencies each operation has.
    pub(super) fn waits(&self) -> Vec<u32> {
        Successors::waits(self.operations.len(), &self.dependencies)
    }

    /// For each operation: those that wait for its begin or end.
    pub(super) fn successors(&self) -> Successors {
        Successors::new(self.operations.len(), &self.dependencies)
    }

    /// Refuses ranks that are not there, and times beyond what a run may have.
    pub(super) fn check(&self) -> Result<(), CallError> {
        for (number, operation) in (0..).zip(&self.operations) {
            if let Work::Compute { time } = operation.work
                && !(0.0..=MOST_TIME_PS).contains(&time)
            {
                let text = self.text(number);
                return Err(refused(format!("file: {text} for more than 100 days; check times, flop and `flop_rate`")));
            }
            if operation.rank >= self.ranks {
                let (rank, ranks) = (operation.rank, self.ranks);
                return Err(refused(format!("file: rank {rank} of {ranks}; raise the number of ranks")));
            }
            let other = match operation.work {
                Work::Send { to, .. } => to,
                Work::Receive { from, .. } if from != ANY => from,
                _ => continue,
            };
            if other >= self.ranks {
                let text = self.text(number);
                return Err(refused(format!(
                    "file: {text}, and ranks are 0 to {}; give all ranks their part, or correct it",
                    self.ranks - 1
                )));
            }
            if other == operation.rank {
                return Err(refused(format!("file: {}, to or from itself; leave it out", self.text(number))));
            }
        }
        Ok(())
    }
}

/// Lists of successors, one behind the other.
pub(super) struct Successors {
    first: Vec<u32>,
    /// Who waits, and whether it waits for the begin.
    list: Vec<(u32, bool)>,
}

impl Successors {
    pub(super) fn new(count: usize, dependencies: &[Dependency]) -> Self {
        let mut first = vec![0_u32; count + 1];
        dependencies.iter().for_each(|d| first[d.on as usize + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let mut next = first.clone();
        let mut list = vec![(0, false); dependencies.len()];
        for d in dependencies {
            list[next[d.on as usize] as usize] = (d.of, d.begin);
            next[d.on as usize] += 1;
        }
        Self { first, list }
    }

    /// How many dependencies each of `count` has.
    pub(super) fn waits(count: usize, dependencies: &[Dependency]) -> Vec<u32> {
        let mut waits = vec![0; count];
        dependencies.iter().for_each(|d| waits[d.of as usize] += 1);
        waits
    }

    pub(super) fn of(&self, operation: u32) -> &[(u32, bool)] {
        let at = operation as usize;
        &self.list[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// What is wrong with a file, as a sentence; `; ` before what to do.
pub(super) type Problem = String;

/// A refusal of a line.
pub(super) fn wrong_line(line: u32, problem: &str) -> CallError {
    refused(format!("file: line {line}: {problem}"))
}
