//! Names with brackets, as in Slurm: `gpu[0-7]`, `[00-15]`, `[0,2,4-6]`. Counted before they are expanded; with several
//! brackets the left varies slowest.

use std::fmt::Write;

use crate::context::Problem;
use crate::diagnostic::quoted;

/// Longest name in bytes (format, "Tree, links, names").
pub(crate) const NAME_BYTES: usize = 256;

/// Digits of a number in brackets at most, so that it fits in a u64.
const DIGITS: usize = 18;

/// A name that stands for one or many.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamePattern {
    parts: Vec<NamePart>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum NamePart {
    Text(Box<str>),
    Set(Vec<NumberRange>),
}

/// The numbers from `first` on, padded with zeros to `width`; together with the runs before it they are `end` many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NumberRange {
    first: u64,
    end: u64,
    width: usize,
}

impl NamePattern {
    /// Reads a name with or without brackets.
    pub(crate) fn read(text: &str) -> Result<Self, Problem> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(open) = rest.find(['[', ']']) {
            let close = rest[open..].find(']').filter(|&at| at > 0).map(|at| open + at);
            let Some(close) = close else {
                let message = format!("{} has an unmatched bracket", quoted(text));
                return Err(Problem::new(message, "write brackets as in `gpu[0-7]` or `gpu[0,2,4-6]`"));
            };
            if open > 0 {
                parts.push(NamePart::Text(rest[..open].into()));
            }
            parts.push(NamePart::Set(runs(text, &rest[open + 1..close])?));
            rest = &rest[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(NamePart::Text(rest.into()));
        }
        Ok(Self { parts })
    }

    /// The names `x0` … `x(n−1)`.
    pub(crate) fn numbered(base: &str, n: u64) -> Self {
        let run = NumberRange { first: 0, end: n, width: 0 };
        Self { parts: vec![NamePart::Text(base.into()), NamePart::Set(vec![run])] }
    }

    pub(crate) fn has_brackets(&self) -> bool {
        self.parts.iter().any(|p| matches!(p, NamePart::Set(_)))
    }

    /// Whether its names are distinct for certain: one run of numbers.
    pub(crate) fn is_one_run(&self) -> bool {
        let mut sets =
            self.parts.iter().filter_map(|part| if let NamePart::Set(runs) = part { Some(runs) } else { None });
        sets.next().is_some_and(|runs| runs.len() == 1) && sets.next().is_none()
    }

    /// Bytes of its longest name.
    pub(crate) fn longest(&self) -> usize {
        let of = |part: &NamePart| match part {
            NamePart::Text(text) => text.len(),
            NamePart::Set(runs) => {
                let before = std::iter::once(0).chain(runs.iter().map(|run| run.end));
                let last =
                    runs.iter().zip(before).map(|(run, before)| run.first + (run.end - before).saturating_sub(1));
                let digits = runs.iter().zip(last).map(|(run, last)| run.width.max(last.max(1).ilog10() as usize + 1));
                digits.max().unwrap_or(0)
            }
        };
        self.parts.iter().map(of).fold(0, usize::saturating_add)
    }

    /// Number of names, at most `u64::MAX`.
    pub(crate) fn count(&self) -> u64 {
        self.parts.iter().map(NamePart::len).fold(1, u64::saturating_mul)
    }

    /// Writes name number `index` of [`Self::count`] into `out`.
    pub(crate) fn write(&self, index: u64, out: &mut String) {
        out.clear();
        // The last bracket varies fastest: the first one's digit is what the later ones leave.
        let (mut below, mut rest) = (self.count(), index);
        for part in &self.parts {
            match part {
                NamePart::Text(text) => out.push_str(text),
                NamePart::Set(runs) => {
                    below = (below / part.len()).max(1);
                    let at = rest / below;
                    rest %= below;
                    let number = runs.partition_point(|run| run.end <= at);
                    let before = if number == 0 { 0 } else { runs[number - 1].end };
                    if let Some(run) = runs.get(number) {
                        let _ = write!(out, "{:0width$}", run.first + (at - before), width = run.width);
                    }
                }
            }
        }
    }

