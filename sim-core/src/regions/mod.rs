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
//! A route with several branches ([`crate::branches`]) has the segments of all of them, each once. A segment that k of n branches
//! share carries the part k/n of the bytes: its weight and demand are that part of the transfer's, and what it is offered
//! counts n/k times. The transfer's limit is at most what its links can carry of it.
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
    Binding, CallError, Cause, FabricView, Flags, Grant, LinkId, MakeArbiter, NodeId, PhaseView, RateArbiter, RouteId,
    RouteTable, SimTime, Step, TransferId,
};

use crate::classes::Classes;
use crate::routes::split;
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
    /// The part of the transfer's bytes that it carries; 1 without branches.
    share: f64,
}

/// The highest rate over all branches of a route, and the link that decides it; no bound on a route without branches, where
/// each policy finds it.
#[derive(Clone, Copy, Debug)]
struct FullRate {
    rate: f64,
    link: LinkId,
}

/// The links of a route in one region, as that numbers them.
struct Run {
    region: u32,
    links: Vec<LinkId>,
    share: f64,
}

/// The arbiter of a fabric that is cut into regions.
pub(crate) struct RegionArbiter {
    division: Arc<Division>,
    /// Per link: the node that it enters.
    enters: Vec<NodeId>,
    parts: Vec<Part>,
    /// Per route of the run: its stretches, as compressed rows.
    offsets: Vec<u32>,
    stretches: Vec<Stretch>,
    /// Per route of the run: what its links can carry at most, where it has branches.
    full_rates: Vec<FullRate>,
    bandwidth: Vec<f64>,
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
        let enters = fabric.to.iter().map(|&node| NodeId(node)).collect();
        let (full_rates, bandwidth) = (Vec::new(), fabric.bandwidth.to_vec());
        let (rounds, used) = (Rounds::default(), Vec::new());
        Ok(Self { division, enters, parts, offsets, stretches, full_rates, bandwidth, rounds, used })
    }

    /// Cuts the routes that are new since the last call.
    fn cut_routes(&mut self, routes: &RouteTable<'_>) {
        for route in self.offsets.len() - 1..routes.offsets.len() - 1 {
            let links = routes.links(RouteId::from_index(route));
            let full_rate = self.full_rate(links);
            self.full_rates.push(full_rate);
            for Run { region, links, share } in self.runs(links) {
                let route = self.parts[region as usize].add_route(&links);
                self.stretches.push(Stretch { region, route, share });
            }
            self.offsets.push(self.stretches.len() as u32);
        }
    }

    fn full_rate(&self, route: &[LinkId]) -> FullRate {
        let mut full = FullRate { rate: f64::INFINITY, link: LinkId::NONE };
        let branches = self.branches(route).count();
        if branches < 2 {
            return full;
        }
        for &link in route {
            let share = route.iter().filter(|&&other| other == link).count() as f64 / branches as f64;
            let rate = self.bandwidth[link.index()] / share;
            if rate < full.rate {
                full = FullRate { rate, link };
            }
        }
        full
    }

    fn branches<'r>(&self, route: &'r [LinkId]) -> impl Iterator<Item = &'r [LinkId]> {
        split(route, |link| self.enters[link.index()])
    }

    /// The runs of a route in regions, in order of travel, branch by branch; each once.
    fn runs(&self, route: &[LinkId]) -> Vec<Run> {
        let place = |link: &LinkId| self.division.place[link.index()];
        let mut runs: Vec<Run> = Vec::new();
        let mut branches = 0.0;
        for branch in self.branches(route) {
            branches += 1.0;
            for run in branch.chunk_by(|a, b| place(a).0 == place(b).0) {
                let (region, links) = (place(&run[0]).0, run.iter().map(|link| place(link).1).collect());
                match runs.iter_mut().find(|known| known.region == region && known.links == links) {
                    Some(known) => known.share += 1.0,
                    None => runs.push(Run { region, links, share: 1.0 }),
                }
            }
        }
        runs.iter_mut().for_each(|run| run.share /= branches);
        runs
    }

    /// Deals the transfers of a phase to the regions, and asks these until every transfer has its rate.
    fn compose(&mut self, phase: &PhaseView<'_>) -> Result<(), CallError> {
        self.cut_routes(&phase.routes);
        for region in self.used.drain(..) {
            self.parts[region as usize].clear();
        }
        self.rounds.clear();
        for position in 0..phase.len() {
            let mut transfer = phase.transfer(position);
            let route = phase.classes.route[transfer.class.index()].index();
            transfer.limit = transfer.limit.min(self.full_rates[route].rate);
            let row = self.offsets[route] as usize..self.offsets[route + 1] as usize;
            for &Stretch { region, route, share } in &self.stretches[row] {
                let part = &mut self.parts[region as usize];
                if part.is_empty() {
                    self.used.push(region);
                }
                let place = part.push(Segment { position: position as u32, route, share }, &transfer);
                self.rounds.add_segment(Place { region, place });
            }
            self.rounds.add_transfer(transfer.limit);
        }
        self.rounds.run(phase, &mut self.parts, &self.used)
    }

    /// A binding of a region for a transfer, with the links and positions of the phase.
    fn outward(&self, phase: &PhaseView<'_>, position: usize, region: u32, binding: Binding) -> Binding {
        let link = self.outward_link(region, binding.link);
        let by = self.parts[region as usize].position(binding.by);
        let transfer = phase.transfer(position);
        let full = self.full_rates[phase.classes.route[transfer.class.index()].index()];
        if binding.cause() == Cause::OwnLimit && full.rate < transfer.limit {
            return Binding::new(full.link, Cause::FullRate, u32::MAX);
        }
        if by != position as u32 {
            return Binding { link, by, ..binding };
        }
        // Its own branches meet there.
        let shares = |&other: &usize| other != position && phase.route(other).contains(&link);
        match (0..phase.len()).find(shares) {
            Some(other) => Binding { link, by: other as u32, ..binding },
            None => Binding::new(link, Cause::FullRate, u32::MAX),
        }
    }

    fn outward_link(&self, region: u32, link: LinkId) -> LinkId {
        self.division.regions[region as usize].links.get(link.index()).copied().unwrap_or(LinkId::NONE)
    }

    /// A step of a region with the links and positions of the phase, in terms of the whole transfer.
    fn outward_step(&self, position: usize, Place { region, place }: Place, step: &Step) -> Step {
        let part = &self.parts[region as usize];
        let because = step.because.iter().map(|&by| part.position(by)).filter(|&by| by != position as u32);
        let (transfer, link) = (position as u32, self.outward_link(region, step.link));
        let rate = step.rate / part.share(place);
        Step { transfer, region, step: step.step.clone(), link, rate, because: because.collect() }
    }

    /// The line of a transfer in a region where it has less than its policy would give: what holds it back, and where.
    fn limited(&self, phase: &PhaseView<'_>, position: usize, region: u32, holder: Place) -> Step {
        let binding = self.parts[holder.region as usize].binding(holder.place);
        let binding = self.outward(phase, position, holder.region, binding);
        let because = (binding.by != u32::MAX).then_some(binding.by).into_iter().collect();
        let (transfer, rate) = (position as u32, self.rounds.least(position, &self.parts));
        Step { transfer, region, step: LIMITED.to_owned(), link: binding.link, rate, because }
    }

    fn forget_routes(&mut self) {
        self.offsets.truncate(1);
        self.stretches.clear();
        self.full_rates.clear();
    }

    /// Refuses a route with branches to a policy that serves one of them after the other.
    fn admit_branches(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        let branches = self.branches(route).count();
        if branches < 2 {
            return Ok(());
        }
        let (offsets, mut classes) = ([0, route.len() as u64], Classes::default());
        let class = [classes.intern(RouteId(0), f64::INFINITY, 1.0, 0)];
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: [TransferId(0)].as_slice().into(),
            class: class.as_slice().into(),
            arrival: [0].as_slice().into(),
            classes: classes.table(),
            routes: RouteTable { offsets: offsets.as_slice().into(), links: route.into() },
        };
        if self.offsets.len() > 1 {
            self.reset();
        }
        self.compose(&phase)?;
        let rate = self.rounds.least(0, &self.parts);
        for region in self.used.drain(..) {
            self.parts[region as usize].clear();
            self.parts[region as usize].reset();
        }
        self.forget_routes();
        if rate > 0.0 {
            return Ok(());
        }
        Err(CallError::Refused(format!(
            "it serves the {branches} routes of a transfer one after the other, but `routing: spread` and `nic: all` need all at \
             once; use `routing: ecmp`, or a policy that divides links"
        )))
    }
}

