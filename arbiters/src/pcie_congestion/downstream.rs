//! Step C: downstream ports, equation (7).

use super::EPS;
use super::layout::{Layout, scaled};
use crate::common::groups::NONE;

/// The transfers that come to a port from one link: a "super communication" of the text.
#[derive(Clone, Copy, Debug)]
struct InputPort {
    /// R_g.
    sum: f64,
    /// Holds a transfer that crosses a root complex.
    crosses: bool,
    /// R'_g, or infinity where it is not cut.
    quota: f64,
}

impl InputPort {
    /// By more than rounding of its own quota: so much of the whole port for each of many would overfill it.
    fn is_cut(&self) -> bool {
        self.sum > self.quota * (1.0 + EPS)
    }
}

/// Reused from port to port.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    ports: Vec<InputPort>,
}

/// Divides one port: where it is overloaded, each input port gets at most its quota. A port with two or more of them is
/// contended.
pub(super) fn divide(layout: &mut Layout, link: usize, tau: f64, scratch: &mut Scratch) {
    let capacity = layout.links[link].capacity;
    if layout.arrive(link) <= capacity * (1.0 + EPS) {
        return;
    }
    group(layout, link, &mut scratch.ports);
    set_quotas(&mut scratch.ports, capacity, layout.links[link].below_root_complex, tau);
    let contended = scratch.ports.len() > 1;
    if !layout.weights.is_empty() {
        for (index, port) in scratch.ports.iter().enumerate().filter(|(_, port)| port.is_cut()) {
            layout.cut_to(link, Some(index as u32), port.quota, contended);
        }
        return;
    }
    for at in 0..layout.members(link).len() {
        let member = layout.members(link)[at];
        let hop = &layout.hops[member as usize];
        let port = &scratch.ports[hop.group as usize];
        if port.is_cut() {
            let rate = scaled(hop.rate, port.quota, port.sum);
            layout.cut(member, rate, contended);
        }
    }
}

/// Groups the transfers on a port by the link they come from; those that start here are one input port.
fn group(layout: &mut Layout, link: usize, ports: &mut Vec<InputPort>) {
    ports.clear();
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
            *slot = ports.len() as u32;
            ports.push(InputPort { sum: 0.0, crosses: false, quota: 0.0 });
        }
        let slot = *slot;
        layout.hops[member].group = slot;
        let port = &mut ports[slot as usize];
        port.sum += item.count * layout.hops[member].rate;
        port.crosses |= item.crosses;
    }
    for at in 0..layout.members(link).len() {
        let member = layout.members(link)[at] as usize;
        if member > 0 {
            layout.links[layout.hops[member - 1].link as usize].group = NONE;
        }
    }
}

/// Equal quotas at the root complex's own port and where nobody crosses it; else weights 1/2 − tau for input ports with a
/// transfer that does and 1/2 + tau for the others.
fn set_quotas(ports: &mut [InputPort], capacity: f64, below_root_complex: bool, tau: f64) {
    if below_root_complex || ports.iter().all(|p| !p.crosses) {
        let quota = capacity / ports.len() as f64;
        for port in ports {
            port.quota = quota;
        }
        return;
    }
    let weight = |p: &InputPort| if p.crosses { 0.5 - tau } else { 0.5 + tau };
    let total: f64 = ports.iter().map(weight).sum();
    for port in ports {
        port.quota = capacity * weight(port) / total;
    }
}
