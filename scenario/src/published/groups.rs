//! What the schema says of items within groups: the same as outside, but for texts with variables, which may stand for any
//! single value and for any key.

use serde_json::{Map, Value as Json, json};

use crate::format::{Definitions, define};
use crate::unroll::{GROUP, GROUPED};

/// A text with a variable: what it becomes is not known to the schema.
const VARIABLE: &str = "\\{";

/// Adds the definition of a group, whose items are groups and operations; refers to an item of the workload, given the
/// definition of an operation outside of groups.
pub(super) fn item(defs: &mut Definitions) -> Json {
    let group = GROUPED.reference(defs);
    let inner = within(defs, "operation");
    let operations = defs["grouped.operation"]["properties"].clone();
    for list in ["sequence", "parallel"] {
        defs["group"]["properties"][list]["items"] = one_of(&group, &inner);
    }
    // One operation stands beside `for`, `repeat` and `sizes`.
    for (key, operation) in operations.as_object().into_iter().flatten() {
        defs["group"]["properties"][key] = operation.clone();
    }
    open_to_variables(&mut defs["group"]);
    one_of(&group, &json!({ "$ref": "#/$defs/operation" }))
}

/// A group, or an operation.
fn one_of(group: &Json, operation: &Json) -> Json {
    let is_group: Vec<Json> = GROUP.iter().map(|key| json!({ "required": [key] })).collect();
    json!({ "if": { "anyOf": is_group }, "then": group, "else": operation })
}

/// A reference to a definition as it is within groups; it is added where it is missing.
fn within(defs: &mut Definitions, name: &str) -> Json {
    define(defs, &format!("grouped.{name}"), |defs| {
        let outside = defs.get(name).cloned().unwrap_or(Json::Bool(true));
        variable(&outside, defs)
    })
}

/// A schema in which texts may have variables.
fn variable(schema: &Json, defs: &mut Definitions) -> Json {
    let Json::Object(map) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("$ref", Json::String(target)) => {
                let name = target.strip_prefix("#/$defs/").unwrap_or(target);
                out.insert(key.clone(), within(defs, name)["$ref"].take());
            }
            ("properties", Json::Object(properties)) => {
                let all = properties.iter().map(|(key, value)| (key.clone(), variable(value, defs)));
                out.insert(key.clone(), Json::Object(all.collect()));
            }
            ("items" | "additionalProperties", value) => drop(out.insert(key.clone(), variable(value, defs))),
            // A variable may fit several of them.
            ("prefixItems" | "anyOf" | "oneOf", Json::Array(parts)) => {
                let key = if key == "oneOf" { "anyOf" } else { key };
                out.insert(key.to_owned(), parts.iter().map(|part| variable(part, defs)).collect());
            }
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    let mut out = Json::Object(out);
    open_to_variables(&mut out);
    if is_single(map) { or_variable(out) } else { out }
}

/// Whether a schema is of a single value that is not any text.
fn is_single(schema: &Map<String, Json>) -> bool {
    let types = match schema.get("type") {
        Some(Json::Array(types)) => types.iter().filter_map(Json::as_str).collect(),
        one => one.and_then(Json::as_str).into_iter().collect::<Vec<_>>(),
    };
    let is_narrow = ["enum", "const", "pattern"].iter().any(|key| schema.contains_key(*key));
    let is_other = !types.is_empty() && !types.contains(&"string");
    (is_narrow || is_other) && !types.contains(&"object") && !types.contains(&"array")
}

/// The same, or a text with a variable.
fn or_variable(mut schema: Json) -> Json {
    let about = schema.as_object_mut().and_then(|map| map.remove("description"));
    let mut either = json!({ "anyOf": [schema, { "type": "string", "pattern": VARIABLE }] });
    about.into_iter().for_each(|about| either["description"] = about);
    either
}

/// Lets a map whose keys are known have keys with variables.
fn open_to_variables(schema: &mut Json) {
    let is_closed =
        ["additionalProperties", "unevaluatedProperties"].iter().any(|key| schema.get(key) == Some(&false.into()));
    if is_closed {
        schema["patternProperties"] = json!({ VARIABLE: true });
    }
}
