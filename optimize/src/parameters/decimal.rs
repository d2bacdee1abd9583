//! Exact decimal numbers of up to 38 digits: a range never rounds, so that the fourth value from 0 in steps of 0.05 is
//! `0.15` and nothing near it.

use std::cmp::Ordering;
use std::fmt;

/// Exponents beyond this are refused, so that a written number stays short; *assumed*, far beyond any quantity.
const EXPONENT: i32 = 100;

/// `digits` · 10^`exponent`; `digits` is no multiple of 10, 0 has the exponent 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

/// Why a text does not begin with a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoDecimal {
    /// It begins with something else.
    Text,
    /// The number needs more than 38 digits, or an exponent beyond ±100.
    TooLong,
}

impl Decimal {
    /// Reads a number from the front of a text as scenarios write them (an optional minus, digits, an optional fraction
    /// and an optional exponent); returns the rest too.
    pub(super) fn read(text: &str) -> Result<(Self, &str), NoDecimal> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, mut rest) = digits(unsigned);
        if whole.is_empty() {
            return Err(NoDecimal::Text);
        }
        let mut fraction = "";
        if let Some(after) = rest.strip_prefix('.') {
            (fraction, rest) = digits(after);
            if fraction.is_empty() {
                return Err(NoDecimal::Text);
            }
        }
        let mut exponent = 0;
        if let Some(after) = rest.strip_prefix(['e', 'E']) {
            let size = after.strip_prefix(['+', '-']).unwrap_or(after);
            let (size, end) = digits(size);
            // Without digits the letter belongs to what follows.
            if !size.is_empty() {
                let size = size.bytes().fold(0_i64, |e, b| (e * 10 + i64::from(b - b'0')).min(1 << 40));
                exponent = if after.starts_with('-') { -size } else { size };
                rest = end;
            }
        }
        let number =
            Self::of(&[whole, fraction].concat(), exponent - fraction.len() as i64).ok_or(NoDecimal::TooLong)?;
        let number = if unsigned.len() < text.len() { Self { digits: -number.digits, ..number } } else { number };
        Ok((number, rest))
    }

    fn of(all: &str, exponent: i64) -> Option<Self> {
        let kept = all.trim_end_matches('0');
        let exponent = exponent + (all.len() - kept.len()) as i64;
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Some(Self { digits: 0, exponent: 0 });
        }
        let exponent = i32::try_from(exponent).ok()?;
        Self::normal(kept.parse().ok()?, exponent)
    }

    /// None where the exponent is out of range.
    fn normal(mut digits: i128, mut exponent: i32) -> Option<Self> {
        if digits == 0 {
            return Some(Self { digits, exponent: 0 });
        }
        while digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        (-EXPONENT..=EXPONENT).contains(&exponent).then_some(Self { digits, exponent })
    }

    /// The sum; none where it needs too many digits.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        Self::normal(self.at(exponent)?.checked_add(other.at(exponent)?)?, exponent)
    }

    /// The product; none where it needs too many digits.
    pub(super) fn times(self, other: Self) -> Option<Self> {
        Self::normal(self.digits.checked_mul(other.digits)?, self.exponent + other.exponent)
    }

    /// The digits when written with an exponent that is not above its own.
    fn at(self, exponent: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let zeros = u32::try_from(self.exponent - exponent).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(zeros)?)
    }

    /// A whole number.
    pub(super) fn whole(value: i128) -> Self {
        // An i128 has fewer than 40 zeros at its end.
        Self::normal(value, 0).unwrap_or(Self { digits: value, exponent: 0 })
    }

    /// The number divided by a whole one, where the quotient is whole.
    pub(super) fn whole_quotient(self, divisor: i128) -> Option<Self> {
        let whole = self.at(0)?;
        (whole % divisor == 0).then(|| Self::whole(whole / divisor))
    }

    /// −1, 0 or 1.
    pub(super) fn sign(self) -> i128 {
        self.digits.signum()
    }

    /// Whether it is at most another; none where comparing them needs too many digits.
    pub(super) fn at_most(self, other: Self) -> Option<bool> {
        let exponent = self.exponent.min(other.exponent);
        match (self.at(exponent), other.at(exponent)) {
            (Some(a), Some(b)) => Some(a.cmp(&b) != Ordering::Greater),
            _ if self.sign() != other.sign() => Some(self.sign() < other.sign()),
            _ => None,
        }
    }
}

/// Without exponent and without zeros at the end of a fraction: `0.15`, `300`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits.unsigned_abs().to_string();
        let sign = if self.digits < 0 { "-" } else { "" };
        let zeros = self.exponent.unsigned_abs() as usize;
        if self.exponent >= 0 {
            return write!(f, "{sign}{digits}{}", "0".repeat(zeros));
        }
        let padded = format!("{digits:0>width$}", width = zeros + 1);
        let (whole, fraction) = padded.split_at(padded.len() - zeros);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

/// The ASCII digits at the front, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::read(text).expect("a number").0
    }

    #[test]
    fn numbers_are_written_plainly() {
        let cases = [("0.150", "0.15"), ("1e-3", "0.001"), ("3E2", "300"), ("-0.5", "-0.5"), ("-0", "0"), ("007", "7")];
        for (text, written) in cases {
            assert_eq!(read(text).to_string(), written);
        }
    }

    #[test]
    fn the_rest_is_the_unit() {
        for (text, rest) in [("16GT/s x16", "GT/s x16"), ("1e3kB", "kB"), ("1e", "e"), ("2 MiB", " MiB")] {
            assert_eq!(Decimal::read(text).expect("a number").1, rest);
        }
        for text in ["", "-", ".5", "1.", "1.e3", "x", "+1", "none"] {
            assert_eq!(Decimal::read(text), Err(NoDecimal::Text), "{text}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused_not_rounded() {
        let nines = "9".repeat(40);
        for text in [&*nines, "1e101", "1e-101", "1e99999999999999999999"] {
            assert_eq!(Decimal::read(text), Err(NoDecimal::TooLong), "{text}");
        }
        assert_eq!(read("1e30").plus(read("1e-30")), None);
        assert_eq!(read("0e99999999999999999999").to_string(), "0");
    }

    #[test]
    fn far_apart_numbers_compare_by_sign_or_not_at_all() {
        assert_eq!(read("-1e30").at_most(read("1e-30")), Some(true));
        assert_eq!(read("1e30").at_most(read("1e-30")), None);
        assert_eq!(read("0").at_most(read("1e-100")), Some(true));
    }
}
