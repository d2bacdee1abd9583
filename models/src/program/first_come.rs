//! Which messages receives from any rank, or with any tag, take over the fabric.
//!
//! **Definition.** A plan has the message of each receive before the run, so messages come in the order that they have without
//! contention: every message takes the time that it takes alone, whatever else its links and interfaces carry. A processor
//! serves one operation after the other, and receives are posted, as in the plan. A receiver knows of a message o, the latency of
//! its route and L after the begin of its send. A receive takes the first message that fits, in that order (MPI 4.1, section
//! 3.5). That contention does not change the order is *assumed*, and that an unexpected message is taken in by the processor with
//! the sender's number.
//! **Ties.** Of equal times, what was freed first; then the order of the file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use weir_plugin_api::{CallError, NodeId, PS_PER_S, Surroundings};

use super::fabric::{Leg, Places};
use super::matching::{NONE, Progress, partners_so_far, refuse_stuck, unmatched_message};
use super::operations::{Program, Successors, Work};
use super::params::{MessageParams, Sending};
use super::unexpected::Mailbox;

/// What messages cost alone.
#[derive(Clone, Copy)]
pub(super) struct Costs<'p> {
    pub(super) message: &'p MessageParams,
    pub(super) sending: Sending,
    pub(super) places: Places<'p>,
    pub(super) surroundings: &'p Surroundings<'p>,
}

impl Costs<'_> {
    /// Latency of the way between two ranks, and the time of bytes on it, ps; none where there is no way, which is refused
    /// later.
    fn way(&self, from: u32, to: u32, bytes: u64) -> (u64, u64) {
        self.over(self.places.legs(from, to), bytes)
    }

    /// From when a message leaves until its send is done, ps: once the bytes have left the device where they are staged, else
    /// at once or with the last byte.
    fn sends(&self, from: u32, to: u32, bytes: u64) -> u64 {
        let is_eager = bytes <= self.sending.eager;
        let (latency, lasts) = match self.places.legs(from, to).find(Leg::is_out) {
            Some(out) => self.over(std::iter::once(out), bytes),
            None if is_eager => (0, 0),
            // The rest of a staged way is on the receiver's side.
            None => self.over(self.places.legs(from, to).take(1), bytes),
        };
        latency.saturating_add(lasts)
    }

    /// How long bytes of a planned collective take, ps.
    fn carries(&self, (from, to): (u32, u32), bytes: u64, lead: f64) -> u64 {
        let (latency, lasts) = if bytes > 0 { self.over(self.places.direct(from, to), bytes) } else { (0, 0) };
        [latency, lasts].into_iter().fold(lead.round() as u64, u64::saturating_add)
    }

    /// Latency of some legs, and the time of bytes on them, ps.
    fn over(&self, legs: impl Iterator<Item = Leg>, bytes: u64) -> (u64, u64) {
        let routes = legs.filter_map(|leg| {
            if let Some(lasts) = self.places.copying(&leg, bytes) {
                return Some((0.0, lasts));
            }
            let route = self.surroundings.routes.route(NodeId(leg.from), NodeId(leg.to))?;
            Some((route.latency_ps, bytes.max(1) as f64 / route.bandwidth * PS_PER_S as f64))
        });
        let (latency, lasts) = routes.fold((0.0, 0.0), |sum, leg| (sum.0 + leg.0, sum.1 + leg.1));
        (latency.round() as u64, lasts.round() as u64)
    }
}

