//! Lateral links: `links: - { between: [rc0, rc1], type: qpi }`.

use weir_sim_core::{FabricBuilder, FabricError};

use super::LinkTypeOf;
use super::kinds::KindId;
use super::link_type::{LINK, LinkTypes};
use super::names::NodeNames;
use super::template::NODES;
use crate::brackets::NamePattern;
use crate::context::{Context, Read};
use crate::format::{KeyTable, Shape, required};
use crate::yaml::Value;
use weir_plugin_api::NodeId;

/// An item of `links`.
pub(super) static LATERAL: KeyTable = KeyTable::new(
    "lateral_link",
    "A link, or several, between nodes that are not parent and child.",
    &[
        required("type", Shape::Named(&LINK), ""),
        required(
            "between",
            Shape::Tuple(2, 2, &Shape::Text),
            "Both ends; names with brackets stand for several nodes.",
        ),
    ],
);

/// What lateral links are added to.
pub(super) struct Target<'a> {
    pub(super) types: &'a mut LinkTypes,
    pub(super) names: &'a NodeNames,
    pub(super) builder: &'a mut FabricBuilder,
    /// Per pair of directed links: which type it has.
    pub(super) pairs: &'a mut Vec<LinkTypeOf>,
    /// Per pair of directed links: its kind.
    pub(super) kinds: &'a mut Vec<KindId>,
}

/// Adds the links of the list.
pub(super) fn read(context: &mut Context, mut target: Target<'_>, list: Option<&Value>) -> Read<()> {
    let Some(list) = list else { return Ok(()) };
    let mut left = NODES;
    for item in context.list(list, "`links`")? {
        // One wrong link does not hide the next.
        let _ = link(context, &mut target, item, &mut left);
        if context.full() {
            break;
        }
    }
    Ok(())
}

fn link(context: &mut Context, target: &mut Target<'_>, item: &Value, left: &mut u64) -> Read<()> {
    let Target { types, names, builder, pairs, kinds } = target;
    let fields = context.fields(item, "a lateral link", &LATERAL)?;
    let value = fields.require(context, "type")?;
    let (link, name) = types.resolve(context, value)?;
    let kind = link.kind.unwrap_or_else(|| name.map_or(KindId::OTHER, |name| types.kinds.of(name)));
    let spec = link.spec(kind);
    let between = fields.require(context, "between")?;
    let [first, second] = context.list(between, "`between`")? else {
        return Err(context.error(between.span, "a link joins two nodes", "write `between: [rc0, rc1]`"));
    };
    let (a, b) = (ends(context, first)?, ends(context, second)?);
    let (n, m) = (a.count(), b.count());
    if n != m && n != 1 && m != 1 {
        let message = format!("{n} nodes on one side and {m} on the other");
        return Err(context.error(between.span, message, "give as many on both sides, or one node on one side"));
    }
    let count = n.max(m);
    if count > *left {
        return Err(context.error(between.span, format!("more than {NODES} lateral links"), "give fewer"));
    }
    *left -= count;
    let type_of = link.named.map_or(LinkTypeOf::InPlace(pairs.len() as u32), LinkTypeOf::Named);
    for i in 0..count {
        let from = node(context, names, first, &a.name(i.min(n - 1)))?;
        let to = node(context, names, second, &b.name(i.min(m - 1)))?;
        builder.lateral(from, to, spec).map_err(|error| {
            let (message, help) = refused(&error, names.shown(from), names.shown(to));
            context.error(between.span, message, help)
        })?;
        pairs.push(type_of);
        kinds.push(kind);
    }
    Ok(())
}

/// Why two nodes cannot be joined, and what to do.
fn refused(error: &FabricError, x: &str, y: &str) -> (String, &'static str) {
    match error {
        FabricError::Loop(_) => (format!("a link from `{x}` to itself"), "name two different nodes"),
        FabricError::Twice(..) => {
            (format!("`{x}` and `{y}` are joined twice"), "keep one link; add their bandwidths for a wider one")
        }
        other => (other.to_string(), "change the link"),
    }
}

fn ends(context: &mut Context, value: &Value) -> Read<NamePattern> {
    context.parse(value, "an end of a lateral link", NamePattern::read)
}

fn node(context: &mut Context, names: &NodeNames, value: &Value, name: &str) -> Read<NodeId> {
    names.resolve(name).map_err(|problem| context.error(value.span, problem.message, problem.help))
}
