//! Quantities against exact rational arithmetic, and by hand at the edges.

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;
use weir_plugin_api::HORIZON;

use super::quantity::{
    bandwidth, byte_size, bytes_per_second, decimal, duration, efficiency, pcie_generation, real_seconds, seconds,
    time_per_byte, weight,
};
use super::{Decimal, whole_number};
use crate::context::Problem;

fn rational(whole: &str, fraction: &str, exponent: i32) -> BigRational {
    let digits: BigInt = format!("{whole}{fraction}").parse().unwrap();
    let power = exponent - fraction.len() as i32;
    let ten = BigRational::from_integer(10.into());
    BigRational::from_integer(digits) * ten.pow(power)
}

fn text(whole: &str, fraction: &str, exponent: i32) -> String {
    let point = if fraction.is_empty() { "" } else { "." };
    if exponent == 0 { format!("{whole}{point}{fraction}") } else { format!("{whole}{point}{fraction}e{exponent}") }
}

/// Name of a unit, factor and divisor, written independently of the tables.
fn size_units() -> Vec<(&'static str, BigRational)> {
    let ratio = |numerator: u64, denominator: u64| BigRational::new(numerator.into(), denominator.into());
    let powers = |base: u64, bits: u64| (0..6).map(move |power| ratio(base.pow(power), bits));
    let decimal = ["B", "kB", "MB", "GB", "TB", "PB"].into_iter().zip(powers(1000, 1));
    let binary = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].into_iter().zip(powers(1024, 1));
    let decimal_bits = ["b", "kb", "Mb", "Gb", "Tb", "Pb"].into_iter().zip(powers(1000, 8));
    let binary_bits = ["b", "Kib", "Mib", "Gib", "Tib", "Pib"].into_iter().zip(powers(1024, 8));
    decimal.chain(binary).chain(decimal_bits).chain(binary_bits).collect()
}

proptest! {
    /// The unit's power of ten goes into the exponent of a text that the standard library reads with one rounding.
    #[test]
    fn times_per_byte_are_rounded_once(whole in "[0-9]{1,9}", fraction in "[0-9]{0,20}", exponent in -9..3_i32) {
        let number = text(&whole, &fraction, exponent);
        for (unit, power) in [("ps", 0), ("ns", 3), ("us", 6), ("ms", 9)] {
            let nearest: f64 = text(&whole, &fraction, exponent + power).parse().unwrap();
            match time_per_byte(&format!("{number}{unit}")) {
                Ok(ps) => prop_assert_eq!(ps.to_bits(), nearest.to_bits()),
                Err(_) => prop_assert!(nearest > HORIZON.0 as f64),
            }
        }
        let nearest: f64 = text(&whole, &fraction, exponent + 12).parse().unwrap();
        match real_seconds(&number) {
            Ok(ps) => prop_assert_eq!(ps.to_bits(), nearest.to_bits()),
            Err(_) => prop_assert!(nearest > HORIZON.0 as f64),
        }
    }

    #[test]
    fn sizes_are_exact(whole in "[0-9]{1,12}", fraction in "[0-9]{0,6}", exponent in -8..8_i32, unit in 0..24_usize) {
        let (name, factor) = size_units().swap_remove(unit);
        let exact = rational(&whole, &fraction, exponent) * factor;
        let most = BigRational::from_integer((1_u64 << 53).into());
        let zero = BigRational::from_integer(0.into());
        let read = byte_size(&format!("{} {name}", text(&whole, &fraction, exponent)));
        if exact.is_integer() && exact <= most && exact > zero {
            prop_assert_eq!(BigRational::from_integer(read.unwrap().into()), exact);
        } else {
            prop_assert!(read.is_err());
        }
    }

    #[test]
    fn times_round_half_up(whole in "[0-9]{1,9}", fraction in "[0-9]{0,14}", exponent in -15..6_i32, unit in 0..6_usize) {
        let (name, ps) = [("ps", 1_u64), ("ns", 1000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000),
            ("min", 60_000_000_000_000)][unit];
        let exact = rational(&whole, &fraction, exponent) * BigRational::from_integer(ps.into());
        let nearest = (exact + BigRational::new(1.into(), 2.into())).floor().to_integer();
        let read = duration(&format!("{}{name}", text(&whole, &fraction, exponent)));
        if nearest <= HORIZON.0.into() {
            prop_assert_eq!(BigInt::from(read.unwrap().0), nearest);
        } else {
            prop_assert!(read.is_err());
        }
    }

    #[test]
    fn bandwidths_are_the_nearest_f64(whole in "[1-9][0-9]{0,20}", fraction in "[0-9]{0,20}", exponent in -9..9_i32,
                                      share in 1..=1000_u32) {
        let number = text(&whole, &fraction, exponent);
        let efficiency = Decimal::whole(share.into()).times_power_of_ten(-3);
        let value = bandwidth(&format!("{number}GB/s")).unwrap().nearest(&efficiency);
        let exact = rational(&whole, &fraction, exponent + 6) * BigRational::from_integer(share.into());
        prop_assert!(is_nearest(value, &exact));
    }

    #[test]
    fn pcie_is_the_nearest_f64(generation in 1..=6_u64, width in prop::sample::select(vec![1_u64, 2, 4, 8, 12, 16, 32]),
                               share in 1..=100_000_u32) {
        let efficiency = Decimal::whole(share.into()).times_power_of_ten(-5);
        let value = pcie_generation(generation, width).unwrap().bytes_per_second(&efficiency, "").unwrap();
        let (tenths, data, wire) = [(25_u64, 8_u64, 10_u64), (50, 8, 10), (80, 128, 130), (160, 128, 130),
            (320, 128, 130), (640, 236, 256)][generation as usize - 1];
        let raw = BigRational::new((tenths * 100_000_000 * width * data).into(), (wire * 8).into());
        let exact = raw * BigRational::new(share.into(), 100_000.into());
        prop_assert!(is_nearest(value, &exact));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,24}", number in "[-+.0-9eE]{0,12}[ a-zA-Zµ/]{0,6}") {
        for text in [text, number] {
            let _ = (byte_size(&text), duration(&text), weight(&text), seconds(&text), efficiency(&text));
            let _ = bandwidth(&text).map(|b| b.bytes_per_second(&Decimal::whole(1), &text));
        }
    }
}

