//! Routes cut into segments: at the borders of regions, branch by branch.

use std::sync::Arc;

use weir_plugin_api::{FabricView, LinkId, NodeId, RouteId, RouteTable};

use super::division::Division;
use super::part::Part;
use crate::routes::split;

/// A route's part in one region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) region: u32,
    pub(super) route: RouteId,
    /// The part of the transfer's bytes that it carries; 1 without branches.
    pub(super) share: f64,
}

/// The highest rate over all branches of a route, and the link that decides it; no bound on a route without branches, where
/// each policy finds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullRate {
    pub(super) rate: f64,
    pub(super) link: LinkId,
}

/// The links of a route in one region, as that numbers them.
pub(super) struct Run {
    pub(super) region: u32,
    pub(super) links: Vec<LinkId>,
    pub(super) share: f64,
}

/// The routes of a run, cut.
pub(super) struct Cuts {
    division: Arc<Division>,
    /// Per link: the node that it enters.
    enters: Vec<NodeId>,
    bandwidth: Vec<f64>,
    /// Per route: its stretches, as compressed rows.
    offsets: Vec<u32>,
    stretches: Vec<Stretch>,
    /// Per route: what its links can carry at most, where it has branches.
    full_rates: Vec<FullRate>,
    branched: bool,
}

impl Cuts {
    pub(super) fn new(fabric: &FabricView<'_>, division: Arc<Division>) -> Self {
        let enters = fabric.to.iter().map(|&node| NodeId(node)).collect();
        let (stretches, full_rates) = (Vec::new(), Vec::new());
        Self {
            division,
            enters,
            bandwidth: fabric.bandwidth.to_vec(),
            offsets: vec![0],
            stretches,
            full_rates,
            branched: false,
        }
    }

    /// Whether no route is cut.
    pub(super) fn is_empty(&self) -> bool {
        self.full_rates.is_empty()
    }

    /// Whether any route has branches.
    pub(super) fn has_branches(&self) -> bool {
        self.branched
    }

    /// Forgets all routes.
    pub(super) fn clear(&mut self) {
        self.offsets.truncate(1);
        self.stretches.clear();
        self.full_rates.clear();
        self.branched = false;
    }

    /// The stretches of a route.
    pub(super) fn stretches(&self, route: RouteId) -> &[Stretch] {
        &self.stretches[self.offsets[route.index()] as usize..self.offsets[route.index() + 1] as usize]
    }

    /// What the links of a route can carry at most, where it has branches.
    pub(super) fn full_rate(&self, route: RouteId) -> FullRate {
        self.full_rates[route.index()]
    }

    /// Cuts the routes that are new since the last call.
    pub(super) fn add(&mut self, routes: &RouteTable<'_>, parts: &mut [Part]) {
        for route in self.offsets.len() - 1..routes.offsets.len() - 1 {
            let links = routes.links(RouteId::from_index(route));
            let full_rate = self.full_rate_of(links);
            self.full_rates.push(full_rate);
            self.branched |= !full_rate.link.is_none();
            for Run { region, links, share } in self.runs(links) {
                let route = parts[region as usize].add_route(&links);
                self.stretches.push(Stretch { region, route, share });
            }
            self.offsets.push(self.stretches.len() as u32);
        }
    }

    fn full_rate_of(&self, route: &[LinkId]) -> FullRate {
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

    /// The branches of a route.
    pub(super) fn branches<'r>(&self, route: &'r [LinkId]) -> impl Iterator<Item = &'r [LinkId]> {
        split(route, |link| self.enters[link.index()])
    }

    /// The runs of a route in regions, in order of travel, branch by branch; each once.
    pub(super) fn runs(&self, route: &[LinkId]) -> Vec<Run> {
        let place = |link: &LinkId| self.division.place[link.index()];
        let mut runs: Vec<Run> = Vec::new();
        let mut branches = 0.0;
        for branch in self.branches(route) {
            branches += 1.0;
            let mut add = |region: u32, links: Vec<LinkId>, times: f64| match runs
                .iter_mut()
                .find(|known| known.region == region && known.links == links)
            {
                Some(known) => known.share += times,
                None => runs.push(Run { region, links, share: times }),
            };
            for run in branch.chunk_by(|a, b| place(a).0 == place(b).0) {
                add(place(&run[0]).0, run.iter().map(|link| place(link).1).collect(), 1.0);
            }
            let Division { regions, shared, .. } = &*self.division;
            for (number, times) in shared.crossed(branch, |link| self.enters[link.index()]) {
                add(regions.len() as u32 + number, vec![LinkId(0)], f64::from(times));
            }
        }
        runs.iter_mut().for_each(|run| run.share /= branches);
        runs
    }
}
