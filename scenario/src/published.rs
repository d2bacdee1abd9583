//! The JSON Schema of scenario files, for editors: the tables that the reader itself uses ([`crate::format`]), and of
//! arbiters, port arbiters and models what the registry says, loaded ones too.
//!
//! Schemas of plugins describe what arrives; here their keywords `x-weir-…` become what a user writes: texts with units, names
//! of devices, paths of files.

mod groups;

use serde_json::{Map, Value as Json, json};
use weir_plugin_api::{ModelEntry, Registry};

use crate::format::{Definition, Definitions, Shape, define};
use crate::load::SCENARIO;
use crate::optimize;
use crate::schema::Schema;
use crate::topology::TOPOLOGY;
use crate::units::{BANDWIDTH, BYTES, TIME};
use crate::unroll::GROUP;
use crate::workload::{DEVICE, HOST};

/// The devices of an operation of a model.
static DEVICES: Definition = Definition {
    name: "devices",
    about: "One name with brackets, or a list of names and ranks.",
    shape: Shape::OneOrMore(0, &Shape::Named(&DEVICE)),
};

/// Keywords that say the same of what a user writes as of what arrives.
const COPIED: [&str; 14] = [
    "const",
    "default",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maximum",
    "minItems",
    "minProperties",
    "minimum",
    "pattern",
    "type",
    "uniqueItems",
];

/// The JSON Schema of scenario and topology files with these arbiters and models. It accepts all that is right;
/// [`crate::check`] knows more.
#[must_use]
pub fn scenario_schema(registry: &Registry) -> Json {
    let mut defs = Definitions::new();
    let (scenario, topology) = (SCENARIO.reference(&mut defs), TOPOLOGY.reference(&mut defs));
    let mut own = add_models(&mut defs, registry);
    own.extend(GROUP.iter().copied().chain(["barrier"]).map(|key| json!({ "required": [key] })));
    add_arbiters(&mut defs, registry);
    add_ports(&mut defs, registry);
    let planned =
        json!({ "properties": { "workload": { "type": "array", "minItems": 1, "items": { "anyOf": own } } } });
    let item = groups::item(&mut defs);
    defs["scenario"]["properties"]["workload"]["items"] = item;
    defs["scenario"]["anyOf"] = json!([{ "required": ["topology"] }, planned]);
    defs["optimize"]["oneOf"] = optimize::alternatives();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "weir scenario",
        "description": "A scenario or topology file of weir, format version 1. Editors can complete and check with it; \
                        `weir check` knows more.",
        "type": "object",
        "required": ["weir"],
        "if": { "required": ["workload"] },
        "then": scenario,
        "else": topology,
        "$defs": defs
    })
}

/// Adds the arbiters as the definition `arbiter`.
fn add_arbiters(defs: &mut Definitions, registry: &Registry) {
    let maps = registry.iter().map(|entry| {
        let params = serde_json::from_str(&entry.params_schema).unwrap_or_default();
        named(Published { root: &params, name: &entry.name, defs }.part(&params), &entry.name)
    });
    let maps: Vec<Json> = maps.collect();
    let names = registry.iter().map(|entry| &entry.name);
    let default = registry.default_arbiter().unwrap_or("none");
    let what = format!("The name of an arbiter, or a map with its name and parameters; {default} by default.");
    defs.insert("policy".to_owned(), choice(&what, names, maps));
    let policy = json!({ "$ref": "#/$defs/policy" });
    let per_kind = json!({
        "description": "An arbiter for each kind of link; `default` for the kinds that no other key names.",
        "type": "object",
        "minProperties": 1,
        "not": { "required": ["name"] },
        "additionalProperties": policy
    });
    defs.insert("arbiter".to_owned(), json!({ "anyOf": [policy, per_kind] }));
}

/// Adds the port arbiters as the definition `port_arbiter`.
fn add_ports(defs: &mut Definitions, registry: &Registry) {
    let maps = registry.ports().map(|entry| {
        let params = serde_json::from_str(&entry.params_schema).unwrap_or_default();
        named(Published { root: &params, name: &entry.name, defs }.part(&params), &entry.name)
    });
    let maps: Vec<Json> = maps.collect();
    let what = "The name of a port arbiter, or a map with its name and parameters.";
    defs.insert("port_arbiter".to_owned(), choice(what, registry.ports().map(|entry| &entry.name), maps));
}

