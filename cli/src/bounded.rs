//! Files that are read as a whole, up to a limit: a device or a pipe may have no end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Bytes of a file that weir wrote, at most: a saved result of some 10^6 transfers (*assumed*: nobody keeps larger ones).
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// The bytes of a file.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] beyond the limit, and what the system says.
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    whole(File::open(file)?, MOST_BYTES)
}

/// As [`read`], of a text.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub(crate) fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read(file)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// All that a source has.
///
/// # Errors
/// As [`read`].
pub(crate) fn whole(source: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_end_is_refused_at_the_limit() {
        assert_eq!(whole(&b"1234"[..], 4).expect("all of it"), b"1234");
        let error = whole(io::repeat(0), 1 << 20).expect_err("too large");
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::FileTooLarge, "it has more than 1 MiB".to_owned())
        );
    }
}
