//! Keys that occur twice in an object: readers would keep the first value or the last, and a person sees both.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Formatter;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::json::Name;

/// Any JSON in which no object has a key twice.
pub(super) struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for DistinctKeys {
    type Value = Self;

    fn expecting(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        to.write_str("JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self, M::Error> {
        let mut known = KnownKeys::default();
        while let Some(Name(key)) = map.next_key()? {
            if known.has(&key) {
                return Err(M::Error::custom(format!("the key `{key}` occurs twice")));
            }
            known.add(key);
            map.next_value::<Self>()?;
        }
        Ok(self)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self, S::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

/// The keys of an object so far. Most objects have few, which are compared without hashing.
#[derive(Default)]
struct KnownKeys<'a> {
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> KnownKeys<'a> {
    /// Up to as many keys are compared one by one; a transfer has 17.
    const FEW: usize = 24;

    fn has(&self, key: &str) -> bool {
        self.few.iter().any(|known| known == key) || self.many.contains(key)
    }

    fn add(&mut self, key: Cow<'a, str>) {
        if self.few.len() < Self::FEW {
            self.few.push(key);
        } else {
            self.many.insert(key);
        }
    }
}
