//! Ranges are exact.

use proptest::prelude::*;
use weir_scenario::{MOST_VALUES, Range, RangeError};

fn by_step(from: &str, to: &str, step: &str) -> Result<Vec<String>, RangeError> {
    Range::by_step(from, to, step).map(|range| range.values())
}

fn by_factor(from: &str, to: &str, factor: &str) -> Result<Vec<String>, RangeError> {
    Range::by_factor(from, to, factor).map(|range| range.values())
}

#[track_caller]
fn are(values: Result<Vec<String>, RangeError>, expected: &str) {
    assert_eq!(values.expect("a range").join(" "), expected);
}

#[track_caller]
fn refused(values: Result<Vec<String>, RangeError>, message: &str) {
    let error = values.expect_err("a refusal");
    assert_eq!(format!("{error}; {}", error.help()), message);
}

#[test]
fn steps_are_exact_and_hold_both_ends() {
    are(by_step("0", "0.4", "0.05"), "0 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4");
    are(by_step("0.0", "0.30", "1e-1"), "0 0.1 0.2 0.3");
    are(by_step("-2", "2", "2"), "-2 0 2");
    are(by_step("3", "3", "1"), "3");
}

#[test]
fn an_end_that_is_not_met_is_left_out() {
    are(by_step("0", "1", "0.3"), "0 0.3 0.6 0.9");
    are(by_factor("1", "100", "3"), "1 3 9 27 81");
}

#[test]
fn quantities_keep_their_unit() {
    are(by_step("1MiB", "2MiB", "0.5MiB"), "1MiB 1.5MiB 2MiB");
    are(by_step("2 GB/s", "10 GB/s", "4GB/s"), "2GB/s 6GB/s 10GB/s");
    are(by_step("0us", "1us", "0.25us"), "0us 0.25us 0.5us 0.75us 1us");
}

/// As exact as in one unit: in the largest that leaves a value whole, else in the smallest.
#[test]
fn steps_may_mix_units_of_a_family() {
    are(by_step("512KiB", "2MiB", "512KiB"), "512KiB 1MiB 1536KiB 2MiB");
    are(by_step("1MiB", "2MiB", "256KiB"), "1MiB 1280KiB 1536KiB 1792KiB 2MiB");
    are(by_step("0ms", "0.1ms", "50us"), "0ms 50us 100us");
    are(by_step("500ns", "2\u{b5}s", "0.5us"), "500ns 1us 1500ns 2us");
    are(by_step("1min", "121s", "1min"), "1min 2min");
    are(by_step("900MB/s", "1.2GB/s", "100MB/s"), "900MB/s 1GB/s 1100MB/s 1200MB/s");
    are(by_step("1.5kB", "2500B", "0.0005MB"), "1500B 2kB 2500B");
}

/// Whole in the larger unit, else in the first: 1.5 · 2^k KiB is whole in MiB from 1.5 · 2^11 on.
#[test]
fn factors_take_the_largest_unit_that_leaves_a_value_whole() {
    let sizes = "1KiB 2KiB 4KiB 8KiB 16KiB 32KiB 64KiB 128KiB 256KiB 512KiB 1MiB 2MiB 4MiB 8MiB 16MiB 32MiB";
    are(by_factor("1KiB", "32MiB", "2"), sizes);
    are(by_factor("768KiB", "3MiB", "2"), "768KiB 1536KiB 3MiB");
    are(by_factor("3kB", "10MB", "10"), "3kB 30kB 300kB 3MB");
    are(by_factor("100us", "60s", "10"), "100us 1ms 10ms 100ms 1s 10s");
    are(by_factor("5\u{b5}s", "1ms", "20"), "5\u{b5}s 100\u{b5}s");
    are(by_factor("500MB/s", "4GB/s", "2"), "500MB/s 1GB/s 2GB/s 4GB/s");
    are(by_factor("1", "4", "1.5"), "1 1.5 2.25 3.375");
    are(by_factor("1MiB", "2097152B", "2"), "1MiB 2MiB");
}

