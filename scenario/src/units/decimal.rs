//! Exact decimal numbers as digits and an exponent: no text is ever rounded before its unit is known, and no exponent,
//! however large, costs time or memory.

use std::cmp::Ordering;
use std::fmt;

/// A number ≥ 0: `digits` × 10^`exponent`, digits without leading or trailing zeros; no digits is 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    /// Most significant first, each 0 to 9.
    digits: Vec<u8>,
    exponent: i64,
}

/// Exponents are held to this magnitude; far beyond it everything is "too large" or 0 anyway, and sums cannot overflow.
const EXPONENT: i64 = 1 << 50;

/// Why a number is not a whole one in range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotWhole {
    Fraction,
    /// It is above the limit.
    TooLarge,
}

impl Decimal {
    /// Reads digits, an optional fraction and an optional exponent from the front of a text; returns the rest too.
    pub(crate) fn read(text: &str) -> Option<(Self, &str)> {
        let bytes = text.as_bytes();
        let run = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let whole = run(0);
        if whole == 0 {
            return None;
        }
        let mut end = whole;
        let mut digits: Vec<u8> = bytes[..whole].iter().map(|b| b - b'0').collect();
        let mut exponent = 0;
        if bytes.get(end) == Some(&b'.') {
            let fraction = run(end + 1);
            if fraction == 0 {
                return None;
            }
            digits.extend(bytes[end + 1..end + 1 + fraction].iter().map(|b| b - b'0'));
            exponent = -(fraction as i64);
            end += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let length = run(end + 1 + sign);
            // Without digits the letter belongs to what follows.
            if length > 0 {
                let at = end + 1 + sign;
                let size =
                    bytes[at..at + length].iter().fold(0_i64, |e, b| (e * 10 + i64::from(b - b'0')).min(EXPONENT));
                exponent += if bytes[end + 1] == b'-' { -size } else { size };
                end = at + length;
            }
        }
        Some((Self { digits, exponent }.normal(), &text[end..]))
    }

    /// Reads a text that is a number and nothing else.
    pub(crate) fn read_all(text: &str) -> Option<Self> {
        Self::read(text).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
    }

    pub(crate) fn whole(value: u64) -> Self {
        Self::scaled(value.into(), 0)
    }

    /// `number` × 10^`exponent`.
    pub(crate) fn scaled(number: u128, exponent: i64) -> Self {
        let digits = number.to_string().bytes().map(|b| b - b'0').collect();
        Self { digits, exponent }.normal()
    }

