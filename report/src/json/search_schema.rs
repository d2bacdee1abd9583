//! What the schema of a search says beyond the types of its keys.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use weir_optimize::search::{Method, Objective, PERCENTILES, Vary};

use crate::ResultKind;
use crate::pairs::Pairs;
use crate::schemas::{Amount, words};

/// Values by per cent.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Percents(pub(crate) Pairs<u32, Amount>);

impl Percents {
    pub(super) fn new(values: [f64; 6]) -> Self {
        Self(Pairs(PERCENTILES.into_iter().zip(values.map(Amount)).collect()))
    }
}

impl JsonSchema for Percents {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Percents".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let keys = PERCENTILES.map(|percent| percent.to_string());
        let properties: Map<String, Value> =
            keys.iter().map(|key| (key.clone(), json!({ "type": "number", "minimum": 0 }))).collect();
        json_schema!({ "type": "object", "required": keys, "properties": properties, "additionalProperties": false })
    }
}

pub(super) fn kind(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": ResultKind::Search })
}

pub(super) fn vary(_: &mut SchemaGenerator) -> Schema {
    let one = words(Vary::ALL);
    let several = json!({ "type": "array", "items": one, "minItems": 2, "maxItems": 3, "uniqueItems": true });
    json_schema!({ "anyOf": [one, several] })
}

/// A result names the method that was taken.
pub(super) fn method(_: &mut SchemaGenerator) -> Schema {
    words(Method::ALL.into_iter().filter(|&method| method != Method::Auto))
}

pub(super) fn objective(_: &mut SchemaGenerator) -> Schema {
    words(Objective::ALL)
}

/// Which keys go together: what types do not say.
pub(super) fn relations(schema: &mut Schema) {
    let only = |vary: &str, others: Value| {
        let mut then = json!({ "properties": { "solution": { "required": [vary] } } });
        for absent in others.as_array().into_iter().flatten().filter_map(Value::as_str) {
            then["properties"][absent] = false.into();
        }
        json!({ "if": { "properties": { "vary": { "const": vary } } }, "then": then })
    };
    let parameters = only("parameters", json!(["payback_exchanges"]));
    let mut grid = json!({ "if": { "properties": { "vary": { "const": "parameters" } } }, "then": {} });
    grid["if"]["properties"]["method"] = json!({ "const": Method::Exhaustive.word() });
    grid["if"]["properties"]["objective"] = json!({ "const": Objective::Makespan.word() });
    grid["then"]["required"] = json!(["rows", "candidates"]);
    let plain = ["bound", "baseline", "best", "median", "mean", "worst", "percentiles"];
    let absent: Map<String, Value> = plain.iter().map(|&key| (key.to_owned(), false.into())).collect();
    let makespan = json!({
        "if": { "properties": { "objective": { "const": "makespan" } } },
        "then": { "required": ["best_s", "best_ps"], "properties": absent },
        "else": { "required": ["best"] }
    });
    let values = json!({
        "if": { "required": ["baseline_stopped"] },
        "then": { "properties": { "baseline": false, "baseline_s": false, "baseline_ps": false } },
        "else": { "anyOf": [{ "required": ["baseline"] }, { "required": ["baseline_s", "baseline_ps"] }] }
    });
    let costs: Vec<_> = Objective::ALL.into_iter().filter(|o| o.is_cost()).map(Objective::word).collect();
    let costs = json!({
        "if": { "properties": { "objective": { "enum": costs } } },
        "then": { "properties": { "vary": { "const": "placement" } } }
    });
    let joint = |kind: Vary| {
        let list = json!({ "type": "array", "contains": { "const": kind.word() } });
        let then = json!({ "properties": { "solution": { "required": [kind.word()] }, "rows": false } });
        json!({ "if": { "properties": { "vary": list } }, "then": then })
    };
    let single =
        [only("order", json!(["rows", "payback_exchanges"])), only("placement", json!(["rows"])), parameters, grid];
    let all = single.into_iter().chain([makespan, values, costs]).chain(Vary::ALL.map(joint));
    schema.insert("allOf".to_owned(), all.collect());
}
