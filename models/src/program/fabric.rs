//! A program whose messages go over the links of the topology.
//!
//! ```text
//! send (cpu: o + (s−1)·O) ──► message (fabric) ──► arrived (L) ──► overhead (cpu of the receiver: o + (s−1)·O) ──► recv
//!                                  ▲ rendezvous: once the receive is posted    posted (of the receive) ────────────┘
//! ```
//!
//! With staging the message has three legs: `out`, from the device to its host memory, `message` from there to the other host,
//! `in` from there to the device, each after the one before; a leg within one node is left out. A send is then done once its
//! bytes have left the device.
//!
//! An eager send is done with its overhead, a rendezvous with its last byte. A rank's processor serves what is ready first. With
//! a gap, an interface sends one message after the other; else all that are ready share the links. An empty message crosses
//! them as one byte.

use std::collections::BTreeMap;

use weir_plugin_api::{EngineScope, NodeId, Plan, PlannedWork, Wait};

use super::operations::{Operation, Program, Work};
use super::params::{MessageParams, Sending};
use super::tasks::{Service, Tasks};

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
        // Without a way there is one leg all the same: that it has no route is said of it.
        let direct = (device == other).then_some(Leg { name: "message", from: device, to: other });
        direct.into_iter().chain(legs.into_iter().filter(move |leg| device != other && leg.from != leg.to))
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
    let cpus = engines(program, plan, "cpu", |operation| (operation.work != Work::Join).then_some(operation.cpu));
    let sends = |operation: &Operation| matches!(operation.work, Work::Send { .. }).then_some(operation.nic);
    let nics = engines(program, plan, "nic", |operation| sends(operation).filter(|_| message.gap.0 > 0.0));
    let parts = number(program, sending.eager, message.latency.0 > 0.0, places);
    let mut waits: Vec<Vec<Wait>> = vec![Vec::new(); program.operations.len()];
    for d in &program.dependencies {
        let on = parts[d.on as usize];
        waits[d.of as usize].push(if d.begin { Wait::start(on.first) } else { Wait::end(on.last) });
    }
    let mut planner =
        Planner { program, partner, message, sending, places, nics, parts, tasks: Tasks::new(program, plan) };
    for (id, waits) in (0..).zip(&waits) {
        planner.operation(id, waits, Service { engine: cpus[id as usize], ..Service::default() });
    }
}

struct Planner<'p> {
    program: &'p Program,
    partner: &'p [u32],
    message: &'p MessageParams,
    sending: Sending,
    places: Places<'p>,
    /// The interface of each send, where there is a gap.
    nics: Vec<Option<u32>>,
    parts: Vec<Parts>,
    tasks: Tasks<'p>,
}

impl Planner<'_> {
    fn operation(&mut self, id: u32, waits: &[Wait], cpu: Service) {
        match self.program.operations[id as usize].work {
            Work::Join => _ = self.tasks.add(id, "", waits, PlannedWork::Nothing),
            Work::Compute { time } => _ = self.tasks.add_on(id, "", waits, PlannedWork::Lasts(time), cpu),
            Work::Send { to, bytes, .. } => {
                self.tasks.add_on(id, "", waits, self.processing(bytes), cpu);
                self.message(id, to, bytes);
            }
            Work::Receive { .. } => self.receive(id, waits, cpu),
        }
    }

    fn processing(&self, bytes: u64) -> PlannedWork {
        PlannedWork::Lasts(self.message.processing(bytes))
    }

    fn message(&mut self, id: u32, to: u32, bytes: u64) {
        let rank = self.program.operations[id as usize].rank;
        let posted = self.parts[self.partner[id as usize] as usize].first;
        let both = [Wait::end(self.parts[id as usize].first), Wait::end(posted)];
        let waits = if bytes > self.sending.unawaited() { &both[..] } else { &both[..1] };
        let at = Service { engine: self.nics[id as usize], gap: self.message.gap.0 };
        let legs: Vec<Leg> = self.places.legs(rank, to).collect();
        // The interface between hosts; of ranks at one host what leaves the sender.
        let paced = if legs.iter().any(|leg| leg.name == "message") { "message" } else { "out" };
        let mut before = None;
        for Leg { name, from, to } in legs {
            let (from, to) = (NodeId(from), NodeId(to));
            let work = PlannedWork::Carries { from, to, bytes: bytes.max(1), limit: f64::INFINITY };
            let at = if name == paced { at } else { Service::default() };
            let waits = before.as_slice().iter().chain(if before.is_none() { waits } else { &[] });
            let waits: Vec<Wait> = waits.copied().collect();
            before = Some(Wait::end(self.tasks.add_on(id, name, &waits, work, at)));
        }
    }

    fn receive(&mut self, id: u32, waits: &[Wait], cpu: Service) {
        let send = self.partner[id as usize];
        let Work::Send { bytes, .. } = self.program.operations[send as usize].work else { return };
        let posted = self.tasks.add(id, "posted", waits, PlannedWork::Nothing);
        let mut come = self.parts[send as usize].arrives;
        if self.message.latency.0 > 0.0 {
            come = self.tasks.add(id, "arrived", &[Wait::end(come)], PlannedWork::Lasts(self.message.latency.0));
        }
        let overhead = self.tasks.add_on(id, "overhead", &[Wait::end(come)], self.processing(bytes), cpu);
        self.tasks.add(id, "", &[Wait::end(posted), Wait::end(overhead)], PlannedWork::Nothing);
    }
}

/// The first and last task of each operation, before there are any.
fn number(program: &Program, eager: u64, has_latency: bool, places: Places<'_>) -> Vec<Parts> {
    let mut next = 0;
    let of = |operation: &Operation| {
        let first = next;
        let (count, last) = match operation.work {
            Work::Join | Work::Compute { .. } => (1, 0),
            Work::Send { to, bytes, .. } => {
                let (mut legs, mut is_staged) = (0, false);
                places.legs(operation.rank, to).for_each(|leg| {
                    legs += 1;
                    is_staged |= leg.is_out();
                });
                let last = if is_staged { 1 } else { legs * u32::from(bytes > eager) };
                (1 + legs, last)
            }
            Work::Receive { .. } => (3 + u32::from(has_latency), 2 + u32::from(has_latency)),
        };
        next += count;
        Parts { first, last: first + last, arrives: next - 1 }
    };
    program.operations.iter().map(of).collect()
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
