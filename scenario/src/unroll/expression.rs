//! `{…}` in texts: variables, and arithmetic on whole numbers.

use std::borrow::Cow;

use crate::context::Problem;
use crate::diagnostic::{quoted, shortened};
use crate::nearest::suggestion;

/// Parentheses and signs inside each other at most; *assumed*.
const DEPTH: usize = 32;

/// Bytes of a text with values in it, at most; *assumed*.
const MOST_TEXT: usize = 4096;

/// The variables that a text may name, the outermost first; distinct names.
pub(super) type Variables = [(Box<str>, Box<str>)];

/// Puts values in place of what stands in braces; `{{` and `}}` are braces themselves.
pub(super) fn filled<'t>(text: &'t str, variables: &Variables) -> Result<Cow<'t, str>, Problem> {
    if !text.contains(['{', '}']) {
        return Ok(text.into());
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let Some(end) = end else {
            let message = format!("{} has an unmatched brace", quoted(text));
            return Err(Problem::new(message, "write variables as in `gpu{i}`, and a brace itself twice: `{{`"));
        };
        out.push_str(&value(&rest[..end], variables)?);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    if out.len() > MOST_TEXT {
        let message = format!("a text of {} bytes, with what its variables stand for", out.len());
        return Err(Problem::new(message, format!("keep it below {MOST_TEXT}")));
    }
    Ok(out.into())
}

/// Whether a text can name a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') && text != "mod"
}

/// What an expression in braces stands for: the text of a variable, or a number.
fn value<'v>(text: &str, variables: &'v Variables) -> Result<Cow<'v, str>, Problem> {
    let name = text.trim();
    if is_name(name) {
        return variable(name, variables).map(Cow::Borrowed);
    }
    let mut reader = Reader { text, rest: text, variables, depth: 0 };
    let number = reader.sum()?;
    match reader.next() {
        None => Ok(number.to_string().into()),
        Some(c) => Err(reader.wrong(&format!("does not expect {}", quoted(&c.to_string())))),
    }
}

fn variable<'v>(name: &str, variables: &'v Variables) -> Result<&'v str, Problem> {
    if let Some((_, value)) = variables.iter().find(|(known, _)| &**known == name) {
        return Ok(value);
    }
    let message = format!("no variable has the name {}", quoted(name));
    let help = match variables {
        [] => "give it by `for:` or `sizes:` of a group that contains this, or write a brace itself twice: `{{`"
            .to_owned(),
        _ => suggestion(name, variables.iter().map(|(known, _)| &**known), "variables"),
    };
    Err(Problem::new(message, help))
}

/// A reader of arithmetic by recursive descent: sums of products of signed numbers.
struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
    variables: &'t Variables,
    depth: usize,
}

