//! XML of dumps: parsed within bounds.

use roxmltree::{Document, Node, ParsingOptions};

use crate::refusal::Refusal;

/// Elements, attributes aside, at most; *assumed*: the largest hwloc dumps have some ten thousand.
const NODES: u32 = 1_000_000;

/// Elements inside each other at most; *assumed*: hwloc's deepest have 20, and reading must not exhaust the stack.
const NESTED: usize = 200;

/// Parses a dump. Document types are allowed, as hwloc writes one; entities are bounded by the parser.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, Refusal> {
    check_depth(text)?;
    let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let help = "the file is cut, or was changed by hand; make the dump again";
        let message = format!("not well-formed XML: {error}");
        // The parser gives no place to the end of the text.
        let line = match error {
            roxmltree::Error::UnexpectedEndOfStream => text.lines().count() as u32,
            _ => error.pos().row,
        };
        Refusal::new(message.chars().take(200).collect::<String>()).at(line).help(help)
    })
}

/// Refuses deep nesting before a parser descends into it: counts opening and closing tags. Where this counts a `<` of a
/// comment or a value, it counts too many by a few.
fn check_depth(text: &str) -> Result<(), Refusal> {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end..]);
            continue;
        }
        if rest.starts_with(['!', '?']) {
            continue;
        }
        if rest.starts_with('/') {
            depth = depth.saturating_sub(1);
            continue;
        }
        depth += 1;
        if depth > NESTED {
            let line = 1 + text[..text.len() - rest.len()].bytes().filter(|&b| b == b'\n').count();
            let message = format!("elements nest more than {NESTED} deep");
            return Err(Refusal::new(message).at(line as u32).help("no machine has that; make the dump again"));
        }
        let Some(end) = rest.find('>') else { break };
        if rest[..end].ends_with('/') {
            depth -= 1;
        }
        rest = &rest[end..];
    }
    Ok(())
}

/// The line of a node.
pub(crate) fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

/// A whole number, decimal or with `0x`.
pub(crate) fn number(node: Node<'_, '_>, key: &str) -> Option<u32> {
    let text = node.attribute(key)?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
