//! Logs on stderr, off unless asked for by `-v` or the variable `WEIR_LOG`.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// The variable with a filter such as `debug` or `weir=trace`.
const VARIABLE: &str = "WEIR_LOG";

/// Starts logging at a level given by the number of `-v`, or by the variable, which wins.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => "off",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new(level));
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .without_time()
        .init();
}
