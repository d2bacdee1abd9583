//! Numbers of logs: finite, above zero, and not absurd.

/// Seconds of one transfer at most, 100 days: the horizon of a simulation.
const MOST_SECONDS: f64 = 8_640_000.0;

/// What is wrong with a number, and what to do.
pub(crate) type Wrong = (String, &'static str);

/// A plain number: digits, fraction, exponent.
pub(crate) fn real(text: &str, what: &str) -> Result<f64, Wrong> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    match text.parse::<f64>() {
        Ok(value) if plain && value.is_finite() => Ok(value),
        _ if ["nan", "inf", "-nan", "-inf", "infinity"].contains(&text.to_ascii_lowercase().as_str()) => {
            Err((format!("{what} is `{text}`"), "remove the row: it measured nothing"))
        }
        _ => Err((format!("{what} `{}` is not a number", shown(text)), "write a plain number, as in `0.0253`")),
    }
}

/// A number above 0.
pub(crate) fn positive(text: &str, what: &str) -> Result<f64, Wrong> {
    match real(text, what)? {
        value if value > 0.0 => Ok(value),
        value => Err((format!("{what} is {value}, not above 0"), "remove the row, or measure it again")),
    }
}

/// Seconds: above 0, at most 100 days, at least a picosecond.
pub(crate) fn seconds(value: f64, what: &str) -> Result<f64, Wrong> {
    match value {
        v if (1e-12..=MOST_SECONDS).contains(&v) => Ok(v),
        v => Err((format!("{what} means {v:e} s, which is not between 1 ps and 100 days"), "check the unit")),
    }
}

/// Whole bytes, 1 to 2^53.
pub(crate) fn bytes(text: &str, what: &str) -> Result<u64, Wrong> {
    let whole = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(bytes) if whole && (1..=1 << 53).contains(&bytes) => Ok(bytes),
        _ => Err((
            format!("{what} `{}` is not a whole number of bytes from 1 to 2^53", shown(text)),
            "write bytes as a plain whole number, without a unit",
        )),
    }
}

/// The beginning of a text, for a message.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    format!("{}{cut}", weir_report::text::clean(&short))
}