/// Whether no other f64 is nearer.
fn is_nearest(value: f64, exact: &BigRational) -> bool {
    let distance = |v: f64| {
        let difference = BigRational::from_float(v).unwrap() - exact;
        if difference < BigRational::from_integer(0.into()) { -difference } else { difference }
    };
    let own = distance(value);
    own <= distance(f64::from_bits(value.to_bits() + 1)) && own <= distance(f64::from_bits(value.to_bits() - 1))
}

#[test]
fn units_are_read_as_written() {
    assert_eq!(byte_size("300MB").unwrap(), 300_000_000);
    assert_eq!(byte_size("1.5 KiB").unwrap(), 1536);
    assert_eq!(byte_size("0.0009765625KiB").unwrap(), 1);
    assert_eq!(byte_size("8b").unwrap(), 1);
    assert_eq!(byte_size("1e3kB").unwrap(), 1_000_000);
    assert_eq!(byte_size("9007199254740992B").unwrap(), 1 << 53);
    assert_eq!(byte_size("8PiB").unwrap(), 1 << 53);
    assert_eq!(byte_size(&format!("1{}e-300B", "0".repeat(300))).unwrap(), 1);
    assert_eq!(duration("0.5ps").unwrap().0, 1);
    assert_eq!(duration("0.4999999999999999999999ps").unwrap().0, 0);
    assert_eq!(duration("1.5\u{b5}s").unwrap(), duration("1.5\u{3bc}s").unwrap());
    assert_eq!(duration("1.5\u{b5}s").unwrap(), duration("1.5us").unwrap());
    assert_eq!(duration("100d").unwrap().0, HORIZON.0);
    assert!(duration("8640000.0000000000005s").is_err());
    assert_eq!(duration("8640000.0000000000004s").unwrap().0, HORIZON.0);
    assert_eq!(seconds("0.1").unwrap().0, 100_000_000_000);
    assert_eq!(whole_number("007", 9), Ok(7));
    assert_eq!(decimal("2.50").unwrap().to_f64(), 2.5);
}

#[test]
fn pcie_figures() {
    let value = |text: &str| bandwidth(text).unwrap().bytes_per_second(&Decimal::whole(1), text).unwrap();
    assert_eq!(value("2.5GT/s x8"), 2e9);
    assert_eq!(value("8GT/s x16"), 8e9 * 16.0 * 128.0 / 130.0 / 8.0);
    assert_eq!(value("16.0GT/sx4"), 16e9 * 4.0 * 128.0 / 130.0 / 8.0);
    assert_eq!(value("64 GT/s x16"), 118e9);
}

