//! Texts that are not in UTF-8, by their first bytes.

/// Bytes that are looked at; *assumed*, a text begins with some words of ASCII.
pub(crate) const HEAD: usize = 64;

/// Of a text in UTF-16 or UTF-32: its encoding, and what to do about it. Known by the byte order mark (Unicode 16.0, section
/// 23.8); without one, by the zero bytes beside ASCII in all of the head.
#[doc(hidden)]
#[must_use]
pub fn wide_encoding(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    /// For both byte orders.
    const FROM_16: &str = "save it as UTF-8: `iconv -f UTF-16 -t UTF-8`, or in PowerShell `Out-File -Encoding utf8`";
    const FROM_32: &str = "save it as UTF-8: `iconv -f UTF-32 -t UTF-8`, or in PowerShell `Out-File -Encoding utf8`";
    let little_16 = Some(("UTF-16 (little-endian)", FROM_16));
    let big_16 = Some(("UTF-16 (big-endian)", FROM_16));
    let little_32 = Some(("UTF-32 (little-endian)", FROM_32));
    let big_32 = Some(("UTF-32 (big-endian)", FROM_32));
    match bytes {
        // The mark of UTF-16 begins so, too; but no text has the character 0 after it.
        [0xff, 0xfe, 0, 0, ..] => return little_32,
        [0, 0, 0xfe, 0xff, ..] => return big_32,
        [0xff, 0xfe, ..] => return little_16,
        [0xfe, 0xff, ..] => return big_16,
        _ => {}
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let is_ascii = |byte: u8| byte != 0 && byte.is_ascii();
    let all = |width: usize, at: usize| {
        let mut units = head.chunks_exact(width);
        let is_unit =
            |unit: &[u8]| unit.iter().enumerate().all(|(i, &byte)| if i == at { is_ascii(byte) } else { byte == 0 });
        units.len() > 1 && units.all(is_unit)
    };
    [(4, 0, little_32), (4, 3, big_32), (2, 0, little_16), (2, 1, big_16)]
        .into_iter()
        .find_map(|(width, at, found)| found.filter(|_| all(width, at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Encode = fn(char) -> Vec<u8>;

    #[test]
    fn wide_encodings_are_known_with_and_without_a_mark() {
        let text = "at,from,to,bandwidth\n";
        let wide = |mark: bool, of: Encode| -> Vec<u8> {
            mark.then_some('\u{feff}').into_iter().chain(text.chars()).flat_map(of).collect()
        };
        let encodings: [(&str, Encode); 4] = [
            ("UTF-16 (little-endian)", |c| (c as u16).to_le_bytes().to_vec()),
            ("UTF-16 (big-endian)", |c| (c as u16).to_be_bytes().to_vec()),
            ("UTF-32 (little-endian)", |c| (c as u32).to_le_bytes().to_vec()),
            ("UTF-32 (big-endian)", |c| (c as u32).to_be_bytes().to_vec()),
        ];
        for (name, of) in encodings {
            for mark in [true, false] {
                let found = wide_encoding(&wide(mark, of));
                assert_eq!(found.map(|(name, _)| name), Some(name), "with a mark: {mark}");
            }
        }
        for plain in [text.as_bytes(), "\u{feff}at,from".as_bytes(), b"", b"a\0", b"\0\0\0\0\0\0\0\0"] {
            assert_eq!(wide_encoding(plain), None, "{plain:?}");
        }
    }
}