/// For each send its receive and for each receive its send.
///
/// # Errors
/// What never ends, and a message that nobody receives.
pub(super) fn partners(program: &Program, successors: &Successors, costs: Costs<'_>) -> Result<Vec<u32>, CallError> {
    let count = program.operations.len();
    let mut run = Run {
        program,
        successors,
        costs,
        due: BinaryHeap::new(),
        count: 0,
        left: program.waits(),
        mailboxes: Mailbox::of_ranks(program).collect(),
        begun: vec![0; count],
        taken: vec![None; count],
        processors: BTreeMap::new(),
        progress: Progress::new(count),
        partner: vec![NONE; count],
    };
    let free = (0..).zip(run.left.clone()).filter(|(_, left)| *left == 0);
    free.for_each(|(number, _)| run.push(0, Event::Ready(number)));
    while let Some(Reverse((time, _, event))) = run.due.pop() {
        match event {
            Event::Ready(number) => run.ready(time, number),
            Event::Begin(number) => run.begin(time, number),
            Event::Served(number) => run.free(time, number, Event::Served),
            Event::Known(send) => run.known(time, send),
            Event::Arrived(send) => run.arrived(time, send),
            Event::Done(number) => run.done(time, number),
        }
    }
    let left = run.mailboxes.iter().filter_map(Mailbox::left).min();
    if left.is_some() || run.progress.done.contains(&false) {
        let so_far = partners_so_far(program, &run.partner, &run.progress);
        refuse_stuck(program, &so_far, &run.progress)?;
        left.map_or(Ok(()), |(_, send)| Err(unmatched_message(program, &so_far, send)))?;
    }
    Ok(run.partner)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// Nothing is left to wait for but the processor.
    Ready(u32),
    Begin(u32),
    /// Its processor is done with it.
    Served(u32),
    /// The receiver knows of the message of a send.
    Known(u32),
    /// All of it is there.
    Arrived(u32),
    Done(u32),
}

struct Run<'p> {
    program: &'p Program,
    successors: &'p Successors,
    costs: Costs<'p>,
    due: BinaryHeap<Reverse<(u64, u64, Event)>>,
    count: u64,
    /// Per operation: dependencies that are not satisfied yet.
    left: Vec<u32>,
    mailboxes: Vec<Mailbox>,
    /// Per operation: when it has begun, ps.
    begun: Vec<u64>,
    /// Per send: when a processor has taken in its message, ps.
    taken: Vec<Option<u64>>,
    /// By rank and number: when it is free, ps.
    processors: BTreeMap<(u32, u32), u64>,
    progress: Progress,
    partner: Vec<u32>,
}

