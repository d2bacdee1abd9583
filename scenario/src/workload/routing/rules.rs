//! What can be said of the routes of transfers.

use weir_plugin_api::NodeId;

/// Which of the routes with the fewest links a transfer takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Rule {
    #[default]
    Shortest,
    Ecmp,
    Spread,
}

/// Through which network cards a transfer goes from machine to machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum NicRule {
    /// Whatever lies on its route.
    #[default]
    Any,
    /// The nearest of the source, and the nearest of the destination.
    Nearest,
    /// The nearest of the source, and the one of the same number in the destination's machine.
    Rail,
    /// Each of one machine with that of the same number of the other; equal parts of the bytes.
    All,
}

pub(super) const RULES: [(&str, Rule); 3] =
    [("shortest", Rule::Shortest), ("ecmp", Rule::Ecmp), ("spread", Rule::Spread)];
pub(super) const NICS: [(&str, NicRule); 4] =
    [("any", NicRule::Any), ("nearest", NicRule::Nearest), ("rail", NicRule::Rail), ("all", NicRule::All)];

/// `routing` and `nic` of a scenario, or of an item of its workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Routing {
    pub(super) rule: Rule,
    pub(super) nic: NicRule,
}

/// How one transfer is routed.
#[derive(Clone, Copy)]
pub(in crate::workload) struct Way<'a> {
    pub(in crate::workload) routing: Routing,
    /// What it passes, in order of travel.
    pub(in crate::workload) via: &'a [NodeId],
    /// Its id, which decides among equal routes under `ecmp`.
    pub(in crate::workload) id: &'a dyn Fn() -> String,
}

impl Routing {
    /// Whether every transfer takes the route that its ends alone decide.
    pub(in crate::workload) fn is_default(self) -> bool {
        self == Self::default()
    }
}
