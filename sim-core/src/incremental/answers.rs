//! Answers of an incremental arbiter are checked before they are used: ids that do not exist, classes that are left out.
//!
//! That costs as much as reading them. Whether links are overloaded is known only when all classes are summed up. In small
//! runs that is done after each answer, as long as it comes to less than a millisecond; then at growing distances, in the end
//! once answers of as many entries have come in as there are links, classes and hops, so it costs no more than they did.

use weir_plugin_api::{Answer, CallError, IncrementalArbiter, LinkId, RootLevel};

use super::NONE;
use super::clocks::Clocks;
use super::numbers::{INF, Level};

/// No capacity is above 2^61 units, hence no level.
const MOST: Level = 1 << 61;
/// Least level that is as exact as results need it, but for none at all: 1e-10 of it are a unit.
const LEAST: Level = 10_000_000_000;
/// Links, classes and hops that are summed up after each answer (*assumed*: some 10 ns each).
pub(super) const FREE_SUMS: usize = 1 << 16;
/// A load may be above a capacity by the 2^-29th part of it, 1.9e-9, as rates may that are asked for phase by phase.
const TOLERANCE_BITS: u32 = 29;

/// That an answer makes no sense.
fn wrong(what: String) -> CallError {
    CallError::Failed(format!("its changes are wrong: {what}"))
}

impl Clocks {
    /// No id makes tables longer than the changes.
    fn most_nodes(&self) -> u64 {
        u64::from(self.nodes.first_own)
            + u64::from(self.fabric_links)
            + self.path_links.len() as u64
            + 2 * self.paths.len() as u64
    }

    /// Checks the levels of an answer; [`Self::check_hang`] and [`Self::check_root`] do the ids.
    ///
    /// # Errors
    /// A level makes no sense; or it is too small to be exact, which is refused: such a run goes phase by phase.
    pub(super) fn check_answer(&mut self, answer: &Answer) -> Result<(), CallError> {
        self.unsummed += answer.len();
        let is_odd = |level: Level| level > MOST && level != INF || level > 0 && level < LEAST;
        match answer.levels.iter().find(|new| is_odd(new.level)) {
            None => Ok(()),
            Some(RootLevel { root, level }) if *level > MOST => {
                Err(wrong(format!("root {root} has the level {level}, above 2^61, the largest capacity")))
            }
            Some(_) => Err(CallError::Refused(
                "some rates are too small beside the bandwidths to be kept as integers; without `--stream` the run \
                 goes phase by phase"
                    .to_owned(),
            )),
        }
    }

    /// Checks a node that hangs elsewhere, and makes both nodes known.
    #[inline]
    pub(super) fn check_hang(&mut self, node: u32, below: u32) -> Result<(), CallError> {
        self.check_node(node)?;
        if below == NONE {
            return Ok(());
        }
        if below < self.nodes.first_own {
            return Err(wrong(format!("node {node} hangs below class {below}")));
        }
        self.check_node(below)?;
        // Nothing hangs below a class.
        if node >= self.nodes.first_own && self.nodes.is_above(node, below) {
            return Err(wrong(format!("node {node} hangs below {below}, and that below {node}")));
        }
        Ok(())
    }

    #[inline]
    fn check_node(&mut self, node: u32) -> Result<(), CallError> {
        if self.nodes.has(node) { Ok(()) } else { self.add_node(node) }
    }

    #[cold]
    fn add_node(&mut self, node: u32) -> Result<(), CallError> {
        if node < self.nodes.first_own {
            return Err(wrong(format!("there is no class {node}")));
        }
        if u64::from(node) >= self.most_nodes() {
            return Err(wrong(format!("there is a node {node}: ids must be below {}", self.most_nodes())));
        }
        self.nodes.ensure(node);
        Ok(())
    }

    /// Checks a node that gets a level, and makes it known.
    #[inline]
    pub(super) fn check_root(&mut self, root: u32) -> Result<(), CallError> {
        self.check_node(root)?;
        let below = self.nodes.at(root).below;
        if below != NONE {
            return Err(wrong(format!("node {root} gets a level, and hangs below {below}")));
        }
        Ok(())
    }

    /// That a root with members has no level.
    pub(super) fn without_level(root: u32) -> CallError {
        wrong(format!("root {root} has members and no level"))
    }

    /// Sums up all links when that is due.
    pub(super) fn check_loads(&mut self, arbiter: &dyn IncrementalArbiter) -> Result<(), CallError> {
        let hops = 1 + self.path_links.len() / self.paths.len().max(1);
        let all = self.links.len() + self.classes.len() * hops;
        if self.unsummed < self.sum_after && self.free_sums < all {
            return Ok(());
        }
        self.free_sums = self.free_sums.saturating_sub(all);
        // The first answer is summed up, and then at growing distances: a wrong policy is wrong from the beginning.
        self.sum_after = (4 * self.sum_after.max(1)).min(all);
        self.unsummed = 0;
        self.sum_loads(arbiter)
    }

    /// Sums up all links: none above its capacity, no class above its limit, each limited on its route.
    pub(super) fn sum_loads(&mut self, arbiter: &dyn IncrementalArbiter) -> Result<(), CallError> {
        let mut loads = std::mem::take(&mut self.loads);
        loads.clear();
        loads.resize(self.links.len(), 0_u128);
        for (index, class) in self.classes.iter().enumerate().filter(|(_, class)| class.weight > 0) {
            let level = self.nodes.level_of(index as u32);
            self.check_holder(index as u32, level, arbiter.holder(index as u32).link)?;
            let weight = if self.turns.is_some() { 1 } else { class.weight };
            for &link in &self.path_links[self.links_of(class.path)] {
                loads[link as usize] += u128::from(weight) * u128::from(level);
            }
        }
        let over = self.links.iter().zip(&loads).find(|(link, load)| **load > most_load(link.capacity));
        let result = match over {
            None => Ok(()),
            Some((link, load)) => {
                let share = *load as f64 / link.capacity as f64;
                Err(wrong(format!("link {} carries {share} times its bandwidth", link.id.0)))
            }
        };
        self.loads = loads;
        result
    }

    /// Checks what is said to hold a class back.
    fn check_holder(&self, class: u32, level: Level, holder: LinkId) -> Result<(), CallError> {
        let path = self.classes[class as usize].path;
        let (links, limit) = (&self.path_links[self.links_of(path)], self.limit_of(path));
        if level > limit {
            return Err(wrong(format!("class {class} is above its limit: {level} of {limit}")));
        }
        if holder.is_none() && level < limit {
            return Err(wrong(format!("class {class} is said to be held back by its limit, and is below it")));
        }
        if !holder.is_none() && !links.iter().any(|&l| self.links[l as usize].id == holder) {
            return Err(wrong(format!("class {class} is held back by link {}, which it does not cross", holder.0)));
        }
        Ok(())
    }
}

/// The most that a link may carry: its capacity, and what rates that are rounded as floats may be above it.
fn most_load(capacity: u64) -> u128 {
    u128::from(capacity) + u128::from(capacity >> TOLERANCE_BITS)
}
