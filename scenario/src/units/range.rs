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
    #[error("`{key}: {text}` is neither a number nor a quantity")]
    NotAQuantity {
        /// Key of the range.
        key: &'static str,
        /// What stands there.
        text: String,
    },
    /// Units that differ.
    #[error("`from: {from}` and `{key}: {text}` have different units")]
    MixedUnits {
        /// The beginning.
        from: String,
        /// Key of the other.
        key: &'static str,
        /// What stands there.
        text: String,
    },
    /// A step that does not lead upwards.
    #[error("`step: {text}` does not lead from one value to the next")]
    Step {
        /// The step.
        text: String,
    },
    /// A factor that does not lead upwards.
    #[error("`factor: {text}` does not lead from one value to the next")]
    Factor {
        /// The factor.
        text: String,
    },
    /// A beginning that no factor makes larger.
    #[error("`from: {text}` is not above 0, so a factor does not make it larger")]
    FactorFrom {
        /// The beginning.
        text: String,
    },
    /// An end below the beginning.
    #[error("the range from {from} to {to} is empty")]
    Empty {
        /// The beginning.
        from: String,
        /// The end.
        to: String,
    },
    /// Too many values.
    #[error("the range has more than {MOST_VALUES} values")]
    TooManyValues,
    /// Values that need more digits than are computed with.
    #[error("the values of the range need more than {DIGITS} digits")]
    TooManyDigits,
}

impl RangeError {
    /// What to do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotAQuantity { .. } => "write it as in `0.5` or `512KiB`, or list the values",
            Self::MixedUnits { .. } => "write both in the same unit",
            Self::Step { .. } => "give a step above 0",
            Self::Factor { .. } => "give a plain number above 1",
            Self::FactorFrom { .. } => "start above 0, or use `step`",
            Self::Empty { .. } => "write the smaller value under `from`",
            Self::TooManyValues => "use a larger step or factor",
            Self::TooManyDigits => "use shorter numbers, or give the values as a list",
        }
    }
}

/// Values from one on, in steps or by a factor; at least one, and at most [`MOST_VALUES`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    values: Values,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Values {
    /// Whole numbers of a power of ten: the first, what is added, and how many there are.
    Steps { first: i128, width: i128, count: usize, exponent: i64, unit: String, larger: Vec<(String, u64)> },
    /// As texts: what is multiplied soon has too many digits, so these are few.
    Listed(Vec<String>),
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

    fn empty(&self, to: &Quantity<'_>) -> RangeError {
        RangeError::Empty { from: self.text.to_owned(), to: to.text.to_owned() }
    }

    fn mixed(&self, other: &Quantity<'_>) -> RangeError {
        RangeError::MixedUnits { from: self.text.to_owned(), key: other.key, text: other.text.to_owned() }
    }
}

fn short(number: Decimal) -> Result<Decimal, RangeError> {
    let fits = number.len() <= DIGITS && (-EXPONENT..=EXPONENT).contains(&number.exponent());
    if fits { Ok(number) } else { Err(RangeError::TooManyDigits) }
}

