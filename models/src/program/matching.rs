//! Which receive takes which send, and whether all of them ever meet.
//!
//! The k-th send from one rank to another with a tag is taken by the k-th receive of that rank and tag, in the order of the
//! file: messages of one pair do not overtake each other (MPI 4.1, section 3.5).

use std::collections::{BTreeMap, VecDeque};

use weir_plugin_api::CallError;

use super::operations::{ANY, Program, Successors, Work};
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
pub(super) fn partners(program: &Program) -> Vec<u32> {
    let mut partner = vec![NONE; program.operations.len()];
    let mut open: BTreeMap<(u32, u32, u32), Open> = BTreeMap::new();
    for (number, operation) in (0..).zip(&program.operations) {
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
    partner
}

/// Whether a receive takes from any rank or with any tag.
pub(super) fn is_wild(work: Work) -> bool {
    matches!(work, Work::Receive { from, tag, .. } if from == ANY || tag == ANY)
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
    let mut left = vec![0_u32; program.operations.len()];
    program.dependencies.iter().for_each(|d| left[d.of as usize] += 1);
    let mut ready: Vec<u32> = (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(number, _)| number).collect();
    let mut progress = Progress::new(program.operations.len());
    while let Some(number) = ready.pop() {
        progress.begun[number as usize] = true;
        let mut free = |progress: &mut Progress, of: u32, begun: bool| {
            if !begun {
                progress.done[of as usize] = true;
            }
            for &(next, by_begin) in successors.of(of) {
                if by_begin == begun {
                    left[next as usize] -= 1;
                    if left[next as usize] == 0 {
                        ready.push(next);
                    }
                }
            }
        };
        free(&mut progress, number, true);
        let other = partner[number as usize];
        let meets = other != NONE && progress.begun[other as usize];
        match program.operations[number as usize].work {
            Work::Send { bytes, .. } if bytes > eager => {
                if meets {
                    free(&mut progress, number, false);
                    free(&mut progress, other, false);
                }
            }
            Work::Send { .. } => {
                free(&mut progress, number, false);
                if meets {
                    free(&mut progress, other, false);
                }
            }
            Work::Receive { .. } => {
                if meets {
                    free(&mut progress, number, false);
                    if !progress.done[other as usize] {
                        free(&mut progress, other, false);
                    }
                }
            }
            Work::Compute { .. } | Work::Join => free(&mut progress, number, false),
        }
    }
    refuse_stuck(program, partner, &progress)
}

/// Refuses what is not done, or a send that nobody receives, with the circle of those that wait for each other.
pub(super) fn refuse_stuck(program: &Program, partner: &[u32], progress: &Progress) -> Result<(), CallError> {
    let any_wild = program.operations.iter().any(|operation| is_wild(operation.work));
    let lonely = (0..).zip(&program.operations).find(|&(number, operation)| {
        let messages = matches!(operation.work, Work::Send { .. } | Work::Receive { .. }) && !is_wild(operation.work);
        messages && partner[number as usize] == NONE && !(any_wild && progress.done[number as usize])
    });
    if let Some((number, _)) = lonely {
        return Err(lonely_message(program, number));
    }
    let Some(first) = progress.done.iter().position(|done| !done) else { return Ok(()) };
    let mut dependencies: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for d in program.dependencies.iter().filter(|d| !progress.begun[d.of as usize]) {
        dependencies.entry(d.of).or_default().push((d.on, d.begin));
    }
    let waits_for = |number: u32| {
        let holds = |&&(on, begin): &&(u32, bool)| {
            if begin { !progress.begun[on as usize] } else { !progress.done[on as usize] }
        };
        let dependency = dependencies.get(&number).and_then(|all| all.iter().find(holds)).map(|(on, _)| *on);
        dependency.or(Some(partner[number as usize]).filter(|&other| other != NONE))
    };
    let mut path = vec![first as u32];
    let circle = loop {
        let Some(next) = path.last().and_then(|&last| waits_for(last)) else { break path };
        if let Some(at) = path.iter().position(|&on| on == next) {
            path.push(next);
            break path.split_off(at);
        }
        path.push(next);
    };
    let names: Vec<String> = circle.iter().take(MOST_NAMED).map(|&number| program.text(number)).collect();
    let more = if circle.len() > MOST_NAMED { " …" } else { "" };
    let remedy = "post receives before sends, or raise `eager`";
    Err(refused(format!("file: a deadlock: {}{more}; {remedy}", names.join(", which waits for "))))
}

/// The refusal of a message whose other end is missing.
pub(super) fn lonely_message(program: &Program, number: u32) -> CallError {
    let is_send = matches!(program.operations[number as usize].work, Work::Send { .. });
    let lacks = if is_send { "no receive" } else { "no send" };
    refused(format!("file: {} has {lacks} that matches it; add one", program.text(number)))
}

/// Operations of a circle that are named; *assumed*, as much as one reads.
const MOST_NAMED: usize = 9;
