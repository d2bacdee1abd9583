//! Sharing kept up from event to event: an event costs what it changes, not what is active.
//!
//! ```text
//! admit ─┐                  weights                       levels, moves                      ┌─► next_end, take_ended
//!        ├─► Clocks (events) ─────► IncrementalArbiter (any) ─────────► Clocks: first ends ──┤
//! ended ─┘                                                              of roots that changed ┘
//! ```
//!
//! The mathematics is in docs/incremental.md. [`Incremental`] is this for a simulation: fabric, routes and classes become
//! the links and classes of [`Clocks`] and of the arbiter, which know integers only.

mod alone;
mod answers;
mod clocks;
mod events;
mod heap;
mod nodes;
mod numbers;
mod paths;
mod progress;
mod resources;
mod soonest;
#[cfg(test)]
mod tests;
mod turns;

use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;
use weir_plugin_api::{
    Binding, CallError, Cause, ClassId, Flags, HORIZON, IncrementalArbiter, IncrementalEntry, LinkId, NO_ID as NONE,
    RouteId, Setting, SimDuration, SimTime,
};

use crate::fabric::Fabric;
use crate::flows::Ended;
use crate::outcome::{Bottleneck, LinkTotals};
use crate::routes::Routes;
use crate::stream::Census;
use crate::tasks::{TaskGraph, TaskId, Work};
use clocks::Clocks;
use events::Gone;
use numbers::{INF, Level, Scale};
use progress::Standing;
use resources::Resources;

/// The active transfers of a run under a policy whose answers are changes.
pub(crate) struct Incremental<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    tasks: &'a TaskGraph,
    scale: Scale,
    flags: Flags,
    clocks: Clocks,
    arbiter: Box<dyn IncrementalArbiter>,
    /// Per resource of the fabric, its record in `clocks`; [`NONE`] until a transfer takes it.
    record_of: Vec<u32>,
    /// Per class of the tasks.
    class_of: Vec<ClassPath>,
    /// Route → path in `clocks` of the transfers without a limit, of priority 0; [`NONE`] until there is one.
    unlimited: Vec<u32>,
    /// (Route, level of the limit, priority) → path of the others; for look-up only.
    others: FxHashMap<(RouteId, Level, i64), u32>,
    /// Per class of the tasks: bytes sent.
    sent: Vec<u64>,
    gone: Vec<Gone>,
    arbitrations: u64,
    /// What the active transfers of a stream carry, whose tasks are not in `tasks`; for look-up only.
    carried: Option<FxHashMap<u32, (ClassId, u64)>>,
}

/// The incremental side that a run asks for.
pub(crate) struct IncrementalRequest<'a> {
    pub(crate) entry: &'a IncrementalEntry,
    /// The arbiter's parameters, a JSON object.
    pub(crate) params: &'a str,
    /// What the arbiter reads: priorities and weights of others are all the same to it.
    pub(crate) flags: Flags,
    /// Whether the peaks of all links must be known in the end.
    pub(crate) wants_peaks: bool,
}

/// A class of the tasks in `clocks`.
#[derive(Clone, Copy, Debug)]
struct ClassPath {
    /// [`NONE`] until it is known.
    path: u32,
    weight: u32,
}

