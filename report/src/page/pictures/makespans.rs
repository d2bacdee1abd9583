//! The makespans of all candidates of a search as columns of equal width in time.

use super::scale::Scale;
use super::{WIDTH, time};
use crate::draw::svg::{Anchor, Svg};
use crate::json::SearchJson;
use crate::page::search::bins;
use crate::pictures::Histogram;

/// Pixels.
const LEFT: f64 = 96.0;
const PLOT: f64 = 820.0;
const TOP: f64 = 84.0;
const HIGH: f64 = 240.0;
/// The lowest column that is not 0: few candidates among many are still seen.
const LEAST: f64 = 1.5;

const COLUMN: &str = "#2a6fb0";
const MARK: &str = "#d9822b";

/// The picture; `None` where the makespans of all candidates are not known, or all are the same.
pub(super) fn of(title: &str, search: &SearchJson<'_>) -> Option<String> {
    let Histogram { from_s, to_s, counts } = bins(search)?;
    let (count, most) = (counts.iter().sum::<u128>(), *counts.iter().max()?);
    let scale = Scale { from_s: from_s.0, to_s: to_s.0, left: LEFT, width: PLOT };
    if counts.iter().filter(|&&count| count > 0).count() < 2 {
        return None;
    }
    let mut svg = Svg::new(&format!("Makespans of all candidates: {title}"));
    let own = search.baseline_s.map_or_else(String::new, |own| format!("; orange: the baseline, {}", time(own.0)));
    let range = format!("from {} to {}", time(from_s.0), time(to_s.0));
    svg.head(0.0, title, &format!("Makespans of all {count} candidates, {range}{own}"));
    let bottom = TOP + HIGH;
    scale.draw(&mut svg, TOP, bottom);
    svg.text((LEFT - 10.0, TOP + 10.0), Anchor::End, true, &most.to_string());
    svg.text((LEFT - 10.0, bottom), Anchor::End, true, "0");
    let width = PLOT / counts.len() as f64;
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let high = (HIGH * (count as f64 / most as f64)).max(LEAST);
        let begin = from_s.0 + (to_s.0 - from_s.0) * at as f64 / counts.len() as f64;
        let about = format!("{count} from {}", time(begin));
        svg.rect((LEFT + width * at as f64, bottom - high), (width - 1.0, high), COLUMN, &about);
    }
    // A scenario that is no candidate itself may lie outside.
    if let Some(own) = search.baseline_s.filter(|own| (from_s.0..=to_s.0).contains(&own.0)) {
        svg.line((scale.x(own.0), TOP - 8.0), (scale.x(own.0), bottom), MARK);
    }
    Some(svg.finish(WIDTH, bottom + 32.0))
}
