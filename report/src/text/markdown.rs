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

/// A text in which nothing is markup, on one line.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}
