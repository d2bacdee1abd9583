//! Grids of ranks: `halo` (faces, no wrap) and `torus` (with wrap).

use super::{enough, list};
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::units;

/// Axes at most; *assumed*.
const AXES: usize = 16;

/// A grid; ranks grow along the first axis of `order` first.
pub(super) struct Grid {
    lengths: Vec<u32>,
    /// Distance in ranks between neighbours along each axis.
    strides: Vec<u32>,
    /// Bytes of a message along each axis.
    bytes: Vec<u64>,
    /// `size`, which the weights of the axes multiply.
    pub(super) unit: u64,
    /// Whether two neighbours that are one and the same (wrap, length 2) get two messages.
    twice: bool,
}

/// Reads `grid`, `weights`, `axis_order` and `wrap2`.
pub(super) fn read(context: &mut Context, fields: &Fields<'_>, ranks: u32) -> Read<Grid> {
    let value = fields.require(context, "grid")?;
    let items = context.list(value, "`grid`")?;
    if items.is_empty() || items.len() > AXES {
        return Err(context.error(value.span, format!("a grid has 1 to {AXES} axes"), "write it as in `grid: [4, 2]`"));
    }
    let mut lengths = Vec::new();
    for item in items {
        lengths.push(context.parse(item, "a length of `grid`", |text| {
            match units::whole_number(text, u64::from(u32::MAX))? {
                0 => Err(Problem::new("`0` is too short", "give at least 1")),
                n => Ok(n as u32),
            }
        })?);
    }
    let needed = lengths.iter().fold(1, |n: u64, &l| n.saturating_mul(u64::from(l)));
    enough(context, fields, "grid", needed, ranks)?;
    let order = order(context, fields, lengths.len())?;
    let mut strides = vec![0; lengths.len()];
    let mut stride = 1;
    for axis in order {
        strides[axis] = stride;
        stride *= lengths[axis];
    }
    let (unit, bytes) = list::weighted(context, fields, lengths.len())?;
    let twice = fields.parse_or(context, "wrap2", false, |text| match text {
        "once" => Ok(false),
        "twice" => Ok(true),
        _ => Err(Problem::new(format!("{} is neither `once` nor `twice`", quoted(text)), "write `once` or `twice`")),
    })?;
    Ok(Grid { lengths, strides, bytes, unit, twice })
}

/// `axis_order`: every axis once, fastest first.
fn order(context: &mut Context, fields: &Fields<'_>, axes: usize) -> Read<Vec<usize>> {
    let Some(value) = fields.get("axis_order") else { return Ok((0..axes).collect()) };
    let mut order = Vec::new();
    for item in context.list(value, "`axis_order`")? {
        order.push(context.parse(item, "an axis", |text| units::whole_number(text, AXES as u64))? as usize);
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..axes) {
        let help = format!("list the axes 0 to {}, fastest first", axes - 1);
        return Err(context.error(value.span, "`axis_order` must name every axis once", help));
    }
    Ok(order)
}

impl Grid {
    fn ranks(&self) -> u32 {
        self.lengths.iter().product()
    }

    pub(super) fn messages(&self, wrap: bool) -> u64 {
        let ranks = u64::from(self.ranks());
        let along = |&length: &u32| {
            let length = u64::from(length);
            let per_line = match (length, wrap) {
                (1, _) => 0,
                (2, true) if self.twice => 4,
                (_, true) if length > 2 => 2 * length,
                _ => 2 * (length - 1),
            };
            ranks / length * per_line
        };
        self.lengths.iter().map(along).sum()
    }

    /// Ranks ascending, axes ascending, lower neighbour before upper.
    pub(super) fn each(&self, wrap: bool, send: &mut dyn FnMut(u32, u32, u64) -> Read<()>) -> Read<()> {
        for rank in 0..self.ranks() {
            for axis in 0..self.lengths.len() {
                let (lower, upper) = self.neighbours(rank, axis, wrap);
                for to in [lower, upper].into_iter().flatten() {
                    send(rank, to, self.bytes[axis])?;
                }
            }
        }
        Ok(())
    }

    fn neighbours(&self, rank: u32, axis: usize, wrap: bool) -> (Option<u32>, Option<u32>) {
        let (length, stride) = (self.lengths[axis], self.strides[axis]);
        let at = rank / stride % length;
        let (first, last) = (at == 0, at + 1 == length);
        let round = (length - 1) * stride;
        let lower = if first { (wrap && length > 1).then(|| rank + round) } else { Some(rank - stride) };
        let upper = if last { (wrap && length > 1).then(|| rank - round) } else { Some(rank + stride) };
        // With wrap, the two neighbours along a length of 2 are the same rank.
        if wrap && length == 2 && !self.twice { (lower, None) } else { (lower, upper) }
    }
}
