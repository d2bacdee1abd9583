//! Sizes, bandwidths and times from text with a unit, and plain numbers from text without one.

use weir_plugin_api::{HORIZON, SimDuration};

use super::{Decimal, NotWhole};
use crate::context::Problem;
use crate::diagnostic::quoted;
use crate::nearest::nearest;

/// The largest size: every whole number up to here is an f64.
pub(crate) const BYTES_MOST: u64 = 1 << 53;

/// Digits of a factor at most; *assumed*, so that exact products stay cheap.
const FACTOR_DIGITS: usize = 100;

/// Name, factor, and whether it counts bits.
pub(super) type Unit = (&'static str, u64, bool);

pub(super) const SIZES: [Unit; 22] = [
    ("B", 1, false),
    ("kB", 1_000, false),
    ("MB", 1_000_000, false),
    ("GB", 1_000_000_000, false),
    ("TB", 1_000_000_000_000, false),
    ("PB", 1_000_000_000_000_000, false),
    ("KiB", 1 << 10, false),
    ("MiB", 1 << 20, false),
    ("GiB", 1 << 30, false),
    ("TiB", 1 << 40, false),
    ("PiB", 1 << 50, false),
    ("b", 1, true),
    ("kb", 1_000, true),
    ("Mb", 1_000_000, true),
    ("Gb", 1_000_000_000, true),
    ("Tb", 1_000_000_000_000, true),
    ("Pb", 1_000_000_000_000_000, true),
    ("Kib", 1 << 10, true),
    ("Mib", 1 << 20, true),
    ("Gib", 1 << 30, true),
    ("Tib", 1 << 40, true),
    ("Pib", 1 << 50, true),
];

/// Factors in picoseconds. `µ` is the micro sign (U+00B5) or the Greek letter (U+03BC).
pub(super) const TIMES: [Unit; 10] = [
    ("ps", 1, false),
    ("ns", 1_000, false),
    ("us", 1_000_000, false),
    ("\u{b5}s", 1_000_000, false),
    ("\u{3bc}s", 1_000_000, false),
    ("ms", 1_000_000_000, false),
    ("s", 1_000_000_000_000, false),
    ("min", 60_000_000_000_000, false),
    ("h", 3_600_000_000_000_000, false),
    ("d", 86_400_000_000_000_000, false),
];

/// How a kind of quantity is spoken about.
struct Speech {
    noun: &'static str,
    example: &'static str,
    units: &'static str,
}

const SIZE: Speech = Speech {
    noun: "a size",
    example: "300MB",
    units: "B kB MB GB TB PB, KiB MiB GiB TiB PiB (bytes), b kb Mb Gb Tb Pb, Kib Mib Gib Tib Pib (bits)",
};
const BANDWIDTH: Speech = Speech {
    noun: "a bandwidth",
    example: "11.6GB/s",
    units: "a unit of size followed by /s (B/s kB/s MB/s GB/s GiB/s Gb/s …), or 16GT/s x16",
};
const PER_BYTE: Speech =
    Speech { noun: "a time per byte", example: "83.18392ps", units: "ps ns us µs ms s min h d (for one byte)" };
const TIME: Speech = Speech { noun: "a time", example: "2.5ms", units: "ps ns us µs ms s min h d" };

/// A size in whole bytes, 1 to 2^53.
pub(crate) fn byte_size(text: &str) -> Result<u64, Problem> {
    whole_bytes(&size_decimal(text)?)
        .map_err(|problem| Problem { message: format!("{} {}", quoted(text), problem.message), help: problem.help })
}

/// A size as an exact number of bytes, whole or not.
pub(crate) fn size_decimal(text: &str) -> Result<Decimal, Problem> {
    let (number, unit) = split(text, &SIZE)?;
    let unit = find(unit, &SIZES).ok_or_else(|| unknown_unit(text, unit, &SIZE, &SIZES, ""))?;
    Ok(scaled(number, unit))
}

/// A number of bytes that must be whole and 1 to 2^53; the message lacks its subject.
pub(crate) fn whole_bytes(bytes: &Decimal) -> Result<u64, Problem> {
    match bytes.to_whole(BYTES_MOST) {
        Ok(0) => Err(Problem::new("is zero bytes", "give at least 1B")),
        Ok(bytes) => Ok(bytes),
        Err(NotWhole::Fraction) => Err(Problem::new("is not a whole number of bytes", "give a whole number of bytes")),
        Err(NotWhole::TooLarge) => Err(Problem::new("is too large", "give at most 2^53 bytes (8PiB)")),
    }
}

/// A time, to the nearest picosecond, halves up, within the horizon of 100 days.
pub(crate) fn duration(text: &str) -> Result<SimDuration, Problem> {
    let (number, unit) = split(text, &TIME)?;
    let unit = find(unit, &TIMES).ok_or_else(|| unknown_unit(text, unit, &TIME, &TIMES, ""))?;
    let time = scaled(number, unit).to_nearest(HORIZON.0).map(SimDuration);
    time.ok_or_else(|| Problem::new(format!("{} is beyond the horizon", quoted(text)), "give at most 100d"))
}

/// A number of seconds without unit, to the nearest picosecond, halves up.
pub(crate) fn seconds(text: &str) -> Result<SimDuration, Problem> {
    let time = decimal(text)?.times_power_of_ten(12).to_nearest(HORIZON.0).map(SimDuration);
    time.ok_or_else(|| Problem::new(format!("{} is beyond the horizon", quoted(text)), "give at most 100 days"))
}

/// A time per byte in picoseconds: the nearest real number, within the horizon.
pub(crate) fn time_per_byte(text: &str) -> Result<f64, Problem> {
    let (number, unit) = split(text, &PER_BYTE)?;
    let unit = find(unit, &TIMES).ok_or_else(|| unknown_unit(text, unit, &PER_BYTE, &TIMES, ""))?;
    real_time(&scaled(number, unit), text)
}

/// A number of seconds without unit in picoseconds: the nearest real number, within the horizon.
pub(crate) fn real_seconds(text: &str) -> Result<f64, Problem> {
    real_time(&decimal(text)?.times_power_of_ten(12), text)
}

fn real_time(ps: &Decimal, text: &str) -> Result<f64, Problem> {
    let value = Some(ps.to_f64()).filter(|&ps| ps <= HORIZON.0 as f64);
    value.ok_or_else(|| Problem::new(format!("{} is beyond the horizon", quoted(text)), "give at most 100 days"))
}

/// A bandwidth as an exact fraction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bandwidth {
    number: Decimal,
    divisor: u64,
}

