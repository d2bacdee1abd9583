//! Processors and interfaces of ranks on the LogGOPS network: what they serve, when they are free, and what that depends on.

use std::collections::BTreeMap;

use weir_plugin_api::{PlannedWork, Wait};

use super::tasks::Tasks;

/// A server of a rank, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Cpu(u32),
    /// The side of an interface that sends.
    Sends(u32),
    /// The side that receives.
    Receives(u32),
}

/// Which server: its rank, and which one there.
pub(super) type Which = (u32, Kind);

/// What an event asks for: a processor of a rank and, for a message, an interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Asks {
    pub(super) rank: u32,
    pub(super) cpu: u32,
    pub(super) interface: Option<Kind>,
}

impl Asks {
    pub(super) fn each(self) -> impl Iterator<Item = Which> {
        [Some(Kind::Cpu(self.cpu)), self.interface].into_iter().flatten().map(move |kind| (self.rank, kind))
    }
}

/// When a server is free, and what that depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Server {
    /// When its present service began, and how many events there had been.
    since: (u64, u64),
    free_at: u64,
    until: Option<Until>,
    /// A message that met its receive only later: the server rests until then, too.
    and: Option<Wait>,
}

/// What a server was busy with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// A task.
    Task(Wait),
    /// The gap behind the begin of a task of an operation: a task of its own once somebody waits for it.
    Gap { operation: u32, part: &'static str, behind: Wait, gap: u64 },
}

impl Server {
    pub(super) fn hold(&mut self, since: (u64, u64), lasts: u64, until: Until) {
        *self = Self { since, free_at: since.0.saturating_add(lasts), until: Some(until), and: None };
    }

    pub(super) fn rest(&mut self, until: u64, moment: Wait) {
        if self.free_at < until {
            (self.free_at, self.and) = (until, Some(moment));
        }
    }

    /// Until when it is busy with what it was busy with when the event of this time and number came up.
    pub(super) fn busy_before(&self, event: (u64, u64)) -> Option<u64> {
        (self.since < event && self.free_at > event.0).then_some(self.free_at)
    }

    /// What the next one that it serves waits for.
    pub(super) fn waits(&mut self, tasks: &mut Tasks<'_>, to: &mut Vec<Wait>) {
        to.extend(self.and);
        match self.until {
            None => {}
            Some(Until::Task(wait)) => to.push(wait),
            Some(Until::Gap { operation, part, behind, gap }) => {
                let wait = Wait::end(tasks.add(operation, part, &[behind], PlannedWork::Lasts(gap as f64)));
                self.until = Some(Until::Task(wait));
                to.push(wait);
            }
        }
    }
}

/// Those of all ranks.
pub(super) struct Servers(Vec<BTreeMap<Kind, Server>>);

impl Servers {
    pub(super) fn of_ranks(ranks: u32) -> Self {
        Self((0..ranks).map(|_| BTreeMap::new()).collect())
    }

    pub(super) fn of(&mut self, (rank, kind): Which) -> &mut Server {
        self.0[rank as usize].entry(kind).or_default()
    }

    /// The one that is free last of those that an event asks for, and when: of equals the processor.
    pub(super) fn last(&mut self, asks: Asks) -> (Which, u64) {
        let mut last = ((asks.rank, Kind::Cpu(asks.cpu)), 0);
        for which in asks.each() {
            let free_at = self.of(which).free_at;
            if free_at > last.1 {
                last = (which, free_at);
            }
        }
        last
    }

    /// When the last processor of each rank is free, ps.
    pub(super) fn ends(&self) -> Vec<u64> {
        let of = |servers: &BTreeMap<Kind, Server>| {
            let cpus = servers.range(Kind::Cpu(0)..=Kind::Cpu(u32::MAX));
            cpus.map(|(_, cpu)| cpu.free_at).max().unwrap_or(0)
        };
        self.0.iter().map(of).collect()
    }
}
