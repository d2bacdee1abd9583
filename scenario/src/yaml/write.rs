//! Writes a tree as YAML: short lists and maps on one line, long ones with a line for each part.

use std::borrow::Cow;

use super::{Data, Entry, Scalar, Value};

/// Columns that a line of several parts fills at most; *assumed*, what an editor shows.
const WIDTH: usize = 120;

/// A value on one line.
pub(crate) fn flow(value: &Value) -> String {
    let mut out = String::new();
    write_flow(value, usize::MAX, &mut out);
    out
}

/// One key of the outermost map with its value, and a line break.
pub(crate) fn write_block(entry: &Entry, out: &mut String) {
    write_key(&entry.key, out);
    // A list of maps (the workload) and a map of lists (orders) read better with a line for each.
    let long = match &entry.value.data {
        Data::Scalar(_) => false,
        Data::Sequence(items) => items.iter().any(is_container),
        Data::Mapping(entries) => entries.iter().any(|e| matches!(e.value.data, Data::Sequence(_))),
    };
    after_key(&entry.value, 0, long, out);
}

/// Keys with their values, a line or more for each, after some spaces.
pub(crate) fn write_entries(entries: &[Entry], indent: usize, out: &mut String) {
    map_lines(entries, indent, false, out);
}

/// Items of a list, a line or more for each, after some spaces.
pub(crate) fn write_items(items: &[Value], indent: usize, out: &mut String) {
    list_lines(items, indent, out);
}

/// Whether two trees say the same, wherever they stand.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::Scalar(a), Data::Scalar(b)) => same_scalar(a, b),
        (Data::Sequence(a), Data::Sequence(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Data::Mapping(a), Data::Mapping(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        _ => false,
    }
}

/// Quotes make a difference only to texts that would mean something without them.
fn same_scalar(a: &Scalar, b: &Scalar) -> bool {
    if a.is_null() || b.is_null() {
        return a.is_null() && b.is_null();
    }
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let means = matches!(&*a.text, "true" | "false") || a.text.chars().all(number);
    a.text == b.text && (a.plain == b.plain || !means)
}

fn is_container(value: &Value) -> bool {
    !matches!(value.data, Data::Scalar(_))
}

fn is_empty(value: &Value) -> bool {
    match &value.data {
        Data::Scalar(_) => false,
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
    }
}

/// Writes on one line; `false` as soon as `out` is longer than `most` bytes.
fn write_flow(value: &Value, most: usize, out: &mut String) -> bool {
    match &value.data {
        Data::Scalar(scalar) => write_scalar(scalar, out),
        Data::Sequence(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                if !write_flow(item, most, out) {
                    return false;
                }
            }
            out.push(']');
        }
        Data::Mapping(entries) if entries.is_empty() => out.push_str("{}"),
        Data::Mapping(entries) => {
            for (i, entry) in entries.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "{ " });
                write_key(&entry.key, out);
                out.push(' ');
                if !write_flow(&entry.value, most, out) {
                    return false;
                }
            }
            out.push_str(" }");
        }
    }
    out.len() <= most
}

/// Writes what stands after `key:` or `-`, to the end of the line or further.
fn after_key(value: &Value, indent: usize, long: bool, out: &mut String) {
    if is_empty(value) || !is_container(value) || !long {
        let (start, line) = (out.len(), out.rfind('\n').map_or(0, |at| at + 1));
        out.push(' ');
        let most = if is_container(value) && !is_empty(value) { line + WIDTH } else { usize::MAX };
        if write_flow(value, most, out) {
            out.push('\n');
            return;
        }
        out.truncate(start);
    }
    out.push('\n');
    lines(value, indent + 2, out);
}

/// Writes the parts of a list or map, a line or more for each.
fn lines(value: &Value, indent: usize, out: &mut String) {
    match &value.data {
        Data::Scalar(scalar) => write_scalar(scalar, out),
        Data::Sequence(items) => list_lines(items, indent, out),
        Data::Mapping(entries) => map_lines(entries, indent, false, out),
    }
}

fn list_lines(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        out.extend(std::iter::repeat_n(' ', indent));
        out.push('-');
        match &item.data {
            Data::Mapping(entries) if !entries.is_empty() => {
                let start = out.len();
                // An operation is a key with a map; any other map stands in braces, if it fits.
                let keyed = entries.len() == 1 && is_container(&entries[0].value);
                if !keyed {
                    after_key(item, indent, false, out);
                }
                if keyed || out[start..].starts_with('\n') {
                    out.truncate(start);
                    map_lines(entries, indent + 2, true, out);
                }
            }
            _ => after_key(item, indent, false, out),
        }
    }
}

/// The entries of a map; the first stands after a dash, if so.
fn map_lines(entries: &[Entry], indent: usize, after_dash: bool, out: &mut String) {
    for (i, entry) in entries.iter().enumerate() {
        let spaces = if after_dash && i == 0 { 1 } else { indent };
        out.extend(std::iter::repeat_n(' ', spaces));
        write_key(&entry.key, out);
        after_key(&entry.value, indent, false, out);
    }
}

