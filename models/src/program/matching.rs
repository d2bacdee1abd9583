//! Which receive takes which send, and whether all of them ever meet.
//!
//! The k-th send from one rank to another with a tag is taken by the k-th receive of that rank and tag: messages of one pair do
//! not overtake each other (MPI 4.1, section 3.5). They count in the order in which each rank can begin them, as far as the
//! program fixes it; where it does not, in the order of the file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use weir_plugin_api::CallError;

use super::operations::{ANY, Operation, Program, SAME_COLLECTIVES, Successors, Work};
use crate::operation::refused;

/// Stands for no partner.
pub(super) const NONE: u32 = u32::MAX;

/// Sends without a receive yet, and receives without a send, of one source, destination and tag.
#[derive(Default)]
struct Open {
    sends: VecDeque<u32>,
    receives: VecDeque<u32>,
}

/// For each send its receive, for each receive its send; [`NONE`] where there is none, and for a receive from any rank or with
/// any tag, whose send is known once the program runs.
pub(super) fn partners(program: &Program, successors: &Successors) -> Vec<u32> {
    let mut partner = vec![NONE; program.operations.len()];
    match_in(program, &in_order(program.waits(), successors), &mut partner);
    partner
}

/// Matches operations in this order.
fn match_in(program: &Program, order: &[u32], partner: &mut [u32]) {
    let mut open: BTreeMap<(u32, u32, u32), Open> = BTreeMap::new();
    for &number in order {
        let operation = &program.operations[number as usize];
        let (key, is_send) = match operation.work {
            Work::Send { to, tag, .. } => ((operation.rank, to, tag), true),
            Work::Receive { from, tag, .. } if from != ANY && tag != ANY => ((from, operation.rank, tag), false),
            _ => continue,
        };
        let Open { sends, receives } = open.entry(key).or_default();
        let (own, others) = if is_send { (sends, receives) } else { (receives, sends) };
        match others.pop_front() {
            Some(other) => (partner[number as usize], partner[other as usize]) = (other, number),
            None => own.push_back(number),
        }
    }
}

/// Partners where sends have been taken by receives in the order of time, `taken_by` per send: the others match in the order of
/// the file, those that have begun first.
pub(super) fn partners_so_far(program: &Program, taken_by: &[u32], progress: &Progress) -> Vec<u32> {
    let mut partner = vec![NONE; program.operations.len()];
    for (send, &receive) in (0..).zip(taken_by).filter(|(_, receive)| **receive != NONE) {
        (partner[send as usize], partner[receive as usize]) = (receive, send);
    }
    let mut order: Vec<u32> = (0..partner.len() as u32).filter(|&n| partner[n as usize] == NONE).collect();
    order.sort_by_key(|&number| !progress.begun[number as usize]);
    match_in(program, &order, &mut partner);
    partner
}

