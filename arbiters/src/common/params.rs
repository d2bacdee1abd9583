//! Parameters: decoding from JSON, and the schema that is shown to the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use weir_plugin_api::CallError;

/// An arbiter without parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// Decodes the parameters of the arbiter `name`: a JSON object (serde alone would take a list as well).
pub(crate) fn decode<P: DeserializeOwned>(name: &str, params: &str) -> Result<P, CallError> {
    let object: Result<serde_json::Map<_, _>, _> = serde_json::from_str(params);
    object
        .and_then(|object| serde_json::from_value(object.into()))
        .map_err(|error| CallError::Refused(format!("parameters of `{name}`: {error}; its schema says what it takes")))
}

/// The JSON Schema of a parameter type.
pub(crate) fn schema<P: JsonSchema>() -> String {
    schemars::schema_for!(P).as_value().to_string()
}
