//! Each target with its seeds, changed at random: a fixed number of inputs, or as long as WEIR_FUZZ_SECONDS says.
//!
//! An input that fails is written to the folder for temporary files, and named; WEIR_FUZZ_SEED begins with other inputs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use weir_fuzz_checks::{TARGETS, Target};

/// Changed inputs without a limit of time.
const FEW: u64 = 300;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

fn target(name: &str) {
    let target: &Target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let seeds = (target.seeds)();
    assert!(seeds.len() > 2, "{name} has {} seeds", seeds.len());
    let seconds = number("WEIR_FUZZ_SECONDS").map(Duration::from_secs);
    let first = number("WEIR_FUZZ_SEED").unwrap_or(0);
    let began = Instant::now();
    seeds.iter().for_each(|seed| tried(target, seed, "a seed"));
    let mut count = 0;
    while seconds.map_or(count < FEW, |seconds| began.elapsed() < seconds) {
        let number = first + count;
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let input = changed(&seeds, &mut random);
        tried(target, &input, &format!("WEIR_FUZZ_SEED={number}"));
        count += 1;
    }
    println!("{name}: {count} inputs in {:.0} s", began.elapsed().as_secs_f64());
}

fn tried(target: &Target, input: &[u8], which: &str) {
    if catch_unwind(AssertUnwindSafe(|| (target.check)(input))).is_err() {
        let kept = std::env::temp_dir().join(format!("weir-fuzz-{}", target.name));
        std::fs::write(&kept, input).expect("a folder for temporary files");
        panic!("{} fails with {which}, kept as {}", target.name, kept.display());
    }
}

/// A seed with one to four changes.
fn changed(seeds: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = seeds[below(random, seeds.len())].clone();
    for _ in 0..=below(random, 4) {
        change(&mut input, seeds, random);
    }
    input
}

fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    (random.next_u64() % end.max(1) as u64) as usize
}

/// What stands where a number, a name or a piece of syntax was.
const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1e400",
    "18446744073709551616",
    "nan",
    "inf",
    "0.1",
    "1e-300",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "&a *a",
    "null",
    "~",
    "\u{0}",
    "\u{feff}",
    "é",
    "\r\n",
    "\t",
    "[0-999999999]",
];

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut ChaCha8Rng) {
    let at = below(random, input.len());
    let end = (at + 1 + below(random, 40)).min(input.len());
    match below(random, 8) {
        0 if at < input.len() => input[at] ^= 1 << below(random, 8),
        1 => drop(input.drain(at..end)),
        2 => {
            let piece = input[at..end].to_vec();
            let to = below(random, input.len());
            input.splice(to..to, piece);
        }
        3 => {
            let other = &seeds[below(random, seeds.len())];
            let from = below(random, other.len());
            let piece = other[from..(from + below(random, 200)).min(other.len())].to_vec();
            input.splice(at..at, piece);
        }
        4 => drop(input.splice(at..at, WORDS[below(random, WORDS.len())].bytes())),
        5 => input.truncate(at),
        _ => number_changed(input, at, random),
    }
}

/// The next number becomes another one.
fn number_changed(input: &mut Vec<u8>, at: usize, random: &mut ChaCha8Rng) {
    let Some(start) = (at..input.len()).find(|&i| input[i].is_ascii_digit()) else { return };
    let digits = input[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let new = match below(random, 4) {
        0 => below(random, 10).to_string(),
        1 => random.next_u64().to_string(),
        2 => format!("{:e}", f64::from_bits(random.next_u64())),
        _ => WORDS[below(random, 8)].to_owned(),
    };
    input.splice(start..start + digits, new.bytes());
}

#[test]
fn scenario() {
    target("scenario");
}

#[test]
fn dump() {
    target("dump");
}

#[test]
fn log() {
    target("log");
}

#[test]
fn fit() {
    target("fit");
}

#[test]
fn saved() {
    target("saved");
}

#[test]
fn part() {
    target("part");
}

#[test]
fn checkpoint() {
    target("checkpoint");
}

#[test]
fn list() {
    target("list");
}

#[test]
fn table() {
    target("table");
}

#[test]
fn movers() {
    target("movers");
}

#[test]
fn packets() {
    target("packets");
}
