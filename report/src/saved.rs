//! The one reader of saved results: of one version of the format, as the types that weir writes, and without contradictions.
//!
//! ```text
//! text ─► values, no key twice ─► kind ─► read: format, types, times ─► read_whole: contradictions
//! ```

mod amounts;
mod changes;
mod delays;
mod explained;
mod fits;
mod flows;
mod keys;
mod places;
mod rates;
mod rows;
mod run;
mod search;
mod spread;
mod sweep;
mod what_if;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ResultKind;
use crate::text::clean;
use keys::DistinctKeys;

/// The version of the format that is read.
const FORMAT: u64 = 1;

/// Keys of what weir writes that is no result by itself.
const PARTS: [(&str, &str); 2] = [
    ("weir_part", "this is a part of a search: join all parts with `weir merge` first"),
    (
        "alone_s",
        "this is a transfer that `weir run --stream` wrote: give the scenario itself, or the result of a run without \
         --stream",
    ),
];

/// A value of a saved file that is no result of weir, or none that is wanted.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct SavedError {
    /// The file.
    pub file: String,
    /// The line in which the value begins, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Takes the values of a saved file one after the other.
///
/// # Errors
/// The first that is no JSON, has a key twice, or is not taken.
pub(crate) fn each<'a, E: Display>(
    file: &str,
    text: &'a str,
    mut take: impl FnMut(&'a RawValue) -> Result<(), E>,
) -> Result<(), SavedError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    loop {
        let rest = &text[values.byte_offset()..];
        let begin = values.byte_offset() + (rest.len() - rest.trim_start().len());
        let Some(value) = values.next() else { return Ok(()) };
        let taken = value.map_err(|error| cut(&error)).and_then(|value| {
            check_keys(value.get())?;
            take(value).map_err(|error| error.to_string())
        });
        let line = || 1 + text[..begin].matches('\n').count();
        taken.map_err(|what| SavedError { file: file.to_owned(), line: line(), what })?;
    }
}

/// What is wrong with a file that is no JSON.
fn cut(error: &serde_json::Error) -> String {
    let what = match error.is_eof() {
        true => "its JSON is incomplete: was the file cut off? save".to_owned(),
        false => format!("it is not JSON: {error}; save"),
    };
    format!("{what} it again with `weir run --full --json --output FILE` or another command's --json")
}

fn check_keys(text: &str) -> Result<(), String> {
    let read = serde_json::from_str::<DistinctKeys>(text);
    read.map(drop).map_err(|_| format!("{}: save it again", fault::<DistinctKeys>(text)))
}

/// What a value is, or why it is no result.
pub(crate) fn kind(text: &str) -> Result<ResultKind, String> {
    let keys: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Some((_, what)) = PARTS.iter().find(|(key, _)| keys.contains_key(*key)) {
        return Err((*what).to_owned());
    }
    if !keys.contains_key("weir") {
        let given = "give a scenario, or what `weir run`, `optimize`, `tune` and `validate` print with --json";
        return Err(format!("this is not a result of weir: {given}"));
    }
    let kind = keys.get("kind").and_then(|kind| serde_json::from_str(kind.get()).ok());
    kind.ok_or_else(|| {
        "this is not a result of weir as this version writes it: it has no known `kind`; save it again".to_owned()
    })
}

/// Reads a result of this kind.
///
/// # Errors
/// What is wrong with it, where, and what to do.
fn read<'a, T: Deserialize<'a>>(kind: ResultKind, text: &'a str) -> Result<T, String> {
    check_format(kind, text)?;
    // Only what is wrong is read again, to say where.
    serde_json::from_str(text).map_err(|_| faulty(kind, &fault::<T>(text)))
}

/// A result that says some things in several places.
pub(crate) trait Consistent {
    /// What contradicts itself, with its place; only what weir cannot write.
    fn contradiction(&self) -> Option<String>;
}

/// Reads a result of this kind, and compares what it says of one thing in several places.
///
/// # Errors
/// As of [`read`], and what contradicts itself.
pub(crate) fn read_whole<'a, T: Deserialize<'a> + Consistent>(kind: ResultKind, text: &'a str) -> Result<T, String> {
    let result: T = read(kind, text)?;
    result.contradiction().map_or(Ok(result), |fault| Err(faulty(kind, &fault)))
}

/// What is said of a result that is not as weir writes it.
fn faulty(kind: ResultKind, fault: &str) -> String {
    format!("{fault}: this is not what `{}` writes; save it again", kind.command())
}

fn check_format(kind: ResultKind, text: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Versioned<'a> {
        #[serde(borrow, default)]
        weir: Option<&'a RawValue>,
    }
    let format = |weir: Option<&RawValue>| weir.map_or("null", RawValue::get).to_owned();
    match serde_json::from_str(text).map(|Versioned { weir }| format(weir)) {
        Ok(weir) if weir.parse() != Ok(FORMAT) => {
            let weir = clean(&weir.chars().take(40).collect::<String>());
            let what = format!("weir: this version of weir reads results of format {FORMAT}, not {weir}");
            Err(format!("{what}: save it again with `{}`", kind.command()))
        }
        _ => Ok(()),
    }
}

