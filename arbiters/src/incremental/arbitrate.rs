//! One call: weights come and go, shares are made right, and what changed is reported.

use weir_plugin_api::{
    Answer, CallError, Cause, Change, ClassInfo, Hang, Holder, IncrementalArbiter, LinkId, LinkUse, RootLevel, SimTime,
    WeightChange,
};

use super::state::{Link, Shares};
use super::{INF, Level, NONE};

/// From this many arrivals in one instant on, a new bundle's first link is guessed as if all were alike.
const MANY: usize = 64;

impl IncrementalArbiter for Shares {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        self.set_class(id, class.links, class.limit);
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        for &WeightChange { class, weight } in change.removed {
            self.take_weight(class, weight);
        }
        for &WeightChange { class, weight } in change.added {
            for at in self.links_of(class) {
                self.links[self.class_links[at] as usize].weight += u64::from(weight);
            }
        }
        for &WeightChange { class, weight } in change.added {
            self.place(class, u64::from(weight), change.added.len() >= MANY);
        }
        self.relax();
        if self.sleepy {
            self.wake_and_sleep();
        }
        let reported = self.report(answer);
        self.free_links();
        reported
    }

    fn holder(&self, class: u32) -> Holder {
        let index = self.link_record_of(class);
        let link = &self.links[index as usize];
        if link.is_limit {
            return Holder { link: LinkId::NONE, cause: Cause::OwnLimit, by: NONE };
        }
        // One that crosses the link and is held back elsewhere; those that it holds back are below its node.
        let crossing = self.cells.of(index).ins.iter().filter_map(|c| self.cells.members(c.cell).next());
        let mut heads = crossing.map(|bundle| self.bundles[bundle as usize].head);
        let by = heads.find(|&other| other != NONE && other != class).unwrap_or(NONE);
        Holder { link: link.id, cause: Cause::SharedLink, by }
    }

    fn link_use(&self, link: LinkId, _now: SimTime) -> LinkUse {
        match self.links.get(self.record_of[link.index()] as usize) {
            Some(link) => {
                let peak = (!self.sleepy).then_some(link.peak);
                LinkUse { peak, is_full: link.peak == link.capacity, stalled_ps: 0 }
            }
            None => {
                let (peak, capacity) = (self.peaks[link.index()], self.capacities[link.index()]);
                LinkUse { peak: Some(peak), is_full: peak == capacity, stalled_ps: 0 }
            }
        }
    }

    fn verify(&self) -> Result<(), String> {
        self.check()
    }
}