impl Run<'_> {
    fn push(&mut self, time: u64, event: Event) {
        self.count += 1;
        self.due.push(Reverse((time, self.count, event)));
    }

    /// How long the processor of its sender is busy with a message, ps.
    fn sending(&self, bytes: u64) -> u64 {
        self.costs.message.sender().of(bytes).round() as u64
    }

    /// L.
    fn latency(&self) -> u64 {
        self.costs.message.latency.0.round() as u64
    }

    /// When a processor begins with what is ready at `time` and takes so long.
    fn serve(&mut self, time: u64, processor: (u32, u32), lasts: u64) -> u64 {
        let free = self.processors.entry(processor).or_default();
        let begin = time.max(*free);
        *free = begin.saturating_add(lasts);
        begin
    }

    fn ready(&mut self, time: u64, number: u32) {
        let operation = self.program.operations[number as usize];
        let lasts = match operation.work {
            Work::Compute { time } => time.round() as u64,
            Work::Send { bytes, .. } => self.sending(bytes),
            Work::Receive { .. } | Work::Carry { .. } | Work::Join => return self.begin(time, number),
        };
        match self.serve(time, (operation.rank, operation.cpu), lasts) {
            begin if begin == time => self.begin(time, number),
            begin => self.push(begin, Event::Begin(number)),
        }
    }

    fn begin(&mut self, time: u64, number: u32) {
        self.begun[number as usize] = time;
        self.progress.begun[number as usize] = true;
        self.free(time, number, Event::Begin);
        self.serves(time, number);
        let rank = self.program.operations[number as usize].rank;
        match self.program.operations[number as usize].work {
            Work::Join => self.push(time, Event::Done(number)),
            Work::Compute { time: lasts } => self.push(time.saturating_add(lasts.round() as u64), Event::Done(number)),
            Work::Carry { to, bytes, lead } => {
                let lasts = self.costs.carries((rank, to), bytes, lead);
                self.push(time.saturating_add(lasts), Event::Done(number));
            }
            Work::Send { to, bytes, .. } => self.send(time, number, to, bytes),
            Work::Receive { from, tag, .. } => match self.mailboxes[rank as usize].take_message((from, tag)) {
                Some(send) => self.meet(time, send, number),
                None => {
                    self.count += 1;
                    self.mailboxes[rank as usize].post((from, tag), self.count, number);
                }
            },
        }
    }

    fn send(&mut self, time: u64, number: u32, to: u32, bytes: u64) {
        let rank = self.program.operations[number as usize].rank;
        let (latency, _) = self.costs.way(rank, to, bytes);
        let overhead = self.costs.message.sender().of_message();
        let known = [overhead, latency, self.latency()].into_iter().fold(time, u64::saturating_add);
        self.push(known, Event::Known(number));
        if bytes <= self.costs.sending.unawaited() {
            let leaves = time.saturating_add(self.sending(bytes));
            self.leave(leaves, number, to, bytes);
            self.push(leaves.saturating_add(self.costs.sends(rank, to, bytes)), Event::Done(number));
        }
    }

    /// The bytes of a message are on their way.
    fn leave(&mut self, time: u64, send: u32, to: u32, bytes: u64) {
        let (latency, lasts) = self.costs.way(self.program.operations[send as usize].rank, to, bytes);
        let arrives = [latency, lasts, self.latency()].into_iter().fold(time, u64::saturating_add);
        self.push(arrives, Event::Arrived(send));
    }

    /// The receiver's processor takes in a message.
    fn arrived(&mut self, time: u64, send: u32) {
        let operation = self.program.operations[send as usize];
        let Work::Send { to, bytes, .. } = operation.work else { return };
        let receive = self.partner[send as usize];
        let number = self.program.operations.get(receive as usize).map_or(operation.cpu, |receive| receive.cpu);
        let lasts = self.costs.message.receiver().of(bytes).round() as u64;
        let taken = self.serve(time, (to, number), lasts).saturating_add(lasts);
        self.taken[send as usize] = Some(taken);
        if receive != NONE {
            self.push(taken, Event::Done(receive));
        }
    }

    fn known(&mut self, time: u64, send: u32) {
        let operation = self.program.operations[send as usize];
        let Work::Send { to, tag, .. } = operation.work else { return };
        let key = (operation.rank, tag);
        match self.mailboxes[to as usize].take_receive(key) {
            Some(receive) => self.meet(time, send, receive),
            None => {
                self.count += 1;
                self.mailboxes[to as usize].arrive(key, self.count, send, true);
            }
        }
    }

    /// A message and its receive have met: a rendezvous begins, else the bytes are on their way, or there.
    fn meet(&mut self, time: u64, send: u32, receive: u32) {
        (self.partner[send as usize], self.partner[receive as usize]) = (receive, send);
        let operation = self.program.operations[send as usize];
        let Work::Send { to, bytes, .. } = operation.work else { return };
        if bytes > self.costs.sending.unawaited() {
            let sent = self.begun[send as usize].saturating_add(self.sending(bytes));
            let leaves = sent.max(self.begun[receive as usize]);
            self.leave(leaves, send, to, bytes);
            let sends = self.costs.sends(operation.rank, to, bytes);
            self.push(leaves.saturating_add(sends).max(time), Event::Done(send));
        } else if let Some(taken) = self.taken[send as usize] {
            self.push(taken.max(time), Event::Done(receive));
        }
    }

    fn done(&mut self, time: u64, number: u32) {
        self.progress.done[number as usize] = true;
        self.free(time, number, Event::Done);
    }

    /// Receives that are posted behind an operation wait until its processor is done with it.
    fn serves(&mut self, time: u64, number: u32) {
        let lasts = match self.program.operations[number as usize].work {
            Work::Compute { time } => time.round() as u64,
            Work::Send { bytes, .. } => self.sending(bytes),
            Work::Receive { .. } | Work::Carry { .. } | Work::Join => return,
        };
        if lasts == 0 {
            return self.free(time, number, Event::Served);
        }
        let mut successors = self.successors.of(number).iter();
        if successors.any(|&next| self.waits_for(number, next) == Event::Served(number)) {
            self.push(time.saturating_add(lasts), Event::Served(number));
        }
    }

    /// What of an operation one of its successors waits for.
    fn waits_for(&self, number: u32, (next, by_begin): (u32, bool)) -> Event {
        match by_begin {
            true if self.program.is_posted_behind(next, number) => Event::Served(number),
            true => Event::Begin(number),
            false => Event::Done(number),
        }
    }

    /// What waited for the begin of an operation, for its processor, or for its end.
    fn free(&mut self, time: u64, number: u32, moment: impl Fn(u32) -> Event) {
        let (successors, moment) = (self.successors, moment(number));
        for &(next, by_begin) in successors.of(number) {
            if self.waits_for(number, (next, by_begin)) != moment {
                continue;
            }
            self.left[next as usize] -= 1;
            if self.left[next as usize] == 0 {
                self.push(time, Event::Ready(next));
            }
        }
    }
}
