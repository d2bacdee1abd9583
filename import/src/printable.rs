//! Makes texts of a dump safe to print on a terminal and in a comment.

/// Characters that break a line, are invisible, or turn the direction of what follows (Unicode Standard, sections 23.2 and 23.3), or that YAML
/// forbids.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text in which `instead` replaces each of those.
pub(crate) fn printable(text: &str, instead: char) -> String {
    text.chars().map(|c| if is_unseen(c) { instead } else { c }).collect()
}
