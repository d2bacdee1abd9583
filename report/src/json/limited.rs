//! A result that may be too long to be kept.

use std::io::{Error, ErrorKind, Result, Write};

/// Takes no more than so many bytes; the write that would go beyond fails.
pub(crate) struct Limited {
    bytes: Vec<u8>,
    most: usize,
}

impl Limited {
    pub(crate) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most }
    }

    pub(crate) fn into_inner(self) -> Vec<u8> {
        self.bytes
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
