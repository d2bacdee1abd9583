//! Reads what `networks` says of a network.

use super::shape::Shape;
use super::{DRAGONFLY, FAT_TREE, LEAF_SPINE, STAR};
use crate::context::{Context, Fields, Problem, Read};
use crate::format::KeyTable;
use crate::topology::kinds::KindId;
use crate::topology::lateral::{End, MadeOf};
use crate::topology::limits::NODES;
use crate::topology::link_type::{LinkType, LinkTypes};
use crate::units;
use crate::yaml::{Data, Value};

/// The one shape that is given, and how many links make one of its last level.
pub(super) fn shape(context: &mut Context, fields: &Fields<'_>, what: &str) -> Read<(Shape, u64)> {
    let keys = ["star", "leaf-spine", "fat-tree", "dragonfly", "torus"];
    let shapes: Vec<_> = keys.iter().filter_map(|key| fields.entry(key)).collect();
    let [entry] = shapes[..] else {
        let help = format!("give one of {}", keys.join(", "));
        return Err(context.error(fields.span, format!("{what} needs exactly one shape"), help));
    };
    let what = format!("`{}` of {what}", entry.key);
    let value = &entry.value;
    let shape = match &*entry.key {
        "star" => sizes(context, value, &what, &STAR, []).map(|[]| Shape::Star)?,
        "fat-tree" => fat_tree(context, value, &what)?,
        "dragonfly" => {
            let [a, h, p] = sizes(context, value, &what, &DRAGONFLY, ["a", "h", "p"])?;
            Shape::Dragonfly { a, h, p }
        }
        "torus" => torus(context, value, &what)?,
        _ => {
            let [leaves, spines] = sizes(context, value, &what, &LEAF_SPINE, ["leaves", "spines"])?;
            let fields = context.fields(value, &what, &LEAF_SPINE)?;
            let links = fields.parse_or(context, "links", 1, network_size)?;
            return Ok((Shape::LeafSpine { leaves, spines }, links));
        }
    };
    Ok((shape, 1))
}

/// Sizes that must be given.
fn sizes<const N: usize>(
    context: &mut Context,
    value: &Value,
    what: &str,
    table: &KeyTable,
    keys: [&str; N],
) -> Read<[u64; N]> {
    let fields = context.fields(value, what, table)?;
    let mut sizes = [0; N];
    for (size, key) in sizes.iter_mut().zip(keys) {
        *size = fields.parse(context, key, network_size)?;
    }
    Ok(sizes)
}

fn fat_tree(context: &mut Context, value: &Value, what: &str) -> Read<Shape> {
    let [k] = sizes(context, value, what, &FAT_TREE, ["k"])?;
    if k % 2 == 1 {
        let span = value.get("k").map_or(value.span, |k| k.span);
        let even = if k == 1 { "2".to_owned() } else { format!("{} or {}", k - 1, k + 1) };
        let help = format!("half of the ports lead up: write {even}");
        return Err(context.error(span, format!("`k` of {what} is odd, {k}"), help));
    }
    Ok(Shape::FatTree { k })
}

fn torus(context: &mut Context, value: &Value, what: &str) -> Read<Shape> {
    let items = context.list(value, what)?;
    if items.is_empty() {
        return Err(context.error(value.span, format!("{what} has no dimension"), "write `torus: [4, 4, 2]`"));
    }
    let lengths = context.each(items, |context, item| context.parse(item, what, network_size))?;
    // A dimension of 1 has no links: however many of them a file has, they cost nothing.
    Ok(Shape::Torus(lengths.into_iter().filter(|&length| length > 1).collect()))
}

/// A size of a network.
fn network_size(text: &str) -> Result<u64, Problem> {
    units::at_least_one(text, NODES)
}

/// The patterns of the ends.
pub(super) fn ends(context: &mut Context, fields: &Fields<'_>) -> Read<Vec<End>> {
    let value = fields.require(context, "ends")?;
    let list = match &value.data {
        Data::Sequence(items) => items,
        _ => std::slice::from_ref(value),
    };
    if list.is_empty() {
        return Err(context.error(value.span, "`ends` is empty", "name the nodes that the network joins"));
    }
    context.each(list, |context, item| End::read(context, item, "an end of a network"))
}

/// What the links of each level are made of.
pub(super) fn levels(
    context: &mut Context,
    types: &mut LinkTypes,
    fields: &Fields<'_>,
    shape: &Shape,
    parallel: u64,
) -> Read<Vec<MadeOf>> {
    let value = fields.require(context, "types")?;
    let levels = shape.levels();
    let mut made_of = |context: &mut Context, value: &Value| {
        let (link, _) = types.resolve(context, value)?;
        Ok(MadeOf { kind: link.kind.unwrap_or(KindId::NETWORK), link, place: value.span })
    };
    let mut all = match &value.data {
        Data::Mapping(_) => {
            let fields = context.fields_among(value, "`types` of this network", levels.iter().copied())?;
            let of_levels = levels.iter().map(|level| fields.require(context, level)).collect::<Read<Vec<_>>>()?;
            context.each(of_levels, made_of)?
        }
        _ => vec![made_of(context, value)?; levels.len()],
    };
    if let Some(last) = all.last_mut() {
        let LinkType { up, down, shared, .. } = &mut last.link;
        for bandwidth in [up, down].into_iter().chain(shared.as_mut().map(|shared| &mut shared.bandwidth)) {
            *bandwidth = units::in_parallel(*bandwidth, parallel)
                .map_err(|problem| context.error(value.span, problem.message, problem.help))?;
        }
    }
    Ok(all)
}
