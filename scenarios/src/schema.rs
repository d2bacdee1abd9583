//! Parameters of a plugin: values of the tree turned into JSON under the plugin's own JSON Schema.
//!
//! Understood: `type`, `enum`, `const`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `items`,
//! `properties`, `required`, `$ref` to `$defs`, `anyOf`, `oneOf`, and `x-weir-quantity: bytes | bandwidth | time`, which
//! is written as text with a unit and arrives in B, B/s or ps. Properties that the schema lacks are unknown keys.

use serde_json::{Map, Number, Value as Json};

use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::nearest::suggestion;
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::{Data, Entry, Scalar, Value};

/// References followed one after the other at most; *assumed*, it ends circular ones.
const REFERENCES: usize = 16;

/// A schema within the whole one, which its references lead into.
#[derive(Clone, Copy)]
pub(crate) struct Schema<'a> {
    root: &'a Json,
    here: &'a Json,
}

impl<'a> Schema<'a> {
    /// A whole schema.
    pub(crate) fn new(root: &'a Json) -> Self {
        Self { root, here: root }
    }

    /// The parts of a map as a JSON object.
    pub(crate) fn object<'e>(
        self,
        context: &mut Context,
        span: Span,
        entries: impl Iterator<Item = &'e Entry>,
        what: &str,
    ) -> Read<Map<String, Json>> {
        let none = Map::new();
        let properties = self.here.get("properties").and_then(Json::as_object).unwrap_or(&none);
        let (mut object, mut fine) = (Map::new(), Ok(()));
        for entry in entries {
            let Some(property) = properties.get(&*entry.key) else {
                let help = context.suggestion(&entry.key, properties.keys().map(String::as_str), "parameters");
                let message = format!("{what} has no parameter {}", quoted(&entry.key));
                fine = Err(context.error(entry.key_span, message, help));
                if context.full() {
                    break;
                }
                continue;
            };
            let name = format!("`{}` of {what}", entry.key);
            match self.at(property).value(context, &entry.value, &name) {
                Ok(json) => drop(object.insert(entry.key.to_string(), json)),
                Err(reported) => fine = Err(reported),
            }
        }
        fine?;
        let mut required = self.here.get("required").and_then(Json::as_array).into_iter().flatten();
        match required.find_map(|key| key.as_str().filter(|&key| !object.contains_key(key))) {
            Some(key) => {
                let message = format!("{what} needs the parameter `{key}`");
                Err(context.error(span, message, format!("add `{key}: …`")))
            }
            None => Ok(object),
        }
    }

    fn at(self, here: &'a Json) -> Self {
        Self { here, ..self }
    }

    fn value(self, context: &mut Context, value: &Value, what: &str) -> Read<Json> {
        let schema = self.resolved();
        match &value.data {
            Data::Mapping(entries) if schema.here.get("properties").is_some() => {
                schema.object(context, value.span, entries.iter(), what).map(Json::Object)
            }
            Data::Sequence(items) if schema.allows("array") => {
                let any = Json::Bool(true);
                let inner = schema.here.get("items").unwrap_or(&any);
                let read = context.each(items, |context, item| schema.at(inner).value(context, item, what));
                read.map(Json::Array)
            }
            Data::Scalar(scalar) => schema.scalar(scalar).map_err(|problem| context.problem(value.span, what, problem)),
            _ => {
                let message = format!("{what} cannot be {}", value.describe());
                Err(context.error(value.span, message, format!("give {}", schema.wanted())))
            }
        }
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

    fn scalar(self, scalar: &Scalar) -> Result<Json, Problem> {
        let choices = ["anyOf", "oneOf"].into_iter().find_map(|key| self.here.get(key).and_then(Json::as_array));
        if let Some(choices) = choices {
            let mut last = None;
            for choice in choices {
                match self.at(choice).resolved().scalar(scalar) {
                    Ok(json) => return Ok(json),
                    Err(problem) => last = Some(problem),
                }
            }
            return Err(last.unwrap_or_else(|| self.refused(scalar)));
        }
        let json = self.read(scalar)?;
        self.check_listed(scalar, &json)?;
        self.check_range(scalar, &json)?;
        Ok(json)
    }

    /// The scalar as JSON of an allowed type.
    fn read(self, scalar: &Scalar) -> Result<Json, Problem> {
        let text = &*scalar.text;
        match self.here.get("x-weir-quantity").and_then(Json::as_str) {
            Some("bytes") => return Ok(units::byte_size(text)?.into()),
            Some("time") => return Ok(units::duration(text)?.0.into()),
            Some("bandwidth") => return number(units::bandwidth(text)?.bytes_per_second(&Decimal::whole(1), text)?),
            _ => {}
        }
        if scalar.is_null() && self.allows("null") {
            return Ok(Json::Null);
        }
        if scalar.plain && self.allows("boolean") && matches!(text, "true" | "false") {
            return Ok(Json::Bool(text == "true"));
        }
        if scalar.plain && (self.allows("number") || self.allows("integer")) {
            match plain_number(text, self.allows("number")) {
                Ok(json) => return Ok(json),
                Err(problem) if !self.allows("string") => return Err(problem),
                Err(_) => {}
            }
        }
        if self.allows("string") && !scalar.is_null() { Ok(text.into()) } else { Err(self.refused(scalar)) }
    }

    fn refused(self, scalar: &Scalar) -> Problem {
        Problem::new(format!("{} does not fit", quoted(&scalar.text)), format!("give {}", self.wanted()))
    }

    /// Whether a type is allowed; a schema without types allows all.
    fn allows(self, name: &str) -> bool {
        match self.here.get("type") {
            Some(Json::String(one)) => one == name,
            Some(Json::Array(many)) => many.iter().any(|t| t == name),
            _ => true,
        }
    }

    fn wanted(self) -> String {
        match (self.here.get("type"), self.here.get("x-weir-quantity").and_then(Json::as_str)) {
            (_, Some(quantity)) => format!("a quantity with its unit ({quantity})"),
            (Some(Json::String(one)), _) if one == "boolean" => "`true` or `false`".to_owned(),
            (Some(Json::String(one)), _) => format!("a value of the type {one}"),
            (Some(Json::Array(many)), _) => {
                let names: Vec<_> = many.iter().filter_map(Json::as_str).collect();
                format!("a value of the type {}", names.join(" or "))
            }
            _ => "another value".to_owned(),
        }
    }

    fn check_listed(self, scalar: &Scalar, json: &Json) -> Result<(), Problem> {
        let one = self.here.get("const").map(std::slice::from_ref);
        let Some(listed) = one.or_else(|| self.here.get("enum").and_then(Json::as_array).map(Vec::as_slice)) else {
            return Ok(());
        };
        if listed.contains(json) {
            return Ok(());
        }
        let words: Vec<String> =
            listed.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
        let help = suggestion(&scalar.text, words.iter().map(String::as_str), "values");
        Err(Problem::new(format!("{} is not one of the values allowed", quoted(&scalar.text)), help))
    }

    fn check_range(self, scalar: &Scalar, json: &Json) -> Result<(), Problem> {
        let Some(value) = json.as_f64() else { return Ok(()) };
        let bound = |key: &str| self.here.get(key).and_then(Json::as_f64);
        let bounds = [
            ("minimum", "at least", bound("minimum").is_none_or(|b| value >= b)),
            ("exclusiveMinimum", "above", bound("exclusiveMinimum").is_none_or(|b| value > b)),
            ("maximum", "at most", bound("maximum").is_none_or(|b| value <= b)),
            ("exclusiveMaximum", "below", bound("exclusiveMaximum").is_none_or(|b| value < b)),
        ];
        if bounds.iter().all(|&(_, _, holds)| holds) {
            return Ok(());
        }
        let said = bounds.iter().filter_map(|&(key, word, _)| Some(format!("{word} {}", bound(key)?)));
        let help = format!("give a value {}", said.collect::<Vec<_>>().join(" and "));
        Err(Problem::new(format!("{} is out of range", quoted(&scalar.text)), help))
    }
}

fn number(value: f64) -> Result<Json, Problem> {
    let json = Number::from_f64(value).map(Json::Number);
    json.ok_or_else(|| Problem::new(format!("{value} is not a finite number"), "give a finite number"))
}

/// A number written without unit, with an optional sign; whole ones stay whole.
fn plain_number(text: &str, real: bool) -> Result<Json, Problem> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let exact = units::decimal(digits)?;
    if let Ok(whole) = exact.to_whole(i64::MAX as u64) {
        let whole = whole as i64;
        return Ok(if negative { -whole } else { whole }.into());
    }
    if !real {
        return Err(Problem::new(format!("{} is not a whole number", quoted(text)), "give a whole number"));
    }
    let value = exact.to_f64();
    number(if negative { -value } else { value })
}
