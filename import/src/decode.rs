//! Bytes of a dump as text: refuses what is no text before a parser sees it.

use crate::refusal::Refusal;

/// Most bytes of a dump; *assumed*: real ones have less than 5 MB, and the file that is written may have 16 MiB.
pub const MOST_BYTES: usize = 32 << 20;

/// The text of a dump, without a byte order mark.
pub(crate) fn text(bytes: &[u8]) -> Result<String, Refusal> {
    if bytes.len() > MOST_BYTES {
        let message = format!("the file has more than {} MiB, which no dump of one machine has", MOST_BYTES >> 20);
        return Err(Refusal::new(message).help("give the dump of one machine"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Refusal::new("the file is UTF-16, not UTF-8")
            .at(1)
            .help("convert it: `iconv -f UTF-16 -t UTF-8 FILE > dump.txt`"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Refusal::new("the file is empty").help("make the dump again"));
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        return Err(Refusal::new("the file is binary: it has a zero byte").at(line(bytes, at)).help(TEXT));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(without_late_declaration(text)),
        Err(error) => Err(Refusal::new("not UTF-8").at(line(bytes, error.valid_up_to())).help(LATIN)),
    }
}

/// Blanks a declaration `<?xml … ?>` that pasted empty lines stand before, which a parser refuses; all places stay as they are.
fn without_late_declaration(text: &str) -> String {
    let start = text.len() - text.trim_start().len();
    let declaration = text[start..].starts_with("<?xml ").then(|| text[start..].find("?>")).flatten();
    let end = declaration.filter(|_| start > 0).map_or(start, |end| start + end + 2);
    let blank = text[..end].chars().map(|c| if c.is_whitespace() { c } else { ' ' });
    blank.chain(text[end..].chars()).collect()
}

const LATIN: &str = "where the file is Latin-1 or the like, convert it: `iconv -f ISO-8859-1 -t UTF-8 FILE > dump.txt`; else give the \
     dump as the tool wrote it";

const TEXT: &str = "give the dump as the tool wrote it, as plain text in UTF-8";

fn line(bytes: &[u8], at: usize) -> u32 {
    1 + bytes[..at].iter().filter(|&&b| b == b'\n').count() as u32
}
