//! The LogGOPS network: a program on ranks whose messages never meet on a link.
//!
//! **Definition.** A send of s bytes holds the processor for o + (s − 1)·O, and its network interface sends nothing else for
//! g + (s − 1)·G. Its first byte arrives o + L after the send began. Receiving it holds the receiver's processor for
//! o + (s − 1)·max(O, G), with an o and O of its own where given (o_r), and its interface for g + (s − 1)·G. A send up to S bytes (eager) is done with its o; a larger one
//! (rendezvous) when its message has met its receive, and until then the sender's processor and interface rest. A receive is
//! done once its message has been received. Messages of a pair with one tag arrive in order. A receive is posted when the
//! processor is done with what it was busy with when the receive became free.
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
use std::collections::{BTreeMap, BinaryHeap};

use weir_plugin_api::{CallError, Plan, PlannedWork, Wait};

use super::matching::{NONE, Progress, check_sizes, partners_so_far, refuse_stuck, unmatched_message};
use super::operations::{Operation, Program, Successors, Work};
use super::params::Loggops;
use super::queues::{Key, Queues};
use super::tasks::Tasks;
use super::unexpected::Mailbox;

/// What asks for a server.
const SEND: u8 = 0;
const COMPUTE: u8 = 1;
const MESSAGE: u8 = 2;

/// A processor or interface of a rank: when it is free, and what that depends on.
#[derive(Clone, Copy, Debug, Default)]
struct Server {
    free_at: u64,
    until: Option<Until>,
    /// A message that met its receive only later: the server rests until then, too.
    and: Option<Wait>,
}

/// What a server was busy with.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// A task.
    Task(Wait),
    /// The gap behind the begin of a task of an operation: a task of its own once somebody waits for it.
    Gap { operation: u32, part: &'static str, behind: Wait, gap: u64 },
}

impl Server {
    fn hold(&mut self, free_at: u64, until: Until) {
        *self = Self { free_at, until: Some(until), and: None };
    }

    fn rest(&mut self, until: u64, moment: Wait) {
        if self.free_at < until {
            (self.free_at, self.and) = (until, Some(moment));
        }
    }

    /// What the next one that it serves waits for.
    fn waits(&mut self, tasks: &mut Tasks<'_>, to: &mut Vec<Wait>) {
        to.extend(self.and);
        match self.until {
            None => {}
            Some(Until::Task(wait)) => to.push(wait),
            Some(Until::Gap { operation, part, behind, gap }) => {
                let wait = Wait::end(tasks.add(operation, part, &[behind], lasts(gap)));
                self.until = Some(Until::Task(wait));
                to.push(wait);
            }
        }
    }
}

/// What is due at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// An operation whose dependencies are satisfied.
    Operation(u32),
    /// The first byte of the message of a send has come.
    Message(u32),
}

struct Rank {
    cpus: BTreeMap<u32, Server>,
    sends: BTreeMap<u32, Server>,
    receives: BTreeMap<u32, Server>,
    mailbox: Mailbox,
}

impl Rank {
    fn with(mailbox: Mailbox) -> Self {
        Self { cpus: BTreeMap::new(), sends: BTreeMap::new(), receives: BTreeMap::new(), mailbox }
    }
}

