//! How results are written, and how long they would be.

use std::io::{BufWriter, Error, ErrorKind, Result, Write};

use serde::Serialize;

/// Writes a value as one line.
pub(crate) fn write_line(value: &impl Serialize, out: impl Write) -> Result<()> {
    // A buffer of a known type: `out` may be behind a pointer, and a result is written in many small pieces.
    let mut out = BufWriter::with_capacity(1 << 16, out);
    serde_json::to_writer(&mut out, value).map_err(Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The bytes of a value as JSON; `None` where these are more than `most`.
pub(crate) fn bytes(value: &impl Serialize, most: usize) -> Option<usize> {
    let mut count = Count { bytes: 0, most };
    serde_json::to_writer(&mut count, value).ok()?;
    Some(count.bytes)
}

/// Counts bytes; the write that would go beyond the most fails.
struct Count {
    bytes: usize,
    most: usize,
}

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.most { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
