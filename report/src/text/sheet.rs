//! The one table printer, which fits tables to the terminal.
//!
//! **Order.** While a table is too wide: the columns that its maker can spare are left out, in the order in which it names them;
//! then texts are shortened, the widest column first, to [`SHORTEST`] characters at least, and those of the first column only
//! as far as different ones stay different; then columns are left out from the right, but for the first. A line below says
//! what is missing.

use std::collections::BTreeSet;

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

use super::{Layout, clean, markdown};

/// Characters to which texts are shortened at most; *assumed*, what tells most names apart.
const SHORTEST: usize = 12;
/// Spaces behind each column; one more stands in the place of the line between two.
const GAP: usize = 2;

/// No lines but a rule below the header.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill(RULE).junction(RULE));
const RULE: char = '─';

const PLAIN: &str = "\u{1b}[0m";
const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";

/// Why a row stands out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The best of all.
    Best,
    /// Something to look at first.
    Slow,
}

impl Mark {
    /// Green or yellow (ECMA-48, select graphic rendition).
    fn colour(self) -> &'static str {
        match self {
            Self::Best => "\u{1b}[32m",
            Self::Slow => "\u{1b}[33m",
        }
    }
}

/// A table under construction.
pub struct Sheet {
    columns: Vec<Column>,
    rows: Vec<(Vec<String>, Option<Mark>)>,
    /// The columns to leave out first.
    spare: Vec<String>,
}

/// A column: its heading, and how it is shown.
#[derive(Clone)]
struct Column {
    name: String,
    right: bool,
    hidden: bool,
    /// Characters of its texts at most.
    most: usize,
}

impl Column {
    /// The heading on one line, for a message; what has no heading has no name.
    fn title(&self) -> String {
        self.name.replace('\n', " ")
    }
}

impl Sheet {
    /// A table with these columns; `>` before a name makes the column flush right.
    pub fn new<S: AsRef<str>>(header: impl IntoIterator<Item = S>) -> Self {
        let column = |name: S| {
            let (name, right) = (name.as_ref().trim_start_matches('>').to_owned(), name.as_ref().starts_with('>'));
            Column { name, right, hidden: false, most: usize::MAX }
        };
        Self { columns: header.into_iter().map(column).collect(), rows: Vec::new(), spare: Vec::new() }
    }

