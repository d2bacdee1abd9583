//! What is checked of a saved result of any kind: the version of its format, and that no time lies before 0.

use std::fmt::{self, Write as _};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::ResultKind;

/// The version of the format that is read.
const FORMAT: u64 = 1;
/// Keys of what others name, where an end such as `_s` means nothing, and of differences of times.
const UNCHECKED: [&str; 6] = ["params", "parameters", "details", "solution", "cut_s", "own_limit_s"];

/// What is wrong with a result, and what to do; nothing of a text that is no JSON, which its reader refuses.
pub(crate) fn fault(kind: ResultKind, text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Versioned {
        #[serde(default)]
        weir: Value,
    }
    let Versioned { weir } = serde_json::from_str(text).ok()?;
    if weir.as_u64() != Some(FORMAT) {
        let what = format!("weir: this version of weir reads results of format {FORMAT}, not {weir}");
        return Some(format!("{what}: save it again with `{}`", kind.command()));
    }
    if kind == ResultKind::Comparison {
        // Its results are checked one by one.
        return None;
    }
    let (mut path, mut found) = (String::new(), None);
    let walk = Walk { path: &mut path, is_time: false, found: &mut found };
    walk.deserialize(&mut serde_json::Deserializer::from_str(text)).ok()?;
    found.map(|found| format!("{found} is below 0: this is not what `{}` writes; run it again", kind.command()))
}

/// Goes through a value for the first time below 0.
struct Walk<'a> {
    path: &'a mut String,
    /// Whether a key above says that the numbers are times.
    is_time: bool,
    found: &'a mut Option<String>,
}

impl Walk<'_> {
    /// The same, further down.
    fn below(&mut self, is_time: bool) -> Walk<'_> {
        Walk { path: self.path, is_time, found: self.found }
    }

    fn number(self, value: f64) {
        if self.is_time && value < 0.0 {
            self.found.get_or_insert_with(|| format!("{}: {value}", self.path));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.number(value);
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let length = self.path.len();
        for at in 0.. {
            let _ = write!(self.path, "[{at}]");
            let item = items.next_element_seed(self.below(self.is_time))?;
            self.path.truncate(length);
            if item.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let length = self.path.len();
        while let Some(key) = entries.next_key::<String>()? {
            if UNCHECKED.contains(&key.as_str()) {
                entries.next_value::<serde::de::IgnoredAny>()?;
                continue;
            }
            let is_time = self.is_time || key.ends_with("_s") || key.ends_with("_ps");
            self.path.push_str(if length > 0 { "." } else { "" });
            self.path.push_str(&key);
            entries.next_value_seed(self.below(is_time))?;
            self.path.truncate(length);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_0_and_another_format_are_found_where_they_stand() {
        let fault = |text: &str| fault(ResultKind::Run, text);
        for right in [
            r#"{"weir":1,"transfers":[{"ready_s":0,"end_s":-0.0,"end_ps":7,"error":-1.5}]}"#,
            r#"{"weir":1,"arbiter":{"params":{"lag_s":-1}},"makespan_s":1e-9,"rates":[-1],"delay":{"cut_s":-1e-12},"stopped_s":null}"#,
        ] {
            assert_eq!(fault(right), None);
        }
        let cases = [
            (
                r#"{"weir":1,"transfers":[{"end_s":1},{"end_s":-0.5}]}"#,
                "transfers[1].end_s: -0.5 is below 0: this is not what `weir run --json` writes; run it again",
            ),
            (
                r#"{"weir":1,"makespan_ps":-7}"#,
                "makespan_ps: -7 is below 0: this is not what `weir run --json` writes; run it again",
            ),
            (
                r#"{"weir":1,"curve_s":[3,-1]}"#,
                "curve_s[1]: -1 is below 0: this is not what `weir run --json` writes; run it again",
            ),
            (
                r#"{"weir":1,"percentiles_s":{"50":-2}}"#,
                "percentiles_s.50: -2 is below 0: this is not what `weir run --json` writes; run it again",
            ),
            (
                r#"{"weir":2}"#,
                "weir: this version of weir reads results of format 1, not 2: save it again with `weir run --json`",
            ),
            (
                r#"{"weir":"1"}"#,
                "weir: this version of weir reads results of format 1, not \"1\": save it again with `weir run --json`",
            ),
            (
                "{}",
                "weir: this version of weir reads results of format 1, not null: save it again with `weir run --json`",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(fault(text).as_deref(), Some(expected), "{text}");
        }
    }
}
