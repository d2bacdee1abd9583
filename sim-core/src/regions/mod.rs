//! Regions: parts of the fabric, each with a policy of its own, together one arbiter.
//!
//! ```text
//! route ─► segments, one per region that it crosses ─► each region's policy: an offer per segment
//!                    ▲                                               │
//!                    └── demands of fixed transfers ◄─── rounds ◄───┘
//! ```
//!
//! **Definition.** A *segment* is a maximal run of a route's links in one region. To its policy it is a transfer with a *demand*
//! in place of the limit. A transfer's rate is the least of the offers to its segments, so that no link is overfilled.
//! 1. All demands are the transfers' limits; every region offers.
//! 2. Of the transfers without a fixed rate, those whose least offer is lowest (within 1e-9) get it: the demand stays in the region
//!    where the offer is least (the first along the route), and is that offer in the others. Regions that now offer more than a
//!    demand are asked again. Until all rates are fixed.
//! 3. A transfer that its region in the end offers more than it has (by more than 1e-6), or that has less than its fixed
//!    rate, gets a rate anew, once, from its limit. Of the two answers the one with the larger total counts.
//!
//! Transfers that share no link, directly or through others, get their rates apart.
//!
//! **Source.** Own.

mod division;
mod part;
mod rounds;

use std::sync::Arc;

use weir_plugin_api::{
    Binding, CallError, FabricView, Flags, Grant, LinkId, MakeArbiter, PhaseView, RateArbiter, RouteId, RouteTable,
    Step,
};

use division::columns;
pub use division::{Division, Region};
use part::{Part, Segment};
use rounds::{Place, Rounds};

/// The step of a transfer in a region where another one decides its rate.
pub const LIMITED: &str = "limited";

/// A policy of regions: what makes it, and its parameters (a JSON object).
#[derive(Clone)]
pub struct RegionPolicy {
    /// Its constructor.
    pub make: MakeArbiter,
    /// What it claims.
    pub flags: Flags,
    /// Its parameters, a JSON object.
    pub params: Arc<str>,
}

impl RegionPolicy {
    /// What all policies together claim.
    #[must_use]
    pub fn flags_of_all(policies: &[Self]) -> Flags {
        let all = |flag: Flags| policies.iter().all(|policy| policy.flags.contains(flag));
        let any = |flag: Flags| policies.iter().any(|policy| policy.flags.contains(flag));
        let some = [Flags::WHOLE_SET, Flags::READS_ARRIVAL, Flags::READS_WEIGHT, Flags::READS_PRIORITY];
        let pure = if all(Flags::PURE) { Flags::PURE } else { Flags::default() };
        some.into_iter().filter(|&flag| any(flag)).fold(pure, Flags::union)
    }
}

/// Makes the arbiter of a fabric that is cut into regions; `policies` by [`Region::policy`].
///
/// # Errors
/// A policy refuses its region.
pub fn region_arbiter(
    fabric: &FabricView<'_>,
    division: Arc<Division>,
    policies: &[RegionPolicy],
) -> Result<Box<dyn RateArbiter>, CallError> {
    Ok(Box::new(RegionArbiter::new(fabric, division, policies)?))
}

/// A route's part in one region.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    region: u32,
    route: RouteId,
}

/// The arbiter of a fabric that is cut into regions.
pub(crate) struct RegionArbiter {
    division: Arc<Division>,
    parts: Vec<Part>,
    /// Per route of the run: its stretches, as compressed rows.
    offsets: Vec<u32>,
    stretches: Vec<Stretch>,
    rounds: Rounds,
    /// Regions that the present phase uses.
    used: Vec<u32>,
}

impl RegionArbiter {
    /// Makes every region's policy.
    ///
    /// # Errors
    /// A policy refuses its region.
    pub(crate) fn new(
        fabric: &FabricView<'_>,
        division: Arc<Division>,
        policies: &[RegionPolicy],
    ) -> Result<Self, CallError> {
        let mut parts = Vec::with_capacity(division.regions.len());
        for region in &division.regions {
            let columns = columns(fabric, region);
            let policy = &policies[region.policy as usize];
            let arbiter = (policy.make)(&columns.view(), &policy.params)?;
            parts.push(Part::new(arbiter, policy.flags, columns.bandwidth));
        }
        let (offsets, stretches) = (vec![0], Vec::new());
        Ok(Self { division, parts, offsets, stretches, rounds: Rounds::default(), used: Vec::new() })
    }

    /// Cuts the routes that are new since the last call.
    fn cut_routes(&mut self, routes: &RouteTable<'_>) {
        for route in self.offsets.len() - 1..routes.offsets.len() - 1 {
            let links = routes.links(RouteId::from_index(route));
            let place = &self.division.place;
            for run in links.chunk_by(|a, b| place[a.index()].0 == place[b.index()].0) {
                let region = place[run[0].index()].0;
                let route = self.parts[region as usize].add_route(run.iter().map(|link| place[link.index()].1));
                self.stretches.push(Stretch { region, route });
            }
            self.offsets.push(self.stretches.len() as u32);
        }
    }

