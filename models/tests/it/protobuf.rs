//! Traces of Chakra, written by hand.

/// A number of protobuf.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Fields of protobuf: a number, and a block of bytes; an attribute of a node of Chakra; a message behind its length.
pub fn number(field: u8, value: u64) -> Vec<u8> {
    [varint(u64::from(field) << 3), varint(value)].concat()
}

pub fn block(field: u8, bytes: &[u8]) -> Vec<u8> {
    [varint(u64::from(field) << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

pub fn attribute(name: &str, value: u64) -> Vec<u8> {
    block(10, &[block(1, name.as_bytes()), number(9, value)].concat())
}

pub fn framed(message: Vec<u8>) -> Vec<u8> {
    [varint(message.len() as u64), message].concat()
}
