//! Exit codes, and errors on their way to one clear message on stderr.

use weir::{Error, ErrorKind};
use weir_optimize::text::escaped;

use crate::search_flags::flagged;

/// How the program ends; larger is worse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Exit {
    Ok = 0,
    /// A comparison failed.
    Compared = 1,
    /// The command line or a scenario is wrong.
    Usage = 2,
    /// A run could not end: a deadlock, or a limit.
    Stopped = 3,
    /// An arbiter or its library failed.
    Plugin = 4,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Stopped => Self::Stopped,
            ErrorKind::Plugin => Self::Plugin,
            ErrorKind::Cancelled => Self::Interrupted,
            ErrorKind::Unread => Self::Ok,
            _ => Self::Usage,
        }
    }
}

/// Writes an error to stderr, of a search with the flags of the command, and gives the exit code.
pub(crate) fn print(error: Error) -> Exit {
    match error.settings() {
        _ if error.kind() == ErrorKind::Unread => {}
        Some(settings) => message(&Error::input(flagged(settings)).to_string()),
        None => message(&error.to_string()),
    }
    error.kind().into()
}

/// What failed while writing to `target`.
pub(crate) fn writing(target: &str, error: &std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::BrokenPipe => ErrorKind::Unread,
        _ => ErrorKind::Input,
    };
    let what = cause(error);
    Error::new(kind, format!("{target} cannot be written: {what}; check the space left and the permissions"))
}

/// What failed, in words. Some writers wrap what the system said in an error without a kind, whose words are its own.
pub(crate) fn cause(error: &std::io::Error) -> String {
    let mut source = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            return cause(io);
        }
        source = inner.source();
    }
    // The kind of whatever has none with a name, such as an error of the disk: only the system's words tell what it is.
    let unnamed = std::io::Error::from_raw_os_error(i32::MAX).kind();
    match error.kind() {
        std::io::ErrorKind::Other => error.to_string(),
        kind if kind == unnamed => error.to_string(),
        kind => kind.to_string(),
    }
}

/// Writes a message to stderr, its first word in colour where stderr is a terminal and `NO_COLOR` is not set.
pub(crate) fn message(text: &str) {
    use std::io::Write;
    const COLOURS: [(&str, &str); 3] = [("error", "1;31"), ("warning", "1;33"), ("note", "1;36")];
    // Lines are made here; all else that a terminal would obey comes from files and names.
    let text: String = text.split_inclusive(['\n', '\t']).map(shown).collect();
    let found = COLOURS.iter().find(|(word, _)| text.starts_with(&format!("{word}:")));
    let text = match found {
        Some((word, colour)) => format!("\u{1b}[{colour}m{word}\u{1b}[0m{}", &text[word.len()..]),
        None => text,
    };
    // There is nowhere to report that stderr is closed.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A piece of a message that may end with a line break or a tab, which are the program's own.
fn shown(piece: &str) -> String {
    let text = piece.trim_end_matches(['\n', '\t']);
    format!("{}{}", escaped(text), &piece[text.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_found_in_what_wraps_it() {
        use std::io::{Error as IoError, ErrorKind::StorageFull};
        let full = || IoError::from(StorageFull);
        for error in [full(), IoError::other(full()), IoError::other(IoError::other(full()))] {
            assert_eq!(cause(&error), "no storage space");
        }
        assert_eq!(cause(&IoError::other("three rows too few")), "three rows too few");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_of_the_disk_is_told_in_the_systems_words() {
        const EIO: i32 = 5;
        assert_eq!(cause(&std::io::Error::from_raw_os_error(EIO)), "Input/output error (os error 5)");
    }

    #[test]
    fn a_message_gives_the_terminal_no_commands() {
        assert_eq!(shown("\u{1b}[2Ja\u{202e}\n"), "\\u{1b}[2Ja\\u{202e}\n");
        assert_eq!(shown("a\t"), "a\t");
    }
}
