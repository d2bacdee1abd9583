//! A JSON object whose values are kept as they were written, in their order.

use std::borrow::Cow;
use std::fmt::{Formatter, Result as FmtResult};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Keys and values. Numbers keep every digit, and large lists are not taken apart before somebody needs them.
#[derive(Clone, Debug)]
pub(crate) struct Object<'a>(Vec<(String, Cow<'a, RawValue>)>);

impl<'a> Object<'a> {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| &**value)
    }

    /// Takes a value out; `null` counts as absent.
    pub(crate) fn take(&mut self, key: &str) -> Option<Cow<'a, RawValue>> {
        let at = self.0.iter().position(|(own, _)| own == key)?;
        Some(self.0.remove(at).1).filter(|value| value.get() != "null")
    }

    /// Sets a value, in the place of an old one.
    pub(crate) fn set(&mut self, key: &str, value: &impl Serialize) -> serde_json::Result<()> {
        let value = Cow::Owned(serde_json::value::to_raw_value(value)?);
        match self.0.iter_mut().find(|(own, _)| own == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, Cow<'de, RawValue>)>;

            fn expecting(&self, to: &mut Formatter<'_>) -> FmtResult {
                to.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    pairs.push((key, Cow::Borrowed(value)));
                }
                Ok(pairs)
            }
        }
        from.deserialize_map(Pairs).map(Self)
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_digits_and_order() {
        let text = r#"{"b":1.10,"a":[18446744073709551617, "\u003c"],"c":null}"#;
        let mut object: Object<'_> = serde_json::from_str(text).expect("reads");
        assert_eq!(serde_json::to_string(&object).expect("writes"), text);
        object.set("b", &2).expect("writes");
        object.set("d", &"x").expect("writes");
        assert!(object.take("c").is_none() && object.take("e").is_none());
        assert_eq!(
            serde_json::to_string(&object).expect("writes"),
            r#"{"b":2,"a":[18446744073709551617, "\u003c"],"d":"x"}"#
        );
        assert_eq!(object.take("d").expect("is there").get(), r#""x""#);
        assert!(object.get("d").is_none());
    }
}
