//! The LogGOPS network: a program on ranks whose messages never meet on a link.
//!
//! **Definition.** A send of s bytes holds the processor for o + (s − 1)·O, and its network interface sends nothing else for
//! g + (s − 1)·G. Its first byte arrives o + L after the send began. Receiving it holds the receiver's processor for
//! o + (s − 1)·max(O, G), with an o and O of its own where given (o_r), and its interface for g + (s − 1)·G. A send up to S
//! bytes (eager) is done with its o; a larger one (rendezvous) when its message has met its receive, and until then the sender's
//! processor and interface rest. A receive is done once its message has been received. It is posted when the processor is done
//! with what it was busy with when the receive became free. Messages of one source, destination and tag meet their receives in
//! the order in which they arrive, whichever processors receive them: one that is received before its turn meets its receive
//! once the message before it begins to be received.
//! **Ties.** What becomes ready first is served first; of equals the one that was freed first, and of those that one event has
//! freed those of the lower rank first, then sends, receives, computations.
//! **Source.** Hoefler, Schneider, Lumsdaine, *LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model*, LSAP 2010,
//! sections 2 and 3; with one processor per rank the times are those of that program. (It takes what waits for an operation
//! on another stream as free when that begins; here it waits for its end. A message is received by the stream with the number of
//! the sender's; here by that of the receive.)
//!
//! The outcome fixes in which order processors and interfaces serve. The plan says so as waits, so that the simulation comes to
//! the same times, and its critical path says what they are made of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use weir_plugin_api::{CallError, Plan, PlannedWork, Wait};

use super::matching::{NONE, Progress, check_sizes, partners_so_far, refuse_stuck, unmatched_message};
use super::operations::{Operation, Program, Successors, Work};
use super::params::Loggops;
use super::queues::Waiting;
use super::servers::{Asks, Kind, Servers, Until, Which};
use super::tasks::Tasks;
use super::unexpected::Mailbox;

/// What is due at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// An operation whose dependencies are satisfied.
    Operation(u32),
    /// A receive whose processor is done with what it was busy with.
    Posted(u32),
    /// The first byte of the message of a send has come.
    Message(u32),
}

/// A program under way.
pub(super) struct Run<'p> {
    program: &'p Program,
    partner: &'p [u32],
    successors: &'p Successors,
    network: &'p Loggops,
    tasks: Tasks<'p>,
    servers: Servers,
    mailboxes: Vec<Mailbox>,
    /// By destination, source and tag: sends whose messages are not matched yet, in the order in which they arrive.
    arriving: BTreeMap<(u32, u32, u32), VecDeque<u32>>,
    due: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Operations that the event at hand has freed, in this order.
    freed: Vec<u32>,
    /// Events whose server is busy.
    waiting: Waiting<Asks, Which, Event>,
    /// Whether some receive takes from any rank or with any tag.
    is_wild: bool,
    /// How many events there have been: the order among equals.
    count: u64,
    /// Per operation: dependencies that are not satisfied yet, and what those that are satisfied have as tasks.
    left: Vec<u32>,
    ready: Vec<(u64, Vec<Wait>)>,
    /// Per send: the task in which its message is received, the flight before, and when that ends.
    progress: Progress,
    received: Vec<Option<(u64, Wait)>>,
    flight: Vec<Option<Wait>>,
    /// For each send the receive that has taken its message.
    taken_by: Vec<u32>,
}

/// When the last operation of each rank ends, ps.
pub(super) type Ends = Vec<u64>;

/// How many tasks a program has at most: a send, its gap, its flight, what takes it in, and the gap of that; a receive as it is
/// posted, and as it is done.
pub(super) fn most_tasks(program: &Program) -> u64 {
    let of = |operation: &Operation| match operation.work {
        Work::Send { .. } => 5,
        Work::Receive { .. } => 2,
        Work::Compute { .. } | Work::Carry { .. } | Work::Join => 1,
    };
    program.operations.iter().map(of).sum()
}

