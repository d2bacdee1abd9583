//! Routes over several ways at once: a transfer sends an equal part of its bytes over each branch.
//!
//! The links of such a route are those of its branches, one after the other. A branch ends where the destination is reached,
//! which no way passes before its end; so the links alone say how many branches there are.

use rustc_hash::FxHashMap;
use weir_plugin_api::{LinkId, NodeId};

use crate::fabric::Fabric;

/// The branches of a route; most routes have one.
pub fn branches<'r>(fabric: &Fabric, route: &'r [LinkId]) -> impl Iterator<Item = &'r [LinkId]> {
    split(route, |link| fabric.link(link).to)
}

/// [`branches`], with the node that each link enters.
pub(crate) fn split(route: &[LinkId], to: impl Fn(LinkId) -> NodeId) -> impl Iterator<Item = &[LinkId]> {
    let end = route.last().map(|&link| to(link));
    route.split_inclusive(move |&link| Some(to(link)) == end)
}

/// The branches of a route with the bytes that each carries: equal parts, of which the first have a byte more where that does
/// not come out even.
pub fn divided<'r>(fabric: &Fabric, route: &'r [LinkId], bytes: u64) -> impl Iterator<Item = (&'r [LinkId], u64)> {
    let count = branches(fabric, route).count().max(1) as u64;
    let (part, longer) = (bytes / count, bytes % count);
    branches(fabric, route).zip(0..).map(move |(branch, at)| (branch, part + u64::from(at < longer)))
}

/// The highest rate over a route that the bandwidths which links share allow; infinite without any.
fn shared_rate(fabric: &Fabric, route: &[LinkId]) -> f64 {
    let count = branches(fabric, route).count() as f64;
    let mut all: Vec<(u32, u32)> = branches(fabric, route).flat_map(|branch| fabric.shared_crossed(branch)).collect();
    all.sort_unstable();
    let rate = |same: &[(u32, u32)]| {
        let times: u32 = same.iter().map(|(_, times)| times).sum();
        fabric.shared()[same[0].0 as usize].bandwidth * count / f64::from(times)
    };
    all.chunk_by(|a, b| a.0 == b.0).map(rate).fold(f64::INFINITY, f64::min)
}

/// The rate that a transfer of this limit could have over a route if nothing else were there.
pub(crate) fn full_rate(fabric: &Fabric, has_branches: bool, route: &[LinkId], limit: f64) -> f64 {
    let bandwidth = |link: LinkId| fabric.bandwidths()[link.index()];
    let limit = if fabric.shared().is_empty() { limit } else { limit.min(shared_rate(fabric, route)) };
    if has_branches {
        let shares = shares(fabric, route);
        return shares.iter().fold(limit, |rate, &(link, share)| rate.min(bandwidth(link) / share));
    }
    route.iter().fold(limit, |rate, &link| rate.min(bandwidth(link)))
}

/// The links of a route, each once, in order of travel, with the part of the transfer's bytes that it carries: 1 on a route
/// without branches.
#[must_use]
pub fn shares(fabric: &Fabric, route: &[LinkId]) -> Vec<(LinkId, f64)> {
    let branches = branches(fabric, route).count() as f64;
    let mut counts: FxHashMap<LinkId, u32> = FxHashMap::default();
    route.iter().for_each(|&link| *counts.entry(link).or_default() += 1);
    let first = |&link: &LinkId| counts.remove(&link).map(|count| (link, f64::from(count) / branches));
    route.iter().filter_map(first).collect()
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::{LinkKind, NodeKind, SimDuration};

    use super::*;
    use crate::{FabricBuilder, LinkSpec, Routes, Selection, Way};

    /// Two ways at once, over links of 10 and of 4 B/s: each carries half, and so each part is half of the rate. What the last
    /// link carries both ways, all links of the source together, and a limit may allow less.
    #[test]
    fn the_full_rate_over_several_ways_is_what_each_part_allows() {
        let full = |of_link: Option<f64>, of_source: Option<f64>, limit: f64| {
            let mut b = FabricBuilder::new();
            let [from, to] = [0, 1].map(|_| b.root(NodeKind::Host).expect("a root"));
            for bandwidth in [10.0, 4.0] {
                let spine = b.root(NodeKind::Switch).expect("a root");
                let link = LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::PCIE };
                b.lateral(from, spine, link).expect("a link");
                b.lateral(spine, to, link).expect("a link");
            }
            of_link.into_iter().for_each(|bandwidth| b.share_last_link(bandwidth));
            of_source.into_iter().for_each(|bandwidth| b.share_node(from, bandwidth));
            let (fabric, mut routes) = (b.build(), Routes::new());
            let route = routes.select(&fabric, &[Way::through(&[from, to], Selection::All)], &[]).expect("two ways");
            full_rate(&fabric, true, routes.links(route), limit)
        };
        let none = f64::INFINITY;
        assert_eq!([full(None, None, none), full(None, None, 5.0)], [8.0, 5.0]);
        assert_eq!([full(Some(3.0), None, none), full(None, Some(7.0), none)], [6.0, 7.0]);
    }
}
