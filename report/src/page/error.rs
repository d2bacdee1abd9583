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
}

impl PageError {
    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }
}
