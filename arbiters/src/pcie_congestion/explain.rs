//! The columns of Table I for any phase: each transfer's rate after steps A, B, C, D (8) and D.

use weir_plugin_api::{LegendEntry, LinkId, Step};

use super::blocking::raise;
use super::layout::Layout;
use crate::common::groups::{Groups, NONE};

pub(super) fn legend() -> Vec<LegendEntry> {
    [
        ("A", "own link of its source", "The rate on its first link, before anything is shared."),
        ("B", "upstream port shared", "Going up, an overloaded link cuts all transfers in proportion."),
        (
            "C",
            "downstream port shared",
            "Going down, an overloaded link gives each port that feeds it a quota; crossing a root complex lowers it.",
        ),
        (
            "D (8)",
            "head-of-line blocked",
            "It queues on a link behind a transfer that is cut further on, and gets no more than that one.",
        ),
        (
            "D",
            "shared, raised by what blocked ones leave",
            "It takes what blocked transfers leave; “because of” names those that made room.",
        ),
    ]
    .map(|(step, short, meaning)| LegendEntry::new(step, short, meaning))
    .into()
}

/// A step of one item: name, deciding link, rate, items responsible.
struct Line {
    step: &'static str,
    link: LinkId,
    rate: f64,
    because: Vec<u32>,
}

/// Appends the steps of all transfers, in phase order.
pub(super) fn explain(layout: &mut Layout, groups: &Groups, hol: bool, steps: &mut Vec<Step>) {
    let lines: Vec<Vec<Line>> = (0..layout.items.len()).map(|index| lines(layout, index, hol)).collect();
    for (position, &index) in groups.of_positions().iter().enumerate() {
        for line in &lines[index as usize] {
            let positions = groups.of_positions().iter().zip(0_u32..);
            let because = positions
                .filter(|&(item, p)| p != position as u32 && line.because.contains(item))
                .map(|(_, p)| p)
                .collect();
            steps.push(Step {
                transfer: position as u32,
                region: 0,
                step: line.step.to_owned(),
                link: line.link,
                rate: line.rate,
                because,
            });
        }
    }
}

fn lines(layout: &mut Layout, index: usize, hol: bool) -> Vec<Line> {
    let item = layout.items[index];
    let first = &layout.hops[item.start as usize];
    let source = layout.links[first.link as usize].id;
    let mut lines = vec![Line { step: "A", link: source, rate: first.ceiling, because: Vec::new() }];
    let is_down = |hop: u32| layout.links[layout.hops[hop as usize].link as usize].down;
    let turn = (item.start..item.end).find(|&hop| is_down(hop)).unwrap_or(item.end);
    let climbed = if turn > item.start { layout.rate_after(turn - 1) } else { first.ceiling };
    lines.push(cut_line(layout, "B", item.start..turn, climbed));
    lines.push(cut_line(layout, "C", turn..item.end, item.arrived));
    if hol {
        lines.push(blocked_line(layout, index));
        lines.push(raised_line(layout, index));
    }
    lines
}

/// The last cut among some hops, and everybody on its link; no link where there was no cut.
fn cut_line(layout: &Layout, step: &'static str, hops: std::ops::Range<u32>, rate: f64) -> Line {
    match hops.rev().find(|&hop| layout.hops[hop as usize].cut) {
        None => Line { step, link: LinkId::NONE, rate, because: Vec::new() },
        Some(hop) => {
            let link = layout.hops[hop as usize].link as usize;
            let because = layout.members(link).iter().map(|&m| layout.hops[m as usize].item).collect();
            Line { step, link: layout.links[link].id, rate, because }
        }
    }
}

fn blocked_line(layout: &Layout, index: usize) -> Line {
    let item = &layout.items[index];
    let (link, because) = if item.blocked_by == NONE {
        (LinkId::NONE, Vec::new())
    } else {
        (layout.links[layout.hops[item.blocked_at as usize].link as usize].id, vec![item.blocked_by])
    };
    Line { step: "D (8)", link, rate: item.blocked_rate, because }
}

/// The link that decides how far a transfer is raised, and the blocked transfers that made room there.
fn raised_line(layout: &mut Layout, index: usize) -> Line {
    let item = layout.items[index];
    if item.rate <= item.blocked_rate {
        return Line { step: "D", link: LinkId::NONE, rate: item.rate, because: Vec::new() };
    }
    let (at, _) = raise(layout, index);
    let link = layout.hops[at as usize].link as usize;
    let blocked = |&m: &u32| {
        let hop = &layout.hops[m as usize];
        (layout.items[hop.item as usize].blocked_by != NONE).then_some(hop.item)
    };
    let because = layout.members(link).iter().filter_map(blocked).collect();
    Line { step: "D", link: layout.links[link].id, rate: item.rate, because }
}
