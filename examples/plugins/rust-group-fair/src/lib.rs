//! Example of a weir plugin in Rust: the rate arbiter `group-fair`, one share of a link per *group* of transfers, so that
//! opening more transfers between the same places gains nothing.
//!
//! # Definition
//! A group is all active transfers that start from the same node (`group_by: source`, the default) or end at the same
//! node (`group_by: destination`). On a link of bandwidth `B` used by `G` groups, a transfer whose group has `n` transfers
//! on that link is offered `B / G / n`. Its rate is the smallest offer along its route, or its limit if that is less.
//!
//! # Feasible
//! The offers of a link sum to `G · n · B / G / n = B`, so no link carries more than its bandwidth.
//!
//! # Ties and fairness
//! Among equal offers the first link of the route is named as the binding. Groups have equal shares of a link, and so do
//! the transfers of one group; weights and priorities are ignored. Not work-conserving: what a transfer cannot use, because
//! another link offers it less, nobody gets.
//!
//! An offer depends only on the transfers that use the link, so unconnected sets of transfers do not affect each other's
//! bits, and the arbiter needs no `WHOLE_SET`.

use serde::Deserialize;
use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, LinkId, PhaseView, RateArbiter, Step,
};

/// Which transfers share one share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GroupBy {
    /// Those that start from the same node.
    #[default]
    Source,
    /// Those that end at the same node.
    Destination,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    group_by: GroupBy,
}

/// A share of a link as offered to one transfer.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Offer {
    link: LinkId,
    rate: f64,
    /// Transfers on the link.
    users: usize,
}

/// The arbiter; see the crate's documentation.
pub struct GroupFair {
    group_by: GroupBy,
    bandwidth: Vec<f64>,
    from: Vec<u32>,
    to: Vec<u32>,
    /// Scratch: (link, group) of each transfer on each link of its route, sorted.
    uses: Vec<(LinkId, u32)>,
}

impl GroupFair {
    fn group(&self, route: &[LinkId]) -> u32 {
        match self.group_by {
            GroupBy::Source => self.from[route[0].index()],
            GroupBy::Destination => self.to[route[route.len() - 1].index()],
        }
    }

    fn collect_uses(&mut self, phase: &PhaseView<'_>) {
        self.uses.clear();
        for position in 0..phase.len() {
            let route = phase.route(position);
            let group = self.group(route);
            self.uses.extend(route.iter().map(|&link| (link, group)));
        }
        self.uses.sort_unstable();
    }

    fn offer(&self, link: LinkId, group: u32) -> Offer {
        let first = self.uses.partition_point(|&(l, _)| l < link);
        let users = self.uses[first..].partition_point(|&(l, _)| l == link);
        let on_link = &self.uses[first..first + users];
        let groups = on_link.chunk_by(|a, b| a == b).count();
        let of_group = on_link.iter().filter(|&&(_, g)| g == group).count();
        Offer { link, rate: self.bandwidth[link.index()] / groups as f64 / of_group as f64, users }
    }

    /// The smallest offer along a route; the first of equals.
    fn smallest_offer(&self, route: &[LinkId]) -> Offer {
        let group = self.group(route);
        let first = self.offer(route[0], group);
        route[1..].iter().map(|&link| self.offer(link, group)).fold(first, |a, b| if b.rate < a.rate { b } else { a })
    }
}

/// Position of the first other transfer on a link, as the one responsible.
fn first_other(phase: &PhaseView<'_>, link: LinkId, position: usize) -> u32 {
    let other = (0..phase.len()).find(|&p| p != position && phase.route(p).contains(&link));
    other.map_or(u32::MAX, |p| p as u32)
}

