//! Reads what `networks` says of a network.

use super::shape::Shape;
use super::{DRAGONFLY, FAT_TREE, LEAF_SPINE, STAR};
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::KeyTable;
use crate::topology::kinds::KindId;
use crate::topology::lateral::{End, MadeOf};
use crate::topology::link_type::LinkTypes;
use crate::topology::template::NODES;
use crate::units;
use crate::yaml::{Data, Value};

/// Bandwidth of a link at most, in bytes per second, as of a link type (docs/scenario-format.md, "Links").
const MOST_BANDWIDTH: f64 = 1e18;

/// The one shape that is given, and how many links make one of its last level.
pub(super) fn shape(context: &mut Context, fields: &Fields<'_>, what: &str) -> Read<(Shape, u64)> {
    let keys = ["star", "leaf-spine", "fat-tree", "dragonfly", "torus"];
    let given: Vec<_> = keys.iter().filter_map(|key| fields.entry(key)).collect();
    let [entry] = given[..] else {
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
            let links = fields.parse_or(context, "links", 1, at_least_one)?;
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
        *size = fields.parse(context, key, at_least_one)?;
    }
    Ok(sizes)
}

fn fat_tree(context: &mut Context, value: &Value, what: &str) -> Read<Shape> {
    let [k] = sizes(context, value, what, &FAT_TREE, ["k"])?;
    if k % 2 == 1 {
        let span = value.get("k").map_or(value.span, |k| k.span);
        let help = format!("half of the ports lead up: write {} or {}", k - 1, k + 1);
        return Err(context.error(span, format!("`k` of {what} is odd, {k}"), help.replace(" 0 or", "")));
    }
    Ok(Shape::FatTree { k })
}

fn torus(context: &mut Context, value: &Value, what: &str) -> Read<Shape> {
    let items = context.list(value, what)?;
    if items.is_empty() {
        return Err(context.error(value.span, format!("{what} has no dimension"), "write `torus: [4, 4, 2]`"));
    }
    context.each(items, |context, item| context.parse(item, what, at_least_one)).map(Shape::Torus)
}

fn at_least_one(text: &str) -> Result<u64, Problem> {
    match units::whole_number(text, NODES)? {
        0 => Err(Problem::new("`0` is too few", "give at least 1")),
        n => Ok(n),
    }
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
    (shape, parallel): (&Shape, u64),
) -> Read<Vec<MadeOf>> {
    let value = fields.require(context, "types")?;
    let levels = shape.levels();
    let of_levels: Vec<&Value> = match &value.data {
        Data::Mapping(_) => {
            let fields = context.fields_among(value, "`types` of this network", levels.iter().copied())?;
            levels.iter().map(|level| fields.require(context, level)).collect::<Read<_>>()?
        }
        _ => vec![value; levels.len()],
    };
    let mut all = context.each(of_levels, |context, value| {
        let (link, _) = types.resolve(context, value)?;
        Ok(MadeOf { link, kind: link.kind.unwrap_or(KindId::NETWORK), place: value.span })
    })?;
    if let Some(last) = all.last_mut() {
        let (up, down) = (last.link.up * parallel as f64, last.link.down * parallel as f64);
        if up.max(down) > MOST_BANDWIDTH {
            let message = format!("{parallel} links of {} have too much bandwidth", quoted("types"));
            return Err(context.error(value.span, message, "give at most 1e18 B/s in all"));
        }
        (last.link.up, last.link.down) = (up, down);
    }
    Ok(all)
}
