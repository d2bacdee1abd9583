//! What the terminal shows: its width, colours, and whether more than ASCII.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use weir_plugin_host::kept_stdout;
use weir_report::draw::Canvas;
use weir_report::text::Layout;

use crate::args::{ColorWhen, LayoutArgs};

/// Columns where there is no terminal.
const COLUMNS: usize = 80;

/// What the command line asks for.
static ASKED: OnceLock<LayoutArgs> = OnceLock::new();

/// Follows the command line: `--color` for stdout and stderr, `--wide` and `--width` for tables on stdout.
pub(crate) fn follow(asked: LayoutArgs) {
    match asked.color {
        ColorWhen::Auto => {}
        ColorWhen::Always => ColorChoice::Always.write_global(),
        ColorWhen::Never => ColorChoice::Never.write_global(),
    }
    let _ = ASKED.set(asked);
}

/// Fits tables to stdout, unless they are Markdown. What goes into files has all columns and no colours.
pub(crate) fn fit_to_stdout() {
    let asked = ASKED.get();
    let is_terminal = kept_stdout().map_or_else(|| stdout().is_terminal(), IsTerminal::is_terminal);
    let width = match asked.and_then(|asked| asked.width) {
        _ if asked.is_some_and(|asked| asked.wide) => None,
        None if !is_terminal => None,
        _ => Some(width()),
    };
    if asked.is_some_and(|asked| asked.markdown) {
        return Layout::MARKDOWN.set();
    }
    let choice = kept_stdout().map_or_else(|| AutoStream::choice(&stdout()), AutoStream::choice);
    Layout { width, colour: choice != ColorChoice::Never, ..Layout::default() }.set();
}

/// Whether messages are coloured.
pub(crate) fn colours_stderr() -> bool {
    AutoStream::choice(&stderr()) != ColorChoice::Never
}

/// That of `--width`, of `COLUMNS`, of the terminal, or 80.
fn width() -> usize {
    let asked = || ASKED.get().and_then(|asked| asked.width).map(usize::from);
    let set = || variable("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|&width| width > 0);
    asked().or_else(set).or_else(measured).unwrap_or(COLUMNS)
}

/// How to draw on stdout: Unicode by the locale.
pub(crate) fn canvas() -> Canvas {
    // The first of these that is set decides (POSIX, environment variables, 8.2).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_default().to_lowercase();
    Canvas { width: width(), unicode: locale.contains("utf-8") || locale.contains("utf8") }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