/// The fault of a result: `transfers[1]: missing field `to``.
fn fault<'a, T: Deserialize<'a>>(text: &'a str) -> String {
    let mut reader = serde_json::Deserializer::from_str(text);
    let Err(error) = serde_path_to_error::deserialize::<_, T>(&mut reader) else { return String::new() };
    let (path, error) = (error.path().to_string(), error.into_inner());
    let what = error.to_string();
    let column = format!(" at line {} column {}", error.line(), error.column());
    let what = what.strip_suffix(&column).unwrap_or(&what);
    if path == "." { what.to_owned() } else { format!("{path}: {what}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{NodeRow, TransferRow};

    #[test]
    fn another_format_is_refused() {
        for (text, found) in [(r#"{"weir":2}"#, "2"), (r#"{"weir":"1"}"#, "\"1\""), ("{}", "null")] {
            let error = read::<serde_json::Value>(ResultKind::Run, text).expect_err(text);
            let what = format!("weir: this version of weir reads results of format 1, not {found}");
            assert_eq!(error, format!("{what}: save it again with `weir run --json`"));
        }
        assert_eq!(read(ResultKind::Run, r#"{"weir":1}"#), Ok(serde_json::json!({ "weir": 1 })));
    }

    #[test]
    fn what_to_do_about_a_damaged_file_is_said_apart_from_what_is_wrong() {
        let said = |text: &str| cut(&serde_json::from_str::<serde_json::Value>(text).expect_err(text));
        let advice = "it again with `weir run --full --json --output FILE` or another command's --json";
        let wrong = "it is not JSON: key must be a string at line 1 column 2; save";
        assert_eq!(said("{1}"), format!("{wrong} {advice}"));
        assert_eq!(said("{"), format!("its JSON is incomplete: was the file cut off? save {advice}"));
    }

    #[test]
    fn a_time_before_0_is_refused() {
        #[derive(Deserialize)]
        struct Rows<'a> {
            #[serde(borrow)]
            transfers: Vec<TransferRow<'a>>,
        }
        let read = |end: &str| {
            let row = format!(
                r#"{{"id":"t","from":"a","to":"b","bytes":1,"ready_s":0,"start_s":-0.0,"end_s":{end},"end_ps":null,
                    "mean_Bps":null,"alone_s":null,"bottleneck":null,"cause":null}}"#
            );
            let text = format!(r#"{{"weir":1,"transfers":[{row}]}}"#);
            super::read::<Rows<'_>>(ResultKind::Run, &text).map(|rows| rows.transfers[0].end_s)
        };
        assert_eq!((read("null"), read("1e-12")), (Ok(None), Ok(Some(1e-12))));
        let refused = "transfers[0].end_s: -0.5 is below 0: this is not what `weir run --json` writes; save it again";
        assert_eq!(read("-0.5"), Err(refused.to_owned()));
    }

    #[test]
    fn no_key_occurs_twice() {
        let many: Vec<String> = (0..60).map(|i| format!("\"k{i}\":{i}")).collect();
        let many = many.join(",");
        for (text, found) in [
            (r#"{"a":1,"a":1}"#.to_owned(), Some("the key `a` occurs twice")),
            (r#"{"a":[{"b":{"c":1,"c":2}}]}"#.to_owned(), Some("a[0].b: the key `c` occurs twice")),
            // The same key, spelled in two ways.
            (r#"{"a":1,"\u0061":1}"#.to_owned(), Some("the key `a` occurs twice")),
            (format!("{{{many}}}"), None),
            (format!("{{{many},\"k5\":0}}"), Some("the key `k5` occurs twice")),
            (format!("{{{many},\"k55\":0}}"), Some("the key `k55` occurs twice")),
            (r#"{"x":{"a":1},"y":{"a":true,"b":null,"c":-1.5,"d":"t"}}"#.to_owned(), None),
            (r#"{"x":1e999}"#.to_owned(), Some("x: number out of range")),
        ] {
            assert_eq!(check_keys(&text).err(), found.map(|found| format!("{found}: save it again")), "{text}");
        }
    }

    #[test]
    fn what_types_refuse_is_found_where_it_stands() {
        for (row, found) in [
            (r#"{"id":0,"name":"a","parent":null}"#, "[0]: missing field `kind`"),
            (r#"{"id":0,"name":null}"#, "[0].name: invalid type: null, expected a string"),
        ] {
            assert_eq!(fault::<Vec<NodeRow<'_>>>(&format!("[{row}]")), found);
        }
    }
}
