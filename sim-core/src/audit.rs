//! What no policy can change, checked in every run: no transfer is faster than its route and its limit let it, no link
//! carries more than its bandwidth while it is busy, and what transfers have sent has crossed the links of their routes.
//! Of packets, headers count, and what the wire carries.
//!
//! Answers are checked when they are given ([`crate::answer`]); this is a second look, at what came of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use weir_packets::{MOST_HEADER, MOST_PAYLOAD};
use weir_plugin_api::{ClassId, LinkId, PS_PER_S, SimDuration, SimTime};

use crate::audit_error::AuditError;
use crate::changes::Reroute;
use crate::fabric::Fabric;
use crate::outcome::{LinkTotals, Outcome, Stop};
use crate::packets::{PacketLinkTotals, PacketSettings};
use crate::routes::{divided, full_rate};
use crate::setup::Simulation;
use crate::tasks::{TaskId, Work};

/// Relative room for rounding: rates may exceed bandwidths by [`crate::answer::TOLERANCE`], and sums of them round.
const ROOM: f64 = 1e-8;
/// Room for rounding of a transfer's time: each of its two ends.
const ROUNDED: SimDuration = SimDuration(2);

/// What is kept for the checks.
pub(crate) struct Audit<'a> {
    simulation: Simulation<'a>,
    classes: Vec<ClassAudit>,
    /// Of a run of packets. They fill buffers: the last byte may leave before the narrowest link has carried the others.
    packets: Option<Cow<'a, PacketSettings>>,
    /// With the highest bandwidths, where links change and one is raised.
    highest: Option<Fabric>,
    /// Transfers that took several routes, one after the other.
    rerouted: Vec<Rerouted>,
    /// The first fault found.
    fault: Option<AuditError>,
}

/// A transfer that has taken another route than that of its class.
struct Rerouted {
    task: TaskId,
    class: ClassId,
    bytes: u64,
    /// From its start to its last byte.
    times: (SimTime, SimTime),
}

/// What a transfer sent over one of the routes that it took.
struct Leg<'r> {
    links: &'r [LinkId],
    bytes: u64,
}

/// A class of transfers.
#[derive(Clone, Copy, Default)]
struct ClassAudit {
    /// Bytes per second of a transfer alone; 0 until it is known.
    full_rate: f64,
    /// Bytes that its transfers have sent.
    sent: u64,
}

impl<'a> Audit<'a> {
    pub(crate) fn new(simulation: &Simulation<'a>) -> Self {
        let classes = vec![ClassAudit::default(); simulation.tasks.classes.len()];
        Self { simulation: *simulation, classes, packets: None, highest: None, rerouted: Vec::new(), fault: None }
    }

    /// The same for a run of packets, which have buffers: only the first link of a route slows its source down.
    pub(crate) fn of_packets(simulation: &Simulation<'a>, settings: &'a PacketSettings) -> Self {
        Self { packets: Some(Cow::Borrowed(settings)), ..Self::new(simulation) }
    }

    /// The same for links that have these bandwidths at most, where that is more than they were built for.
    pub(crate) fn raised(self, highest: Option<Fabric>) -> Self {
        let packets = match &highest {
            Some(highest) => self.packets.map(|settings| Cow::Owned(settings.on(highest))),
            None => self.packets,
        };
        Self { highest, packets, ..self }
    }

    fn fabric(&self) -> &Fabric {
        self.highest.as_ref().unwrap_or(self.simulation.fabric)
    }

    /// A transfer has sent its last byte, so long after its start.
    #[inline]
    pub(crate) fn sent(&mut self, task: TaskId, class: ClassId, bytes: u64, took: SimDuration) {
        let own = &mut self.classes[class.index()];
        own.sent += bytes;
        if own.full_rate == 0.0 {
            let fabric = self.highest.as_ref().unwrap_or(self.simulation.fabric);
            own.full_rate = highest(&Simulation { fabric, ..self.simulation }, class, self.packets.as_deref());
        }
        let most = own.full_rate * (1.0 + ROOM) * (took.0 + ROUNDED.0) as f64 / PS_PER_S as f64;
        let bytes = self.on_first_link(class, bytes);
        if bytes as f64 > most {
            self.note_too_fast(task, class, bytes, took);
        }
    }

