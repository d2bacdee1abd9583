//! Rate and utilisation of each link over time, from the phases.

use std::io;

use weir_plugin_api::{LinkId, SimDuration, SimTime};
use weir_sim_core::{Listener, PhaseRecord, TaskId};

use super::events::{Event, EventKind};
use super::go_on;
use super::json::Args;
use crate::Run;
use crate::page::PhaseReplay;

/// Values of all links together at most, where they are thinned: some 220 bytes each, rate and utilisation (*assumed*: below
/// 10 MB).
const ALL_POINTS: u64 = 40_000;
/// Transfers of all parts together at most, where many are under way at once (*assumed*: about 2 s).
const ALL_SENT: u64 = 50_000_000;

/// Adds counters in the processes of links, where a value changes; 0 after the last phase, and between phases apart. Thinned,
/// a value is the mean of one of so many equal parts of the run that there are [`ALL_POINTS`] at most, fewer where that takes
/// long; a run of fewer changes keeps them all. `replay` tells of phases where the run recorded none, and of what is sent where
/// they are thinned. Packets have no rates, and their links no counters.
pub(super) fn add(
    run: &Run<'_>,
    process_of: &[u32],
    is_thinned: bool,
    replay: &PhaseReplay<'_>,
    stop: &dyn Fn() -> bool,
    events: &mut Vec<Event>,
) -> io::Result<()> {
    if run.outcome.packets.is_some() {
        return Ok(());
    }
    let links = process_of.iter().filter(|&&process| process > 0).count() as u64;
    let parts = (ALL_POINTS / links.max(1)).max(1);
    let is_thinned = is_thinned && run.outcome.events.max(run.outcome.arbitrations) >= parts;
    let parts = if is_thinned { parts.min(ALL_SENT / most_at_once(run)).max(1) } else { parts };
    let mut counters = Counters::new(run, process_of, events);
    let (mut at, mut ended) = (0, Ok(()));
    let mut take = |phase: &PhaseRecord| {
        if ended.is_ok() {
            ended = go_on(at, stop);
            counters.take(phase);
            at += 1;
        }
    };
    let is_whole = match &run.outcome.phases {
        _ if is_thinned => {
            let mut means = Means::new(run);
            let every = SimDuration(run.outcome.now.0.div_ceil(parts).max(1));
            let tell = &mut |time, sent: &[_]| take(&means.until(time, sent));
            let is_whole = replay(Listener::Progress { every, take: tell });
            means.rest().iter().for_each(take);
            is_whole
        }
        Some(phases) => {
            phases.iter().for_each(take);
            true
        }
        None => replay(Listener::Phases(&mut |phase| take(&phase))),
    };
    counters.end();
    ended.and(if is_whole { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) })
}

/// How many transfers are sent at the same time at most; 1 where there is none.
fn most_at_once(run: &Run<'_>) -> u64 {
    let times = run.transfers().map(|task| &run.outcome.tasks[task.index()]).filter(|times| !times.start.is_never());
    let (mut starts, mut ends): (Vec<SimTime>, Vec<SimTime>) = times.map(|times| (times.start, times.sent)).unzip();
    starts.sort_unstable();
    ends.sort_unstable();
    let mut ended = 0;
    let under_way = starts.iter().enumerate().map(|(at, start)| {
        while ends.get(ended).is_some_and(|end| end <= start) {
            ended += 1;
        }
        (at + 1 - ended) as u64
    });
    under_way.max().unwrap_or(1).max(1)
}

/// Mean rates of the parts of a run, from what transfers have sent until then.
struct Means<'a> {
    run: &'a Run<'a>,
    /// The end of the last part.
    until: SimTime,
    /// Per task: bytes until then.
    sent: Vec<u64>,
    /// Those that send their last byte, by that time, and how many had by then.
    ends: Vec<TaskId>,
    ended: usize,
}

