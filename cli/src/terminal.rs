//! What the terminal shows: its width, and whether more than ASCII.

use weir_report::draw::Canvas;

/// Columns where there is no terminal.
const COLUMNS: usize = 80;

/// How to draw on stdout: the width is that of `COLUMNS`, of the terminal, or 80; Unicode by the locale.
pub(crate) fn canvas() -> Canvas {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let set = variable("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = set.or_else(measured).unwrap_or(COLUMNS);
    // The first of these that is set decides (POSIX, environment variables, 8.2).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_default().to_lowercase();
    Canvas { width, unicode: locale.contains("utf-8") || locale.contains("utf8") }
}
