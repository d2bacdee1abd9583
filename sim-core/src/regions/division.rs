//! The fabric cut into regions: maximal sets of links of one policy that hang together at nodes.

use rustc_hash::FxHashMap;
use weir_plugin_api::{FabricColumns, FabricView, LinkId, NodeId, SimDuration};

use crate::disjoint_sets::DisjointSets;
use crate::fabric::{Fabric, Link, push_link};
use crate::shared::SharedLinks;

/// A connected part of the fabric whose links have one policy.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Which of the policies it has.
    pub policy: u32,
    /// Its directed links, ascending; a link's place here is its id in the region.
    pub links: Vec<LinkId>,
}

/// The regions of a fabric, in the order of their first links.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// The regions.
    pub regions: Vec<Region>,
    /// Per directed link: its region, and its id there.
    pub(super) place: Vec<(u32, LinkId)>,
    /// What directed links share; numbered after the regions.
    pub(super) shared: SharedLinks,
}

impl Division {
    /// Cuts a fabric; `policies` has the policy of each directed link, the same for both halves.
    #[must_use]
    pub fn of(fabric: &Fabric, policies: &[u32]) -> Self {
        let mut division = Self::new(&fabric.view(), policies);
        division.shared = fabric.shared.clone();
        division
    }

    /// The same regions, with what the links of `fabric` share.
    #[must_use]
    pub fn on(&self, fabric: &Fabric) -> Self {
        Self { shared: fabric.shared.clone(), ..self.clone() }
    }

    fn new(fabric: &FabricView<'_>, policies: &[u32]) -> Self {
        let mut sets = DisjointSets::default();
        // Links of one policy that meet at a node.
        let mut at: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (link, &policy) in policies.iter().enumerate() {
            sets.add();
            for node in [fabric.from[link], fabric.to[link]] {
                let first = *at.entry((policy, node)).or_insert(link as u32);
                sets.join(first, link as u32);
            }
        }
        let mut division = Self::default();
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        for (link, &policy) in policies.iter().enumerate() {
            let regions = &mut division.regions;
            let region = *number.entry(sets.root(link as u32)).or_insert_with(|| {
                regions.push(Region { policy, links: Vec::new() });
                regions.len() as u32 - 1
            });
            let links = &mut regions[region as usize].links;
            division.place.push((region, LinkId::from_index(links.len())));
            links.push(LinkId::from_index(link));
        }
        division
    }

    /// The same fabric with the touching regions as one that `same` says have the same policy: by that, the first that has it.
    pub(super) fn joined(&self, fabric: &FabricView<'_>, same: &[u32]) -> Self {
        let policy = |&(region, _): &(u32, LinkId)| same[self.regions[region as usize].policy as usize];
        let policies: Vec<u32> = self.place.iter().map(policy).collect();
        Self { shared: self.shared.clone(), ..Self::new(fabric, &policies) }
    }

    /// Whether any links share a bandwidth.
    #[must_use]
    pub fn has_shared(&self) -> bool {
        !self.shared.all().is_empty()
    }

    /// Whether a number is that of a region, not of what links share.
    pub(super) fn is_real(&self, region: u32) -> bool {
        (region as usize) < self.regions.len()
    }

    /// Which of [`Fabric::shared`](crate::Fabric::shared) a number after those of the regions is; `None` for a region.
    #[must_use]
    pub fn shared_number(&self, region: u32) -> Option<u32> {
        region.checked_sub(self.regions.len() as u32)
    }

    /// Of what directed links share, by its number after the regions: the first of the links on a route.
    pub(super) fn first_shared(&self, region: u32, route: &[LinkId]) -> LinkId {
        self.shared.first(region - self.regions.len() as u32, route)
    }

    /// The region of a directed link.
    #[must_use]
    pub fn region_of(&self, link: LinkId) -> usize {
        self.place[link.index()].0 as usize
    }
}

/// The columns of a region: its links, and the nodes that they join, numbered anew.
pub(super) fn columns(fabric: &FabricView<'_>, region: &Region) -> FabricColumns {
    let links = || region.links.iter().map(|link| link.index());
    let mut nodes: Vec<u32> = links().flat_map(|l| [fabric.from[l], fabric.to[l]]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut columns = FabricColumns::default();
    columns.node_kind.extend(nodes.iter().map(|&n| fabric.node_kind[n as usize]));
    let number = |node: u32| NodeId(nodes.partition_point(|&n| n < node) as u32);
    for l in links() {
        let (from, to) = (number(fabric.from[l]), number(fabric.to[l]));
        let (bandwidth, direction, kind) = (fabric.bandwidth[l], fabric.direction[l], fabric.kind[l]);
        let link = Link { from, to, bandwidth, latency: SimDuration::ZERO, direction, kind };
        push_link(&mut columns, &link, fabric.depth[l]);
    }
    columns
}
