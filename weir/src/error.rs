//! The error of everything here.

use std::fmt;

use weir_plugin_host::PluginError;
use weir_scenario::Diagnostic;

/// What kind of failure an [`Error`] is. The command `weir` exits with a code per kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A scenario, an option or a file is wrong: exit code 2. The message names the place and the remedy.
    Input,
    /// A run cannot end, by a deadlock or a limit: exit code 3.
    Stopped,
    /// An arbiter, a model or their library failed: exit code 4.
    Plugin,
    /// A search was ended before its first result: exit code 2, or 130 after Ctrl-C.
    Cancelled,
}

impl ErrorKind {
    /// The exit code of the command `weir` for this kind.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Input | Self::Cancelled => 2,
            Self::Stopped => 3,
            Self::Plugin => 4,
        }
    }
}

/// Why a scenario cannot be read or run. Displays the text that the command `weir` prints: one or more findings, each
/// beginning with `error:`, of scenarios with the lines they concern.
///
/// ```
/// let error = weir::Scenario::open("missing.yaml").unwrap_err();
/// assert_eq!(error.kind(), weir::ErrorKind::Input);
/// assert!(error.to_string().starts_with("error: "));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

impl Error {
    /// A failure with a message of one line that names the object and the remedy.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, text: format!("error: {message}") }
    }

    /// A wrong input.
    #[must_use]
    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// One finding of a scenario.
    #[must_use]
    pub fn diagnosed(diagnostic: &Diagnostic) -> Self {
        Self { kind: ErrorKind::Input, text: diagnostic.to_string() }
    }

    /// One finding of a scenario that is of another kind than a wrong input.
    #[must_use]
    pub fn diagnosed_as(kind: ErrorKind, diagnostic: &Diagnostic) -> Self {
        Self { kind, text: diagnostic.to_string() }
    }

    /// Findings of a scenario, one below the other.
    #[must_use]
    pub fn of_findings(diagnostics: &[Diagnostic]) -> Self {
        let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        let kind = if diagnostics.iter().any(|d| d.plugin) { ErrorKind::Plugin } else { ErrorKind::Input };
        Self { kind, text: texts.join("\n\n") }
    }

    /// The text in one line, without its first word and the lines that show the place.
    #[must_use]
    pub fn brief(&self) -> String {
        let text = self.text.strip_prefix("error: ").unwrap_or(&self.text);
        let shows = |line: &&str| {
            let number = line.split_once('|').is_some_and(|(number, _)| number.trim().parse::<u64>().is_ok());
            number || line.starts_with("-->") || line.starts_with('|') || line.is_empty()
        };
        text.lines().map(str::trim).filter(|line| !shows(line)).collect::<Vec<_>>().join("; ")
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<&PluginError> for Error {
    fn from(error: &PluginError) -> Self {
        Self::new(ErrorKind::Plugin, error)
    }
}

impl From<PluginError> for Error {
    fn from(error: PluginError) -> Self {
        Self::from(&error)
    }
}
