//! A bar for each transfer: when it was ready, started and ended, and what held it back.

use std::cmp::Reverse;

use ordered_float::OrderedFloat;

use super::WIDTH;
use super::scale::Scale;
use crate::draw::svg::{Anchor, Svg, fitting};
use crate::json::TransferRow;

/// Transfers in a picture (*assumed*: it stays as high as a screen or two).
const MOST: usize = 80;
/// A transfer took its time alone, up to so much more (*assumed*: rounding, and what no reader sees).
const ALONE: f64 = 1.01;
/// Pixels.
const NAMES: f64 = 200.0;
const BARS: f64 = 460.0;
const ROW: f64 = 20.0;
const TOP: f64 = 64.0;

const WAITING: &str = "#cfd6dd";
const FREE: &str = "#2a6fb0";
const HELD_BACK: &str = "#d9822b";

/// The picture; `None` where no transfer was ready.
pub(super) fn of(title: &str, transfers: &[TransferRow<'_>], end_s: f64) -> Option<String> {
    let shown = longest(transfers, end_s);
    let last = shown.iter().filter_map(|row| row.end_s).fold(end_s, f64::max);
    let first = shown.iter().filter_map(|row| row.ready_s).reduce(f64::min)?;
    let ready = transfers.iter().filter(|row| row.ready_s.is_some()).count();
    let scale = Scale { from_s: first, to_s: last, left: NAMES, width: BARS };
    let mut svg = Svg::new(&format!("Timeline: {title}"));
    let cut = if shown.len() < ready { format!("; the {} longest of {ready}", shown.len()) } else { String::new() };
    svg.head(0.0, title, &format!("Transfers: grey waits, blue as fast as alone, orange held back{cut}"));
    let bottom = TOP + ROW * shown.len() as f64;
    scale.draw(&mut svg, TOP, bottom);
    for (row, top) in shown.iter().zip((0..).map(|at| TOP + ROW * f64::from(at))) {
        draw(&mut svg, &scale, row, top);
    }
    Some(svg.finish(WIDTH, bottom + 32.0))
}

/// The transfers that took longest from ready to end, in their order.
fn longest<'a, 'r>(transfers: &'a [TransferRow<'r>], end_s: f64) -> Vec<&'a TransferRow<'r>> {
    let mut all: Vec<(usize, &TransferRow<'_>)> =
        transfers.iter().enumerate().filter(|(_, row)| row.ready_s.is_some()).collect();
    let span = |row: &TransferRow<'_>| row.end_s.unwrap_or(end_s) - row.ready_s.unwrap_or(end_s);
    all.sort_by_cached_key(|&(at, row)| (Reverse(OrderedFloat(span(row))), at));
    all.truncate(MOST);
    all.sort_unstable_by_key(|&(at, _)| at);
    all.into_iter().map(|(_, row)| row).collect()
}

fn draw(svg: &mut Svg, scale: &Scale, row: &TransferRow<'_>, top: f64) {
    let foot = top + 14.0;
    let name = format!("{}  {} → {}", row.id, row.from, row.to);
    svg.text((16.0, foot), Anchor::Start, false, &fitting(&name, NAMES - 24.0));
    let ready = row.ready_s.unwrap_or(scale.to_s);
    let (start, end) = (row.start_s.unwrap_or(scale.to_s), row.end_s.unwrap_or(scale.to_s));
    let cause = row.cause.as_deref().unwrap_or("");
    let mut bar = |from: f64, to: f64, fill: &str, about: &str| {
        if to > from {
            svg.rect((scale.x(from), top + 4.0), (scale.x(to) - scale.x(from), ROW - 7.0), fill, about);
        }
    };
    // The time to issue it is no wait: it passes alone, too.
    let served = start - row.issuing();
    bar(ready, served, WAITING, "waits");
    let alone = row.alone_under_way().is_some_and(|alone| row.end_s.is_some() && end - start <= alone * ALONE);
    bar(served, end, if alone { FREE } else { HELD_BACK }, &format!("{name}: {cause}"));
    let words = NAMES + BARS + 12.0;
    svg.text((words, foot), Anchor::Start, true, &fitting(cause, WIDTH - words));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 s on 460 pixels. Of 3 s from ready to start it waits for 1 s and is issued for 2 s; what takes 3 s alone from its start
    /// on takes 5 s, less than the 5 s of its time alone and the wait.
    #[test]
    fn the_time_to_issue_a_transfer_is_no_wait_and_not_given_to_it_under_way() {
        let bars = |end: f64| {
            let row = format!(
                r#"{{"id":"a","from":"g","to":"h","bytes":10,"ready_s":0,"start_s":3,"end_s":{end},"mean_Bps":2.0,"alone_s":5.0,"delay":{{"waiting_s":1.0,"blocked_s":0.0,"cut_s":{},"own_limit_s":0.0}},"bottleneck":null,"cause":null}}"#,
                end - 6.0
            );
            let row: TransferRow<'_> = serde_json::from_str(&row).expect("a transfer");
            let svg = of("x", &[row], 10.0).expect("a picture");
            let of = |fill: &str| -> Option<Vec<f64>> {
                let bar = svg.lines().find(|line| line.contains(&format!("fill=\"{fill}\"")))?;
                let values =
                    ["x=\"", "width=\""].map(|key| bar.split_once(key).and_then(|(_, rest)| rest.split('"').next()));
                values.into_iter().map(|value| value?.parse().ok()).collect()
            };
            [WAITING, FREE, HELD_BACK].map(of)
        };
        assert_eq!(bars(8.0), [Some(vec![200.0, 46.0]), None, Some(vec![246.0, 322.0])]);
        assert_eq!(bars(6.0), [Some(vec![200.0, 46.0]), Some(vec![246.0, 230.0]), None]);
    }
}
