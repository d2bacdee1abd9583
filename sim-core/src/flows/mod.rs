//! What moves bytes: the active transfers, their rates and progress.
//!
//! ```text
//! admit ─┐                              ┌─► next_end, take_ended
//!        ├─► arbitrate: connected set ─► arbiter ─► check ─► only changed rates touch a transfer
//! ended ─┘        (neighbours)       (call)   (loads)          (ends, bottlenecks)
//! ```
//!
//! This is the whole interface between the simulation and rates: [`Flows::admit`], [`Flows::take_ended`],
//! [`Flows::next_end`], [`Flows::arbitrate`]. Another way of moving bytes replaces this module and nothing else.

mod bottlenecks;
mod call;
mod changing;
mod columns;
mod detours;
mod loads;
mod neighbours;

use std::borrow::Cow;

use weir_plugin_api::{Binding, ClassId, Flags, LinkId, RateArbiter, SimDuration, SimTime, Step, TransferId};

use crate::classes::Classes;
use crate::ends::Ends;
use crate::fabric::Fabric;
use crate::outcome::{Bottleneck, LinkTotals, PhaseStep, RemarkCount, SimError};
use crate::progress::{remaining_after, time_to_send};
use crate::routes::{Routes, full_rate};
use crate::tasks::TaskId;
use bottlenecks::BottleneckLog;
use call::ArbiterCall;
use changing::ChangingLinks;
use columns::{ActiveColumns, ActiveSet};
use loads::Loads;
use neighbours::Neighbours;

/// One active transfer: its progress at its last change of rate.
#[derive(Clone, Copy, Debug)]
struct Active {
    task: TaskId,
    class: ClassId,
    bytes: u64,
    remaining: f64,
    since: SimTime,
    rate: f64,
    arrival: SimTime,
    /// How long its rate has been 0, up to `since`.
    blocked: SimDuration,
}

impl Active {
    fn sent(&self, now: SimTime) -> (TaskId, u64) {
        let remaining = remaining_after(self.remaining, self.rate, now - self.since);
        (self.task, self.bytes - (remaining.ceil() as u64).min(self.bytes))
    }

    /// How long its rate has been 0.
    fn blocked_until(&self, now: SimTime) -> SimDuration {
        if self.rate == 0.0 { self.blocked.plus(now - self.since) } else { self.blocked }
    }
}

/// A transfer whose last byte has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) task: TaskId,
    pub(crate) class: ClassId,
    pub(crate) bytes: u64,
    pub(crate) bottleneck: Bottleneck,
    /// Of one that took another route than its class says: the time until all of it has arrived.
    pub(crate) rerouted: Option<SimDuration>,
}

/// The active transfers of a run, rated one by one by any plain arbiter.
pub(crate) struct Flows<'a> {
    fabric: &'a Fabric,
    /// With those that transfers took because links were down.
    routes: Cow<'a, Routes>,
    classes: Cow<'a, Classes>,
    call: ArbiterCall<'a>,
    all: ActiveSet,
    /// The part of them that is connected to the changes of this instant.
    part: ActiveColumns,
    active: Vec<Active>,
    free: Vec<u32>,
    ends: Ends,
    neighbours: Neighbours,
    loads: Loads,
    bottlenecks: BottleneckLog,
    changed: bool,
    /// Where links change.
    changing: Option<Box<ChangingLinks<'a>>>,
    scratch: Vec<u32>,
}

