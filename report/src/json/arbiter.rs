//! The policy of a run.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_plugin_api::LegendEntry;

use crate::Run;

/// The policy of a run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Arbiter")]
pub(crate) struct ArbiterJson<'a> {
    /// Name in scenarios.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// Version of the policy.
    #[serde(borrow)]
    version: Cow<'a, str>,
    /// The parameters given.
    params: Cow<'a, Map<String, Value>>,
    /// SHA-256 of the library it was loaded from; absent for built-in policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<Cow<'a, str>>,
    /// Of explained runs: what the steps mean, in the order in which they are taken; absent where the policy does not say.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) legend: Vec<LegendRow<'a>>,
}

/// What a step of the arbiter means.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "LegendEntry")]
pub(crate) struct LegendRow<'a> {
    /// Its name.
    #[serde(borrow)]
    step: Cow<'a, str>,
    /// In a few words that can stand for the name.
    #[serde(borrow)]
    short: Cow<'a, str>,
    /// What it does.
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
        }
    }
}

impl<'a> LegendRow<'a> {
    fn new(LegendEntry { step, short, meaning }: &'a LegendEntry) -> Self {
        let [step, short, meaning] = [step, short, meaning].map(|text| Cow::from(&**text));
        Self { step, short, meaning }
    }
}
