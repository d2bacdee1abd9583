//! Strict priority: one [`Shares`] per priority, each over what the higher ones leave of the links.
//!
//! A change at one priority changes what it uses of some links; that is what the lower ones get as capacities. So an event
//! costs what changes, at its own priority and below. With levels in integers the remainder is exact; as in the arbiter
//! (docs/arbiters.md) a remainder of at most 1e-9 of the bandwidth counts as 0.

use weir_plugin_api::{
    Answer, CallError, Cause, Change, ClassInfo, Hang, Holder, IncrementalArbiter, LinkId, LinkUse, RootLevel, SimTime,
    WeightChange,
};

use super::state::Shares;
use super::{Level, NONE};

/// A remainder of one part in so many counts as nothing, as in the arbiter.
const REMAINDER: u64 = 1_000_000_000;

#[derive(Debug)]
pub(super) struct Layer {
    priority: i64,
    pub(super) shares: Shares,
    /// Its classes as the host knows them, and its other nodes.
    classes: Vec<u32>,
    nodes: Vec<u32>,
    free_classes: Vec<u32>,
    /// What it uses of each link, in units.
    pub(super) used: Vec<Level>,
    removed: Vec<WeightChange>,
    added: Vec<WeightChange>,
    /// Whether a capacity has changed since its last call.
    is_squeezed: bool,
}

/// The incremental side of strict priority: the shares of all priorities.
#[derive(Debug)]
pub struct Layers {
    pub(super) capacities: Vec<u64>,
    /// By descending priority.
    pub(super) layers: Vec<Layer>,
    /// Per class of the host: its priority, and its number there.
    classes: Vec<(i64, u32)>,
    /// The first id of nodes that are no classes, and the next one.
    first_node: u32,
    next_node: u32,
    links: Vec<Line>,
    /// Links whose load may have changed in this call.
    touched: Vec<LinkId>,
    answer: Answer,
}

/// What is kept of a link, over all priorities.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Largest load so far.
    peak: Level,
    /// Since when it has transfers none of which moves, if so, and for how long it was so before; ps.
    stalled_since: Option<u64>,
    stalled: u64,
}

impl Layers {
    /// For links of these capacities, in units.
    pub(super) fn new(capacities: Vec<u64>, first_node: u32) -> Self {
        let links = vec![Line::default(); capacities.len()];
        let (layers, classes, touched, answer) = (Vec::new(), Vec::new(), Vec::new(), Answer::default());
        Self { capacities, layers, classes, first_node, next_node: first_node, links, touched, answer }
    }

    fn find(&self, priority: i64) -> Result<usize, usize> {
        self.layers.binary_search_by(|layer| priority.cmp(&layer.priority))
    }

    /// The place of a priority, new if need be.
    fn layer(&mut self, priority: i64) -> usize {
        self.find(priority).unwrap_or_else(|at| {
            let left = (0..self.capacities.len()).map(|link| self.left(link, at)).collect();
            let shares = Shares::new(left, self.first_node, false).be_layer();
            let (classes, nodes, free_classes) = (Vec::new(), Vec::new(), Vec::new());
            let (removed, added, used) = (Vec::new(), Vec::new(), vec![0; self.capacities.len()]);
            let is_squeezed = false;
            let layer = Layer { priority, shares, classes, nodes, free_classes, used, removed, added, is_squeezed };
            self.layers.insert(at, layer);
            at
        })
    }

    /// What the layers before `at` leave of a link.
    pub(super) fn left(&self, link: usize, at: usize) -> u64 {
        let used: u64 = self.layers[..at].iter().map(|layer| layer.used[link]).sum();
        let (capacity, left) = (self.capacities[link], self.capacities[link].saturating_sub(used));
        if left <= capacity / REMAINDER { 0 } else { left }
    }

    /// Arbitrates one layer, and gives those below it what it leaves.
    fn arbitrate_layer(&mut self, at: usize, now: SimTime, answer: &mut Answer) -> Result<(), CallError> {
        let layer = &mut self.layers[at];
        if layer.removed.is_empty() && layer.added.is_empty() && !std::mem::take(&mut layer.is_squeezed) {
            return Ok(());
        }
        layer.is_squeezed = false;
        self.answer.clear();
        let change = Change { now, removed: &layer.removed, added: &layer.added };
        layer.shares.settle(&change, &mut self.answer)?;
        layer.removed.clear();
        layer.added.clear();
        self.translate(at, answer);
        let mut loads = std::mem::take(&mut self.layers[at].shares.loads);
        for (link, load) in loads.drain(..) {
            self.touched.push(link);
            if std::mem::replace(&mut self.layers[at].used[link.index()], load) != load {
                self.squeeze(link, at);
            }
        }
        self.layers[at].shares.loads = loads;
        Ok(())
    }

