//! Classes that come and go, and transfers of them: what is counted on their links.

use weir_plugin_api::{ClassInfo, Direction, NO_LEVEL};

use super::sources::Source;
use super::tables::{Class, Pair, Slot, insert, remove};
use super::{Factors, NONE, UNTOLD};
use crate::common::ports::crosses_root_complex;

impl Factors {
    /// Takes a class in, without transfers.
    pub(super) fn announce(&mut self, id: u32, info: &ClassInfo<'_>) {
        let at = id as usize;
        if self.classes.len() <= at {
            self.classes.resize_with(at + 1, Class::default);
            self.marks.resize_with(at + 1, Default::default);
        }
        let direction = |link: &weir_plugin_api::LinkId| self.ports[link.index()].direction;
        let bandwidth = |link: &weir_plugin_api::LinkId| self.ports[link.index()].bandwidth;
        let ups = info.links.iter().take_while(|link| direction(link) == Direction::Up).count();
        let limit = if info.limit == NO_LEVEL { f64::INFINITY } else { info.limit as f64 / self.scale };
        let first = bandwidth(&info.links[0]);
        // Records are used again, with their memory.
        let Class { mut route, mut links, .. } = std::mem::take(&mut self.classes[at]);
        route.clear();
        route.extend(info.links.iter().map(|link| self.links.number[link.index()]));
        links.clear();
        links.extend(info.links);
        self.classes[at] = Class {
            route,
            ups: ups as u32,
            pair: NONE,
            source: NONE,
            transfers: 0,
            crosses: crosses_root_complex(&self.ports, info.links),
            is_apart: false,
            listed: 0,
            exception: NONE,
            blocked_at: NONE,
            rate: 0.0,
            asked: None,
            is_limited: limit < first,
            bandwidth: first,
            narrowest: info.links.iter().map(bandwidth).fold(f64::INFINITY, f64::min),
            reserved: 0,
            links,
            limit,
            told_below: NONE,
            told_level: UNTOLD,
        };
    }

    /// Counts transfers of a class that have begun or ended.
    #[inline(never)]
    pub(super) fn count(&mut self, class: u32, delta: i32) {
        let before = self.classes[class as usize].transfers;
        let after = before.wrapping_add_signed(delta);
        self.classes[class as usize].transfers = after;
        if before == 0 {
            self.enter(class);
        }
        let of = &self.classes[class as usize];
        self.subtrees.change(of);
        if of.is_limited {
            self.limited += u32::from(before == 0);
            self.limited -= u32::from(after == 0);
        } else {
            self.count_up(class, delta);
            self.count_down(class, delta);
        }
        if after == 0 {
            self.leave(class);
        }
    }

    /// Lists a class on its links.
    fn enter(&mut self, class: u32) {
        let Class { ups, .. } = self.classes[class as usize];
        let route = std::mem::take(&mut self.classes[class as usize].route);
        let (up, down) = route.split_at(ups as usize);
        up.iter().for_each(|&k| insert(&mut self.links.ups[k as usize].classes, class));
        down.iter().for_each(|&d| insert(&mut self.links.downs[d as usize].classes, class));
        let is_limited = self.classes[class as usize].is_limited;
        let turn = up.last().map(|&last| {
            let port = down.first().copied().unwrap_or(NONE);
            let key = u64::from(self.links.ups[last as usize].depth) << 32 | u64::from(port.wrapping_add(1));
            match self.links.ups[last as usize].slot(key) {
                _ if is_limited => (0, NONE),
                Ok(at) => (key, self.links.ups[last as usize].slots[at].pair),
                Err(_) => (key, self.new_pair(last, port)),
            }
        });
        self.classes[class as usize].route = route;
        match turn {
            Some((key, pair)) => self.enter_source(class, key, pair),
            None => {
                let first = self.classes[class as usize].route[0];
                insert(&mut self.links.downs[first as usize].starting, class);
                self.starts_below.insert(first);
            }
        }
        self.classes[class as usize].reserved = self.reservation(class);
    }