impl Bandwidth {
    /// Whether it is none.
    pub(crate) fn is_zero(&self) -> bool {
        self.number.is_zero()
    }

    /// Times a factor, as the nearest number, which may be out of range.
    pub(super) fn nearest(&self, factor: &Decimal) -> f64 {
        let number = if *factor == Decimal::whole(1) { self.number.clone() } else { self.number.product(factor) };
        if self.divisor == 1 { number.to_f64() } else { number.quotient_f64(self.divisor) }
    }

    /// Times a factor, as the nearest number of bytes per second. `text` is what the user wrote.
    pub(crate) fn bytes_per_second(&self, factor: &Decimal, text: &str) -> Result<f64, Problem> {
        let value = self.nearest(factor);
        if *factor == Decimal::whole(1) {
            return within(value, &BYTES_PER_SECOND, || quoted(text));
        }
        within(value, &BYTES_PER_SECOND, || format!("{} times `efficiency`", quoted(text)))
    }
}

/// A bandwidth: a size per second, or lanes at a rate of transfers.
pub(crate) fn bandwidth(text: &str) -> Result<Bandwidth, Problem> {
    let (number, unit) = split(text, &BANDWIDTH)?;
    if let Some(lanes) = unit.strip_prefix("GT/s") {
        return pcie_text(number, lanes, text);
    }
    let size = unit.strip_suffix("/s").ok_or_else(|| unknown_unit(text, unit, &BANDWIDTH, &SIZES, "/s"))?;
    let unit = find(size, &SIZES).ok_or_else(|| unknown_unit(text, size, &BANDWIDTH, &SIZES, "/s"))?;
    if number.len() > FACTOR_DIGITS {
        return Err(too_many_digits(text));
    }
    Ok(Bandwidth { number: scaled(number, unit), divisor: 1 })
}

