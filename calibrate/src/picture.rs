//! The histogram of errors as a picture: a panel for each arbiter, a bar for each bin, as in Fig. 6 of Martinasso et al. (SC16).

use weir_report::draw::svg::{Anchor, Svg};
use weir_report::{ErrorBin, ErrorHistogram};

use crate::validate::{GOOD, bin_edge, shares_text};

/// Pixels.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 150.0;
const LONGEST: u64 = 420;
const BAR: f64 = 16.0;
const STEP: f64 = 20.0;
/// Above the bars of a panel: its title and its shares.
const HEAD: f64 = 64.0;
const FOOT: f64 = 24.0;

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
    let mut svg = Svg::new("Errors of simulated times");
    let mut top = 0.0;
    for Panel { title, histogram } in panels {
        svg.head(top, title, &shares_text(histogram));
        let most = histogram.bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
        top += HEAD;
        for bin in &histogram.bins {
            bar(&mut svg, bin, top, most);
            top += STEP;
        }
        top += FOOT;
    }
    svg.finish(WIDTH, top)
}

/// The error, a bar and its count.
fn bar(svg: &mut Svg, bin: &ErrorBin, top: f64, most: u64) {
    let ErrorBin { from, to, count } = bin;
    let words = match (from, to) {
        (None, to) => format!("below {}", bin_edge(*to)),
        (from, None) => format!("above {}", bin_edge(*from)),
        (from, to) => format!("{} to {}", bin_edge(*from), bin_edge(*to)),
    };
    let within = from.is_some_and(|from| from >= -GOOD - 1e-9) && to.is_some_and(|to| to <= GOOD + 1e-9);
    let fill = if within { "#2a6fb0" } else { "#b9c4cf" };
    // A bin with few errors among many is still seen.
    let length = if *count == 0 { 0 } else { (count * LONGEST).div_ceil(most) } as f64;
    let foot = top + BAR - 3.0;
    svg.text((LEFT - 10.0, foot), Anchor::End, false, &words);
    svg.rect((LEFT, top), (length, BAR), fill, "");
    svg.text((LEFT + length + 6.0, foot), Anchor::Start, false, &count.to_string());
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
        assert!(one.contains("width=\"420.00\"") && one.contains("width=\"210.00\""), "{one}");
        assert!(one.contains("below -30 %") && one.contains("above +30 %") && one.contains("+0 % to +5 %"), "{one}");
        assert!(one.starts_with("<svg ") && one.ends_with("</svg>\n"), "{one}");
        let two = histogram_svg(&[panel("x", &[]), panel("y", &[0.2])]);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/calibrate"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("picture-of-errors", two));
        assert_eq!(two.matches("<rect").count(), 1 + 2 * 14);
        assert!(!two.contains("NaN"), "{two}");
    }
}
