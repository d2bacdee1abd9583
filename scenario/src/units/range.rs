//! Ranges of numbers and of quantities with a unit, as the texts of their values. Nothing is rounded: the fourth value
//! from 0 in steps of 0.05 is `0.15` and nothing near it.

use super::Decimal;
use super::quantity::{SIZES, TIMES, Unit};

/// Most values of one range; *assumed*: more is a slip of the pen.
pub const MOST_VALUES: usize = 1_000_000;
/// Most digits of a value, so that it stays short as text; *assumed*, far beyond any quantity.
const DIGITS: usize = 38;
/// Largest power of ten of a value, either way, for the same reason; *assumed*.
const EXPONENT: i64 = 100;

/// Why a range has no values.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// A text that does not begin with a number.
    #[error("`{key}: {text}` is neither a number nor a quantity; write it as in `0.5` or `512KiB`, or list the values")]
    NotAQuantity {
        /// Key of the range.
        key: &'static str,
        /// What stands there.
        text: String,
    },
    /// Units that differ.
    #[error("`from: {from}` and `{key}: {text}` have different units; write both in the same unit")]
    MixedUnits {
        /// The beginning.
        from: String,
        /// Key of the other.
        key: &'static str,
        /// What stands there.
        text: String,
    },
    /// A step that does not lead upwards.
    #[error("`step: {text}` does not lead from one value to the next; give a step above 0")]
    Step {
        /// The step.
        text: String,
    },
    /// A factor that does not lead upwards.
    #[error("`factor: {text}` does not lead from one value to the next; give a plain number above 1")]
    Factor {
        /// The factor.
        text: String,
    },
    /// A beginning that no factor makes larger.
    #[error("`from: {text}` is not above 0, so a factor does not make it larger; start above 0, or use `step`")]
    FactorFrom {
        /// The beginning.
        text: String,
    },
    /// An end below the beginning.
    #[error("the range from {from} to {to} is empty; write the smaller value under `from`")]
    Empty {
        /// The beginning.
        from: String,
        /// The end.
        to: String,
    },
    /// Too many values.
    #[error("the range has more than {MOST_VALUES} values; use a larger step or factor")]
    TooManyValues,
    /// Values that need more digits than are computed with.
    #[error(
        "the values of the range need more than {DIGITS} digits; use shorter numbers, or give the values as a list"
    )]
    TooManyDigits,
}

/// A number and its unit as the user wrote them under a key.
struct Quantity<'a> {
    key: &'static str,
    text: &'a str,
    negative: bool,
    number: Decimal,
    unit: &'a str,
}

impl<'a> Quantity<'a> {
    fn read(key: &'static str, text: &'a str) -> Result<Self, RangeError> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let read = Decimal::read(unsigned);
        let (number, rest) = read.ok_or_else(|| RangeError::NotAQuantity { key, text: text.to_owned() })?;
        let negative = unsigned.len() < text.len() && !number.is_zero();
        Ok(Self { key, text, negative, number: short(number)?, unit: rest.strip_prefix(' ').unwrap_or(rest) })
    }

    fn positive(&self) -> bool {
        !self.negative && !self.number.is_zero()
    }

    /// In units of a power of ten.
    fn at(&self, exponent: i64) -> Result<i128, RangeError> {
        let size = self.number.at(exponent).ok_or(RangeError::TooManyDigits)?;
        Ok(if self.negative { -size } else { size })
    }

    fn mixed(&self, other: &Quantity<'_>) -> RangeError {
        RangeError::MixedUnits { from: self.text.to_owned(), key: other.key, text: other.text.to_owned() }
    }
}

fn short(number: Decimal) -> Result<Decimal, RangeError> {
    let fits = number.len() <= DIGITS && (-EXPONENT..=EXPONENT).contains(&number.exponent());
    if fits { Ok(number) } else { Err(RangeError::TooManyDigits) }
}

/// The values from `from` on in steps, up to `to`, smallest first; all are written in their one unit.
///
/// # Errors
/// A text that is no quantity, different units, a step that does not lead upwards, an end below the beginning, more than
/// [`MOST_VALUES`] values, more than 38 digits.
pub(crate) fn by_step(from: &str, to: &str, step: &str) -> Result<Vec<String>, RangeError> {
    let (from, to, step) = (Quantity::read("from", from)?, Quantity::read("to", to)?, Quantity::read("step", step)?);
    if let Some(other) = [&to, &step].into_iter().find(|q| q.unit != from.unit) {
        return Err(from.mixed(other));
    }
    if !step.positive() {
        return Err(RangeError::Step { text: step.text.to_owned() });
    }
    // Whole numbers of the finest power of ten add exactly.
    let exponent = from.number.exponent().min(to.number.exponent()).min(step.number.exponent());
    let (last, width) = (to.at(exponent)?, step.at(exponent)?);
    let values = collect(from.at(exponent)?, |value| *value <= last, |value| Ok(value.checked_add(width)), &from, &to)?;
    let write = |value: i128| {
        let sign = if value < 0 { "-" } else { "" };
        format!("{sign}{}{}", Decimal::scaled(value.unsigned_abs(), exponent), from.unit)
    };
    Ok(values.into_iter().map(write).collect())
}

