//! What a scenario says without effect.

use crate::diagnostic::Diagnostic;
use crate::scenario::Scenario;

/// Findings that do not keep a scenario from running: `check` prints them.
#[must_use]
pub fn lint(scenario: &Scenario) -> Vec<Diagnostic> {
    let _ = scenario;
    Vec::new()
}