    /// The same of a transfer that took several routes: [`Outcome::reroutes`] has them.
    pub(crate) fn sent_by_several_routes(
        &mut self,
        task: TaskId,
        class: ClassId,
        bytes: u64,
        times: (SimTime, SimTime),
    ) {
        self.rerouted.push(Rerouted { task, class, bytes, times });
    }

    /// What a transfer of `bytes` puts on the first link of its route.
    #[inline]
    fn on_first_link(&self, class: ClassId, bytes: u64) -> u64 {
        let Some(settings) = &self.packets else { return bytes };
        let Simulation { routes, tasks, .. } = self.simulation;
        let first = routes.links(tasks.classes.route(class))[0];
        settings.wire_bytes(first, tasks.classes.carriage(class), bytes)
    }

    #[cold]
    fn note_too_fast(&mut self, task: TaskId, class: ClassId, bytes: u64, took: SimDuration) {
        let least = bytes as f64 / self.classes[class.index()].full_rate * PS_PER_S as f64;
        self.fault.get_or_insert(AuditError::TooFast { task, bytes, took, least: SimDuration(least as u64) });
    }

    /// Looks at a whole result.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn finish(&mut self, outcome: &Outcome) -> Result<(), AuditError> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        // Of a run that was stopped, transfers have sent parts, in whole bytes; those by several routes send whole bytes by
        // each.
        let whole = outcome.stop == Stop::Finished;
        let exact = whole && !self.simulation.routes.has_branches();
        // A transfer that takes several routes sends whole bytes over each.
        let room = if exact { 1.0 + outcome.reroutes.len() as f64 } else { 1.0 + outcome.events as f64 };
        let legs = self.legs(&outcome.reroutes)?;
        for ((link, total), own) in (0..).map(LinkId).zip(&outcome.links).zip(self.fabric().links()) {
            match self.packets.as_ref().zip(outcome.packets.as_ref()) {
                Some((settings, packets)) => on_wire(link, settings, &packets.links[link.index()], whole)?,
                None => crossed(link, total, own.bandwidth, room)?,
            }
        }
        if whole { self.all_arrived(outcome, &legs) } else { Ok(()) }
    }

    /// What each transfer that took several routes sent over which, in no less time than it needs there alone.
    fn legs<'r>(&'r self, reroutes: &'r [Reroute]) -> Result<Vec<Leg<'r>>, AuditError> {
        let Simulation { routes, tasks, .. } = self.simulation;
        let mut of_task: BTreeMap<TaskId, Vec<&Reroute>> = BTreeMap::new();
        reroutes.iter().for_each(|reroute| of_task.entry(reroute.task).or_default().push(reroute));
        let mut all = Vec::new();
        for &Rerouted { task, class, bytes, times: (start, end) } in &self.rerouted {
            let (mut links, mut from, mut before) = (routes.links(tasks.classes.route(class)), start, 0);
            let own = of_task.remove(&task).unwrap_or_default();
            let limit = tasks.classes.limit(class);
            let last = own.last().map_or(&[][..], |last| &last.links);
            let next = own.iter().map(|next| (&*next.links, next.time, next.sent)).chain([(last, end, bytes)]);
            for (next, until, sent) in next {
                let (bytes, took) = (sent - before, until - from);
                let rate = full_rate(self.fabric(), routes.has_branches(), links, limit);
                // A byte was not sent as a whole on the route before.
                let least = bytes.saturating_sub(1) as f64 / rate / (1.0 + ROOM) * PS_PER_S as f64;
                if least > (took.0 + ROUNDED.0) as f64 {
                    return Err(AuditError::TooFast { task, bytes, took, least: SimDuration(least as u64) });
                }
                all.push(Leg { links, bytes });
                (links, from, before) = (next, until, sent);
            }
        }
        Ok(all)
    }

    /// What was sent has crossed all links.
    fn all_arrived(&self, outcome: &Outcome, legs: &[Leg<'_>]) -> Result<(), AuditError> {
        let Simulation { fabric, routes, tasks } = self.simulation;
        let mut sent = vec![0; fabric.links().len()];
        if routes.has_branches() {
            let others: BTreeSet<TaskId> = self.rerouted.iter().map(|own| own.task).collect();
            let carried = (0..).map(TaskId).zip(&tasks.tasks).filter_map(|(id, task)| match task.work {
                Work::Carries { bytes, class } if !others.contains(&id) => {
                    Some((routes.links(tasks.classes.route(class)), bytes))
                }
                _ => None,
            });
            carried.for_each(|(route, bytes)| add(&mut sent, fabric, route, bytes));
        } else {
            for (class, own) in self.classes.iter().enumerate() {
                let route = routes.links(tasks.classes.route(ClassId::from_index(class)));
                route.iter().for_each(|link| sent[link.index()] += own.sent);
            }
        }
        legs.iter().for_each(|leg| add(&mut sent, fabric, leg.links, leg.bytes));
        let lost =
            (0..).map(LinkId).zip(outcome.links.iter().zip(sent)).find(|(_, (total, sent))| total.bytes != *sent);
        lost.map_or(Ok(()), |(link, (total, sent))| Err(AuditError::Lost { link, bytes: total.bytes, sent }))
    }
}

