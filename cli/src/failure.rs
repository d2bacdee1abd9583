//! Exit codes, and errors on their way to one clear message on stderr.

use std::process::ExitCode;

use weir::{Error, ErrorKind};

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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
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
    let what = error.kind();
    Error::new(kind, format!("{target} cannot be written: {what}; check the space left and the permissions"))
}

/// Writes a message to stderr, its first word in colour where stderr is a terminal and `NO_COLOR` is not set.
pub(crate) fn message(text: &str) {
    use std::io::Write;
    const COLOURS: [(&str, &str); 3] = [("error", "1;31"), ("warning", "1;33"), ("note", "1;36")];
    let found = COLOURS.iter().find(|(word, _)| text.starts_with(&format!("{word}:")));
    let text = match found {
        Some((word, colour)) => format!("\u{1b}[{colour}m{word}\u{1b}[0m{}", &text[word.len()..]),
        None => text.to_owned(),
    };
    // There is nowhere to report that stderr is closed.
    let _ = writeln!(anstream::stderr(), "{text}");
}