    /// A class on a link that is served before those of a layer.
    fn above(&self, at: usize, link: LinkId) -> Option<u32> {
        let mut above = self.layers[..at].iter().filter(|layer| layer.used[link.index()] > 0);
        above.find_map(|layer| layer.shares.any_on(link).map(|class| layer.classes[class as usize]))
    }

    fn squeeze(&mut self, link: LinkId, above: usize) {
        for at in above + 1..self.layers.len() {
            let left = self.left(link.index(), at);
            self.layers[at].shares.set_capacity(link, left);
            self.layers[at].is_squeezed = true;
        }
    }

    /// Notes the load of a link after all priorities have their shares.
    fn note_load(&mut self, link: LinkId, now: u64) {
        let load: u64 = self.layers.iter().map(|layer| layer.used[link.index()]).sum();
        // What rounding down leaves of a full link is less than a unit per member.
        let is_full = load > 0 && self.layers.iter().any(|layer| layer.shares.is_full(link));
        let has_weight = self.layers.iter().any(|layer| layer.shares.has_weight(link));
        let line = &mut self.links[link.index()];
        line.peak = line.peak.max(if is_full { self.capacities[link.index()] } else { load });
        let is_stalled = load == 0 && has_weight;
        match line.stalled_since {
            None if is_stalled => line.stalled_since = Some(now),
            Some(since) if !is_stalled => {
                line.stalled += now - since;
                line.stalled_since = None;
            }
            _ => {}
        }
    }

    /// Adds an answer of one layer to that of all.
    fn translate(&mut self, at: usize, answer: &mut Answer) {
        let Self { layers, first_node, next_node, answer: own, .. } = self;
        let Layer { classes, nodes, .. } = &mut layers[at];
        let mut node = |local: u32| {
            let Some(at) = local.checked_sub(*first_node) else { return classes[local as usize] };
            while nodes.len() <= at as usize {
                nodes.push(*next_node);
                *next_node += 1;
            }
            nodes[at as usize]
        };
        answer.hung.extend(own.hung.iter().map(|hang| Hang { node: node(hang.node), below: node(hang.below) }));
        answer.levels.extend(own.levels.iter().map(|&level| RootLevel { root: node(level.root), ..level }));
    }
}

impl IncrementalArbiter for Layers {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        if let Some(&(priority, local)) = self.classes.get(id as usize)
            && let Ok(at) = self.find(priority)
        {
            self.layers[at].free_classes.push(local);
        }
        let at = self.layer(class.priority);
        let layer = &mut self.layers[at];
        let local = layer.free_classes.pop().unwrap_or(layer.classes.len() as u32);
        put(&mut layer.classes, local, id);
        put(&mut self.classes, id, (class.priority, local));
        layer.shares.add_class(local, class);
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        for (entries, is_added) in [(change.removed, false), (change.added, true)] {
            for &WeightChange { class, weight } in entries {
                let (priority, local) = self.classes[class as usize];
                let Ok(at) = self.find(priority) else { continue };
                let layer = &mut self.layers[at];
                let list = if is_added { &mut layer.added } else { &mut layer.removed };
                list.push(WeightChange { class: local, weight });
            }
        }
        for at in 0..self.layers.len() {
            self.arbitrate_layer(at, change.now, answer)?;
        }
        for at in 0..self.touched.len() {
            self.note_load(self.touched[at], change.now.0);
        }
        self.touched.clear();
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        let (priority, local) = self.classes[class as usize];
        let Ok(at) = self.find(priority) else {
            return Holder { link: LinkId::NONE, cause: Cause::OwnLimit, by: NONE };
        };
        let Holder { link, cause, by } = self.layers[at].shares.holder(local);
        if !link.is_none()
            && let Some(by) = self.above(at, link)
        {
            return Holder { link, cause: Cause::Priority, by };
        }
        let by = self.layers[at].classes.get(by as usize).copied().unwrap_or(NONE);
        Holder { link, cause, by }
    }

    fn link_use(&self, link: LinkId, now: SimTime) -> LinkUse {
        let line = &self.links[link.index()];
        let stalled_ps = line.stalled + line.stalled_since.map_or(0, |since| now.0 - since);
        LinkUse { peak: Some(line.peak), is_full: line.peak == self.capacities[link.index()], stalled_ps }
    }

    fn verify(&self) -> Result<(), String> {
        self.check()
    }
}

/// Sets an entry that exists, or is the next.
fn put<T>(list: &mut Vec<T>, at: u32, entry: T) {
    match list.get_mut(at as usize) {
        Some(place) => *place = entry,
        None => list.push(entry),
    }
}
