//! The arbiters for a machine: a map by kind of link, with parameters that depend on its generation of PCIe.

use serde_json::{Map, Value as Json};
use weir_plugin_api::ArbiterEntry;
use weir_scenario::ArbiterSpec;

/// The mark of a parameter whose value depends on the generation of PCIe (docs/plugin-abi.md).
const MARK: &str = "x-weir-by-pcie";

/// The arbiters for a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineArbiters {
    /// What a scenario writes behind `arbiter:`.
    pub map: String,
    /// For each of its parameters that depends on the generation of PCIe: its value, and where that is from.
    pub sources: Vec<String>,
}

/// What is marked for a generation: the parameter, its entry, and whether that is the one of the oldest generation.
struct ByGeneration {
    key: String,
    entry: Json,
    oldest: bool,
}

/// The parameters of an arbiter that depend on the generation of PCIe.
fn marked(entry: &ArbiterEntry, generation: u8) -> Vec<ByGeneration> {
    let schema: Json = serde_json::from_str(&entry.params_schema).unwrap_or_default();
    let from = |entry: &Json| entry["from"].as_u64().unwrap_or(u64::MAX);
    let of = |(key, property): (&String, &Json)| {
        let entries = property[MARK].as_array()?;
        let best =
            entries.iter().filter(|entry| from(entry) <= u64::from(generation)).max_by_key(|entry| from(entry))?;
        let oldest = entries.iter().all(|entry| from(best) <= from(entry));
        Some(ByGeneration { key: key.clone(), entry: best.clone(), oldest })
    };
    schema["properties"].as_object().into_iter().flatten().filter_map(of).collect()
}

/// What a parameter should be, and where that is from.
fn source(marked: &ByGeneration, name: &str, generation: u8) -> String {
    let value = marked.entry.get("value").map_or_else(|| "the default".to_owned(), Json::to_string);
    let source = marked.entry["source"].as_str().unwrap_or("no source");
    format!("{} of {name} for PCIe {generation}.0: {value}, {source}", marked.key)
}

/// The parameters that a scenario leaves at their defaults, which are those of older generations of PCIe.
pub(crate) fn defaults_of_others(spec: &ArbiterSpec, generation: u8) -> Vec<String> {
    let marked = marked(&spec.entry, generation);
    let left = marked.iter().filter(|marked| !marked.oldest && !spec.written.contains_key(&marked.key));
    let text = |marked: &ByGeneration| {
        let remedy = match marked.entry.get("value") {
            Some(value) => format!("write `{{ name: {}, {}: {value} }}`", spec.name, marked.key),
            None => format!("give {}, which `weir calibrate` finds from measured times", marked.key),
        };
        format!(
            "arbiter `{}` runs with the default of {}, which is that of older PCIe; {}\nhelp: {remedy}",
            spec.name,
            marked.key,
            source(marked, &spec.name, generation)
        )
    };
    left.map(text).collect()
}

/// The parameters of an arbiter that the generation decides, and the source of each, or of the default that it keeps.
pub(crate) fn by_generation(entry: &ArbiterEntry, generation: u8) -> (Map<String, Json>, Vec<String>) {
    let (mut params, mut sources) = (Map::new(), Vec::new());
    for marked in marked(entry, generation) {
        sources.push(source(&marked, &entry.name, generation));
        if let Some(value) = marked.entry.get("value") {
            params.insert(marked.key, value.clone());
        }
    }
    (params, sources)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weir_scenario::ArbiterSpec;

    use super::{by_generation, defaults_of_others};
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

    #[test]
    fn the_policy_with_a_constant_is_offered_with_that_of_the_generation() {
        let registry = Registry::built_in().expect("built in");
        let offered = |generation| registry.others_for(&["memory"], generation);
        assert!(offered(None).is_empty());
        for (generation, map) in [
            (3, "{default: pcie-congestion, memory: max-min}"),
            (5, "{default: {name: pcie-congestion, tau: 0}, memory: max-min}"),
        ] {
            let all = offered(Some(generation));
            assert_eq!(all.iter().map(|one| &*one.map).collect::<Vec<_>>(), [map]);
            assert!(all[0].sources[0].starts_with(&format!("tau of pcie-congestion for PCIe {generation}.0: ")));
        }
    }

    #[test]
    fn a_default_of_older_pcie_is_doubted() {
        let registry = Registry::built_in().expect("built in");
        let mut spec = ArbiterSpec::plain(registry.get("pcie-congestion").expect("built in"));
        assert!((1..=3).all(|generation| defaults_of_others(&spec, generation).is_empty()));
        let of = |spec: &ArbiterSpec, generation| defaults_of_others(spec, generation).join("\n");
        assert!(of(&spec, 4).contains("nothing is measured") && of(&spec, 4).contains("weir calibrate"));
        assert!(of(&spec, 5).contains("help: write `{ name: pcie-congestion, tau: 0 }`"), "{}", of(&spec, 5));
        spec.written.insert("tau".to_owned(), json!(0.17));
        assert_eq!(of(&spec, 5), "");
    }
}
