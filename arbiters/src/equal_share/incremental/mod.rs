//! `equal-share` event by event: a class hangs below the link of least share on its route.
//!
//! The share of link l is ⌊C / n⌋, with n the transfers on it; a limit is one more link, of a constant share. When n changes, the
//! level of l is one entry. Who may move to another link: those that l held back, if its share rose; those on l that another
//! link with a higher share holds back, if it fell. Cells say which links these are (`common::cells`): classes on l held back by
//! b all have the share of b, so a fall claims whole cells. When all counts are right, each link is looked at once, in any
//! order: whoever moves goes to the least share of its route.

mod links;
mod verify;

use rustc_hash::FxHashMap;
use weir_plugin_api::{
    Answer, ArbiterPlugin as _, CallError, Cause, Change, ClassInfo, Hang, Holder, IncrementalArbiter,
    IncrementalPlugin, Level, LinkId, LinkUse, NO_ID as NONE, NO_LEVEL as INF, RootLevel, Setting, SimTime,
    WeightChange,
};

use super::EqualShare;
use crate::common::cells::{Cells, Hop, In, Out};
use crate::common::params::{NoParams, decode};
use links::Link;

/// Transfers of one route and limit.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Where its hops begin in `cells.hops`, how many there are, and for how many there is room.
    first: u32,
    count: u32,
    room: u32,
    /// Active transfers.
    transfers: u64,
    /// The link that holds it back; [`NONE`] while it has no transfers.
    link: u32,
    /// Whether it is in `moved`.
    is_moved: bool,
}

/// The incremental side of `equal-share`.
#[derive(Debug)]
pub struct Parts {
    /// Those of the fabric by their ids, then limits.
    links: Vec<Link>,
    fabric_links: u32,
    /// The node of a link is its number plus this.
    first_node: u32,
    limit_of: FxHashMap<Level, u32>,
    classes: Vec<Class>,
    cells: Cells,
    /// Links whose number of transfers has changed, and those whose load or level may have.
    changed: Vec<u32>,
    stirred: Vec<u32>,
    /// Classes that hang elsewhere than the host knows.
    moved: Vec<u32>,
    /// Classes that may have to move; kept for its memory.
    leaving: Vec<u32>,
    /// Whether loads are kept.
    wants_peaks: bool,
}

impl Parts {
    fn add_link(&mut self, capacity: u64, share: Level) -> u32 {
        self.links.push(Link::new(capacity, share));
        self.cells.add_link();
        (self.links.len() - 1) as u32
    }

    fn hops_of(&self, class: u32) -> std::ops::Range<usize> {
        let Class { first, count, .. } = self.classes[class as usize];
        first as usize..(first + count) as usize
    }

    /// Counts transfers of a class on its links.
    fn count(&mut self, class: u32, change: i64) {
        for hop in self.hops_of(class) {
            let link = self.cells.hops[hop].link;
            if link >= self.fabric_links {
                continue;
            }
            let record = &mut self.links[link as usize];
            record.transfers = record.transfers.wrapping_add_signed(change);
            record.share = record.capacity.checked_div(record.transfers).unwrap_or(INF);
            if !record.is_changed {
                record.is_changed = true;
                self.changed.push(link);
            }
        }
        let Class { transfers, link, .. } = self.classes[class as usize];
        self.classes[class as usize].transfers = transfers.wrapping_add_signed(change);
        if link != NONE {
            self.weigh(class, link, change);
        }
    }

    /// Adds transfers to what a link holds back, and to the cells of the class elsewhere.
    fn weigh(&mut self, class: u32, link: u32, change: i64) {
        let share = self.links[link as usize].before;
        for hop in self.hops_of(class) {
            let on = self.cells.hops[hop].link;
            if on == link {
                let record = &mut self.links[on as usize];
                record.own = record.own.wrapping_add_signed(change);
            } else {
                self.cells.change_weight(hop, change);
                let record = &mut self.links[on as usize];
                record.others = record.others.wrapping_add((change as u64).wrapping_mul(share));
            }
            self.stir(on);
        }
    }