    fn normal(mut self) -> Self {
        let leading = self.digits.iter().take_while(|&&d| d == 0).count();
        self.digits.drain(..leading);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
        self
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Times a small whole number, exactly.
    pub(crate) fn times(mut self, factor: u64) -> Self {
        let mut carry = 0_u128;
        for digit in self.digits.iter_mut().rev() {
            carry += u128::from(*digit) * u128::from(factor);
            *digit = (carry % 10) as u8;
            carry /= 10;
        }
        let mut front = Vec::new();
        while carry > 0 {
            front.push((carry % 10) as u8);
            carry /= 10;
        }
        front.reverse();
        front.append(&mut self.digits);
        Self { digits: front, ..self }.normal()
    }

    /// Times 10^`power`, exactly.
    pub(crate) fn times_power_of_ten(mut self, power: i64) -> Self {
        if !self.is_zero() {
            self.exponent += power;
        }
        self
    }

    /// Divided by 8, exactly.
    pub(crate) fn eighth(self) -> Self {
        self.times(125).times_power_of_ten(-3)
    }

    /// Times another decimal, exactly; for numbers of at most some hundred digits.
    pub(crate) fn product(&self, other: &Self) -> Self {
        let mut sums = vec![0_u64; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().rev().enumerate() {
            for (j, b) in other.digits.iter().rev().enumerate() {
                sums[i + j] += u64::from(a * b);
            }
        }
        let mut carry = 0;
        let mut digits: Vec<u8> = Vec::with_capacity(sums.len());
        for sum in sums {
            carry += sum;
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        digits.reverse();
        Self { digits, exponent: self.exponent + other.exponent }.normal()
    }

    /// Number of significant digits.
    pub(crate) fn len(&self) -> usize {
        self.digits.len()
    }

    /// The power of ten of its last digit; 0 of 0.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The number divided by 10^`exponent`, where that is whole and fits.
    pub(crate) fn at(&self, exponent: i64) -> Option<i128> {
        let zeros = if self.is_zero() { 0 } else { u32::try_from(self.exponent.checked_sub(exponent)?).ok()? };
        let number = self.digits.iter().try_fold(0_i128, |n, &d| n.checked_mul(10)?.checked_add(d.into()))?;
        number.checked_mul(10_i128.checked_pow(zeros)?)
    }

    /// The nearest f64 to the number divided by `divisor`; may be infinite or 0.
    pub(crate) fn quotient_f64(&self, divisor: u64) -> f64 {
        // Long division with 40 digits more than the dividend; a last digit of 1 stands for any remainder, which keeps
        // the text on the right side of every rounding boundary that 40 digits can tell apart from a tie.
        let (mut rest, mut digits) = (0_u128, Vec::with_capacity(self.digits.len() + 41));
        for &digit in self.digits.iter().chain(std::iter::repeat_n(&0, 40)) {
            rest = rest * 10 + u128::from(digit);
            digits.push((rest / u128::from(divisor)) as u8);
            rest %= u128::from(divisor);
        }
        digits.push(u8::from(rest > 0));
        Self { digits, exponent: self.exponent - 41 }.normal().to_f64()
    }

    /// The nearest f64; may be infinite or 0.
    pub(crate) fn to_f64(&self) -> f64 {
        let mut text: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        if text.is_empty() {
            return 0.0;
        }
        text.push_str(&format!("e{}", self.exponent));
        // The standard library's conversion is correctly rounded for any number of digits.
        text.parse().unwrap_or(f64::NAN)
    }

    /// Digits before the decimal point; ≤ 0 for numbers below 1.
    fn magnitude(&self) -> i64 {
        self.digits.len() as i64 + self.exponent
    }

    /// The number, if it is whole and at most `most`.
    pub(crate) fn to_whole(&self, most: u64) -> Result<u64, NotWhole> {
        if self.magnitude() > 20 {
            return Err(NotWhole::TooLarge);
        }
        if self.exponent < 0 {
            return Err(if self.floor() >= u128::from(most) { NotWhole::TooLarge } else { NotWhole::Fraction });
        }
        u64::try_from(self.floor()).ok().filter(|&n| n <= most).ok_or(NotWhole::TooLarge)
    }

    /// The nearest whole number, halves up, if it is at most `most`.
    pub(crate) fn to_nearest(&self, most: u64) -> Option<u64> {
        if self.magnitude() > 20 {
            return None;
        }
        let point = self.magnitude();
        let up = point >= 0 && self.digits.get(point as usize).is_some_and(|&d| d >= 5);
        u64::try_from(self.floor() + u128::from(up)).ok().filter(|&n| n <= most)
    }

    /// The whole part, for numbers of at most 20 digits before the point.
    fn floor(&self) -> u128 {
        let digits = self.digits.iter().copied().chain(std::iter::repeat(0));
        digits.take(self.magnitude().max(0) as usize).fold(0, |n, d| n * 10 + u128::from(d))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |number: &Self| (!number.is_zero(), number.magnitude());
        // Without leading zeros, digits of one magnitude compare like words.
        key(self).cmp(&key(other)).then_with(|| self.digits.cmp(&other.digits))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Without exponent and without zeros at the end of a fraction: `0.15`, `300`. For exponents of a few hundred at most.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        let zeros = self.exponent.unsigned_abs() as usize;
        if self.exponent >= 0 {
            return write!(f, "{digits:0>1}{}", "0".repeat(zeros));
        }
        let padded = format!("{digits:0>width$}", width = zeros + 1);
        let (whole, fraction) = padded.split_at(padded.len() - zeros);
        write!(f, "{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::read_all(text).expect("a number")
    }

    #[test]
    fn numbers_are_written_plainly() {
        for (text, written) in [("0.150", "0.15"), ("1e-3", "0.001"), ("3E2", "300"), ("0.0", "0"), ("007", "7")] {
            assert_eq!(read(text).to_string(), written);
        }
        assert_eq!(read("0e99999999999999999999").to_string(), "0");
    }

    #[test]
    fn numbers_compare_however_far_apart() {
        let ascending = ["0", "1e-100", "0.05", "0.15", "0.2", "2", "19", "1e30", "1e99999999"].map(read);
        assert!(ascending.is_sorted_by(|a, b| a < b));
        assert_eq!(read("0.50").cmp(&read("5e-1")), Ordering::Equal);
    }

    #[test]
    fn whole_multiples_of_a_power_of_ten() {
        assert_eq!((read("1.5").at(-1), read("1.5").at(-3), read("1.5").at(0)), (Some(15), Some(1500), None));
        assert_eq!((read("0").at(5), read("1e40").at(0), read("1").at(-1000)), (Some(0), None, None));
    }
}