#[test]
fn exponents_without_bound_cost_nothing() {
    for text in ["1e999999999999999999999B", "1e-999999999999999999999B", "0.1e99999999999B"] {
        assert!(byte_size(text).is_err());
    }
    assert!(duration("1e99999999999999999s").is_err());
    assert_eq!(duration("1e-99999999999999999s").unwrap().0, 0);
    assert!(weight("1e99999999999").is_err());
    assert!(weight("1e-99999999999").is_err());
    assert!(bytes_per_second("1e99999999999").is_err());
    assert!(byte_size(&format!("{}B", "9".repeat(1 << 20))).is_err());
    assert!(duration(&format!("0.{}1s", "0".repeat(1 << 20))).is_ok());
}

#[test]
fn weights_and_bandwidths_have_a_range() {
    for text in ["1e-9", "1e9", "1", "0.000000001", "1000000000"] {
        assert!(weight(text).is_ok(), "{text}");
    }
    for (text, wrong) in [("0", "zero"), ("9e-10", "too small"), ("1e-300", "too small"), ("1.1e9", "too large")] {
        let Problem { message, help } = weight(text).unwrap_err();
        assert_eq!((message, &*help), (format!("`{text}` is {wrong}"), "give a value from 1e-9 to 1e9"));
    }
    let rate = |text: &str, share: &str| bandwidth(text).unwrap().bytes_per_second(&efficiency(share).unwrap(), text);
    for (text, share) in [("0.001B/s", "1"), ("1e18B/s", "1"), ("1e19B/s", "0.1"), ("16GT/s x16", "1e-12")] {
        assert!(rate(text, share).is_ok(), "{text} times {share}");
    }
    for (text, share, message) in [
        ("0.0009B/s", "1", "`0.0009B/s` is too small"),
        ("1e299GB/s", "1", "`1e299GB/s` is too large"),
        ("0.001B/s", "0.9", "`0.001B/s` times `efficiency` is too small"),
        ("16GT/s x16", "1e-300", "`16GT/s x16` times `efficiency` is too small"),
    ] {
        let problem = rate(text, share).unwrap_err();
        assert_eq!((&*problem.message, &*problem.help), (message, "give a value from 0.001 B/s to 1e18 B/s"));
    }
    assert!(bytes_per_second("1e18").is_ok() && bytes_per_second("0.001").is_ok());
    assert!(bytes_per_second("1.1e18").is_err() && bytes_per_second("1e-4").is_err());
}

#[test]
fn numbers_of_lanes_have_no_sign() {
    for text in ["16GT/s x+16", "16GT/s x-16", "16GT/s x", "16GT/s x16.0", "16GT/s x 16"] {
        let problem = bandwidth(text).unwrap_err();
        assert!(problem.message.contains("names no lanes"), "{text}: {problem:?}");
    }
    assert!(["+3", "-3", " 3", "3 ", ""].iter().all(|text| whole_number(text, 9).is_err()));
}

#[test]
fn eight_bits_of_any_prefix_are_its_byte() {
    for prefix in ["", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi"] {
        let (bits, byte) = (format!("24{prefix}b"), format!("3{prefix}B"));
        assert_eq!(byte_size(&bits), byte_size(&byte), "{bits}");
        assert_eq!(bandwidth(&format!("{bits}/s")), bandwidth(&format!("{byte}/s")), "{bits}/s");
    }
    assert_eq!(byte_size("1PiB"), Ok(1 << 50));
}

#[test]
fn a_rate_without_bits_or_bytes_is_asked_which() {
    for (text, bits, bytes) in
        [("400G", "400Gb/s", "400GB/s"), ("25 M/s", "25 Mb/s", "25 MB/s"), ("1K", "1kb/s", "1kB/s")]
    {
        let problem = bandwidth(text).expect_err("it is ambiguous");
        assert_eq!(problem.help, format!("did you mean `{bits}` (bits) or `{bytes}` (bytes)?"));
    }
    assert_eq!(byte_size("16K").expect_err("no unit").help, "did you mean `16kB` or `16KiB`?");
    assert_eq!(byte_size(".5MB").expect_err("no digit").help, "write `0.5MB`");
}
