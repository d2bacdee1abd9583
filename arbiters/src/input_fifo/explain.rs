//! The steps of any phase: what the ports grant, how fast heads get through, what the filling gives.

use weir_plugin_api::{Binding, Cause, LegendEntry, LinkId, Step};

use super::SAME;
use super::bindings::{Hold, hold, is_full};
use super::layout::Layout;
use super::waiting::Network;
use crate::common::groups::{Groups, NONE};

pub(super) fn legend() -> Vec<LegendEntry> {
    [
        (
            "port shares",
            "port shared by its inputs",
            "Each overloaded port gives its inputs equal parts, and what one does not need to the others.",
        ),
        (
            "at heads",
            "head waits for its port",
            "How fast it would go if it alone were at the heads of its queues, where they wait for the slowest port.",
        ),
        (
            "filling",
            "port full, or head of line busy",
            "Rates rise in proportion to the shares until a port, or the head of a queue, is busy all the time.",
        ),
    ]
    .map(|(step, short, meaning)| LegendEntry::new(step, short, meaning))
    .into()
}

/// A step of one flow: name, deciding link, rate, groups that are responsible.
#[derive(Clone, Debug)]
pub(super) struct Line {
    step: &'static str,
    link: LinkId,
    rate: f64,
    because: Vec<u32>,
}

/// Appends the steps of all transfers, in phase order; `lines` by group.
pub(super) fn explain(groups: &Groups, lines: &[Vec<Line>], steps: &mut Vec<Step>) {
    for (&group, position) in groups.of_positions().iter().zip(0_u32..) {
        for line in &lines[group as usize] {
            let others = groups.of_positions().iter().zip(0_u32..).filter(|&(_, other)| other != position);
            steps.push(Step {
                transfer: position,
                region: 0,
                step: line.step.to_owned(),
                link: line.link,
                rate: line.rate,
                because: others.filter(|(group, _)| line.because.contains(group)).map(|(_, other)| other).collect(),
            });
        }
    }
}

/// The steps of a flow with its answer.
pub(super) fn lines(layout: &Layout, network: &Network, flow: usize, (rate, binding): (f64, Binding)) -> Vec<Line> {
    let index = flow as u32;
    vec![share_line(layout, index), head_line(layout, network, index), fill_line(layout, network, index, rate, binding)]
}

/// The groups of all flows on a link that count.
fn on_link(layout: &Layout, link: u32, counts: impl Fn(u32) -> bool) -> Vec<u32> {
    let hops = layout.on(link).iter().filter(|&&hop| counts(hop));
    hops.map(|&hop| layout.flows[layout.hops[hop as usize].flow as usize].group).collect()
}

fn share_line(layout: &Layout, index: u32) -> Line {
    let flow = &layout.flows[index as usize];
    let shares_own = layout.sources[layout.source_of(index) as usize].transfers > flow.count;
    let cut = match flow.cut {
        NONE if shares_own || flow.count > 1.0 => layout.route(index)[0].link,
        cut => cut,
    };
    let (link, because) = match cut {
        NONE => (LinkId::NONE, Vec::new()),
        cut => (layout.links[cut as usize].id, on_link(layout, cut, |_| true)),
    };
    Line { step: "port shares", link, rate: flow.share.min(flow.limit), because }
}

/// The port for which its heads wait longest, and whoever comes to it from other inputs.
fn head_line(layout: &Layout, network: &Network, index: u32) -> Line {
    let mut slowest: Option<(f64, u32, u32)> = None;
    for hops in layout.route(index).windows(2) {
        let (from, to) = (hops[0].link, hops[1].link);
        let pair = network.pairs.iter().zip(&network.times).find(|(pair, _)| (pair.from, pair.to) == (from, to));
        if let Some((_, &time)) = pair
            && slowest.is_none_or(|(other, ..)| time > other * (1.0 + SAME))
        {
            slowest = Some((time, from, to));
        }
    }
    let flow = &layout.flows[index as usize];
    let Some((time, from, to)) = slowest else {
        return Line { step: "at heads", link: LinkId::NONE, rate: flow.capacity.min(flow.limit), because: Vec::new() };
    };
    let because = on_link(layout, to, |hop| layout.before(hop) != from);
    let link = if because.is_empty() { LinkId::NONE } else { layout.links[to as usize].id };
    Line { step: "at heads", link, rate: (1.0 / time).min(flow.capacity).min(flow.limit), because }
}

fn fill_line(layout: &Layout, network: &Network, index: u32, rate: f64, binding: Binding) -> Line {
    let flow = &layout.flows[index as usize];
    if is_full(flow, rate) {
        return Line { step: "filling", link: binding.link, rate, because: Vec::new() };
    }
    let Hold { link, cause, by } = hold(layout, network, index);
    let because = match (cause, by) {
        (Cause::HeadOfLine, by) if by != NONE => vec![layout.flows[by as usize].group],
        _ => on_link(layout, link, |_| true),
    };
    Line { step: "filling", link: binding.link, rate, because }
}
