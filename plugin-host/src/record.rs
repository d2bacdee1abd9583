//! Whom a crash is named after: texts of fixed length in the program's own data. A plugin that writes beyond the end of
//! the memory that a call gives it does not reach them, since that lies in the heap.

use std::path::Path;
use std::sync::OnceLock;

/// A plugin as a crash names it.
pub(crate) struct Record {
    plugin: Text<64>,
    path: Text<1024>,
}

/// A text, cut where it is too long.
struct Text<const SIZE: usize> {
    bytes: [u8; SIZE],
    len: usize,
}

impl<const SIZE: usize> Text<SIZE> {
    fn new(text: &[u8]) -> Self {
        let (mut bytes, len) = ([0; SIZE], text.len().min(SIZE));
        bytes[..len].copy_from_slice(&text[..len]);
        Self { bytes, len }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Record {
    pub(crate) fn plugin(&self) -> &[u8] {
        self.plugin.as_bytes()
    }

    pub(crate) fn path(&self) -> &[u8] {
        self.path.as_bytes()
    }
}

/// One for each library and each of its plugins. Those beyond the last share it (*assumed*: nobody loads so many).
static RECORDS: [OnceLock<Record>; 128] = [const { OnceLock::new() }; 128];

/// The record of a plugin, which lives for ever.
pub(crate) fn record(plugin: &str, path: &Path) -> &'static Record {
    let new = || Record { plugin: Text::new(plugin.as_bytes()), path: Text::new(path.as_os_str().as_encoded_bytes()) };
    let wanted = new();
    let is_same = |record: &&Record| record.plugin() == wanted.plugin() && record.path() == wanted.path();
    let last = || {
        RECORDS[RECORDS.len() - 1].get_or_init(|| Record { plugin: Text::new(b"one of many"), path: Text::new(b"?") })
    };
    let (_, free) = RECORDS.split_last().unwrap_or((&RECORDS[0], &[]));
    free.iter().map(|place| place.get_or_init(new)).find(is_same).unwrap_or_else(last)
}

/// One record for each library that was opened in this process. A signal may ask for it.
#[cfg(unix)]
pub(crate) fn libraries() -> impl Iterator<Item = &'static Record> {
    let all = || RECORDS.iter().map_while(OnceLock::get);
    all()
        .enumerate()
        .filter(move |(at, record)| all().take(*at).all(|other| other.path() != record.path()))
        .map(|(_, record)| record)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since records are kept for the whole process.
    #[test]
    fn a_plugin_has_one_record_until_there_are_too_many() {
        let of = |plugin: &str, path: &str| std::ptr::from_ref(record(plugin, Path::new(path)));
        let name = |plugin: &str, path: &str| record(plugin, Path::new(path)).plugin().to_vec();
        let (first, second) = (of("first", "a.so"), of("second", "a.so"));
        assert!(first != second && first != of("first", "b.so") && first == of("first", "a.so"));
        #[cfg(unix)]
        {
            let paths: Vec<&[u8]> = libraries().map(Record::path).collect();
            assert_eq!(paths.iter().filter(|path| **path == b"a.so").count(), 1, "{paths:?}");
            assert!(paths.contains(&b"b.so".as_slice()));
        }
        let long = "n".repeat(200);
        assert_eq!(name(&long, "c.so"), long.as_bytes()[..64]);
        let all: Vec<Vec<u8>> = (0..RECORDS.len()).map(|at| name(&format!("number-{at}"), "d.so")).collect();
        assert_eq!((all[0].as_slice(), all[RECORDS.len() - 1].as_slice()), (&b"number-0"[..], &b"one of many"[..]));
        assert_eq!(of("number-0", "d.so"), of("number-0", "d.so"));
        assert_eq!(of("one", "e.so"), of("another", "f.so"), "the last is shared");
    }
}
