//! `input-fifo`: switches with one queue per input, by mean values.
//!
//! ```text
//! port shares (weights) ─► filling: links and heads of queues ─► mean waiting at heads ─┐
//!                               ▲                                                       │
//!                               └───────────── until no rate moves ◄────────────────────┘
//! ```
//!
//! **Definition.** Links l with bandwidth B_l. Transfers whose route goes l → m pass the queue at the far end of l; its head
//! waits for m, and all behind wait with it. A source sends its n transfers in turn from one queue, so they have one rate
//! each; a source is a link on which routes begin. Links of kind `memory` that leave a `cpu` have no queue at their far
//! end: each link behind them is fed by a queue of its own.
//! 1. **Port shares** ([`shares`]). y_c = B / n at the source's own link. Links in order: up, deepest first; lateral; down,
//!    shallowest first. Each groups its transfers by the link that they come from; need of a group = Σ y. A group gets the
//!    least of its need and an equal part, what is left over going to the others (round robin between inputs,
//!    work-conserving); inside it all y scale alike. Weight of each transfer of a source: its least y.
//! 2. **Waiting at the head.** R_lm is the mean time that a head of l needs to get through m, in s/B. At first 1 / B_m.
//! 3. **Filling** ([`filling`]). The rates of all sources rise together for their weights until a resource is full; the sources
//!    on it are fixed, the others go on. Resources: each link, Σ r_c / B_l ≤ 1; each queue, Σ r_c · R_l,m(c) ≤ 1, since a head
//!    may be busy at most all the time. A transfer stays at its limit, the others of its source go on.
//! 4. **Mean values** ([`waiting`]). f_lm = Σ r_c over l → m, u_lm = min(1, f_lm / B_m), n_lm = min(1, f_lm · R_lm);
//!    R'_lm = (1 / B_m) · (1 + Σ over the other inputs k of m of (n_km − u_km / 2)): what is in service is half done on
//!    average, and a head does not wait for itself. R becomes (R + R') / 2; a source's x becomes the mean of x and the
//!    filling's (not in the first round). Again from 3, until no x moves by more than 1e-9 of itself or 1,000 rounds are over;
//!    the last filling counts.
//!
//! **Ties.** None decide a rate. Of resources that fill together a link is named before a queue.
//! **Fairness.** Round robin between the inputs of a port and between the transfers of a source, less what waiting behind
//! heads costs. Rates are above 0 where limits are. Pure, not work-conserving. Reads limit; ignores weight and priority.
//! **Source.** Karol, Hluchyj, Morgan, *Input versus output queueing on a space-division packet switch*, IEEE Trans. Commun. 35
//! (1987), for queues per input; Reiser, Lavenberg, *Mean-value analysis of closed multichain queuing networks*, JACM 27 (1980),
//! for step 4. Uniform traffic over N × N ports gives ρ (1 + (N−1)/N · (1 − ρ/2)) = 1: 2 − √2 for N → ∞, the exact value.
//!
//! **Root complexes.** `root_penalty` takes that part from the ports of a root complex, as tau of `pcie-congestion` does: of the
//! bandwidth of a down link that leaves it, where a transfer from and to others than host memory crosses it.
//!
//! **Beyond the text.**
//! 1. A device with several links is a source on each: transfers that share no link do not affect each other.
//! 2. Links of one direction and depth are divided at once in step 1, so that routes over several lateral links do not depend
//!    on how links are numbered.
//! 3. Memory has no switch port: one queue behind it would give all copies from host memory the rate of one device.

mod bindings;
mod explain;
mod filling;
mod layout;
mod queues;
mod sets;
mod shares;
mod waiting;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, FabricView, Flags, Grant, LegendEntry, LinkId, PhaseView, RateArbiter, Remark,
    RouteTable, Step,
};

use crate::common::groups::Groups;
use crate::common::params::{decode, schema};
use crate::common::ports::{Port, capacity};
use explain::Line;
use layout::Layout;
use sets::Sets;
use waiting::Network;

/// Largest part of itself by which a rate that stands still may move, and by which rounding may have lowered one (the
/// specification of this policy; the second *assumed*: far above rounding).
const SAME: f64 = 1e-9;
const ROUNDING: f64 = 1e-12;

/// Parameters of `input-fifo`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputFifoParams {
    /// Part of the bandwidth of a root complex's port that transfers lose when they cross it; 0 by default.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 0.5))]
    pub root_penalty: f64,
}

/// The arbiter `input-fifo`.
#[derive(Debug)]
pub struct InputFifo {
    ports: Vec<Port>,
    groups: Groups,
    sets: Sets,
    layout: Layout,
    network: Network,
    /// Rate and binding of each group.
    answers: Vec<(f64, Binding)>,
    /// Whether the rates of each set came to rest.
    stands: bool,
}

impl InputFifo {
    /// Solves each set of connected transfers; `lines` are for explanations.
    fn solve(&mut self, phase: &PhaseView<'_>, mut lines: Option<&mut Vec<Vec<Line>>>) {
        self.groups.build(phase);
        let groups = &self.groups.list;
        self.answers.clear();
        self.answers.resize(groups.len(), (0.0, Binding::NONE));
        self.stands = true;
        self.sets.find(phase, groups, &mut self.ports);
        for set in 0..self.sets.len() {
            self.layout.build(phase, groups, self.sets.members(set), &mut self.ports);
            shares::divide(&mut self.layout);
            self.network.build(&mut self.layout);
            self.stands &= self.network.solve(&mut self.layout);
            for flow in 0..self.layout.flows.len() {
                let answer = bindings::answer(&self.layout, &self.network, groups, flow);
                let group = self.layout.flows[flow].group as usize;
                self.answers[group] = answer;
                if let Some(lines) = &mut lines {
                    lines[group] = explain::lines(&self.layout, &self.network, flow, answer);
                }
            }
        }
    }
}

impl RateArbiter for InputFifo {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.solve(phase, None);
        self.groups.scatter(&self.answers, grant);
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        // As many as transfers, hence at least as many as groups.
        let mut lines: Vec<Vec<Line>> = Vec::new();
        lines.resize_with(phase.len(), Vec::new);
        self.solve(phase, Some(&mut lines));
        explain::explain(&self.groups, &lines, steps);
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(Some(capacity(&self.ports, link, routes)))
    }

    fn remarks(&self) -> Vec<Remark> {
        if self.stands {
            return Vec::new();
        }
        let text = format!(
            "the rates of `{}` did not come to rest within {} rounds; the last were taken",
            Self::NAME,
            waiting::ROUNDS
        );
        vec![Remark { region: 0, text }]
    }
}

impl ArbiterPlugin for InputFifo {
    const NAME: &'static str = "input-fifo";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags = Flags::PURE.union(Flags::FOR_PCIE);

    fn params_schema() -> String {
        schema::<InputFifoParams>()
    }

    fn legend() -> Vec<LegendEntry> {
        explain::legend()
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let InputFifoParams { root_penalty } = decode(Self::NAME, params)?;
        if !(0.0..0.5).contains(&root_penalty) {
            return Err(CallError::Refused(format!(
                "parameters of `{}`: root_penalty is {root_penalty}; it must be at least 0 and less than 0.5",
                Self::NAME,
            )));
        }
        Ok(Self {
            ports: Port::table(fabric, root_penalty),
            groups: Groups::default(),
            sets: Sets::default(),
            layout: Layout::default(),
            network: Network::default(),
            answers: Vec::new(),
            stands: true,
        })
    }
}
