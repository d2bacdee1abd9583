//! Failures of plugins that no result can hold: an instance fails while it is destroyed.

use std::sync::{Mutex, PoisonError};

static NOTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) fn note(failure: String) {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
}

/// Takes the failures of plugins since the last call: what went wrong after the last answer that a run got of them. Results
/// are not touched by them.
#[must_use]
pub fn take_failures() -> Vec<String> {
    std::mem::take(&mut *NOTED.lock().unwrap_or_else(PoisonError::into_inner))
}
