//! XML of dumps: parsed within bounds.

mod depth;

use roxmltree::{Document, Node, ParsingOptions};

use crate::refusal::Refusal;

/// Elements, attributes aside, at most; *assumed*: the largest hwloc dumps have some ten thousand.
const NODES: u32 = 1_000_000;

/// A dump that is well-formed.
pub(crate) struct Dump<'d> {
    pub(crate) document: Document<'d>,
    pub(crate) lines: Lines,
}

/// Parses a dump. Document types without definitions are allowed, as hwloc writes one.
pub(crate) fn parse(text: &str) -> Result<Dump<'_>, Refusal> {
    depth::check(text)?;
    let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let help = "the file is cut, or was changed by hand; make the dump again";
        // The parser's text ends with the place, which the refusal has by itself.
        let (text_of, place) = (error.to_string(), format!(" at {}", error.pos()));
        let message = format!("not well-formed XML: {}", text_of.strip_suffix(&place).unwrap_or(&text_of));
        let refusal = Refusal::new(message.chars().take(200).collect::<String>()).help(help);
        // The parser gives no place to the end of the text.
        match error {
            roxmltree::Error::UnexpectedEndOfStream => refusal.at(text.lines().count() as u32),
            _ => refusal.at(error.pos().row).column(error.pos().col),
        }
    })?;
    Ok(Dump { document, lines: Lines::of(text) })
}

/// Where lines begin, so that the line of a node is found without reading the text again.
pub(crate) struct Lines {
    /// The places of all line ends, in bytes.
    ends: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        Self { ends: text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect() }
    }

    /// The line of a node, from 1.
    pub(crate) fn line(&self, node: Node<'_, '_>) -> u32 {
        1 + self.ends.partition_point(|&end| end < node.range().start) as u32
    }
}

/// A refusal at a node.
pub(crate) fn refused(node: Node<'_, '_>, refusal: Refusal) -> Refusal {
    let place = node.document().text_pos_at(node.range().start);
    refusal.at(place.row).column(place.col)
}

/// A whole number, decimal or with `0x`.
pub(crate) fn number(node: Node<'_, '_>, key: &str) -> Option<u32> {
    let text = node.attribute(key)?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_parsers() {
        let text = "<a>\r\n <b/>é<c\n x='1'/>\n\n<d/></a>\n";
        let dump = parse(text).expect("is XML");
        for node in dump.document.descendants() {
            assert_eq!(dump.lines.line(node), dump.document.text_pos_at(node.range().start).row, "{node:?}");
        }
    }
}
