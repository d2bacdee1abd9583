//! A topology in the language of Graphviz: a box per node, an edge per pair of directed links.

use std::fmt::Write as _;

use weir_plugin_api::{Direction, LinkId, NodeKind};

use super::Drawn;
use crate::rate;
use crate::text::clean;

/// The topology as a `graph`; lateral links are dashed and do not shape the tree.
#[must_use]
pub fn dot(title: &str, drawn: &Drawn<'_>) -> String {
    let fabric = drawn.fabric;
    let mut text = format!("graph {} {{\n", quoted(title));
    text.push_str(
        "  graph [rankdir=TB];\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n",
    );
    for (i, node) in fabric.nodes().iter().enumerate() {
        let name = (drawn.name)(weir_plugin_api::NodeId::from_index(i));
        let (label, shape) = (format!("{name}\n{}", node.kind.word()), shape(node.kind));
        let _ = writeln!(text, "  n{i} [label={}, shape={shape}];", quoted(&label));
    }
    // Halves follow each other: up or forth first.
    for first in (0..fabric.links().len()).step_by(2) {
        let (there, back) = (fabric.link(LinkId::from_index(first)), fabric.link(LinkId::from_index(first + 1)));
        let label = if there.bandwidth.to_bits() == back.bandwidth.to_bits() {
            rate(there.bandwidth)
        } else {
            format!("{} forth, {} back", rate(there.bandwidth), rate(back.bandwidth))
        };
        let (label, from, to) = (quoted(&label), there.from.0, there.to.0);
        let _ = match there.direction {
            Direction::Lateral => writeln!(text, "  n{from} -- n{to} [label={label}, style=dashed, constraint=false];"),
            // A child stands below its parent.
            _ => writeln!(text, "  n{to} -- n{from} [label={label}];"),
        };
    }
    text + "}\n"
}

fn shape(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Gpu | NodeKind::Fpga => "component",
        NodeKind::Cpu | NodeKind::Host => "box3d",
        NodeKind::Network => "ellipse",
        _ => "box",
    }
}

/// A quoted string of the language, where only quotes and backslashes are special; line breaks are written as `\n`, and what
/// else cannot be seen as its number.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| clean(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}
