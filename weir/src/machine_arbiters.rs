//! The arbiters for a machine: a map by kind of link, with parameters that depend on its generation of PCIe.

use serde_json::{Map, Value as Json};
use weir_plugin_api::ArbiterEntry;

/// The mark of a parameter whose value depends on the generation of PCIe (docs/plugin-abi.md).
const MARK: &str = "x-weir-by-pcie";

/// The arbiters for a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineArbiters {
    /// What a scenario writes behind `arbiter:`.
    pub map: String,
    /// For each parameter that depends on the generation of PCIe: its value, and where that is from.
    pub sources: Vec<String>,
}

/// The parameters of an arbiter that the generation decides, and the source of each, or of the default that it keeps.
pub(crate) fn by_generation(entry: &ArbiterEntry, generation: u8) -> (Map<String, Json>, Vec<String>) {
    let schema: Json = serde_json::from_str(&entry.params_schema).unwrap_or_default();
    let (mut params, mut sources) = (Map::new(), Vec::new());
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let entries = property[MARK].as_array().into_iter().flatten();
        let fits = entries.filter(|entry| entry["from"].as_u64().is_some_and(|from| from <= u64::from(generation)));
        let Some(best) = fits.max_by_key(|entry| entry["from"].as_u64()) else { continue };
        let source = best["source"].as_str().unwrap_or("no source");
        let value = match best.get("value") {
            Some(value) => {
                params.insert(key.clone(), value.clone());
                value.to_string()
            }
            None => "the default".to_owned(),
        };
        sources.push(format!("{key} of {} for PCIe {generation}.0: {value}, {source}", entry.name));
    }
    (params, sources)
}

#[cfg(test)]
mod tests {
    use super::by_generation;
    use crate::Registry;

    #[test]
    fn a_policy_without_a_constant_to_fit_comes_first() {
        let registry = Registry::built_in().expect("built in");
        for generation in [None, Some(3), Some(5), Some(6)] {
            let arbiters = registry.map_for(&["memory"], generation).expect("two arbiters");
            assert_eq!(arbiters.map, "{default: input-fifo, memory: max-min}");
            assert!(arbiters.sources.is_empty());
        }
    }

    #[test]
    fn tau_is_that_of_the_generation() {
        let registry = Registry::built_in().expect("built in");
        let entry = registry.get("pcie-congestion").expect("built in");
        let of = |generation| by_generation(entry, generation);
        for generation in [3, 4] {
            let (params, sources) = of(generation);
            assert!(params.is_empty() && sources[0].contains("the default") && sources[0].contains("K80"));
        }
        for generation in [5, 6] {
            let (params, sources) = of(generation);
            assert_eq!(params["tau"], 0);
            assert!(sources[0].starts_with(&format!("tau of pcie-congestion for PCIe {generation}.0: 0, ")));
        }
    }
}
