//! How results are written, and how long they would be.

use std::io::{BufWriter, Error, ErrorKind, Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use weir_optimize::text::is_unseen;

/// Writes a value as compact JSON. Characters that cannot be seen, or that reorder text, are escaped in strings, as in other
/// texts that weir prints.
///
/// # Errors
/// What the writer says.
pub fn write_json(value: &impl Serialize, out: impl Write) -> Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Visible)).map_err(Error::from)
}

/// A value as [`write_json`] writes it; nothing where it cannot be written as JSON.
#[must_use]
pub fn json_text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let _ = write_json(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes a value as one line.
pub(crate) fn write_line(value: &impl Serialize, out: impl Write) -> Result<()> {
    // A buffer of a known type: `out` may be behind a pointer, and a result is written in many small pieces.
    let mut out = BufWriter::with_capacity(1 << 16, out);
    write_json(value, &mut out)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The bytes of a value as JSON; `None` where these are more than `most`.
pub(crate) fn bytes(value: &impl Serialize, most: usize) -> Option<usize> {
    let mut count = Count { bytes: 0, most };
    write_json(value, &mut count).ok()?;
    Some(count.bytes)
}

/// Compact JSON whose strings show on a terminal what they hold.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> Result<()> {
        // Serde escapes what lies below U+0020 itself; of other ASCII only DEL cannot be seen.
        if text.bytes().all(|byte| byte < 0x7f) {
            return out.write_all(text.as_bytes());
        }
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_unseen(c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

/// Counts bytes; the write that would go beyond the most fails.
struct Count {
    bytes: usize,
    most: usize,
}

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.most { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_no_unseen_characters_and_are_read_back_as_they_were() {
        for (text, json) in [
            ("gpu0 → é", "\"gpu0 → é\""),
            ("a\u{9b}31m\u{7f}", r#""a\u009b31m\u007f""#),
            ("\u{202e}x\u{2066}", r#""\u202ex\u2066""#),
            ("é\u{feff}\n\"\\", r#""é\ufeff\n\"\\""#),
        ] {
            let mut out = Vec::new();
            write_json(&text, &mut out).expect("memory takes it");
            assert_eq!(String::from_utf8_lossy(&out), json);
            assert_eq!(serde_json::from_slice::<String>(&out).expect("is JSON"), text);
            let most = [usize::MAX, json.len(), json.len() - 1];
            assert_eq!(most.map(|most| bytes(&text, most)), [Some(json.len()), Some(json.len()), None]);
        }
    }
}
