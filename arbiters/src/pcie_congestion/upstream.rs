//! Step B: upstream ports, equations (4) to (6); lateral links by the same rule. Limited transfers: see the module above.

use super::EPS;
use super::layout::{Layout, scaled};

/// Divides one link: if Σ x exceeds its capacity, y = x · C / Σ x for all, and the link is contended.
pub(super) fn divide(layout: &mut Layout, link: usize) {
    let capacity = layout.links[link].capacity;
    let sum = layout.arrive(link);
    if sum <= capacity * (1.0 + EPS) {
        return;
    }
    if !layout.weights.is_empty() {
        return layout.cut_to(link, None, capacity, true);
    }
    for at in 0..layout.members(link).len() {
        let member = layout.members(link)[at];
        let rate = scaled(layout.hops[member as usize].rate, capacity, sum);
        layout.cut(member, rate, true);
    }
}
