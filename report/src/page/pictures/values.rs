//! The makespan over the values of the one parameter that varies, a bar for each.

use super::scale::Scale;
use super::{WIDTH, time};
use crate::draw::svg::{Anchor, Svg, fitting};
use crate::json::{List, SearchJson};

/// Bars at most (*assumed*): of more values there is one for every second, third and so on, and for the best.
const MOST: usize = 200;

/// Pixels.
const LEFT: f64 = 200.0;
const PLOT: f64 = 640.0;
const TOP: f64 = 84.0;
const ROW: f64 = 22.0;
const BAR: f64 = 14.0;

const COLOUR: &str = "#2a6fb0";
const BEST: &str = "#3f8f4f";
const MARK: &str = "#d9822b";

/// The picture; `None` where several parameters vary or what varies is a seed, and where not every candidate that runs to its
/// end is known.
pub(super) fn of(title: &str, search: &SearchJson<'_>) -> Option<String> {
    let rows = search.rows.as_ref().map_or(&[][..], List::at_hand);
    let mut rows: Vec<_> = rows.iter().map(|row| row.by_value()).collect::<Option<_>>()?;
    rows.sort_by_key(|row| row.candidate);
    let stopped = search.stopped.as_ref().map_or(0, |stopped| stopped.candidates);
    let is_whole = search.candidates == Some(rows.len() as u128 + u128::from(stopped));
    if rows.len() < 2 || !is_whole || rows[0].path.ends_with(".seed") {
        return None;
    }
    let step = rows.len().div_ceil(MOST);
    let all = std::mem::take(&mut rows);
    rows.extend(all.into_iter().enumerate().filter(|(at, row)| at % step == 0 || row.is_best).map(|(_, row)| row));
    let own = search.baseline_s.map(|own| own.0);
    let longest = rows.iter().map(|row| row.makespan_s).chain(own).fold(0.0, f64::max);
    let scale = Scale { from_s: 0.0, to_s: longest, left: LEFT, width: PLOT };
    let path = rows[0].path;
    let mut svg = Svg::new(&format!("Makespan over {path}: {title}"));
    let baseline = own.map_or_else(String::new, |own| format!("; orange: the baseline, {}", time(own)));
    let some = if step > 1 { format!(", one in {step} values and the best") } else { String::new() };
    svg.head(0.0, title, &format!("Makespan over {path}{some}, green: the best{baseline}"));
    let bottom = TOP + ROW * rows.len() as f64;
    scale.draw(&mut svg, TOP, bottom);
    for (row, top) in rows.iter().zip((0..).map(|at| TOP + ROW * f64::from(at))) {
        let told = time(row.makespan_s);
        let (end, foot) = (scale.x(row.makespan_s), top + BAR - 2.0);
        svg.text((LEFT - 10.0, foot), Anchor::End, false, &fitting(row.value, LEFT - 26.0));
        let colour = if row.is_best { BEST } else { COLOUR };
        svg.rect((LEFT, top), (end - LEFT, BAR), colour, &format!("{}: {told}", row.value));
        svg.text((end + 6.0, foot), Anchor::Start, true, &told);
    }
    if let Some(own) = own {
        svg.line((scale.x(own), TOP - 8.0), (scale.x(own), bottom), MARK);
    }
    Some(svg.finish(WIDTH, bottom + 32.0))
}
