//! The types of the page's data in TypeScript, made from the types that write them.

use std::fmt::Write;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::fit::Additions;
use super::sweep::Point;
use crate::CauseKind;
use crate::json::{RunJson, SearchJson};
use crate::schemas::generator;
use crate::sweep::{SweepJson, SweepPointJson};
use crate::tuned::Tuning;
use crate::validation::Validation;
use crate::what_if::WhatIf;

/// Types that are put together from others.
const COMPOSED: &str = r#"/** A run as the page has it. */
export type Run = RunResult & RunAdditions;

/** A sweep as the page has it: of its points what is drawn; none where they are too many to hand over. */
export type Sweep = Omit<SweepResult, "points"> & { points?: SweepPoint[] | null };

export interface ReportData {
  weir: number;
  runs: Run[];
  searches: Search[];
  sweeps?: Sweep[];
  tuned: Tuned[];
  validated: Validated[];
  what_ifs?: WhatIf[];
  aggregated: { notes: string[] } | null;
}
"#;

/// The text of `report/web/src/contract.ts`.
#[must_use]
pub fn contract() -> String {
    let mut out = String::from(
        "// The data of a page. Made by `npm run contract` from the types in Rust that write them: do not edit.\n",
    );
    let mut generator = generator();
    for (name, root) in [
        ("RunResult", root::<RunJson<'static>>(&mut generator)),
        ("RunAdditions", root::<Additions<'static>>(&mut generator)),
        ("Search", root::<SearchJson<'static>>(&mut generator)),
        ("SweepResult", root::<SweepJson<'static, SweepPointJson<'static>>>(&mut generator)),
        ("SweepPoint", root::<Point<'static>>(&mut generator)),
        ("Tuned", root::<Tuning>(&mut generator)),
        ("Validated", root::<Validation>(&mut generator)),
        ("WhatIf", root::<WhatIf>(&mut generator)),
    ] {
        declare(&mut out, name, &root);
    }
    for (name, definition) in generator.definitions() {
        declare(&mut out, name, definition);
    }
    of_causes(&mut out, "Causes in words, without the transfers that they name.", "CAUSE_WORDS", CauseKind::words);
    of_causes(&mut out, "What causes mean under any policy.", "CAUSE_MEANINGS", CauseKind::meaning);
    let _ = write!(out, "\n{COMPOSED}");
    out
}

/// Declares a constant with a text for each cause.
fn of_causes(out: &mut String, what: &str, name: &str, text: fn(CauseKind) -> &'static str) {
    let _ = writeln!(out, "\n/** {what} */\nexport const {name}: Record<CauseKind, string> = {{");
    for kind in CauseKind::ALL {
        let _ = writeln!(out, "  {}: {},", serde_json::json!(kind), serde_json::json!(text(kind)));
    }
    out.push_str("};\n");
}

fn root<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    T::json_schema(generator).to_value()
}

/// Declares a type of this name.
fn declare(out: &mut String, name: &str, schema: &Value) {
    comment(out, "", schema);
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let _ = writeln!(out, "export interface {name} {{");
            members(out, schema, properties);
            out.push_str("}\n");
        }
        None => {
            let _ = writeln!(out, "export type {name} = {};", expression(schema));
        }
    }
}

fn comment(out: &mut String, indent: &str, schema: &Value) {
    if indent.is_empty() {
        out.push('\n');
    }
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        let _ = writeln!(out, "{indent}/** {} */", text.replace('\n', " ").replace("*/", "* /"));
    }
}

fn members(out: &mut String, schema: &Value, properties: &Map<String, Value>) {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, property) in properties {
        comment(out, "  ", property);
        let optional = !required.contains(&key.as_str());
        let mut of = expression(property);
        if optional && !of.ends_with("null") {
            of.push_str(" | null");
        }
        let _ = writeln!(out, "  {key}{}: {of};", if optional { "?" } else { "" });
    }
    if schema.get("additionalProperties").is_none() && schema.get("unevaluatedProperties").is_none() {
        out.push_str("  [key: string]: unknown;\n");
    }
}

/// A type in place.
fn expression(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.strip_prefix("#/$defs/")) {
        return name.to_owned();
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    for (key, separator) in [("enum", " | "), ("oneOf", " | "), ("anyOf", " | ")] {
        if let Some(all) = schema.get(key).and_then(Value::as_array) {
            let parts = all.iter().map(|one| if key == "enum" { one.to_string() } else { expression(one) });
            return parts.collect::<Vec<_>>().join(separator);
        }
    }
    match &schema["type"] {
        Value::Array(types) => {
            let parts = types.iter().filter_map(Value::as_str).map(|one| simple(one, schema));
            parts.collect::<Vec<_>>().join(" | ")
        }
        Value::String(one) => simple(one, schema),
        _ => "unknown".to_owned(),
    }
}

fn simple(of: &str, schema: &Value) -> String {
    match of {
        "integer" | "number" => "number".to_owned(),
        "array" => list(schema),
        "object" => object_of(schema),
        other => other.to_owned(),
    }
}

fn list(schema: &Value) -> String {
    if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
        return format!("[{}]", items.iter().map(expression).collect::<Vec<_>>().join(", "));
    }
    let item = schema.get("items").map_or_else(|| "unknown".to_owned(), expression);
    if item.contains(' ') { format!("({item})[]") } else { format!("{item}[]") }
}

fn object_of(schema: &Value) -> String {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let mut inner = String::new();
        members(&mut inner, schema, properties);
        return format!("{{ {} }}", inner.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let value = schema.get("additionalProperties").filter(|value| value.is_object());
    format!("Record<string, {}>", value.map_or_else(|| "unknown".to_owned(), expression))
}