/// All operations by how many others each waits for, each behind those; of those that are ready the first of the file. What
/// waits for itself comes at the end.
pub(super) fn in_order(mut left: Vec<u32>, successors: &Successors) -> Vec<u32> {
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(number, _)| Reverse(number)).collect();
    let mut order = Vec::with_capacity(left.len());
    while let Some(Reverse(number)) = ready.pop() {
        order.push(number);
        for &(next, _) in successors.of(number) {
            left[next as usize] -= 1;
            if left[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    order.extend((0..).zip(&left).filter(|(_, left)| **left > 0).map(|(number, _)| number));
    order
}

/// Refuses messages that are larger than what their receives have room for; a receive of 0 bytes has room for any.
pub(super) fn check_sizes(program: &Program, partner: &[u32]) -> Result<(), CallError> {
    for (number, operation) in (0..).zip(&program.operations) {
        let (Work::Send { bytes, tag, .. }, other) = (operation.work, partner[number as usize]) else { continue };
        if let Some(Work::Receive { bytes: room, .. }) = program.operations.get(other as usize).map(|other| other.work)
            && if program.is_of_collective(tag) { bytes != room } else { room > 0 && bytes > room }
        {
            let (send, receive) = (program.text(number), program.text(other));
            let remedy = match program.is_of_collective(tag) {
                true => SAME_COLLECTIVES,
                false => "give the receive room for the message",
            };
            return Err(refused(format!("file: {send}, but {receive}; {remedy}")));
        }
    }
    Ok(())
}

/// How far operations are.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) begun: Vec<bool>,
    pub(super) done: Vec<bool>,
}

impl Progress {
    pub(super) fn new(operations: usize) -> Self {
        Self { begun: vec![false; operations], done: vec![false; operations] }
    }
}

/// Refuses a program in which something is never done, whatever the times.
pub(super) fn check(program: &Program, partner: &[u32], successors: &Successors, eager: u64) -> Result<(), CallError> {
    let left = program.waits();
    let ready = (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(number, _)| number).collect();
    let mut walk = Walk { successors, left, ready, progress: Progress::new(program.operations.len()) };
    while let Some(number) = walk.ready.pop() {
        walk.begin(number);
        let other = partner[number as usize];
        let meets = other != NONE && walk.progress.begun[other as usize];
        let waits = match program.operations[number as usize].work {
            Work::Send { bytes, .. } => bytes > eager && !meets,
            Work::Receive { .. } => !meets,
            Work::Compute { .. } | Work::Carry { .. } | Work::Join => false,
        };
        if !waits {
            walk.end(number);
            if meets {
                walk.end(other);
            }
        }
    }
    refuse_stuck(program, partner, &walk.progress)
}

/// A walk through operations in an order in which they may run.
struct Walk<'a> {
    successors: &'a Successors,
    /// For how many others each waits.
    left: Vec<u32>,
    ready: Vec<u32>,
    progress: Progress,
}

impl Walk<'_> {
    fn begin(&mut self, number: u32) {
        self.progress.begun[number as usize] = true;
        self.free(number, true);
    }

    /// Ends an operation, unless it has ended.
    fn end(&mut self, number: u32) {
        if !std::mem::replace(&mut self.progress.done[number as usize], true) {
            self.free(number, false);
        }
    }

    /// What waits for the begin, or the end, of an operation waits for one less.
    fn free(&mut self, of: u32, begun: bool) {
        for &(next, by_begin) in self.successors.of(of) {
            if by_begin == begun {
                self.left[next as usize] -= 1;
                if self.left[next as usize] == 0 {
                    self.ready.push(next);
                }
            }
        }
    }
}

/// Refuses what is not done, or a send that nobody receives, with the circle of those that wait for each other.
pub(super) fn refuse_stuck(program: &Program, partner: &[u32], progress: &Progress) -> Result<(), CallError> {
    let any_wild = program.is_wild();
    let unmatched = (0..).zip(&program.operations).find(|&(number, operation)| {
        let messages = matches!(operation.work, Work::Send { .. } | Work::Receive { .. }) && !operation.work.is_wild();
        messages && partner[number as usize] == NONE && !(any_wild && progress.done[number as usize])
    });
    if let Some((number, _)) = unmatched {
        return Err(unmatched_message(program, partner, number));
    }
    let Some(first) = progress.done.iter().position(|done| !done) else { return Ok(()) };
    Err(refused(deadlock(program, progress, &waiting(program, partner, progress, first as u32))))
}

/// Operations that wait, each for the next.
struct Waiting {
    operations: Vec<u32>,
    /// Whether the last waits for nothing that there is, and not for the first.
    is_open: bool,
}

/// Those that the first one waits for, up to the circle that they end in.
fn waiting(program: &Program, partner: &[u32], progress: &Progress, first: u32) -> Waiting {
    let mut dependencies: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for d in program.dependencies.iter().filter(|d| !progress.begun[d.of as usize]) {
        dependencies.entry(d.of).or_default().push((d.on, d.begin));
    }
    let waits_for = |number: u32| {
        let holds = |&&(on, begin): &&(u32, bool)| {
            if begin { !progress.begun[on as usize] } else { !progress.done[on as usize] }
        };
        let dependency = dependencies.get(&number).and_then(|all| all.iter().find(holds)).map(|(on, _)| *on);
        dependency.or(Some(partner[number as usize]).filter(|&other| other != NONE && !progress.done[other as usize]))
    };
    let (mut chain, mut places) = (vec![first], HashMap::from([(first, 0)]));
    loop {
        let Some(next) = chain.last().and_then(|&last| waits_for(last)) else {
            return Waiting { operations: chain, is_open: true };
        };
        let before = places.insert(next, chain.len());
        chain.push(next);
        if let Some(at) = before {
            return Waiting { operations: chain.split_off(at), is_open: false };
        }
    }
}

