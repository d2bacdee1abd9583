//! Exit codes, and failures on their way to one clear message on stderr.

use std::fmt::Display;
use std::process::ExitCode;

use weir::{Diagnostic, ErrorKind};

use crate::optimize::flagged;

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
            _ => Self::Usage,
        }
    }
}

/// Something that ends a command, or one run of it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code it leads to.
    pub(crate) exit: Exit,
    cause: Cause,
    note: Option<String>,
}

#[derive(Debug)]
enum Cause {
    /// A reader that went away wants to hear nothing.
    Silent,
    /// A message of our own: one line that names the object and the remedy.
    Message(String),
    Error(weir::Error),
}

impl Failure {
    /// A failure with a message of our own: one line that names the object and the remedy.
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit, cause: Cause::Message(message.to_string()), note: None }
    }

    /// A wrong command line or input.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The same with a note below.
    pub(crate) fn noted(self, note: impl Display) -> Self {
        Self { note: Some(note.to_string()), ..self }
    }

    /// The message in one line, without its first word.
    pub(crate) fn reason(&self) -> String {
        match &self.cause {
            Cause::Silent => String::new(),
            Cause::Message(message) => message.clone(),
            Cause::Error(error) => {
                let place = error.place().map_or_else(String::new, |place| format!(" --> {place}"));
                error.brief() + &place
            }
        }
    }

    /// Writes the message to stderr and gives the exit code.
    pub(crate) fn print(self) -> Exit {
        let text = match self.cause {
            Cause::Silent => return self.exit,
            Cause::Message(message) => format!("error: {message}"),
            Cause::Error(error) => error.to_string(),
        };
        let note = self.note.map_or_else(String::new, |note| format!("\nnote: {note}"));
        message(&format!("{text}{note}"));
        self.exit
    }
}

/// Of a search, with the flags of the command.
impl From<weir::Error> for Failure {
    fn from(error: weir::Error) -> Self {
        match error.settings() {
            Some(settings) => Self::usage(flagged(settings)),
            None => Self { exit: error.kind().into(), cause: Cause::Error(error), note: None },
        }
    }
}

impl From<Diagnostic> for Failure {
    fn from(finding: Diagnostic) -> Self {
        weir::Error::from(finding).into()
    }
}

/// What failed while writing to `target`; a reader that went away (`| head`) is no failure.
pub(crate) fn writing(target: &str, error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Failure { exit: Exit::Ok, cause: Cause::Silent, note: None };
    }
    Failure::usage(format!("{target} cannot be written: {}; check the space left and the permissions", error.kind()))
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
