//! Single values: quantities, numbers, words.

use serde_json::{Number, Value as Json};

use super::Schema;
use crate::context::Problem;
use crate::diagnostic::quoted;
use crate::nearest::suggestion;
use crate::units::{self, Decimal};
use crate::yaml::Scalar;

impl Schema<'_> {
    /// A scalar as JSON, without names of devices and tables.
    pub(super) fn scalar(self, scalar: &Scalar) -> Result<Json, Problem> {
        let json = self.read(scalar)?;
        self.check_listed(scalar, &json)?;
        self.check_range(scalar, &json)?;
        Ok(json)
    }

    /// The scalar as JSON of an allowed type.
    fn read(self, scalar: &Scalar) -> Result<Json, Problem> {
        let text = &*scalar.text;
        match self.here.get("x-weir-quantity").and_then(Json::as_str) {
            Some("bytes") => return self.bytes(text),
            Some("time") => return Ok(units::duration(text)?.0.into()),
            Some("time-per-byte") => return number(units::time_per_byte(text)?),
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

    /// A size; 0 only where the schema says `minimum: 0`.
    fn bytes(self, text: &str) -> Result<Json, Problem> {
        let zero = self.here.get("minimum").and_then(Json::as_f64) == Some(0.0);
        if zero && units::size_decimal(text)?.is_zero() {
            return Ok(0.into());
        }
        Ok(units::byte_size(text)?.into())
    }

    /// Whether a number must be whole, and the unit that is written after it.
    pub(crate) fn number_form(self) -> (bool, &'static str) {
        match self.here.get("x-weir-quantity").and_then(Json::as_str) {
            Some("bytes") => (true, "B"),
            Some("time") => (true, "ps"),
            Some("time-per-byte") => (false, "ps"),
            Some("bandwidth") => (false, "B/s"),
            _ => (self.allows("integer") && !self.allows("number"), ""),
        }
    }

    /// A scalar that no type allows.
    pub(super) fn refused(self, scalar: &Scalar) -> Problem {
        Problem::new(format!("{} does not fit", quoted(&scalar.text)), format!("give {}", self.wanted()))
    }

    /// Whether some scalar may fit.
    pub(super) fn allows_scalar(self) -> bool {
        let named = ["x-weir-quantity", "x-weir-node", "x-weir-nodes", "x-weir-table"];
        named.iter().any(|keyword| self.here.get(keyword).is_some())
            || ["string", "number", "integer", "boolean", "null"].iter().any(|name| self.allows(name))
    }

    /// Whether it is about numbers or quantities, whose problems say most about a text that begins like one.
    pub(super) fn is_numeric(self) -> bool {
        let typed = self.here.get("type").is_some() && (self.allows("number") || self.allows("integer"));
        typed || self.here.get("x-weir-quantity").is_some()
    }

    fn listed(&self) -> Option<&[Json]> {
        let one = self.here.get("const").map(std::slice::from_ref);
        one.or_else(|| self.here.get("enum").and_then(Json::as_array).map(Vec::as_slice))
    }

    /// The values of `const` or `enum`, for a remedy.
    pub(super) fn listed_words(self) -> Option<String> {
        let words = self.listed()?.iter().map(|value| format!("`{}`", word(value)));
        Some(words.collect::<Vec<_>>().join(" or "))
    }

    /// Whether the text is one of `const` or `enum`.
    pub(super) fn lists(self, scalar: &Scalar) -> bool {
        self.listed().is_some_and(|listed| listed.iter().any(|value| word(value) == *scalar.text))
    }

    fn check_listed(self, scalar: &Scalar, json: &Json) -> Result<(), Problem> {
        let Some(listed) = self.listed() else { return Ok(()) };
        if listed.contains(json) {
            return Ok(());
        }
        let words: Vec<String> = listed.iter().map(word).collect();
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

fn word(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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
