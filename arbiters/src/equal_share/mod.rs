//! `equal-share`: the back-of-the-envelope estimate.
//!
//! **Definition.** r_c = min(limit_c, min over its route of B(l) / n(l)), with B(l) the bandwidth of link l and n(l) the
//! number of active transfers on it.
//! **Ties.** Links that allow the same rate: the first of the route is named.
//! **Fairness.** Equal parts of each link, whether or not the others use theirs: pure, but not work-conserving. Reads
//! limit; ignores weight and priority.
//! **Source.** Folklore; the usual first estimate, stated here so that it can be compared.

mod incremental;

pub use incremental::Parts;
use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, LegendEntry, LinkId, PhaseView, RateArbiter,
    RouteTable, Step, TransferView,
};

use crate::common::groups::{Groups, NONE, grant_lone, lone_binding, narrowest};
use crate::common::params::{NoParams, decode, schema};

/// A link: its bandwidth, and who is on it in the current phase.
#[derive(Clone, Copy, Debug)]
struct Port {
    bandwidth: f64,
    transfers: u32,
    /// First and second group on it, or [`NONE`].
    groups: [u32; 2],
}

/// The arbiter `equal-share`.
#[derive(Debug)]
pub struct EqualShare {
    groups: Groups,
    ports: Vec<Port>,
    /// Links in use, for the reset.
    touched: Vec<LinkId>,
    /// Rate and binding of each group.
    answers: Vec<(f64, Binding)>,
}

impl EqualShare {
    fn solve(&mut self, phase: &PhaseView<'_>) {
        for link in self.touched.drain(..) {
            let port = &mut self.ports[link.index()];
            (port.transfers, port.groups) = (0, [NONE; 2]);
        }
        self.groups.build(phase);
        for (index, group) in self.groups.list.iter().enumerate() {
            for &link in phase.route(group.first as usize) {
                let port = &mut self.ports[link.index()];
                if port.transfers == 0 {
                    self.touched.push(link);
                    port.groups[0] = index as u32;
                } else if port.groups[1] == NONE {
                    port.groups[1] = index as u32;
                }
                port.transfers += group.count;
            }
        }
        self.answers.clear();
        for index in 0..self.groups.list.len() {
            let answer = self.answer(phase, index);
            self.answers.push(answer);
        }
    }

    fn answer(&self, phase: &PhaseView<'_>, index: usize) -> (f64, Binding) {
        let group = &self.groups.list[index];
        let transfer = phase.transfer(group.first as usize);
        let share = |link: LinkId| {
            let port = &self.ports[link.index()];
            port.bandwidth / f64::from(port.transfers)
        };
        let (link, share) = narrowest(transfer.route, share);
        let rate = share.min(transfer.limit);
        let port = &self.ports[link.index()];
        if rate >= transfer.limit || port.transfers == 1 {
            return (rate, lone_binding(rate, transfer.limit, link));
        }
        let other = port.groups[usize::from(port.groups[0] == index as u32)];
        let by = if group.count > 1 { group.first } else { self.groups.list[other as usize].first };
        (rate, Binding::new(link, Cause::SharedLink, by))
    }
}

impl RateArbiter for EqualShare {
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
        let name = |_: &TransferView<'_>| Self::NAME.to_owned();
        self.groups.explain(phase, steps, |index| self.answers[index], name, |_, _| true);
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, _: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(Some(self.ports[link.index()].bandwidth))
    }
}

impl ArbiterPlugin for EqualShare {
    const NAME: &'static str = "equal-share";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags = Flags::PURE;

    fn params_schema() -> String {
        schema::<NoParams>()
    }

    fn legend() -> Vec<LegendEntry> {
        vec![LegendEntry::new(Self::NAME, "link shared", "Each transfer on the link is offered an equal part of it.")]
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(Self::NAME, params)?;
        let port = |&bandwidth: &f64| Port { bandwidth, transfers: 0, groups: [NONE; 2] };
        Ok(Self {
            groups: Groups::default(),
            ports: fabric.bandwidth.iter().map(port).collect(),
            touched: Vec::new(),
            answers: Vec::new(),
        })
    }
}
