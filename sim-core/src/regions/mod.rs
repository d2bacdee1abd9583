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
//!    Where links share bandwidths or routes have branches, offers are compared for the weights of their transfers: so the
//!    rates are fair for their weights over all of them, if those of the policies are.
//! 3. A transfer that its region in the end offers more than it has (by more than 1e-6), or that has less than its fixed
//!    rate, gets a rate anew, once, from its limit. Of the two answers the one with the larger total counts.
//! 4. Where policies that serve one before the other, each in its order, leave all transfers at 0, the first one that moves when
//!    it alone gets a rate anew does.
//!
//! What directed links share ([`crate::SharedBandwidth`]) is a region with one link ([`shared`]), in which a transfer over any
//! of them has a segment.
//!
//! Transfers that share no link, directly or through others, get their rates apart.
//!
//! Touching regions whose policy may be cut anywhere ([`Flags::CUT_ANYWHERE`]) are served as one: that is the same, and takes no
//! rounds. They keep their names in what is explained.
//!
//! **Source.** Own.

mod cuts;
mod division;
mod part;
mod rounds;
mod shared;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use weir_plugin_api::{
    Binding, CallError, Cause, FabricView, Flags, Grant, LegendEntry, LinkId, MakeArbiter, PhaseView, RateArbiter,
    Remark, RouteId, RouteTable, SimTime, Step, TransferId,
};

use crate::classes::Classes;
use cuts::{Cuts, Stretch};
use division::columns;
pub use division::{Division, Region};
use part::{Part, Segment};
use rounds::{Place, Rounds};
use shared::{SHARED, SharedLink};

/// The step of a transfer in a region where another one decides its rate.
pub const LIMITED: &str = "limited";

/// What the steps mean that no policy takes, but the composition of regions does.
#[must_use]
pub fn legend_between_regions(division: &Division) -> Vec<LegendEntry> {
    let entry = |step: &str, short: &str, meaning: &str| LegendEntry {
        step: step.to_owned(),
        short: short.to_owned(),
        meaning: meaning.to_owned(),
    };
    let mut legend = Vec::new();
    if division.has_shared() {
        let meaning = "Its part of what both directions of a link, or all links of a node, carry together.";
        legend.push(entry(SHARED, "bandwidth that links share", meaning));
    }
    let meaning = "Another region, or a bandwidth that links share, gives it less than this policy would.";
    legend.push(entry(LIMITED, "limited elsewhere", meaning));
    legend
}

/// A policy of regions: what makes it, and its parameters (a JSON object).
#[derive(Clone)]
pub struct RegionPolicy {
    /// Its name, for errors.
    pub name: Arc<str>,
    /// Its constructor.
    pub make: MakeArbiter,
    /// What it claims.
    pub flags: Flags,
    /// Its parameters, a JSON object.
    pub params: Arc<str>,
}

impl RegionPolicy {
    /// What all policies together claim. Where links share a bandwidth, transfers meet that no link connects.
    #[must_use]
    pub fn flags_of_all(policies: &[Self], division: &Division) -> Flags {
        let all = |flag: Flags| policies.iter().all(|policy| policy.flags.contains(flag));
        let any = |flag: Flags| policies.iter().any(|policy| policy.flags.contains(flag));
        let some = [Flags::WHOLE_SET, Flags::READS_ARRIVAL, Flags::READS_WEIGHT, Flags::READS_PRIORITY];
        let pure = if all(Flags::PURE) { Flags::PURE } else { Flags::default() };
        let meet = if division.has_shared() { Flags::WHOLE_SET } else { Flags::default() };
        some.into_iter().filter(|&flag| any(flag)).fold(pure.union(meet), Flags::union)
    }