    pub(crate) fn name(&self, index: u64) -> String {
        let mut out = String::new();
        self.write(index, &mut out);
        out
    }
}

impl NamePart {
    fn len(&self) -> u64 {
        match self {
            Self::Text(_) => 1,
            Self::Set(runs) => runs.last().map_or(0, |run| run.end),
        }
    }
}

fn runs(text: &str, inside: &str) -> Result<Vec<NumberRange>, Problem> {
    let wrong = |message: String| Problem::new(message, "write brackets as in `gpu[0-7]`, `[00-15]` or `[0,2,4-6]`");
    let mut runs: Vec<NumberRange> = Vec::new();
    for piece in inside.split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let digits = |n: &str| !n.is_empty() && n.len() <= DIGITS && n.bytes().all(|b| b.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return Err(wrong(format!("{} in {} is not a range of numbers", quoted(piece), quoted(text))));
        }
        let padded = |n: &str| n.len() > 1 && n.starts_with('0');
        if (padded(first) || padded(last)) && first.len() != last.len() {
            let message = format!("both ends of {} in {} need the same number of digits", quoted(piece), quoted(text));
            return Err(wrong(message));
        }
        let width = if padded(first) { first.len() } else { 0 };
        let (first, last): (u64, u64) = (first.parse().unwrap_or(0), last.parse().unwrap_or(0));
        if last < first {
            return Err(wrong(format!("the range {} in {} ends before it begins", quoted(piece), quoted(text))));
        }
        let before = runs.last().map_or(0, |run| run.end);
        runs.push(NumberRange { first, end: before.saturating_add(last - first + 1), width });
    }
    Ok(runs)
}

/// The pieces between commas outside brackets, braces and quotes.
#[must_use]
pub fn between_commas(text: &str) -> Vec<&str> {
    let (mut pieces, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match c {
            '"' | '\'' if quote.is_none() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str) -> Vec<String> {
        let pattern = NamePattern::read(text).unwrap();
        (0..pattern.count()).map(|i| pattern.name(i)).collect()
    }

    #[test]
    fn expands_as_slurm_does() {
        assert_eq!(expand("gpu[0-3]"), ["gpu0", "gpu1", "gpu2", "gpu3"]);
        assert_eq!(expand("[08-11]"), ["08", "09", "10", "11"]);
        assert_eq!(expand("[8-11]"), ["8", "9", "10", "11"]);
        assert_eq!(expand("x[0,2,4-6]y"), ["x0y", "x2y", "x4y", "x5y", "x6y"]);
        assert_eq!(expand("plain"), ["plain"]);
        for text in ["gpu[0-10]", "[08-11]", "x[0,2,99-100,7]y", "plain", "a[0-9]b[10-12]"] {
            let longest = expand(text).iter().map(String::len).max();
            assert_eq!(Some(NamePattern::read(text).unwrap().longest()), longest, "{text}");
        }
    }

    #[test]
    fn left_bracket_varies_slowest() {
        assert_eq!(expand("a[0-1]/b[0-1]"), ["a0/b0", "a0/b1", "a1/b0", "a1/b1"]);
        assert_eq!(expand("[0,2][7-8]z[1-1]"), ["07z1", "08z1", "27z1", "28z1"]);
    }

    #[test]
    fn counts_without_expanding() {
        let pattern = NamePattern::read("a[0-999999999999]b[0-999999999999]").unwrap();
        assert_eq!(pattern.count(), u64::MAX);
        assert_eq!(NamePattern::numbered("x", 1_000_000_000).count(), 1_000_000_000);
        assert_eq!(NamePattern::numbered("x", 3).name(2), "x2");
    }

    #[test]
    fn refuses_what_is_no_range() {
        for text in [
            "a[",
            "a]",
            "a[]",
            "a[0-]",
            "a[-1]",
            "a[1-0]",
            "a[x]",
            "a[0-[1]]",
            "a[00-015]",
            "a[08-9]",
            "a[9-010]",
            "a[0,,1]",
            "a[0 - 1]",
        ] {
            let problem = NamePattern::read(text).unwrap_err();
            assert!(problem.help.contains("gpu[0-7]"), "{text}: {problem:?}");
        }
    }
}
