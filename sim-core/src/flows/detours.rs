//! Transfers that take another route than their class says, because a link of theirs is down.
//!
//! **Definition.** The way of a transfer is the route of its class while all links of that are up; else, of a route with several
//! branches, those that are up; else the route with the fewest links over links that are up, among equals the one that its hash
//! picks, or that with the smallest sequence of link ids. It is looked for when a link of the present route goes down, and
//! while the transfer waits because there is none; not when that link comes up. **Assumed**: what was sent before counts as
//! delivered, in whole bytes, unless the transfer begins again, and a route is found in no time. What comes next has the
//! latency of the new route.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use weir_plugin_api::{CallError, ClassId, LinkId, RateArbiter, RouteId, SimDuration, SimTime};

use super::{Active, Flows};
use crate::answer::AnswerError;
use crate::changes::{ChangeCursor, Reroute};
use crate::classes::Classes;
use crate::fabric::Fabric;
use crate::outcome::SimError;
use crate::routes::Routes;
use crate::tasks::TaskId;

/// The transfers that go, or went, another way.
#[derive(Default)]
pub(super) struct Detours {
    /// By slot.
    by_slot: BTreeMap<u32, Detour>,
    /// By route of a class: the route over links that are up now. Empty after links have gone down or come up.
    found: FxHashMap<RouteId, Option<RouteId>>,
    /// The routes that were taken, with a transfer that did.
    taken: BTreeMap<RouteId, TaskId>,
    /// How many of them the arbiter has accepted.
    accepted: usize,
    /// Each change of route, in order of time.
    log: Vec<Reroute>,
}

/// What a transfer did on routes before the present one.
#[derive(Clone, Copy)]
struct Detour {
    /// Its own class.
    class: ClassId,
    /// Whole bytes that it sent.
    sent: u64,
    /// When the last of them has arrived.
    arrives: SimTime,
}

impl Detours {
    /// Links have gone down, or come up.
    pub(super) fn forget_found(&mut self) {
        self.found.clear();
    }

    /// Whether the arbiter does not know all routes that are taken.
    pub(super) fn has_new(&self) -> bool {
        self.accepted < self.taken.len()
    }

    /// Asks a new arbiter about the routes that were taken.
    pub(super) fn accept(
        &mut self,
        time: SimTime,
        routes: &Routes,
        arbiter: &mut dyn RateArbiter,
    ) -> Result<(), SimError> {
        self.accepted = self.taken.len();
        self.taken.iter().try_for_each(|(&route, &task)| {
            arbiter.admit(routes.links(route)).map_err(|error| match error {
                CallError::Refused(_) => SimError::DetourRefused { time, task, error },
                _ => SimError::Arbiter(AnswerError::Failed { time, error }),
            })
        })
    }

    /// The class of a transfer before any detour.
    pub(super) fn own_class(&self, slot: u32, transfer: &Active) -> ClassId {
        self.by_slot.get(&slot).map_or(transfer.class, |detour| detour.class)
    }

    /// The class of the way that a transfer of `class` has now; `None` where a link of each is down.
    pub(super) fn class_now(
        &mut self,
        fabric: &Fabric,
        cursor: &ChangeCursor<'_>,
        (routes, classes): (&mut Cow<'_, Routes>, &mut Cow<'_, Classes>),
        class: ClassId,
    ) -> Option<ClassId> {
        let own = classes.route(class);
        let is_up = |link: LinkId| !cursor.is_down(link);
        if routes.links(own).iter().all(|&link| is_up(link)) {
            return Some(class);
        }
        let route = *self.found.entry(own).or_insert_with(|| {
            let links = routes.detour(fabric, own, &is_up)?;
            Some(routes.to_mut().intern(fabric, links))
        });
        let (limit, weight, priority) = (classes.limit(class), classes.weight(class), classes.priority(class));
        let carriage = classes.carriage(class);
        Some(classes.to_mut().intern_carried(route?, limit, weight, priority, carriage))
    }
}

impl Flows<'_> {
    /// The class that a transfer has without failures.
    pub(super) fn own_class(&self, slot: u32) -> ClassId {
        let transfer = &self.active[slot as usize];
        self.changing.as_ref().map_or(transfer.class, |changing| changing.detours.own_class(slot, transfer))
    }

    /// Puts a transfer that the arbiter does not see on the way that it has now. Returns whether there is one; `down` is the link
    /// that it has met.
    pub(super) fn find_way(&mut self, now: SimTime, slot: u32, down: LinkId) -> bool {
        let own = self.own_class(slot);
        let Some(changing) = &mut self.changing else { return false };
        let tables = (&mut self.routes, &mut self.classes);
        let Some(class) = changing.detours.class_now(self.fabric, &changing.cursor, tables, own) else { return false };
        if class != self.active[slot as usize].class {
            self.take_route(now, slot, class, down);
        }
        self.join(slot);
        self.changed = true;
        true
    }

    /// A transfer goes on by the route of another class.
    fn take_route(&mut self, now: SimTime, slot: u32, class: ClassId, down: LinkId) {
        let (own, before) = (self.own_class(slot), self.active[slot as usize]);
        let sent = before.bytes - (before.remaining.ceil() as u64).min(before.bytes);
        let left = self.classes.route(before.class);
        let known = self.sent_before(slot);
        self.loads.deliver(self.fabric, &self.routes, self.routes.links(left), sent - known.sent);
        // The last of them left when the transfer was stopped, however long it has waited since.
        let arrives = match sent > known.sent {
            true => known.arrives.max(before.since.after(self.routes.latency(left))),
            false => known.arrives,
        };
        self.active[slot as usize].class = class;
        let (task, route) = (before.task, self.classes.route(class));
        let links = self.routes.links(route).to_vec();
        let Some(changing) = &mut self.changing else { return };
        changing.detours.by_slot.insert(slot, Detour { class: own, sent, arrives });
        changing.detours.taken.entry(route).or_insert(task);
        changing.detours.log.push(Reroute { time: now, task, down, sent, links });
    }

    /// What a transfer did on routes before the present one.
    fn sent_before(&self, slot: u32) -> Detour {
        let known = self.changing.as_ref().and_then(|changing| changing.detours.by_slot.get(&slot).copied());
        known.unwrap_or(Detour { class: self.active[slot as usize].class, sent: 0, arrives: SimTime::ZERO })
    }

    /// Counts what a transfer sent on its last route, of `sent` bytes in all.
    pub(super) fn deliver(&mut self, slot: u32, sent: u64) {
        let before = self.sent_before(slot).sent;
        let route = self.routes.links(self.classes.route(self.active[slot as usize].class));
        self.loads.deliver(self.fabric, &self.routes, route, sent - before);
    }

    /// Forgets the detour of a transfer whose last byte leaves. Returns its own class and, if it took one, the time until all
    /// of it has arrived.
    pub(super) fn end_detour(&mut self, now: SimTime, slot: u32) -> (ClassId, Option<SimDuration>) {
        let class = self.active[slot as usize].class;
        let latency = self.routes.latency(self.classes.route(class));
        let Some(changing) = &mut self.changing else { return (class, None) };
        match changing.detours.by_slot.remove(&slot) {
            None => (class, None),
            Some(detour) => (detour.class, Some(now.after(latency).max(detour.arrives) - now)),
        }
    }

    /// The transfers that took another route, by id; those of one transfer by time.
    pub(crate) fn reroutes(&mut self) -> Vec<Reroute> {
        let Some(changing) = &mut self.changing else { return Vec::new() };
        let mut log = std::mem::take(&mut changing.detours.log);
        log.sort_by_key(|reroute| (reroute.task, reroute.time));
        log
    }
}
