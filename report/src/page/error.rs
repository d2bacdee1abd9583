//! What cannot go into a page.

/// Why something cannot go into a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// JSON that is not as weir writes it.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// JSON whose parts do not fit together.
    #[error("{0}")]
    Damaged(String),
    /// Phases that did not all come.
    #[error("interrupted")]
    Interrupted,
    /// A line of a saved file.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
}

impl PageError {
    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }
}
