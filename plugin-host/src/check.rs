//! Checks that tables of every kind pass before anything in them is called.

use std::ffi::{CStr, c_char};

use weir_plugin_api::abi::{ABI_MAJOR, ABI_MINOR, Header, MAGIC};

use crate::error::TableError;

/// A text of a table that is longer than this (*assumed*: no schema is) is taken for one without an end.
const MAX_TEXT: usize = 1 << 20;

/// What a kind of table demands.
pub(crate) struct Rules {
    /// What the table describes, in the plural.
    pub(crate) what: &'static str,
    pub(crate) kind: u32,
    /// Name of the table's structure in C, and its size.
    pub(crate) table: (&'static str, usize),
    /// The same of the structure whose size `view_size` gives.
    pub(crate) view: (&'static str, usize),
    /// The minor version that brought this kind, and its name in C.
    pub(crate) first_minor: (u32, &'static str),
    /// The flags that a table of this minor version and size may set.
    pub(crate) flags: fn(&Header) -> u32,
    /// Which functions may be null, for a person.
    pub(crate) optional: &'static str,
}

impl Rules {
    /// Reads and checks the header of a table.
    ///
    /// # Safety
    /// `table` is not null and points to memory that holds at least a header.
    pub(crate) unsafe fn header<T>(&self, table: *const T) -> Result<Header, TableError> {
        if !table.is_aligned() {
            return Err(TableError::Unaligned { table: self.table.0 });
        }
        // SAFETY: by contract; the pointer is aligned, and every table as strictly as its header.
        let header = unsafe { table.cast::<Header>().read() };
        self.check_header(&header)?;
        Ok(header)
    }

    fn check_header(&self, header: &Header) -> Result<(), TableError> {
        if header.magic != MAGIC {
            return Err(TableError::Magic { found: header.magic, expected: MAGIC });
        }
        if header.abi_major != ABI_MAJOR {
            return Err(TableError::Major { found: header.abi_major, supported: ABI_MAJOR });
        }
        if header.abi_minor > ABI_MINOR {
            return Err(TableError::Minor { major: ABI_MAJOR, found: header.abi_minor, supported: ABI_MINOR });
        }
        if header.kind != self.kind {
            return Err(TableError::Kind { found: header.kind, what: self.what, expected: self.kind });
        }
        let (first, name) = self.first_minor;
        if header.abi_minor < first {
            let what = self.what;
            return Err(TableError::BeforeFirst { major: ABI_MAJOR, found: header.abi_minor, what, first, name });
        }
        let (name, size) = self.table;
        if (header.table_size as usize) < size {
            return Err(TableError::Short { found: header.table_size, expected: size, table: name });
        }
        let (name, size) = self.view;
        if header.view_size as usize != size {
            return Err(TableError::View { found: header.view_size, expected: size, view: name });
        }
        let known = (self.flags)(header);
        let unknown = header.flags & !known;
        if unknown != 0 {
            return Err(TableError::Flags { unknown, known });
        }
        Ok(())
    }

    /// A function that must be there.
    pub(crate) fn function<F>(&self, function: Option<F>, name: &'static str) -> Result<F, TableError> {
        function.ok_or(TableError::NullFunction { function: name, optional: self.optional })
    }
}

/// A text of a table.
///
/// # Safety
/// `text` is null or points to a text that ends with a NUL.
pub(crate) unsafe fn text(field: &'static str, text: *const c_char) -> Result<String, TableError> {
    let error = |problem: String| TableError::Text { field, problem };
    if text.is_null() {
        return Err(error("is null; point it to a static text".to_owned()));
    }
    // SAFETY: by contract.
    let text = unsafe { CStr::from_ptr(text) };
    if text.count_bytes() > MAX_TEXT {
        return Err(error(format!("is longer than {MAX_TEXT} bytes; shorten it, or end it with NUL")));
    }
    match text.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(e) => Err(error(format!("is not UTF-8 ({e})"))),
    }
}

/// A version: anything but nothing.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn version(version: *const c_char) -> Result<String, TableError> {
    // SAFETY: by contract.
    let version = unsafe { text("version", version) }?;
    if version.trim().is_empty() {
        return Err(TableError::Text { field: "version", problem: "is empty; write one such as 1.0.0".to_owned() });
    }
    Ok(version)
}

/// A name: lower-case words and digits joined by `-`.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<(), TableError> {
    let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if name.split('-').all(word) && name.as_bytes()[0].is_ascii_lowercase() {
        return Ok(());
    }
    let verb = if field == "name" { "is" } else { "has" };
    let problem = format!("{verb} `{}`; write lower-case words and digits joined by `-`", name.escape_debug());
    Err(TableError::Text { field, problem })
}

/// A JSON Schema, as far as this crate reads it: a JSON object.
pub(crate) fn check_schema(field: &'static str, schema: &str) -> Result<serde_json::Value, TableError> {
    let problem = match serde_json::from_str::<serde_json::Value>(schema) {
        Ok(schema @ serde_json::Value::Object(_)) => return Ok(schema),
        Ok(_) => "is not a JSON object".to_owned(),
        Err(e) => format!("is not JSON: {e}"),
    };
    let problem = format!("{problem}; write a JSON Schema such as {{\"type\": \"object\"}}");
    Err(TableError::Text { field, problem })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn names_are_words_and_digits_joined_by_hyphens() {
        for name in ["a", "max-min", "a1-2b", "x9"] {
            check_name("name", name).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        for name in ["", "-", "-a", "a-", "a--b", "1a", "9", "A", "aB", "a_b", "a b", "ä"] {
            assert!(check_name("name", name).is_err(), "{name}");
        }
        let words = |field| check_name(field, "A").expect_err("an upper-case word").to_string();
        assert!(words("name").contains("is `A`") && words("operations").contains("has `A`"), "{}", words("operations"));
    }

    #[test]
    fn a_text_may_be_as_long_as_is_said() {
        let of = |length: usize| {
            let bytes = CString::new(vec![b'a'; length]).expect("no NUL");
            // SAFETY: it ends with a NUL.
            unsafe { text("version", bytes.as_ptr()) }.map(|text| text.len())
        };
        assert_eq!(of(MAX_TEXT).expect("not too long"), MAX_TEXT);
        assert!(of(MAX_TEXT + 1).is_err());
    }
}