impl<'a> Means<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        let times = &run.outcome.tasks;
        let mut ends: Vec<TaskId> = run.transfers().filter(|task| !times[task.index()].sent.is_never()).collect();
        ends.sort_by_key(|task| times[task.index()].sent);
        Self { run, until: SimTime::ZERO, sent: vec![0; times.len()], ends, ended: 0 }
    }

    /// The mean rates from the last part's end to a time at which the active transfers have sent so much.
    fn until(&mut self, time: SimTime, active: &[(TaskId, u64)]) -> PhaseRecord {
        let outcome = self.run.outcome;
        let left = &self.ends[self.ended..];
        let ended = left.partition_point(|task| outcome.tasks[task.index()].sent <= time);
        let all = left[..ended].iter().map(|task| (*task, outcome.sent_bytes[task.index()]));
        let mut rates = Vec::with_capacity(ended + active.len());
        for (task, bytes) in all.chain(active.iter().copied()) {
            let before = &mut self.sent[task.index()];
            if bytes > *before {
                rates.push((task, (bytes - *before) as f64 / (time - self.until).seconds()));
            }
            *before = bytes.max(*before);
        }
        self.ended += ended;
        let start = std::mem::replace(&mut self.until, time);
        PhaseRecord { start, end: time, rates, steps: Vec::new() }
    }

    /// Those from there to the end of the run; none where that was the last part's.
    fn rest(&mut self) -> Option<PhaseRecord> {
        let outcome = self.run.outcome;
        if outcome.now <= self.until {
            return None;
        }
        let is_active = |task: &TaskId| outcome.tasks[task.index()].sent.is_never();
        let active = self.run.transfers().filter(is_active).map(|task| (task, outcome.sent_bytes[task.index()]));
        Some(self.until(outcome.now, &active.collect::<Vec<_>>()))
    }
}

/// Links, each with its share of a transfer's rate.
type Shares = Box<[(LinkId, f64)]>;

struct Counters<'a> {
    run: &'a Run<'a>,
    process_of: &'a [u32],
    /// Where the last phase ended.
    until: SimTime,
    /// Per task: those of its route that are shown, once they are needed.
    shares: Vec<Option<Shares>>,
    /// Load of each link in the phase at hand; 0 between phases.
    loads: Vec<f64>,
    /// Links whose last value is not 0, with it; by link.
    written: Vec<(LinkId, f64)>,
    events: &'a mut Vec<Event>,
}

impl<'a> Counters<'a> {
    fn new(run: &'a Run<'a>, process_of: &'a [u32], events: &'a mut Vec<Event>) -> Self {
        let (shares, loads) = (vec![None; run.outcome.tasks.len()], vec![0.0; process_of.len()]);
        Self { run, process_of, until: SimTime::ZERO, shares, loads, written: Vec::new(), events }
    }

    fn take(&mut self, phase: &PhaseRecord) {
        if phase.start > self.until {
            self.end();
        }
        self.show(phase);
        self.until = phase.end;
    }

    fn show(&mut self, phase: &PhaseRecord) {
        let mut touched: Vec<LinkId> = self.written.iter().map(|&(link, _)| link).collect();
        for &(task, rate) in phase.rates.iter().filter(|(_, rate)| *rate > 0.0) {
            self.load(task, rate, phase.start, &mut touched);
        }
        touched.sort_unstable();
        let before = std::mem::take(&mut self.written);
        for link in touched {
            let load = std::mem::take(&mut self.loads[link.index()]);
            let known = before.binary_search_by_key(&link, |&(link, _)| link).map_or(0.0, |at| before[at].1);
            if load.to_bits() != known.to_bits() {
                self.count(link, load, phase.start);
            }
            if load > 0.0 {
                self.written.push((link, load));
            }
        }
    }

    /// Adds the rate of a transfer to the loads of its links; those that it is the first to load are touched.
    fn load(&mut self, task: TaskId, rate: f64, start: SimTime, touched: &mut Vec<LinkId>) {
        let is_rerouted = !self.run.outcome.reroutes_of(task).is_empty();
        if is_rerouted || self.shares[task.index()].is_none() {
            let carried = self.run.carried_at(task, start);
            let all = carried.map_or_else(Vec::new, |carried| carried.shares(self.run.scenario));
            let shown = all.into_iter().filter(|(link, _)| self.process_of[link.index()] > 0).collect();
            self.shares[task.index()] = Some(shown);
        }
        for &(link, share) in self.shares[task.index()].iter().flatten() {
            let load = &mut self.loads[link.index()];
            if *load == 0.0 && self.written.binary_search_by_key(&link, |&(link, _)| link).is_err() {
                touched.push(link);
            }
            *load += rate * share;
        }
    }

    fn end(&mut self) {
        for (link, _) in std::mem::take(&mut self.written) {
            self.count(link, 0.0, self.until);
        }
    }

    fn count(&mut self, link: LinkId, load: f64, at: SimTime) {
        let pid = self.process_of[link.index()];
        let share = 100.0 * load / self.run.scenario.fabric.link(link).bandwidth;
        let values = [("rate", "GB/s", load / 1e9), ("utilisation", "%", share)];
        self.events.extend(values.map(|(name, unit, value)| Event {
            kind: EventKind::Counter,
            pid,
            tid: 0,
            at,
            name: name.to_owned(),
            args: Some(Args::default().number(unit, value)),
        }));
    }
}
