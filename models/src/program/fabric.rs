//! A program whose messages go over the links of the topology.
//!
//! ```text
//! send (cpu: o + (s−1)·O) ──► message (fabric) ──► arrived (L) ──► overhead (cpu of the receiver: its o + (s−1)·O) ──► recv
//!                                  ▲ rendezvous: once the receive is posted    posted (of the receive) ────────────┘
//! ```
//!
//! With staging the message has three legs: `out`, from the device to its host memory, `message` from there to the other host,
//! `in` from there to the device, each after the one before; a leg within one node is left out. A send is then done once its
//! bytes have left the device.
//!
//! A message between ranks on one device has no links and no interface: it lasts bytes / copy.
//!
//! Where messages cost a processor nothing, and each does one operation behind the other anyway, as in thread blocks of MSCCL, the
//! message is all there is of a send, and its receive ends once it has arrived.
//!
//! An eager send is done with its overhead, a rendezvous with its last byte. A rank's processor serves what is ready first. A
//! receive is posted once it is free; where it waits for the begin of what its own processor does, once that is done. With
//! a gap, an interface sends one message after the other; else all that are ready share the links. An empty message crosses
//! them as one byte.

use std::collections::BTreeMap;

use weir_plugin_api::{CallError, EngineScope, NodeId, PS_PER_S, Plan, PlannedWork, Queue, Wait};

use super::operations::{NO_LANE, Operation, Program, Work};
use super::params::{MessageParams, Sending};
use super::tasks::{Service, Tasks};
use crate::operation::{MOST_TIME_PS, refused};

/// The numbers of an operation's tasks.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// What it does first, and by which it has begun.
    first: u32,
    /// What it does last, and by which it has ended.
    last: u32,
    /// Of a send: what brings its bytes to the receiver.
    arrives: u32,
}

/// Where ranks run.
#[derive(Clone, Copy)]
pub(super) struct Places<'p> {
    /// The device of each.
    pub(super) ranks: &'p [u32],
    /// Its host memory, where messages are staged there.
    pub(super) hosts: Option<&'p [u32]>,
    /// The rate at which a device copies within its memory, B/s, where it is given.
    pub(super) copy: Option<f64>,
}

/// A part of the way of a message.
#[derive(Clone, Copy)]
pub(super) struct Leg {
    name: &'static str,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Leg {
    /// Whether it is from the device to the host memory of the sender, whose send is done with it.
    pub(super) fn is_out(&self) -> bool {
        self.name == "out"
    }
}

impl Places<'_> {
    /// The way between two ranks.
    pub(super) fn legs(&self, from: u32, to: u32) -> impl Iterator<Item = Leg> {
        let of = |nodes: &[u32]| (nodes[from as usize], nodes[to as usize]);
        let (device, other) = of(self.ranks);
        let (near, far) = self.hosts.map_or((device, other), of);
        let legs = [
            Leg { name: "out", from: device, to: near },
            Leg { name: "message", from: near, to: far },
            Leg { name: "in", from: far, to: other },
        ];
        // Within a device there is one leg all the same, a copy in its memory.
        let direct = (device == other).then_some(Leg { name: "message", from: device, to: other });
        direct.into_iter().chain(legs.into_iter().filter(move |leg| device != other && leg.from != leg.to))
    }

    /// The way between their devices, whether or not messages are staged.
    pub(super) fn direct(&self, from: u32, to: u32) -> impl Iterator<Item = Leg> + use<> {
        let [from, to] = [from, to].map(|rank| self.ranks[rank as usize]);
        std::iter::once(Leg { name: "", from, to })
    }

    /// How long a leg within a device lasts, ps; none of one over links.
    pub(super) fn copying(&self, leg: &Leg, bytes: u64) -> Option<f64> {
        (leg.from == leg.to).then(|| self.copy.map_or(0.0, |rate| bytes as f64 / rate * PS_PER_S as f64))
    }

    /// Refuses messages within a device without the rate at which it copies, and those that last too long by it.
    pub(super) fn check(&self, program: &Program) -> Result<(), CallError> {
        for (number, &Operation { rank, work, .. }) in (0..).zip(&program.operations) {
            let Work::Send { to, bytes, .. } = work else { continue };
            let lasts = self.legs(rank, to).find_map(|leg| self.copying(&leg, bytes));
            let problem = match (lasts, self.copy) {
                (None, _) => continue,
                (Some(_), None) => "give `copy`, the rate at which it copies within its memory",
                (Some(lasts), Some(_)) if lasts > MOST_TIME_PS => "that takes more than 100 days; give a higher `copy`",
                (Some(_), Some(_)) => continue,
            };
            let text = program.text(number);
            return Err(refused(format!("file: {text}, and ranks {rank} and {to} are both on one device; {problem}")));
        }
        Ok(())
    }
}