fn write_key(text: &str, out: &mut String) {
    out.push_str(&key(text));
    out.push(':');
}

/// A key of a map, in quotes where it needs them.
pub(crate) fn key(text: &str) -> Cow<'_, str> {
    if is_plain(text) && text != "<<" {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    write_quoted(text, &mut out);
    Cow::Owned(out)
}

fn write_scalar(scalar: &Scalar, out: &mut String) {
    match scalar.is_null() {
        true => out.push_str("null"),
        false if scalar.plain && is_plain(&scalar.text) => out.push_str(&scalar.text),
        false => write_quoted(&scalar.text, out),
    }
}

/// Whether a text may stand without quotes anywhere: a careful choice, not all that YAML allows.
fn is_plain(text: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '+' | '%' | '^' | '(' | ')' | '=');
    let Some(first) = text.chars().next() else { return false };
    let begins = first.is_alphanumeric()
        || matches!(first, '_' | '/' | '+' | '.')
        || (first == '-' && text[1..].starts_with(|c: char| c.is_alphanumeric() || c == '.'));
    let mut after = text.chars().skip(1).map(Some).chain([None]);
    // A space, colon or hash is plain between two letters only.
    let joined = |c: char, next: Option<char>| inner(c) || (matches!(c, ' ' | ':' | '#') && next.is_some_and(inner));
    begins && !text.starts_with("...") && text.chars().all(|c| joined(c, after.next().flatten())) && no_comment(text)
}

/// Whether no hash follows a space, which would begin a comment.
fn no_comment(text: &str) -> bool {
    !text.contains(" #")
}

fn write_quoted(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // What a file may not hold, and what editors take as the end of a line.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::context::Context;
    use crate::source::Span;
    use crate::yaml::parse;

    fn read(text: &str) -> Value {
        let mut context = Context::default();
        let source = context.sources.add("x", text);
        let value = parse(&mut context, source);
        value.unwrap_or_else(|_| panic!("{text}\n{}", context.finish().remove(0)))
    }

    fn written(value: &Value) -> String {
        let Data::Mapping(entries) = &value.data else { panic!("a map") };
        let mut out = String::new();
        entries.iter().for_each(|entry| write_block(entry, &mut out));
        out
    }

    fn value(data: Data) -> Value {
        Value { span: Span::default(), data }
    }

    fn entries(pairs: Vec<(String, Value)>) -> Value {
        let mut entries: Vec<Entry> = Vec::new();
        for (key, value) in pairs {
            if entries.iter().all(|e| *e.key != *key) {
                entries.push(Entry { key: key.into(), key_span: Span::default(), value });
            }
        }
        value(Data::Mapping(entries))
    }

    /// Texts of all kinds of letters that matter to YAML.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ -~]{0,12}",
            "[-+.0-9a-z:#,?!&*%@`'\"<>{}\\[\\]|=~ ]{0,6}",
            "[a-z0-9./ #:-]{1,8}",
            any::<String>(),
            Just("null".to_owned()),
            Just("---".to_owned()),
            Just("x".repeat(150)),
        ]
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = (text(), any::<bool>()).prop_map(|(text, plain)| {
            // What the parser calls plain stands on one line, without spaces around.
            let plain = plain && is_plain(&text);
            value(Data::Scalar(Scalar { text: text.into(), plain }))
        });
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(|items| value(Data::Sequence(items))),
                proptest::collection::vec((text(), inner), 0..6).prop_map(entries),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(pairs in proptest::collection::vec((text(), tree()), 1..6)) {
            let tree = entries(pairs);
            let block = written(&tree);
            prop_assert!(same(&read(&block), &tree), "{block}");
            let line = flow(&tree);
            prop_assert!(!line.contains('\n') && same(&read(&line), &tree), "{line}");
        }
    }

    #[test]
    fn looks_as_if_written_by_hand() {
        let text = "\
weir: 1
name: \"1\"
arbiter: { name: pcie-congestion, tau: 0.2 }
ranks: \"gpu[0-7]\"
order:
  gpu0: [h.0-1, h.0-4, \"a, b\"]
workload:
  - transfer: { id: a#1, from: { rank: 0 }, to: node1/gpu0, size: 300 MB, after: [] }
  - graph:
      edges: [[0, 1, 3], [1, 2, 1]]
      file: ../over/there.csv
      about: a text of many words that makes this operation much too long to be written on a single line of a file
";
        assert_eq!(written(&read(text)), text);
    }

    #[test]
    fn quotes_matter_where_the_text_means_something() {
        for (a, b, equal) in [
            ("x: a", "x: 'a'", true),
            ("x: 1", "x: '1'", false),
            ("x: -1", "x: '-1'", false),
            ("x: true", "x: 'true'", false),
            ("x: ~", "x:", true),
            ("x: ~", "x: '~'", false),
            ("x: [a, b]", "x:\n- a\n- 'b'", true),
            ("x: [a, b]", "x: [a]", false),
            ("x: {a: 1}", "x: {b: 1}", false),
        ] {
            assert_eq!(same(&read(a), &read(b)), equal, "{a} {b}");
        }
    }
}
