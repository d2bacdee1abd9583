//! Answers of an incremental arbiter are checked before they are used: ids that do not exist, classes that are left out.
//!
//! That costs as much as reading them. Whether links are overloaded is known only when all classes are summed up; that is
//! done after the first answer, then at growing distances, in the end once answers of as many entries have come in as there are
//! links, classes and hops, so it costs no more than they did.

use weir_plugin_api::{Answer, CallError, ClassMove, GroupMove, RootLevel};

use super::NONE;
use super::clocks::Clocks;
use super::numbers::{INF, Level};

/// No capacity is above 2^61 units, hence no level.
const MOST: Level = 1 << 61;

/// That an answer makes no sense.
fn wrong(what: String) -> CallError {
    CallError::Failed(format!("its changes are wrong: {what}"))
}

impl Clocks {
    /// Checks the ids of an answer.
    pub(super) fn check_answer(&mut self, answer: &Answer) -> Result<(), CallError> {
        self.unsummed += answer.len();
        // No id makes tables longer than the changes.
        let most = self.fabric_links as usize + self.path_links.len() + 2 * self.paths.len();
        for &GroupMove { group, root } in &answer.groups {
            if group as usize >= most || root as usize >= most {
                return Err(wrong(format!("group {group} below root {root}: ids must be below {most}")));
            }
        }
        for &ClassMove { class, group } in &answer.classes {
            if class as usize >= self.classes.len() {
                return Err(wrong(format!("class {class} in group {group}, of {} classes", self.classes.len())));
            }
        }
        answer.levels.iter().try_for_each(|level| self.check_level(level, most))
    }

    fn check_level(&self, new: &RootLevel, most: usize) -> Result<(), CallError> {
        let &RootLevel { root, link, level } = new;
        if root as usize >= most {
            return Err(wrong(format!("root {root} has a level: ids must be below {most}")));
        }
        if link.0 >= self.fabric_links && !link.is_none() {
            return Err(wrong(format!("root {root} is held back by link {} of {}", link.0, self.fabric_links)));
        }
        if level > MOST && level != INF {
            return Err(wrong(format!("root {root} has the level {level}, above 2^61, the largest capacity")));
        }
        Ok(())
    }

    /// Whether a class has a place where its transfers can be put.
    #[inline]
    pub(super) fn check_place(&self, class: u32) -> Result<(), CallError> {
        self.check_group(class, self.classes[class as usize].group).map(|_| ())
    }

    /// The root of a group in which a class may be.
    #[inline]
    pub(super) fn check_group(&self, class: u32, group: u32) -> Result<u32, CallError> {
        match self.groups.get(group as usize) {
            Some(group) if group.root != NONE => Ok(group.root),
            _ => Err(wrong(format!("class {class} has weight, and no group that hangs below a root"))),
        }
    }

    /// That a root with members has no level.
    pub(super) fn without_level(root: u32) -> CallError {
        wrong(format!("root {root} has members and no level"))
    }

    /// That a dropped group has classes.
    pub(super) fn still_used(group: u32) -> CallError {
        wrong(format!("it drops group {group}, which has classes"))
    }

    /// Sums up all links when that is due.
    pub(super) fn check_loads(&mut self) -> Result<(), CallError> {
        if self.unsummed < self.sum_after {
            return Ok(());
        }
        let hops = 1 + self.path_links.len() / self.paths.len().max(1);
        // The first answer is summed up, and then at growing distances: a wrong policy is wrong from the beginning.
        self.sum_after = (4 * self.sum_after.max(1)).min(self.links.len() + self.classes.len() * hops);
        self.unsummed = 0;
        self.sum_loads()
    }

    /// Sums up all links: none above its capacity, no class above its limit, each limited on its route.
    pub(super) fn sum_loads(&mut self) -> Result<(), CallError> {
        let mut loads = std::mem::take(&mut self.loads);
        loads.clear();
        loads.resize(self.links.len(), 0_u128);
        for (index, class) in self.classes.iter().enumerate().filter(|(_, class)| class.weight > 0) {
            let root = &self.roots[self.groups[class.group as usize].root as usize];
            let (links, limit) = (&self.path_links[self.links_of(class.path)], self.limit_of(class.path));
            if root.level > limit {
                return Err(wrong(format!("class {index} is above its limit: {} of {limit}", root.level)));
            }
            if root.link.is_none() && root.level < limit {
                let what = format!("class {index} is said to be held back by its limit, and is below it");
                return Err(wrong(what));
            }
            if !root.link.is_none() && !links.iter().any(|&l| self.links[l as usize].id == root.link) {
                return Err(wrong(format!(
                    "class {index} is held back by link {}, which it does not cross",
                    root.link.0
                )));
            }
            for &link in links {
                loads[link as usize] += u128::from(class.weight) * u128::from(root.level);
            }
        }
        let over = self.links.iter().zip(&loads).find(|(link, load)| **load > u128::from(link.capacity));
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
}
