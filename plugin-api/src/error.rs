//! How a call of an arbiter or a model fails.

/// What an arbiter or a model may answer instead, with a text for a person.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// What is asked lies outside of what it is made for: an arbiter's parameters, fabric or route, a model's operation.
    /// A model's text that begins with one of the operation's keys, a colon and a space (`packet: …`, `read.table: …`)
    /// makes the error point at that key.
    #[error("{0}")]
    Refused(String),
    /// It failed. Of a loaded model this arrives as a refusal: the C table has one code for both.
    #[error("{0}")]
    Failed(String),
    /// It panicked; the instance is not called again.
    #[error("the plugin panicked: {0}")]
    Panicked(String),
}
