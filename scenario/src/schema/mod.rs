//! Parameters of a plugin: values of the tree turned into JSON under the plugin's own JSON Schema.
//!
//! Understood: `type`, `enum`, `const`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `items`,
//! `prefixItems`, `minItems`, `maxItems`, `properties`, `required`, `$ref` to `$defs`, `anyOf`, `oneOf`, and
//!
//! - `x-weir-quantity: bytes | bandwidth | time | time-per-byte`: text with a unit; arrives in B, B/s, ps, ps (real);
//! - `x-weir-node: true`: the name of a device; `x-weir-nodes: true`: a name with brackets or a list of such; ids arrive;
//! - `x-weir-by-node: true`: a map whose keys are names of nodes; of port arbiters alone, whose reader looks the names up;
//! - `x-weir-table: [bytes, seconds]`: the path of a CSV file with these columns; its rows arrive;
//! - `x-weir-files: true`: the path of a file, with brackets or in a list for several; their contents arrive;
//! - `x-weir-nearest: key`: a node or nodes that the host fills in where they are not given; with `x-weir-nearest-if: a.b` only
//!   where the value there is `true`;
//! - `x-weir-copy-engines: key`: how many copy engines the node of `key` has, filled in where the topology says it.
//!
//! Properties that the schema lacks are unknown keys.

mod choice;
mod names;
mod scalar;

use serde_json::{Map, Value as Json};

use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::source::Span;
use crate::yaml::{Data, Entry, Value};
pub(crate) use names::{Names, NoNames, expand};

/// References followed one after the other at most; *assumed*, it ends circular ones.
const REFERENCES: usize = 16;

/// A schema within the whole one, which its references lead into.
#[derive(Clone, Copy)]
pub(crate) struct Schema<'a> {
    root: &'a Json,
    here: &'a Json,
}

impl<'a> Schema<'a> {
    pub(crate) fn new(root: &'a Json) -> Self {
        Self { root, here: root }
    }

    /// The schema of a property.
    pub(crate) fn property(self, key: &str) -> Option<Self> {
        let here = self.resolved().here.get("properties")?.get(key)?;
        Some(self.at(here).resolved())
    }