/// Adds the models' operations to `operation`, and the models of transfers as `transfer_model`. Returns what a workload
/// item must have to be one of the operations.
fn add_models(defs: &mut Definitions, registry: &Registry) -> Vec<Json> {
    let (mut own, mut names, mut maps) = (Vec::new(), Vec::new(), Vec::new());
    for entry in registry.models() {
        let root: Json = serde_json::from_str(&entry.schema).unwrap_or_default();
        for operation in &entry.operations {
            let Some(part) = Schema::new(&root).property(operation) else { continue };
            let part = Published { root: &root, name: &entry.name, defs }.part(part.json());
            if operation == "transfer" {
                names.push(&entry.name);
                maps.push(named(part, &entry.name));
            } else {
                defs["operation"]["properties"][operation] = host(part, entry, defs);
                own.push(json!({ "required": [operation] }));
            }
        }
    }
    // One operation an item.
    defs["operation"]["minProperties"] = 1.into();
    defs["operation"]["maxProperties"] = 1.into();
    let what = "A model of plain transfers, by name or as a map with its parameters; without one the transfer goes over the \
                links.";
    defs.insert("transfer_model".to_owned(), choice(what, names.into_iter(), maps));
    own
}

/// A name, or a map with it.
fn choice<'a>(description: &str, names: impl Iterator<Item = &'a String>, maps: Vec<Json>) -> Json {
    let name = json!({ "enum": names.collect::<Vec<_>>() });
    let all: Vec<Json> = std::iter::once(name).chain(maps).collect();
    json!({ "description": description, "anyOf": all })
}

/// Parameters beside the name of what has them.
fn named(mut params: Json, name: &str) -> Json {
    require(&mut params, "name");
    params["type"] = "object".into();
    params["properties"]["name"] = json!({ "const": name });
    params["additionalProperties"] = false.into();
    params
}

/// An operation of a model, with the keys that all operations have.
fn host(mut operation: Json, entry: &ModelEntry, defs: &mut Definitions) -> Json {
    operation["type"] = "object".into();
    operation["additionalProperties"] = false.into();
    let said = operation["description"].as_str().map_or_else(String::new, |said| format!("{said} "));
    operation["description"] = format!("{said}(model {})", entry.name).into();
    for key in HOST {
        operation["properties"][key.name] = key.schema(defs);
    }
    operation
}

fn require(schema: &mut Json, key: &str) {
    let required = &mut schema["required"];
    match required.as_array_mut() {
        Some(list) => list.push(key.into()),
        None => *required = json!([key]),
    }
}

/// The schema of one plugin while it is rewritten; its definitions get its name before their own.
struct Published<'a> {
    root: &'a Json,
    name: &'a str,
    defs: &'a mut Definitions,
}

