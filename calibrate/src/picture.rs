//! The histogram of errors as a picture: a panel for each arbiter, a bar for each bin, as in Fig. 6 of Martinasso et al. (SC16).

use std::fmt::Write as _;

use weir_report::draw::escaped_for_svg;
use weir_report::{ErrorBin, ErrorHistogram};

use crate::validate::{GOOD, bin_edge, shares_text};

/// Pixels.
const WIDTH: u64 = 640;
const LEFT: u64 = 150;
const LONGEST: u64 = 420;
const BAR: u64 = 16;
const STEP: u64 = 20;
/// Above the bars of a panel: its title and its shares.
const HEAD: u64 = 64;
const FOOT: u64 = 24;

/// A histogram with its title, such as the names of scenario and arbiter.
pub struct Panel {
    /// What it is of.
    pub title: String,
    /// The errors.
    pub histogram: ErrorHistogram,
}

/// The panels, one below the other, as SVG. Bars within ±15 % have a colour of their own.
#[must_use]
pub fn histogram_svg(panels: &[Panel]) -> String {
    let height_of = |panel: &Panel| HEAD + STEP * panel.histogram.bins.len() as u64 + FOOT;
    let height: u64 = panels.iter().map(height_of).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<title>Errors of simulated times</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let mut top = 0;
    for panel in panels {
        panel_svg(&mut out, panel, top);
        top += height_of(panel);
    }
    out + "</svg>\n"
}

fn panel_svg(out: &mut String, Panel { title, histogram }: &Panel, top: u64) {
    let _ = writeln!(out, "<text x=\"16\" y=\"{}\" font-weight=\"bold\">{}</text>", top + 24, escaped_for_svg(title));
    let _ = writeln!(out, "<text x=\"16\" y=\"{}\">{}</text>", top + 46, shares_text(histogram));
    let most = histogram.bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    for (at, bin) in (0..).zip(&histogram.bins) {
        bar_svg(out, bin, top + HEAD + STEP * at, most);
    }
}

/// The error, a bar and its count.
fn bar_svg(out: &mut String, bin: &ErrorBin, top: u64, most: u64) {
    let ErrorBin { from, to, count } = bin;
    let words = match (from, to) {
        (None, to) => format!("below {}", bin_edge(*to)),
        (from, None) => format!("above {}", bin_edge(*from)),
        (from, to) => format!("{} to {}", bin_edge(*from), bin_edge(*to)),
    };
    let within = from.is_some_and(|from| from >= -GOOD - 1e-9) && to.is_some_and(|to| to <= GOOD + 1e-9);
    let fill = if within { "#2a6fb0" } else { "#b9c4cf" };
    // A bin with few errors among many is still seen.
    let length = if *count == 0 { 0 } else { (count * LONGEST).div_ceil(most) };
    let (text, after) = (top + BAR - 3, LEFT + length + 6);
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{words}</text>\
         <rect x=\"{LEFT}\" y=\"{top}\" width=\"{length}\" height=\"{BAR}\" fill=\"{fill}\"/>\
         <text x=\"{after}\" y=\"{text}\">{count}</text>",
        LEFT - 10
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::{Pair, histogram};

    #[test]
    fn each_arbiter_has_a_panel_and_each_bin_a_bar() {
        let pair = |error| Pair { row: 0, measured: 1.0, simulated: 0, error };
        let panel = |title: &str, errors: &[f64]| Panel {
            title: title.to_owned(),
            histogram: histogram(&errors.iter().map(|&error| pair(error)).collect::<Vec<_>>()),
        };
        let one = histogram_svg(&[panel("a <b> & c\u{7}", &[0.01, 0.02, -0.4])]);
        assert_eq!(one.matches("<rect").count(), 1 + 14);
        assert!(one.contains("a &lt;b&gt; &amp; c\\u{7}</text>") && one.contains("within ±5 %: 66.7 %"), "{one}");
        assert!(one.contains("width=\"420\"") && one.contains("width=\"210\""), "{one}");
        assert!(one.contains("below -30 %") && one.contains("above +30 %") && one.contains("+0 % to +5 %"), "{one}");
        assert!(one.starts_with("<svg ") && one.ends_with("</svg>\n"), "{one}");
        let two = histogram_svg(&[panel("x", &[]), panel("y", &[0.2])]);
        assert_eq!(two.matches("<rect").count(), 1 + 2 * 14);
        assert!(!two.contains("NaN"), "{two}");
    }
}
