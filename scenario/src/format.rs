//! The maps of the format: the keys of each, what their values look like, and which must be given. The reader takes the
//! keys that it accepts and requires from these tables; the printed schema is made of them.
//!
//! A table stands beside the code that reads its map.

use serde_json::{Map as Object, Value as Json, json};

/// A map of the format.
#[derive(Debug)]
pub(crate) struct KeyTable {
    /// Its name among the definitions of the schema.
    name: &'static str,
    about: &'static str,
    pub(crate) keys: &'static [Key],
    /// Groups of keys, of which exactly one group is given; empty where any keys go together.
    forms: &'static [&'static [&'static str]],
}

/// A key of a map, with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
    pub(crate) about: &'static str,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A single value; YAML takes a name such as `1` for a number.
    Text,
    Path,
    /// A text that fits a regular expression.
    Pattern(fn() -> String),
    /// One of these values.
    Choice(fn() -> Vec<Json>),
    /// A whole number within bounds.
    Whole(Bounds),
    Number(Bounds),
    /// A number from the one to the other.
    Between(f64, f64),
    /// A list of at least so many items.
    List(usize, &'static Shape),
    /// A list of so many items, at least and at most.
    Tuple(usize, usize, &'static Shape),
    /// One item, or a list of at least so many.
    OneOrMore(usize, &'static Shape),
    Either(&'static [Shape]),
    /// A list of items that all differ.
    Distinct(&'static Shape),
    /// A map whose keys are names that the user gives.
    ByName(&'static Shape),
    /// The same with so many keys, at least and at most.
    SomeByName(usize, usize, &'static Shape),
    Map(&'static KeyTable),
    Named(&'static Definition),
    /// A definition that the registry makes.
    Registered(&'static str),
    Anything,
}

/// Bounds of a number, by the keywords of JSON Schema.
type Bounds = &'static [(&'static str, i64)];

/// A shape that the schema has under a name.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
}

/// The definitions of a schema, by name.
pub(crate) type Definitions = Object<String, Json>;

/// A key that must be given.
pub(crate) const fn required(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, required: true, shape, about }
}

/// A key that may be left out.
pub(crate) const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, required: false, shape, about }
}

impl KeyTable {
    pub(crate) const fn new(name: &'static str, about: &'static str, keys: &'static [Key]) -> Self {
        Self { name, about, keys, forms: &[] }
    }

    /// The same map, in which keys of exactly one of these groups are given.
    pub(crate) const fn in_one_of(self, forms: &'static [&'static [&'static str]]) -> Self {
        Self { forms, ..self }
    }

    /// The names of its keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }

    /// The key whose value is a map that may have this key, where there is one.
    pub(crate) fn holder_of(&self, key: &str) -> Option<&'static str> {
        self.keys.iter().find(|holder| holder.shape.has(key)).map(|holder| holder.name)
    }

    /// A reference to its definition, which is added where it is missing.
    pub(crate) fn reference(&self, all: &mut Definitions) -> Json {
        define(all, self.name, |all| {
            let properties: Definitions = self.keys.iter().map(|key| (key.name.to_owned(), key.schema(all))).collect();
            let required: Vec<_> = self.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
            let mut schema = json!({ "description": self.about, "type": "object", "additionalProperties": false, "properties": properties });
            if !required.is_empty() {
                schema["required"] = required.into();
            }
            if !self.forms.is_empty() {
                schema["oneOf"] = self.forms.iter().map(|keys| json!({ "required": keys })).collect();
            }
            schema
        })
    }
}

impl Key {
    /// The schema of its value.
    pub(crate) fn schema(&self, all: &mut Definitions) -> Json {
        let mut schema = self.shape.schema(all);
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }
}

impl Shape {
    /// Whether it is a map that may have this key.
    fn has(&self, key: &str) -> bool {
        match self {
            Self::Map(table) => table.names().any(|name| name == key),
            Self::Either(shapes) => shapes.iter().any(|shape| shape.has(key)),
            Self::Named(definition) => definition.shape.has(key),
            _ => false,
        }
    }
}

impl Definition {
    /// A reference to it; it is added where it is missing.
    pub(crate) fn reference(&self, all: &mut Definitions) -> Json {
        define(all, self.name, |all| {
            let mut schema = self.shape.schema(all);
            schema["description"] = self.about.into();
            schema
        })
    }
}

impl Shape {
    fn schema(&self, all: &mut Definitions) -> Json {
        let number = |kind: &str, bounds: Bounds| {
            let mut schema = json!({ "type": kind });
            bounds.iter().for_each(|&(keyword, value)| schema[keyword] = value.into());
            schema
        };
        let mut list = |least: usize, of: &Self| {
            let items = of.schema(all);
            json!({ "type": "array", "minItems": least, "items": items })
        };
        match *self {
            Self::Text => json!({ "type": ["string", "number"] }),
            Self::Path => json!({ "type": "string", "minLength": 1 }),
            Self::Pattern(pattern) => json!({ "type": "string", "pattern": pattern() }),
            Self::Choice(values) => json!({ "enum": values() }),
            Self::Whole(bounds) => number("integer", bounds),
            Self::Number(bounds) => number("number", bounds),
            Self::Between(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
            Self::List(least, of) => list(least, of),
            Self::Tuple(least, most, of) => {
                let mut schema = list(least, of);
                schema["maxItems"] = most.into();
                schema
            }
            Self::OneOrMore(least, of) => json!({ "anyOf": [list(least, of), of.schema(all)] }),
            Self::Either(shapes) => {
                json!({ "anyOf": shapes.iter().map(|shape| shape.schema(all)).collect::<Vec<_>>() })
            }
            Self::Distinct(of) => json!({ "type": "array", "uniqueItems": true, "items": of.schema(all) }),
            Self::ByName(of) => json!({ "type": "object", "additionalProperties": of.schema(all) }),
            Self::SomeByName(least, most, of) => {
                json!({ "type": "object", "minProperties": least, "maxProperties": most, "additionalProperties": of.schema(all) })
            }
            Self::Map(table) => table.reference(all),
            Self::Named(definition) => definition.reference(all),
            Self::Registered(name) => reference(name),
            Self::Anything => json!({}),
        }
    }
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Adds a definition, which may refer to itself, and refers to it.
pub(crate) fn define(all: &mut Definitions, name: &str, make: impl FnOnce(&mut Definitions) -> Json) -> Json {
    if !all.contains_key(name) {
        all.insert(name.to_owned(), Json::Bool(true));
        let definition = make(all);
        all.insert(name.to_owned(), definition);
    }
    reference(name)
}