    /// The columns that a narrow terminal leaves out, the first one first.
    #[must_use]
    pub fn spare<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.spare = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a row; its texts are made safe for a terminal.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.marked_row(None, cells);
    }

    /// As [`Self::row`], where colour may show what is special about it.
    pub fn marked_row(&mut self, mark: Option<Mark>, cells: impl IntoIterator<Item = String>) {
        self.rows.push((cells.into_iter().map(|cell| clean(&cell)).collect(), mark));
    }

    /// The table as lines, each ending in a newline, without trailing spaces.
    #[must_use]
    pub fn finish(self) -> String {
        self.fitted(Layout::current())
    }

    /// The same with all columns and no colour, whatever the terminal: for files.
    pub(crate) fn unfitted(self) -> String {
        self.fitted(Layout::default())
    }

    fn fitted(mut self, layout: Layout) -> String {
        if layout.markdown {
            return self.in_markdown();
        }
        let missing = layout.width.map_or_else(String::new, |width| self.fit(width));
        let mut lines = self.lines();
        if layout.width.is_some() {
            let width = self.width();
            let rule = lines.iter_mut().find(|line| line.starts_with(RULE));
            rule.into_iter().for_each(|rule| *rule = RULE.to_string().repeat(width));
        }
        let lines = if layout.colour { self.coloured(lines) } else { lines };
        lines.into_iter().map(|line| format!("{line}\n")).collect::<String>() + &missing
    }

    /// Between empty lines: what follows at once would be a row.
    fn in_markdown(self) -> String {
        let header = markdown::row(self.columns.iter().map(Column::title));
        let delimiters = markdown::delimiters(self.columns.iter().map(|column| column.right));
        let rows = self.rows.into_iter().map(|(row, _)| markdown::row(row));
        let lines: Vec<String> = [header, delimiters].into_iter().chain(rows).collect();
        format!("\n{}\n\n", lines.join("\n"))
    }

    /// Hides and shortens until the table fits, and says what is missing.
    fn fit(&mut self, width: usize) -> String {
        for name in std::mem::take(&mut self.spare) {
            let found = self.columns.iter().position(|column| column.name == name && !column.hidden);
            if let Some(at) = found.filter(|_| self.width() > width) {
                self.columns[at].hidden = true;
            }
        }
        while self.width() > width && (self.shorten(self.width() - width) || self.hide_last()) {}
        self.missing(width)
    }

    /// Characters of the widest line.
    fn width(&self) -> usize {
        self.lines().iter().find(|line| line.starts_with(RULE)).map_or(0, |rule| rule.chars().count() - GAP)
    }

    /// Shortens the widest column of texts by so much; whether one could be.
    fn shorten(&mut self, excess: usize) -> bool {
        let shown = self.shown();
        let widths: Vec<(usize, usize)> = shown.into_iter().map(|at| (self.wide(at), at)).collect();
        let can_be = |&&(wide, at): &&(usize, usize)| wide > self.shortest(at);
        let widest = widths.iter().filter(can_be).max_by_key(|&&(wide, at)| (wide, !at));
        let Some(&(wide, at)) = widest else { return false };
        // Not below the next widest, which is then shortened with it.
        let next = widths.iter().filter(|other| other.1 != at && can_be(other)).map(|other| other.0).max();
        let floor = next.unwrap_or(0).min(wide - 1).max(self.shortest(at));
        self.columns[at].most = wide.saturating_sub(excess).max(floor);
        true
    }

    /// Characters that a column keeps at least: rows are known by their first.
    fn shortest(&self, at: usize) -> usize {
        let first = at == 0 && !self.columns[at].right;
        let longest = if first { self.wide(at) } else { SHORTEST };
        (SHORTEST..longest).find(|&most| self.cut(at, most).is_some()).unwrap_or(longest.max(SHORTEST))
    }

    /// How the texts of a column are cut to so many characters so that different ones stay different.
    fn cut(&self, at: usize, most: usize) -> Option<fn(&str, usize) -> String> {
        let texts: BTreeSet<&str> = self.rows.iter().filter_map(|(row, _)| row.get(at)).map(String::as_str).collect();
        let keeps = |cut: &fn(&str, usize) -> String| {
            texts.iter().map(|text| cut(text, most)).collect::<BTreeSet<_>>().len() == texts.len()
        };
        [short as fn(&str, usize) -> String, without_middle].into_iter().find(keeps)
    }

    /// Characters of a column that can be shortened: its heading, and its texts unless they are numbers.
    fn wide(&self, at: usize) -> usize {
        let column = &self.columns[at];
        let heading = column.name.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let cells = self.rows.iter().filter_map(|(row, _)| row.get(at)).map(|cell| cell.chars().count()).max();
        let (heading, cells) = (heading.min(column.most), cells.unwrap_or(0));
        match column.right {
            true if heading <= cells => 0,
            true => heading,
            false => heading.max(cells.min(column.most)),
        }
    }

    /// Hides the last column; whether there was one beside the first.
    fn hide_last(&mut self) -> bool {
        let last = self.shown().into_iter().skip(1).last();
        last.into_iter().for_each(|at| self.columns[at].hidden = true);
        // There is room again.
        self.columns.iter_mut().for_each(|column| column.most = usize::MAX);
        last.is_some()
    }

    fn shown(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| !self.columns[at].hidden).collect()
    }

    /// What is not shown: `to fit 80 columns without start, mean rate: --wide shows all`.
    fn missing(&self, width: usize) -> String {
        let hidden: Vec<String> = self.columns.iter().filter(|column| column.hidden).map(Column::title).collect();
        let is_cut = self.columns.iter().any(|column| !column.hidden && column.most < usize::MAX);
        let what = match (hidden.is_empty(), is_cut) {
            (true, false) => return String::new(),
            (true, true) => "with shortened texts".to_owned(),
            (false, true) => format!("with shortened texts, without {}", hidden.join(", ")),
            (false, false) => format!("without {}", hidden.join(", ")),
        };
        wrapped(&format!("to fit {width} columns {what}: --wide shows all"), width)
    }

    /// The lines of the header, the rule and the rows.
    fn lines(&self) -> Vec<String> {
        let shown = self.shown();
        let cell = |at: usize, text: &str| {
            let align = if self.columns[at].right { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(text).set_alignment(align)
        };
        // Of a number every digit counts.
        let most = |at: usize| if self.columns[at].right { usize::MAX } else { self.columns[at].most };
        let mut table = Table::new();
        table.load_style(STYLE);
        let cut = |at: usize| if at == 0 { self.cut(at, most(at)).unwrap_or(short) } else { short };
        let cuts: Vec<fn(&str, usize) -> String> = shown.iter().map(|&at| cut(at)).collect();
        table.set_header(shown.iter().map(|&at| cell(at, &short(&self.columns[at].name, self.columns[at].most))));
        for (row, _) in &self.rows {
            let texts = shown.iter().zip(&cuts).filter_map(|(&at, cut)| Some((at, cut(row.get(at)?, most(at)))));
            table.add_row(texts.map(|(at, text)| cell(at, &text)));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, GAP as u16));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Bold headers, a dim rule, and marked rows in their colours.
    fn coloured(&self, lines: Vec<String>) -> Vec<String> {
        let rule = lines.iter().position(|line| line.starts_with(RULE)).unwrap_or(0);
        let style = |at: usize| match at.checked_sub(rule + 1) {
            None if at == rule => Some(DIM),
            None => Some(BOLD),
            Some(row) => self.rows.get(row).and_then(|(_, mark)| mark.map(Mark::colour)),
        };
        let paint = |(at, line): (usize, String)| match style(at) {
            Some(style) => format!("{style}{line}{PLAIN}"),
            None => line,
        };
        lines.into_iter().enumerate().map(paint).collect()
    }
}

/// Each line of a text in at most so many characters; `…` stands for what is cut: the begin of a path, the end of what else.
fn short(text: &str, most: usize) -> String {
    let line = |line: &str| {
        let (all, kept) = (line.chars().count(), most.saturating_sub(1));
        match (all > most, line.contains('/') && !line.contains(' ')) {
            (false, _) => line.to_owned(),
            (true, true) => format!("…{}", line.chars().skip(all - kept).collect::<String>()),
            (true, false) => format!("{}…", line.chars().take(kept).collect::<String>().trim_end()),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The same without the middle of each line: its begin and its end tell it from others.
fn without_middle(text: &str, most: usize) -> String {
    let line = |line: &str| {
        let (all, kept) = (line.chars().count(), most.saturating_sub(1));
        if all <= most {
            return line.to_owned();
        }
        let (begin, end) = (kept / 2, kept - kept / 2);
        line.chars().take(begin).chain(['…']).chain(line.chars().skip(all - end)).collect()
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Words on lines of at most so many characters, where they are no longer themselves.
fn wrapped(text: &str, width: usize) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count();
        if at > 0 && at + 1 + length > width {
            out.push_str("\n  ");
            at = 2;
        } else if at > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests;
