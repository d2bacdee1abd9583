//! Any bytes as the table of a plugin's library.

use std::ffi::CString;

use weir_plugin_api::abi::{
    ABI_MAJOR, ABI_MINOR, DescribedArbiterTable, Header, KIND_ARBITER, KIND_MODEL, KIND_PORT_ARBITER, MAGIC,
    ModelTable, PortArbiterTable, TaskRecord,
};
use weir_plugin_api::{GrantView, PhaseView};
use weir_plugin_host::TableParts;

/// A table is refused with a message, or what is read from it has a name, a version and a schema that can be used.
///
/// First the functions that are there and what of the header is right (a bit each), then the header's words, then texts that
/// end with 0, of which 1 alone is a null pointer.
pub fn table(bytes: &[u8]) {
    let Some(((functions, right, words), rest)) = split(bytes) else { return };
    let texts: Vec<Option<CString>> = rest
        .split(|byte| *byte == 0)
        .map(|text| (text != [1]).then(|| CString::new(text).expect("without 0")))
        .collect();
    let text = |place: usize| texts.get(place).and_then(Option::as_deref);
    let legend = texts.get(4..).unwrap_or(&[]).chunks_exact(3);
    let legend = legend.map(|step| [0, 1, 2].map(|part| step[part].as_deref())).collect();
    let mut parts = TableParts { header: arbiter(right, words), texts: [0, 1, 2, 3].map(text), functions, legend };
    match parts.read_arbiter() {
        Ok(entry) => {
            usable(&entry.name, &entry.version, &entry.params_schema);
            assert!(entry.legend.len() <= parts.legend.len());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    parts.header = port(right, words);
    match parts.read_port() {
        Ok(entry) => usable(&entry.name, &entry.version, &entry.params_schema),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    parts.header = model(right, words);
    match parts.read_model() {
        Ok(entry) => {
            usable(&entry.name, &entry.version, &entry.schema);
            assert!(!entry.operations.is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

type Start = (u8, u8, [u32; 8]);

fn split(bytes: &[u8]) -> Option<(Start, &[u8])> {
    let (start, rest) = bytes.split_at_checked(34)?;
    let word = |place: usize| Some(u32::from_le_bytes(start[2 + 4 * place..][..4].try_into().ok()?));
    let mut words = [0; 8];
    for (place, slot) in words.iter_mut().enumerate() {
        *slot = word(place)?;
    }
    Some(((start[0], start[1], words), rest))
}

fn arbiter(right: u8, words: [u32; 8]) -> Header {
    header(right, words, KIND_ARBITER, size_of::<DescribedArbiterTable>(), size_of::<PhaseView<'_>>())
}

fn port(right: u8, words: [u32; 8]) -> Header {
    header(right, words, KIND_PORT_ARBITER, size_of::<PortArbiterTable>(), size_of::<GrantView<'_>>())
}

fn model(right: u8, words: [u32; 8]) -> Header {
    header(right, words, KIND_MODEL, size_of::<ModelTable>(), size_of::<TaskRecord<'_>>())
}

/// A header of words, but for those that are to be right.
fn header(right: u8, words: [u32; 8], kind: u32, table: usize, view: usize) -> Header {
    let word = |bit: u8, good: u32| if right >> bit & 1 == 1 { good } else { words[usize::from(bit)] };
    Header {
        magic: if right & 1 == 1 { MAGIC } else { u64::from(words[0]) << 32 | u64::from(words[7]) },
        abi_major: word(1, ABI_MAJOR),
        abi_minor: word(2, ABI_MINOR),
        table_size: word(3, table as u32),
        view_size: word(4, view as u32),
        kind: word(5, kind),
        flags: word(6, 0),
    }
}

fn usable(name: &str, version: &str, schema: &str) {
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{name:?}");
    assert!(!name.is_empty() && !version.trim().is_empty());
    assert!(serde_json::from_str::<serde_json::Value>(schema).is_ok_and(|schema| schema.is_object()), "{schema}");
}

/// Right tables, and some with one thing wrong.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let schema = r#"{"type": "object", "properties": {"put": {}, "get": {}}}"#;
    let texts = ["my-policy", "1.0.0", "put get", schema, "share", "fair share", "Divides the link equally."];
    let with = |functions: u8, right: u8, texts: &[&str]| {
        let mut bytes = vec![functions, right];
        bytes.extend([0; 32]);
        bytes.extend(texts.join("\0").bytes());
        bytes
    };
    let mut seeds = vec![with(0xff, 0xff, &texts), with(0xfb, 0xff, &texts)];
    seeds.extend((0..7).map(|bit| with(0xff, !(1 << bit), &texts)));
    seeds.extend((0..7).map(|place| {
        let mut texts = texts;
        texts[place] = "\u{1}";
        with(0xff, 0xff, &texts)
    }));
    seeds
}