impl<'a> Incremental<'a> {
    /// For the transfers of these tasks; `None` where the numbers do not fit (bandwidths that differ so much that shares
    /// would be coarse, or weights with many digits), or the arbiter does not serve these parameters. Where nobody wants peaks,
    /// those of some links are unknown in the end.
    ///
    /// # Errors
    /// The arbiter failed.
    pub(crate) fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        tasks: &'a TaskGraph,
        census: &Census,
        asked: &IncrementalRequest<'_>,
    ) -> Result<Option<Self>, CallError> {
        let IncrementalRequest { entry, params, flags, wants_peaks } = *asked;
        let Some((scale, used)) = fitting_scale(fabric, routes, tasks, census, flags) else { return Ok(None) };
        let classes = tasks.classes.len();
        // One that ends and one that begins at an instant are two to the arbiter, even if both are of one class.
        let ids = 2 * classes;
        let resources = Resources(fabric);
        let capacities: Vec<u64> = resources.bandwidths().map(|b| scale.units(b)).collect();
        let setting = Setting {
            fabric: fabric.view(),
            capacities: &capacities,
            shared: fabric.shared().len() as u32,
            links: used as u32,
            classes: ids as u32,
            priorities: priorities(tasks, census),
            bits: scale.bits(),
            wants_peaks,
        };
        let arbiter = match (entry.make)(&setting, params) {
            Err(CallError::Refused(_)) => return Ok(None),
            made => made?,
        };
        let mut clocks = Clocks::with_room(resources.len(), used, ids);
        if entry.in_turn {
            clocks.serve_in_turn();
        }
        Ok(Some(Self {
            fabric,
            routes,
            tasks,
            scale,
            flags,
            clocks,
            arbiter,
            record_of: vec![NONE; resources.len()],
            class_of: vec![ClassPath { path: NONE, weight: 0 }; classes],
            unlimited: vec![NONE; routes.len()],
            others: FxHashMap::default(),
            sent: vec![0; classes],
            gone: Vec::new(),
            arbitrations: 0,
            carried: None,
        }))
    }

    /// Transfers are no tasks of the graph: what they carry is kept from [`Self::admit`] on.
    pub(crate) fn keep_carried(&mut self) {
        self.carried = Some(FxHashMap::default());
    }

    /// Adds a transfer whose bytes flow from `now` on.
    pub(crate) fn admit(&mut self, now: SimTime, task: TaskId, class: ClassId, bytes: u64) {
        if let Some(carried) = &mut self.carried {
            carried.insert(task.0, (class, bytes));
        }
        let ClassPath { path, weight } = match self.class_of[class.index()] {
            ClassPath { path: NONE, .. } => self.learn(class),
            known => known,
        };
        self.clocks.admit(now.0, task.0, path, weight, self.scale.work(bytes, weight));
    }

    /// Makes a class of the tasks known, with the links it crosses.
    fn learn(&mut self, id: ClassId) -> ClassPath {
        let (route, limit) = (self.tasks.classes.route(id), self.tasks.classes.limit(id));
        let weight = self.scale.weight(weight(self.tasks, id, self.flags));
        let resources = Resources(self.fabric);
        let binds = || resources.exceed(limit, self.routes.links(route));
        let limit =
            if limit.is_finite() && binds() { (self.scale.units(limit) / u64::from(weight)).max(1) } else { INF };
        // Where priorities mean nothing, transfers of all priorities are of one class.
        let priority = if self.flags.contains(Flags::READS_PRIORITY) { self.tasks.classes.priority(id) } else { 0 };
        let known = if limit == INF && priority == 0 {
            Some(self.unlimited[route.index()]).filter(|&path| path != NONE)
        } else {
            self.others.get(&(route, limit, priority)).copied()
        };
        let path = known.unwrap_or_else(|| self.add_path(route, limit, priority));
        let known = ClassPath { path, weight };
        self.class_of[id.index()] = known;
        known
    }

    fn add_path(&mut self, route: RouteId, limit: Level, priority: i64) -> u32 {
        let resources = Resources(self.fabric);
        let taken = resources.of(self.routes.links(route));
        for &resource in &*taken {
            let record = &mut self.record_of[resource.index()];
            if *record == NONE {
                *record = self.clocks.add_link(resource, self.scale.units(resources.bandwidth(resource)));
            }
        }
        let records = taken.iter().map(|link| self.record_of[link.index()]);
        let path = self.clocks.add_path(records, limit, priority, &*self.arbiter);
        if limit == INF && priority == 0 {
            self.unlimited[route.index()] = path;
        } else {
            self.others.insert((route, limit, priority), path);
        }
        path
    }

    /// When the next transfer sends its last byte; [`SimTime::NEVER`] for none within the horizon.
    #[inline]
    pub(crate) fn next_end(&self) -> SimTime {
        let end = SimTime(self.clocks.next_end());
        if end <= HORIZON { end } else { SimTime::NEVER }
    }

    /// Takes out the transfers whose last byte leaves at `now`, in id order.
    pub(crate) fn take_ended(&mut self, now: SimTime, out: &mut Vec<Ended>) {
        if self.next_end() != now {
            return;
        }
        let mut gone = std::mem::take(&mut self.gone);
        self.clocks.take_ended(now.0, &*self.arbiter, &mut gone);
        gone.sort_unstable_by_key(|g| g.id);
        for g in gone.drain(..) {
            if let Some((class, bytes)) = self.carries(g.id) {
                self.sent[class.index()] += bytes;
                if let Some(carried) = &mut self.carried {
                    carried.remove(&g.id);
                }
                let (task, bottleneck) = (TaskId(g.id), self.bottleneck(&g, class));
                out.push(Ended { task, class, bytes, bottleneck, rerouted: None });
            }
        }
        self.gone = gone;
    }

    fn carries(&self, id: u32) -> Option<(ClassId, u64)> {
        if let Some(carried) = &self.carried {
            return carried.get(&id).copied();
        }
        match self.tasks.tasks[id as usize].work {
            Work::Carries { bytes, class } => Some((class, bytes)),
            _ => None,
        }
    }

    /// What limited a transfer at its end.
    fn bottleneck(&self, gone: &Gone, class: ClassId) -> Bottleneck {
        let (resources, route) = (Resources(self.fabric), self.routes.links(self.tasks.classes.route(class)));
        let (resource, cause, by) = match gone.link.is_none() {
            true => (resources.narrowest(route), Cause::OwnLimit, NONE),
            false => (gone.link, gone.cause, gone.by),
        };
        let binding = match resources.shared(resource) {
            None => Binding::new(resource, cause, by),
            Some(number) => {
                let link = self.fabric.shared.first(number, route);
                let is_shared = cause == Cause::SharedLink;
                if is_shared { Binding::of_shared(link, number, by) } else { Binding::new(link, cause, by) }
            }
        };
        let blocked = match gone.blocked {
            Some(blocked) => SimDuration(blocked),
            None if self.clocks.has_blocked() => SimDuration::FOREVER,
            None => SimDuration::ZERO,
        };
        Bottleneck { binding, time: SimDuration(gone.time), blocked }
    }

    /// Whether shares are out of date.
    #[inline]
    pub(crate) fn is_outdated(&self) -> bool {
        self.clocks.is_outdated()
    }

    /// Makes all shares right.
    ///
    /// # Errors
    /// The arbiter failed, or its answer is wrong.
    pub(crate) fn arbitrate(&mut self, now: SimTime) -> Result<(), CallError> {
        self.arbitrations += 1;
        self.clocks.arbitrate(now.0, &mut *self.arbiter)
    }

    pub(crate) fn len(&self) -> usize {
        self.clocks.active()
    }

    /// The active transfers with their rates, in id order.
    pub(crate) fn rates(&self, now: SimTime) -> Vec<(TaskId, f64)> {
        let all = self.clocks.standings(now.0, &*self.arbiter);
        all.iter().map(|s| (TaskId(s.id), self.scale.rate(s.level) * f64::from(s.weight))).collect()
    }

    /// The active transfers with the bytes that they have sent, in id order.
    pub(crate) fn sent(&self, now: SimTime) -> Vec<(TaskId, u64)> {
        let standings = self.clocks.standings(now.0, &*self.arbiter);
        let sent = standings.iter().filter_map(|s| Some((TaskId(s.id), self.sent_of(s, self.carries(s.id)?.1))));
        sent.collect()
    }

    fn sent_of(&self, standing: &Standing, bytes: u64) -> u64 {
        bytes - self.scale.bytes_left(standing.left, standing.weight).min(bytes)
    }

    /// The state of every active transfer at the end of an unfinished run: (task, bytes sent, bottleneck so far).
    pub(crate) fn close(&mut self, now: SimTime) -> Vec<(TaskId, u64, Bottleneck)> {
        let mut all = Vec::with_capacity(self.len());
        for standing in self.clocks.standings(now.0, &*self.arbiter) {
            let Some((class, bytes)) = self.carries(standing.id) else { continue };
            let sent = self.sent_of(&standing, bytes);
            self.sent[class.index()] += sent;
            all.push((TaskId(standing.id), sent, self.bottleneck(&standing.gone, class)));
        }
        all
    }

    /// Totals of all links up to `now`.
    pub(crate) fn link_totals(&self, now: SimTime) -> Vec<LinkTotals> {
        let mut totals: Vec<LinkTotals> =
            (0..self.fabric.links().len()).map(|l| self.total(LinkId::from_index(l), now)).collect();
        for (class, &bytes) in self.sent.iter().enumerate() {
            for &link in self.routes.links(self.tasks.classes.route(ClassId::from_index(class))) {
                totals[link.index()].bytes += bytes;
            }
        }
        totals
    }

    /// Busy time and peak of a link; its bytes are known by class.
    fn total(&self, link: LinkId, now: SimTime) -> LinkTotals {
        let record = self.record_of[link.index()];
        if record == NONE {
            return LinkTotals::default();
        }
        let (busy, alone) = self.clocks.carried(record, now.0);
        let shared = self.arbiter.link_use(link, now);
        let busy = busy.saturating_sub(shared.stalled_ps);
        let bandwidth = self.fabric.bandwidths()[link.index()];
        let full = shared.is_full || alone == self.scale.units(bandwidth);
        let known = shared.peak.map(|peak| self.scale.rate(peak.max(alone)));
        LinkTotals { bytes: 0, busy: SimDuration(busy), peak: if full { Some(bandwidth) } else { known } }
    }

    /// Instants in which shares were made right.
    pub(crate) fn arbitrations(&self) -> u64 {
        self.arbitrations
    }
}