/// Plans a program whose messages all have their partners, each rank on its device.
pub(super) fn plan(
    program: &Program,
    partner: &[u32],
    (message, sending): (&MessageParams, Sending),
    places: Places<'_>,
    plan: &mut Plan,
) {
    let form = Form::new(program, partner, (message, sending), places);
    let is_carried = |operation: &Operation| matches!(operation.work, Work::Carry { .. });
    let has_cpu = |operation: &Operation| operation.work != Work::Join && !is_carried(operation) && !form.cpus_are_free;
    let cpus = engines(program, plan, "cpu", |operation| has_cpu(operation).then_some(operation.cpu));
    let lanes = engines(program, plan, "lane", |operation| {
        Some(operation.cpu).filter(|&lane| is_carried(operation) && lane != NO_LANE)
    });
    let sends = |operation: &Operation| matches!(operation.work, Work::Send { .. }).then_some(operation.nic);
    let nics = engines(program, plan, "nic", |operation| sends(operation).filter(|_| message.gap.0 > 0.0));
    let parts = form.number();
    plan.reserve(parts.last().map_or(0, |last| last.last.max(last.arrives) as usize + 1));
    let mut waits: Vec<Vec<Wait>> = vec![Vec::new(); program.operations.len()];
    for d in &program.dependencies {
        let on = parts[d.on as usize];
        waits[d.of as usize].push(match d.begin {
            true if program.is_posted_behind(d.of, d.on) && !form.has_no_overhead(d.on) => Wait::end(on.first),
            true => Wait::start(on.first),
            false => Wait::end(on.last),
        });
    }
    let mut planner = Planner { form, nics, parts, tasks: Tasks::new(program, plan) };
    for (id, waits) in (0..).zip(&waits) {
        let engine = cpus[id as usize].or(lanes[id as usize]);
        planner.operation(id, waits, Service { engine, ..Service::default() });
    }
}

/// A program, and what decides which tasks its operations have.
struct Form<'p> {
    program: &'p Program,
    partner: &'p [u32],
    message: &'p MessageParams,
    sending: Sending,
    places: Places<'p>,
    /// Whether messages cost processors nothing, and these never have two operations at once.
    cpus_are_free: bool,
}

struct Planner<'p> {
    form: Form<'p>,
    /// The interface of each send, where there is a gap.
    nics: Vec<Option<u32>>,
    parts: Vec<Parts>,
    tasks: Tasks<'p>,
}

impl Planner<'_> {
    fn operation(&mut self, id: u32, waits: &[Wait], cpu: Service) {
        match self.form.program.operations[id as usize].work {
            Work::Join => _ = self.tasks.add(id, "", waits, PlannedWork::Nothing),
            Work::Carry { to, bytes, lead } => self.carry(id, (to, bytes), waits, Service { lead, ..cpu }),
            Work::Compute { time } => _ = self.tasks.add_on(id, "", waits, PlannedWork::Lasts(time), cpu),
            Work::Send { to, bytes, .. } if self.form.is_message_alone(bytes) => self.message(id, (to, bytes), waits),
            Work::Send { to, bytes, .. } => {
                self.tasks.add_on(id, "", waits, PlannedWork::Lasts(self.form.message.sender().of(bytes)), cpu);
                let posted = self.parts[self.form.partner[id as usize] as usize].first;
                let both = [Wait::end(self.parts[id as usize].first), Wait::end(posted)];
                let waits = if bytes > self.form.sending.unawaited() { &both[..] } else { &both[..1] };
                self.message(id, (to, bytes), waits);
            }
            Work::Receive { .. } => self.receive(id, waits, cpu),
        }
    }

    fn carry(&mut self, id: u32, (to, bytes): (u32, u64), waits: &[Wait], lane: Service) {
        for leg in self.form.places.direct(self.form.program.operations[id as usize].rank, to) {
            let (from, to) = (NodeId(leg.from), NodeId(leg.to));
            let work = PlannedWork::Carries { from, to, bytes, limit: f64::INFINITY };
            self.tasks.add_on(id, "", waits, work, Service { queue: Queue::Issued, ..lane });
        }
    }

    fn message(&mut self, id: u32, (to, bytes): (u32, u64), waits: &[Wait]) {
        let rank = self.form.program.operations[id as usize].rank;
        let at = Service { engine: self.nics[id as usize], gap: self.form.message.gap.0, ..Service::default() };
        let legs: Vec<Leg> = self.form.places.legs(rank, to).collect();
        // The interface between hosts; of ranks at one host what leaves the sender.
        let paced = if legs.iter().any(|leg| leg.name == "message") { "message" } else { "out" };
        let mut before = None;
        for leg in legs {
            let (from, to) = (NodeId(leg.from), NodeId(leg.to));
            let carries = PlannedWork::Carries { from, to, bytes: bytes.max(1), limit: f64::INFINITY };
            let copying = self.form.places.copying(&leg, bytes);
            let at = if leg.name == paced && copying.is_none() { at } else { Service::default() };
            let waits = before.as_ref().map_or(waits, std::slice::from_ref);
            let work = copying.map_or(carries, PlannedWork::Lasts);
            before = Some(Wait::end(self.tasks.add_on(id, leg.name, waits, work, at)));
        }
    }

    fn receive(&mut self, id: u32, waits: &[Wait], cpu: Service) {
        let send = self.form.partner[id as usize];
        let Work::Send { bytes, .. } = self.form.program.operations[send as usize].work else { return };
        let is_message_alone = self.form.is_message_alone(bytes);
        let posted = (!is_message_alone).then(|| self.tasks.add(id, "posted", waits, PlannedWork::Nothing));
        let mut come = self.parts[send as usize].arrives;
        let latency = self.form.message.latency.0;
        if latency > 0.0 {
            come = self.tasks.add(id, "arrived", &[Wait::end(come)], PlannedWork::Lasts(latency));
        }
        let Some(posted) = posted else {
            let all: Vec<Wait> = waits.iter().copied().chain([Wait::end(come)]).collect();
            self.tasks.add(id, "", &all, PlannedWork::Nothing);
            return;
        };
        let work = PlannedWork::Lasts(self.form.message.receiver().of(bytes));
        let overhead = self.tasks.add_on(id, "overhead", &[Wait::end(come)], work, cpu);
        self.tasks.add(id, "", &[Wait::end(posted), Wait::end(overhead)], PlannedWork::Nothing);
    }
}

