//! Parameters: decoding from JSON, and the schema that is shown to the user.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, de::DeserializeOwned};
use weir_plugin_api::{CallError, FabricView};

/// Bytes that a visit adds (packets.md, section 2).
const QUANTUM: NonZeroU64 = NonZeroU64::new(512).unwrap();

/// A port arbiter without parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeficitParams {
    /// Bytes that a visit adds; 512B by default.
    #[serde(default = "quantum")]
    #[schemars(extend("x-weir-quantity" = "bytes"))]
    pub(super) quantum: NonZeroU64,
    /// Quanta by the node that an input comes from; 1 for others.
    #[serde(default)]
    #[schemars(schema_with = "by_node")]
    pub(super) weights: BTreeMap<u32, NonZeroU32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WeightParams {
    /// Packets in a row by the node that an input comes from; 1 for others.
    #[serde(default)]
    #[schemars(schema_with = "by_node")]
    pub(super) weights: BTreeMap<u32, NonZeroU32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedParams {
    /// Of the random numbers; 0 by default.
    #[serde(default)]
    pub(super) seed: u64,
}

fn quantum() -> NonZeroU64 {
    QUANTUM
}

fn by_node(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-weir-by-node": true,
        "additionalProperties": { "type": "integer", "minimum": 1, "maximum": u32::MAX }
    })
}

/// Decodes the parameters of the port arbiter `name`: a JSON object (serde alone would take a list as well).
pub(super) fn decode<P: DeserializeOwned>(name: &str, params: &str) -> Result<P, CallError> {
    let object: Result<serde_json::Map<_, _>, _> = serde_json::from_str(params);
    object
        .and_then(|object| serde_json::from_value(object.into()))
        .map_err(|error| CallError::Refused(format!("parameters of `{name}`: {error}; its schema says what it takes")))
}

/// The JSON Schema of a parameter type.
pub(super) fn schema<P: JsonSchema>() -> String {
    schemars::schema_for!(P).as_value().to_string()
}

/// Weights by output and place of the input there, from weights by the node that inputs come from.
pub(super) fn weights(fabric: &FabricView<'_>, by_node: &BTreeMap<u32, NonZeroU32>) -> BTreeMap<(u32, u32), u32> {
    let mut inputs = vec![Vec::new(); fabric.node_kind.len()];
    fabric.from.iter().zip(fabric.to.iter()).for_each(|(&from, &to)| inputs[to as usize].push(from));
    let of_output = |(out, &node): (u32, &u32)| {
        let places = (0..).zip(&inputs[node as usize]);
        places.filter_map(move |(place, from)| Some(((out, place), by_node.get(from)?.get())))
    };
    (0..).zip(fabric.from.iter()).flat_map(of_output).collect()
}
