//! Searches over parameters.

mod checkpoint;
mod grid;
mod objective;
mod search;
mod shards;

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64};

use weir_optimize::parameters::{Axis, Grid, Outcome, ParameterError, Part, Ran, Search, Shard};
use weir_optimize::search::Objective;

/// A grid of axes with some lengths; values are `v0`, `v1`, …
fn grid(lengths: &[usize]) -> Grid {
    let axis = |(i, &length): (usize, &usize)| Axis::list(format!("p{i}"), (0..length).map(|v| format!("v{v}")));
    Grid::new(lengths.iter().enumerate().map(axis).collect()).expect("a grid")
}

/// A makespan that looks like chance, with many ties.
fn makespan(values: &[(&str, &str)]) -> Result<u64, String> {
    let text: String = values.iter().map(|(path, value)| format!("{path}={value};")).collect();
    let mixed = text.bytes().fold(7_u64, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)));
    Ok(mixed % 23 + 1)
}

fn search(grid: &Grid) -> Search<'_> {
    let objective = Objective::Makespan;
    Search { grid, input: "digest", shard: Shard::ALL, objective, baseline: ran(9), checkpoint: None }
}

/// The baseline, with this makespan.
fn ran(makespan: u64) -> Option<Ran> {
    NonZeroU64::new(makespan).map(|makespan| Ran { makespan, value: None })
}

/// Makespan and number of the best.
fn best(outcome: &Outcome) -> Option<(u64, u64)> {
    let number = outcome.best()?;
    Some((outcome.makespan(number)?, number))
}

fn run(search: Search<'_>) -> Result<Part, ParameterError> {
    search.run(makespan, &AtomicBool::new(false), &AtomicU64::new(0))
}

fn bytes(part: &Part) -> String {
    serde_json::to_string(part).expect("JSON")
}

/// Runs on a pool of some threads.
fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}