/// `16GT/s x16`, from the part after `GT/s`.
fn pcie_text(rate: Decimal, lanes: &str, text: &str) -> Result<Bandwidth, Problem> {
    let width = lanes.trim_start_matches(' ').strip_prefix('x').and_then(|w| whole_number(w, 99).ok());
    let help = "write the rate per lane and the lanes, as in `16GT/s x16`";
    let width = width.ok_or_else(|| Problem::new(format!("{} names no lanes", quoted(text)), help))?;
    pcie_raw(&rate, width)
}

/// Rates per lane of the generations of PCI Express in units of 0.1 GT/s, with data bits per bits on the wire: 8b/10b for
/// generations 1 and 2, 128b/130b for 3 to 5; 236 data bytes in a flit of 256 for 6. (PCI Express Base Specification 6.0,
/// sections 4.2.2 and 4.2.3.)
const PCIE: [(u64, u64, u64); 6] =
    [(25, 8, 10), (50, 8, 10), (80, 128, 130), (160, 128, 130), (320, 128, 130), (640, 236, 256)];

/// Widths of links of PCI Express, in lanes (same source, section 4.2.6).
pub(crate) const LANES: [u64; 7] = [1, 2, 4, 8, 12, 16, 32];

/// The raw figure after encoding of a link of `width` lanes at `rate` GT/s.
fn pcie_raw_of(generation: usize, width: u64) -> Result<Bandwidth, Problem> {
    if !LANES.contains(&width) {
        let message = format!("a width of {width} lanes");
        return Err(Problem::new(message, "PCI Express links have 1, 2, 4, 8, 12, 16 or 32 lanes"));
    }
    let (tenths, data, wire) = PCIE[generation];
    // tenths · 10^8 transfers (bits) per second and lane; 8 bits a byte.
    let number = Decimal::whole(tenths * 100_000_000).times(width).times(data).eighth();
    Ok(Bandwidth { number, divisor: wire })
}

fn pcie_raw(rate: &Decimal, width: u64) -> Result<Bandwidth, Problem> {
    let generation = PCIE.iter().position(|&(tenths, ..)| *rate == Decimal::whole(tenths).times_power_of_ten(-1));
    let help = "PCI Express lanes run at 2.5, 5, 8, 16, 32 or 64 GT/s";
    pcie_raw_of(generation.ok_or_else(|| Problem::new("no generation of PCI Express has this rate", help))?, width)
}

/// A generation of PCI Express.
pub(crate) fn generation(text: &str) -> Result<u64, Problem> {
    let known = text.parse().ok().filter(|generation| (1..=PCIE.len() as u64).contains(generation));
    known.ok_or_else(|| no_generation(&quoted(text)))
}

fn no_generation(which: &str) -> Problem {
    Problem::new(format!("there is no generation {which}"), "give a generation from 1 to 6")
}

/// The bandwidth of a generation (1 to 6) and a width, after encoding.
pub(crate) fn pcie_generation(generation: u64, width: u64) -> Result<Bandwidth, Problem> {
    match generation {
        1..=6 => pcie_raw_of(generation as usize - 1, width),
        _ => Err(no_generation(&generation.to_string())),
    }
}

/// What a link of PCI Express carries each way after encoding, bytes per second; `None` for a generation or width that there
/// is not.
#[must_use]
pub fn pcie_raw_figure(generation: u64, width: u64) -> Option<f64> {
    pcie_generation(generation, width).ok()?.bytes_per_second(&Decimal::whole(1), "").ok()
}

