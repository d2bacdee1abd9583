//! A directed link by its nodes' names.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::LinkId;
use weir_scenario::Scenario;

/// The two nodes of a directed link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Ends<'a> {
    /// The node it leaves.
    #[serde(borrow)]
    pub(crate) from: Cow<'a, str>,
    /// The node it enters.
    #[serde(borrow)]
    pub(crate) to: Cow<'a, str>,
}

impl<'a> Ends<'a> {
    pub(crate) fn of(scenario: &'a Scenario, link: LinkId) -> Self {
        let link = scenario.fabric.link(link);
        Self { from: scenario.node_name(link.from).into(), to: scenario.node_name(link.to).into() }
    }
}
