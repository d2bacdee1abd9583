//! The page around the data: a template, a style sheet and a script, built from `report/web` and kept as they are.

use std::io::{self, Write};

/// What `report/web/data.md` calls the template.
const TEMPLATE: &str = include_str!("../../web/dist/template.html");
const STYLE: &str = include_str!("../../web/dist/report.css");
const SCRIPT: &str = include_str!("../../web/dist/report.js");

/// Bytes of a page without data.
pub(super) const OWN: usize = TEMPLATE.len() + STYLE.len() + SCRIPT.len();

/// The places of the template in their order, and what they are filled with; `None` for the data.
const PLACES: [(&str, Option<&str>); 3] =
    [("{{style}}", Some(STYLE)), ("{{data}}", None), ("{{script}}", Some(SCRIPT))];

/// Writes the page with this JSON as its data. The template is cut at its places, so that nothing in the data, in the style
/// or in the script can look like a place.
///
/// # Errors
/// What the writer says.
pub(super) fn write(data: &str, mut out: impl Write) -> io::Result<()> {
    let mut rest = TEMPLATE;
    for (place, part) in PLACES {
        let Some((before, after)) = rest.split_once(place) else {
            return Err(io::Error::other(format!("the page's template lacks {place}")));
        };
        out.write_all(before.as_bytes())?;
        match part {
            Some(part) => out.write_all(part.as_bytes())?,
            None => escaped(data, &mut out)?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Writes JSON so that it may stand inside a script element: nothing in it can end the element, open a comment, or end a
/// line of script. The characters replaced stand only inside texts, where JSON takes `\u….` for any of them.
fn escaped(json: &str, out: &mut impl Write) -> io::Result<()> {
    let mut rest = json;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (before, from) = rest.split_at(at);
        let Some(found) = from.chars().next() else { break };
        write!(out, "{before}\\u{:04x}", u32::from(found))?;
        rest = &from[found.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded(json: &str) -> String {
        let mut out = Vec::new();
        escaped(json, &mut out).expect("memory takes it");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn each_place_is_there_once_and_in_order() {
        let at: Vec<usize> = PLACES.iter().map(|(place, _)| TEMPLATE.find(place).expect("is there")).collect();
        assert!(at.is_sorted());
        assert!(PLACES.iter().all(|(place, _)| TEMPLATE.matches(place).count() == 1));
    }

    #[test]
    fn style_and_script_cannot_end_their_elements() {
        assert!(!STYLE.contains("</style") && !SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
    }

    #[test]
    fn hostile_names_stay_text() {
        let names = [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "a \"quoted\" 'name' \\ with \\u003c",
            "line\nbreak\r\ttab \u{2028} and \u{2029}",
            "right \u{202e}to left\u{202c} \u{200f}",
            "{{data}} {{script}} &lt; &amp;",
            "\u{0}\u{1f}\u{7f}\u{feff}😀",
        ];
        let json = serde_json::to_string(&names).expect("writes");
        let text = embedded(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).expect("is JSON"), names);
    }

    #[test]
    fn the_page_holds_all_parts_as_they_are() {
        let mut out = Vec::new();
        write(r#"{"a":"{{script}}</script>"}"#, &mut out).expect("memory takes it");
        let page = String::from_utf8(out).expect("UTF-8");
        assert!(page.contains(STYLE) && page.contains(SCRIPT));
        assert!(page.contains(r#"{"a":"{{script}}\u003c/script\u003e"}"#));
        assert!(page.trim_end().ends_with("</html>"));
    }
}