/// A factor above 0 and at most 1.
pub(crate) fn efficiency(text: &str) -> Result<Decimal, Problem> {
    let number = decimal(text)?;
    if number.is_zero() || number.to_f64() > 1.0 {
        return Err(Problem::new(format!("{} is not a share", quoted(text)), "give a number above 0, at most 1"));
    }
    Ok(number)
}

/// A number without unit, ≥ 0.
pub(crate) fn decimal(text: &str) -> Result<Decimal, Problem> {
    if let Some(problem) = not_finite(text) {
        return Err(problem);
    }
    match Decimal::read_all(text) {
        Some(number) if number.len() > FACTOR_DIGITS => Err(too_many_digits(text)),
        Some(number) => Ok(number),
        None => Err(Problem::new(format!("{} is not a number", quoted(text)), "write a plain number, as in `0.5`")),
    }
}

/// A share in a division of bandwidth, without unit.
pub(crate) fn weight(text: &str) -> Result<f64, Problem> {
    within(decimal(text)?.to_f64(), &WEIGHT, || quoted(text))
}

/// A number of bytes per second, without unit.
pub(crate) fn bytes_per_second(text: &str) -> Result<f64, Problem> {
    within(decimal(text)?.to_f64(), &BYTES_PER_SECOND, || quoted(text))
}

/// A whole number without unit, at most `most`.
pub(crate) fn whole_number(text: &str, most: u64) -> Result<u64, Problem> {
    whole_number_within(text, 0, most)
}

/// The help names the range; whether the number is below it is not checked.
fn whole_number_within(text: &str, least: u64, most: u64) -> Result<u64, Problem> {
    // Tables have millions of them: nothing is written unless something is wrong.
    let help = || format!("write a whole number from {least} to {most}");
    if let Some(problem) = not_finite(text) {
        return Err(problem);
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Problem::new(format!("{} is not a whole number", quoted(text)), help()));
    }
    let number = text.parse().ok().filter(|&n| n <= most);
    number.ok_or_else(|| Problem::new(format!("{} is too large", quoted(text)), help()))
}

fn scaled(number: Decimal, (_, factor, bits): Unit) -> Decimal {
    let number = number.times(factor);
    if bits { number.eighth() } else { number }
}

fn find(name: &str, units: &[Unit]) -> Option<Unit> {
    units.iter().copied().find(|u| u.0 == name)
}

/// A whole number that may be negative.
pub(crate) fn integer(text: &str) -> Result<i64, Problem> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_whole).ok_or_else(|| {
        let wrong = if is_whole { "needs more than 64 bits" } else { "is not a whole number" };
        Problem::new(format!("{} {wrong}", quoted(text)), "write a whole number, as in `3` or `-1`")
    })
}

/// A whole number from 1 to `most`.
pub(crate) fn at_least_one(text: &str, most: u64) -> Result<u64, Problem> {
    match whole_number_within(text, 1, most)? {
        0 => Err(Problem::new("`0` is too few", "give at least 1")),
        n => Ok(n),
    }
}

/// The bandwidth (bytes per second) of several links as one, if a link may have so much.
pub(crate) fn in_parallel(bandwidth: f64, links: u64) -> Result<f64, Problem> {
    within(bandwidth * links as f64, &BYTES_PER_SECOND, || format!("the bandwidth of {links} links together"))
}

/// Values that are allowed, with how they are spoken about.
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) most: f64,
    said: &'static str,
}

/// Bandwidths and limits; *assumed*, far beyond any link on both sides, and so that a rate times the horizon, and the
/// time of the largest transfer in picoseconds, stay far from the ends of f64.
const BYTES_PER_SECOND: Range = Range { least: 1e-3, most: 1e18, said: "from 0.001 B/s to 1e18 B/s" };

/// Weights; *assumed*, so that a share of a bandwidth stays well above rounding.
pub(super) const WEIGHT: Range = Range { least: 1e-9, most: 1e9, said: "from 1e-9 to 1e9" };

