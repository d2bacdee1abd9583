//! How a saved result of any kind is read: of one version of the format, and as the types that weir writes.

use serde::Deserialize;
use serde_json::Value;

use crate::ResultKind;

/// The version of the format that is read.
const FORMAT: u64 = 1;

/// Reads a result of this kind.
///
/// # Errors
/// What is wrong with it, where, and what to do.
pub(crate) fn read<'a, T: Deserialize<'a>>(kind: ResultKind, text: &'a str) -> Result<T, String> {
    check_format(kind, text)?;
    // Only what is wrong is read again, to say where.
    serde_json::from_str(text).map_err(|_| faulty(kind, &fault::<T>(text)))
}

/// What is said of a result that is not as weir writes it.
pub(crate) fn faulty(kind: ResultKind, fault: &str) -> String {
    format!("{fault}: this is not what `{}` writes", kind.command())
}

fn check_format(kind: ResultKind, text: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Versioned {
        #[serde(default)]
        weir: Value,
    }
    match serde_json::from_str(text) {
        Ok(Versioned { weir }) if weir.as_u64() != Some(FORMAT) => {
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
            let error = read::<Value>(ResultKind::Run, text).expect_err(text);
            let what = format!("weir: this version of weir reads results of format 1, not {found}");
            assert_eq!(error, format!("{what}: save it again with `weir run --json`"));
        }
        assert_eq!(read(ResultKind::Run, r#"{"weir":1}"#), Ok(serde_json::json!({ "weir": 1 })));
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
        let refused = "transfers[0].end_s: -0.5 is below 0: this is not what `weir run --json` writes";
        assert_eq!(read("-0.5"), Err(refused.to_owned()));
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
