//! `fcfs`: whole links, first come, first served.
//!
//! **Definition.** In order of (arrival, id), a transfer is served iff no earlier active transfer has a link in common
//! with it, served or not. Served transfers get min(limit, narrowest link), the others 0.
//! **Ties.** Equal arrivals: lower id first.
//! **Fairness.** Starvation-free and never stalls: the earliest is always served, and nobody overtakes on any link. A
//! served transfer stays served until it ends (non-pre-emptive): letting a later one slip past an unserved earlier one
//! would pre-empt it when the earlier one's turn comes. Not work-conserving. Reads limit and the rank by arrival;
//! ignores weight and priority.
//! **Source.** First come, first served with ordered acquisition of all resources at once; Coffman, Elphick, Shoshani,
//! *System Deadlocks*, Computing Surveys 3 (1971), section 2 (no hold and wait).

mod incremental;

pub use incremental::Lines;
use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, LinkId, PhaseView, RateArbiter, Step,
};

use crate::common::groups::{NONE, lone_binding, narrowest};
use crate::common::params::{NoParams, decode, schema};

/// A link: its bandwidth, and the earliest transfer that wants it.
#[derive(Clone, Copy, Debug)]
struct Port {
    bandwidth: f64,
    first: u32,
}

/// The arbiter `fcfs`.
#[derive(Debug)]
pub struct Fcfs {
    ports: Vec<Port>,
    /// Links in use, for the reset.
    touched: Vec<LinkId>,
    /// (arrival, position), ascending.
    order: Vec<(u64, u32)>,
}

impl Fcfs {
    fn sort(&mut self, phase: &PhaseView<'_>) {
        self.order.clear();
        self.order.extend(phase.arrival.iter().zip(0_u32..).map(|(&arrival, position)| (arrival, position)));
        if !self.order.is_sorted() {
            self.order.sort_unstable();
        }
    }

    /// Puts the transfer at `position` in line on each of its links; returns its rate and binding.
    fn admit_next(&mut self, phase: &PhaseView<'_>, position: u32) -> (f64, Binding) {
        let transfer = phase.transfer(position as usize);
        if transfer.limit == 0.0 {
            // Another region has it wait; nobody waits for it here.
            return (0.0, Binding::new(LinkId::NONE, Cause::OwnLimit, NONE));
        }
        let mut blocked = Binding::NONE;
        for &link in transfer.route {
            let port = &mut self.ports[link.index()];
            if port.first == NONE {
                port.first = position;
                self.touched.push(link);
            } else if blocked.by == NONE {
                blocked = Binding::new(link, Cause::Waiting, port.first);
            }
        }
        if blocked.by != NONE {
            return (0.0, blocked);
        }
        let (link, bandwidth) = narrowest(transfer.route, |l| self.ports[l.index()].bandwidth);
        let rate = bandwidth.min(transfer.limit);
        (rate, lone_binding(rate, transfer.limit, link))
    }

    fn solve(&mut self, phase: &PhaseView<'_>, mut answer: impl FnMut(u32, f64, Binding)) {
        self.sort(phase);
        for at in 0..self.order.len() {
            let position = self.order[at].1;
            let (rate, binding) = self.admit_next(phase, position);
            answer(position, rate, binding);
        }
        for link in self.touched.drain(..) {
            self.ports[link.index()].first = NONE;
        }
    }
}

impl RateArbiter for Fcfs {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.solve(phase, |position, rate, binding| {
            grant.rates[position as usize] = rate;
            grant.bindings[position as usize] = binding;
        });
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        let start = steps.len();
        self.solve(phase, |transfer, rate, binding| {
            let because = if binding.by == NONE { Vec::new() } else { vec![binding.by] };
            steps.push(Step { transfer, region: 0, step: Self::NAME.to_owned(), link: binding.link, rate, because });
        });
        steps[start..].sort_by_key(|step| step.transfer);
        Ok(true)
    }
}

impl ArbiterPlugin for Fcfs {
    const NAME: &'static str = "fcfs";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags = Flags::PURE.union(Flags::READS_ARRIVAL);

    fn params_schema() -> String {
        schema::<NoParams>()
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(Self::NAME, params)?;
        let ports = fabric.bandwidth.iter().map(|&bandwidth| Port { bandwidth, first: NONE }).collect();
        Ok(Self { ports, touched: Vec::new(), order: Vec::new() })
    }
}
