//! Failures that no call can answer with, because the instance was being destroyed: noted here, for the end of the program.

use std::sync::{Mutex, PoisonError};

use weir_plugin_api::CallError;

/// Name of the plugin, and what it did.
static FAILURES: Mutex<Vec<(String, CallError)>> = Mutex::new(Vec::new());

/// Notes what a plugin did, once: many instances may fail alike.
pub(crate) fn note(plugin: &str, error: CallError) {
    tracing::error!("plugin `{plugin}`: {error}");
    let (mut failures, failure) = (FAILURES.lock().unwrap_or_else(PoisonError::into_inner), (plugin.to_owned(), error));
    if !failures.contains(&failure) {
        failures.push(failure);
    }
}

/// All that was noted since the last call.
pub(crate) fn take() -> Vec<(String, CallError)> {
    std::mem::take(&mut *FAILURES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What plugins did while their instances were destroyed, or their processes ended, each with the plugin's name, since the
/// last call. A result of the instance stands: it was given and checked before.
#[must_use]
pub fn take_failures() -> Vec<String> {
    let named = |(plugin, error): (String, CallError)| match error.to_string() {
        // The watchdog's words begin with it.
        text if text.starts_with("plugin `") => text,
        text => format!("plugin `{plugin}`: {text}"),
    };
    take().into_iter().map(named).collect()
}
