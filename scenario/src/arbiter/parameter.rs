//! Numbers among an arbiter's parameters that somebody else chooses, such as a fit.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;
use weir_plugin_api::ArbiterEntry;

use super::{ArbiterSpec, Regions, as_written};
use crate::schema::Schema;
use crate::yaml::key_of_path;

/// Which parameter of an arbiter; shown as the path that `--set` takes below `arbiter`: `tau`, `default.tau`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ArbiterParameter {
    /// The key of its policy in a map of arbiters; `None` where one policy has the whole fabric.
    pub policy: Option<String>,
    /// Its key among the parameters of the policy.
    pub key: String,
}

impl fmt::Display for ArbiterParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(policy) = &self.policy {
            write!(f, "{}.", key_of_path(policy))?;
        }
        f.write_str(&key_of_path(&self.key))
    }
}

/// Values of parameters, as their schemas have them: B, B/s and ps where they are quantities.
pub type ArbiterValues = BTreeMap<ArbiterParameter, f64>;

impl ArbiterSpec {
    /// The policies with their keys in a map of arbiters; `None` where one policy has the whole fabric.
    pub fn policies(&self) -> impl Iterator<Item = (Option<&str>, &ArbiterSpec)> {
        let of_map = self.regions.iter().flat_map(|regions| &regions.policies);
        let of_map = of_map.map(|(key, spec)| (Some(key.as_str()), spec));
        of_map.chain(self.regions.is_none().then_some((None, self)))
    }

    /// The same arbiter with other values of parameters. Whole numbers where the schema wants them: the nearest.
    #[must_use]
    pub fn with(&self, values: &ArbiterValues) -> Self {
        let of = |policy: Option<&str>, spec: &Self| {
            let mut spec = spec.clone();
            let own = values.iter().filter(|(parameter, _)| parameter.policy.as_deref() == policy);
            own.for_each(|(parameter, &value)| spec.put(&parameter.key, value));
            spec
        };
        let Some(regions) = &self.regions else { return of(None, self) };
        let policies = regions.policies.iter().map(|(key, spec)| (key.clone(), of(Some(key), spec))).collect();
        let regions = Regions { division: Arc::clone(&regions.division), policies, infos: regions.infos.clone() };
        Self::of_regions(regions, self.position.clone())
    }

    /// A value of a parameter as a scenario writes it; `None` if no policy has that key.
    #[must_use]
    pub fn value_text(&self, parameter: &ArbiterParameter, value: f64) -> Option<String> {
        let (_, spec) = self.policies().find(|(policy, _)| *policy == parameter.policy.as_deref())?;
        Some(number(&spec.entry, &parameter.key, value).1)
    }

    fn put(&mut self, key: &str, value: f64) {
        let (json, text) = number(&self.entry, key, value);
        self.written.insert(key.to_owned(), as_written(&text, &json));
        self.params.insert(key.to_owned(), json);
    }
}

/// A value of a parameter as policies get it, and as scenarios write it.
fn number(entry: &ArbiterEntry, key: &str, value: f64) -> (Json, String) {
    let schema: Json = serde_json::from_str(&entry.params_schema).unwrap_or_default();
    let property = Schema::new(&schema).property(key);
    let (whole, unit) = property.map_or((false, ""), Schema::number_form);
    let rounded = libm::round(value);
    let json = if whole { Json::from(rounded as i64) } else { Json::from(value) };
    (json, format!("{}{unit}", if whole { rounded } else { value }))
}
