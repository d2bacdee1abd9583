//! Links that change while transfers are on them: those over a link that is down are kept from the arbiter, and another
//! bandwidth is another fabric, with an arbiter of its own.

use weir_plugin_api::{Binding, Cause, LinkId, SimTime};

use super::Flows;
use super::detours::Detours;
use crate::answer::AnswerError;
use crate::changes::{ChangeCursor, LinkChange, LinkChangeTotals, LinkStep, OnFailure};
use crate::fabric::Fabric;
use crate::outcome::{PhaseStep, SimError};
use crate::progress::remaining_after;
use crate::setup::Changing;
use crate::tasks::TaskId;

/// The links as they are now, and who waits for one.
pub(super) struct ChangingLinks<'a> {
    plan: Changing<'a>,
    pub(super) cursor: ChangeCursor<'a>,
    /// With the bandwidths as they are; of a link that is down, as before.
    pub(super) fabric: Fabric,
    /// The slots of transfers over a link that is down, with that link.
    waiting: Vec<(u32, LinkId)>,
    /// Bandwidths have changed since the arbiter was made.
    is_stale: bool,
    /// They concern a transfer, and rates have not been asked for since.
    pub(super) concerns: bool,
    /// What ends the run: a transfer is on a link that goes down, and must not wait.
    failure: Option<SimError>,
    pub(super) detours: Detours,
}

impl ChangingLinks<'_> {
    /// Gives links that are up their bandwidths; `built` has those of the fabric as it was built.
    fn set(&mut self, changed: &[LinkChange], built: &Fabric) {
        for &LinkChange { link, bandwidth, .. } in changed.iter().filter(|change| change.bandwidth > 0.0) {
            let own = *self.fabric.link(link);
            if own.bandwidth.to_bits() != bandwidth.to_bits() {
                let set = self.fabric.set_link(link, bandwidth, own.latency);
                debug_assert!(set.is_ok(), "{bandwidth} B/s is finite: shares are at most 1");
                self.is_stale = true;
                self.set_shared(link, built);
            }
        }
    }

    /// What both directions of a link have together changes with the one that loses more.
    fn set_shared(&mut self, link: LinkId, built: &Fabric) {
        for &number in built.shared_by(link) {
            let shared = &built.shared()[number as usize];
            let ratio = |&link: &LinkId| self.fabric.link(link).bandwidth / built.link(link).bandwidth;
            if let Some(least) = shared.links.iter().map(ratio).min_by(f64::total_cmp)
                && shared.node.is_none()
            {
                _ = self.fabric.set_shared(number, shared.bandwidth * least);
            }
        }
    }

    /// Why a transfer has its rate: the full rate of a link that carries less than it was built for.
    pub(super) fn named(&self, binding: Binding, built: &Fabric) -> Binding {
        let is_reduced = !binding.link.is_none()
            && binding.cause() == Cause::FullRate
            && self.fabric.link(binding.link).bandwidth < built.link(binding.link).bandwidth;
        if is_reduced { Binding::new(binding.link, Cause::LinkReduced, binding.by) } else { binding }
    }
}

impl<'a> Flows<'a> {
    /// The same over links that change.
    pub(crate) fn with_changes(mut self, changing: Option<Changing<'a>>) -> Self {
        self.changing = changing.map(|plan| {
            let cursor = ChangeCursor::new(plan.links, self.fabric);
            Box::new(ChangingLinks {
                plan,
                cursor,
                fabric: self.fabric.clone(),
                waiting: Vec::new(),
                is_stale: false,
                concerns: false,
                failure: None,
                detours: Detours::default(),
            })
        });
        self
    }

