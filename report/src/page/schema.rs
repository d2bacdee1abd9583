//! Whether a JSON value is as a JSON Schema says, for the keywords that weir's own schemas use. The crate `jsonschema` knows
//! all keywords and needs 35 further crates, so only the tests use it, to compare.

use serde_json::{Map, Value};

/// A schema, and where its `$ref`s lead.
pub(super) struct Schema(Value);

/// What is wrong, and where: `transfers[1]`.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) place: String,
    pub(super) what: String,
}

impl Schema {
    pub(super) fn new(schema: Value) -> Self {
        Self(schema)
    }

    /// The first thing in a value that is not as the schema says. Patterns and formats of text are not looked at.
    pub(super) fn fault(&self, value: &Value) -> Option<Fault> {
        self.check(&self.0, value, "").err()
    }

    fn check(&self, schema: &Value, value: &Value, place: &str) -> Result<(), Fault> {
        let Value::Object(keywords) = schema else {
            return require(schema != &Value::Bool(false), place, || "nothing may be here".to_owned());
        };
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                "$ref" => self.check(self.definition(wanted), value, place)?,
                "type" => of_type(wanted, value, place)?,
                "const" => require(value == wanted, place, || format!("{wanted} was expected"))?,
                "enum" => {
                    let any = wanted.as_array().is_none_or(|all| all.contains(value));
                    require(any, place, || format!("value is not one of {wanted}"))?;
                }
                "minimum" => {
                    let fits = value.as_f64().zip(wanted.as_f64()).is_none_or(|(number, least)| number >= least);
                    require(fits, place, || format!("value is less than the minimum of {wanted}"))?;
                }
                "allOf" => list(wanted).iter().try_for_each(|part| self.check(part, value, place))?,
                "anyOf" | "oneOf" => self.one_of(list(wanted), keyword == "oneOf", (value, place))?,
                "if" if self.check(wanted, value, place).is_ok() => self.branch(keywords, "then", (value, place))?,
                "if" => self.branch(keywords, "else", (value, place))?,
                _ => {}
            }
        }
        match value {
            Value::Object(members) => self.members(keywords, members, place),
            Value::Array(items) => self.items(keywords, items, place),
            _ => Ok(()),
        }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        pointer.and_then(|pointer| self.0.pointer(pointer)).unwrap_or(&Value::Null)
    }

    fn branch(&self, keywords: &Map<String, Value>, name: &str, (value, place): (&Value, &str)) -> Result<(), Fault> {
        keywords.get(name).map_or(Ok(()), |schema| self.check(schema, value, place))
    }

    fn one_of(&self, forms: &[Value], only_one: bool, (value, place): (&Value, &str)) -> Result<(), Fault> {
        let fitting = forms.iter().filter(|form| self.check(form, value, place).is_ok()).count();
        // Where one form is meant, null beside it, say what is wrong with that form.
        if let (0, [form, null]) = (fitting, forms)
            && null["type"] == "null"
        {
            return self.check(form, value, place);
        }
        require(fitting == 1 || fitting > 1 && !only_one, place, || "value has none of the forms allowed".to_owned())
    }

    fn members(&self, keywords: &Map<String, Value>, members: &Map<String, Value>, place: &str) -> Result<(), Fault> {
        let required = keywords.get("required").map_or(&[][..], list);
        let missing = required.iter().find(|name| name.as_str().is_some_and(|name| !members.contains_key(name)));
        if let Some(name) = missing {
            return require(false, place, || format!("{name} is a required property"));
        }
        members.iter().try_for_each(|(name, value)| {
            let known = keywords.get("properties").and_then(|properties| properties.get(name));
            let schema = known.or_else(|| keywords.get("additionalProperties"));
            let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            schema.map_or(Ok(()), |schema| self.check(schema, value, &place))
        })
    }

    fn items(&self, keywords: &Map<String, Value>, items: &[Value], place: &str) -> Result<(), Fault> {
        let bound = |keyword| keywords.get(keyword).and_then(Value::as_u64);
        let count = items.len() as u64;
        let fits = bound("minItems").is_none_or(|n| count >= n) && bound("maxItems").is_none_or(|n| count <= n);
        require(fits, place, || format!("{count} items are too few or too many"))?;
        let first = keywords.get("prefixItems").map_or(&[][..], list);
        items.iter().enumerate().try_for_each(|(i, item)| {
            let schema = first.get(i).or_else(|| keywords.get("items"));
            schema.map_or(Ok(()), |schema| self.check(schema, item, &format!("{place}[{i}]")))
        })
    }
}

