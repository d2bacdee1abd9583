//! Drawings as SVG documents: boxes, lines and texts on a white ground, with no script and nothing to load.

use std::fmt::Write as _;

use crate::text::clean;

/// Pixels of a letter, wide: *assumed*, the mean of a sans-serif face of [`FONT`] pixels.
const LETTER: f64 = 6.6;
/// Pixels of letters, high.
const FONT: f64 = 12.0;

/// Ink of words that explain.
pub(crate) const GREY: &str = "#5f6b76";
const BLACK: &str = "#1b1f23";

/// Which point of a text its place is.
#[derive(Clone, Copy)]
pub enum Anchor {
    /// Its first letter.
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

/// A document while it is drawn. Places are pixels from the left and from the top.
pub struct Svg(String);

impl Svg {
    /// With a title, which screen readers and file managers tell.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self(format!("<title>{}</title>\n", escaped(title)))
    }

    /// A text with its foot at `y`, in black or grey.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, is_grey: bool, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let fill = if is_grey { GREY } else { BLACK };
        let _ = writeln!(self.0, "<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor} fill=\"{fill}\">{}</text>", escaped(text));
    }

    /// A headline below `top`: bold, and a line of explanation below it.
    pub fn head(&mut self, top: f64, title: &str, below: &str) {
        let y = top + 24.0;
        let title = escaped(title);
        let _ = writeln!(self.0, "<text x=\"16\" y=\"{y:.0}\" font-weight=\"bold\" fill=\"{BLACK}\">{title}</text>");
        self.text((16.0, top + 44.0), Anchor::Start, true, below);
    }

    /// A filled box; `about` is what a pointer on it tells.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, about: &str) {
        let place = format!("x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" fill=\"{fill}\"");
        let _ = match about {
            "" => writeln!(self.0, "<rect {place}/>"),
            about => writeln!(self.0, "<rect {place}><title>{}</title></rect>", escaped(about)),
        };
    }

    /// A thin line.
    pub(crate) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), stroke: &str) {
        let _ =
            writeln!(self.0, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"/>");
    }

    /// A filled outline.
    pub(crate) fn area(&mut self, points: &[(f64, f64)], fill: &str) {
        let mut list = String::new();
        for (x, y) in points {
            let _ = write!(list, "{x:.2},{y:.2} ");
        }
        let _ = writeln!(self.0, "<polygon points=\"{}\" fill=\"{fill}\"/>", list.trim_end());
    }

    /// The document, so wide and high.
    #[must_use]
    pub fn finish(self, width: f64, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"{FONT}\">\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n{}</svg>\n",
            self.0
        )
    }
}

/// A text that fits into so many pixels, with a mark where it was cut.
pub(crate) fn fitting(text: &str, width: f64) -> String {
    let most = (width / LETTER) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}

/// A text as XML, what would command a terminal or turn the text around in words.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Not characters of XML 1.0.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_text() {
        assert_eq!(escaped("a <b> & c\u{7}\u{ffff}"), "a &lt;b&gt; &amp; c\\u{7}\u{fffd}");
        assert_eq!((fitting("abc", 20.0), fitting("abcdef", 20.0)), ("abc".to_owned(), "ab…".to_owned()));
        let mut svg = Svg::new("</title><script>");
        svg.text((1.0, 2.0), Anchor::Middle, false, "</svg>");
        svg.rect((0.0, 0.0), (1.0, 1.0), "#fff", "\"><x");
        let document = svg.finish(10.0, 20.0);
        let read = roxmltree::Document::parse(&document).expect("is XML");
        let texts: Vec<&str> = read.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        assert!(texts.contains(&"</svg>") && texts.contains(&"\"><x") && texts.contains(&"</title><script>"));
    }
}