impl Reader<'_> {
    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Whether this comes next; it is read then.
    fn takes(&mut self, symbol: &str) -> bool {
        self.rest = self.rest.trim_start();
        let Some(rest) = self.rest.strip_prefix(symbol) else { return false };
        let in_word = symbol == "mod" && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !in_word {
            self.rest = rest;
        }
        !in_word
    }

    fn sum(&mut self) -> Result<i64, Problem> {
        let mut sum = self.product()?;
        loop {
            if self.takes("+") {
                let other = self.product()?;
                sum = self.fits(sum.checked_add(other))?;
            } else if self.takes("-") {
                let other = self.product()?;
                sum = self.fits(sum.checked_sub(other))?;
            } else {
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<i64, Problem> {
        let mut product = self.signed()?;
        loop {
            if self.takes("*") {
                let other = self.signed()?;
                product = self.fits(product.checked_mul(other))?;
            } else if self.takes("/") {
                let by = self.divisor()?;
                product = self.fits(floor_division(product, by))?;
            } else if self.takes("mod") || self.takes("%") {
                let by = self.divisor()?;
                product = self.fits(product.checked_rem_euclid(by))?;
            } else {
                return Ok(product);
            }
        }
    }

    /// What divides: a neighbour of rank 0 is the last rank, so the rest of a division is never negative.
    fn divisor(&mut self) -> Result<i64, Problem> {
        match self.signed()? {
            0 => Err(self.wrong("divides by 0")),
            by => Ok(by),
        }
    }

    fn signed(&mut self) -> Result<i64, Problem> {
        if self.depth == DEPTH {
            let message = format!("`{{{}}}` is nested too deeply", shortened(self.text));
            return Err(Problem::new(message, format!("nest no more than {DEPTH} parentheses and signs")));
        }
        self.depth += 1;
        let number = if self.takes("-") {
            let number = self.signed()?;
            self.fits(number.checked_neg())
        } else if self.takes("(") {
            let number = self.sum()?;
            if self.takes(")") { Ok(number) } else { Err(self.wrong("lacks a `)`")) }
        } else {
            self.operand()
        };
        self.depth -= 1;
        number
    }

    /// A number, or a variable that holds one.
    fn operand(&mut self) -> Result<i64, Problem> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let number = match word {
            "" => return Err(self.wrong("lacks a number or a variable")),
            name if is_name(name) => variable(name, self.variables)?,
            digits => digits,
        };
        self.rest = rest;
        number.parse().map_err(|_| self.wrong(&format!("counts with {}, which is no whole number", quoted(number))))
    }

    fn fits(&self, number: Option<i64>) -> Result<i64, Problem> {
        number.ok_or_else(|| self.wrong("exceeds 64 bits"))
    }

    fn wrong(&self, what: &str) -> Problem {
        let help = "write whole numbers, variables, `+ - * / mod` and parentheses, as in `{(i + 1) mod 8}`";
        Problem::new(format!("`{{{}}}` {what}", shortened(self.text)), help)
    }
}

/// The quotient, rounded down.
fn floor_division(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Vec<(Box<str>, Box<str>)> {
        vec![("i".into(), "7".into()), ("leaf".into(), "leaf0".into()), ("n".into(), "08".into())]
    }

    fn said(text: &str) -> String {
        match filled(text, &variables()) {
            Ok(text) => text.into_owned(),
            Err(problem) => problem.message,
        }
    }

    #[test]
    fn arithmetic_has_the_usual_precedence_and_rests_are_not_negative() {
        let all = [
            ("gpu{i}", "gpu7"),
            ("gpu{(i + 1) mod 8}", "gpu0"),
            ("gpu{(i-8) mod 8}", "gpu7"),
            ("{i + 2 * 3}", "13"),
            ("{(i + 2) * 3}", "27"),
            ("{-i / 2}", "-4"),
            ("{i / -2} {-i / -2} {-i mod -4}", "-4 3 1"),
            ("{i % 4}{{x}}", "3{x}"),
            ("{leaf}/host{i}", "leaf0/host7"),
            ("n{n}, {n + 1}", "n08, 9"),
            ("{10 - 3 - 2}", "5"),
        ];
        for (text, value) in all {
            assert_eq!(said(text), value, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let all = [
            ("{k}", "no variable has the name `k`"),
            ("{i", "`{i` has an unmatched brace"),
            ("i}", "`i}` has an unmatched brace"),
            ("{i / (i - 7)}", "`{i / (i - 7)}` divides by 0"),
            ("{leaf + 1}", "`{leaf + 1}` counts with `leaf0`, which is no whole number"),
            ("{9223372036854775807 + i}", "`{9223372036854775807 + i}` exceeds 64 bits"),
            ("{(i}", "`{(i}` lacks a `)`"),
            ("{i i}", "`{i i}` does not expect `i`"),
            ("{}", "`{}` lacks a number or a variable"),
            ("{i modulo 2}", "`{i modulo 2}` does not expect `m`"),
            ("{- -(-9223372036854775807 - 1)}", "`{- -(-9223372036854775807 - 1)}` exceeds 64 bits"),
        ];
        for (text, message) in all {
            assert_eq!(said(text), message, "{text}");
        }
        let nested = said(&format!("{{{}1{}}}", "(".repeat(10_000), ")".repeat(10_000)));
        assert!(nested.contains("…}` is nested too deeply") && nested.len() < 100, "{nested}");
    }
}
