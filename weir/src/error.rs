//! The error of everything here.

use std::fmt;

use weir_plugin_host::PluginError;
use weir_scenario::{Diagnostic, Position};

use crate::optimize::SettingsError;

/// What kind of failure an [`Error`] is. The command `weir` exits with a code per kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A scenario, an option or a file is wrong. The message names the place and the remedy.
    Input,
    /// A run cannot end, by a deadlock or a limit.
    Stopped,
    /// An arbiter, a model or their library failed.
    Plugin,
    /// A search was ended before its first result, or reading a scenario by [`crate::LoadOptions::cancel`].
    Cancelled,
    /// Whoever read the result went away, as `| head` does: nothing is wrong, and nobody reads on.
    Unread,
}

/// Why a scenario cannot be read, run or searched. Displays the text that the command `weir` prints: one or more findings,
/// each beginning with `error:`, of scenarios with the lines they concern.
///
/// ```
/// let error = weir::Scenario::open("missing.yaml").unwrap_err();
/// assert_eq!(error.kind(), weir::ErrorKind::Input);
/// assert!(error.to_string().starts_with("error: "));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Error {
    kind: ErrorKind,
    reason: Reason,
    note: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
enum Reason {
    Message(String),
    Findings(Vec<Diagnostic>),
    Settings(SettingsError),
}

impl Error {
    /// A failure with a message of one line that names the object and the remedy.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, reason: Reason::Message(message.to_string()), note: None }
    }

    /// An error of kind [`ErrorKind::Input`]: a scenario, an option or a file is wrong.
    #[must_use]
    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// The same with a note below: a line that may help.
    #[must_use]
    pub fn noted(self, note: impl fmt::Display) -> Self {
        Self { note: Some(note.to_string()), ..self }
    }

    /// One finding of a scenario that is of another kind than a wrong input.
    pub(crate) fn diagnosed_as(kind: ErrorKind, diagnostic: Diagnostic) -> Self {
        Self { kind, reason: Reason::Findings(vec![diagnostic]), note: None }
    }

    /// A result that is not JSON or text.
    pub(crate) fn unwritten(error: impl fmt::Display) -> Self {
        Self::input(format!("the result cannot be written: {error}"))
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The findings of a scenario; none where something else is wrong.
    #[must_use]
    pub fn findings(&self) -> &[Diagnostic] {
        if let Reason::Findings(findings) = &self.reason { findings } else { &[] }
    }

    /// What is wrong with the settings of a search, where that is it.
    #[must_use]
    pub fn settings(&self) -> Option<&SettingsError> {
        if let Reason::Settings(error) = &self.reason { Some(error) } else { None }
    }

    /// The place of the first finding.
    #[must_use]
    pub fn place(&self) -> Option<&Position> {
        self.findings().first()?.position.as_ref()
    }

    /// The text in one line, without its first word, its note, places and lines of files.
    #[must_use]
    pub fn brief(&self) -> String {
        let alone = |finding: &Diagnostic| Diagnostic { position: None, excerpt: None, ..finding.clone() }.to_string();
        let text = match &self.reason {
            Reason::Findings(findings) => findings.iter().map(alone).collect::<Vec<_>>().join("\n"),
            _ => self.message(),
        };
        let lines = text.strip_prefix("error: ").unwrap_or(&text).lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
    }

    fn message(&self) -> String {
        match &self.reason {
            Reason::Message(message) => message.clone(),
            Reason::Settings(error) => error.to_string(),
            Reason::Findings(findings) => findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if matches!(self.reason, Reason::Findings(_)) { "" } else { "error: " };
        let note = self.note.as_ref().map_or_else(String::new, |note| format!("\nnote: {note}"));
        write!(f, "{word}{}{note}", self.message())
    }
}

impl std::error::Error for Error {}

/// Findings of a scenario, one below the other.
impl From<Vec<Diagnostic>> for Error {
    fn from(findings: Vec<Diagnostic>) -> Self {
        let kind = match findings.iter().any(|finding| finding.cancelled) {
            true => ErrorKind::Cancelled,
            false if findings.iter().any(|finding| finding.plugin) => ErrorKind::Plugin,
            false => ErrorKind::Input,
        };
        Self { kind, reason: Reason::Findings(findings), note: None }
    }
}

impl From<Diagnostic> for Error {
    fn from(finding: Diagnostic) -> Self {
        vec![finding].into()
    }
}

impl From<SettingsError> for Error {
    fn from(error: SettingsError) -> Self {
        Self { kind: ErrorKind::Input, reason: Reason::Settings(error), note: None }
    }
}

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
