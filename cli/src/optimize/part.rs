//! Parts of a split search in files: a line of JSON per arbiter.

use std::path::{Path, PathBuf};

use weir::Error;
use weir::optimize::{PartFile, Unread};

use crate::bounded;

/// What is said of a file whose bytes are no text, as a changed bit can make them.
pub(super) const NOT_TEXT: &str = "is not text: it was changed or is damaged";
const AGAIN: &str = "run that shard again";

/// Reads the parts: of each file a line per arbiter.
pub(crate) fn read_parts(files: &[PathBuf]) -> Result<Vec<Vec<PartFile>>, Error> {
    let mut of_arbiter: Vec<Vec<PartFile>> = Vec::new();
    for (i, file) in files.iter().enumerate() {
        let parts = read_file(file)?;
        if i == 0 {
            of_arbiter.resize_with(parts.len(), Vec::new);
        }
        if parts.len() != of_arbiter.len() {
            let (found, first, count) = (file.display(), files[0].display(), of_arbiter.len());
            let message =
                format!("{found} holds {} parts, {first} holds {count}: give parts of one search", parts.len());
            return Err(Error::input(message));
        }
        of_arbiter.iter_mut().zip(parts).for_each(|(all, part)| all.push(part));
    }
    Ok(of_arbiter)
}

fn read_file(file: &Path) -> Result<Vec<PartFile>, Error> {
    let name = file.display();
    let text = bounded::read_text(file).map_err(|error| {
        Error::input(match error.kind() {
            std::io::ErrorKind::InvalidData => format!("{name} {NOT_TEXT}: {AGAIN}"),
            _ => format!("{name} cannot be read: {error}"),
        })
    })?;
    let parts: Result<Vec<_>, Unread> = text.lines().map(PartFile::read).collect();
    match parts {
        Ok(parts) if parts.is_empty() => Err(Error::input(format!("{name} is empty: let its search end first"))),
        Ok(parts) => Ok(parts),
        Err(error) => {
            let remedy = match error {
                Unread::Version(_) | Unread::Damaged => AGAIN,
                Unread::Grid => "let its search end, with --shard i/n -o FILE",
                Unread::Other(_) => "give files of `optimize --shard`",
            };
            Err(Error::input(format!("{name} {error}: {remedy}")))
        }
    }
}
