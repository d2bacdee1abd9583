//! `fcfs` event by event: a queue per link, with an entry for each transfer.
//!
//! A class is served while it is the first on all its links: then its first transfer is earlier than all that it shares a link
//! with. An end takes the first of each queue on its route and looks at who is first there now; an arrival looks at links that
//! were empty. So an event costs the routes of those whose turn comes or goes. Every class is a root; its level is that of its
//! narrowest link, or 0.

use std::collections::VecDeque;

use weir_plugin_api::{
    Answer, ArbiterPlugin as _, CallError, Cause, Change, ClassInfo, Holder, IncrementalArbiter, IncrementalPlugin,
    Level, LinkId, LinkUse, NO_ID as NONE, RootLevel, Setting, SimTime, WeightChange,
};

use super::Fcfs;
use crate::common::params::{NoParams, decode};

/// A class and its links.
#[derive(Clone, Debug)]
struct Class {
    links: Vec<LinkId>,
    /// What its first transfer gets when it is served, and the link that sets it; [`LinkId::NONE`] for its limit.
    level: Level,
    narrowest: LinkId,
    /// Active transfers.
    count: u32,
    /// What the host knows; `None` of a new class.
    is_served: Option<bool>,
    /// Whether it is in `looked`.
    is_looked: bool,
}

/// A link, and who waits for it.
#[derive(Clone, Debug, Default)]
struct Line {
    queue: VecDeque<u32>,
    peak: Level,
    /// Since when it has transfers none of which moves, if so, and for how long it was so before; ps.
    stalled_since: Option<u64>,
    stalled: u64,
}

/// The incremental side of `fcfs`.
#[derive(Debug)]
pub struct Lines {
    capacities: Vec<u64>,
    lines: Vec<Line>,
    classes: Vec<Class>,
    /// Classes that may be served from now on, or no longer.
    looked: Vec<u32>,
    /// Links whose first transfer, or its service, has changed.
    stirred: Vec<LinkId>,
}

impl Lines {
    /// Notes that a class must be looked at.
    fn look(&mut self, class: u32) {
        let record = &mut self.classes[class as usize];
        if !record.is_looked {
            record.is_looked = true;
            self.looked.push(class);
        }
    }

    fn leave(&mut self, class: u32) -> Result<(), CallError> {
        self.classes[class as usize].count -= 1;
        if self.classes[class as usize].count > 0 {
            self.look(class);
        } else {
            self.classes[class as usize].is_served = None;
        }
        for at in 0..self.classes[class as usize].links.len() {
            let link = self.classes[class as usize].links[at];
            let queue = &mut self.lines[link.index()].queue;
            if queue.pop_front() != Some(class) {
                return Err(CallError::Failed(format!("a transfer left link {} before its turn", link.0)));
            }
            if let Some(&next) = queue.front() {
                self.look(next);
            }
            self.stirred.push(link);
        }
        Ok(())
    }

    fn join(&mut self, class: u32) {
        self.classes[class as usize].count += 1;
        self.look(class);
        for at in 0..self.classes[class as usize].links.len() {
            let link = self.classes[class as usize].links[at];
            let queue = &mut self.lines[link.index()].queue;
            queue.push_back(class);
            if queue.len() == 1 {
                self.stirred.push(link);
            }
        }
    }

    fn is_first(&self, class: u32) -> bool {
        let mut links = self.classes[class as usize].links.iter();
        links.all(|link| self.lines[link.index()].queue.front() == Some(&class))
    }

    /// Tells whether a class is served, if that is new.
    fn tell(&mut self, class: u32, answer: &mut Answer) {
        let is_served = self.is_first(class);
        let record = &mut self.classes[class as usize];
        record.is_looked = false;
        if record.count == 0 || record.is_served.replace(is_served) == Some(is_served) {
            return;
        }
        let level = if is_served { record.level } else { 0 };
        answer.levels.push(RootLevel { root: class, level });
        for &link in &record.links {
            let line = &mut self.lines[link.index()];
            line.peak = line.peak.max(level);
            self.stirred.push(link);
        }
    }

    /// Notes whether anything moves on a link from now on.
    fn note(&mut self, link: LinkId, now: u64) {
        let line = &mut self.lines[link.index()];
        let first = line.queue.front().map(|&class| &self.classes[class as usize]);
        let is_stalled = first.is_some_and(|class| class.is_served != Some(true));
        match line.stalled_since {
            None if is_stalled => line.stalled_since = Some(now),
            Some(since) if !is_stalled => {
                line.stalled += now - since;
                line.stalled_since = None;
            }
            _ => {}
        }
    }
}

impl IncrementalArbiter for Lines {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        let (level, narrowest) = (class.limit, LinkId::NONE);
        while self.classes.len() <= id as usize {
            let (links, count, is_served, is_looked) = (Vec::new(), 0, None, false);
            self.classes.push(Class { links, level, narrowest, count, is_served, is_looked });
        }
        let record = &mut self.classes[id as usize];
        (record.level, record.narrowest, record.count, record.is_served) = (level, narrowest, 0, None);
        record.links.clear();
        for &link in class.links {
            record.links.push(link);
            let capacity = self.capacities[link.index()];
            if capacity < record.level {
                (record.level, record.narrowest) = (capacity, link);
            }
        }
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        for &WeightChange { class, .. } in change.removed {
            self.leave(class)?;
        }
        for &WeightChange { class, .. } in change.added {
            self.join(class);
        }
        while let Some(class) = self.looked.pop() {
            self.tell(class, answer);
        }
        while let Some(link) = self.stirred.pop() {
            self.note(link, change.now.0);
        }
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        let record = &self.classes[class as usize];
        let first = |link: &&LinkId| self.lines[link.index()].queue.front().copied();
        let waits = record.links.iter().find_map(|link| Some((*link, first(&link).filter(|&by| by != class)?)));
        match waits {
            Some((link, by)) => Holder { link, cause: Cause::Waiting, by },
            None if record.narrowest.is_none() => Holder { link: LinkId::NONE, cause: Cause::OwnLimit, by: NONE },
            None => Holder { link: record.narrowest, cause: Cause::FullRate, by: NONE },
        }
    }

    fn link_use(&self, link: LinkId, now: SimTime) -> LinkUse {
        let line = &self.lines[link.index()];
        let stalled_ps = line.stalled + line.stalled_since.map_or(0, |since| now.0 - since);
        LinkUse { peak: Some(line.peak), is_full: line.peak == self.capacities[link.index()], stalled_ps }
    }

    fn verify(&self) -> Result<(), String> {
        for (id, class) in (0_u32..).zip(&self.classes).filter(|(_, class)| class.count > 0) {
            if class.is_served != Some(self.is_first(id)) {
                return Err(format!("class {id} is served: {:?}", class.is_served));
            }
            let queued = |link: &LinkId| self.lines[link.index()].queue.iter().filter(|&&c| c == id).count();
            if class.links.iter().any(|link| queued(link) != class.count as usize) {
                return Err(format!("class {id} has {} transfers, and not as many entries", class.count));
            }
        }
        Ok(())
    }
}

impl IncrementalPlugin for Lines {
    const IN_TURN: bool = true;

    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(Fcfs::NAME, params)?;
        if setting.shared > 0 {
            return Err(CallError::Refused("what links share is divided, not waited for".to_owned()));
        }
        let lines = vec![Line::default(); setting.capacities.len()];
        let (classes, looked, stirred) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { capacities: setting.capacities.to_vec(), lines, classes, looked, stirred })
    }
}
