//! As much of the wire format of Protocol Buffers as Chakra's traces need (protobuf.dev, *Encoding*).

/// A field of a message.
pub(super) struct Field<'m> {
    pub(super) number: u64,
    pub(super) value: Value<'m>,
}

/// Its value, as far as the wire tells.
pub(super) enum Value<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

impl Value<'_> {
    /// One number, or the packed list of a repeated field.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, String> {
        match self {
            Self::Number(number) => Ok(vec![*number]),
            Self::Bytes(bytes) => {
                let (mut rest, mut all) = (*bytes, Vec::new());
                while !rest.is_empty() {
                    all.push(varint(&mut rest)?);
                }
                Ok(all)
            }
        }
    }
}

fn cut() -> String {
    "the file is cut off, or no protobuf; name a trace as Chakra writes it, not packed".to_owned()
}

/// Takes a number from the front.
fn varint(rest: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0_u64;
    for at in 0..10 {
        let (&byte, after) = rest.split_first().ok_or_else(cut)?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(cut())
}

/// Takes bytes from the front.
fn bytes<'m>(rest: &mut &'m [u8], count: u64) -> Result<&'m [u8], String> {
    let count = usize::try_from(count).ok().filter(|&count| count <= rest.len()).ok_or_else(cut)?;
    let (taken, after) = rest.split_at(count);
    *rest = after;
    Ok(taken)
}

/// Goes on until the end, or the first error.
fn until_wrong<'m, T>(
    mut rest: &'m [u8],
    next: impl Fn(&mut &'m [u8]) -> Result<T, String>,
) -> impl Iterator<Item = Result<T, String>> {
    std::iter::from_fn(move || {
        (!rest.is_empty()).then(|| {
            let found = next(&mut rest);
            if found.is_err() {
                rest = &[];
            }
            found
        })
    })
}

/// The messages of a file, each behind its length.
pub(super) fn messages(file: &[u8]) -> impl Iterator<Item = Result<&[u8], String>> {
    until_wrong(file, |rest| {
        let length = varint(rest)?;
        bytes(rest, length)
    })
}

/// Whether a file is nothing but messages behind their lengths, as far as lengths tell.
pub(super) fn is_delimited(file: &[u8]) -> bool {
    let mut count = 0;
    messages(file).all(|message| message.inspect(|_| count += 1).is_ok()) && count > 1
}

/// The fields of a message.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Result<Field<'_>, String>> {
    until_wrong(message, |rest| {
        let key = varint(rest)?;
        let little = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        let value = match key & 7 {
            0 => Value::Number(varint(rest)?),
            1 => Value::Number(little(bytes(rest, 8)?)),
            2 => {
                let length = varint(rest)?;
                Value::Bytes(bytes(rest, length)?)
            }
            5 => Value::Number(little(bytes(rest, 4)?)),
            _ => return Err(cut()),
        };
        Ok(Field { number: key >> 3, value })
    })
}
