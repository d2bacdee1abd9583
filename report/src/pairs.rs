//! JSON objects whose keys are data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Formatter;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Keys and values in the order in which they are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, to)
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Pairs<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
            type Value = Vec<(K, V)>;

            fn expecting(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        from.deserialize_map(Entries(PhantomData)).map(Self)
    }
}

/// Writes pairs as an object, for `serde(with)`.
pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(pairs: &[(K, V)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// Reads what [`serialize`] writes.
pub(crate) fn deserialize<'de, K: Deserialize<'de>, V: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(K, V)>, D::Error> {
    Pairs::deserialize(from).map(|pairs| pairs.0)
}

/// The same of what may be absent, for `serde(with)` beside `default` and `skip_serializing_if`.
pub(crate) mod optional {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        pairs: &Option<Vec<(K, V)>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        super::serialize(pairs.as_deref().unwrap_or_default(), to)
    }

    pub(crate) fn deserialize<'de, K: Deserialize<'de>, V: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<(K, V)>>, D::Error> {
        super::deserialize(from).map(Some)
    }
}

impl<K, V: JsonSchema> JsonSchema for Pairs<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Pairs".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, V>::json_schema(generator)
    }
}
