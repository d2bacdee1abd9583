//! The digest at the end of a line that weir writes for itself: a part of a search, the head of a checkpoint, the list of
//! plugins.
//!
//! ```text
//! {"weir_part":3, … ,"digest":"1f0c93aa"}
//! └───── summed ───┘
//! ```

/// What stands before the eight digits of a digest.
const KEY: &str = ",\"digest\":\"";
/// What stands after them.
const END: &str = "\"}";
/// Start of FNV-1a of 32 bits.
const START: u32 = 0x811c_9dc5;

/// A line as it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DigestedLine {
    /// The object as it was written, without the digest.
    Intact(String),
    /// Another digest stands at its end: it was changed or is damaged.
    Damaged,
    /// No digest stands at its end.
    Bare,
}

/// The line of a JSON object that is not empty, with its digest and its end.
#[must_use]
pub fn with_digest(object: &str) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    format!("{open}{KEY}{:08x}{END}\n", sum(open.as_bytes()))
}

/// Checks a line, which may lack its end.
#[must_use]
pub fn check_digest(line: &str) -> DigestedLine {
    let parts = line.strip_suffix('\n').unwrap_or(line).strip_suffix(END).and_then(|rest| {
        let (open, digits) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
        Some((open.strip_suffix(KEY)?, digits))
    });
    match parts {
        None => DigestedLine::Bare,
        // The text is compared, so that no other spelling of the same number passes.
        Some((open, digits)) if digits == format!("{:08x}", sum(open.as_bytes())) => {
            DigestedLine::Intact(format!("{open}}}"))
        }
        Some(_) => DigestedLine::Damaged,
    }
}

/// FNV-1a of 32 bits (Fowler, Noll, Vo, *The FNV Non-Cryptographic Hash Algorithm*): against torn and edited lines, not
/// against attacks. Any change of a single byte changes it.
#[must_use]
pub fn sum(bytes: &[u8]) -> u32 {
    sum_from(START, bytes)
}

/// The sum of more bytes after those that gave `from`.
#[must_use]
pub fn sum_from(from: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(from, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_its_authors() {
        // The vectors "", "a" and "foobar" of draft-eastlake-fnv, appendix C.
        for (text, expected) in [("", 0x811c_9dc5), ("a", 0xe40c_292c), ("foobar", 0xbf9c_f968)] {
            assert_eq!(sum(text.as_bytes()), expected);
        }
    }

    #[test]
    fn no_bit_of_a_line_can_change() {
        let object = r#"{"weir_part":3,"ends":[1,20,300]}"#;
        let line = with_digest(object);
        assert_eq!(check_digest(&line), DigestedLine::Intact(object.to_owned()));
        for bit in 0..8 * line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(text) = String::from_utf8(bytes) else { continue };
            assert!(!matches!(check_digest(&text), DigestedLine::Intact(_)), "{text}");
        }
        for other in ["", "\n", "}", "\"}", object, ",\"digest\":\"é1234567\"}"] {
            assert_eq!(check_digest(other), DigestedLine::Bare, "{other}");
        }
    }
}
