//! Drawings: in text a Gantt chart of a run, the tree of a topology, and the topology for Graphviz; and what writes SVG.

mod dot;
mod gantt;
pub mod svg;
mod tree;

pub use dot::dot;
pub use gantt::gantt;
pub use tree::tree;

use weir_plugin_api::NodeId;
use weir_sim_core::Fabric;

/// A fabric and the names of its nodes.
#[derive(Clone, Copy)]
pub struct Drawn<'a> {
    /// The nodes and links that are drawn.
    pub fabric: &'a Fabric,
    /// Name of a node.
    pub name: &'a dyn Fn(NodeId) -> &'a str,
}

/// How a terminal draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Canvas {
    /// Columns; no line is longer.
    pub width: usize,
    /// Whether it shows more than ASCII.
    pub unicode: bool,
}

impl Canvas {
    /// A text in at most so many columns, with a mark where it was cut.
    fn fit(self, text: &str, columns: usize) -> String {
        let count = text.chars().count();
        if count <= columns {
            return text.to_owned();
        }
        let mark = if self.unicode { "…" } else { "~" };
        text.chars().take(columns.saturating_sub(1)).collect::<String>() + mark
    }

    /// A text for this terminal: what it cannot show becomes `?`.
    fn plain(self, text: &str) -> String {
        let text = crate::text::clean(text);
        if self.unicode { text } else { text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect() }
    }
}
