//! Numbers of logs: finite, above zero, and not absurd.

/// Seconds of one transfer at most, 100 days: the horizon of a simulation.
const MOST_SECONDS: f64 = 8_640_000.0;

/// Measured times of a log at most; *assumed*.
pub(super) const MOST_ROWS: usize = 100_000;

/// What is wrong with a number, and what to do.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NumberError {
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// What stands where a measured value belongs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// A measured value, finite and above 0.
    Value(f64),
    /// A sign that nothing was measured: why.
    Nothing(String),
    /// Not a number: a slip of the person who wrote it.
    Wrong(NumberError),
}

/// A measured value. Programs write nan, inf, `-`, `N/A` or 0 where they measured nothing.
pub(crate) fn cell(text: &str, what: &str) -> Cell {
    let word = text.trim().trim_start_matches(['+', '-']).to_ascii_lowercase();
    if word.is_empty() {
        let message = if text.trim().is_empty() { format!("{what} is empty") } else { format!("{what} is `{text}`") };
        return Cell::Nothing(message);
    }
    if ["nan", "inf", "infinity", "n/a", "na", "none"].contains(&&*word) || word.starts_with("nan(") {
        return Cell::Nothing(format!("{what} is `{}`", excerpt(text)));
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    match text.parse::<f64>() {
        Ok(value) if plain && value.is_finite() && value > 0.0 => Cell::Value(value),
        Ok(value) if plain && value.is_finite() => Cell::Nothing(format!("{what} is {value}, not above 0")),
        _ => {
            let message = format!("{what} `{}` is not a number", excerpt(text));
            Cell::Wrong(NumberError { message, help: "write a plain number, as in `0.0253`" })
        }
    }
}

/// A measured value of a program's log, as seconds, or why it is not used: a program writes no slips.
pub(crate) fn logged(text: &str, what: &str, to_seconds: impl Fn(f64) -> f64) -> Result<f64, String> {
    match cell(text, what) {
        Cell::Value(value) => seconds(to_seconds(value), what).map_err(|error| error.message),
        Cell::Nothing(why) | Cell::Wrong(NumberError { message: why, .. }) => Err(why),
    }
}

/// Seconds: above 0, at most 100 days, at least a picosecond.
pub(crate) fn seconds(value: f64, what: &str) -> Result<f64, NumberError> {
    match value {
        v if (1e-12..=MOST_SECONDS).contains(&v) => Ok(v),
        v => {
            let message = format!("{what} means {v:e} s, which is not between 1 ps and 100 days");
            Err(NumberError { message, help: "check the unit" })
        }
    }
}

/// Whole bytes, 1 to 2^53.
pub(crate) fn bytes(text: &str, what: &str) -> Result<u64, NumberError> {
    let whole = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(bytes) if whole && (1..=1 << 53).contains(&bytes) => Ok(bytes),
        _ => Err(NumberError {
            message: format!("{what} `{}` is not a whole number of bytes from 1 to 2^53", excerpt(text)),
            help: "write bytes as a plain whole number, without a unit",
        }),
    }
}

/// The beginning of a text, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    format!("{}{cut}", weir_report::text::clean(&short))
}
