//! The policy of a run.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_plugin_api::{LegendEntry, PortEntry};
use weir_scenario::{Regions, Scenario};
use weir_sim_core::Region;

use crate::Run;
use crate::schemas::cow_object;

/// The policy of a run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Arbiter")]
pub(crate) struct ArbiterJson<'a> {
    /// The name by which `arbiter:` and `--arbiter` choose it.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// Version that the policy states of itself.
    #[serde(borrow)]
    version: Cow<'a, str>,
    /// Its parameters as the scenario gives them.
    #[serde(deserialize_with = "cow_object")]
    pub(crate) params: Cow<'a, Map<String, Value>>,
    /// SHA-256 of the library it was loaded from; absent for built-in policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Cow<'a, str>>,
    /// Of explained runs: what the steps mean, in the order in which they are taken; absent where the policy does not say.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) legend: Vec<LegendRow<'a>>,
    /// The parts of the fabric that have a policy each; absent where one policy has the whole fabric.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionRow<'a>>,
    /// Of runs of packets: the port arbiters that come from libraries; absent where there is none.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    port_arbiters: Vec<PortArbiterRow<'a>>,
}

/// A port arbiter of a library.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "PortArbiter")]
struct PortArbiterRow<'a> {
    /// The name by which `port_arbiter` chooses it.
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// Version that the policy states of itself.
    #[serde(borrow)]
    version: Cow<'a, str>,
    /// SHA-256 of its library.
    #[serde(borrow)]
    sha256: Cow<'a, str>,
}

/// A connected part of the fabric that has a policy of its own.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Region")]
struct RegionRow<'a> {
    /// Its name: the key, with the topmost node where several regions have that key.
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// The link kind that its policy is given for, or `default`.
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// The policy that divides its bandwidth.
    #[serde(borrow)]
    policy: Cow<'a, str>,
    /// Version that a policy from a library states of itself; absent for built-in ones.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    version: Option<Cow<'a, str>>,
    /// SHA-256 of the library that its policy was loaded from; absent for built-in ones.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sha256: Option<Cow<'a, str>>,
    /// Number of its directed links.
    links: usize,
    /// The node of the region that is nearest to the root.
    #[serde(borrow)]
    top: Cow<'a, str>,
}

/// What a step of the arbiter means.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "LegendEntry")]
pub(crate) struct LegendRow<'a> {
    /// The name that `explain` gives the step.
    #[serde(borrow)]
    step: Cow<'a, str>,
    /// In a few words that can stand for the name.
    #[serde(borrow)]
    short: Cow<'a, str>,
    /// What the policy does in this step, as a sentence.
    #[serde(borrow)]
    meaning: Cow<'a, str>,
}

impl<'a> ArbiterJson<'a> {
    pub(crate) fn new(run: &Run<'a>) -> Self {
        let arbiter = &run.arbiter;
        let explained = run.outcome.phases.iter().flatten().any(|phase| !phase.steps.is_empty());
        let legend = if explained { arbiter.legend.iter().map(LegendRow::new).collect() } else { Vec::new() };
        Self {
            name: arbiter.name.into(),
            version: arbiter.version.into(),
            params: Cow::Borrowed(arbiter.params),
            sha256: arbiter.sha256.map(Into::into),
            legend,
            port_arbiters: arbiter
                .packets
                .iter()
                .flat_map(|plan| plan.loaded_ports())
                .map(PortArbiterRow::new)
                .collect(),
            regions: arbiter.regions.map_or_else(Vec::new, |regions| region_rows(run.scenario, regions)),
        }
    }
}

fn region_rows<'a>(scenario: &'a Scenario, regions: &'a Regions) -> Vec<RegionRow<'a>> {
    let row = |(number, region): (usize, &Region)| {
        let (info, policy) = regions.region(number);
        let (key, spec) = &regions.policies[region.policy as usize];
        let sha256 = spec.entry.origin.sha256();
        RegionRow {
            name: info.name.as_str().into(),
            key: key.as_str().into(),
            policy: policy.into(),
            version: sha256.map(|_| spec.entry.version.as_str().into()),
            sha256: sha256.map(Into::into),
            links: region.links.len(),
            top: scenario.node_name(info.top).into(),
        }
    };
    regions.division.regions.iter().enumerate().map(row).collect()
}

impl<'a> PortArbiterRow<'a> {
    fn new(entry: &'a PortEntry) -> Self {
        let sha256 = entry.origin.sha256().unwrap_or_default();
        Self { name: (&*entry.name).into(), version: (&*entry.version).into(), sha256: sha256.into() }
    }
}

impl<'a> LegendRow<'a> {
    fn new(LegendEntry { step, short, meaning }: &'a LegendEntry) -> Self {
        let [step, short, meaning] = [step, short, meaning].map(|text| Cow::from(&**text));
        Self { step, short, meaning }
    }
}
