//! Messages of one tag between two ranks whose order the program leaves open, so that a receive may take either.
//!
//! ```text
//! orders in which the operations can begin, with the highest and with the lowest processor first
//!        └─► beside the order in which messages are matched ─► two of one source, destination and tag that change places
//! ```
//!
//! **Definition.** Two sends of one tag from one rank to another, or two receives of them, are in order where one waits for the
//! other in any way, by other ranks too, and where one processor (`cpu`) posts them: that takes what is ready first, in the order
//! of the file. Messages of a tag between two ranks arrive in the order of their sends (MPI 4.1, section 3.5). Computations take
//! no time here. What changes places in one of the orders that are tried is open; that all that is open does is not claimed.
//! Messages of collectives, and receives from any rank or with any tag, are left out.

use std::collections::{BTreeMap, VecDeque};

use super::matching::{NONE, in_order};
use super::operations::{ANY, Program, Successors, Work};

/// What is matched, and by whom: source, destination and tag, and whether it receives.
type Key = (u32, u32, u32, bool);

/// The warning about two messages whose order is open; `None` without any. `taken` says in which order they are taken.
pub(super) fn warning(
    program: &Program,
    partner: &[u32],
    successors: &Successors,
    (eager, taken): (u64, &str),
) -> Option<String> {
    if program.cpus_are_in_order && one_cpu_has_each(program) {
        return None;
    }
    let lists = Lists::of(program, successors)?;
    let orders = [false, true].map(|highest| Posting::new(program, partner, successors, &lists, eager).run(highest));
    let mut open: Vec<(u32, u32)> = orders.iter().flat_map(|begun| lists.changed(begun)).collect();
    open.sort_unstable();
    open.dedup();
    let &(first, second) = open.first()?;
    let more = match open.len() - 1 {
        0 => String::new(),
        1 => " (and of 1 more pair)".to_owned(),
        more => format!(" (and of {more} more pairs)"),
    };
    Some(format!(
        "file: the order of two messages of one tag is open{more}: {} and {}; let one wait for the other, or give them \
         different tags: else they are taken in the order of {taken}",
        program.text(first),
        program.text_of_rank(second)
    ))
}

/// Source, destination, tag and side of a message that names them, collectives apart.
fn key(program: &Program, number: u32) -> Option<Key> {
    let operation = &program.operations[number as usize];
    let key = match operation.work {
        Work::Send { to, tag, .. } => (operation.rank, to, tag, false),
        Work::Receive { from, tag, .. } if from != ANY && tag != ANY => (from, operation.rank, tag, true),
        _ => return None,
    };
    (!program.is_of_collective(key.2)).then_some(key)
}

/// Whether all messages of a key are posted by one processor, and all are received by one.
fn one_cpu_has_each(program: &Program) -> bool {
    let mut cpus: BTreeMap<Key, u32> = BTreeMap::new();
    (0..).zip(&program.operations).all(|(number, operation)| match key(program, number) {
        Some(key) => *cpus.entry(key).or_insert(operation.cpu) == operation.cpu,
        None => true,
    })
}

/// Sends and receives of each key, in the order in which they are matched.
struct Lists {
    /// Key and operation.
    all: Vec<(Key, u32)>,
    /// Per receive: the one of its key before it, and behind it.
    before: Vec<u32>,
    behind: Vec<u32>,
}

impl Lists {
    /// `None` where no key has two.
    fn of(program: &Program, successors: &Successors) -> Option<Self> {
        let mut place = vec![0_u32; program.operations.len()];
        (0..).zip(in_order(program.waits(), successors)).for_each(|(at, number)| place[number as usize] = at);
        let keyed = (0..place.len() as u32).filter_map(|number| Some((key(program, number)?, number)));
        let mut all: Vec<(Key, u32)> = keyed.collect();
        all.sort_unstable_by_key(|&(key, number)| (key, place[number as usize]));
        let mut lists = Self { all, before: Vec::new(), behind: Vec::new() };
        lists.pairs().next()?;
        (lists.before, lists.behind) = (vec![NONE; place.len()], vec![NONE; place.len()]);
        for at in 1..lists.all.len() {
            let [(key, first), (other, second)] = [lists.all[at - 1], lists.all[at]];
            if key == other && key.3 {
                (lists.behind[first as usize], lists.before[second as usize]) = (second, first);
            }
        }
        Some(lists)
    }

    /// Two of a key, one behind the other.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let same = self.all.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        same.map(|pair| (pair[0].1, pair[1].1))
    }

    /// Those that begin in another order than they are matched in, the one before in the file first.
    fn changed(&self, begun: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        let at = move |number: u32| begun[number as usize];
        let changed = self.pairs().filter(move |&(first, second)| at(second) < at(first) && at(first) != NONE);
        changed.map(|(first, second)| (first.min(second), first.max(second)))
    }
}