    /// The runs of a route in regions: the region, and the links as it numbers them.
    fn runs(&self, route: &[LinkId]) -> Vec<(usize, Vec<LinkId>)> {
        let place = &self.division.place;
        let runs = route.chunk_by(|a, b| place[a.index()].0 == place[b.index()].0);
        runs.map(|run| (place[run[0].index()].0 as usize, run.iter().map(|l| place[l.index()].1).collect())).collect()
    }

    /// Deals the transfers of a phase to the regions, and asks these until every transfer has its rate.
    fn compose(&mut self, phase: &PhaseView<'_>) -> Result<(), CallError> {
        self.cut_routes(&phase.routes);
        for region in self.used.drain(..) {
            self.parts[region as usize].clear();
        }
        self.rounds.clear();
        for position in 0..phase.len() {
            let transfer = phase.transfer(position);
            let route = phase.classes.route[transfer.class.index()].index();
            let row = self.offsets[route] as usize..self.offsets[route + 1] as usize;
            for &Stretch { region, route } in &self.stretches[row] {
                let part = &mut self.parts[region as usize];
                if part.is_empty() {
                    self.used.push(region);
                }
                let place = part.push(Segment { position: position as u32, route }, &transfer);
                self.rounds.add_segment(Place { region, place });
            }
            self.rounds.add_transfer(transfer.limit);
        }
        self.rounds.run(phase, &mut self.parts, &self.used)
    }

    /// A binding of a region with the links and positions of the phase.
    fn outward(&self, region: u32, binding: Binding) -> Binding {
        let link = self.outward_link(region, binding.link);
        let by = self.parts[region as usize].position(binding.by);
        Binding { link, by, ..binding }
    }

    fn outward_link(&self, region: u32, link: LinkId) -> LinkId {
        self.division.regions[region as usize].links.get(link.index()).copied().unwrap_or(LinkId::NONE)
    }

    /// A step of a region with the links and positions of the phase.
    fn outward_step(&self, position: usize, region: u32, step: &Step) -> Step {
        let because = step.because.iter().map(|&by| self.parts[region as usize].position(by));
        let (transfer, link) = (position as u32, self.outward_link(region, step.link));
        Step { transfer, region, step: step.step.clone(), link, rate: step.rate, because: because.collect() }
    }

    /// The line of a transfer in a region where it has less than its policy would give: what holds it back, and where.
    fn limited(&self, position: usize, region: u32, holder: Place) -> Step {
        let binding = self.outward(holder.region, self.parts[holder.region as usize].binding(holder.place));
        let because = (binding.by != u32::MAX).then_some(binding.by).into_iter().collect();
        let (transfer, rate) = (position as u32, self.rounds.least(position, &self.parts));
        Step { transfer, region, step: LIMITED.to_owned(), link: binding.link, rate, because }
    }
}

impl RateArbiter for RegionArbiter {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        self.runs(route).iter().try_for_each(|(region, links)| self.parts[*region].admit(links))
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.compose(phase)?;
        for position in 0..phase.len() {
            let Place { region, place } = self.rounds.holder(position, &self.parts);
            let part = &self.parts[region as usize];
            grant.rates[position] = self.rounds.least(position, &self.parts);
            grant.bindings[position] = self.outward(region, part.binding(place));
        }
        for &region in &self.used {
            grant.recheck = grant.recheck.min(self.parts[region as usize].recheck());
        }
        Ok(())
    }

    /// The steps of all regions, transfer by transfer along its route; then, where a transfer is held back elsewhere, its rate.
    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        self.compose(phase)?;
        let mut of_regions: Vec<Vec<Step>> = vec![Vec::new(); self.parts.len()];
        for &region in &self.used {
            let mut own = self.parts[region as usize].explain(phase.now)?;
            // Policies may go step by step or transfer by transfer; a stable sort keeps each transfer's order.
            own.sort_by_key(|step| step.transfer);
            of_regions[region as usize] = own;
        }
        for position in 0..phase.len() {
            let holder = self.rounds.holder(position, &self.parts);
            for &Place { region, place } in self.rounds.segments(position) {
                let own = &of_regions[region as usize];
                let first = own.partition_point(|step| step.transfer < place);
                let after = own.partition_point(|step| step.transfer <= place);
                steps.extend(own[first..after].iter().map(|step| self.outward_step(position, region, step)));
                if region != holder.region {
                    steps.push(self.limited(position, region, holder));
                }
            }
        }
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        let (region, local) = self.division.place[link.index()];
        let (mut offsets, mut links) = (vec![0_u64], Vec::new());
        for route in 0..routes.offsets.len() - 1 {
            for (at, run) in self.runs(routes.links(RouteId::from_index(route))) {
                if at == region as usize {
                    links.extend(run);
                    offsets.push(links.len() as u64);
                }
            }
        }
        let table = RouteTable { offsets: (&offsets).into(), links: (&links).into() };
        self.parts[region as usize].capacity(local, &table)
    }

    fn reset(&mut self) {
        self.offsets.truncate(1);
        self.stretches.clear();
        self.parts.iter_mut().for_each(Part::reset);
    }
}
