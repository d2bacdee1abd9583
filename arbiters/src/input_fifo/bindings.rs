//! Which link holds a transfer back in the end, why, and by whom.

use weir_plugin_api::{Binding, Cause, LinkId};

use super::layout::{Flow, Layout};
use super::queues::Pair;
use super::waiting::Network;
use super::{ROUNDING, SAME};
use crate::common::groups::{ClassGroup, NONE};

/// What a flow meets: the link at which it is held back, the cause, and the flow that is most to blame ([`NONE`] for none).
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) link: u32,
    pub(super) cause: Cause,
    pub(super) by: u32,
}

/// Rate and binding of a flow's first transfer.
pub(super) fn answer(layout: &Layout, network: &Network, groups: &[ClassGroup], index: usize) -> (f64, Binding) {
    let flow = &layout.flows[index];
    let rate = layout.streams[flow.stream as usize].rate;
    let full = flow.bandwidth.min(flow.limit);
    // As much as it could have alone, but for rounding.
    if rate >= flow.limit.min(flow.bandwidth) * (1.0 - ROUNDING) {
        let cause = if flow.limit <= flow.bandwidth { Cause::OwnLimit } else { Cause::FullRate };
        let link = if cause == Cause::OwnLimit { LinkId::NONE } else { flow.narrowest };
        return (full, Binding::new(link, cause, NONE));
    }
    let Hold { link, cause, by } = hold(layout, network, index as u32);
    let by = match by {
        NONE if groups[flow.group as usize].count > 1 => groups[flow.group as usize].first,
        NONE => NONE,
        by => groups[layout.flows[by as usize].group as usize].first,
    };
    (rate, Binding::new(layout.links[link as usize].id, cause, by))
}

/// What fixed the source of a flow that has less than alone.
pub(super) fn hold(layout: &Layout, network: &Network, index: u32) -> Hold {
    let resource = network.filling.by[layout.source_of(index) as usize];
    let route = layout.route(index);
    if let Some(link) = network.link(layout, resource) {
        if route.iter().any(|hop| hop.link == resource) {
            let (by, comes_from_elsewhere) = competitor(layout, resource, index);
            let cause = match link.down {
                true if link.reduced && !comes_from_elsewhere => Cause::RootComplex,
                true => Cause::Downstream,
                false => Cause::Upstream,
            };
            return Hold { link: resource, cause, by };
        }
        return behind(layout, index, |flow| layout.route(flow).iter().any(|hop| hop.link == resource));
    }
    at_head(layout, network, resource, index)
}

/// Another flow on a link, and whether it comes from another input; such a one if there is any.
fn competitor(layout: &Layout, link: u32, index: u32) -> (u32, bool) {
    let on = layout.on(link);
    let own = on.iter().find(|&&hop| layout.hops[hop as usize].flow == index).map_or(NONE, |&hop| layout.before(hop));
    let others = || on.iter().filter(|&&hop| layout.hops[hop as usize].flow != index);
    let foreign = others().find(|&&hop| layout.before(hop) != own);
    let found = foreign.or_else(|| others().next());
    (found.map_or(NONE, |&hop| layout.hops[hop as usize].flow), foreign.is_some())
}

/// Held back behind others of its source, which sends them in turn.
fn behind(layout: &Layout, index: u32, is_slow: impl Fn(u32) -> bool) -> Hold {
    let link = layout.route(index)[0].link;
    let source = layout.source_of(index);
    let on = layout.on(link).iter().map(|&hop| layout.hops[hop as usize].flow);
    let by = on.filter(|&flow| flow != index && layout.source_of(flow) == source).find(|&flow| is_slow(flow));
    Hold { link, cause: Cause::HeadOfLine, by: by.unwrap_or(NONE) }
}

/// Held back by a queue whose head is busy all the time, most of it with one link.
fn at_head(layout: &Layout, network: &Network, queue: u32, index: u32) -> Hold {
    let passes = |pair: &Pair, flow: u32| {
        layout.route(flow).windows(2).any(|hops| (hops[0].link, hops[1].link) == (pair.from, pair.to))
    };
    let mut slowest: Option<&Pair> = None;
    for pair in network.pairs_of(queue) {
        if slowest.is_none_or(|other| is_more(pair, other)) {
            slowest = Some(pair);
        }
    }
    let Some(slowest) = slowest else { return behind(layout, index, |_| true) };
    let on_queue = layout.route(index).iter().any(|hop| hop.link == slowest.from);
    if !on_queue || !network.pairs_of(queue).any(|pair| passes(pair, index)) {
        return behind(layout, index, |flow| network.pairs_of(queue).any(|pair| passes(pair, flow)));
    }
    if passes(slowest, index)
        && let Some(by) = most_present(layout, network, slowest)
    {
        return Hold { link: slowest.to, cause: Cause::HeadOfLine, by };
    }
    let on = layout.on(slowest.from).iter().map(|&hop| layout.hops[hop as usize].flow);
    let mut others = on.filter(|&flow| flow != index);
    let by = others.clone().find(|&flow| passes(slowest, flow)).or_else(|| others.next());
    Hold { link: slowest.from, cause: Cause::HeadOfLine, by: by.unwrap_or(NONE) }
}

/// Whether a pair is at its head more than another, by more than a rounding.
fn is_more(pair: &Pair, other: &Pair) -> bool {
    pair.present > other.present * (1.0 + SAME)
}

/// Of the other inputs of a pair's link, the first flow of the one that is at its head most.
fn most_present(layout: &Layout, network: &Network, pair: &Pair) -> Option<u32> {
    let mut most: Option<&Pair> = None;
    for other in network.pairs.iter().filter(|other| other.to == pair.to && other.from != pair.from) {
        if most.is_none_or(|most| is_more(other, most)) {
            most = Some(other);
        }
    }
    let from = most?.from;
    let hop = layout.on(pair.to).iter().find(|&&hop| layout.before(hop) == from);
    hop.map(|&hop| layout.hops[hop as usize].flow)
}

/// Whether a flow could have no more if it were alone.
pub(super) fn is_full(flow: &Flow, rate: f64) -> bool {
    rate >= flow.limit.min(flow.bandwidth)
}
