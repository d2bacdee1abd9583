//! All that is kept, once more and slowly: sums from classes, step D1 by repeated minima over classes and links.

use std::collections::BTreeMap;

use super::tables::{Class, Down, Up};
use super::{AT_SOURCE, Factors, NONE};

/// Agrees but for rounding.
fn is_close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-11 * a.abs().max(b.abs())
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

impl Factors {
    /// Compares what is kept with what classes say; nothing where that is behind, or some classes are not in it.
    pub(super) fn recompute(&self) -> Result<(), String> {
        if self.is_behind || self.limited > 0 || self.clamped > 0 {
            return Ok(());
        }
        for link in 0..self.links.ups.len() as u32 {
            self.check_sums(link)?;
            self.check_branch(link)?;
        }
        for port in 0..self.links.downs.len() as u32 {
            self.check_down(port)?;
        }
        self.check_levels()?;
        self.check_lists()
    }

    fn check_sums(&self, link: u32) -> Result<(), String> {
        let up = &self.links.ups[link as usize];
        let mut slots: BTreeMap<u64, (u32, f64, f64)> = BTreeMap::new();
        for class in self.classes.iter().filter(|class| class.transfers > 0) {
            let Some(hop) = class.up_links().iter().position(|&k| k == link) else { continue };
            let before = class.up_links()[..hop].iter().map(|&k| self.links.ups[k as usize].factor);
            let rate = class.bandwidth * before.product::<f64>();
            let Some(source) = self.sources.get(class.source as usize) else { continue };
            let slot = slots.entry(source.key).or_insert((0, 0.0, f64::INFINITY));
            slot.0 += class.transfers;
            slot.1 += f64::from(class.transfers) * rate;
            slot.2 = slot.2.min(rate);
        }
        let same = up.slots.iter().zip(&slots).all(|(kept, (&key, &(transfers, sum, least)))| {
            (kept.key, kept.transfers) == (key, transfers) && is_close(kept.sum, sum) && is_close(kept.least, least)
        });
        check(same && slots.len() == up.slots.len(), || {
            format!("slots of {:?}: {:?}, not {slots:?}", up.id, up.slots)
        })?;
        check(up.promise >= up.factor, || format!("{:?} promises too little", up.id))
    }

    fn check_branch(&self, link: u32) -> Result<(), String> {
        let Up { branch, children, depth, ref slots, id, .. } = self.links.ups[link as usize];
        if slots.is_empty() {
            return check(!branch.merged, || format!("{id:?} is merged and not used"));
        }
        let fresh = self.branch(link);
        let own = (fresh.cut_above, fresh.merged, fresh.own.to_bits());
        check(own == (branch.cut_above, branch.merged, branch.own.to_bits()), || {
            format!("branch of {id:?}: {branch:?}, not {fresh:?}")
        })?;
        let (mut least, mut reach, mut below) = (branch.own, self.own_reach(link, depth), NONE);
        for child in &self.links.ups[children.0 as usize..children.1 as usize] {
            below = below.min(child.branch.reach_below);
            if child.branch.merged {
                (least, reach) = (least.min(child.branch.least), reach.min(child.branch.reach));
            } else {
                below = below.min(child.branch.reach);
            }
        }
        let is_right =
            least.to_bits() == branch.least.to_bits() && (reach, below) == (branch.reach, branch.reach_below);
        check(is_right, || format!("sums of the tree at {id:?}: {branch:?}, not {least}, {reach}, {below}"))
    }

    fn check_down(&self, port: u32) -> Result<(), String> {
        let down = &self.links.downs[port as usize];
        let Down { id, above, reserved, flow, .. } = *down;
        let (mut rates, mut transfers, mut parts) = (0.0, 0, 0);
        for &class in &down.classes {
            let of = &self.classes[class as usize];
            rates += f64::from(of.transfers) * self.rate_so_far(class);
            if self.hop_from_above(class, port).is_some() {
                transfers += of.transfers;
                parts += u64::from(of.transfers) * of.reserved;
            }
        }
        check((above, reserved) == (transfers, parts), || {
            format!("{id:?} is reserved for {above} by {reserved}, not {transfers} by {parts}")
        })?;
        let is_full = rates > down.capacity() * (1.0 + 2e-9) || rates > flow * (1.0 + 1e-11);
        check(!is_full, || format!("{id:?} carries {rates}, more than {flow} or its capacity"))
    }

    /// m of all throttled links, up or down, by repeated minima.
    fn minima(&self) -> BTreeMap<(bool, u32), f64> {
        let active = || (0..).zip(&self.classes).filter(|(_, of)| of.transfers > 0);
        let mut rates: Vec<f64> = active().map(|(class, _)| self.rate_so_far(class)).collect();
        loop {
            let mut levels: BTreeMap<(bool, u32), f64> = BTreeMap::new();
            for ((class, of), &rate) in active().zip(&rates) {
                for (hop, &link) in of.route[..self.last_contended(class) as usize].iter().enumerate() {
                    let level = levels.entry((hop < of.ups as usize, link)).or_insert(f64::INFINITY);
                    *level = level.min(rate);
                }
            }
            let mut has_moved = false;
            for ((_, of), rate) in active().zip(&mut rates) {
                for (hop, &link) in of.route.iter().enumerate() {
                    if let Some(&level) = levels.get(&(hop < of.ups as usize, link)) {
                        has_moved |= level < *rate;
                        *rate = rate.min(level);
                    }
                }
            }
            if !has_moved {
                return levels;
            }
        }
    }

    fn check_levels(&self) -> Result<(), String> {
        let levels = self.minima();
        for (link, up) in (0..).zip(&self.links.ups).filter(|(_, up)| !up.slots.is_empty()) {
            let (level, kept) = (levels.get(&(true, link)).copied().unwrap_or(f64::INFINITY), self.up_level(link));
            check(is_close(level, kept), || format!("level of {:?}: {kept}, not {level}: {:?}", up.id, up.branch))?;
        }
        Ok(())
    }

    fn check_lists(&self) -> Result<(), String> {
        for (link, up) in (0..).zip(&self.links.ups) {
            for &source in &up.sources {
                self.check_source(link, source)?;
            }
        }
        Ok(())
    }

    fn check_source(&self, link: u32, source: u32) -> Result<(), String> {
        let of = &self.sources[source as usize];
        let is_counted = self.is_counted(source);
        check(of.is_free != is_counted, || format!("source {source} is free: {}", of.is_free))?;
        let is_listed = self.links.ups[link as usize].watched.contains(&source);
        let must_be = of.is_free || of.told_below != link || !of.apart.is_empty();
        check(is_listed == of.is_watched && is_listed >= must_be, || format!("source {source} is not watched"))?;
        for &class in &of.classes {
            let Class { is_apart, told_below, source: own, .. } = self.classes[class as usize];
            let is_right =
                own == source && is_apart == of.apart.contains(&class) && is_apart >= (told_below != AT_SOURCE);
            check(is_right, || format!("class {class} is apart from source {source}: {is_apart}"))?;
            if is_counted && self.is_home(class) {
                let (rate, level) = (self.rate_so_far(class), self.level_of_hop(class, 0));
                check(level < rate, || format!("class {class} has {rate} on a link with {level}"))?;
            }
        }
        Ok(())
    }
}
