//! Ranges of numbers and of quantities with a unit.

use super::decimal::{Decimal, NoDecimal};
use super::error::RangeError;

/// Most values of one range; *assumed*: more is a slip of the pen.
pub const MOST_VALUES: usize = 1_000_000;

/// `{ from, to, step }` or `{ from, to, factor }`, as texts of the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first value: a number, or a number with a unit.
    pub from: String,
    /// The end; a value too when the steps meet it.
    pub to: String,
    /// From one value to the next.
    pub by: By,
}

/// How a range goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum By {
    /// By adding a number above 0, in the unit of `from`.
    Step(String),
    /// By multiplying with a plain number above 1; an extension for sizes of packets and the like, which grow by factors.
    Factor(String),
}

impl Range {
    /// The values as texts, smallest first, by exact decimal arithmetic.
    ///
    /// All of a range by steps are written in its one unit. The ends of a range by a factor may have units of one family
    /// (as `1KiB` and `32MiB`, or `1us` and `1s`); a value is then written in the largest unit of the family, from that of
    /// `from` up to that of `to`, that leaves it whole, and else in that of `from`.
    ///
    /// # Errors
    /// A text that is no quantity, different units, a step or factor that does not lead upwards, an end below the
    /// beginning, more than [`MOST_VALUES`] values, more than 38 digits.
    pub fn values(&self) -> Result<Vec<String>, RangeError> {
        let from = quantity("from", &self.from)?;
        let to = quantity("to", &self.to)?;
        match &self.by {
            By::Step(step) => steps(&from, &to, &quantity("step", step)?),
            By::Factor(factor) => factors(&from, &to, &quantity("factor", factor)?),
        }
    }
}

/// A number and its unit as the user wrote them under a key.
struct Quantity<'a> {
    key: &'static str,
    text: &'a str,
    number: Decimal,
    unit: &'a str,
}

fn quantity<'a>(key: &'static str, text: &'a str) -> Result<Quantity<'a>, RangeError> {
    match Decimal::read(text) {
        Ok((number, rest)) => Ok(Quantity { key, text, number, unit: rest.strip_prefix(' ').unwrap_or(rest) }),
        Err(NoDecimal::Text) => Err(RangeError::NotAQuantity { key, text: text.to_owned() }),
        Err(NoDecimal::TooLong) => Err(RangeError::TooManyDigits),
    }
}

fn mixed(from: &Quantity<'_>, other: &Quantity<'_>) -> RangeError {
    RangeError::MixedUnits { from: from.text.to_owned(), key: other.key, text: other.text.to_owned() }
}

fn steps(from: &Quantity<'_>, to: &Quantity<'_>, step: &Quantity<'_>) -> Result<Vec<String>, RangeError> {
    if let Some(other) = [to, step].into_iter().find(|q| q.unit != from.unit) {
        return Err(mixed(from, other));
    }
    if step.number.sign() <= 0 {
        return Err(RangeError::Step { text: step.text.to_owned() });
    }
    let last = |value: Decimal| value.at_most(to.number).ok_or(RangeError::TooManyDigits);
    let next = |value: Decimal| value.plus(step.number);
    let values = collect(from, to, last, next)?;
    Ok(values.into_iter().map(|value| format!("{value}{}", from.unit)).collect())
}

fn factors(from: &Quantity<'_>, to: &Quantity<'_>, factor: &Quantity<'_>) -> Result<Vec<String>, RangeError> {
    let growing = factor.number != Decimal::whole(1) && Decimal::whole(1).at_most(factor.number) == Some(true);
    if !factor.unit.is_empty() || !growing {
        return Err(RangeError::Factor { text: factor.text.to_owned() });
    }
    if from.number.sign() <= 0 {
        return Err(RangeError::FactorFrom { text: from.text.to_owned() });
    }
    let units = units(from.unit, to.unit).ok_or_else(|| mixed(from, to))?;
    let scaled = |value: Decimal, unit: i128| value.times(Decimal::whole(unit)).ok_or(RangeError::TooManyDigits);
    let end = scaled(to.number, units.to)?;
    let last = |value: Decimal| scaled(value, units.from)?.at_most(end).ok_or(RangeError::TooManyDigits);
    let values = collect(from, to, last, |value| value.times(factor.number))?;
    let write = |value: Decimal| {
        let base = scaled(value, units.from)?;
        let larger = units.larger.iter().find_map(|(unit, scale)| Some((base.whole_quotient(*scale)?, unit)));
        Ok(larger.map_or_else(|| format!("{value}{}", from.unit), |(number, unit)| format!("{number}{unit}")))
    };
    values.into_iter().map(write).collect()
}

/// All values up to the last; `next` gives none where the digits do not suffice.
fn collect(
    from: &Quantity<'_>,
    to: &Quantity<'_>,
    in_range: impl Fn(Decimal) -> Result<bool, RangeError>,
    next: impl Fn(Decimal) -> Option<Decimal>,
) -> Result<Vec<Decimal>, RangeError> {
    let mut values = Vec::new();
    let mut value = from.number;
    while in_range(value)? {
        if values.len() == MOST_VALUES {
            return Err(RangeError::TooManyValues);
        }
        values.push(value);
        value = next(value).ok_or(RangeError::TooManyDigits)?;
    }
    if values.is_empty() {
        return Err(RangeError::Empty { from: from.text.to_owned(), to: to.text.to_owned() });
    }
    Ok(values)
}

/// Units of one family, smallest first, with their factors.
type Family = &'static [(&'static str, i128)];

/// Families of units in which scenarios are written; rates of bytes and bits are those of sizes followed by `/s`.
const FAMILIES: [Family; 5] = [
    &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("PB", 10_i128.pow(15)),
    ],
    &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("PiB", 1 << 50)],
    &[
        ("b", 1),
        ("kb", 1_000),
        ("Mb", 1_000_000),
        ("Gb", 1_000_000_000),
        ("Tb", 1_000_000_000_000),
        ("Pb", 10_i128.pow(15)),
    ],
    &[("b", 1), ("Kib", 1 << 10), ("Mib", 1 << 20), ("Gib", 1 << 30), ("Tib", 1 << 40), ("Pib", 1 << 50)],
    &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
        ("d", 86_400_000_000_000_000),
    ],
];

/// What the units of a range's ends are worth, and the units above that of `from` up to that of `to`, largest first.
struct Units {
    from: i128,
    to: i128,
    larger: Vec<(String, i128)>,
}

/// None where the two units are not of one family.
fn units(from: &str, to: &str) -> Option<Units> {
    if from == to {
        return Some(Units { from: 1, to: 1, larger: Vec::new() });
    }
    let (suffix, from, to) = match (from.strip_suffix("/s"), to.strip_suffix("/s")) {
        (Some(from), Some(to)) => ("/s", from, to),
        (None, None) => ("", from, to),
        _ => return None,
    };
    // The micro sign and the Greek letter, as scenarios allow.
    let plain = |unit| if matches!(unit, "\u{b5}s" | "\u{3bc}s") { "us" } else { unit };
    let place = |family: Family, unit| family.iter().position(|u| u.0 == plain(unit));
    let in_family = |family: &Family| Some((*family, place(family, from)?, place(family, to)?));
    let (family, first, last) = FAMILIES.iter().find_map(in_family)?;
    if suffix == "/s" && family[0].0 == "ps" {
        return None;
    }
    let larger = family.iter().take(last + 1).skip(first + 1).rev();
    let larger = larger.map(|(name, scale)| (format!("{name}{suffix}"), *scale)).collect();
    Some(Units { from: family[first].1, to: family[last].1, larger })
}