impl Range {
    /// The values from `from` on in steps, up to `to`, smallest first. The three may have units of one family (as `64KiB` and
    /// `1MiB`, or `50us` and `1ms`); a value is then written in the largest unit of the family, up to the largest of theirs,
    /// that leaves it whole, and else in the smallest of theirs.
    ///
    /// # Errors
    /// A text that is no quantity, units of several families, a step that does not lead upwards, an end below the beginning,
    /// more than [`MOST_VALUES`] values, more than 38 digits.
    pub fn by_step(from: &str, to: &str, step: &str) -> Result<Self, RangeError> {
        let (from, to) = (Quantity::read("from", from)?, Quantity::read("to", to)?);
        let step = Quantity::read("step", step)?;
        let (unit, larger) = Units::of_all(&from, [&to, &step])?;
        if !step.positive() {
            return Err(RangeError::Step { text: step.text.to_owned() });
        }
        let in_unit = |quantity: &Quantity<'_>| {
            let scale = Units::of(&unit, quantity.unit).map_or(1, |units| units.to / units.from);
            Ok((short(quantity.number.clone().times(scale))?, quantity.negative))
        };
        let all: [(Decimal, bool); 3] = [in_unit(&from)?, in_unit(&to)?, in_unit(&step)?];
        // Whole numbers of the finest power of ten add exactly.
        let exponent = all.iter().map(|(number, _)| number.exponent()).min().unwrap_or(0);
        let at = |(number, negative): &(Decimal, bool)| {
            let size = number.at(exponent).ok_or(RangeError::TooManyDigits)?;
            Ok(if *negative { -size } else { size })
        };
        let (first, last, width) = (at(&all[0])?, at(&all[1])?, at(&all[2])?);
        let length = last.checked_sub(first).ok_or(RangeError::TooManyDigits)?;
        if length < 0 {
            return Err(from.empty(&to));
        }
        let steps = usize::try_from(length / width).ok().filter(|&steps| steps < MOST_VALUES);
        let count = steps.ok_or(RangeError::TooManyValues)? + 1;
        Ok(Self { values: Values::Steps { first, width, count, exponent, unit, larger } })
    }

    /// The values from `from` on by a factor, up to `to`, smallest first. The ends may have units of one family (as `1KiB` and
    /// `32MiB`, or `1us` and `1s`); a value is then written in the largest unit of the family, from that of `from` up to that
    /// of `to`, that leaves it whole, and else in that of `from`.
    ///
    /// # Errors
    /// As [`Self::by_step`], for the factor.
    pub fn by_factor(from: &str, to: &str, factor: &str) -> Result<Self, RangeError> {
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
        let (mut values, mut value) = (Vec::new(), from.number.clone());
        while value.clone().times(units.from) <= end {
            values.push(units.write(&value, from.unit));
            value = short(value.product(&factor.number))?;
        }
        if values.is_empty() {
            return Err(from.empty(&to));
        }
        Ok(Self { values: Values::Listed(values) })
    }

    /// The values as texts, in order.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        match &self.values {
            Values::Listed(values) => values.clone(),
            Values::Steps { first, width, count, exponent, unit, larger } => {
                let write = |at: usize| {
                    let value = first + width * at as i128;
                    let sign = if value < 0 { "-" } else { "" };
                    let size = Decimal::scaled(value.unsigned_abs(), *exponent);
                    format!("{sign}{}", whole(&size, larger).unwrap_or_else(|| format!("{size}{unit}")))
                };
                (0..*count).map(write).collect()
            }
        }
    }
}

/// What the units of a range's ends are worth, and the units above that of `from` up to that of `to`, largest first.
struct Units {
    from: u64,
    to: u64,
    larger: Vec<(String, u64)>,
}

impl Units {
    /// A value in units of the beginning, in the largest unit that leaves it whole.
    fn write(&self, value: &Decimal, unit: &str) -> String {
        whole(&value.clone().times(self.from), &self.larger).unwrap_or_else(|| format!("{value}{unit}"))
    }

    /// The smallest unit of a range, and the larger ones of its family up to the largest of the range, by what they are worth
    /// in it, largest first.
    fn of_all(from: &Quantity<'_>, others: [&Quantity<'_>; 2]) -> Result<(String, Vec<(String, u64)>), RangeError> {
        let (mut smallest, mut largest) = (from.unit, from.unit);
        for other in others {
            let mixed = || from.mixed(other);
            let (above, below) = (Self::of(smallest, other.unit), Self::of(largest, other.unit));
            let (above, below) = (above.ok_or_else(mixed)?, below.ok_or_else(mixed)?);
            if above.to < above.from {
                smallest = other.unit;
            }
            if below.to > below.from {
                largest = other.unit;
            }
        }
        let units = Self::of(smallest, largest).ok_or_else(|| from.mixed(others[0]))?;
        Ok((smallest.to_owned(), units.larger.into_iter().map(|(name, scale)| (name, scale / units.from)).collect()))
    }

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

/// A number in the first of some units, largest first, that leaves it whole; `None` where none does.
fn whole(value: &Decimal, units: &[(String, u64)]) -> Option<String> {
    let base = value.at(0)?;
    let (unit, scale) = units.iter().find(|(_, scale)| base % i128::from(*scale) == 0)?;
    Some(format!("{}{unit}", base / i128::from(*scale)))
}

/// Whether a unit counts in powers of 1,024.
fn binary(unit: Unit) -> bool {
    unit.0.contains('i') && unit.1.is_power_of_two()
}

/// Whether a unit is one of the family that counts in powers of 1,024: bytes and bits belong to both.
fn even(unit: Unit) -> bool {
    binary(unit) || unit.1 == 1
}
