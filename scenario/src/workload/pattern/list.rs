//! Lists in patterns: `weights` and `edges`.

use super::times;
use crate::context::{Context, Fields, Problem, Read};
use crate::units::{self, Decimal};
use crate::yaml::Value;

/// Ranks and bytes of each edge.
pub(super) type Edges = Vec<(u32, u32, u64)>;

/// `size`, and `size` times each of `weights` (1 when not given), for a number of axes.
pub(super) fn weighted(context: &mut Context, fields: &Fields<'_>, axes: usize) -> Read<(u64, Vec<u64>)> {
    let bytes = fields.parse(context, "size", units::byte_size)?;
    let Some(value) = fields.get("weights") else { return Ok((bytes, vec![bytes; axes])) };
    let items = context.list(value, "`weights`")?;
    if items.len() != axes {
        let message = format!("`weights` has {} items for {axes} axes", items.len());
        return Err(context.error(value.span, message, "give one weight for each axis"));
    }
    let size = Decimal::whole(bytes);
    let weight = |item| context.parse(item, "a weight", |text| times(&size, &units::decimal(text)?));
    let all: Read<Vec<u64>> = items.iter().map(weight).collect();
    Ok((bytes, all?))
}

/// `edges: [[u, v, weight], …]` with `unit`: the unit, and ranks and bytes of each.
pub(super) fn edges(context: &mut Context, fields: &Fields<'_>, ranks: u32) -> Read<(u64, Edges)> {
    let bytes = fields.parse(context, "unit", units::byte_size)?;
    let unit = Decimal::whole(bytes);
    let value = fields.require(context, "edges")?;
    let items = context.list(value, "`edges`")?;
    let all: Read<Vec<_>> = items.iter().map(|item| edge(context, item, &unit, ranks)).collect();
    Ok((bytes, all?))
}

fn edge(context: &mut Context, item: &Value, unit: &Decimal, ranks: u32) -> Read<(u32, u32, u64)> {
    let parts = context.list(item, "an edge")?;
    let (u, v, weight) = match parts {
        [u, v] => (u, v, None),
        [u, v, weight] => (u, v, Some(weight)),
        _ => return Err(context.error(item.span, "an edge has two ranks and a weight", "write `[0, 1, 3]`")),
    };
    let (u, v) = (rank(context, u, ranks)?, rank(context, v, ranks)?);
    if u == v {
        return Err(context.error(item.span, format!("an edge from rank {u} to itself"), "name two different ranks"));
    }
    let bytes = match weight {
        None => times(unit, &Decimal::whole(1)).map_err(|problem| context.problem(item.span, "an edge", problem)),
        Some(weight) => context.parse(weight, "the weight of an edge", |text| times(unit, &units::decimal(text)?)),
    };
    Ok((u, v, bytes?))
}

fn rank(context: &mut Context, value: &Value, ranks: u32) -> Read<u32> {
    context.parse(value, "an end of an edge", |text| {
        let rank = units::whole_number(text, u64::from(u32::MAX))? as u32;
        let help = format!("there are {ranks} ranks, numbered from 0");
        if rank < ranks { Ok(rank) } else { Err(Problem::new(format!("there is no rank {rank}"), help)) }
    })
}