/// One order in which the operations can begin.
struct Posting<'p> {
    program: &'p Program,
    partner: &'p [u32],
    successors: &'p Successors,
    lists: &'p Lists,
    eager: u64,
    left: Vec<u32>,
    /// What each processor has to do, by rank and number.
    queues: BTreeMap<(u32, u32), VecDeque<u32>>,
    /// Per operation: its place in the order; [`NONE`] until it begins.
    begun: Vec<u32>,
    count: u32,
    /// Of receives whose message has come, and of what is done.
    has_come: Vec<bool>,
    done: Vec<bool>,
}

impl<'p> Posting<'p> {
    fn new(program: &'p Program, partner: &'p [u32], successors: &'p Successors, lists: &'p Lists, eager: u64) -> Self {
        let (count, left) = (program.operations.len(), program.waits());
        let free: Vec<u32> = (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(number, _)| number).collect();
        let mut posting = Self {
            program,
            partner,
            successors,
            lists,
            eager,
            left,
            queues: BTreeMap::new(),
            begun: vec![NONE; count],
            count: 0,
            has_come: vec![false; count],
            done: vec![false; count],
        };
        posting.ready(free);
        posting
    }

    /// Runs all that can; the places of the operations.
    fn run(mut self, highest: bool) -> Vec<u32> {
        while let Some(number) = self.next(highest) {
            self.place(number);
            self.free(number, true);
            self.begin(number);
        }
        self.begun
    }

    fn place(&mut self, number: u32) {
        self.begun[number as usize] = self.count;
        self.count += 1;
    }

    /// The next operation of the highest processor that has any, or of the lowest.
    fn next(&mut self, highest: bool) -> Option<u32> {
        let mut entry = if highest { self.queues.last_entry()? } else { self.queues.first_entry()? };
        let number = entry.get_mut().pop_front();
        if entry.get().is_empty() {
            entry.remove();
        }
        number
    }

    /// Puts what may begin at once into the queues, the first of the file first. Joins hold no processor: what waits for them
    /// may begin at the same moment.
    fn ready(&mut self, mut free: Vec<u32>) {
        let mut servable = Vec::new();
        while let Some(number) = free.pop() {
            if self.program.operations[number as usize].work == Work::Join {
                self.place(number);
                free.extend(self.freed(number, true));
                free.extend(self.freed(number, false));
            } else {
                servable.push(number);
            }
        }
        servable.sort_unstable();
        for number in servable {
            let operation = &self.program.operations[number as usize];
            self.queues.entry((operation.rank, operation.cpu)).or_default().push_back(number);
        }
    }

    fn begin(&mut self, number: u32) {
        let other = self.partner[number as usize];
        let meets = other != NONE && self.begun[other as usize] != NONE;
        let (send, receive) = match self.program.operations[number as usize].work {
            Work::Send { .. } => (number, other),
            Work::Receive { .. } => (other, number),
            Work::Compute { .. } | Work::Carry { .. } | Work::Join => return self.finish(number),
        };
        let waits = |send: u32| match self.program.operations[send as usize].work {
            Work::Send { bytes, .. } => bytes > self.eager,
            _ => false,
        };
        if send == number && !waits(send) || meets && !self.done[send as usize] {
            self.finish(send);
        }
        if meets {
            self.arrive(receive);
        }
    }

    /// The message of a receive has come; it is done once those before it are.
    fn arrive(&mut self, mut receive: u32) {
        self.has_come[receive as usize] = true;
        while receive != NONE && self.has_come[receive as usize] {
            let before = self.lists.before[receive as usize];
            if before != NONE && !self.done[before as usize] {
                return;
            }
            self.finish(receive);
            receive = self.lists.behind[receive as usize];
        }
    }

    fn finish(&mut self, number: u32) {
        self.done[number as usize] = true;
        self.free(number, false);
    }

    fn free(&mut self, number: u32, begin: bool) {
        let freed = self.freed(number, begin);
        self.ready(freed);
    }

    /// What waited for the begin, or the end, of an operation alone.
    fn freed(&mut self, number: u32, begin: bool) -> Vec<u32> {
        let mut freed = Vec::new();
        for &(next, _) in self.successors.of(number).iter().filter(|(_, by_begin)| *by_begin == begin) {
            self.left[next as usize] -= 1;
            if self.left[next as usize] == 0 {
                freed.push(next);
            }
        }
        freed
    }
}
