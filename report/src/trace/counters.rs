//! Rate and utilisation of each link over time, from the phases.

use std::io;

use weir_plugin_api::{LinkId, SimDuration, SimTime};
use weir_sim_core::PhaseRecord;

use super::events::{Event, EventKind};
use super::go_on;
use super::json::Args;
use crate::Run;

/// Values of a counter at most where they are thinned; *assumed*, as many as a screen has room for.
const POINTS: u64 = 500;
/// Values of all links together at most, where they are thinned: some 220 bytes each, rate and utilisation (*assumed*: below
/// 10 MB).
const ALL_POINTS: u64 = 40_000;

/// Adds counters in the processes of links, where a value changes; 0 after the last phase, and between phases apart. Thinned,
/// a value other than 0 stands until a 500th of the run has passed, or a larger part where there are many links.
pub(super) fn add(
    run: &Run<'_>,
    process_of: &[u32],
    is_thinned: bool,
    stop: &dyn Fn() -> bool,
    events: &mut Vec<Event>,
) -> io::Result<()> {
    let links = process_of.iter().filter(|&&process| process > 0).count() as u64;
    let points = (ALL_POINTS / links.max(1)).clamp(1, POINTS);
    let period = if is_thinned { SimDuration(run.outcome.now.0 / points) } else { SimDuration::ZERO };
    let (loads, next) = (vec![0.0; process_of.len()], vec![SimTime::ZERO; process_of.len()]);
    let mut counters = Counters { run, process_of, period, next, loads, written: Vec::new(), events };
    let phases = run.outcome.phases.as_deref().unwrap_or_default();
    for (i, phase) in phases.iter().enumerate() {
        go_on(i, stop)?;
        counters.show(phase);
        if phases.get(i + 1).is_none_or(|next| next.start > phase.end) {
            counters.end(phase.end);
        }
    }
    Ok(())
}

struct Counters<'a> {
    run: &'a Run<'a>,
    process_of: &'a [u32],
    /// Between two values of a counter at least.
    period: SimDuration,
    /// From when on the next value of each link is written.
    next: Vec<SimTime>,
    /// Load of each link in the phase at hand; 0 between phases.
    loads: Vec<f64>,
    /// Links whose last value is not 0, with it; by link.
    written: Vec<(LinkId, f64)>,
    events: &'a mut Vec<Event>,
}

impl Counters<'_> {
    fn show(&mut self, phase: &PhaseRecord) {
        let mut touched: Vec<LinkId> = self.written.iter().map(|&(link, _)| link).collect();
        for &(task, rate) in phase.rates.iter().filter(|(_, rate)| *rate > 0.0) {
            let carried = self.run.carried_at(task, phase.start);
            for (link, share) in carried.map_or_else(Vec::new, |carried| carried.shares(self.run.scenario)) {
                if self.process_of[link.index()] > 0 {
                    self.loads[link.index()] += rate * share;
                    touched.push(link);
                }
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let before = std::mem::take(&mut self.written);
        for link in touched {
            let load = std::mem::take(&mut self.loads[link.index()]);
            let known = before.binary_search_by_key(&link, |&(link, _)| link).map_or(0.0, |at| before[at].1);
            let is_new = load.to_bits() != known.to_bits();
            // A value that lasts is written late rather than never.
            let at = phase.start.max(self.next[link.index()]);
            let is_written = is_new && (at == phase.start || at < phase.end);
            if is_written {
                self.count(link, load, at);
                self.next[link.index()] = at.after(self.period);
            }
            let shown = if is_written || !is_new { load } else { known };
            if shown > 0.0 {
                self.written.push((link, shown));
            }
        }
    }

    fn end(&mut self, at: SimTime) {
        for (link, _) in std::mem::take(&mut self.written) {
            self.count(link, 0.0, at);
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