fn within(value: f64, range: &Range, what: impl FnOnce() -> String) -> Result<f64, Problem> {
    if (range.least..=range.most).contains(&value) {
        return Ok(value);
    }
    let wrong = match value {
        0.0 => "zero",
        v if v < range.least => "too small",
        _ => "too large",
    };
    Err(Problem::new(format!("{} is {wrong}", what()), format!("give a value {}", range.said)))
}

fn too_many_digits(text: &str) -> Problem {
    Problem::new(format!("{} has too many digits", quoted(text)), format!("give at most {FACTOR_DIGITS} digits"))
}

/// Number and unit of a text.
fn split<'a>(text: &'a str, speech: &Speech) -> Result<(Decimal, &'a str), Problem> {
    if let Some(problem) = not_finite(text) {
        return Err(problem);
    }
    let help = || format!("{} is written like `{}`; units: {}", speech.noun, speech.example, speech.units);
    let Some((number, rest)) = Decimal::read(text) else {
        let help = if text.starts_with('.') { format!("write {}", quoted(&format!("0{text}"))) } else { help() };
        return Err(Problem::new(format!("{} is not {}", quoted(text), speech.noun), help));
    };
    let unit = rest.strip_prefix(' ').unwrap_or(rest);
    if unit.is_empty() {
        return Err(Problem::new(format!("{} has no unit", quoted(text)), help()));
    }
    Ok((number, unit))
}

/// NaN, infinities and negative numbers have their own messages.
fn not_finite(text: &str) -> Option<Problem> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let word = text.trim_start_matches(['+', '-', '.']).to_ascii_lowercase();
    if word.starts_with("nan") || word.starts_with("inf") {
        return Some(Problem::new(format!("{} is not a finite number", quoted(text)), "give a finite number"));
    }
    if text.starts_with('-') && word.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(Problem::new(format!("{} is negative", quoted(text)), "give a number that is not negative"));
    }
    None
}

/// A unit as this format writes it, of one as networks write them: `16Gbps`, `100mbps`, `128Gbit/s`.
fn usual_unit(unit: &str) -> String {
    let usual = unit.replace("bit", "b").replace("bps", "b/s").replace("Bps", "B/s").replace("/sec", "/s");
    match usual.chars().next() {
        // Milli- and gram mean nothing here.
        Some(prefix @ ('g' | 'm' | 't')) if usual.ends_with("b/s") => {
            format!("{}{}", prefix.to_ascii_uppercase(), &usual[1..])
        }
        _ => usual,
    }
}

fn unknown_unit(text: &str, unit: &str, speech: &Speech, units: &[Unit], per: &str) -> Problem {
    let usual = usual_unit(unit);
    let bare = usual.strip_suffix(per).unwrap_or(&usual);
    let message = format!("{} has the unknown unit {}", quoted(text), quoted(unit));
    if matches!(unit, "k" | "K" | "M" | "G" | "T" | "P") && find("B", units).is_some() {
        let (number, prefix) = (&text[..text.rfind(unit).unwrap_or(0)], if unit == "K" { "k" } else { unit });
        // A rate is of bits, as networks count, or of bytes; a size is of powers of 1000 or of 1024.
        let meant = match per {
            "" => format!("`{number}{prefix}B` or `{number}{}iB`", unit.to_ascii_uppercase()),
            _ => format!("`{number}{prefix}b{per}` (bits) or `{number}{prefix}B{per}` (bytes)"),
        };
        return Problem::new(message, format!("did you mean {meant}?"));
    }
    let near = match find(bare, units) {
        // The unit is sure, so that the whole value can be copied.
        Some(unit_meant) => Some(format!("{}{}", &text[..text.rfind(unit).unwrap_or(0)], unit_meant.0)),
        None => nearest(bare, units.iter().map(|u| u.0)).map(str::to_owned),
    };
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}{per}`? "));
    Problem::new(message, format!("{near}units of {}: {}", &speech.noun[2..], speech.units))
}
