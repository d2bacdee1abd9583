//! Step D: head-of-line blocking, equation (8) to its fixed point; what it frees, equation (9); conservation.

use super::EPS;
use super::layout::Layout;
use crate::common::groups::NONE;

/// Reused from phase to phase.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// (bits of the rate, item) of the throttlers, ascending; rates are positive, so bits are in their order.
    throttlers: Vec<(u64, u32)>,
    /// Throttlers that were lowered to the rate now treated.
    lowered: Vec<u32>,
}

/// Step D1. A transfer that is cut at a contended link throttles all links before that: everybody on them gets at most
/// its rate. Throttlers are taken in increasing rate, each once: whoever is lowered takes exactly the rate in hand, so
/// this reaches the fixed point of repeated minima. Returns whether anybody is blocked.
pub(super) fn block(layout: &mut Layout, scratch: &mut Scratch) -> bool {
    scratch.throttlers.clear();
    for (index, item) in layout.items.iter().enumerate() {
        if item.last_contended != NONE && item.last_contended > item.start {
            scratch.throttlers.push((item.arrived.to_bits(), index as u32));
        }
    }
    scratch.throttlers.sort_unstable();
    for at in 0..scratch.throttlers.len() {
        let (bits, index) = scratch.throttlers[at];
        if layout.items[index as usize].blocked_rate.to_bits() != bits {
            continue;
        }
        scratch.lowered.push(index);
        while let Some(index) = scratch.lowered.pop() {
            throttle(layout, index, &mut scratch.lowered);
        }
    }
    let mut any = false;
    for item in &mut layout.items {
        if item.blocked_rate < item.arrived - EPS * item.least {
            any = true;
        } else {
            (item.blocked_rate, item.blocked_at, item.blocked_by) = (item.arrived, NONE, NONE);
        }
    }
    any
}

/// Lowers everybody on the links that item `index` throttles to its rate.
fn throttle(layout: &mut Layout, index: u32, lowered: &mut Vec<u32>) {
    let by = layout.items[index as usize];
    for hop in by.start..by.last_contended {
        let link = layout.hops[hop as usize].link as usize;
        if layout.links[link].throttled {
            continue;
        }
        layout.links[link].throttled = true;
        for at in 0..layout.members(link).len() {
            let member = layout.members(link)[at];
            let other = layout.hops[member as usize].item;
            let item = &mut layout.items[other as usize];
            if item.blocked_rate > by.blocked_rate {
                (item.blocked_rate, item.blocked_at, item.blocked_by) = (by.blocked_rate, member, index);
                if item.last_contended != NONE && item.last_contended > item.start {
                    lowered.push(other);
                }
            }
        }
    }
}

/// Steps D2 and D3: unblocked transfers that were cut get an equal share of what blocked ones leave, at the scarcest of
/// the links where they were cut, as far as all their links have room.
pub(super) fn hand_on(layout: &mut Layout) {
    for index in 0..layout.items.len() {
        layout.items[index].raise = raise(layout, index).1;
    }
    for index in 0..layout.items.len() {
        let item = layout.items[index];
        layout.items[index].rate = item.blocked_rate;
        if item.raise > 0.0 {
            let mut fits = 1.0_f64;
            for hop in item.start..item.end {
                fits = fits.min(part_that_fits(layout, hop));
            }
            layout.items[index].rate = (item.blocked_rate + item.raise * fits).min(item.limit);
        }
    }
}

/// What equation (9) adds to an item, and the hop that decides.
pub(super) fn raise(layout: &mut Layout, index: usize) -> (u32, f64) {
    let item = layout.items[index];
    let (mut at, mut goal) = (NONE, f64::INFINITY);
    if item.blocked_by != NONE || item.last_cut == NONE {
        return (NONE, 0.0);
    }
    for member in item.start..=item.last_cut {
        let hop = layout.hops[member as usize];
        if hop.cut {
            let rate = hop.rate + share(layout, hop.link as usize);
            if rate < goal {
                (at, goal) = (member, rate);
            }
        }
    }
    (at, (goal - item.arrived).max(0.0))
}

/// Bandwidth freed by the blocked transfers of a link, per unblocked one.
fn share(layout: &mut Layout, link: usize) -> f64 {
    if layout.links[link].share.is_nan() {
        let (mut freed, mut unblocked) = (0.0, 0.0);
        for &member in layout.members(link) {
            let hop = &layout.hops[member as usize];
            let item = &layout.items[hop.item as usize];
            if item.blocked_by == NONE {
                unblocked += item.count;
            } else {
                freed += item.count * (hop.rate - item.blocked_rate);
            }
        }
        layout.links[link].share = if unblocked > 0.0 { freed / unblocked } else { 0.0 };
    }
    layout.links[link].share
}

/// The part of all raises that a link has room for.
fn part_that_fits(layout: &mut Layout, member: u32) -> f64 {
    let hop = layout.hops[member as usize];
    let link = layout.links[hop.link as usize];
    if !link.fits.is_nan() {
        return link.fits;
    }
    let (mut base, mut raises) = (0.0, 0.0);
    let mut add = |index: u32| {
        let item = &layout.items[index as usize];
        base += item.count * item.blocked_rate;
        raises += item.count * item.raise;
    };
    if link.start == NONE {
        add(hop.item);
    } else {
        layout.members(hop.link as usize).iter().for_each(|&m| add(layout.hops[m as usize].item));
    }
    let full = raises > EPS * link.capacity && base + raises > link.capacity;
    let fits = if full { (link.capacity - base).max(0.0) / raises } else { 1.0 };
    layout.links[hop.link as usize].fits = fits;
    fits
}
