//! Parameters of an arbiter that may be fitted: those that its JSON Schema marks with `x-weir-fit`.

use serde_json::{Map, Value as Json};
use weir_scenario::{ArbiterParameter, ArbiterSpec};

/// The mark (docs/plugin-abi.md).
const MARK: &str = "x-weir-fit";
/// How far below an exclusive maximum values stay, as a part of the range; *assumed*, a step of no effect.
const MARGIN: f64 = 2e-6;

/// A parameter of an arbiter that may be fitted.
#[derive(Clone, PartialEq, Debug)]
pub struct Marked {
    /// Name of its policy.
    pub policy: String,
    /// Where it stands in the arbiter.
    pub parameter: ArbiterParameter,
    /// The schema's `minimum`, in the parameter's own unit.
    pub least: f64,
    /// The schema's `maximum`, or a little below its `exclusiveMaximum`.
    pub most: f64,
    /// From the least value to the limit, which itself may be out of reach.
    pub range: f64,
}

impl Marked {
    /// The parameters that the policies of an arbiter mark, with the values from which a fit begins: those given, else the
    /// defaults. One whose condition does not hold is left out.
    pub(super) fn of(arbiter: &ArbiterSpec) -> Vec<(Self, f64)> {
        arbiter.policies().flat_map(|(key, policy)| Self::of_policy(key, policy)).collect()
    }

    fn of_policy(of: Option<&str>, policy: &ArbiterSpec) -> Vec<(Self, f64)> {
        let schema: Json = serde_json::from_str(&policy.entry.params_schema).unwrap_or_default();
        let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
        let value = |key: &str| policy.params.get(key).or_else(|| properties.get(key)?.get("default"));
        let marked = |(key, property): (&String, &Json)| {
            let holds = |when: &Map<String, Json>| when.iter().all(|(key, wanted)| value(key) == Some(wanted));
            if !property.get(MARK)?["when"].as_object().is_none_or(holds) {
                return None;
            }
            let least = property["minimum"].as_f64()?;
            let (range, most) = match (property["maximum"].as_f64(), property["exclusiveMaximum"].as_f64()) {
                (Some(most), _) => (most - least, most),
                (None, limit) => (limit? - least, limit? - (limit? - least) * MARGIN),
            };
            let start = value(key)?.as_f64()?;
            let parameter = ArbiterParameter { policy: of.map(str::to_owned), key: key.clone() };
            Some((Self { policy: policy.name.clone(), parameter, least, most, range }, start))
        };
        properties.iter().filter_map(marked).collect()
    }

    /// The unit of its coordinate, so that steps of a fit are the same parts of every range.
    pub(super) fn unit(&self) -> f64 {
        2.0 * self.range
    }

    /// Values at these parts of the range.
    pub(super) fn at<const N: usize>(&self, parts: [f64; N]) -> [f64; N] {
        parts.map(|part| self.least + part * self.range)
    }
}

/// Whether a JSON Schema marks a parameter, whatever the condition.
#[must_use]
pub fn marks(params_schema: &str, key: &str) -> bool {
    let schema: Json = serde_json::from_str(params_schema).unwrap_or_default();
    schema["properties"][key].get(MARK).is_some()
}
