//! Everything that must hold between two calls, recomputed from the classes, exactly; for tests.

use weir_plugin_api::LinkId;

use super::state::{Class, Link, Shares, product};
use super::{INF, Layers, NONE};
use crate::common::cells::In;

/// Fails with a text unless something holds.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// What the classes put on a link.
#[derive(Default)]
struct Sums {
    own: u64,
    others: i128,
    weight: u64,
    reserved: i128,
    load: i128,
}

impl Shares {
    /// # Errors
    /// The first thing that is not as it must be.
    pub(super) fn check(&self) -> Result<(), String> {
        let lists = [self.touched.len(), self.dissolved.len(), self.moved_bundles.len(), self.moved_classes.len()];
        ensure!(self.queue.is_empty() && lists == [0; 4], "something is left to do");
        for link in 0..self.links.len() as u32 {
            self.check_sums(link)?;
            self.check_share(link)?;
            self.check_cells(link)?;
            self.check_quiet(link)?;
        }
        for (index, class) in self.classes.iter().enumerate().filter(|(_, c)| c.weight > 0) {
            let by = self.bundles[class.bundle as usize].link;
            ensure!(self.route(class).contains(&by), "class {index} is held back by a link that it does not cross");
        }
        Ok(())
    }

    fn route(&self, class: &Class) -> &[u32] {
        &self.class_links[class.first as usize..(class.first + class.count) as usize]
    }

    fn sums(&self, link: u32) -> Sums {
        let is_awake = self.links[link as usize].is_awake;
        let mut sums = Sums::default();
        for class in self.classes.iter().filter(|c| c.bundle != NONE && self.route(c).contains(&link)) {
            let by = self.bundles[class.bundle as usize].link;
            let given = product(class.weight, self.links[by as usize].share);
            sums.weight += class.weight;
            sums.reserved += product(class.weight, class.promise);
            sums.load += given;
            match is_awake {
                true if by == link => sums.own += class.weight,
                true => sums.others += given,
                false => {}
            }
        }
        sums
    }

    fn check_sums(&self, link: u32) -> Result<(), String> {
        let (record, sums) = (&self.links[link as usize], self.sums(link));
        let (kept, found) = ((record.own, record.others, record.weight), (sums.own, sums.others, sums.weight));
        ensure!(kept == found, "sums of link {link}: {kept:?}, not {found:?}");
        ensure!(!self.sleepy || record.reserved == sums.reserved, "reservations of link {link}");
        let fits = sums.load <= sums.reserved && sums.reserved <= i128::from(record.capacity);
        ensure!(record.is_awake || record.is_limit || fits, "quiet link {link} may be full");
        Ok(())
    }

    fn check_quiet(&self, link: u32) -> Result<(), String> {
        let record = &self.links[link as usize];
        if !self.sleepy {
            return Ok(());
        }
        for &(index, at) in &record.classes {
            let class = &self.classes[index as usize];
            let bundle = &self.bundles[class.bundle as usize];
            let holder = &self.links[bundle.link as usize];
            ensure!(bundle.floor <= class.promise && holder.floor <= bundle.floor, "floors above class {index}");
            ensure!(holder.share <= class.promise, "the promise to class {index} is broken");
            let fits = record.is_awake || !record.is_limit || class.promise <= record.capacity;
            ensure!(fits, "class {index} was promised more than its quiet limit");
            ensure!((class.first..class.first + class.count).contains(&at), "place of class {index} on link {link}");
        }
        let is_empty = record.own == 0 && self.cells.of(link).ins.is_empty() && record.share == INF;
        ensure!(record.is_awake || is_empty, "link {link} is quiet, and has members");
        Ok(())
    }

    fn check_share(&self, link: u32) -> Result<(), String> {
        let record = &self.links[link as usize];
        ensure!((record.share == INF) == (record.own == 0), "link {link} has a share of nothing");
        if record.is_limit {
            ensure!(record.own == 0 || record.share == record.capacity, "limit {link} is not its share");
            return Ok(());
        }
        let given = record.id.is_none() || record.capacity == self.capacities[record.id.index()];
        ensure!(given || record.weight == 0, "capacity of link {link}");
        let (load, capacity) = (record.load(), i128::from(record.capacity));
        ensure!(load <= capacity, "link {link} is overloaded");
        ensure!(record.own == 0 || load + i128::from(record.own) > capacity, "link {link} is not full");
        Ok(())
    }

    fn check_cells(&self, link: u32) -> Result<(), String> {
        let record = &self.links[link as usize];
        let most = if record.is_limit { record.capacity } else { record.share };
        for &In { by, cell: index } in &self.cells.of(link).ins {
            let cell = self.cells.at(index);
            let out = self.cells.of(by).outs[cell.place_out as usize];
            ensure!((cell.on, cell.by, out.on, out.cell) == (link, by, link, index), "the ends of cell {index}");
            let share = self.links[cell.by as usize].share;
            ensure!(share <= most && share <= record.hint, "link {link} lets others have more than its share");
            let (mut weight, mut hop) = (0, cell.head);
            while hop != NONE {
                let member = &self.cells.hops[hop as usize];
                let by = self.bundles[member.member as usize].link;
                ensure!((member.link, member.cell, by) == (link, index, cell.by), "a member of cell {index}");
                weight += self.bundles[member.member as usize].weight;
                hop = member.next;
            }
            ensure!(out.weight == weight, "weight of cell {index}");
        }
        if self.sleepy || self.is_layer { self.check_own(link, record) } else { Ok(()) }
    }

    fn check_own(&self, link: u32, record: &Link) -> Result<(), String> {
        let (mut own, mut hop) = (0, record.own_head);
        while hop != NONE {
            let bundle = &self.bundles[self.cells.hops[hop as usize].member as usize];
            ensure!(bundle.link == link, "a bundle on the list of link {link}");
            own += bundle.weight;
            hop = self.cells.hops[hop as usize].next;
        }
        ensure!(own == record.own, "own bundles of link {link}");
        Ok(())
    }
}

impl Layers {
    /// # Errors
    /// A priority that is not consistent over what the higher ones leave, or an overloaded link.
    pub(super) fn check(&self) -> Result<(), String> {
        for (at, layer) in self.layers.iter().enumerate() {
            layer.shares.check()?;
            for link in 0..self.capacities.len() {
                let record = layer.shares.links.get(layer.shares.record_of[link] as usize);
                let load = record.map_or(0, Link::load);
                ensure!(
                    i128::from(layer.used[link]) == load,
                    "layer {at} uses {load} of link {link}, and says otherwise"
                );
                let (given, left) = (layer.shares.capacity(LinkId::from_index(link)), self.left(link, at));
                ensure!(given == left, "layer {at} has {given} of link {link}, not {left}");
            }
        }
        for (link, &capacity) in self.capacities.iter().enumerate() {
            let used: u64 = self.layers.iter().map(|layer| layer.used[link]).sum();
            ensure!(used <= capacity, "link {link} is overloaded");
        }
        Ok(())
    }
}
