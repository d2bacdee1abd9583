//! Makespans with weights as a short text.
//!
//! Per pair one number: twice the difference to the makespan before it (the first: to 0), and one more where the weight
//! is above 1; then the weight follows. A number is written in digits of base 64, the least first: five bits of the
//! number each, the sixth says that more follow (as in the VLQ of source maps, without its sign). Pairs of 10^7 orders
//! of unequal sizes take 3 or 4 characters each.

/// The digits of base 64 by value (RFC 4648, section 5).
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Bits of a number in a digit.
const BITS: u32 = 5;
/// The bit of a digit that says that more follow.
const MORE: u8 = 1 << BITS;

/// The text of sorted pairs.
pub(crate) fn write(pairs: &[(u64, u64)]) -> String {
    let mut text = String::with_capacity(pairs.len() * 4);
    let mut before = 0;
    for &(makespan, weight) in pairs {
        let difference = u128::from(makespan - before);
        before = makespan;
        put(&mut text, difference << 1 | u128::from(weight > 1));
        if weight > 1 {
            put(&mut text, weight.into());
        }
    }
    text
}

fn put(text: &mut String, mut number: u128) {
    let mut more = |low: u64| text.push(char::from(DIGITS[((low as u8 % MORE) | MORE) as usize]));
    while number > u128::from(u64::MAX) {
        more(number as u64);
        number >>= BITS;
    }
    // Nearly all numbers are short; these steps are several times as fast.
    let mut number = number as u64;
    while number >= u64::from(MORE) {
        more(number);
        number >>= BITS;
    }
    text.push(char::from(DIGITS[number as usize]));
}

/// The pairs of a text, sorted and each once; none where it is no such text.
pub(crate) fn read(text: &str) -> Option<Vec<(u64, u64)>> {
    let mut digits = text.bytes().map(digit);
    let (mut pairs, mut before) = (Vec::new(), None);
    while let Some(number) = take(&mut digits)? {
        let difference = u64::try_from(number >> 1).ok()?;
        let makespan = match before {
            None => difference,
            Some(_) if difference == 0 => return None,
            Some(before) => difference.checked_add(before)?,
        };
        let weight = if number & 1 == 0 { 1 } else { u64::try_from(take(&mut digits)??).ok().filter(|&w| w > 1)? };
        before = Some(makespan);
        pairs.push((makespan, weight));
    }
    Some(pairs)
}

/// Outer none: no number; inner none: the end.
fn take(digits: &mut impl Iterator<Item = Option<u8>>) -> Option<Option<u128>> {
    let (mut number, mut shift) = (0_u128, 0);
    let Some(mut digit) = digits.next() else { return Some(None) };
    loop {
        let bits = u128::from(digit? & (MORE - 1));
        // No number has more than 65 bits.
        if shift > 65 {
            return None;
        }
        number |= bits << shift;
        if digit? & MORE == 0 {
            return Some(Some(number));
        }
        shift += BITS;
        digit = digits.next()?;
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        assert_eq!((write(&[]), read("")), (String::new(), Some(Vec::new())));
        // 2 · 5; 2 · (7 − 5) + 1 and weight 3; 2 · 100 = 6 · 32 + 8.
        let pairs = [(5, 1), (7, 3), (107, 1)];
        assert_eq!(write(&pairs), "KFDoG");
        assert_eq!(read("KFDoG"), Some(pairs.to_vec()));
        // Not a digit; a number without an end; the same makespan twice; weights that are not above 1; too many bits.
        for wrong in ["K!", "o", "KA", "L", "LA", "LB", "____________________A"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pairs in prop::collection::btree_map(any::<u64>(), 1..u64::MAX, 0..50)) {
            let pairs: Vec<(u64, u64)> = pairs.into_iter().collect();
            prop_assert_eq!(read(&write(&pairs)), Some(pairs));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[A-Za-z0-9_-]{0,40}") {
            if let Some(pairs) = read(&text) {
                prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0) && pairs.iter().all(|p| p.1 > 0));
            }
        }
    }
}
