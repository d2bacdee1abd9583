//! What is fitted, and to which groups.

use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use weir_plugin_api::LinkId;

use super::error::FitError;
use super::marked::Marked;
use super::options::{Choice, FitOptions};
use super::parameter::{self, Parameter};
use super::problem::Problem;
use super::shared;
use crate::measurement::Experiment;

/// Factor between the smallest and the largest size above which latencies are fitted unasked; *assumed*.
const SIZES_APART: u64 = 100;
/// Bytes up to which a copy shows a latency; *assumed*: larger ones take 100 times a latency of some
/// microseconds.
const MOST_THAT_SHOW: u64 = 16 << 20;
/// Bytes up to which the time of a copy is its latency on any link; *assumed*: a cache line, one packet.
const MOST_OF_LATENCIES: u64 = 64;

/// Which groups are fitted: the others are the first of a seeded shuffle, rounded down, and never all.
pub(super) fn kept(groups: usize, options: &FitOptions) -> Vec<bool> {
    let out = ((groups as f64 * options.hold_out).floor() as usize).min(groups.saturating_sub(1));
    let mut order: Vec<usize> = (0..groups).collect();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    for at in (1..groups).rev() {
        order.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
    let mut kept = vec![true; groups];
    order.iter().take(out).for_each(|&group| kept[group] = false);
    kept
}

/// The parameters that are fitted, with notes about those that are not.
pub(super) fn wanted(
    problem: &Problem<'_>,
    options: &FitOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Parameter>, FitError> {
    let named = || options.arbiter.iter().flatten();
    if options.loggp {
        let others =
            options.latency == Choice::Yes || options.bandwidth || options.host_weight || named().next().is_some();
        return if others { Err(FitError::LoggpAlone) } else { Ok(loggp_parameters(problem.experiments)) };
    }
    let used = problem.simulator.all_links();
    let mut parameters = Vec::new();
    if options.bandwidth {
        parameters.extend(parameter::bandwidths(problem.machine, &used));
        parameters.extend(shared::parameters(problem.machine, &used));
    }
    if options.host_weight {
        parameters.push(parameter::host_weight());
    }
    let paid = problem.experiments.iter().any(|e| e.steps > 0);
    match options.latency {
        Choice::Auto if !paid => {}
        Choice::Auto if !are_apart(problem) => {
            let note = "sizes differ by less than a factor of 100: latencies stay as they are (--fit latency)";
            notes.push(note.to_owned());
        }
        Choice::Auto | Choice::Yes => {
            let (told, kept) = latencies(problem, options, &used);
            parameters.extend(told);
            notes.extend(kept);
        }
        Choice::No => {}
    }
    parameters.extend(of_arbiter(problem, options)?);
    let most = problem.experiments.iter().flat_map(|e| &e.transfers).map(|transfer| transfer.bytes).max();
    if options.bandwidth && most.is_some_and(|most| most <= MOST_OF_LATENCIES) {
        return Err(FitError::LatenciesAlone);
    }
    Ok(parameters)
}

/// Whether sizes are so far apart that some copies show latencies, and others bandwidths.
fn are_apart(problem: &Problem<'_>) -> bool {
    let experiments = || problem.experiments.iter().zip(problem.fitted).filter(|(_, fitted)| **fitted).map(|(e, _)| e);
    let bytes = |e: &Experiment| e.transfers.iter().map(|t| t.bytes).max().unwrap_or(0);
    let paid = || experiments().filter(|e| e.steps > 0).flat_map(|e| e.transfers.iter().map(|t| t.bytes));
    let Some(least) = paid().min() else { return false };
    // Where messages in flight hide the latency, it is as small a part as in an endless copy.
    let hides = experiments().any(|e| e.steps == 0);
    hides && least <= MOST_THAT_SHOW || experiments().map(bytes).max() >= Some(least.saturating_mul(SIZES_APART))
}

/// The parameters of the arbiter: those that are named, or all that it marks.
fn of_arbiter(problem: &Problem<'_>, options: &FitOptions) -> Result<Vec<Parameter>, FitError> {
    let named = || options.arbiter.iter().flatten();
    if named().any(String::is_empty) {
        return Err(FitError::NothingNamed);
    }
    let marked = Marked::of(problem.arbiter);
    let is = |(one, _): &(Marked, f64), key: &String| one.parameter.to_string() == *key;
    if let Some(key) = named().find(|key| !marked.iter().any(|one| is(one, key))) {
        let marked = marked.into_iter().map(|(one, _)| one.parameter).collect();
        return Err(FitError::NotMarked { key: key.clone(), arbiter: problem.arbiter.name.clone(), marked });
    }
    let asked = |one: &(Marked, f64)| options.arbiter.is_none() || named().any(|key| is(one, key));
    Ok(marked.into_iter().filter(asked).map(|(one, start)| parameter::of_arbiter(one, start)).collect())
}

/// The latencies to be fitted, and a note about those that stay: where all copies over links of a type have one size, or are large and
/// nobody asked for latencies, what the latency takes the bandwidth could take, too.
fn latencies(problem: &Problem<'_>, options: &FitOptions, used: &[LinkId]) -> (Vec<Parameter>, Option<String>) {
    let asked = options.latency == Choice::Yes;
    let hidden = |parameter: &Parameter| {
        let all = (0..problem.experiments.len()).filter(|&e| problem.fitted[e]);
        let sizes: BTreeSet<u64> = all.flat_map(|e| problem.simulator.sizes_over(e, &parameter.links)).collect();
        options.bandwidth && (sizes.len() < 2 || !asked && sizes.first() > Some(&MOST_THAT_SHOW))
    };
    let all = parameter::latencies(problem.machine, used);
    let (kept, told): (Vec<Parameter>, Vec<Parameter>) = all.into_iter().partition(hidden);
    let names: Vec<&str> = kept.iter().map(|parameter| &*parameter.name).collect();
    let note = format!(
        "{} as in the topology: one size of copies, or none up to 16 MiB, cannot tell a latency from a bandwidth",
        match names.len() {
            1 => format!("{} stays", names[0]),
            _ => format!("{} stay", names.join(", ")),
        }
    );
    (told, (!names.is_empty()).then_some(note))
}

fn loggp_parameters(experiments: &[Experiment]) -> Vec<Parameter> {
    let each = experiments.iter().flat_map(|e| {
        e.rows.iter().filter_map(move |row| {
            let bytes = e.transfers.iter().map(|t| t.bytes).max()? as f64;
            Some((row.seconds / f64::from(e.messages), bytes))
        })
    });
    let (mut shortest, mut largest, mut per_byte) = (f64::INFINITY, 0.0, f64::INFINITY);
    for (seconds, bytes) in each {
        shortest = seconds.min(shortest);
        if bytes > largest {
            (largest, per_byte) = (bytes, seconds / bytes);
        }
    }
    parameter::loggp(shortest, per_byte)
}
