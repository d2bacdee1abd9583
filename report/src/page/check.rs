//! Whether saved results are as weir writes them: by the schemas that `weir schema` prints, and by what these cannot say.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::schema::{Fault, Schema};
use crate::ResultKind;
use crate::json::{results_schema, search_schema};

/// Results of more bytes are not looked at (*assumed*: nobody has edited them, and they take ten times as much memory).
const MOST_BYTES: usize = 50_000_000;

static RUN: LazyLock<Schema> = LazyLock::new(|| lenient(results_schema()));
static SEARCH: LazyLock<Schema> = LazyLock::new(|| lenient(search_schema()));

/// What is wrong with a result, and where: `transfers[1]: "to" is a required property`.
pub(super) fn fault(kind: ResultKind, text: &str) -> Option<String> {
    let schema = match kind {
        ResultKind::Run => &RUN,
        ResultKind::Search => &SEARCH,
        _ => return None,
    };
    if text.len() > MOST_BYTES {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    if let Some(Fault { place, what }) = schema.fault(&value) {
        return Some(if place.is_empty() { what } else { format!("{place}: {what}") });
    }
    twice(&value).or_else(|| upside_down(&value))
}

/// A schema that allows further keys: those of later versions are ignored.
fn lenient(mut schema: Value) -> Schema {
    open(&mut schema);
    Schema::new(schema)
}

fn open(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                map.remove("additionalProperties");
            }
            map.values_mut().for_each(open);
        }
        Value::Array(list) => list.iter_mut().for_each(open),
        _ => {}
    }
}

/// Something listed twice.
fn twice(value: &Value) -> Option<String> {
    ["transfers", "links", "nodes"].iter().find_map(|list| {
        let mut seen = HashSet::new();
        let ids = value[list].as_array()?.iter().enumerate().filter_map(|(i, one)| Some((i, one.get("id")?)));
        let (i, id) = ids.map(|(i, id)| (i, id.to_string())).find(|(_, id)| !seen.insert(id.clone()))?;
        Some(format!("{list}[{i}].id: {id} occurs twice"))
    })
}

/// A node that does not come after its parent: there would be no way up from it.
fn upside_down(value: &Value) -> Option<String> {
    let mut seen = HashSet::new();
    let lost = value["nodes"].as_array()?.iter().enumerate().find(|(_, node)| {
        let parent = node["parent"].as_u64();
        let known = parent.is_none_or(|parent| seen.contains(&parent));
        seen.extend(node["id"].as_u64());
        !known
    });
    lost.map(|(i, node)| format!("nodes[{i}].parent: {} is not an earlier node", node["parent"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_schemas_cannot_say_is_found() {
        let doubled = serde_json::json!({ "links": [{ "id": 1 }, { "id": 2 }, { "id": 1 }] });
        assert_eq!(twice(&doubled).as_deref(), Some("links[2].id: 1 occurs twice"));
        let node = |id: u32, parent: Value| serde_json::json!({ "id": id, "parent": parent });
        let nodes = |list: Vec<Value>| serde_json::json!({ "nodes": list });
        assert_eq!(upside_down(&nodes(vec![node(0, Value::Null), node(1, 0.into())])), None);
        let own = upside_down(&nodes(vec![node(0, Value::Null), node(1, 1.into())]));
        assert_eq!(own.as_deref(), Some("nodes[1].parent: 1 is not an earlier node"));
    }
}