/// A deadlock for a person, with its remedy.
fn deadlock(program: &Program, progress: &Progress, waiting: &Waiting) -> String {
    let Waiting { operations, is_open } = waiting;
    let names: Vec<String> = operations.iter().take(MOST_NAMED).map(|&number| program.text(number)).collect();
    let more = if operations.len() > MOST_NAMED { " …" } else { "" };
    let waits = |&number: &u32| {
        matches!(program.operations[number as usize].work, Work::Send { .. }) && progress.begun[number as usize]
    };
    // Whoever waits for a planned collective waits for a part of it.
    let first_planned = program.first_planned();
    let is_collective = |&number: &u32| number >= first_planned;
    let remedy = match operations.iter().any(waits) {
        // A receive from any rank: all messages that fit have been taken by others.
        _ if *is_open => ", which waits for a message that nobody sends it; add a send, or leave the receive out",
        _ if operations.iter().any(is_collective) => {
            "; let all ranks begin collectives, and messages that one of them waits for, in the same order"
        }
        true => "; post receives before sends, or raise `eager`",
        false => "; let one of them begin without the one before it",
    };
    format!("file: a deadlock: {}{more}{remedy}", names.join(", which waits for "))
}

/// The refusal of a message whose other end is missing, with what its other rank does instead.
pub(super) fn unmatched_message(program: &Program, partner: &[u32], number: u32) -> CallError {
    let Operation { rank, work, .. } = program.operations[number as usize];
    let (other, tag, lacks, does) = match work {
        Work::Send { to, tag, .. } => (to, tag, "no receive", "receives from"),
        Work::Receive { from, tag, .. } => (from, tag, "no send", "sends to"),
        Work::Compute { .. } | Work::Carry { .. } | Work::Join => (rank, ANY, "nothing", "is"),
    };
    let faces = |operation: &Operation| match operation.work {
        Work::Send { to, .. } => operation.rank == other && to == rank && lacks == "no send",
        Work::Receive { from, .. } => operation.rank == other && from == rank && lacks == "no receive",
        Work::Compute { .. } | Work::Carry { .. } | Work::Join => false,
    };
    let facing = || (0..).zip(&program.operations).filter(|(_, operation)| faces(operation)).map(|(at, _)| at);
    let instead = match (facing().next(), facing().find(|&other| partner[other as usize] == NONE)) {
        (None, _) => format!("rank {other} {does} rank {rank} nowhere{}", ends_with(program, other)),
        (_, Some(open)) => format!("what is open is {}", program.text(open)),
        (Some(first), None) => {
            let (first, by) = (program.text(first), program.text_of_rank(partner[first as usize]));
            format!("what rank {other} {does} rank {rank} is matched by others, as {first} by {by}")
        }
    };
    let remedy = match program.is_of_collective(tag) {
        true => "let all ranks take part in each collective, in the same order",
        false => "add one, or correct it",
    };
    refused(format!("file: {} has {lacks} that matches it, and {instead}; {remedy}", program.text(number)))
}

/// What a rank does last, as the end of a sentence.
fn ends_with(program: &Program, rank: u32) -> String {
    let does = |operation: &Operation| operation.rank == rank && operation.work != Work::Join;
    match program.operations.iter().rposition(does) {
        Some(last) => format!(" and ends with {}", program.text_of_rank(last as u32)),
        None => ", as it does nothing".to_owned(),
    }
}

/// Operations of a circle that are named; *assumed*, as much as one reads.
const MOST_NAMED: usize = 9;
