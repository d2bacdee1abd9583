//! Texts from users' files, made safe for terminals and for tables that spreadsheets open.

use std::borrow::Cow;

/// A text as one line: what cannot be seen, or reorders or breaks the text, is escaped.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// A field of a CSV table: as [`escaped`]; with an apostrophe before a sign that begins a formula (OWASP, *CSV Injection*),
/// unless the whole is a number; in quotes where it has to be (RFC 4180, section 2).
#[must_use]
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let mut field = escaped(text);
    if is_formula {
        field.to_mut().insert(0, '\'');
    }
    if field.contains([',', '"']) { Cow::Owned(format!("\"{}\"", field.replace('"', "\"\""))) } else { field }
}

/// Control characters, separators of lines, characters of no width, and those that set the direction (Unicode Standard,
/// sections 23.1 to 23.3; Unicode Standard Annex #9, table 4).
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_move_the_cursor_or_break_a_row() {
        assert_eq!(escaped("a\nb\u{1b}[31m\u{202e}é"), "a\\nb\\u{1b}[31m\\u{202e}é");
        assert_eq!(escaped("a\u{200b}b\u{2028}\u{2067}\u{feff}"), "a\\u{200b}b\\u{2028}\\u{2067}\\u{feff}");
        assert!(matches!(escaped("gpu0 → é"), Cow::Borrowed(_)));
    }

    #[test]
    fn fields_are_neither_formulas_nor_breaks_nor_commands_of_a_terminal() {
        for (text, field) in [
            ("gpu0", "gpu0"),
            ("", ""),
            ("a \"b\", c", "\"a \"\"b\"\", c\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("@x", "'@x"),
            ("-1+2", "'-1+2"),
            ("-1.5", "-1.5"),
            ("+3", "+3"),
            ("\ta", "'\\ta"),
            ("a\u{1b}]0;x\u{7}\u{9b}\u{202e}b", "a\\u{1b}]0;x\\u{7}\\u{9b}\\u{202e}b"),
            ("a\nb\r", "a\\nb\\r"),
        ] {
            assert_eq!(csv_field(text), field);
        }
    }
}