/// Adds bytes to the links that carry them, of several branches parts.
fn add(sent: &mut [u64], fabric: &Fabric, route: &[LinkId], bytes: u64) {
    let parts = divided(fabric, route, bytes);
    parts.for_each(|(branch, part)| branch.iter().for_each(|link| sent[link.index()] += part));
}

/// The full rate of a class.
#[cold]
fn highest(simulation: &Simulation<'_>, class: ClassId, packets: Option<&PacketSettings>) -> f64 {
    let Simulation { fabric, routes, tasks } = simulation;
    let links = routes.links(tasks.classes.route(class));
    match packets {
        // A limit paces packets: the last one leaves at the rate of the link.
        Some(settings) => settings.links[links[0].index()].rate.bytes_per_second(),
        None => full_rate(fabric, routes.has_branches(), links, tasks.classes.limit(class)),
    }
}

/// What packets took of the wire. Where a run was stopped, one of them counts as a whole, and its time until then.
fn on_wire(link: LinkId, settings: &PacketSettings, total: &PacketLinkTotals, whole: bool) -> Result<(), AuditError> {
    let under_way = if whole { 0.0 } else { f64::from(MOST_PAYLOAD + MOST_HEADER) };
    let bandwidth = settings.links[link.index()].rate.bytes_per_second();
    // Of DLLPs the last one may not have begun.
    let dllps = u64::from(settings.links[link.index()].dllp) * total.dllps.saturating_sub(1);
    let totals = LinkTotals { bytes: total.wire + dllps, busy: SimDuration(total.busy), peak: None };
    crossed(link, &totals, bandwidth, 1.0 + under_way)
}

