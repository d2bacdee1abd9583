//! Step C: downstream ports, equation (7).

use super::EPS;
use super::layout::{Layout, scaled};
use crate::common::groups::NONE;

/// The transfers that come to a port from one link: a "super communication" of the text.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// R_g.
    sum: f64,
    /// Holds a transfer that crosses a root complex.
    crosses: bool,
    /// R'_g, or infinity where the group is not cut.
    quota: f64,
}

/// Reused from port to port.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    groups: Vec<Group>,
}

/// Divides one port: where it is overloaded, each group gets at most its quota. A port with two or more groups is
/// contended.
pub(super) fn divide(layout: &mut Layout, link: usize, tau: f64, scratch: &mut Scratch) {
    let capacity = layout.links[link].capacity;
    if layout.arrive(link) <= capacity * (1.0 + EPS) {
        return;
    }
    group(layout, link, &mut scratch.groups);
    set_quotas(&mut scratch.groups, capacity, layout.links[link].below_root_complex, tau);
    let contended = scratch.groups.len() > 1;
    if !layout.weights.is_empty() {
        for (index, group) in scratch.groups.iter().enumerate().filter(|(_, g)| g.quota < g.sum - EPS * capacity) {
            layout.cut_to(link, Some(index as u32), group.quota, contended);
        }
        return;
    }
    for at in 0..layout.members(link).len() {
        let member = layout.members(link)[at];
        let hop = &layout.hops[member as usize];
        let group = &scratch.groups[hop.group as usize];
        if group.quota < group.sum - EPS * capacity {
            let rate = scaled(hop.rate, group.quota, group.sum);
            layout.cut(member, rate, contended);
        }
    }
}

/// Groups the transfers on a port by the link they come from; those that start here are one group.
fn group(layout: &mut Layout, link: usize, groups: &mut Vec<Group>) {
    groups.clear();
    let mut starting = NONE;
    for at in 0..layout.members(link).len() {
        let member = layout.members(link)[at] as usize;
        let item = layout.items[layout.hops[member].item as usize];
        let slot = if member == item.start as usize {
            &mut starting
        } else {
            &mut layout.links[layout.hops[member - 1].link as usize].group
        };
        if *slot == NONE {
            *slot = groups.len() as u32;
            groups.push(Group { sum: 0.0, crosses: false, quota: 0.0 });
        }
        let slot = *slot;
        layout.hops[member].group = slot;
        let group = &mut groups[slot as usize];
        group.sum += item.count * layout.hops[member].rate;
        group.crosses |= item.crosses;
    }
    for at in 0..layout.members(link).len() {
        let member = layout.members(link)[at] as usize;
        if member > 0 {
            layout.links[layout.hops[member - 1].link as usize].group = NONE;
        }
    }
}

/// Equal quotas at the root complex's own port and where nobody crosses it; else weights 1/2 − tau for groups with a
/// transfer that does and 1/2 + tau for the others.
fn set_quotas(groups: &mut [Group], capacity: f64, below_root_complex: bool, tau: f64) {
    if below_root_complex || groups.iter().all(|g| !g.crosses) {
        let quota = capacity / groups.len() as f64;
        for group in groups {
            group.quota = quota;
        }
        return;
    }
    let weight = |g: &Group| if g.crosses { 0.5 - tau } else { 0.5 + tau };
    let total: f64 = groups.iter().map(weight).sum();
    for group in groups {
        group.quota = capacity * weight(group) / total;
    }
}