impl Published<'_> {
    /// A part as a user writes it.
    fn part(&mut self, part: &Json) -> Json {
        let Json::Object(map) = part else { return part.clone() };
        if let Some(written) = self.written(map) {
            return described(written, map);
        }
        let mut out = Map::new();
        for (key, value) in map {
            match key.as_str() {
                "$ref" => drop(out.insert(key.clone(), self.reference(value))),
                "properties" => {
                    let Json::Object(properties) = value else { continue };
                    let parts = properties.iter().map(|(key, value)| (key.clone(), self.part(value)));
                    out.insert(key.clone(), Json::Object(parts.collect()));
                    // What the reader does not know it refuses.
                    out.insert("additionalProperties".to_owned(), false.into());
                }
                "items" => drop(out.insert(key.clone(), self.part(value))),
                "prefixItems" | "anyOf" | "oneOf" => {
                    let parts = value.as_array().into_iter().flatten().map(|part| self.part(part));
                    out.insert(key.clone(), parts.collect());
                }
                "required" => drop(out.insert(key.clone(), required_of_users(value, map))),
                _ if COPIED.contains(&key.as_str()) => drop(out.insert(key.clone(), value.clone())),
                _ => {}
            }
        }
        if out.get("type") == Some(&"string".into()) && !out.contains_key("enum") && !out.contains_key("const") {
            // A bare number is a text where a text is asked for.
            out.insert("type".to_owned(), json!(["string", "number"]));
        }
        // Branches have keys of their own, which those of the whole would refuse.
        if (out.contains_key("anyOf") || out.contains_key("oneOf")) && out.contains_key("properties") {
            out.remove("additionalProperties");
            out.insert("unevaluatedProperties".to_owned(), false.into());
            open(&mut out);
        }
        Json::Object(out)
    }

    /// A reference to a definition of the plugin, which is published, too.
    fn reference(&mut self, target: &Json) -> Json {
        let Some(definition) = target.as_str().and_then(|target| target.strip_prefix("#/$defs/")) else {
            return target.clone();
        };
        let (root, name) = (self.root, self.name);
        let part = &root["$defs"][definition];
        define(self.defs, &format!("{name}.{definition}"), |defs| Published { root, name, defs }.part(part))["$ref"]
            .take()
    }

    /// How a user writes a value of one of weir's own keywords.
    fn written(&mut self, part: &Map<String, Json>) -> Option<Json> {
        let is = |key: &str| part.get(key) == Some(&Json::Bool(true));
        if is("x-weir-by-node") {
            let each = part.get("additionalProperties").map_or(Json::Bool(true), |each| self.part(each));
            return Some(json!({ "type": "object", "additionalProperties": each }));
        }
        if is("x-weir-files") {
            let list = json!({ "type": "array", "items": { "type": "string" } });
            return Some(json!({ "anyOf": [{ "type": "string" }, list] }));
        }
        let quantity = part.get("x-weir-quantity").and_then(Json::as_str);
        let definition = match quantity {
            Some("bytes") => Some(&BYTES),
            Some("bandwidth") => Some(&BANDWIDTH),
            Some(_) => Some(&TIME),
            None if is("x-weir-nodes") => Some(&DEVICES),
            None if is("x-weir-node") => Some(&DEVICE),
            None if part.contains_key("x-weir-table") => None,
            None => return None,
        };
        let written = definition.map_or_else(|| json!({ "type": "string" }), |of| of.reference(self.defs));
        let null = part.get("type").and_then(Json::as_array).is_some_and(|types| types.contains(&"null".into()));
        Some(if null { json!({ "anyOf": [written, { "type": "null" }] }) } else { written })
    }
}

/// Lets the branches of a choice have the keys of the whole.
fn open(schema: &mut Map<String, Json>) {
    for key in ["anyOf", "oneOf"] {
        for branch in schema.get_mut(key).and_then(Json::as_array_mut).into_iter().flatten() {
            if let Some(branch) = branch.as_object_mut() {
                branch.remove("additionalProperties");
            }
        }
    }
}

fn described(mut written: Json, part: &Map<String, Json>) -> Json {
    if let Some(description) = part.get("description") {
        written["description"] = description.clone();
    }
    written
}

/// The required keys, without those that the host fills in.
fn required_of_users(required: &Json, part: &Map<String, Json>) -> Json {
    let filled = |key: &Json| {
        let property = key.as_str().and_then(|key| part.get("properties")?.get(key));
        property.is_some_and(|property| property.get("x-weir-nearest").is_some())
    };
    required.as_array().into_iter().flatten().filter(|key| !filled(key)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_of_plugins_become_what_a_user_writes() {
        let root = json!({
            "type": "object",
            "required": ["size", "cpu"],
            "properties": {
                "size": { "type": "integer", "x-weir-quantity": "bytes", "description": "How much." },
                "cpu": { "type": "integer", "x-weir-node": true, "x-weir-nearest": "size" },
                "pause": { "type": ["number", "null"], "x-weir-quantity": "time" },
                "mode": { "$ref": "#/$defs/Mode" },
                "shares": { "x-weir-by-node": true, "additionalProperties": { "minimum": 1, "format": "uint32" } }
            },
            "$defs": { "Mode": { "enum": ["fast"] } }
        });
        let mut defs = Map::new();
        let part = Published { root: &root, name: "x", defs: &mut defs }.part(&root);
        let expected = json!({
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": { "$ref": "#/$defs/bytes", "description": "How much." },
                "cpu": { "$ref": "#/$defs/device" },
                "pause": { "anyOf": [{ "$ref": "#/$defs/time" }, { "type": "null" }] },
                "mode": { "$ref": "#/$defs/x.Mode" },
                "shares": { "type": "object", "additionalProperties": { "minimum": 1 } }
            },
            "additionalProperties": false
        });
        assert_eq!(part, expected);
        assert_eq!(defs["x.Mode"], json!({ "enum": ["fast"] }));
    }
}
