//! Which link holds a transfer back in the end, why, and by whom.

use weir_plugin_api::{Binding, Cause};

use super::layout::Layout;
use crate::common::groups::{ClassGroup, NONE, lone_binding};

/// The binding of an item's first transfer: where it is blocked, else its last cut, else its limit or narrowest link.
pub(super) fn binding(layout: &Layout, groups: &[ClassGroup], index: usize) -> Binding {
    let item = &layout.items[index];
    if item.blocked_by != NONE {
        let link = &layout.links[layout.hops[item.blocked_at as usize].link as usize];
        return Binding::new(link.id, Cause::HeadOfLine, groups[item.blocked_by as usize].first);
    }
    if item.last_cut == NONE || item.rate >= item.limit.min(item.least) {
        return lone_binding(item.rate, item.limit, item.narrowest);
    }
    let link = &layout.links[layout.hops[item.last_cut as usize].link as usize];
    let by = competitor(layout, item.last_cut).map_or(NONE, |other| groups[other as usize].first);
    let by = if by == NONE && groups[index].count > 1 { groups[index].first } else { by };
    let cause = match link.down {
        true if link.reduced && item.last_contended != item.last_cut => Cause::RootComplex,
        true => Cause::Downstream,
        false => Cause::Upstream,
    };
    Binding::new(link.id, cause, by)
}

/// Another item on the link of a hop; one that comes from another link if there is one.
fn competitor(layout: &Layout, member: u32) -> Option<u32> {
    let own = &layout.hops[member as usize];
    let entering = |m: u32| {
        let start = layout.items[layout.hops[m as usize].item as usize].start;
        if m == start { NONE } else { layout.hops[m as usize - 1].link }
    };
    let from = entering(member);
    let members = layout.members(own.link as usize);
    let other = members.iter().find(|&&m| entering(m) != from).or_else(|| members.iter().find(|&&m| m != member));
    other.map(|&m| layout.hops[m as usize].item)
}
