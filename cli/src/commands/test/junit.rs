//! The cases as JUnit XML, of which CI servers read `testsuite`, `testcase`, `failure` and `skipped`.
//!
//! No time is written: equal results give equal files.

use std::fmt::Write as _;

use weir_optimize::text::is_unseen;

use super::case::{Case, Verdict};
use crate::beside::folder_of;

/// One suite; a test case for each file.
pub(super) fn text(cases: &[Case]) -> String {
    let number = |what: fn(&Verdict) -> bool| cases.iter().filter(|case| what(&case.verdict)).count();
    let failures = number(|verdict| matches!(verdict, Verdict::Failed { .. }));
    let skipped = number(|verdict| matches!(verdict, Verdict::Skipped(_)));
    let head = format!(r#"tests="{}" failures="{failures}" errors="0" skipped="{skipped}""#, cases.len());
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {head}>\n");
    let _ = writeln!(out, "<testsuite name=\"weir test\" {head}>");
    cases.iter().for_each(|case| add(&mut out, case));
    out + "</testsuite>\n</testsuites>\n"
}

fn add(out: &mut String, case: &Case) {
    let name = case.file.file_name().map_or_else(|| case.name(), |name| name.to_string_lossy().into_owned());
    let folder = folder_of(&case.file).display().to_string();
    let _ = write!(out, r#"<testcase classname="{}" name="{}""#, escaped(&folder), escaped(&name));
    let below = match &case.verdict {
        Verdict::Ok | Verdict::Accepted { .. } => None,
        Verdict::Failed { what, details } => {
            Some(format!("<failure message=\"{}\">{}</failure>", escaped(what), escaped_lines(details)))
        }
        Verdict::Skipped(why) => Some(format!("<skipped message=\"{}\"/>", escaped(why))),
    };
    let _ = match below {
        None => writeln!(out, "/>"),
        Some(below) => writeln!(out, ">{below}</testcase>"),
    };
}

fn escaped_lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

/// A line for an attribute or between tags. Characters that XML 1.0 (section 2.2) does not have, even escaped, and others that
/// cannot be seen are written as in Rust.
fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if is_unseen(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn no_name_breaks_the_file() {
        let case = |file: &str, verdict| Case { file: PathBuf::from(file), verdict, notes: Vec::new() };
        let failed = Verdict::Failed { what: "<\"&\u{1b}\u{ffff}".to_owned(), details: "a ]]> b\n\u{0}c".to_owned() };
        let text = text(&[
            case("d/a.yaml", Verdict::Ok),
            case("d&e/b\n.yaml", failed),
            case("c.yaml", Verdict::Skipped("a topology")),
        ]);
        let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">
<testsuite name=\"weir test\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">
<testcase classname=\"d\" name=\"a.yaml\"/>
<testcase classname=\"d&amp;e\" name=\"b\\n.yaml\"><failure message=\"&lt;&quot;&amp;\\u{1b}\\u{ffff}\">a ]]&gt; b
\\u{0}c
</failure></testcase>
<testcase classname=\".\" name=\"c.yaml\"><skipped message=\"a topology\"/></testcase>
</testsuite>
</testsuites>
";
        assert_eq!(text, expected);
    }
}