    /// The slots of transfers that wait for a link.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> {
        let waiting = self.changing.as_ref().map_or(&[][..], |changing| &changing.waiting);
        waiting.iter().map(|&(slot, _)| slot)
    }

    /// When links change next; [`SimTime::NEVER`] for not any more.
    pub(crate) fn next_change(&self) -> SimTime {
        self.changing.as_ref().map_or(SimTime::NEVER, |changing| changing.cursor.next_time())
    }

    /// The links that have changed until `now`.
    pub(crate) fn link_changes(&self, now: SimTime) -> Vec<LinkChangeTotals> {
        self.changing.as_ref().map_or_else(Vec::new, |changing| changing.cursor.totals(now))
    }

    /// What links carried from when on.
    pub(crate) fn link_steps(&self) -> Vec<LinkStep> {
        self.changing.as_ref().map_or_else(Vec::new, |changing| changing.cursor.log())
    }

    /// Whether changes of links matter for a transfer that is left: all but those whose link is down for good.
    pub(crate) fn heeds_changes(&self) -> bool {
        self.all.len() > 0 || self.waiting().any(|slot| self.lost_on(slot).is_none())
    }

    /// That transfers wait for a link which never comes up, if some do.
    pub(crate) fn stays_down(&self, time: SimTime) -> Option<SimError> {
        let link = self.waiting().find_map(|slot| self.lost_on(slot))?;
        let mut waiting: Vec<TaskId> = self.waiting().map(|slot| self.active[slot as usize].task).collect();
        waiting.sort_unstable();
        Some(SimError::StaysDown { time, link, waiting })
    }

    /// A link of a transfer's route that is down.
    pub(super) fn down_on(&self, slot: u32) -> Option<LinkId> {
        let changing = self.changing.as_ref()?;
        self.route_of(slot).iter().copied().find(|&link| changing.cursor.is_down(link))
    }

    /// A link of a transfer's own route that is down for good, if it can have no other way.
    fn lost_on(&self, slot: u32) -> Option<LinkId> {
        let changing = self.changing.as_ref()?;
        let own = self.classes.route(self.own_class(slot));
        let is_lost = |&link: &LinkId| !changing.cursor.is_up_in_time(link);
        let lost = self.routes.links(own).iter().copied().find(is_lost)?;
        let is_left = || self.routes.detour(self.fabric, own, &|link| changing.cursor.is_up_in_time(link)).is_some();
        (!self.is_rerouting() || !is_left()).then_some(lost)
    }

    pub(super) fn route_of(&self, slot: u32) -> &[LinkId] {
        self.routes.links(self.classes.route(self.active[slot as usize].class))
    }

    /// A transfer that the arbiter does not see has met a link that is down: it takes another route, or waits.
    pub(super) fn stop(&mut self, now: SimTime, slot: u32, link: LinkId) {
        if !self.is_rerouting() || !self.find_way(now, slot, link) {
            self.wait_for(now, slot, link);
        }
    }

    fn is_rerouting(&self) -> bool {
        self.changing.as_ref().is_some_and(|changing| changing.plan.links.on_failure.reroutes())
    }

    fn wait_for(&mut self, now: SimTime, slot: u32, link: LinkId) {
        let Some(changing) = &mut self.changing else { return };
        changing.waiting.push((slot, link));
        if changing.plan.links.on_failure == OnFailure::Fail {
            let task = self.active[slot as usize].task;
            changing.failure.get_or_insert(SimError::LinkDown { time: now, link, task });
        }
        self.wait_now_for(now, slot, link);
    }

    /// Records that the link that a transfer waits for is this one from now on.
    fn wait_now_for(&mut self, now: SimTime, slot: u32, link: LinkId) {
        self.stays_at(now, slot, Binding::new(link, Cause::LinkDown, u32::MAX));
    }

    /// Records what holds a transfer that the arbiter does not see from now on. By itself: what it has sent is lost.
    fn stays_at(&mut self, now: SimTime, slot: u32, down: Binding) {
        self.bottlenecks.change(slot, now, self.active[slot as usize].remaining, down, down);
    }

    /// What an explanation says of a transfer that waits.
    pub(super) fn waiting_step(&self, slot: u32) -> PhaseStep {
        let task = self.active[slot as usize].task;
        let link = self.down_on(slot).unwrap_or(LinkId::NONE);
        PhaseStep { task, region: 0, step: "link down".to_owned(), link, rate: 0.0, because: Vec::new() }
    }

    /// Changes the links that change at `now`: who is on one that goes down stops, and who waits for one that comes up
    /// goes on. Returns whether rates must be asked for because of that.
    pub(crate) fn change_links(&mut self, now: SimTime) -> Result<bool, SimError> {
        let Some(changing) = &mut self.changing else { return Ok(false) };
        if changing.cursor.next_time() > now {
            return Ok(false);
        }
        let changed = changing.cursor.take(now, self.fabric)?;
        changing.set(&changed, self.fabric);
        if changed.iter().any(LinkChange::turns) {
            changing.detours.forget_found();
        }
        let mut concerns = false;
        for &LinkChange { link, bandwidth, .. } in &changed {
            if self.neighbours.on(link).next().is_some() {
                concerns = true;
                self.neighbours.touch(link);
            }
            if bandwidth == 0.0 {
                self.stop_on(now, link);
            }
        }
        concerns |= changed.iter().any(|change| change.comes_up) && self.go_on(now);
        if let Some(changing) = &mut self.changing {
            changing.concerns |= concerns;
        }
        Ok(concerns)
    }

    /// Makes an arbiter for the links as they are, if they have changed since it was made. Returns whether it did.
    pub(super) fn renew_arbiter(&mut self, now: SimTime) -> Result<bool, SimError> {
        let Some(changing) = &mut self.changing else { return Ok(false) };
        changing.concerns = false;
        if let Some(failure) = changing.failure.take() {
            return Err(failure);
        }
        if !std::mem::take(&mut changing.is_stale) && !changing.detours.has_new() {
            return Ok(false);
        }
        let failed = |error| SimError::Arbiter(AnswerError::Failed { time: now, error });
        let mut arbiter = (changing.plan.make)(&changing.fabric).map_err(failed)?;
        changing.detours.accept(now, &self.routes, &mut *arbiter)?;
        self.call.replace(arbiter);
        self.call.know_routes(self.fabric, &self.routes);
        Ok(true)
    }

    /// Transfers over a link that goes down wait for it.
    fn stop_on(&mut self, now: SimTime, link: LinkId) {
        let mut slots: Vec<u32> = self.neighbours.on(link).collect();
        slots.sort_unstable_by_key(|&slot| self.active[slot as usize].task);
        // Several routes of one transfer may cross the link.
        slots.dedup();
        let begins_again = self.changing.as_ref().is_some_and(|changing| changing.plan.links.on_failure.restarts());
        for slot in slots {
            let transfer = &mut self.active[slot as usize];
            transfer.remaining = remaining_after(transfer.remaining, transfer.rate, now - transfer.since);
            transfer.blocked = transfer.blocked_until(now);
            (transfer.since, transfer.rate) = (now, 0.0);
            self.ends.set(slot as usize, SimTime::NEVER);
            self.all.remove(slot, &self.active);
            self.neighbours.detach(slot, self.routes.links(self.classes.route(self.active[slot as usize].class)));
            if begins_again {
                // What was sent is lost at this link, whatever comes next: it need not wait there.
                let task = self.active[slot as usize].task;
                self.stays_at(now, slot, Binding::new(link, Cause::LinkDown, task.0));
                let transfer = &mut self.active[slot as usize];
                transfer.remaining = transfer.bytes as f64;
            }
            self.stop(now, slot, link);
            self.changed = true;
        }
    }

    /// Transfers that have a way again go on. Returns whether any do.
    fn go_on(&mut self, now: SimTime) -> bool {
        let Some(changing) = &mut self.changing else { return false };
        let mut waiting = std::mem::take(&mut changing.waiting);
        let before = waiting.len();
        waiting.retain_mut(|(slot, link)| {
            let down = self.down_on(*slot);
            if self.is_rerouting() && self.find_way(now, *slot, down.unwrap_or(*link)) {
                return false;
            }
            match down {
                // Another link of its route is down than before.
                Some(down) if down != *link => {
                    *link = down;
                    self.wait_now_for(now, *slot, down);
                }
                None if !self.is_rerouting() => {
                    self.join(*slot);
                    self.changed = true;
                    return false;
                }
                _ => {}
            }
            true
        });
        let any = waiting.len() < before;
        if let Some(changing) = &mut self.changing {
            changing.waiting = waiting;
        }
        any
    }
}