impl<'a> Flows<'a> {
    pub(crate) fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        classes: &'a Classes,
        arbiter: &'a mut dyn RateArbiter,
        flags: Flags,
    ) -> Self {
        Self {
            fabric,
            routes: Cow::Borrowed(routes),
            classes: Cow::Borrowed(classes),
            call: ArbiterCall::new(arbiter, flags, fabric, routes),
            all: ActiveSet::default(),
            part: ActiveColumns::default(),
            active: Vec::new(),
            free: Vec::new(),
            ends: Ends::default(),
            neighbours: Neighbours::new(fabric.links().len()),
            loads: Loads::new(fabric),
            bottlenecks: BottleneckLog::default(),
            changed: false,
            changing: None,
            scratch: Vec::new(),
        }
    }

    /// Adds a transfer whose bytes flow from `now` on, at the rate of the next [`Self::arbitrate`].
    pub(crate) fn admit(&mut self, now: SimTime, task: TaskId, class: ClassId, bytes: u64) {
        let (remaining, blocked) = (bytes as f64, SimDuration::ZERO);
        let fresh = Active { task, class, bytes, remaining, since: now, rate: 0.0, arrival: now, blocked };
        let slot = if let Some(slot) = self.free.pop() {
            self.active[slot as usize] = fresh;
            slot
        } else {
            self.active.push(fresh);
            self.ends.add_slot();
            self.bottlenecks.add_slot();
            (self.active.len() - 1) as u32
        };
        self.changed = true;
        match self.down_on(slot) {
            Some(link) => self.stop(now, slot, link),
            None => self.join(slot),
        }
    }

    /// A transfer is among those that the arbiter sees.
    fn join(&mut self, slot: u32) {
        self.all.insert(slot, &self.active);
        self.neighbours.attach(slot, self.routes.links(self.classes.route(self.active[slot as usize].class)));
    }

    /// When the next transfer sends its last byte, at present rates; [`SimTime::NEVER`] for none within the horizon.
    #[inline]
    pub(crate) fn next_end(&self) -> SimTime {
        self.ends.earliest()
    }

    /// Takes out the transfers whose last byte leaves at `now`, in id order.
    pub(crate) fn take_ended(&mut self, now: SimTime, out: &mut Vec<Ended>) {
        if self.ends.earliest() != now {
            return;
        }
        let mut slots = std::mem::take(&mut self.scratch);
        slots.clear();
        self.ends.slots_at(now, &mut slots);
        let active = &self.active;
        slots.sort_unstable_by_key(|&s| active[s as usize].task);
        for &slot in &slots {
            let ended = self.active[slot as usize];
            self.ends.set(slot as usize, SimTime::NEVER);
            self.all.remove(slot, &self.active);
            self.neighbours.detach(slot, self.routes.links(self.classes.route(ended.class)));
            self.deliver(slot, ended.bytes);
            let (class, rerouted) = self.end_detour(now, slot);
            let full = self.full_rate(class);
            let bottleneck =
                Bottleneck { blocked: ended.blocked_until(now), ..self.bottlenecks.close(slot, now, 0.0, full) };
            out.push(Ended { task: ended.task, class, bytes: ended.bytes, bottleneck, rerouted });
            self.free.push(slot);
        }
        self.changed |= !slots.is_empty();
        self.scratch = slots;
    }

    /// The rate that a transfer of a class could have if nothing else were there.
    fn full_rate(&self, class: ClassId) -> f64 {
        let route = self.routes.links(self.classes.route(class));
        full_rate(self.fabric, self.routes.has_branches(), route, self.classes.limit(class))
    }

    /// Whether rates are out of date at `now`.
    #[inline]
    pub(crate) fn is_outdated(&self, now: SimTime) -> bool {
        self.changed || self.call.recheck() == now || self.changing.as_ref().is_some_and(|changing| changing.concerns)
    }

    /// When the arbiter wants to be asked again even if nothing changes.
    #[inline]
    pub(crate) fn recheck(&self) -> SimTime {
        self.call.recheck()
    }

    /// Gives new rates to every transfer connected to the changes since the last call. Returns whether any rate
    /// changed its bits or any transfer came or went.
    pub(crate) fn arbitrate(&mut self, now: SimTime) -> Result<bool, SimError> {
        let is_renewed = self.renew_arbiter(now)?;
        let whole = self.call.wants_whole_set(now) || !self.find_part();
        if whole {
            self.all.make_ready(&self.active);
        }
        let columns = if whole { self.all.columns() } else { &self.part };
        let fabric = self.changing.as_ref().map_or(self.fabric, |changing| &changing.fabric);
        self.call.ask(&columns.phase(now, &self.classes, &self.routes), fabric)?;
        self.loads.commit(now, &self.call.answer, self.neighbours.touched());
        self.neighbours.forget_touched();
        let moved = self.apply(now, whole, is_renewed);
        Ok(std::mem::take(&mut self.changed) || moved)
    }

    /// Puts the connected part into `self.part`; false where it would be most of the whole set.
    fn find_part(&mut self) -> bool {
        let (active, routes, classes) = (&self.active, &*self.routes, &*self.classes);
        let route_of = |slot: u32| routes.links(classes.route(active[slot as usize].class));
        let Some(found) = self.neighbours.connected(self.all.len(), active.len(), route_of) else {
            return false;
        };
        self.part.show(found, active);
        self.all.not_needed();
        true
    }

    /// Moves every transfer whose rate changed its bits; the others are not touched. With another arbiter all reasons are
    /// named anew.
    fn apply(&mut self, now: SimTime, whole: bool, names_anew: bool) -> bool {
        let columns = if whole { self.all.columns() } else { &self.part };
        let mut moved = false;
        let answers = self.call.answer.rates.iter().zip(&self.call.answer.bindings);
        for (&slot, (&rate, &binding)) in columns.slots.iter().zip(answers) {
            let transfer = &mut self.active[slot as usize];
            if rate.to_bits() != transfer.rate.to_bits() {
                transfer.remaining = remaining_after(transfer.remaining, transfer.rate, now - transfer.since);
                transfer.blocked = transfer.blocked_until(now);
                transfer.since = now;
                transfer.rate = rate;
                self.ends.set(slot as usize, now.after(time_to_send(transfer.remaining, rate, now - transfer.arrival)));
                moved = true;
            }
            if names_anew || self.bottlenecks.differs(slot, &binding) {
                let route = self.routes.links(self.classes.route(transfer.class));
                let named = named(binding, route, columns, &self.loads);
                let named = self.changing.as_ref().map_or(named, |changing| changing.named(named, self.fabric));
                let left = remaining_after(transfer.remaining, transfer.rate, now - transfer.since);
                self.bottlenecks.change(slot, now, left, binding, named);
            }
        }
        moved
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len() + self.waiting().count()
    }

    /// The active transfers with their rates, in id order.
    pub(crate) fn rates(&mut self) -> Vec<(TaskId, f64)> {
        self.all.make_ready(&self.active);
        let slots = self.all.columns().slots.iter().copied().chain(self.waiting());
        let mut rates: Vec<_> = slots.map(|s| (self.active[s as usize].task, self.active[s as usize].rate)).collect();
        if self.len() > self.all.len() {
            rates.sort_unstable_by_key(|&(task, _)| task);
        }
        rates
    }

    /// The active transfers with the bytes that they have sent, in id order.
    pub(crate) fn sent(&mut self, now: SimTime) -> Vec<(TaskId, u64)> {
        self.all.make_ready(&self.active);
        let slots = self.all.columns().slots.iter().copied().chain(self.waiting());
        let mut sent: Vec<_> = slots.map(|slot| self.active[slot as usize].sent(now)).collect();
        sent.sort_unstable();
        sent
    }

    /// The arbiter's steps for all active transfers; from the bindings where it has no explanation.
    pub(crate) fn explain(&mut self, now: SimTime) -> Result<Vec<PhaseStep>, SimError> {
        let mut steps = Vec::new();
        self.all.make_ready(&self.active);
        let all = self.all.columns();
        if !self.call.explain(&all.phase(now, &self.classes, &self.routes), &mut steps)? {
            for (i, &slot) in all.slots.iter().enumerate() {
                let binding = self.bottlenecks.current(slot);
                let because = all.ids.binary_search(&TransferId(binding.by)).into_iter();
                steps.push(Step {
                    transfer: i as u32,
                    region: 0,
                    step: "rate".to_owned(),
                    link: binding.link,
                    rate: self.active[slot as usize].rate,
                    because: because.map(|at| at as u32).collect(),
                });
            }
        }
        let task = |at: u32| all.ids.get(at as usize).map(|id| TaskId(id.0));
        let waiting = self.waiting().map(|slot| self.waiting_step(slot));
        let named = steps.into_iter().filter_map(|s| {
            let because = s.because.iter().filter_map(|&b| task(b)).collect();
            Some(PhaseStep {
                task: task(s.transfer)?,
                region: s.region,
                step: s.step,
                link: s.link,
                rate: s.rate,
                because,
            })
        });
        Ok(named.chain(waiting).collect())
    }

    /// The state of every active transfer at the end of an unfinished run: (task, bytes sent, bottleneck so far).
    pub(crate) fn close(&mut self, now: SimTime) -> Vec<(TaskId, u64, Bottleneck)> {
        let mut left = Vec::with_capacity(self.all.len());
        self.all.make_ready(&self.active);
        let slots: Vec<u32> = self.all.columns().slots.iter().copied().chain(self.waiting()).collect();
        for slot in slots {
            let a = self.active[slot as usize];
            let remaining = remaining_after(a.remaining, a.rate, now - a.since);
            let (_, sent) = a.sent(now);
            self.deliver(slot, sent);
            let full = self.full_rate(self.own_class(slot));
            let bottleneck = self.bottlenecks.close(slot, now, remaining, full);
            left.push((a.task, sent, Bottleneck { blocked: a.blocked_until(now), ..bottleneck }));
        }
        left
    }

    /// Totals of all links up to `now`.
    pub(crate) fn link_totals(&self, now: SimTime) -> Vec<LinkTotals> {
        self.loads.totals(now)
    }

    /// Times the arbiter was asked.
    pub(crate) fn arbitrations(&self) -> u64 {
        self.call.asked()
    }

    /// What the arbiter remarked on its answers.
    pub(crate) fn remarks(&self) -> Vec<RemarkCount> {
        self.call.remarks()
    }
}

/// The arbiter's binding with a task id in `by`; where it names no link of the route, the most loaded one.
fn named(binding: Binding, route: &[LinkId], columns: &ActiveColumns, loads: &Loads) -> Binding {
    let by = columns.ids.get(binding.by as usize).map_or(u32::MAX, |id| id.0);
    let link = if route.contains(&binding.link) { binding.link } else { loads.most_loaded(route) };
    Binding { link, by, ..binding }
}