/// The weight of a class as far as the arbiter reads it.
fn weight(tasks: &TaskGraph, class: ClassId, flags: Flags) -> f64 {
    if flags.contains(Flags::READS_WEIGHT) { tasks.classes.weight(class) } else { 1.0 }
}

/// How many different priorities there are.
fn priorities(tasks: &TaskGraph, census: &Census) -> u32 {
    let mut all: Vec<i64> = census.classes().map(|(class, _)| tasks.classes.priority(class)).collect();
    all.sort_unstable();
    all.dedup();
    all.len() as u32
}

/// The scale for all transfers, and how many resources they take; `None` where no scale is exact enough, or a transfer takes
/// a resource twice.
fn fitting_scale(
    fabric: &Fabric,
    routes: &Routes,
    tasks: &TaskGraph,
    census: &Census,
    flags: Flags,
) -> Option<(Scale, usize)> {
    let most_bytes = census.most_bytes().max(1);
    let resources = Resources(fabric);
    let (mut load, mut weights, mut limited) = (vec![0.0; resources.len()], Vec::new(), Vec::new());
    for (id, own) in census.classes() {
        let weight = weight(tasks, id, flags);
        if weights.last() != Some(&weight) {
            weights.push(weight);
        }
        let limit = tasks.classes.limit(id);
        if limit.is_finite() {
            limited.push((limit, weight));
        }
        let route = routes.links(tasks.classes.route(id));
        if !resources.each_once(route) {
            return None;
        }
        for &resource in &*resources.of(route) {
            load[resource.index()] += weight * f64::from(own.transfers);
        }
    }
    weights.sort_unstable_by_key(|&weight| OrderedFloat(weight));
    weights.dedup();
    if weights.is_empty() {
        return None;
    }
    let used = || load.iter().zip(resources.bandwidths()).filter(|&(&load, _)| load > 0.0);
    let scale = Scale::new(used().map(|(_, width)| width).fold(0.0, f64::max), most_bytes, &weights)?;
    let fits = used().all(|(&load, width)| scale.is_fine_enough(width, load))
        && limited.iter().all(|&(limit, weight)| scale.is_fine_enough(limit, weight));
    fits.then(|| (scale, used().count()))
}
