//! `max-min`: weighted max-min fairness.
//!
//! **Definition.** The allocation that lexicographically maximises the sorted r_c / weight_c, subject to the bandwidth
//! of every link and the limit of every transfer. Computed by progressive filling ([`crate::common::fill`]).
//! **Ties.** Links that saturate at equal levels: lowest link id first (it decides which one is named as the bottleneck).
//! **Fairness.** No transfer's rate per weight can be raised without lowering one that is no larger. Pure,
//! work-conserving. Reads limit and weight; ignores priority.
//! **Source.** Weighted max-min fairness as in Bertsekas and Gallager, *Data Networks*, 2nd edition, section 6.5.2.

use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, LegendEntry, LinkId, PhaseView, RateArbiter,
    RouteId, RouteTable, Step, TransferView,
};

use crate::common::fill::{Bound, Filling};
use crate::common::groups::{Groups, NONE, grant_lone, narrowest};
use crate::common::params::{NoParams, decode, schema};

/// The arbiter `max-min`.
#[derive(Debug)]
pub struct MaxMin {
    groups: Groups,
    filling: Filling,
    /// Per route its narrowest link and the bandwidth.
    narrowest: Vec<(LinkId, f64)>,
}

impl MaxMin {
    fn solve(&mut self, phase: &PhaseView<'_>) {
        self.groups.build(phase);
        self.narrow(&phase.routes);
        self.filling.clear();
        for group in &self.groups.list {
            let c = group.class.index();
            let id = phase.classes.route.as_slice()[c];
            let (route, narrowest) = (phase.routes.links(id), self.narrowest[id.index()]);
            let (limit, weight) = (phase.classes.limit.as_slice()[c], phase.classes.weight.as_slice()[c]);
            self.filling.add_narrowed(route, narrowest, limit, weight, f64::from(group.count));
        }
        self.filling.run();
    }

    /// Finds the narrowest links of routes that are new in the table.
    fn narrow(&mut self, routes: &RouteTable<'_>) {
        for route in self.narrowest.len()..routes.offsets.len() - 1 {
            let links = routes.links(RouteId(route as u32));
            self.narrowest.push(narrowest(links, |link| self.filling.capacity(link)));
        }
    }

    /// Rate and binding of a group.
    #[inline(always)]
    fn answer(&self, index: usize) -> (f64, Binding) {
        (self.filling.rate(index), self.binding(index))
    }

    /// The binding of a group's first transfer.
    #[inline(always)] // a binding is built in registers; handed over in memory it costs a stall for each transfer
    fn binding(&self, index: usize) -> Binding {
        let group = &self.groups.list[index];
        match self.filling.bound(index) {
            Bound::Limit => Binding::new(LinkId::NONE, Cause::OwnLimit, NONE),
            Bound::Link(link, _) if group.count > 1 => Binding::new(link, Cause::SharedLink, group.first),
            Bound::Link(link, Some(other)) => Binding::new(link, Cause::SharedLink, self.groups.list[other].first),
            Bound::Link(link, None) => Binding::new(link, Cause::FullRate, NONE),
        }
    }
}

impl RateArbiter for MaxMin {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        if grant_lone(phase, grant, |l| self.filling.capacity(l)) {
            return Ok(());
        }
        self.solve(phase);
        self.groups.answer_each(|index| self.answer(index), grant);
        Ok(())
    }

    fn capacity(&mut self, link: LinkId, _: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(Some(self.filling.capacity(link)))
    }

    /// Another run may come with another table of routes.
    fn reset(&mut self) {
        self.narrowest.clear();
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        self.solve(phase);
        let name = |_: &TransferView<'_>| Self::NAME.to_owned();
        self.groups.explain(phase, steps, |index| self.answer(index), name, |_, _| true);
        Ok(true)
    }
}

impl ArbiterPlugin for MaxMin {
    const NAME: &'static str = "max-min";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags =
        Flags::PURE.union(Flags::WORK_CONSERVING).union(Flags::READS_WEIGHT).union(Flags::CUT_ANYWHERE);

    fn params_schema() -> String {
        schema::<NoParams>()
    }

    fn legend() -> Vec<LegendEntry> {
        vec![LegendEntry::new(Self::NAME, "link shared", "It has its part of the first of its links to fill.")]
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let NoParams {} = decode(Self::NAME, params)?;
        Ok(Self { groups: Groups::default(), filling: Filling::new(&fabric.bandwidth), narrowest: Vec::new() })
    }
}