#[test]
fn what_leads_nowhere_is_refused() {
    refused(by_step("0", "0.4", "0"), "`step: 0` does not lead from one value to the next; give a step above 0");
    refused(
        by_step("0", "0.4", "-0.05"),
        "`step: -0.05` does not lead from one value to the next; give a step above 0",
    );
    refused(
        by_factor("1", "8", "1"),
        "`factor: 1` does not lead from one value to the next; give a plain number above 1",
    );
    refused(
        by_factor("1KiB", "8KiB", "2KiB"),
        "`factor: 2KiB` does not lead from one value to the next; give a plain number above 1",
    );
    refused(
        by_factor("0B", "8B", "2"),
        "`from: 0B` is not above 0, so a factor does not make it larger; start above 0, or use `step`",
    );
    refused(by_step("1", "0", "0.1"), "the range from 1 to 0 is empty; write the smaller value under `from`");
    refused(
        by_factor("1MiB", "1KiB", "2"),
        "the range from 1MiB to 1KiB is empty; write the smaller value under `from`",
    );
}

#[test]
fn mixed_units_are_refused() {
    let message = |from, key, text| {
        format!("`from: {from}` and `{key}: {text}` have different units; write both in the same unit")
    };
    refused(by_step("0", "32MiB", "1MiB"), &message("0", "to", "32MiB"));
    refused(by_step("1KiB", "32MB", "1KiB"), &message("1KiB", "to", "32MB"));
    refused(by_step("1B", "32KiB", "1kB"), &message("1B", "step", "1kB"));
    refused(by_step("1b", "32KiB", "1KiB"), &message("1b", "to", "32KiB"));
    refused(by_step("1KiB", "32KiB", "1"), &message("1KiB", "step", "1"));
    refused(by_factor("1KiB", "1GB", "2"), &message("1KiB", "to", "1GB"));
    refused(by_factor("1KiB", "1GiB/s", "2"), &message("1KiB", "to", "1GiB/s"));
    refused(by_factor("1us/s", "1s/s", "2"), &message("1us/s", "to", "1s/s"));
}

#[test]
fn what_is_no_quantity_is_refused() {
    let error = by_step("none", "8", "1").expect_err("a refusal");
    assert_eq!(error, RangeError::NotAQuantity { key: "from", text: "none".into() });
    let error = by_step("1", "", "1").expect_err("a refusal");
    assert_eq!(error, RangeError::NotAQuantity { key: "to", text: String::new() });
}

#[test]
fn no_more_than_a_million_values() {
    assert_eq!(by_step("1", "1000000", "1").map(|values| values.len()), Ok(MOST_VALUES));
    assert_eq!(by_step("0", "1000000", "1"), Err(RangeError::TooManyValues));
    assert_eq!(by_step("0", "1e30", "1"), Err(RangeError::TooManyValues));
}

#[test]
fn what_cannot_be_exact_is_refused() {
    // 1.1^k has k + 1 digits.
    assert_eq!(by_factor("1", "1e9", "1.1"), Err(RangeError::TooManyDigits));
    assert_eq!(by_step("0", "1", "1e-1000"), Err(RangeError::TooManyDigits));
    assert_eq!(by_step("-9e37", "9e37", "1"), Err(RangeError::TooManyDigits));
}

/// A whole number of 10^−places, written the long way.
fn written(value: i64, places: usize) -> String {
    let digits = format!("{:0>width$}", value.abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if value < 0 { "-" } else { "" };
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

proptest! {
    /// Counting in whole numbers of the last decimal place gives the same texts.
    #[test]
    fn steps_are_those_of_whole_numbers(
        from in -5000_i64..5000,
        step in 1_i64..500,
        length in 0_i64..5000,
        places in 0_usize..8,
    ) {
        let text = |value| written(value, places);
        let expected: Vec<String> = (from..=from + length).step_by(step as usize).map(text).collect();
        prop_assert_eq!(by_step(&text(from), &text(from + length), &text(step)), Ok(expected));
    }

    /// No text makes it fail otherwise than by a refusal.
    #[test]
    fn any_text_gives_values_or_a_refusal(
        from in "[-0-9.eE KMiBs/µ]{0,12}",
        to in "[-0-9.eE KMiBs/µ]{0,12}",
        by in "([0-9.eE]{1,6}|\\PC{0,8})",
    ) {
        for values in [by_step(&from, &to, &by), by_factor(&from, &to, &by)].into_iter().flatten() {
            prop_assert!((1..=MOST_VALUES).contains(&values.len()));
        }
    }
}
