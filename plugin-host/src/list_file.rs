//! The file that holds the user's list of plugins: a line of JSON with a digest of its own.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_digest::{DigestedLine, check_digest, with_digest};

use crate::config::{CONFIG_DIR_VARIABLE, PluginRecord};

/// Version of the format.
const FORMAT: u32 = 2;
/// The version before files had a digest.
const WITHOUT_DIGEST: u32 = 1;
/// Bytes of the file at most (*assumed*: nobody adds thousands of plugins, each of which takes some 300).
const MOST_BYTES: u64 = 16 << 20;

const START_AGAIN: &str = "delete it and add your plugins again";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFormat {
    format: u32,
    plugins: Vec<PluginRecord>,
}

/// Reads a list; none where there is no file. A list without a digest, as older builds wrote it, is taken: the next change
/// writes one.
///
/// # Errors
/// What is wrong with the file, and what to do.
pub(crate) fn read(file: &Path) -> Result<Vec<PluginRecord>, String> {
    let text = match text(file) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("cannot be read: {}", why(&e))),
    };
    let (object, format) = match check_digest(&text) {
        DigestedLine::Intact(object) => (object, FORMAT),
        DigestedLine::Damaged => return Err(damaged()),
        DigestedLine::Bare => (text, WITHOUT_DIGEST),
    };
    let read: FileFormat = serde_json::from_str(&object).map_err(|e| {
        let place = format!("line {}, column {}", e.line(), e.column());
        format!("is not a plugin list of weir ({place}); {START_AGAIN}")
    })?;
    match read.format {
        found if found == format => Ok(read.plugins),
        WITHOUT_DIGEST..=FORMAT => Err(damaged()),
        found => Err(format!("has format {found}, and this weir reads {FORMAT}; update weir")),
    }
}

fn damaged() -> String {
    format!("was changed or is damaged; {START_AGAIN}")
}

/// The text of a list.
///
/// # Errors
/// A path is not UTF-8, which JSON cannot hold.
pub(crate) fn written(plugins: &[PluginRecord]) -> io::Result<String> {
    let format = FileFormat { format: FORMAT, plugins: plugins.to_vec() };
    Ok(with_digest(&serde_json::to_string(&format)?))
}

/// The text of a regular file, bounded: a pipe or a device may have no end, and reading it may not return.
fn text(file: &Path) -> io::Result<String> {
    let found = file.metadata()?;
    if !found.is_file() && !found.is_dir() {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    File::open(file)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// What is wrong and what to do. The system's own text may name a temporary file.
pub(crate) fn why(error: &io::Error) -> String {
    let kind = error.kind();
    match kind {
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            format!("its folder is a file; move that away, or set {CONFIG_DIR_VARIABLE}")
        }
        ErrorKind::IsADirectory => format!("it is a folder; move it away, or set {CONFIG_DIR_VARIABLE}"),
        ErrorKind::InvalidInput => {
            format!("it is a device, pipe or socket; move it away, or set {CONFIG_DIR_VARIABLE}")
        }
        ErrorKind::FileTooLarge => format!("it has more than {} MiB; {START_AGAIN}", MOST_BYTES >> 20),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            format!("{kind}; change the permissions of it and its folder, or set {CONFIG_DIR_VARIABLE} to another one")
        }
        ErrorKind::InvalidData => format!("it is not text; {START_AGAIN}"),
        _ => format!("{kind}; check the folder and the space left"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_be_as_long_as_is_said() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let file = folder.path().join("list");
        let list = format!("{{\"format\":{WITHOUT_DIGEST},\"plugins\":[]}}");
        for (bytes, fine) in [(MOST_BYTES, true), (MOST_BYTES + 1, false)] {
            let spaces = " ".repeat(bytes as usize - list.len());
            std::fs::write(&file, format!("{list}{spaces}")).expect("a file");
            match read(&file) {
                Ok(plugins) => assert!(fine && plugins.is_empty(), "{bytes}"),
                Err(error) => assert!(!fine && error.contains("it has more than 16 MiB"), "{bytes}: {error}"),
            }
        }
    }
}