fn of_type(wanted: &Value, value: &Value, place: &str) -> Result<(), Fault> {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    };
    let fits = wanted.as_array().map_or_else(|| is(wanted), |names| names.iter().any(is));
    require(fits, place, || format!("value is not of type {wanted}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn require(holds: bool, place: &str, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault { place: place.to_owned(), what: what() }) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::Schema;
    use crate::json::{results_schema, search_schema};

    /// JSON pointers to one of each kind of place in a value: of lists, the first item stands for all.
    fn places(value: &Value, at: String, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, member)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(member, format!("{at}/{name}"), found);
            }),
            Value::Array(items) => items.iter().take(1).for_each(|item| places(item, format!("{at}/0"), found)),
            _ => {}
        }
        found.insert(at);
    }

    /// A value without the member or item at a pointer.
    fn without(mut value: Value, pointer: &str) -> Value {
        let Some((parent, name)) = pointer.rsplit_once('/') else { return Value::Null };
        match value.pointer_mut(parent).expect("is there") {
            Value::Object(members) => drop(members.shift_remove(name)),
            Value::Array(items) => drop(items.remove(0)),
            _ => unreachable!("only these have members"),
        }
        value
    }

    fn agrees(mut schema: Value, good: &Value) {
        unpatterned(&mut schema);
        let (twin, schema) = (jsonschema::validator_for(&schema).expect("is a schema"), Schema::new(schema));
        assert_eq!(schema.fault(good), None);
        let mut all = BTreeSet::new();
        places(good, String::new(), &mut all);
        let (mut wrong, mut tried) = (0, 0);
        for place in all {
            let others = [json!(null), json!("x"), json!(-1), json!(1.5), json!(true), json!([]), json!({})];
            let changed = others.into_iter().map(|other| {
                let mut value = good.clone();
                *value.pointer_mut(&place).expect("is there") = other;
                value
            });
            for value in changed.chain([without(good.clone(), &place)]) {
                let fault = schema.fault(&value);
                assert_eq!(fault.is_none(), twin.is_valid(&value), "{place}: {fault:?}");
                (wrong, tried) = (wrong + u32::from(fault.is_some()), tried + 1);
            }
        }
        assert!(wrong > 100 && wrong < tried, "{wrong} of {tried}");
    }

    fn unpatterned(schema: &mut Value) {
        match schema {
            Value::Object(members) => {
                if members.get("pattern").is_some_and(Value::is_string) {
                    members.shift_remove("pattern");
                }
                members.values_mut().for_each(unpatterned);
            }
            Value::Array(items) => items.iter_mut().for_each(unpatterned),
            _ => {}
        }
    }

    #[test]
    fn faults_are_those_that_a_validator_of_all_keywords_finds() {
        let page = |text: &str| serde_json::from_str::<Value>(text).expect("is JSON");
        let run = page(include_str!("../../web/tests/fixtures/t2.json"))["runs"][0].clone();
        agrees(results_schema(), &run);
        let search = page(include_str!("../../web/tests/fixtures/results.json"))["searches"][0].clone();
        agrees(search_schema(), &search);
    }

    #[test]
    fn a_fault_says_what_and_where() {
        let fault = |value: Value| {
            let one =
                json!({ "type": "object", "required": ["to"], "properties": { "to": { "type": ["string", "null"] } } });
            let schema = json!({ "properties": { "list": { "type": "array", "items": one } } });
            Schema::new(schema).fault(&value).map(|fault| format!("{}: {}", fault.place, fault.what))
        };
        assert_eq!(fault(json!({ "list": [{ "to": null }, { "to": "a" }] })), None);
        assert_eq!(
            fault(json!({ "list": [{ "to": "a" }, {}] })).as_deref(),
            Some("list[1]: \"to\" is a required property")
        );
        let wrong = "list[0].to: value is not of type [\"string\",\"null\"]";
        assert_eq!(fault(json!({ "list": [{ "to": 1 }] })).as_deref(), Some(wrong));
    }
}
