//! `fcfs` event by event: a queue per link, with an entry for each transfer.
//!
//! A class is served while it is the first on all its links: then its first transfer is earlier than all that it shares a link
//! with. It is counted how many queues a class is at the head of: an end takes the head of each queue on its route, an arrival is
//! the head where nobody waits. So an event costs its own route, and the routes of those whose turn comes. Every class is a root; its level is
//! that of its narrowest link, or 0.

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
    /// Queues that it is at the head of.
    heads: u32,
    /// What the host knows; `None` of a new class.
    is_served: Option<bool>,
    /// Whether it is in `looked`.
    is_looked: bool,
}

impl Class {
    fn heads_all(&self) -> bool {
        self.heads as usize == self.links.len()
    }
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

impl Line {
    /// Something moves on it from now on, or nothing is there.
    fn resume(&mut self, now: u64) {
        if let Some(since) = self.stalled_since.take() {
            self.stalled += now - since;
        }
    }
}

/// The incremental side of `fcfs`.
#[derive(Debug)]
pub struct Lines {
    capacities: Vec<u64>,
    lines: Vec<Line>,
    classes: Vec<Class>,
    /// Classes that may be served from now on, or no longer.
    looked: Vec<u32>,
}

impl Lines {
    /// A class is at the head of one more queue.
    fn heads_one_more(&mut self, class: u32) {
        let record = &mut self.classes[class as usize];
        record.heads += 1;
        if record.heads_all() {
            self.look(class);
        }
    }

    /// Notes that a class must be looked at.
    fn look(&mut self, class: u32) {
        let record = &mut self.classes[class as usize];
        if !record.is_looked {
            record.is_looked = true;
            self.looked.push(class);
        }
    }

    fn leave(&mut self, class: u32, now: u64) -> Result<(), CallError> {
        let record = &mut self.classes[class as usize];
        record.count -= 1;
        record.heads = 0;
        if record.count == 0 {
            record.is_served = None;
        } else {
            self.look(class);
        }
        for at in 0..self.classes[class as usize].links.len() {
            let link = self.classes[class as usize].links[at];
            let line = &mut self.lines[link.index()];
            if line.queue.pop_front() != Some(class) {
                return Err(CallError::Failed(format!("a transfer left link {} before its turn", link.0)));
            }
            match line.queue.front() {
                // Until it turns out that the next one is served.
                Some(&next) => {
                    line.stalled_since = line.stalled_since.or(Some(now));
                    self.heads_one_more(next);
                }
                None => line.resume(now),
            }
        }
        Ok(())
    }

    fn join(&mut self, class: u32, now: u64) {
        let record = &mut self.classes[class as usize];
        record.count += 1;
        if record.is_served.is_none() {
            self.look(class);
        }
        for at in 0..self.classes[class as usize].links.len() {
            let link = self.classes[class as usize].links[at];
            let line = &mut self.lines[link.index()];
            line.queue.push_back(class);
            if line.queue.len() == 1 {
                line.stalled_since = Some(now);
                self.heads_one_more(class);
            }
        }
    }

    /// Tells whether a class is served, if that is new.
    fn tell(&mut self, class: u32, now: u64, answer: &mut Answer) {
        let record = &mut self.classes[class as usize];
        record.is_looked = false;
        if record.count == 0 {
            return;
        }
        let is_served = record.heads_all();
        if record.is_served.replace(is_served) != Some(is_served) {
            answer.levels.push(RootLevel { root: class, level: if is_served { record.level } else { 0 } });
        }
        if is_served {
            for &link in &record.links {
                let line = &mut self.lines[link.index()];
                line.peak = line.peak.max(record.level);
                line.resume(now);
            }
        }
    }
}

impl IncrementalArbiter for Lines {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        let (level, narrowest) = (class.limit, LinkId::NONE);
        while self.classes.len() <= id as usize {
            let (links, count, heads, is_served, is_looked) = (Vec::new(), 0, 0, None, false);
            self.classes.push(Class { links, level, narrowest, count, heads, is_served, is_looked });
        }
        let record = &mut self.classes[id as usize];
        (record.level, record.narrowest, record.count, record.is_served) = (level, narrowest, 0, None);
        record.heads = 0;
        record.links.clear();
        record.links.extend_from_slice(class.links);
        for &link in class.links {
            let capacity = self.capacities[link.index()];
            if capacity < record.level {
                (record.level, record.narrowest) = (capacity, link);
            }
        }
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        let now = change.now.0;
        for &WeightChange { class, .. } in change.removed {
            self.leave(class, now)?;
        }
        for &WeightChange { class, .. } in change.added {
            self.join(class, now);
        }
        while let Some(class) = self.looked.pop() {
            self.tell(class, now, answer);
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
            let is_first = |link: &LinkId| self.lines[link.index()].queue.front() == Some(&id);
            let is_served = class.links.iter().all(is_first);
            if class.is_served != Some(is_served) || class.heads_all() != is_served {
                return Err(format!("class {id} is served: {:?}, first on {} links", class.is_served, class.heads));
            }
            let queued = |link: &LinkId| self.lines[link.index()].queue.iter().filter(|&&c| c == id).count();
            if class.links.iter().any(|link| queued(link) != class.count as usize) {
                return Err(format!("class {id} has {} transfers, and not as many entries", class.count));
            }
        }
        for (link, line) in self.lines.iter().enumerate() {
            let first = line.queue.front().map(|&class| &self.classes[class as usize]);
            if line.stalled_since.is_some() != first.is_some_and(|class| class.is_served != Some(true)) {
                return Err(format!("link {link} is stalled since {:?}", line.stalled_since));
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
        Ok(Self { capacities: setting.capacities.to_vec(), lines, classes: Vec::new(), looked: Vec::new() })
    }
}