    /// Per policy the first that is the same, where it may be cut anywhere.
    fn same(policies: &[Self]) -> Vec<u32> {
        let same = |a: &Self, b: &Self| Arc::ptr_eq(&a.make, &b.make) && a.params == b.params;
        let first = |(at, policy): (usize, &Self)| match policy.flags.contains(Flags::CUT_ANYWHERE) {
            true => policies.iter().position(|other| same(other, policy)).unwrap_or(at) as u32,
            false => at as u32,
        };
        policies.iter().enumerate().map(first).collect()
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

/// The arbiter of a fabric that is cut into regions.
pub(crate) struct RegionArbiter {
    /// The regions as results name them.
    named: Arc<Division>,
    /// The regions as they are served: some of the named as one.
    division: Arc<Division>,
    parts: Vec<Part>,
    cuts: Cuts,
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
        named: Arc<Division>,
        policies: &[RegionPolicy],
    ) -> Result<Self, CallError> {
        let same = RegionPolicy::same(policies);
        let division = match same.iter().enumerate().all(|(at, &first)| first as usize == at) {
            true => named.clone(),
            false => Arc::new(named.joined(fabric, &same)),
        };
        let mut parts = Vec::with_capacity(division.regions.len());
        for region in &division.regions {
            let columns = columns(fabric, region);
            let policy = &policies[region.policy as usize];
            let arbiter = (policy.make)(&columns.view(), &policy.params)?;
            parts.push(Part::new(arbiter, policy.name.clone(), policy.flags, columns.bandwidth));
        }
        for shared in division.shared.all() {
            let arbiter = Box::new(SharedLink::new(shared.bandwidth));
            parts.push(Part::new(arbiter, "".into(), Flags::PURE, vec![shared.bandwidth]));
        }
        let cuts = Cuts::new(fabric, division.clone());
        Ok(Self { named, division, parts, cuts, rounds: Rounds::default(), used: Vec::new() })
    }

    /// Deals the transfers of a phase to the regions, and asks these until every transfer has its rate.
    fn compose(&mut self, phase: &PhaseView<'_>) -> Result<(), CallError> {
        self.cuts.add(&phase.routes, &mut self.parts);
        for region in self.used.drain(..) {
            self.parts[region as usize].clear();
        }
        self.rounds.clear();
        let by_weight = self.division.has_shared() || self.cuts.has_branches();
        for position in 0..phase.len() {
            let mut transfer = phase.transfer(position);
            let route = phase.classes.route[transfer.class.index()];
            transfer.limit = transfer.limit.min(self.cuts.full_rate(route).rate);
            for &Stretch { region, route, share } in self.cuts.stretches(route) {
                let part = &mut self.parts[region as usize];
                if part.is_empty() {
                    self.used.push(region);
                }
                let place = part.push(Segment { position: position as u32, route, share }, &transfer);
                self.rounds.add_segment(Place { region, place });
            }
            self.rounds.add_transfer(transfer.limit, if by_weight { transfer.weight } else { 1.0 });
        }
        self.rounds.run(phase, &mut self.parts, &self.used, &self.division)
    }

    /// A binding of a region for a transfer, with the links and positions of the phase.
    fn outward(&self, phase: &PhaseView<'_>, position: usize, region: u32, binding: Binding) -> Binding {
        let link = self.outward_link(phase.route(position), region, binding.link);
        let binding = match self.division.shared_number(region) {
            Some(number) if binding.cause() == Cause::SharedLink => Binding::of_shared(link, number, binding.by),
            _ => binding,
        };
        let by = self.parts[region as usize].position(binding.by);
        let transfer = phase.transfer(position);
        let full = self.cuts.full_rate(phase.classes.route[transfer.class.index()]);
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

    /// A link of a region as the phase numbers it; of what links share, the first of them on the route.
    fn outward_link(&self, route: &[LinkId], region: u32, link: LinkId) -> LinkId {
        match self.division.regions.get(region as usize) {
            Some(region) => region.links.get(link.index()).copied().unwrap_or(LinkId::NONE),
            None if link.is_none() => LinkId::NONE,
            None => self.division.first_shared(region, route),
        }
    }

    /// A step of a region with the links and positions of the phase, in terms of the whole transfer.
    fn outward_step(
        &self,
        phase: &PhaseView<'_>,
        position: usize,
        Place { region, place }: Place,
        step: &Step,
    ) -> Step {
        let part = &self.parts[region as usize];
        let because = step.because.iter().map(|&by| part.position(by)).filter(|&by| by != position as u32);
        // Several segments of a transfer may be responsible.
        let mut named = FxHashSet::default();
        let because = because.filter(|&by| named.insert(by)).collect();
        let route = phase.route(position);
        let (transfer, link) = (position as u32, self.outward_link(route, region, step.link));
        let rate = step.rate / part.share(place);
        let region = self.named_region(region, place, link);
        Step { transfer, region, step: step.step.clone(), link, rate, because }
    }

    /// The region that results name for a step at a link; without one, the first that the segment crosses.
    fn named_region(&self, region: u32, place: u32, link: LinkId) -> u32 {
        if let Some(number) = self.division.shared_number(region) {
            return self.named.regions.len() as u32 + number;
        }
        let first =
            || self.division.regions[region as usize].links[self.parts[region as usize].route(place)[0].index()];
        self.named.region_of(if link.is_none() { first() } else { link }) as u32
    }

    /// The regions that results name along a segment, each once.
    fn named_along(&self, Place { region, place }: Place) -> SmallVec<[u32; 2]> {
        let mut along = SmallVec::new();
        if let Some(links) = self.division.regions.get(region as usize).map(|region| &region.links) {
            for link in self.parts[region as usize].route(place) {
                let name = self.named.region_of(links[link.index()]) as u32;
                if !along.contains(&name) {
                    along.push(name);
                }
            }
        }
        along
    }

    /// The line of a transfer in a region where it has less than its policy would give: what holds it back, and where.
    fn limited(&self, phase: &PhaseView<'_>, position: usize, region: u32) -> Step {
        let (holder, binding) = self.rounds.holder(position, &self.parts);
        let binding = self.outward(phase, position, holder.region, binding);
        let because = (binding.by != u32::MAX).then_some(binding.by).into_iter().collect();
        let (transfer, rate) = (position as u32, self.rounds.least(position, &self.parts));
        Step { transfer, region, step: LIMITED.to_owned(), link: binding.link, rate, because }
    }

    /// Refuses a route with branches to a policy that serves one of them after the other.
    fn admit_branches(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        let branches = self.cuts.branches(route).count();
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
        if !self.cuts.is_empty() {
            self.reset();
        }
        self.compose(&phase)?;
        let rate = self.rounds.least(0, &self.parts);
        for region in self.used.drain(..) {
            self.parts[region as usize].clear();
            self.parts[region as usize].reset();
        }
        self.cuts.clear();
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
        self.cuts.runs(route).iter().try_for_each(|run| self.parts[run.region as usize].admit(&run.links))?;
        self.admit_branches(route)
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.compose(phase)?;
        for position in 0..phase.len() {
            let (Place { region, .. }, binding) = self.rounds.holder(position, &self.parts);
            grant.rates[position] = self.rounds.least(position, &self.parts);
            grant.bindings[position] = self.outward(phase, position, region, binding);
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
            let (holder, _) = self.rounds.holder(position, &self.parts);
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
                let before = steps.len();
                steps.extend(own[first..after].iter().map(|step| self.outward_step(phase, position, segment, step)));
                let named: SmallVec<[u32; 4]> = steps[before..].iter().map(|step| step.region).collect();
                let last = self.rounds.segments(position).iter().rfind(|other| other.region == region);
                for name in self.named_along(segment).into_iter().filter(|_| last == Some(&segment)) {
                    if region != holder.region || !named.contains(&name) {
                        steps.push(self.limited(phase, position, name));
                    }
                }
            }
        }
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        let (region, local) = self.division.place[link.index()];
        let (mut offsets, mut links) = (vec![0_u64], Vec::new());
        for route in 0..routes.offsets.len() - 1 {
            for run in
                self.cuts.runs(routes.links(RouteId::from_index(route))).iter().filter(|run| run.region == region)
            {
                links.extend(&run.links);
                offsets.push(links.len() as u64);
            }
        }
        let table = RouteTable { offsets: (&offsets).into(), links: (&links).into() };
        self.parts[region as usize].capacity(local, &table)
    }

    fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for &used in &self.used {
            // What links share has no policy, and nothing to remark.
            let Some(region) = self.division.regions.get(used as usize) else { continue };
            let region = self.named.region_of(region.links[0]) as u32;
            let named = self.parts[used as usize].remarks().iter().map(|remark| Remark { region, ..remark.clone() });
            remarks.extend(named);
        }
        remarks
    }

    fn reset(&mut self) {
        self.cuts.clear();
        self.parts.iter_mut().for_each(Part::reset);
    }
}
