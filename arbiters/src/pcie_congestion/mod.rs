//! `pcie-congestion`: congestion factors of transfers in a PCIe tree.
//!
//! ```text
//! B upstream (4)-(6) ─► lateral ─► C downstream (7) ─► D head-of-line: (8) to its fixed point, (9), conservation
//! ```
//!
//! **Definition.** Active transfers, `tau` with 0 ≤ tau < 1/2. A transfer *crosses a root complex* if one is an inner
//! node of its route and neither of its ends is host memory: a `cpu`, or a root complex, where a region ends at that of
//! the memory links. Capacity C(l) = (1 − tau) · bandwidth for the
//! down link to a child of a root complex when a transfer on it crosses, else the bandwidth. x(l) is a transfer's
//! rate before link l (at its source's own link: its limit), clamped to the link's bandwidth, which is not a *cut*;
//! y(l) is its rate after l. eps = 1e-9, relative to what is compared: parts of a
//! link to themselves, as so much of the whole for each of many would overfill it.
//! - **A, source** (section V-A). One transfer of a source at a time: the business of the simulation's engines. Several
//!   active transfers of one source share its own link by step B.
//! - **B, upstream** (equations 4 to 6, [`upstream`]), deepest links first, and after them lateral links: if
//!   S = Σ x > C(l), y = x · C(l) / S; the link is *contended*, all on it are *cut*.
//! - **C, downstream** (equation 7, [`downstream`]), shallowest links first: the groups by entering link get quotas.
//! - **D, head-of-line blocking** (equations 8 and 9, [`blocking`]), with what it frees, and conservation.
//! - **Limited transfers** (the paper has none). Where a limit is below a source's link, B and C run without limits first;
//!   w(l) is what they give. Then, where a port (B) or a group (C) is cut to a sum, y = min(x, λ · w), λ the largest that
//!   keeps the sum, so that a transfer limited to less than its part gets what it wants; *cut* is who gets less than x.
//!
//! **Ties.** None decide a rate. Of equally slow transfers that block another, the one that comes first is named.
//! **Fairness.** Proportional to what arrives at an upstream port; by entering port, weighted against transfers that
//! cross the root complex, at a downstream port. Rates are above 0 and sums at most C(l). Pure, not work-conserving:
//! blocked bandwidth is handed on only at the links where a transfer was cut. Reads limit; ignores weight and priority.
//! **Source.** Martinasso, Kwasniewski, Alam, Schulthess, Hoefler, *A PCIe Congestion-Aware Performance Model for Densely
//! Populated Accelerator Servers*, SC16, sections IV to VI, Algorithm 1; and the slides of the talk.
//!
//! **Deviations from the paper.**
//! 1. Read literally, (8) groups by equal entering and leaving port. Then a and b of Table I would never meet, so here a
//!    shared link groups.
//! 2. (8) repeats until nothing changes. The result does not depend on an order of switches, and is closer to the
//!    published 3-D numbers.
//! 3. The 1 − tau cap of a lone transfer (end of section V-C) holds only at the root complex's own port, and blocks
//!    nobody. Otherwise Table I, or the paper's best 2-D order, could not be reproduced.
//! 4. Arbitration only where a link is overloaded, as the slides say.
//! 5. Three or more groups: the text's 1/n ∓ tau can exceed the port or reach 0. The weights 1/2 − tau and 1/2 + tau,
//!    divided by their sum, equal it for two groups.
//! 6. Read literally, (9) can overfill a port. What is raised is scaled down to what the links have left.
//! 7. A transfer that crosses a root complex counts as crossing it at every port of its route, also at those before. This
//!    matters only where a root complex lies below the root and sources do not.
//! 8. A transfer raised by (9) stays within its limit, as if the limit were one more link of its own.

mod admission;
mod bindings;
mod blocking;
mod downstream;
mod explain;
mod incremental;
mod layout;
mod upstream;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, LegendEntry, LinkId, PhaseView, RateArbiter,
    RouteTable, Step,
};

use crate::common::groups::{Groups, NONE, lone_binding};
use crate::common::params::{decode, schema};
use crate::common::ports::{Port, capacity, crosses_root_complex};
pub use incremental::Factors;
use layout::Layout;

/// Performance loss of a transfer that crosses the root complex: 1 − 1/1.21 (section VII, from Fig. 3).
const DEFAULT_TAU: f64 = 21.0 / 121.0;

/// Tolerance of every comparison, relative to a link's capacity (*assumed*: far above rounding, far below any effect).
const EPS: f64 = 1e-9;

/// Parameters of `pcie-congestion`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PcieCongestionParams {
    /// Part of a port's bandwidth that transfers lose when they cross the root complex; 1 − 1/1.21 by default.
    #[schemars(
        range(min = 0.0),
        extend(
            "exclusiveMaximum" = 0.5,
            "x-weir-fit" = {"when": {"root_penalty": true}},
            "x-weir-by-pcie" = [
                {"from": 1, "source": "published for K80 boards of PCIe 3.0 (Martinasso et al., SC16); nothing is known of others below 5.0"},
                {"from": 4, "source": "nothing is measured with PCIe 4.0; the default is that of K80 boards of PCIe 3.0"},
                {"from": 5, "value": 0, "source": "measured on four machines with PCIe 5.0: 181 patterns, mean error 5.5 %, with the default 11.6 %"}
            ]
        )
    )]
    pub tau: f64,
    /// Head-of-line blocking (step D); without it the rates are those after step C.
    pub hol: bool,
    /// The root complex's reduced capacity and unequal weights; without them it is an ordinary switch.
    pub root_penalty: bool,
}