/// The values from `from` on by a factor, up to `to`, smallest first. The ends may have units of one family (as `1KiB` and
/// `32MiB`, or `1us` and `1s`); a value is then written in the largest unit of the family, from that of `from` up to that
/// of `to`, that leaves it whole, and else in that of `from`.
///
/// # Errors
/// As [`by_step`], for the factor.
pub(crate) fn by_factor(from: &str, to: &str, factor: &str) -> Result<Vec<String>, RangeError> {
    let (from, to) = (Quantity::read("from", from)?, Quantity::read("to", to)?);
    let factor = Quantity::read("factor", factor)?;
    if !factor.unit.is_empty() || factor.negative || factor.number <= Decimal::whole(1) {
        return Err(RangeError::Factor { text: factor.text.to_owned() });
    }
    if !from.positive() {
        return Err(RangeError::FactorFrom { text: from.text.to_owned() });
    }
    let units = Units::of(from.unit, to.unit).ok_or_else(|| from.mixed(&to))?;
    let end = if to.negative { Decimal::whole(0) } else { to.number.clone().times(units.to) };
    let within = |value: &Decimal| value.clone().times(units.from) <= end;
    let next = |value: &Decimal| short(value.product(&factor.number)).map(Some);
    let values = collect(from.number.clone(), within, next, &from, &to)?;
    let write = |value: Decimal| {
        let base = value.clone().times(units.from).at(0);
        let whole = |scale: u64| base.filter(|base| base % i128::from(scale) == 0).map(|base| base / i128::from(scale));
        let larger = units.larger.iter().find_map(|(unit, scale)| Some((whole(*scale)?, unit)));
        larger.map_or_else(|| format!("{value}{}", from.unit), |(number, unit)| format!("{number}{unit}"))
    };
    Ok(values.into_iter().map(write).collect())
}

/// All values up to the last; `next` gives none where the digits do not suffice.
fn collect<T>(
    first: T,
    within: impl Fn(&T) -> bool,
    next: impl Fn(&T) -> Result<Option<T>, RangeError>,
    from: &Quantity<'_>,
    to: &Quantity<'_>,
) -> Result<Vec<T>, RangeError> {
    let (mut values, mut value) = (Vec::new(), first);
    while within(&value) {
        if values.len() == MOST_VALUES {
            return Err(RangeError::TooManyValues);
        }
        let following = next(&value)?.ok_or(RangeError::TooManyDigits)?;
        values.push(std::mem::replace(&mut value, following));
    }
    if values.is_empty() {
        return Err(RangeError::Empty { from: from.text.to_owned(), to: to.text.to_owned() });
    }
    Ok(values)
}

/// What the units of a range's ends are worth, and the units above that of `from` up to that of `to`, largest first.
struct Units {
    from: u64,
    to: u64,
    larger: Vec<(String, u64)>,
}

impl Units {
    /// None where the two units are not of one family.
    fn of(from: &str, to: &str) -> Option<Self> {
        if from == to {
            return Some(Self { from: 1, to: 1, larger: Vec::new() });
        }
        let rate = from.ends_with("/s") && to.ends_with("/s");
        let bare = |unit: &str| unit.strip_suffix("/s").filter(|_| rate).unwrap_or(unit).to_owned();
        let (first, last) = (bare(from), bare(to));
        let tables: &[&'static [Unit]] = if rate { &[&SIZES] } else { &[&SIZES, &TIMES] };
        let in_table = |&table: &&'static [Unit]| {
            let unit = |name: &str| table.iter().copied().find(|unit| unit.0 == name);
            Some((table, unit(&first)?, unit(&last)?))
        };
        let (table, first, last) = tables.iter().find_map(in_table)?;
        if first.2 != last.2 || (binary(first) || binary(last)) && !(even(first) && even(last)) {
            return None;
        }
        let between = |unit: &&Unit| {
            let family = unit.2 == first.2 && binary(**unit) == binary(last);
            family && unit.1 > first.1 && unit.1 <= last.1
        };
        let mut larger: Vec<(String, u64)> = table
            .iter()
            .filter(between)
            .map(|unit| (format!("{}{}", unit.0, if rate { "/s" } else { "" }), unit.1))
            .collect();
        // The micro sign and the Greek letter stand for `us`, which comes first.
        larger.dedup_by_key(|unit| unit.1);
        larger.reverse();
        Some(Self { from: first.1, to: last.1, larger })
    }
}

/// Whether a unit counts in powers of 1,024.
fn binary(unit: Unit) -> bool {
    unit.0.contains('i') && unit.1.is_power_of_two()
}

/// Whether a unit is one of the family that counts in powers of 1,024: bytes and bits belong to both.
fn even(unit: Unit) -> bool {
    binary(unit) || unit.1 == 1
}