impl RateArbiter for GroupFair {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.collect_uses(phase);
        for position in 0..phase.len() {
            let transfer = phase.transfer(position);
            let offer = self.smallest_offer(transfer.route);
            (grant.rates[position], grant.bindings[position]) = if transfer.limit < offer.rate {
                (transfer.limit, Binding::new(LinkId::NONE, Cause::OwnLimit, u32::MAX))
            } else if offer.users == 1 {
                (offer.rate, Binding::new(offer.link, Cause::FullRate, u32::MAX))
            } else {
                let by = first_other(phase, offer.link, position);
                (offer.rate, Binding::new(offer.link, Cause::SharedLink, by))
            };
        }
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        self.collect_uses(phase);
        for position in 0..phase.len() {
            let transfer = phase.transfer(position);
            let offer = self.smallest_offer(transfer.route);
            let others = (0..phase.len()).filter(|&p| p != position && phase.route(p).contains(&offer.link));
            let because = others.map(|p| p as u32).collect();
            let mut add = |step: &str, link, rate, because| {
                steps.push(Step { transfer: position as u32, region: 0, step: step.to_owned(), link, rate, because });
            };
            add("share", offer.link, offer.rate, because);
            add("limit", LinkId::NONE, offer.rate.min(transfer.limit), Vec::new());
        }
        Ok(true)
    }
}

impl ArbiterPlugin for GroupFair {
    const NAME: &'static str = "group-fair";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const FLAGS: Flags = Flags::PURE;

    fn params_schema() -> String {
        r#"{
            "type": "object",
            "properties": {
                "group_by": {
                    "enum": ["source", "destination"],
                    "default": "source",
                    "description": "Transfers that start from (or end at) the same node share one share of a link."
                }
            },
            "additionalProperties": false
        }"#
        .to_owned()
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let params: Params =
            serde_json::from_str(params).map_err(|e| CallError::Refused(format!("parameters of group-fair: {e}")))?;
        Ok(Self {
            group_by: params.group_by,
            bandwidth: fabric.bandwidth.to_vec(),
            from: fabric.from.to_vec(),
            to: fabric.to.to_vec(),
            uses: Vec::new(),
        })
    }
}

weir_plugin_api::export_arbiters!(GroupFair);

#[cfg(test)]
mod tests {
    use super::*;
    use weir_plugin_api::{
        ClassId, ClassTable, Direction, LinkKind, NodeKind, RouteId, RouteTable, SimTime, TransferId,
    };

    /// Source A sends three transfers over links 0 and 2, source B one over 1 and 2; link 2 carries 12 B/s.
    #[test]
    fn each_source_has_half_and_nothing_is_exceeded() {
        let fabric = FabricView {
            bandwidth: [100.0, 5.0, 12.0][..].into(),
            from: [0, 1, 2][..].into(),
            to: [2, 2, 3][..].into(),
            direction: [Direction::Up, Direction::Up, Direction::Down][..].into(),
            depth: [1; 3][..].into(),
            kind: [LinkKind::PCIE; 3][..].into(),
            node_kind: [NodeKind::Gpu, NodeKind::Gpu, NodeKind::Switch, NodeKind::Gpu][..].into(),
        };
        let (ids, classes) = ([0, 1, 2, 3].map(TransferId), [0, 0, 0, 1].map(ClassId));
        let (routes, links) = ([0, 1].map(RouteId), [0, 2, 1, 2].map(LinkId));
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: ids[..].into(),
            class: classes[..].into(),
            arrival: [0; 4][..].into(),
            classes: ClassTable {
                route: routes[..].into(),
                limit: [f64::INFINITY; 2][..].into(),
                weight: [1.0; 2][..].into(),
                priority: [0; 2][..].into(),
            },
            routes: RouteTable { offsets: [0, 2, 4][..].into(), links: links[..].into() },
        };
        let (mut rates, mut bindings) = ([f64::NAN; 4], [Binding::NONE; 4]);
        let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
        let mut arbiter = GroupFair::create(&fabric, "{}").expect("no parameters are needed");
        arbiter.allocate(&phase, &mut grant).expect("defined for every phase");
        // Half of link 2 for each source, 6 / 3 for each of A's; B is held by its own link.
        assert_eq!(rates, [2.0, 2.0, 2.0, 5.0]);
        assert_eq!(bindings[0], Binding::new(LinkId(2), Cause::SharedLink, 1));
        assert_eq!(bindings[3], Binding::new(LinkId(1), Cause::FullRate, u32::MAX));
    }

    #[test]
    fn parameters_that_do_not_fit_are_refused() {
        let none = FabricView::default();
        let refused = GroupFair::create(&none, r#"{"group_by": "colour"}"#);
        assert!(matches!(refused, Err(CallError::Refused(text)) if text.contains("colour")));
    }
}
