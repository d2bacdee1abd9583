//! Step 1: what each transfer may have of the ports on its way, by round robin between their inputs.

use super::layout::Layout;
use crate::common::groups::NONE;

/// The transfers that come to a link from one link before it, or from one source.
#[derive(Clone, Copy, Debug)]
struct Input {
    /// Σ y.
    need: f64,
    /// What it gets.
    part: f64,
}

/// Reused from link to link.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    inputs: Vec<Input>,
    /// Inputs by need.
    order: Vec<u32>,
    /// Per link, and after those per source: its input at the link that is divided, or [`NONE`].
    slots: Vec<u32>,
    /// The link that cuts a flow most in this tier, and its y then.
    cuts: Vec<(u32, f64)>,
}

/// Divides all links, tier by tier, and sets the weights of the sources.
pub(super) fn divide(layout: &mut Layout) {
    let mut scratch = std::mem::take(&mut layout.shares);
    scratch.slots.clear();
    scratch.slots.resize(layout.links.len() + layout.sources.len(), NONE);
    for flow in 0..layout.flows.len() {
        let own = layout.hops[layout.flows[flow].start as usize].link;
        let source = &layout.sources[layout.source_of(flow as u32) as usize];
        layout.flows[flow].share = layout.links[own as usize].capacity / source.transfers;
    }
    let mut first = 0;
    while first < layout.links.len() {
        let tier = layout.links[first].tier;
        scratch.cuts.clear();
        scratch.cuts.extend(layout.flows.iter().map(|flow| (NONE, flow.share)));
        let mut link = first;
        while link < layout.links.len() && layout.links[link].tier == tier {
            divide_link(layout, link as u32, &mut scratch);
            link += 1;
        }
        for (flow, &(cut, share)) in layout.flows.iter_mut().zip(&scratch.cuts).filter(|(_, (cut, _))| *cut != NONE) {
            (flow.cut, flow.share) = (cut, share);
        }
        first = link;
    }
    for flow in 0..layout.flows.len() {
        let source = layout.source_of(flow as u32) as usize;
        layout.sources[source].weight = layout.sources[source].weight.min(layout.flows[flow].share);
    }
    layout.shares = scratch;
}

/// Cuts the groups of an overloaded link to their parts.
fn divide_link(layout: &Layout, link: u32, scratch: &mut Scratch) {
    let (capacity, mut total) = (layout.links[link as usize].capacity, 0.0);
    for &hop in layout.on(link) {
        let flow = &layout.flows[layout.hops[hop as usize].flow as usize];
        total += flow.count * flow.share;
    }
    if total <= capacity {
        return;
    }
    group(layout, link, scratch);
    set_parts(capacity, scratch);
    for &hop in layout.on(link) {
        let flow = layout.hops[hop as usize].flow;
        let Input { need, part } = scratch.inputs[scratch.slots[slot(layout, hop)] as usize];
        let share = layout.flows[flow as usize].share * (part / need);
        if part < need && share < scratch.cuts[flow as usize].1 {
            scratch.cuts[flow as usize] = (link, share);
        }
    }
    for &hop in layout.on(link) {
        scratch.slots[slot(layout, hop)] = NONE;
    }
}

/// Where the input of a hop is found.
fn slot(layout: &Layout, hop: u32) -> usize {
    match layout.before(hop) {
        NONE => layout.links.len() + layout.source_of(layout.hops[hop as usize].flow) as usize,
        before => before as usize,
    }
}

/// Sums up what comes from each input.
fn group(layout: &Layout, link: u32, scratch: &mut Scratch) {
    scratch.inputs.clear();
    for &hop in layout.on(link) {
        let slot = &mut scratch.slots[slot(layout, hop)];
        if *slot == NONE {
            *slot = scratch.inputs.len() as u32;
            scratch.inputs.push(Input { need: 0.0, part: 0.0 });
        }
        let flow = &layout.flows[layout.hops[hop as usize].flow as usize];
        scratch.inputs[*slot as usize].need += flow.count * flow.share;
    }
}

/// Each input gets the least of its need and an equal part; those that need less leave the rest to the others.
fn set_parts(capacity: f64, scratch: &mut Scratch) {
    let Scratch { inputs, order, .. } = scratch;
    order.clear();
    order.extend(0..inputs.len() as u32);
    order.sort_unstable_by(|&a, &b| inputs[a as usize].need.total_cmp(&inputs[b as usize].need));
    let (mut left, mut others, mut equal) = (capacity, inputs.len() as f64, f64::INFINITY);
    for &input in &*order {
        let input = &mut inputs[input as usize];
        if equal.is_infinite() && input.need > left / others {
            equal = left / others;
        }
        input.part = input.need.min(equal);
        (left, others) = (left - input.part, others - 1.0);
    }
}
