//! `strict-priority`: higher priorities take what they can, lower ones share what is left.
//!
//! **Definition.** Classes of transfers by descending `priority`; each class gets the weighted max-min allocation
//! ([`crate::common::fill`]) over what the higher ones left on each link. A remainder of at most 1e-9 · B(l) counts as 0.
//! **Ties.** Within a class as `max-min`: lowest link id first.
//! **Fairness.** Within a class only. Pre-emptive; lower classes may starve; never stalls, since the highest class
//! present always gets more than 0. Work-conserving up to the remainder. Reads limit, weight and priority.
//! **Source.** Strict priority arbitration of virtual channels as in the *PCI Express Base Specification 3.0*, section
//! 6.3.3.1 (VC arbitration), applied to whole transfers; max-min as in Bertsekas and Gallager, section 6.5.2.

use std::cmp::Reverse;

use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, LinkId, PhaseView, RateArbiter, RouteTable,
    Step, TransferView,
};

use crate::common::fill::{Bound, Filling};
use crate::common::groups::{Groups, NONE, grant_lone};
use crate::common::params::{NoParams, decode, schema};

/// Part of a link's bandwidth below which a remainder counts as 0: the tolerance of the rate check (*assumed*), so that
/// rounding in one class never shows as a trickle in the next.
const REMAINDER: f64 = 1e-9;

/// A link: its bandwidth, and the first group of a higher class that took a part of it.
#[derive(Clone, Copy, Debug)]
struct Port {
    bandwidth: f64,
    higher: u32,
}

/// The arbiter `strict-priority`.
#[derive(Debug)]
pub struct StrictPriority {
    groups: Groups,
    filling: Filling,
    ports: Vec<Port>,
    /// Links whose capacity in `filling` is not the bandwidth.
    spent: Vec<LinkId>,
    /// Groups by descending priority.
    order: Vec<(Reverse<i64>, u32)>,
    /// Rate and binding of each group.
    answers: Vec<(f64, Binding)>,
}

impl StrictPriority {
    fn solve(&mut self, phase: &PhaseView<'_>) {
        self.groups.build(phase);
        let priority = phase.classes.priority.as_slice();
        self.order.clear();
        self.order.extend(self.groups.list.iter().zip(0_u32..).map(|(g, i)| (Reverse(priority[g.class.index()]), i)));
        if !self.order.is_sorted() {
            self.order.sort_unstable();
        }
        self.answers.clear();
        self.answers.resize(self.groups.list.len(), (0.0, Binding::NONE));
        let mut start = 0;
        while start < self.order.len() {
            let class = self.order[start].0;
            let end = start + self.order[start..].partition_point(|&(p, _)| p == class);
            self.serve(phase, start, end);
            if end < self.order.len() {
                self.spend(phase, start, end);
            }
            start = end;
        }
        for link in self.spent.drain(..) {
            let port = &mut self.ports[link.index()];
            port.higher = NONE;
            self.filling.set_capacity(link, port.bandwidth);
        }
    }

    /// Divides what is left among the groups `order[start..end]`.
    fn serve(&mut self, phase: &PhaseView<'_>, start: usize, end: usize) {
        self.filling.clear();
        for &(_, index) in &self.order[start..end] {
            let group = &self.groups.list[index as usize];
            let transfer = phase.transfer(group.first as usize);
            self.filling.add(transfer.route, transfer.limit, transfer.weight, f64::from(group.count));
        }
        self.filling.run();
        for flow in 0..end - start {
            let index = self.order[start + flow].1 as usize;
            self.answers[index] = (self.filling.rate(flow), self.binding(flow, start));
        }
    }

    /// The binding of the first transfer of a flow; flow `f` is the group `order[start + f]`.
    fn binding(&self, flow: usize, start: usize) -> Binding {
        let group = &self.groups.list[self.order[start + flow].1 as usize];
        let (link, other) = match self.filling.bound(flow) {
            Bound::Limit => return Binding::new(LinkId::NONE, Cause::OwnLimit, NONE),
            Bound::Link(link, other) => (link, other),
        };
        let higher = self.ports[link.index()].higher;
        if higher != NONE {
            return Binding::new(link, Cause::Priority, self.groups.list[higher as usize].first);
        }
        match other {
            _ if group.count > 1 => Binding::new(link, Cause::SharedLink, group.first),
            Some(other) => {
                let other = self.order[start + other].1 as usize;
                Binding::new(link, Cause::SharedLink, self.groups.list[other].first)
            }
            None => Binding::new(link, Cause::FullRate, NONE),
        }
    }

    /// Takes what the groups `order[start..end]` use off their links.
    fn spend(&mut self, phase: &PhaseView<'_>, start: usize, end: usize) {
        for &(_, index) in &self.order[start..end] {
            let group = &self.groups.list[index as usize];
            let used = self.answers[index as usize].0 * f64::from(group.count);
            if used == 0.0 {
                continue;
            }
            for &link in phase.route(group.first as usize) {
                let port = &mut self.ports[link.index()];
                if port.higher == NONE {
                    port.higher = index;
                    self.spent.push(link);
                }
                let left = self.filling.capacity(link) - used;
                self.filling.set_capacity(link, if left <= REMAINDER * port.bandwidth { 0.0 } else { left });
            }
        }
    }
}

impl RateArbiter for StrictPriority {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        if grant_lone(phase, grant, |l| self.ports[l.index()].bandwidth) {
            return Ok(());
        }
        self.solve(phase);
        self.groups.scatter(&self.answers, grant);
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        self.solve(phase);
        let name = |own: &TransferView<'_>| format!("priority {}", own.priority);
        let is_not_below = |own: &TransferView<'_>, other: &TransferView<'_>| other.priority >= own.priority;
        self.groups.explain(phase, steps, |index| self.answers[index], name, is_not_below);
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, _: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(Some(self.ports[link.index()].bandwidth))
    }
}

impl ArbiterPlugin for StrictPriority {
    const NAME: &'static str = "strict-priority";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags =
        Flags::PURE.union(Flags::WORK_CONSERVING).union(Flags::READS_WEIGHT).union(Flags::READS_PRIORITY);

    fn params_schema() -> String {
        schema::<NoParams>()
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(Self::NAME, params)?;
        Ok(Self {
            groups: Groups::default(),
            filling: Filling::new(&fabric.bandwidth),
            ports: fabric.bandwidth.iter().map(|&bandwidth| Port { bandwidth, higher: NONE }).collect(),
            spent: Vec::new(),
            order: Vec::new(),
            answers: Vec::new(),
        })
    }
}