impl<'p> Run<'p> {
    pub(super) fn new(
        program: &'p Program,
        partner: &'p [u32],
        successors: &'p Successors,
        network: &'p Loggops,
        plan: &'p mut Plan,
    ) -> Self {
        let operations = program.operations.len();
        Self {
            program,
            partner,
            successors,
            network,
            tasks: Tasks::new(program, plan),
            servers: Servers::of_ranks(program.ranks),
            mailboxes: Mailbox::of_ranks(program).collect(),
            arriving: BTreeMap::new(),
            due: BinaryHeap::new(),
            freed: Vec::new(),
            waiting: Waiting::default(),
            is_wild: program.is_wild(),
            count: 0,
            left: program.waits(),
            ready: vec![(0, Vec::new()); operations],
            progress: Progress::new(operations),
            received: vec![None; operations],
            flight: vec![None; operations],
            taken_by: vec![NONE; operations],
        }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// What never ends, a message that nobody receives, and one that is larger than the receive that has taken it.
    pub(super) fn run(mut self) -> Result<Ends, CallError> {
        self.freed = (0..).zip(&self.left).filter(|(_, left)| **left == 0).map(|(number, _)| number).collect();
        self.push_freed();
        while let Some(Reverse((time, count, event))) = self.due.pop() {
            match event {
                Event::Operation(number) => self.operation((time, count), number),
                Event::Posted(number) => self.receive(time, number),
                Event::Message(number) => self.message((time, count), number),
            }
            self.push_freed();
        }
        if self.progress.done.contains(&false) {
            let partner = partners_so_far(self.program, &self.taken_by, &self.progress);
            refuse_stuck(self.program, &partner, &self.progress)?;
        }
        if let Some((_, send)) = self.mailboxes.iter().filter_map(Mailbox::left).min() {
            return Err(unmatched_message(self.program, self.partner, send));
        }
        check_sizes(self.program, &self.taken_by)?;
        Ok(self.servers.ends())
    }

    fn push(&mut self, time: u64, event: Event) {
        self.count += 1;
        self.due.push(Reverse((time, self.count, event)));
    }

    /// Operations that one event has freed go by rank, then in the order send, receive, compute, each as they were freed.
    fn push_freed(&mut self) {
        let mut freed = std::mem::take(&mut self.freed);
        freed.sort_by_key(|&number| {
            let Operation { rank, work, .. } = self.program.operations[number as usize];
            let kind = match work {
                Work::Send { .. } => 0,
                Work::Receive { .. } => 1,
                Work::Compute { .. } | Work::Carry { .. } | Work::Join => 2,
            };
            (rank, kind)
        });
        for &number in &freed {
            let time = self.ready[number as usize].0;
            self.push(time, Event::Operation(number));
        }
        freed.clear();
        self.freed = freed;
    }

    fn operation(&mut self, at: (u64, u64), number: u32) {
        match self.program.operations[number as usize].work {
            Work::Send { bytes, .. } => self.send(at, number, bytes),
            Work::Compute { time: lasts } => self.compute(at, number, lasts),
            Work::Receive { .. } => self.post(at, number),
            // Over links alone: `collectives` is refused here.
            Work::Carry { .. } | Work::Join => {
                let waits = std::mem::take(&mut self.ready[number as usize].1);
                let task = self.tasks.add(number, "", &waits, PlannedWork::Nothing);
                self.begin(number, at.0, task);
                self.end(number, at.0, Wait::end(task));
            }
        }
    }

    /// Whether what an event asks for is free; else it waits for what is busy longest.
    fn is_free(&mut self, asks: Asks, (time, count): (u64, u64), event: Event) -> bool {
        let (server, free_at) = self.servers.last(asks);
        if free_at <= time {
            return true;
        }
        let (again, next) = self.waiting.wait((asks, server), count, event);
        self.due.extend(again.map(|event| Reverse((free_at, count, event))));
        self.due.extend(next.map(|(count, event)| Reverse((time, count, event))));
        false
    }

    /// Those behind an event are tried once it is served.
    fn served(&mut self, asks: Asks, (time, count): (u64, u64)) {
        let next = self.waiting.served(asks, count).into_iter().flatten();
        self.due.extend(next.map(|(count, event)| Reverse((time, count, event))));
    }

    /// What the next one waits for that these servers serve, besides what it waits for itself.
    fn behind(&mut self, asks: Asks, mut waits: Vec<Wait>) -> Vec<Wait> {
        asks.each().for_each(|which| self.servers.of(which).waits(&mut self.tasks, &mut waits));
        waits
    }

    /// Servers are busy with a task from a time on: the processor until its end, the interface for the gap behind its begin.
    fn hold(
        &mut self,
        asks: Asks,
        time: u64,
        (task, holds): (u32, u64),
        (operation, part, gap): (u32, &'static str, u64),
    ) {
        let since = (time, self.count);
        self.servers.of((asks.rank, Kind::Cpu(asks.cpu))).hold(since, holds, Until::Task(Wait::end(task)));
        if let Some(interface) = asks.interface {
            let until = Until::Gap { operation, part, behind: Wait::start(task), gap };
            self.servers.of((asks.rank, interface)).hold(since, gap, until);
        }
    }

    fn compute(&mut self, at: (u64, u64), number: u32, lasts: f64) {
        let Operation { rank, cpu, .. } = self.program.operations[number as usize];
        let asks = Asks { rank, cpu, interface: None };
        if !self.is_free(asks, at, Event::Operation(number)) {
            return;
        }
        let waits = std::mem::take(&mut self.ready[number as usize].1);
        let waits = self.behind(asks, waits);
        let holds = lasts.round() as u64;
        let task = self.tasks.add(number, "", &waits, PlannedWork::Lasts(lasts));
        self.hold(asks, at.0, (task, holds), (number, "", 0));
        self.begin(number, at.0, task);
        self.end(number, at.0.saturating_add(holds), Wait::end(task));
        self.served(asks, at);
    }

    fn send(&mut self, at: (u64, u64), number: u32, bytes: u64) {
        let Operation { rank, cpu, nic, work, .. } = self.program.operations[number as usize];
        let Work::Send { to, tag, .. } = work else { return };
        let asks = Asks { rank, cpu, interface: Some(Kind::Sends(nic)) };
        if !self.is_free(asks, at, Event::Operation(number)) {
            return;
        }
        let waits = std::mem::take(&mut self.ready[number as usize].1);
        let waits = self.behind(asks, waits);
        let (holds, gap, flies) = (self.network.sending(bytes), self.network.gap(bytes), self.network.flight());
        let task = self.tasks.add(number, "", &waits, lasts(holds));
        self.hold(asks, at.0, (task, holds), (number, "gap", gap));
        let flight = self.tasks.add(number, "flight", &[Wait::start(task)], lasts(flies));
        self.flight[number as usize] = Some(Wait::end(flight));
        self.begin(number, at.0, task);
        self.push(at.0.saturating_add(flies), Event::Message(number));
        // All fly equally long: they arrive in the order in which they are sent.
        self.arriving.entry((to, rank, tag)).or_default().push_back(number);
        if bytes <= self.network.eager {
            self.end(number, at.0.saturating_add(holds), Wait::end(task));
        }
        self.served(asks, at);
    }

    /// A receive is free, and posted by its processor once that is done with what it is busy with.
    fn post(&mut self, at: (u64, u64), number: u32) {
        let Operation { rank, cpu, .. } = self.program.operations[number as usize];
        let cpu = self.servers.of((rank, Kind::Cpu(cpu)));
        match cpu.busy_before(at) {
            Some(free_at) => {
                cpu.waits(&mut self.tasks, &mut self.ready[number as usize].1);
                self.due.push(Reverse((free_at, at.1, Event::Posted(number))));
            }
            None => self.receive(at.0, number),
        }
    }

    /// A receive is posted: it takes a message that waits for it, or waits for one.
    fn receive(&mut self, time: u64, number: u32) {
        let operation = self.program.operations[number as usize];
        let Work::Receive { from, tag, .. } = operation.work else { return };
        let waits = std::mem::take(&mut self.ready[number as usize].1);
        let task = self.tasks.add(number, "posted", &waits, PlannedWork::Nothing);
        self.begin(number, time, task);
        self.flight[number as usize] = Some(Wait::end(task));
        let mailbox = &mut self.mailboxes[operation.rank as usize];
        match mailbox.take_message((from, tag)) {
            Some(send) => self.meet(time, Wait::end(task), send, number),
            None => {
                self.count += 1;
                mailbox.post((from, tag), self.count, number);
            }
        }
    }

    /// A message has come, and is received once processor and interface are free.
    fn message(&mut self, at: (u64, u64), send: u32) {
        let operation = self.program.operations[send as usize];
        let Work::Send { to, bytes, tag } = operation.work else { return };
        // Those of its receive; of a receive from any, those that sent.
        let by = self.program.operations.get(self.partner[send as usize] as usize).copied().unwrap_or(operation);
        let asks = Asks { rank: to, cpu: by.cpu, interface: Some(Kind::Receives(by.nic)) };
        if !self.is_free(asks, at, Event::Message(send)) {
            return;
        }
        let waits = self.behind(asks, self.flight[send as usize].into_iter().collect());
        let (holds, gap) = (self.network.receiving(bytes), self.network.gap(bytes));
        let task = self.tasks.add(send, "received", &waits, lasts(holds));
        self.hold(asks, at.0, (task, holds), (send, "received-gap", gap));
        self.received[send as usize] = Some((at.0.saturating_add(holds), Wait::end(task)));
        while let Some(first) = self.first_in_order((to, operation.rank, tag)) {
            self.arrive(at.0, Wait::start(task), first);
        }
        self.served(asks, at);
    }

    /// The next message of a destination, source and tag, once a processor has begun to receive it.
    fn first_in_order(&mut self, key: (u32, u32, u32)) -> Option<u32> {
        let messages = self.arriving.get_mut(&key)?;
        let first = *messages.front()?;
        self.received[first as usize]?;
        messages.pop_front();
        if messages.is_empty() {
            self.arriving.remove(&key);
        }
        Some(first)
    }

    /// A message is next in order: it takes a receive that waits for it, or waits for one.
    fn arrive(&mut self, time: u64, moment: Wait, send: u32) {
        let operation = self.program.operations[send as usize];
        let Work::Send { to, tag, .. } = operation.work else { return };
        let mailbox = &mut self.mailboxes[to as usize];
        match mailbox.take_receive((operation.rank, tag)) {
            Some(receive) => self.meet(time, moment, send, receive),
            None => {
                self.count += 1;
                mailbox.arrive((operation.rank, tag), self.count, send, self.is_wild);
            }
        }
    }

    /// A message and its receive have met, at a moment of a task.
    fn meet(&mut self, time: u64, moment: Wait, send: u32, receive: u32) {
        let Some((received, task)) = self.received[send as usize] else { return };
        self.taken_by[send as usize] = receive;
        let operation = self.program.operations[send as usize];
        let Work::Send { bytes, .. } = operation.work else { return };
        if bytes > self.network.eager {
            self.servers.of((operation.rank, Kind::Cpu(operation.cpu))).rest(time, moment);
            self.servers.of((operation.rank, Kind::Sends(operation.nic))).rest(time, moment);
            self.end(send, time, moment);
        }
        let mut waits = vec![task];
        waits.extend(self.flight[receive as usize]);
        // Of a message that another one held up; else it is a moment of one of both.
        if waits.iter().all(|wait| wait.task != moment.task) {
            waits.push(moment);
        }
        let done = self.tasks.add(receive, "", &waits, PlannedWork::Nothing);
        self.end(receive, received.max(time), Wait::end(done));
    }

    fn begin(&mut self, number: u32, time: u64, task: u32) {
        self.progress.begun[number as usize] = true;
        self.free(number, true, time, Wait::start(task));
    }

    fn end(&mut self, number: u32, time: u64, moment: Wait) {
        self.progress.done[number as usize] = true;
        self.free(number, false, time, moment);
    }

    /// What waited for the begin, or the end, of an operation.
    fn free(&mut self, number: u32, by_begin: bool, time: u64, moment: Wait) {
        let first = self.freed.len();
        for &(next, begin) in self.successors.of(number) {
            if begin != by_begin {
                continue;
            }
            let ready = &mut self.ready[next as usize];
            ready.0 = ready.0.max(time);
            ready.1.push(moment);
            self.left[next as usize] -= 1;
            if self.left[next as usize] == 0 {
                self.freed.push(next);
            }
        }
        self.freed[first..].sort_unstable();
    }
}

fn lasts(ps: u64) -> PlannedWork {
    PlannedWork::Lasts(ps as f64)
}
