//! Rate and utilisation of each link over time, from the phases.

use std::io;

use weir_plugin_api::{LinkId, SimTime};
use weir_sim_core::PhaseRecord;

use super::events::{Event, EventKind};
use super::go_on;
use super::json::Args;
use crate::Run;

/// Adds counters in the processes of links, where a value changes; 0 after the last phase, and between phases apart.
pub(super) fn add(
    run: &Run<'_>,
    process_of: &[u32],
    stop: &dyn Fn() -> bool,
    events: &mut Vec<Event>,
) -> io::Result<()> {
    let mut counters = Counters { run, process_of, loads: vec![0.0; process_of.len()], written: Vec::new(), events };
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
            let carried = self.run.carried(task);
            for (link, share) in carried.map_or_else(Vec::new, |carried| carried.shares(self.run.scenario)) {
                self.loads[link.index()] += rate * share;
                touched.push(link);
            }
        }
        touched.sort_unstable();
        touched.dedup();
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