    fn stir(&mut self, link: u32) {
        let record = &mut self.links[link as usize];
        if !record.is_stirred {
            record.is_stirred = true;
            self.stirred.push(link);
        }
    }

    /// Lets other links know of a new share, and notes which classes may have to move.
    fn look_at(&mut self, link: u32) {
        let record = &mut self.links[link as usize];
        record.is_changed = false;
        let (share, before) = (record.share, std::mem::replace(&mut record.before, record.share));
        if share == before {
            return;
        }
        let (hint, holds) = (record.hint, record.own > 0);
        self.stir(link);
        if holds && share > before {
            self.rise(link, share, before);
        } else if holds && self.wants_peaks {
            // A fall changes nothing elsewhere but loads.
            for &Out { on, weight, .. } in &self.cells.of(link).outs {
                let others = &mut self.links[on as usize].others;
                *others = others.wrapping_sub(weight.wrapping_mul(before - share));
            }
        }
        if share < before && hint > share {
            self.claim(link, share);
        }
    }

    /// What a link holds back has a higher level now; another link may hold it back.
    fn rise(&mut self, link: u32, share: Level, before: Level) {
        let outs = std::mem::take(&mut self.cells.of_mut(link).outs);
        for &Out { on, weight, cell } in &outs {
            let record = &mut self.links[on as usize];
            record.hint = record.hint.max(share);
            record.others = record.others.wrapping_add(weight.wrapping_mul(share - before));
            if record.share < share {
                self.leaving.extend(self.cells.members(cell));
            }
            if self.wants_peaks && record.load() > record.peak {
                self.stir(on);
            }
        }
        self.cells.of_mut(link).outs = outs;
    }

    /// A link whose share fell holds back whoever has more.
    fn claim(&mut self, link: u32, share: Level) {
        let mut hint = 0;
        for &In { by, cell } in &self.cells.of(link).ins {
            let theirs = self.links[by as usize].share;
            if theirs > share {
                self.leaving.extend(self.cells.members(cell));
            } else {
                hint = hint.max(theirs);
            }
        }
        self.links[link as usize].hint = hint;
    }

    /// The link of least share on a route, the first of equals.
    fn least(&self, class: u32) -> u32 {
        let mut best = (INF, NONE);
        for hop in self.hops_of(class) {
            let link = self.cells.hops[hop].link;
            let share = self.links[link as usize].share;
            if share < best.0 {
                best = (share, link);
            }
        }
        best.1
    }

    /// Lets another link hold a class back; [`NONE`] for none.
    fn hold(&mut self, class: u32, to: u32) {
        let Class { transfers, link: from, is_moved, .. } = self.classes[class as usize];
        if from == to {
            return;
        }
        self.classes[class as usize].link = to;
        if !is_moved && to != NONE {
            self.classes[class as usize].is_moved = true;
            self.moved.push(class);
        }
        let (left, taken) = (self.level_of(from), self.level_of(to));
        for hop in self.hops_of(class) {
            let on = self.cells.hops[hop].link;
            let record = &mut self.links[on as usize];
            let (was, is) = (from != NONE && on != from, to != NONE && on != to);
            record.own = record.own.wrapping_sub(if on == from { transfers } else { 0 });
            record.own += if on == to { transfers } else { 0 };
            let change = if is { taken } else { 0 }.wrapping_sub(if was { left } else { 0 });
            record.others = record.others.wrapping_add(transfers.wrapping_mul(change));
            if is {
                record.hint = record.hint.max(taken);
            }
            match (was, is) {
                (true, true) => self.cells.change(hop, to, transfers),
                (true, false) => self.cells.leave(hop, transfers),
                (false, true) => self.cells.join(hop, to, transfers),
                (false, false) => {}
            }
            self.stir(on);
        }
    }

    fn level_of(&self, link: u32) -> Level {
        self.links.get(link as usize).map_or(0, |record| record.before)
    }

