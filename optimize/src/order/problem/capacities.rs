//! What links can carry in total, for lower bounds.

/// What an arbiter is known to keep to, beside the check of its answers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Capacities {
    /// Nothing: sums per link may exceed the bandwidth by the tolerance of the check. For loaded arbiters.
    Checked,
    /// Sums are at most the bandwidth (`max-min`, `equal-share`, `strict-priority`).
    Bandwidth,
    /// As `Bandwidth`; (1 − tau) · bandwidth at the down link to a child of a root complex that the transfer crosses
    /// (`pcie-congestion`). Use tau = 0 for `root_penalty: false`.
    RootComplex {
        /// The arbiter's parameter.
        tau: f64,
    },
}
