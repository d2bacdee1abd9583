//! Quantities as they arrive in an operation's JSON, each with the keyword that tells the host how it is written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// Most bytes of one quantity, 2^53 (scenario format, "Quantities"): beyond, an f64 is not exact.
pub(crate) const MOST_BYTES: u64 = 1 << 53;

/// A schema that stands where it is used, not behind a reference.
macro_rules! schema_of {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}
/// Whole bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct Bytes(pub(crate) u64);
schema_of!(
    Bytes,
    "Bytes",
    json_schema!({ "type": "integer", "minimum": 0, "maximum": MOST_BYTES, "x-weir-quantity": "bytes" })
);

/// A time in ps: whole where it is written in the scenario, real where it comes from a file.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Time(pub(crate) f64);
schema_of!(Time, "Time", json_schema!({ "type": "number", "minimum": 0, "x-weir-quantity": "time" }));

/// A time per byte, ps: a real number.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct PerByte(pub(crate) f64);
schema_of!(PerByte, "PerByte", json_schema!({ "type": "number", "minimum": 0, "x-weir-quantity": "time-per-byte" }));

/// Bytes per second, above 0.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Bandwidth(pub(crate) f64);
schema_of!(
    Bandwidth,
    "Bandwidth",
    json_schema!({ "type": "number", "exclusiveMinimum": 0, "x-weir-quantity": "bandwidth" })
);

/// A number without unit, above 0.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Positive(pub(crate) f64);
schema_of!(Positive, "Positive", json_schema!({ "type": "number", "exclusiveMinimum": 0 }));

/// A device or cpu by its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Node(pub(crate) u32);
schema_of!(Node, "Node", json_schema!({ "type": "integer", "minimum": 0, "x-weir-node": true }));

/// Several of them, in the order given.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Nodes(pub(crate) Vec<u32>);
schema_of!(
    Nodes,
    "Nodes",
    json_schema!({ "type": "array", "items": { "type": "integer", "minimum": 0 }, "x-weir-nodes": true })
);

/// A size and the time it takes.
pub(crate) type Sample = (Bytes, Time);

/// Rows of a file with the columns `bytes` and `seconds`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Curve(pub(crate) Vec<Sample>);

impl JsonSchema for Curve {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Curve".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let row = generator.subschema_for::<Sample>();
        json_schema!({ "type": "array", "items": row, "x-weir-table": ["bytes", "seconds"] })
    }
}

/// What is in some files.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Files(pub(crate) Vec<FileContent>);
schema_of!(Files, "Files", json_schema!({ "type": "array", "items": { "type": "object" }, "x-weir-files": true }));

/// A file: its text, or its bytes where it is none.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(crate) struct FileContent {
    /// As the scenario names it.
    pub(crate) name: String,
    text: Option<String>,
    /// One character from U+0000 to U+00FF for each byte.
    bytes: Option<String>,
}

impl FileContent {
    /// A file that was read.
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        let bytes = text.is_none().then(|| bytes.iter().map(|&byte| char::from(byte)).collect());
        Self { name: name.to_owned(), text, bytes }
    }

    /// Its text; none of a binary file.
    pub(crate) fn text(&self) -> Option<&str> {
        let text = self.text.as_deref()?;
        // A byte order mark.
        Some(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// What is said of a file that is no text.
    pub(crate) fn no_text(&self) -> String {
        let bytes = self.bytes();
        let end = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let line = 1 + bytes[..end].iter().filter(|&&byte| byte == b'\n').count();
        format!(
            "`{}` is no text: line {line} has a byte that is no UTF-8; name a file of the format that is given",
            self.name
        )
    }

    /// Its bytes, as they are on disk.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        match (&self.text, &self.bytes) {
            (Some(text), _) => text.as_bytes().into(),
            (None, Some(bytes)) => bytes.chars().map(|byte| byte as u8).collect(),
            (None, None) => Cow::default(),
        }
    }
}

impl Files {
    /// The text of the only file.
    pub(crate) fn one_text(&self) -> Result<&str, String> {
        let [file] = &self.0[..] else {
            return Err(format!("{} files, and one has all ranks; name one", self.0.len()));
        };
        file.text().ok_or_else(|| file.no_text())
    }
}

impl TryFrom<u64> for Bytes {
    type Error = String;

    fn try_from(bytes: u64) -> Result<Self, String> {
        if bytes <= MOST_BYTES { Ok(Self(bytes)) } else { Err(format!("{bytes} bytes are more than 2^53")) }
    }
}

/// Numbers that their newtype checks.
macro_rules! checked {
    ($($type:ident by $check:ident),+) => {
        $(impl TryFrom<f64> for $type {
            type Error = String;

            fn try_from(value: f64) -> Result<Self, String> {
                $check(value).map(Self)
            }
        })+
    };
}
checked!(Time by not_negative, PerByte by not_negative, Bandwidth by positive, Positive by positive);

fn not_negative(value: f64) -> Result<f64, String> {
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(format!("{value} is not a number of at least 0")) }
}

fn positive(value: f64) -> Result<f64, String> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(format!("{value} is not a number above 0")) }
}

/// Units of sizes, largest first, binary before decimal.
const UNITS: [(u64, &str); 10] = [
    (1 << 50, "PiB"),
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
    (1_000_000_000_000_000, "PB"),
    (1_000_000_000_000, "TB"),
    (1_000_000_000, "GB"),
    (1_000_000, "MB"),
    (1_000, "kB"),
];

/// A size as a person writes it, exactly: `512KiB`, `3MB`, `17B`.
pub(crate) fn size(bytes: u64) -> String {
    let unit = UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes}B"), |(unit, word)| format!("{}{word}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_written_exactly() {
        let written: Vec<_> = [0, 17, 512 << 10, 2 << 20, 3_000_000, 1 << 53, 1_025].into_iter().map(size).collect();
        assert_eq!(written, ["0B", "17B", "512KiB", "2MiB", "3MB", "8PiB", "1025B"]);
    }
}