impl RateArbiter for RegionArbiter {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        self.runs(route).iter().try_for_each(|run| self.parts[run.region as usize].admit(&run.links))?;
        self.admit_branches(route)
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.compose(phase)?;
        for position in 0..phase.len() {
            let Place { region, place } = self.rounds.holder(position, &self.parts);
            let part = &self.parts[region as usize];
            grant.rates[position] = self.rounds.least(position, &self.parts);
            grant.bindings[position] = self.outward(phase, position, region, part.binding(place));
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
            let mut segments = self.rounds.segments(position).to_vec();
            // Of branches the one that decides is last.
            if segments.iter().any(|&Place { region, place }| self.parts[region as usize].share(place) < 1.0) {
                segments.sort_by_key(|&segment| segment == holder);
            }
            for segment in segments {
                let Place { region, place } = segment;
                let own = &of_regions[region as usize];
                let first = own.partition_point(|step| step.transfer < place);
                let after = own.partition_point(|step| step.transfer <= place);
                steps.extend(own[first..after].iter().map(|step| self.outward_step(position, segment, step)));
                let last = self.rounds.segments(position).iter().rfind(|other| other.region == region);
                if region != holder.region && last == Some(&segment) {
                    steps.push(self.limited(phase, position, region, holder));
                }
            }
        }
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        let (region, local) = self.division.place[link.index()];
        let (mut offsets, mut links) = (vec![0_u64], Vec::new());
        for route in 0..routes.offsets.len() - 1 {
            for run in self.runs(routes.links(RouteId::from_index(route))).iter().filter(|run| run.region == region) {
                links.extend(&run.links);
                offsets.push(links.len() as u64);
            }
        }
        let table = RouteTable { offsets: (&offsets).into(), links: (&links).into() };
        self.parts[region as usize].capacity(local, &table)
    }

    fn reset(&mut self) {
        self.forget_routes();
        self.parts.iter_mut().for_each(Part::reset);
    }
}