    pub(crate) fn json(self) -> &'a Json {
        self.here
    }

    /// The keys of its properties.
    pub(crate) fn keys(self) -> impl Iterator<Item = &'a str> + Clone {
        self.here.get("properties").and_then(Json::as_object).into_iter().flat_map(|map| map.keys().map(String::as_str))
    }

    /// The parts of a map as a JSON object.
    pub(crate) fn object<'e>(
        self,
        context: &mut Context,
        names: &mut dyn Names,
        span: Span,
        entries: impl Iterator<Item = &'e Entry>,
        what: &str,
    ) -> Read<Map<String, Json>> {
        let none = Map::new();
        let properties = self.here.get("properties").and_then(Json::as_object).unwrap_or(&none);
        let (mut object, mut fine) = (Map::new(), Ok(()));
        for entry in entries {
            let Some(property) = properties.get(&*entry.key) else {
                let help = context.suggestion(&entry.key, self.keys(), "parameters");
                let message = format!("{what} has no parameter {}", quoted(&entry.key));
                fine = Err(context.error(entry.key_span, message, help));
                if context.full() {
                    break;
                }
                continue;
            };
            let name = format!("`{}` of {what}", entry.key);
            match self.at(property).value(context, names, &entry.value, &name) {
                Ok(json) => drop(object.insert(entry.key.to_string(), json)),
                Err(reported) => fine = Err(reported),
            }
        }
        fine?;
        self.fill_nearest(names, &mut object);
        self.fill_copy_engines(names, &mut object);
        let mut required = self.required();
        match required.find(|&key| !object.contains_key(key)) {
            Some(key) => {
                let message = format!("{what} needs the parameter `{key}`");
                Err(context.error(span, message, format!("add `{key}: …`")))
            }
            None => Ok(object),
        }
    }

    /// The keys that must be given.
    fn required(self) -> impl Iterator<Item = &'a str> {
        self.here.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }

    fn at(self, here: &'a Json) -> Self {
        Self { here, ..self }
    }

    fn value(self, context: &mut Context, names: &mut dyn Names, value: &Value, what: &str) -> Read<Json> {
        let schema = self.resolved();
        // Beside properties of its own, `anyOf` says more about them than is understood here.
        let own = schema.here.get("properties").is_some() && matches!(value.data, Data::Mapping(_));
        match schema.choices() {
            Some(choices) if !own => choice::read(&choices, context, names, value, what),
            _ => schema.plain(context, names, value, what),
        }
    }

    /// A value of a schema that leaves no choice, or of one of the choices.
    fn plain(self, context: &mut Context, names: &mut dyn Names, value: &Value, what: &str) -> Read<Json> {
        match &value.data {
            _ if self.is("x-weir-nodes") || self.is("x-weir-files") => self.several(context, names, value, what),
            Data::Mapping(entries) if self.is_by_node() => self.by_node(context, names, entries, what),
            Data::Mapping(entries) if self.here.get("properties").is_some() => {
                self.object(context, names, value.span, entries.iter(), what).map(Json::Object)
            }
            Data::Sequence(items) if self.allows("array") && self.table().is_none() => {
                self.list(context, names, value, items, what)
            }
            Data::Scalar(_) | Data::Mapping(_) if self.is("x-weir-node") => {
                names.node(context, value, what).map(|node| node.0.into())
            }
            Data::Scalar(_) if let Some(columns) = self.table() => names.table(context, value, &columns, what),
            Data::Scalar(scalar) => self.scalar(scalar).map_err(|problem| context.problem(value.span, what, problem)),
            _ => {
                let message = format!("{what} cannot be {}", value.describe());
                Err(context.error(value.span, message, format!("give {}", self.wanted())))
            }
        }
    }

    /// A map whose keys are names, which stay as they are.
    fn by_node(self, context: &mut Context, names: &mut dyn Names, entries: &[Entry], what: &str) -> Read<Json> {
        let any = Json::Bool(true);
        let each = self.inner(self.here.get("additionalProperties").unwrap_or(&any));
        let read = context.each(entries, |context, entry: &Entry| {
            let what = format!("{} in {what}", quoted(&entry.key));
            Ok((entry.key.to_string(), each.value(context, names, &entry.value, &what)?))
        });
        Ok(Json::Object(read?.into_iter().collect()))
    }

    fn list(
        self,
        context: &mut Context,
        names: &mut dyn Names,
        value: &Value,
        items: &[Value],
        what: &str,
    ) -> Read<Json> {
        self.check_length(context, value.span, items.len(), what)?;
        let any = Json::Bool(true);
        let first = self.here.get("prefixItems").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let rest = self.here.get("items").unwrap_or(&any);
        let items = items.iter().zip(first.iter().chain(std::iter::repeat(rest)));
        let read = context.each(items, |context, (item, here)| self.inner(here).value(context, names, item, what));
        read.map(Json::Array)
    }

    /// A schema that may live for less than the whole one: [`Json::Bool`] where nothing is said.
    fn inner<'b>(self, here: &'b Json) -> Schema<'b>
    where
        'a: 'b,
    {
        Schema { root: self.root, here }
    }

    /// The number of items allowed, as (least, most).
    fn lengths(self) -> (u64, u64) {
        let bound = |key: &str| self.here.get(key).and_then(Json::as_u64);
        (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX))
    }

    fn check_length(self, context: &mut Context, span: Span, items: usize, what: &str) -> Read<()> {
        let (least, most) = self.lengths();
        if (least..=most).contains(&(items as u64)) {
            return Ok(());
        }
        let help = match (least, most) {
            (least, u64::MAX) => format!("give at least {least}"),
            (least, most) if least == most => format!("give {least}"),
            (0, most) => format!("give at most {most}"),
            (least, most) => format!("give {least} to {most}"),
        };
        let plural = if items == 1 { "" } else { "s" };
        Err(context.error(span, format!("{what}: a list of {items} item{plural}"), help))
    }

    /// Follows references.
    fn resolved(mut self) -> Self {
        for _ in 0..REFERENCES {
            let target = self.here.get("$ref").and_then(Json::as_str).and_then(|r| r.strip_prefix('#'));
            match target.and_then(|path| self.root.pointer(path)) {
                Some(here) => self.here = here,
                None => break,
            }
        }
        self
    }

    /// Whether a keyword is `true`.
    fn is(self, keyword: &str) -> bool {
        self.here.get(keyword) == Some(&Json::Bool(true))
    }

    /// Whether the keys of the map are names of nodes.
    pub(crate) fn is_by_node(self) -> bool {
        self.is("x-weir-by-node")
    }

    /// Whether a type is allowed; a schema that says nothing of types allows all.
    fn allows(self, name: &str) -> bool {
        let has = |keyword: &str| self.here.get(keyword).is_some();
        match self.here.get("type") {
            Some(Json::String(one)) => one == name,
            Some(Json::Array(many)) => many.iter().any(|t| t == name),
            _ if self.is("x-weir-nodes") => matches!(name, "string" | "array"),
            _ if has("x-weir-quantity") || has("x-weir-node") || has("x-weir-table") => name == "string",
            _ if has("properties") => name == "object",
            _ if has("items") || has("prefixItems") => name == "array",
            _ => self.here != &Json::Bool(false),
        }
    }

    /// What is allowed, for a remedy.
    fn wanted(self) -> String {
        if let Some(choices) = self.choices() {
            return choice::wanted(&choices);
        }
        match (self.here.get("type"), self.here.get("x-weir-quantity").and_then(Json::as_str)) {
            _ if self.is_by_node() => "a map by names of nodes, as in `{ gpu0: 2 }`".to_owned(),
            _ if self.is("x-weir-node") => "the name of a device".to_owned(),
            _ if self.is("x-weir-nodes") => "a name with brackets, or a list of names".to_owned(),
            _ if self.here.get("x-weir-table").is_some() => "the path of a CSV file".to_owned(),
            _ if self.is("x-weir-files") => "the path of a file, with brackets for several, or a list".to_owned(),
            (_, Some(quantity)) => format!("a quantity with its unit ({quantity})"),
            _ if self.here.get("properties").is_some() => {
                format!("a map with {}", self.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
            }
            (Some(Json::String(one)), _) if one == "boolean" => "`true` or `false`".to_owned(),
            (Some(Json::String(one)), _) if one == "array" => "a list".to_owned(),
            (Some(Json::String(one)), _) => format!("a value of the type {one}"),
            (Some(Json::Array(many)), _) => {
                let names: Vec<_> = many.iter().filter_map(Json::as_str).collect();
                format!("a value of the type {}", names.join(" or "))
            }
            _ => self.listed_words().unwrap_or_else(|| "another value".to_owned()),
        }
    }
}