    /// Tells new levels, and notes loads.
    fn tell(&mut self, answer: &mut Answer) {
        for class in self.moved.drain(..) {
            let record = &mut self.classes[class as usize];
            record.is_moved = false;
            if record.link != NONE {
                answer.hung.push(Hang { node: class, below: self.first_node + record.link });
            }
        }
        for link in self.stirred.drain(..) {
            let record = &mut self.links[link as usize];
            record.is_stirred = false;
            let level = if record.own > 0 { record.share } else { INF };
            if level != record.told {
                record.told = level;
                answer.levels.push(RootLevel { root: self.first_node + link, level });
            }
            record.note_load(self.wants_peaks);
        }
    }
}

impl IncrementalArbiter for Parts {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        while self.classes.len() <= id as usize {
            let (first, count, room) = (0, 0, 0);
            self.classes.push(Class { first, count, room, transfers: 0, link: NONE, is_moved: false });
        }
        let limit = (class.limit != INF).then(|| match self.limit_of.get(&class.limit) {
            Some(&link) => link,
            None => {
                let link = self.add_link(class.limit, class.limit);
                self.limit_of.insert(class.limit, link);
                link
            }
        });
        let count = class.links.len() + usize::from(limit.is_some());
        let record = &mut self.classes[id as usize];
        if (record.room as usize) < count {
            (record.first, record.room) = (self.cells.hops.len() as u32, count as u32);
            self.cells.hops.resize(self.cells.hops.len() + count, Hop::new(NONE, id));
        }
        record.count = count as u32;
        let first = record.first as usize;
        // Of equal ones the first is named: the limit.
        let links = limit.into_iter().chain(class.links.iter().map(|link| link.0));
        for (hop, link) in self.cells.hops[first..].iter_mut().zip(links) {
            *hop = Hop::new(link, id);
        }
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        for &WeightChange { class, .. } in change.removed {
            self.count(class, -1);
            if self.classes[class as usize].transfers == 0 {
                self.hold(class, NONE);
            }
        }
        for &WeightChange { class, .. } in change.added {
            self.count(class, 1);
            if self.classes[class as usize].link == NONE {
                self.leaving.push(class);
            }
        }
        while let Some(link) = self.changed.pop() {
            self.look_at(link);
        }
        while let Some(class) = self.leaving.pop() {
            self.hold(class, self.least(class));
        }
        self.tell(answer);
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        // The one on its route that the rate arbiter would name.
        let link = self.least(class);
        if link >= self.fabric_links {
            return Holder { link: LinkId::NONE, cause: Cause::OwnLimit, by: NONE };
        }
        let lists = self.cells.of(link);
        let mut others = lists.ins.iter().filter_map(|cell| self.cells.members(cell.cell).next());
        let by = others.find(|&other| other != class).unwrap_or(class);
        Holder { link: LinkId(link), cause: Cause::SharedLink, by }
    }

    fn link_use(&self, link: LinkId, _now: SimTime) -> LinkUse {
        let Link { peak, capacity, .. } = self.links[link.index()];
        let is_full = peak == capacity;
        LinkUse { peak: (self.wants_peaks || is_full).then_some(peak), is_full, stalled_ps: 0 }
    }

    fn verify(&self) -> Result<(), String> {
        self.check()
    }
}

impl IncrementalPlugin for Parts {
    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(EqualShare::NAME, params)?;
        if setting.shared > 0 {
            return Err(CallError::Refused("what links share is divided so that all of it is used".to_owned()));
        }
        let mut parts = Self {
            links: Vec::new(),
            fabric_links: setting.capacities.len() as u32,
            first_node: setting.classes,
            limit_of: FxHashMap::default(),
            classes: Vec::new(),
            cells: Cells::default(),
            changed: Vec::new(),
            stirred: Vec::new(),
            moved: Vec::new(),
            leaving: Vec::new(),
            wants_peaks: setting.wants_peaks,
        };
        for &capacity in setting.capacities {
            parts.add_link(capacity, INF);
        }
        Ok(parts)
    }
}
