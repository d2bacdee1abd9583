//! How large a topology may be.

use crate::context::{Context, Reported};
use crate::source::Span;

/// Nodes at most after expansion, and as many links beside the tree (format, "Tree, links, names").
pub(super) const NODES: u64 = 10_000_000;

pub(super) fn too_many_nodes(context: &mut Context, span: Span) -> Reported {
    context.error(span, format!("more than {NODES} nodes in all"), "give fewer")
}

pub(super) fn too_many_links(context: &mut Context, span: Span) -> Reported {
    context.error(span, format!("more than {NODES} lateral links"), "give fewer")
}
