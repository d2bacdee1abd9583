//! Tables as Markdown (GitHub Flavored Markdown, 4.10).

/// A row of a table.
pub(super) fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| escaped(&cell)).collect();
    format!("| {} |", cells.join(" | "))
}

/// The row below the header; `true` stands for a column that is flush right.
pub(super) fn delimiters(right: impl IntoIterator<Item = bool>) -> String {
    let marks: Vec<&str> = right.into_iter().map(|right| if right { "---:" } else { "---" }).collect();
    format!("| {} |", marks.join(" | "))
}

/// Lines that stay as they are: a block of code, with a fence longer than any run of backticks in it.
pub(super) fn fenced(lines: &str) -> String {
    let longest = lines.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{lines}{fence}\n")
}

/// A text in which nothing is markup, on one line.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '&' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("a_b &lt; <c>|`d`\n#e"), "a\\_b \\&lt; \\<c\\>\\|\\`d\\` \\#e");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("--set a=1\n"), "```text\n--set a=1\n```\n");
        assert_eq!(fenced("a ```` b\n"), "`````text\na ```` b\n`````\n");
    }
}
