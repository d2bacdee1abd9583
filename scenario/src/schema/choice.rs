//! `anyOf` and `oneOf`: one of several schemas, chosen by the shape of the value and the keys of a map, so that what is
//! wrong inside is said about that one.

use serde_json::Value as Json;

use super::{Names, Schema};
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::yaml::{Data, Entry, Scalar, Value};

/// Schemas that one choice may lead to at most; *assumed*, it ends circular ones.
const MOST: usize = 64;
/// Levels of choices inside each other at most; *assumed*, for the same end.
const LEVELS: usize = 8;

impl<'a> Schema<'a> {
    /// The schemas of which one must fit, choices among them replaced by theirs; `None` where there is no choice.
    pub(super) fn choices(self) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        self.branches()?;
        self.collect(LEVELS, &mut all);
        Some(all)
    }

    fn branches(self) -> Option<&'a [Json]> {
        ["anyOf", "oneOf"].into_iter().find_map(|key| self.here.get(key).and_then(Json::as_array)).map(Vec::as_slice)
    }

    fn collect(self, levels: usize, all: &mut Vec<Self>) {
        let schema = self.resolved();
        match schema.branches() {
            Some(branches) if levels > 0 => {
                branches.iter().for_each(|branch| schema.at(branch).collect(levels - 1, all));
            }
            _ if all.len() < MOST => all.push(schema),
            _ => {}
        }
    }

    /// Whether the shape of a value fits, and of the first item of a list.
    fn fits(self, value: &Value) -> bool {
        match &value.data {
            Data::Mapping(_) => self.here.get("properties").is_some(),
            Data::Scalar(_) => self.allows_scalar(),
            Data::Sequence(_) if self.is("x-weir-nodes") => true,
            Data::Sequence(items) => self.allows("array") && self.fits_items(items),
        }
    }

    fn fits_items(self, items: &[Value]) -> bool {
        let (least, most) = self.lengths();
        let first = self.here.get("prefixItems").and_then(|list| list.get(0)).or_else(|| self.here.get("items"));
        let item_fits = |here: &'a Json, item: &Value| {
            let inner = self.at(here).resolved();
            match &item.data {
                Data::Sequence(_) => inner.branches().is_some() || inner.allows("array") || inner.is("x-weir-nodes"),
                _ => inner.branches().is_some() || inner.fits(item),
            }
        };
        (least..=most).contains(&(items.len() as u64))
            && first.is_none_or(|here| items.first().is_none_or(|item| item_fits(here, item)))
    }

    /// How well a map's keys fit: constant values met, required keys given, keys known.
    fn score(self, entries: &[Entry]) -> (usize, usize, usize) {
        let written = |key: &str| entries.iter().any(|e| &*e.key == key);
        let met = |e: &&Entry| match &e.value.data {
            Data::Scalar(scalar) => self.property(&e.key).is_some_and(|property| property.lists(scalar)),
            _ => false,
        };
        let constant = entries.iter().filter(met).count();
        let required = self.required().filter(|&key| written(key)).count();
        (constant, required, self.keys().filter(|&key| written(key)).count())
    }
}

/// Reads a value of one of the choices.
pub(super) fn read(
    choices: &[Schema<'_>],
    context: &mut Context,
    names: &mut dyn Names,
    value: &Value,
    what: &str,
) -> Read<Json> {
    let fitting: Vec<_> = choices.iter().copied().filter(|choice| choice.fits(value)).collect();
    match &value.data {
        Data::Mapping(entries) if !fitting.is_empty() => map(&fitting, context, names, value, entries, what),
        Data::Scalar(scalar) if !fitting.is_empty() => scalars(&fitting, context, names, value, scalar, what),
        // Lists of a wrong length still say so when only one choice is a list.
        Data::Sequence(_) => {
            let list = fitting.first().or_else(|| choices.iter().find(|choice| choice.allows("array")));
            match list {
                Some(list) => list.plain(context, names, value, what),
                None => Err(no_fit(choices, context, value, what)),
            }
        }
        _ => Err(no_fit(choices, context, value, what)),
    }
}

fn no_fit(choices: &[Schema<'_>], context: &mut Context, value: &Value, what: &str) -> crate::context::Reported {
    let message = format!("{what} cannot be {}", value.describe());
    context.error(value.span, message, format!("give {}", wanted(choices)))
}

fn map(
    choices: &[Schema<'_>],
    context: &mut Context,
    names: &mut dyn Names,
    value: &Value,
    entries: &[Entry],
    what: &str,
) -> Read<Json> {
    let mut best = (choices[0], choices[0].score(entries));
    for choice in &choices[1..] {
        let score = choice.score(entries);
        if score > best.1 {
            best = (*choice, score);
        }
    }
    if best.1 == (0, 0, 0) && choices.len() > 1 {
        return Err(no_key(choices, context, value, entries, what));
    }
    best.0.plain(context, names, value, what)
}

/// A map none of whose keys is known to any choice.
fn no_key(
    choices: &[Schema<'_>],
    context: &mut Context,
    value: &Value,
    entries: &[Entry],
    what: &str,
) -> crate::context::Reported {
    let mut keys: Vec<&str> = Vec::new();
    for key in choices.iter().flat_map(|choice| choice.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let Some(entry) = entries.first() else {
        return context.error(value.span, format!("{what} is an empty map"), format!("give {}", wanted(choices)));
    };
    let help = context.suggestion(&entry.key, keys, "parameters");
    context.error(entry.key_span, format!("{what} has no parameter {}", quoted(&entry.key)), help)
}

/// The first choice that takes the text; else what is wrong under the one that it looks most like.
fn scalars(
    choices: &[Schema<'_>],
    context: &mut Context,
    names: &mut dyn Names,
    value: &Value,
    scalar: &Scalar,
    what: &str,
) -> Read<Json> {
    let numeric = scalar.text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let mut wrong: Option<(bool, Problem)> = None;
    for choice in choices {
        let names_things =
            ["x-weir-node", "x-weir-nodes", "x-weir-files"].into_iter().any(|keyword| choice.is(keyword))
                || choice.table().is_some();
        if names_things {
            return choice.plain(context, names, value, what);
        }
        match choice.scalar(scalar) {
            Ok(json) => return Ok(json),
            Err(problem) => {
                // Of numbers the first choice is what is usual, of words the last.
                let alike = choice.is_numeric() == numeric;
                let before = wrong.as_ref().map(|&(before, _)| before);
                let better = if alike { before != Some(true) || !numeric } else { before != Some(true) };
                if better {
                    wrong = Some((alike, problem));
                }
            }
        }
    }
    let problem = wrong.map_or_else(|| choices[0].refused(scalar), |(_, problem)| problem);
    Err(context.problem(value.span, what, problem))
}

/// What the choices allow, for a remedy.
pub(super) fn wanted(choices: &[Schema<'_>]) -> String {
    let mut all: Vec<String> = Vec::new();
    for choice in choices {
        let wanted = choice.wanted();
        if !all.contains(&wanted) {
            all.push(wanted);
        }
    }
    all.join(", or ")
}
