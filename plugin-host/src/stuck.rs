//! A call that does not return, in words.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The variable by which the user limits the time of a call, such as `30s` or `500ms`.
pub(crate) const LIMIT_VARIABLE: &str = "WEIR_PLUGIN_LIMIT";

/// The end of a program, as the call into a library that it is.
pub(crate) const CLOSING: &str = "closing it";

/// A call that has run for longer than the limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StuckCall {
    /// Name of the arbiter or model; of the library's file while it is being opened.
    pub plugin: String,
    /// The file of the library, as it was opened.
    pub path: PathBuf,
    /// The function, as in `weir_plugin.h`.
    pub call: &'static str,
    /// How long a call may take: what `WEIR_PLUGIN_LIMIT` says, or 10 s.
    pub limit: Duration,
}

impl fmt::Display for StuckCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "plugin `{}` ({}): {} has not returned for {} s; remove it with `weir plugin remove`, or allow more time by {}=60s",
            self.plugin,
            self.path.display(),
            self.call,
            self.limit.as_secs_f64(),
            LIMIT_VARIABLE
        )
    }
}
