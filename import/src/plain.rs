//! Texts of a dump, made fit for a terminal and for a comment.

/// What breaks a line, is not seen, or turns the direction of what follows (Unicode Standard, sections 23.2 and 23.3), and what is no
/// text in YAML.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text with another character in the place of each of those.
pub(crate) fn plain(text: &str, instead: char) -> String {
    text.chars().map(|c| if is_unseen(c) { instead } else { c }).collect()
}