    fn new_pair(&mut self, from: u32, port: u32) -> u32 {
        let fresh = Pair {
            from,
            port,
            crossing: 0,
            sum: 0.0,
            factor: 1.0,
            cut: false,
            listed: false,
            promise: 1.0,
            before: (1.0, false),
        };
        let id = self.free_pairs.pop().unwrap_or(self.pairs.len() as u32);
        if id as usize == self.pairs.len() {
            self.pairs.push(fresh);
        } else {
            self.pairs[id as usize] = fresh;
        }
        if port != NONE {
            let pairs = &self.pairs;
            let list = &mut self.links.downs[port as usize].pairs;
            let at = list.partition_point(|&other| pairs[other as usize].from < from);
            list.insert(at, id);
        }
        id
    }

    fn leave(&mut self, class: u32) {
        let Class { ups, route, .. } = &self.classes[class as usize];
        let (up, down) = route.split_at(*ups as usize);
        up.iter().for_each(|&k| remove(&mut self.links.ups[k as usize].classes, class));
        down.iter().for_each(|&d| remove(&mut self.links.downs[d as usize].classes, class));
        if up.is_empty() {
            let first = &mut self.links.downs[down[0] as usize];
            remove(&mut first.starting, class);
            if first.starting.is_empty() {
                self.starts_below.remove(down[0]);
            }
        } else {
            self.leave_source(class);
        }
    }

    /// Counts on the up links; sums are formed later.
    fn count_up(&mut self, class: u32, delta: i32) {
        let Class { source, pair, .. } = self.classes[class as usize];
        let Some(&Source { key, .. }) = self.sources.get(source as usize) else { return };
        for (hop, &k) in self.classes[class as usize].up_links().iter().enumerate() {
            let up = &mut self.links.ups[k as usize];
            let at = up.slot(key).unwrap_or_else(|at| {
                up.slots.insert(at, Slot::new(key, pair));
                at
            });
            let slot = &mut up.slots[at];
            slot.transfers = slot.transfers.wrapping_add_signed(delta);
            if hop == 0 {
                slot.starting = slot.starting.wrapping_add_signed(delta);
                up.starting = up.starting.wrapping_add_signed(delta);
            }
            slot.dirty = true;
            up.transfers = up.transfers.wrapping_add_signed(delta);
            self.dirty_ups.insert(k);
        }
    }

    fn count_down(&mut self, class: u32, delta: i32) {
        let Class { crosses, pair, reserved, ups, .. } = self.classes[class as usize];
        if crosses && pair != NONE {
            let crossing = &mut self.pairs[pair as usize].crossing;
            *crossing = crossing.wrapping_add_signed(delta);
        }
        let add = |number: &mut u32| *number = number.wrapping_add_signed(delta);
        for (hop, &d) in self.classes[class as usize].down_links().iter().enumerate() {
            let down = &mut self.links.downs[d as usize];
            if crosses {
                add(&mut down.crossing);
            }
            if hop > 0 {
                add(&mut down.above);
                down.reserved = down.reserved.wrapping_add_signed(i64::from(delta) * reserved as i64);
            } else if ups == 0 {
                add(&mut down.starting_transfers);
                if crosses {
                    add(&mut down.crossing_starting);
                }
            }
            self.dirty_downs.insert(d);
        }
    }

    /// What a transfer of a class reserves after its port: at least its rate, in parts.
    fn reservation(&self, class: u32) -> u64 {
        let class = &self.classes[class as usize];
        let promised = |k: &u32| self.links.ups[*k as usize].promise;
        let up: f64 = class.up_links().iter().map(promised).product();
        let turn = self.pairs.get(class.pair as usize).map_or(1.0, |pair| pair.promise);
        (class.bandwidth * up * turn / self.links.part * (1.0 + 1e-12)) as u64 + 1
    }

    /// Reserves anew for a class whose promises have changed.
    pub(super) fn reserve(&mut self, class: u32) {
        if self.classes[class as usize].is_limited {
            return;
        }
        let reserved = self.reservation(class);
        let Class { reserved: before, transfers, .. } = self.classes[class as usize];
        self.classes[class as usize].reserved = reserved;
        for &d in self.classes[class as usize].down_links().iter().skip(1) {
            let down = &mut self.links.downs[d as usize];
            down.reserved += u64::from(transfers) * reserved;
            down.reserved -= u64::from(transfers) * before;
            self.dirty_downs.insert(d);
        }
    }
}

impl Slot {
    fn new(key: u64, pair: u32) -> Self {
        Self {
            key,
            pair,
            transfers: 0,
            starting: 0,
            dirty: true,
            clamped: false,
            sum: 0.0,
            least: f64::INFINITY,
            most: 0.0,
        }
    }
}
