//! Logs on stderr, off unless asked for by `-v` or the variables `WEIR_LOG` and `RUST_LOG`.
//!
//! | level | what it tells |
//! |---|---|
//! | info (`-v`) | scenarios read, plugins loaded, runs that ended, files written |
//! | debug (`-vv`) | files read, topology and workload, arbiters made, with the time each step took |
//! | trace (`-vvv`) | every arbitration and every call of a plugin |

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Starts logging by `WEIR_LOG`, a filter such as `debug` or `weir_sim_core=trace`; else at a level given by the number of
/// `-v`; else by `RUST_LOG`.
pub(crate) fn start(verbose: u8) {
    let variable = |name| EnvFilter::try_from_env(name).ok();
    let level = match verbose {
        0 => None,
        1 => Some(EnvFilter::new("info")),
        2 => Some(EnvFilter::new("debug")),
        _ => Some(EnvFilter::new("trace")),
    };
    let filter =
        variable("WEIR_LOG").or(level).or_else(|| variable("RUST_LOG")).unwrap_or_else(|| EnvFilter::new("off"));
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .with_span_events(FmtSpan::CLOSE)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .init();
}