/// How many tasks a program has.
pub(super) fn tasks(program: &Program, partner: &[u32], how: (&MessageParams, Sending), places: Places<'_>) -> u64 {
    let form = Form::new(program, partner, how, places);
    (0..).zip(&program.operations).map(|(id, operation)| u64::from(form.parts(id, operation).0)).sum()
}

impl<'p> Form<'p> {
    fn new(
        program: &'p Program,
        partner: &'p [u32],
        (message, sending): (&'p MessageParams, Sending),
        places: Places<'p>,
    ) -> Self {
        let is_free = message.sender().is_none() && message.receiver().is_none();
        Self { program, partner, message, sending, places, cpus_are_free: is_free && program.cpus_are_in_order }
    }

    /// Whether a message of so many bytes needs no task but its transfer: it waits for no receive, and its send ends with it.
    fn is_message_alone(&self, bytes: u64) -> bool {
        self.cpus_are_free && bytes > self.sending.eager && bytes <= self.sending.unawaited()
    }

    /// The same of an operation: its first task holds no processor.
    fn has_no_overhead(&self, id: u32) -> bool {
        let work = self.program.operations[id as usize].work;
        matches!(work, Work::Send { bytes, .. } if self.is_message_alone(bytes))
    }

    /// The first and last task of each operation, before there are any.
    fn number(&self) -> Vec<Parts> {
        let mut next = 0;
        let of = |(id, operation)| {
            let first = next;
            let (count, last) = self.parts(id, operation);
            next += count;
            Parts { first, last: first + last, arrives: next - 1 }
        };
        (0..).zip(&self.program.operations).map(of).collect()
    }

    /// How many tasks an operation has, and which of them is its last.
    fn parts(&self, id: u32, operation: &Operation) -> (u32, u32) {
        match operation.work {
            Work::Join | Work::Compute { .. } | Work::Carry { .. } => (1, 0),
            Work::Send { to, bytes, .. } => {
                let (mut legs, mut is_staged) = (0, false);
                self.places.legs(operation.rank, to).for_each(|leg| {
                    legs += 1;
                    is_staged |= leg.is_out();
                });
                let before = u32::from(!self.is_message_alone(bytes));
                // The first leg leaves the sender, also of one on its host; the others are the business of hosts and receiver.
                let done_by = u32::from(is_staged || bytes > self.sending.eager);
                (before + legs, before + done_by - 1)
            }
            Work::Receive { .. } => {
                let flight = u32::from(self.message.latency.0 > 0.0);
                let send = self.partner[id as usize];
                let is_known = (send as usize) < self.program.operations.len();
                if is_known && self.has_no_overhead(send) { (1 + flight, flight) } else { (3 + flight, 2 + flight) }
            }
        }
    }
}

/// The engine of one slot that serves each operation, by rank and the number that `of` gives; none where it gives none.
fn engines(program: &Program, plan: &mut Plan, name: &str, of: impl Fn(&Operation) -> Option<u32>) -> Vec<Option<u32>> {
    let mut known = BTreeMap::new();
    let mut engine = |rank: u32, number: u32| {
        let new = || plan.engine(format!("{name}{rank}.{number}"), 1, EngineScope::Operation);
        *known.entry((rank, number)).or_insert_with(new)
    };
    program.operations.iter().map(|operation| Some(engine(operation.rank, of(operation)?))).collect()
}
