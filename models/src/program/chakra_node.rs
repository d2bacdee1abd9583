//! Nodes of Chakra traces: their fields and attributes.

use std::collections::BTreeMap;

use super::chakra_order::Head;
use super::operations::{FIRST_TAG, Problem};
use super::protobuf::{Field, Value, fields};
use crate::quantities::MOST_BYTES;

/// A node as far as it is read.
#[derive(Default)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) kind: u64,
    /// Microseconds.
    pub(super) duration: u64,
    pub(super) attributes: BTreeMap<String, u64>,
    /// Of a collective: the process group, where it is not that of all ranks.
    pub(super) group: Option<String>,
    /// Of a collective: it leaves out a dimension of the network.
    pub(super) is_of_dimensions: bool,
}

impl Node {
    pub(super) fn read(head: &Head<'_>) -> Result<Self, Problem> {
        let mut node = Self { id: head.id, ..Self::default() };
        for field in fields(head.message) {
            match field? {
                Field { number: 3, value: Value::Number(kind) } => node.kind = kind,
                Field { number: 7, value: Value::Number(duration) } => node.duration = duration,
                Field { number: 10, value: Value::Bytes(attribute) } => {
                    let Attribute { name, number, group, is_of_dimensions } = Attribute::read(attribute)?;
                    node.attributes.extend(number.map(|number| (name, number)));
                    node.group = node.group.or(group);
                    node.is_of_dimensions |= is_of_dimensions;
                }
                _ => {}
            }
        }
        Ok(node)
    }

    pub(super) fn attribute(&self, name: &str) -> Result<u64, Problem> {
        let found = self.attributes.get(name).copied();
        found.ok_or_else(|| {
            let id = self.id;
            format!("node {id} lacks the attribute `{name}`, as a whole number; trace it with communication sizes")
        })
    }

    pub(super) fn small(&self, name: &str) -> Result<u32, Problem> {
        let value = self.attribute(name)?;
        let fits = u32::try_from(value).ok().filter(|&value| value < FIRST_TAG);
        fits.ok_or_else(|| match value as i64 {
            // Protobuf has no other way to write a number below 0.
            below if below < 0 => format!("`{name}` of node {} is {below}; correct it", self.id),
            _ => format!("`{name}` of node {} is {value}; give a smaller one", self.id),
        })
    }

    pub(super) fn bytes(&self) -> Result<u64, Problem> {
        let bytes = self.attribute("comm_size")?;
        let fits = Some(bytes).filter(|bytes| *bytes <= MOST_BYTES);
        fits.ok_or_else(|| format!("`comm_size` of node {} is {bytes}, more than 2^53; correct it", self.id))
    }
}

/// An attribute of a node.
struct Attribute {
    name: String,
    /// Its value, where that is a whole number.
    number: Option<u64>,
    group: Option<String>,
    is_of_dimensions: bool,
}

/// Names of the group of all ranks (PyTorch numbers groups from 0, that of all ranks first).
pub(super) const ALL_RANKS: [&str; 3] = ["", "0", "default_pg"];

impl Attribute {
    fn read(attribute: &[u8]) -> Result<Self, Problem> {
        let mut read = Self { name: String::new(), number: None, group: None, is_of_dimensions: false };
        let (mut text, mut flags): (&[u8], Vec<u64>) = (b"", Vec::new());
        for field in fields(attribute) {
            match field? {
                Field { number: 1, value: Value::Bytes(name) } => {
                    read.name = String::from_utf8_lossy(name).into_owned()
                }
                // sint32 and sint64 are zigzag.
                Field { number: 15 | 17, value: Value::Number(value) } => {
                    read.number = Some(value >> 1).filter(|_| value & 1 == 0);
                }
                Field { number: 7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27, value: Value::Number(value) } => {
                    read.number = Some(value);
                }
                Field { number: 28, value: Value::Bytes(list) } => {
                    for flag in fields(list) {
                        flags.extend(flag?.value.numbers()?);
                    }
                }
                Field { number: 29, value: Value::Bytes(value) } => text = value,
                _ => {}
            }
        }
        match read.name.as_str() {
            // As text or as a number.
            "pg_name" | "comm_group" => {
                let name = || String::from_utf8_lossy(text).into_owned();
                read.group = Some(read.number.map_or_else(name, |number| number.to_string()));
            }
            "involved_dim" => read.is_of_dimensions = flags.contains(&0),
            _ => {}
        }
        Ok(read)
    }
}
