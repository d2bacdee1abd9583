//! Types that say in the JSON Schemas of results more than their parts do, and are read as strictly.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Makes schemas of what types write.
pub(crate) fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The schema of what a type writes.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    generator().into_root_schema_for::<T>().to_value()
}

/// A number of at least 0.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Amount(pub(crate) f64);

impl TryFrom<f64> for Amount {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        if number >= 0.0 { Ok(Self(number)) } else { Err(format!("{number} is below 0")) }
    }
}

/// Reads a time of a saved result, or none; refuses one before 0.
pub(crate) fn time<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Copy + Into<Option<f64>>,
    D: Deserializer<'de>,
{
    let time = T::deserialize(from)?;
    time.into().map_or(Ok(()), |time| Amount::try_from(time).map(drop)).map_err(D::Error::custom)?;
    Ok(time)
}

/// Bytes of an object of any content at most (*assumed*: parameters and details take some kilobytes; in memory an object takes
/// up to 36 times its text).
const MOST_BYTES_OF_ANY: usize = 1 << 20;

/// Reads an object of any content of a saved result; refuses a large one before memory is taken for it.
pub(crate) fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
    let text = Box::<RawValue>::deserialize(from)?;
    if text.get().len() > MOST_BYTES_OF_ANY {
        return Err(D::Error::custom(format!("an object of more than {} MiB", MOST_BYTES_OF_ANY >> 20)));
    }
    serde_json::from_str(text.get()).map_err(D::Error::custom)
}

/// [`object`] of a result that may borrow one.
pub(crate) fn cow_object<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, Map<String, Value>>, D::Error> {
    object(from).map(Cow::Owned)
}

/// Gives a type a schema that stands where it is used.
macro_rules! inline_schema {
    ($name:ident, $schema:expr) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

/// Makes a type that is nothing but a schema.
macro_rules! stands_for {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        pub(crate) struct $name;

        inline_schema!($name, $schema);
    };
}

inline_schema!(Amount, json_schema!({ "type": "number", "minimum": 0 }));
stands_for!(
    /// A whole number of at least 0.
    Whole,
    json_schema!({ "type": "integer", "minimum": 0 })
);
stands_for!(
    /// A whole number of at least 1.
    Count,
    json_schema!({ "type": "integer", "minimum": 1 })
);
stands_for!(
    /// A digest, hexadecimal.
    Sha256,
    json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
);
stands_for!(
    /// The version of the format.
    Version,
    json_schema!({ "const": 1 })
);

/// Path and value.
pub(crate) type Parameters = std::collections::BTreeMap<String, String>;

/// The words of an enumeration.
pub(crate) fn words<T: Serialize>(all: impl IntoIterator<Item = T>) -> Schema {
    let words: Vec<Value> = all.into_iter().filter_map(|word| serde_json::to_value(word).ok()).collect();
    json_schema!({ "enum": words })
}