/// A program under way.
pub(super) struct Run<'p> {
    program: &'p Program,
    partner: &'p [u32],
    successors: &'p Successors,
    network: &'p Loggops,
    tasks: Tasks<'p>,
    ranks: Vec<Rank>,
    due: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Operations that the event at hand has freed, in this order.
    freed: Vec<u32>,
    /// Events whose server is busy.
    queues: Queues<Event>,
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
        Work::Compute { .. } | Work::Join => 1,
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
        let mut left = vec![0; operations];
        program.dependencies.iter().for_each(|d| left[d.of as usize] += 1);
        Self {
            program,
            partner,
            successors,
            network,
            tasks: Tasks::new(program, plan),
            ranks: Mailbox::of_ranks(program).map(Rank::with).collect(),
            due: BinaryHeap::new(),
            freed: Vec::new(),
            queues: Queues::default(),
            is_wild: program.is_wild(),
            count: 0,
            left,
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
                Event::Operation(number) => self.operation(time, count, number),
                Event::Message(number) => self.message(time, count, number),
            }
            self.push_freed();
        }
        if self.progress.done.contains(&false) {
            let partner = partners_so_far(self.program, &self.taken_by, &self.progress);
            refuse_stuck(self.program, &partner, &self.progress)?;
        }
        if let Some((_, send)) = self.ranks.iter().filter_map(|rank| rank.mailbox.left()).min() {
            return Err(unmatched_message(self.program, self.partner, send));
        }
        check_sizes(self.program, &self.taken_by)?;
        let last = |rank: &Rank| rank.cpus.values().map(|cpu| cpu.free_at).max().unwrap_or(0);
        Ok(self.ranks.iter().map(last).collect())
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
                Work::Compute { .. } | Work::Join => 2,
            };
            (rank, kind)
        });
        for &number in &freed {
            if let Work::Receive { .. } = self.program.operations[number as usize].work {
                self.wait_for_processor(number);
            }
            let time = self.ready[number as usize].0;
            self.push(time, Event::Operation(number));
        }
        freed.clear();
        self.freed = freed;
    }

    /// A receive is posted by its processor once that has done what it is busy with when the receive becomes free.
    fn wait_for_processor(&mut self, number: u32) {
        let operation = self.program.operations[number as usize];
        let cpu = self.ranks[operation.rank as usize].cpus.entry(operation.cpu).or_default();
        let (time, waits) = &mut self.ready[number as usize];
        if cpu.free_at > *time {
            *time = cpu.free_at;
            cpu.waits(&mut self.tasks, waits);
        }
    }

    fn operation(&mut self, time: u64, count: u64, number: u32) {
        let operation = self.program.operations[number as usize];
        let rank = &mut self.ranks[operation.rank as usize];
        let free_at = match operation.work {
            Work::Send { .. } => rank
                .cpus
                .entry(operation.cpu)
                .or_default()
                .free_at
                .max(rank.sends.entry(operation.nic).or_default().free_at),
            Work::Compute { .. } => rank.cpus.entry(operation.cpu).or_default().free_at,
            Work::Receive { .. } | Work::Join => 0,
        };
        let kind = if matches!(operation.work, Work::Send { .. }) { SEND } else { COMPUTE };
        let key = (operation.rank, operation.cpu, if kind == SEND { operation.nic } else { 0 }, kind);
        if free_at > time {
            return self.wait(key, free_at, count, Event::Operation(number));
        }
        let waits = std::mem::take(&mut self.ready[number as usize].1);
        match operation.work {
            Work::Send { bytes, .. } => self.send(time, number, bytes, waits),
            Work::Compute { time: lasts } => self.compute(time, number, lasts, waits),
            Work::Receive { .. } => self.receive(time, number, waits),
            Work::Join => {
                let task = self.tasks.add(number, "", &waits, PlannedWork::Nothing);
                self.begin(number, time, task);
                self.end(number, time, Wait::end(task));
            }
        }
        self.served(key, time, count);
    }

    /// An event waits for its server.
    fn wait(&mut self, key: Key, free_at: u64, count: u64, event: Event) {
        if let Some(event) = self.queues.wait(key, count, event) {
            self.due.push(Reverse((free_at, count, event)));
        }
    }

    /// The next one of a queue is tried once an event is served.
    fn served(&mut self, key: Key, time: u64, count: u64) {
        if let Some((next, event)) = self.queues.served(key, count) {
            self.due.push(Reverse((time, next, event)));
        }
    }

    fn compute(&mut self, time: u64, number: u32, lasts: f64, mut waits: Vec<Wait>) {
        let operation = self.program.operations[number as usize];
        let cpu = self.ranks[operation.rank as usize].cpus.entry(operation.cpu).or_default();
        cpu.waits(&mut self.tasks, &mut waits);
        let until = time.saturating_add(lasts.round() as u64);
        let task = self.tasks.add(number, "", &waits, PlannedWork::Lasts(lasts));
        cpu.hold(until, Until::Task(Wait::end(task)));
        self.begin(number, time, task);
        self.end(number, until, Wait::end(task));
    }

    fn send(&mut self, time: u64, number: u32, bytes: u64, mut waits: Vec<Wait>) {
        let operation = self.program.operations[number as usize];
        let rank = &mut self.ranks[operation.rank as usize];
        let (cpu, nic) = (rank.cpus.entry(operation.cpu).or_default(), rank.sends.entry(operation.nic).or_default());
        cpu.waits(&mut self.tasks, &mut waits);
        nic.waits(&mut self.tasks, &mut waits);
        let (holds, gap, flies) = (self.network.sending(bytes), self.network.gap(bytes), self.network.flight());
        let task = self.tasks.add(number, "", &waits, lasts(holds));
        cpu.hold(time.saturating_add(holds), Until::Task(Wait::end(task)));
        nic.hold(
            time.saturating_add(gap),
            Until::Gap { operation: number, part: "gap", behind: Wait::start(task), gap },
        );
        let flight = self.tasks.add(number, "flight", &[Wait::start(task)], lasts(flies));
        self.flight[number as usize] = Some(Wait::end(flight));
        self.begin(number, time, task);
        self.push(time.saturating_add(flies), Event::Message(number));
        if bytes <= self.network.eager {
            self.end(number, time.saturating_add(holds), Wait::end(task));
        }
    }

    /// A receive is posted: it takes a message that waits for it, or waits for one.
    fn receive(&mut self, time: u64, number: u32, waits: Vec<Wait>) {
        let operation = self.program.operations[number as usize];
        let Work::Receive { from, tag, .. } = operation.work else { return };
        let task = self.tasks.add(number, "posted", &waits, PlannedWork::Nothing);
        self.begin(number, time, task);
        self.flight[number as usize] = Some(Wait::end(task));
        let rank = &mut self.ranks[operation.rank as usize];
        match rank.mailbox.take_message((from, tag)) {
            Some(send) => self.meet(time, Wait::end(task), send, number),
            None => {
                self.count += 1;
                let count = self.count;
                rank.mailbox.post((from, tag), count, number);
            }
        }
    }

    /// A message has come, and is received once processor and interface are free.
    fn message(&mut self, time: u64, count: u64, send: u32) {
        let operation = self.program.operations[send as usize];
        let Work::Send { to, bytes, tag } = operation.work else { return };
        // Those of its receive; of a receive from any, those that sent.
        let at = self.program.operations.get(self.partner[send as usize] as usize).copied().unwrap_or(operation);
        let rank = &mut self.ranks[to as usize];
        let (cpu, nic) = (rank.cpus.entry(at.cpu).or_default(), rank.receives.entry(at.nic).or_default());
        let free_at = cpu.free_at.max(nic.free_at);
        let key = (to, at.cpu, at.nic, MESSAGE);
        if free_at > time {
            return self.wait(key, free_at, count, Event::Message(send));
        }
        let mut waits: Vec<Wait> = self.flight[send as usize].into_iter().collect();
        cpu.waits(&mut self.tasks, &mut waits);
        nic.waits(&mut self.tasks, &mut waits);
        let (holds, gap) = (self.network.receiving(bytes), self.network.gap(bytes));
        let task = self.tasks.add(send, "received", &waits, lasts(holds));
        cpu.hold(time.saturating_add(holds), Until::Task(Wait::end(task)));
        nic.hold(
            time.saturating_add(gap),
            Until::Gap { operation: send, part: "received-gap", behind: Wait::start(task), gap },
        );
        self.received[send as usize] = Some((time.saturating_add(holds), Wait::end(task)));
        match rank.mailbox.take_receive((operation.rank, tag)) {
            Some(receive) => self.meet(time, Wait::start(task), send, receive),
            None => {
                self.count += 1;
                let (number, is_wild) = (self.count, self.is_wild);
                self.ranks[to as usize].mailbox.arrive((operation.rank, tag), number, send, is_wild);
            }
        }
        self.served(key, time, count);
    }

    /// A message and its receive have met, at a moment of a task.
    fn meet(&mut self, time: u64, moment: Wait, send: u32, receive: u32) {
        let Some((received, task)) = self.received[send as usize] else { return };
        self.taken_by[send as usize] = receive;
        let operation = self.program.operations[send as usize];
        let Work::Send { bytes, .. } = operation.work else { return };
        if bytes > self.network.eager {
            let rank = &mut self.ranks[operation.rank as usize];
            rank.cpus.entry(operation.cpu).or_default().rest(time, moment);
            rank.sends.entry(operation.nic).or_default().rest(time, moment);
            self.end(send, time, moment);
        }
        let posted = self.flight[receive as usize].map(|wait| wait.task);
        let mut waits = vec![task];
        waits.extend(posted.map(Wait::end));
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
