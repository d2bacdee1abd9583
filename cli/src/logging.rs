//! Logs on stderr, off unless asked for by `-v` or the variables `WEIR_LOG` and `RUST_LOG`.
//!
//! | level | what it tells |
//! |---|---|
//! | info (`-v`) | scenarios read, plugins loaded, runs and searches that ended, files written |
//! | debug (`-vv`) | files read, topology and workload, arbiters made, progress of searches, with the time each step took |
//! | trace (`-vvv`) | every arbitration with its transfers, and every call of a plugin, with their times |

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::failure::message;
use crate::terminal;

/// Starts logging by `WEIR_LOG`, a filter such as `debug` or `weir_sim_core=trace`; else at a level given by the number of
/// `-v`; else by `RUST_LOG`.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => None,
        1 => Some(EnvFilter::new("info")),
        2 => Some(EnvFilter::new("debug")),
        _ => Some(EnvFilter::new("trace")),
    };
    let filter =
        variable("WEIR_LOG").or(level).or_else(|| variable("RUST_LOG")).unwrap_or_else(|| EnvFilter::new("off"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // What stderr does not take has nowhere to be told, and telling it there would panic.
        .log_internal_errors(false)
        .with_ansi(terminal::colours_stderr())
        .with_span_events(FmtSpan::CLOSE)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .init();
}

/// The filter in a variable. One that cannot be used gets a warning and counts as none.
fn variable(name: &str) -> Option<EnvFilter> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    let wrong = match EnvFilter::try_new(&text) {
        Ok(filter) => match foreign(&text).filter(|_| name == "WEIR_LOG") {
            None => return Some(filter),
            Some(part) => format!("`{part}` is neither a level nor a part of weir"),
        },
        Err(error) => error.to_string(),
    };
    let remedy = "give a level (error, warn, info, debug, trace) or a filter such as weir_sim_core=trace";
    message(&format!("warning: {name}={text} is not used: {wrong}; {remedy}"));
    None
}

/// The first directive without a level that names nothing of weir; other programs read `RUST_LOG`, too, but not `WEIR_LOG`.
fn foreign(filter: &str) -> Option<&str> {
    let known =
        |part: &&str| part.starts_with("weir") || part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok();
    filter.split(',').map(str::trim).find(|part| !known(part))
}