fn crossed(link: LinkId, total: &LinkTotals, bandwidth: f64, room: f64) -> Result<(), AuditError> {
    let &LinkTotals { bytes, busy, peak } = total;
    if bytes as f64 > bandwidth * (1.0 + ROOM) * busy.seconds() + room {
        return Err(AuditError::TooMuch { link, bytes, busy, bandwidth });
    }
    match peak {
        Some(peak) if peak > bandwidth * (1.0 + ROOM) => Err(AuditError::TooHigh { link, peak, bandwidth }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::{CallError, Flags, Grant, LinkKind, NodeKind, PhaseView, RateArbiter, SimTime};

    use super::*;
    use crate::{EngineId, FabricBuilder, LinkSpec, Routes, RunOptions, ServiceId, Task, TaskGraph, TaskGraphBuilder};

    /// Everybody gets half of 1000 B/s.
    struct Halves;

    impl RateArbiter for Halves {
        fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
            grant.rates.fill(500.0);
            Ok(())
        }
    }

    /// Two transfers of 1000 B over one link of 1000 B/s, and their class.
    fn two_over_one() -> (Fabric, Routes, TaskGraph, ClassId) {
        let mut fabric = FabricBuilder::new();
        let root = fabric.root(NodeKind::Switch).expect("a root");
        let link = LinkSpec { up: 1000.0, down: 1000.0, latency: SimDuration(7), kind: LinkKind::PCIE };
        let leaf = fabric.child(root, NodeKind::Gpu, link).expect("a leaf");
        let (fabric, mut routes, mut tasks) = (fabric.build(), Routes::new(), TaskGraphBuilder::new());
        let route = routes.between(&fabric, leaf, root).expect("a route");
        let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
        for _ in 0..2 {
            let (engine, service) = (EngineId::NONE, ServiceId::PLAIN);
            tasks.task(Task { start: SimTime(0), engine, service, work: Work::Carries { bytes: 1000, class } });
        }
        (fabric, routes, tasks.build().expect("no cycle"), class)
    }

    #[test]
    fn what_cannot_be_is_named() {
        let (fabric, routes, tasks, class) = two_over_one();
        let simulation = Simulation { fabric: &fabric, routes: &routes, tasks: &tasks };
        let outcome = simulation.run(&mut Halves, Flags::default(), RunOptions::default()).expect("it is sound");
        let two_seconds = SimDuration(2 * PS_PER_S);
        assert_eq!((outcome.links[0].bytes, outcome.links[0].busy), (2000, two_seconds));

        let audit = |change: &dyn Fn(&mut Outcome), took: u64| {
            let (mut audit, mut outcome) = (Audit::new(&simulation), outcome.clone());
            change(&mut outcome);
            audit.sent(TaskId(0), class, 1000, SimDuration(took));
            audit.sent(TaskId(1), class, 1000, two_seconds);
            audit.finish(&outcome)
        };
        let fits = |_: &mut Outcome| {};
        // Alone, 1000 bytes take a second; 10 ns are within the room for rounding.
        assert_eq!(audit(&fits, PS_PER_S - 9_000), Ok(()));
        let (bytes, took, least) = (1000, SimDuration(PS_PER_S - 12_000), SimDuration(PS_PER_S));
        let fast = AuditError::TooFast { task: TaskId(0), bytes, took, least };
        assert_eq!(audit(&fits, took.0), Err(fast));
        let (link, bandwidth, busy) = (LinkId(0), 1000.0, SimDuration(2 * PS_PER_S * 999 / 1000));
        let busy_for_less = |outcome: &mut Outcome| outcome.links[0].busy = busy;
        let most = two_seconds.0;
        assert_eq!(audit(&busy_for_less, most), Err(AuditError::TooMuch { link, bytes: 2000, busy, bandwidth }));
        let loaded_more = |outcome: &mut Outcome| outcome.links[0].peak = Some(1000.1);
        assert_eq!(audit(&loaded_more, most), Err(AuditError::TooHigh { link, peak: 1000.1, bandwidth }));
        let lost = |outcome: &mut Outcome| outcome.links[0].bytes -= 1;
        assert_eq!(audit(&lost, most), Err(AuditError::Lost { link, bytes: 1999, sent: 2000 }));
        // What a run that was stopped has sent is not all.
        let stopped = |outcome: &mut Outcome| (outcome.stop, outcome.links[0].bytes) = (Stop::Until, 1500);
        assert_eq!(audit(&stopped, most), Ok(()));
    }

    /// The first transfer sends 400 B, then takes another route, here the same one again. On neither is it faster than the
    /// link.
    #[test]
    fn no_part_of_a_rerouted_transfer_is_faster_than_its_links() {
        let (fabric, routes, tasks, class) = two_over_one();
        let simulation = Simulation { fabric: &fabric, routes: &routes, tasks: &tasks };
        let outcome = simulation.run(&mut Halves, Flags::default(), RunOptions::default()).expect("it is sound");
        let ms = |ms: u64| SimTime(ms * PS_PER_S / 1000);
        let audit = |turns: u64, ends: u64| {
            let (mut audit, mut outcome) = (Audit::new(&simulation), outcome.clone());
            let (task, down, links) = (TaskId(0), LinkId(0), routes.links(tasks.classes.route(class)).to_vec());
            outcome.reroutes = vec![Reroute { time: ms(turns), task, down, sent: 400, links }];
            audit.sent_by_several_routes(task, class, 1000, (ms(0), ms(ends)));
            audit.sent(TaskId(1), class, 1000, SimDuration(2 * PS_PER_S));
            audit.finish(&outcome)
        };
        assert_eq!(audit(400, 1000), Ok(()));
        for (turns, ends, sent, needs) in [(300, 1000, 400, 0.399), (400, 900, 600, 0.599)] {
            let Err(AuditError::TooFast { task: TaskId(0), bytes, took, least }) = audit(turns, ends) else {
                panic!("{sent} B are too fast");
            };
            let part = if bytes == 400 { turns } else { ends - turns };
            assert_eq!((bytes, took), (sent, ms(part) - ms(0)));
            // All but one byte, which may have been sent in part on the route before.
            assert!((least.seconds() / needs - 1.0).abs() < 1e-6, "{least:?}");
        }
    }
}
