//! Dumps of machines that are not quite in order: each sample with a line lost, doubled or moved, a number changed, or a device named as
//! another one. No change makes the reader panic; each result is a refusal that helps, or a topology that is read without a warning and
//! is the same when it is imported again.

use crate::common::{check, samples};
use proptest::prelude::*;
use weir_import::{Options, import};

/// The list of lspci beside the real dumps.
const LIST: &[u8] = include_bytes!("../data/lspci-vv.txt");
/// `(lscpu; nvidia-smi -L; nvidia-smi topo -m)` likewise: two sockets of four NUMA nodes each, made up.
const THREE: &[u8] = include_bytes!("../data/lscpu-nvidia-smi.txt");
/// `(lscpu; rocm-smi --showtopo …)` likewise.
const ROCM: &[u8] = include_bytes!("../data/rocm-smi.txt");

fn texts() -> Vec<String> {
    let texts = samples().into_iter().map(|(_, bytes)| bytes).chain([LIST, THREE, ROCM].map(<[u8]>::to_vec));
    texts.map(|bytes| String::from_utf8(bytes).expect("is text")).collect()
}

/// Imports a changed text; whether it was read.
fn tried(text: &str) -> bool {
    let options = Options::default();
    match import(text.as_bytes(), "x", &options) {
        Ok(first) => {
            check(&first);
            assert_eq!(import(text.as_bytes(), "x", &options).expect("is read again").yaml, first.yaml);
            assert!(!first.tree.is_empty() && first.bandwidths.contains("memory"));
            true
        }
        Err(refusal) => {
            assert!(refusal.help.as_ref().is_some_and(|help| help.len() > 10), "{refusal} has no help:\n{text}");
            assert!(refusal.message.len() > 5);
            assert_ne!(refusal.line, Some(0));
            false
        }
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// The places of all numbers in a text, as (start, end).
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if end > at {
            found.push((at, end));
        }
        at = end + 1;
    }
    found
}

/// The bus ids of a text, as (start, end).
fn bus_ids(text: &str) -> Vec<(usize, usize)> {
    let hexadecimal = |part: &[u8]| part.iter().all(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    let is = |w: &[u8]| {
        let parts = [&w[0..4], &w[5..7], &w[8..10], &w[11..12]];
        (w[4], w[7], w[10]) == (b':', b':', b'.') && parts.into_iter().all(hexadecimal)
    };
    bytes.windows(12).enumerate().filter(|(_, window)| is(window)).map(|(at, _)| (at, at + 12)).collect()
}

#[test]
fn every_tenth_line_lost_or_doubled() {
    let (mut read, mut all) = (0, 0);
    for (number, text) in texts().iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        for place in (number % 10..lines.len()).step_by(10) {
            let mut lost = lines.clone();
            lost.remove(place);
            let mut doubled = lines.clone();
            doubled.insert(place, lines[place]);
            read += usize::from(tried(&joined(&lost))) + usize::from(tried(&joined(&doubled)));
            all += 2;
        }
    }
    assert!(0 < read && read < all, "{read} of {all} were read: the changes do something");
}

#[test]
fn devices_named_as_another() {
    let mut read = 0;
    for text in texts() {
        let ids = bus_ids(&text);
        let distinct: std::collections::BTreeSet<&str> = ids.iter().map(|&(from, to)| &text[from..to]).collect();
        for (&one, &other) in distinct.iter().zip(distinct.iter().skip(1)).step_by(3) {
            // Two devices with one id; links to them lead to the same one, perhaps the device itself.
            read += usize::from(tried(&text.replace(one, other)));
            // Two devices that have changed places, and links that lead nowhere.
            read += usize::from(tried(&text.replace(one, "@").replace(other, one).replace('@', other)));
            read += usize::from(tried(&text.replacen(one, "0000:fe:1f.7", 1)));
        }
    }
    assert!(read > 50, "{read}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn numbers_changed(which in 0..11_usize, places in prop::collection::vec((0.0..1.0, 0..9_usize), 1..4)) {
        let values = ["-1", "0", "", "1", "63", "4294967296", "99999999999999999999999", "0x10", "1e9"];
        let texts = texts();
        let mut text = texts[which % texts.len()].clone();
        for (share, value) in places {
            let found = numbers(&text);
            let (from, to) = found[(found.len() as f64 * share) as usize];
            text.replace_range(from..to, values[value]);
        }
        tried(&text);
    }

    #[test]
    fn lines_moved(which in 0..11_usize, from in 0.0..1.0, to in 0.0..1.0, many in 1..6_usize) {
        let texts = texts();
        let mut lines: Vec<&str> = texts[which % texts.len()].lines().collect();
        let at = |share: f64, length: usize| (length as f64 * share) as usize;
        let start = at(from, lines.len());
        let taken: Vec<&str> = lines.drain(start..(start + many).min(lines.len())).collect();
        let place = at(to, lines.len());
        lines.splice(place..place, taken);
        tried(&joined(&lines));
    }

    #[test]
    fn two_ids_swapped(which in 0..11_usize, one in 0.0..1.0, other in 0.0..1.0) {
        let texts = texts();
        let mut text = texts[which % texts.len()].clone();
        let ids = bus_ids(&text);
        if let Some(&(from, to)) = ids.get((ids.len() as f64 * one) as usize) {
            let (start, end) = ids[(ids.len() as f64 * other) as usize];
            let id = text[start..end].to_owned();
            text.replace_range(from..to, &id);
            tried(&text);
        }
    }
}