impl Default for PcieCongestionParams {
    fn default() -> Self {
        Self { tau: DEFAULT_TAU, hol: true, root_penalty: true }
    }
}

/// The arbiter `pcie-congestion`.
#[derive(Debug)]
pub struct PcieCongestion {
    /// 0 when the root complex is an ordinary switch.
    tau: f64,
    hol: bool,
    groups: Groups,
    layout: Layout,
    downstream: downstream::Scratch,
    blocking: blocking::Scratch,
    /// Rate and binding of each group.
    answers: Vec<(f64, Binding)>,
}

impl PcieCongestion {
    fn solve(&mut self, phase: &PhaseView<'_>) {
        self.groups.build(phase);
        self.layout.weights.clear();
        if self.is_limited(phase) {
            self.divide(phase, false);
            self.layout.keep_weights();
        }
        self.divide(phase, true);
        for item in &mut self.layout.items {
            let last = &self.layout.hops[item.end as usize - 1];
            item.arrived = item.rate.min(last.ceiling);
            (item.rate, item.blocked_rate) = (item.arrived, item.arrived);
        }
        if self.hol && blocking::block(&mut self.layout, &mut self.blocking) {
            blocking::hand_on(&mut self.layout);
        }
    }

    /// Whether a transfer brings less than its source's link carries.
    fn is_limited(&self, phase: &PhaseView<'_>) -> bool {
        let limits = phase.classes.limit.as_slice();
        let bandwidth = |of: u32| self.layout.ports[phase.route(of as usize)[0].index()].bandwidth;
        let limited = |limit: f64, of: u32| limit.is_finite() && limit < bandwidth(of);
        self.groups.list.iter().any(|group| limited(limits[group.class.index()], group.first))
    }

    /// Steps B and C.
    fn divide(&mut self, phase: &PhaseView<'_>, has_limits: bool) {
        self.layout.build(phase, &self.groups.list, has_limits);
        for at in 0..self.layout.order.len() {
            let link = self.layout.order[at].1 as usize;
            if self.layout.links[link].down {
                downstream::divide(&mut self.layout, link, self.tau, &mut self.downstream);
            } else {
                upstream::divide(&mut self.layout, link);
            }
        }
    }

    /// A lone transfer, by the same arithmetic: its full rate, or (1 − tau) at the root complex's port.
    fn lone(&self, phase: &PhaseView<'_>) -> (f64, Binding) {
        let transfer = phase.transfer(0);
        let crosses = crosses_root_complex(&self.layout.ports, transfer.route);
        let mut rate = transfer.limit;
        let (mut narrowest, mut least, mut cut) = (LinkId::NONE, f64::INFINITY, LinkId::NONE);
        for &link in transfer.route {
            let port = &self.layout.ports[link.index()];
            if port.bandwidth < least {
                (narrowest, least) = (link, port.bandwidth);
            }
            rate = rate.min(port.bandwidth);
            if crosses && port.below_root_complex && rate > port.reduced * (1.0 + EPS) {
                (rate, cut) = (port.reduced, link);
            }
        }
        if rate < transfer.limit.min(least) && !cut.is_none() {
            return (rate, Binding::new(cut, Cause::RootComplex, NONE));
        }
        (rate, lone_binding(rate, transfer.limit, narrowest))
    }
}

impl RateArbiter for PcieCongestion {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        admission::admit(&self.layout.ports, route)
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        if phase.len() == 1 {
            (grant.rates[0], grant.bindings[0]) = self.lone(phase);
            return Ok(());
        }
        self.solve(phase);
        self.answers.clear();
        for index in 0..self.groups.list.len() {
            let rate = self.layout.items[index].rate;
            self.answers.push((rate, bindings::binding(&self.layout, &self.groups.list, index)));
        }
        self.groups.scatter(&self.answers, grant);
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        self.solve(phase);
        explain::explain(&mut self.layout, &self.groups, self.hol, steps);
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(Some(capacity(&self.layout.ports, link, routes)))
    }
}

impl ArbiterPlugin for PcieCongestion {
    const NAME: &'static str = "pcie-congestion";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags = Flags::PURE.union(Flags::FOR_PCIE);

    fn params_schema() -> String {
        schema::<PcieCongestionParams>()
    }

    fn legend() -> Vec<LegendEntry> {
        explain::legend()
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let params: PcieCongestionParams = decode(Self::NAME, params)?;
        if !(0.0..0.5).contains(&params.tau) {
            return Err(CallError::Refused(format!(
                "parameters of `{}`: tau is {}; it must be at least 0 and less than 0.5",
                Self::NAME,
                params.tau
            )));
        }
        let tau = if params.root_penalty { params.tau } else { 0.0 };
        Ok(Self {
            tau,
            hol: params.hol,
            groups: Groups::default(),
            layout: Layout::new(Port::table(fabric, tau)),
            downstream: downstream::Scratch::default(),
            blocking: blocking::Scratch::default(),
            answers: Vec::new(),
        })
    }
}