impl Shares {
    /// Takes the weight of an ended transfer off its links, and its class out of use if it was the last.
    fn take_weight(&mut self, class: u32, weight: u32) {
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &mut self.links[link as usize];
            record.weight -= u64::from(weight);
            if record.weight == 0 {
                self.emptied.push(link);
            }
        }
        if self.sleepy {
            self.reserve(class, -i64::from(weight));
        }
        let record = &mut self.classes[class as usize];
        record.weight -= u64::from(weight);
        if record.weight > 0 {
            let bundle = record.bundle;
            self.change_weight(bundle, -i64::from(weight));
            return;
        }
        if self.sleepy {
            self.forget_class(class);
        }
        let bundle = self.leave(class);
        if self.bundles[bundle as usize].weight == u64::from(weight) {
            self.dissolve(bundle);
        } else {
            self.change_weight(bundle, -i64::from(weight));
        }
    }

    /// Wakes links until nothing quiet can be full, and lets others sleep, once.
    #[inline(never)]
    fn wake_and_sleep(&mut self) {
        let mut slept = false;
        loop {
            self.keep_promises();
            if !self.wake_overbooked() && (std::mem::replace(&mut slept, true) || !self.go_to_sleep()) {
                return;
            }
            self.relax();
        }
    }

    /// Gives a class more weight; one that had none gets a bundle.
    fn place(&mut self, class: u32, weight: u64, many: bool) {
        let bundle = self.classes[class as usize].bundle;
        if bundle == NONE {
            self.place_class(class, weight, many);
            return;
        }
        self.change_weight(bundle, weight as i64);
        self.classes[class as usize].weight += weight;
        if self.sleepy {
            self.reserve(class, weight as i64);
        }
    }

    /// Puts a class without weight into a bundle, with this weight.
    fn place_class(&mut self, class: u32, weight: u64, many: bool) {
        let link = self.first_link(class, weight, many);
        let bundle = if self.sleepy { self.bundle_for(class) } else { self.bundle_of_class(class) };
        if self.bundles[bundle as usize].link == NONE {
            self.bundles[bundle as usize].weight = weight;
            self.attach(bundle, link);
        } else {
            self.change_weight(bundle, weight as i64);
        }
        self.classes[class as usize].weight = weight;
        self.enter(class, bundle);
        if self.sleepy {
            self.list_class(class);
            let holder = self.bundles[bundle as usize].link;
            self.promise(class, self.links[holder as usize].share);
            self.note_promise(class);
        }
    }

    /// The link that is guessed to hold a class back: the awake one with the lowest share; where all are quiet, it wakes.
    fn first_link(&mut self, class: u32, weight: u64, many: bool) -> u32 {
        let mut best = (true, INF, NONE);
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &self.links[link as usize];
            let this = (!record.is_awake, guess(record, weight, many), link);
            if (this.0, this.1) < (best.0, best.1) {
                best = this;
            }
        }
        let (is_quiet, guess, link) = best;
        if is_quiet {
            self.wake(link);
        }
        let record = &mut self.links[link as usize];
        if record.share == INF {
            record.share = guess.max(1);
        }
        link
    }

    /// Tells what has changed, and notes the loads.
    fn report(&mut self, answer: &mut Answer) -> Result<(), CallError> {
        for &bundle in &self.moved_bundles {
            let record = &mut self.bundles[bundle as usize];
            record.is_moved = false;
            if record.link != NONE {
                answer.hung.push(Hang { node: record.node, below: self.links[record.link as usize].node });
            }
        }
        for &class in &self.moved_classes {
            let record = &mut self.classes[class as usize];
            record.is_moved = false;
            if record.bundle != NONE {
                answer.hung.push(Hang { node: class, below: self.bundles[record.bundle as usize].node });
            }
        }
        self.free_bundles.append(&mut self.dissolved);
        self.moved_bundles.clear();
        self.moved_classes.clear();
        self.report_links(answer)
    }

    /// Tells new levels, and checks every link whose load or share may have changed.
    fn report_links(&mut self, answer: &mut Answer) -> Result<(), CallError> {
        let mut overloaded = None;
        for &root in &self.touched {
            let record = &mut self.links[root as usize];
            record.is_touched = false;
            self.most_updates = self.most_updates.max(std::mem::take(&mut record.updates));
            let load = record.load();
            if !record.is_limit && load > i128::from(record.capacity) {
                overloaded = overloaded.or(Some(record.id));
            }
            if record.is_limit {
                record.peak = 0;
            } else if record.share != INF {
                record.peak = record.capacity;
            } else if !self.sleepy {
                record.peak = record.peak.max(load as u64);
            }
            if self.is_layer && !record.is_limit {
                self.loads.push((record.id, load as Level));
            }
            if record.share != record.reported {
                record.reported = record.share;
                answer.levels.push(RootLevel { root: record.node, level: record.share });
            }
        }
        self.touched.clear();
        match overloaded {
            None => Ok(()),
            Some(link) => Err(CallError::Failed(format!("the shares of link {} exceed its bandwidth", link.0))),
        }
    }
}

/// The share a link would have with `weight` more of its own.
fn guess(link: &Link, weight: u64, many: bool) -> Level {
    let equal = link.equal_share();
    if many || link.is_limit { equal } else { equal.max(link.quotient(link.others, link.own + weight)) }
}
