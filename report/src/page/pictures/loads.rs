//! The loads of the busiest links over time, each beside its bandwidth.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::WIDTH;
use super::scale::Scale;
use crate::draw::svg::{Anchor, Svg, fitting};
use crate::json::LinkRow;
use crate::page::aggregate::{Aggregated, LinkBins};
use crate::rate;

/// Links in a picture (*assumed*: it stays as high as a screen).
const MOST: usize = 24;
/// Pixels.
const NAMES: f64 = 200.0;
const PLOT: f64 = 560.0;
const ROW: f64 = 34.0;
const HIGH: f64 = 26.0;
const TOP: f64 = 64.0;

const GROUND: &str = "#eef1f4";
const LOAD: &str = "#2a6fb0";

/// The picture; `None` where the loads of links are not known.
pub(super) fn of(title: &str, links: &[LinkRow<'_>], aggregated: &Aggregated) -> Option<String> {
    let rows: BTreeMap<u32, &LinkRow<'_>> = links.iter().filter_map(|link| Some((link.id?, link))).collect();
    let mut busy: Vec<&LinkBins> = aggregated.links.iter().filter(|bins| rows.contains_key(&bins.id)).collect();
    busy.sort_by_key(|bins| (Reverse(bins.permille.iter().sum::<u64>()), bins.id));
    let (all, few) = (links.iter().filter(|link| link.bytes > 0).count(), busy.len().min(MOST));
    busy.truncate(few);
    let scale = Scale { from_s: aggregated.from_s, to_s: aggregated.to_s, left: NAMES, width: PLOT };
    let mut svg = Svg::new(&format!("Links over time: {title}"));
    let cut = if few < all { format!(", the {few} busiest of {all}") } else { String::new() };
    svg.head(0.0, title, &format!("Links over time{cut}: a full row is the bandwidth; the share is the mean"));
    let bottom = TOP + ROW * few as f64;
    for (bins, top) in busy.iter().zip((0..).map(|at| TOP + ROW * f64::from(at))) {
        draw(&mut svg, bins, rows.get(&bins.id)?, top);
    }
    scale.draw(&mut svg, TOP, bottom);
    (few > 0).then(|| svg.finish(WIDTH, bottom + 32.0))
}

fn draw(svg: &mut Svg, LinkBins { permille, .. }: &LinkBins, link: &LinkRow<'_>, top: f64) {
    let name = format!("{} → {}", link.from, link.to);
    svg.text((16.0, top + 18.0), Anchor::Start, false, &fitting(&name, NAMES - 24.0));
    svg.rect((NAMES, top), (PLOT, HIGH), GROUND, &name);
    svg.area(&outline(permille, top + HIGH), LOAD);
    let mean = permille.iter().sum::<u64>() as f64 / permille.len().max(1) as f64 / 10.0;
    let bandwidth = link.bandwidth_bps.map_or(String::new(), |bandwidth| format!(" of {}", rate(bandwidth)));
    svg.text((NAMES + PLOT + 12.0, top + 18.0), Anchor::Start, true, &format!("{mean:.1} %{bandwidth}"));
}

/// Steps from bin to bin; equal neighbours are one step.
fn outline(permille: &[u64], foot: f64) -> Vec<(f64, f64)> {
    let x = |at: usize| NAMES + PLOT * at as f64 / permille.len().max(1) as f64;
    let mut points = vec![(NAMES, foot)];
    let mut before = None;
    for (at, &load) in permille.iter().enumerate() {
        // Rounding may give a thousandth more than all.
        let y = foot - HIGH * load.min(1000) as f64 / 1000.0;
        if before != Some(y) {
            points.push((x(at), before.unwrap_or(foot)));
            points.push((x(at), y));
        }
        before = Some(y);
    }
    points.extend([(NAMES + PLOT, before.unwrap_or(foot)), (NAMES + PLOT, foot)]);
    points
}
