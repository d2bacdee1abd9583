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

pub(super) fn wanted(
    problem: &Problem<'_>,
    options: &FitOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Parameter>, FitError> {
    let Problem { machine, arbiter, experiments, .. } = *problem;
    if options.loggp {
        if options.latency == Choice::Yes
            || options.bandwidth
            || options.host_weight
            || options.arbiter.as_ref().is_some_and(|keys| !keys.is_empty())
        {
            return Err(FitError::LoggpAlone);
        }
        return Ok(loggp_parameters(experiments));
    }
    let used = problem.simulator.all_links();
    let mut parameters = Vec::new();
    if options.bandwidth {
        parameters.extend(parameter::bandwidths(machine, &used));
        parameters.extend(shared::parameters(machine, &used));
    }
    if options.host_weight {
        parameters.push(parameter::host_weight());
    }
    let paid = experiments.iter().any(|e| e.steps > 0);
    // Where messages in flight hide the latency, it is as small a part as in an endless copy.
    let bytes =
        || experiments.iter().flat_map(|e| e.transfers.iter().map(|t| if e.steps > 0 { t.bytes } else { u64::MAX }));
    let apart = paid && bytes().max() >= bytes().min().map(|least| least.saturating_mul(SIZES_APART));
    if options.latency == Choice::Yes || (options.latency == Choice::Auto && apart) {
        let (told, kept) = latencies(problem, options, &used);
        parameters.extend(told);
        notes.extend(kept);
    } else if options.latency == Choice::Auto && paid {
        notes.push("sizes differ by less than a factor of 100: latencies stay as they are (--fit latency)".to_owned());
    }
    if options.arbiter.iter().flatten().any(String::is_empty) {
        return Err(FitError::NothingNamed);
    }
    let marked = Marked::of(arbiter);
    let is = |(one, _): &(Marked, f64), key: &String| one.parameter.to_string() == *key;
    if let Some(key) = options.arbiter.iter().flatten().find(|key| !marked.iter().any(|one| is(one, key))) {
        let marked = marked.into_iter().map(|(one, _)| one.parameter).collect();
        return Err(FitError::NotMarked { key: key.clone(), arbiter: arbiter.name.clone(), marked });
    }
    let asked = |one: &(Marked, f64)| options.arbiter.as_ref().is_none_or(|keys| keys.iter().any(|key| is(one, key)));
    parameters.extend(marked.into_iter().filter(asked).map(|(one, start)| parameter::of_arbiter(one, start)));
    Ok(parameters)
}

/// The latencies to be fitted, and a note about those that stay: where all copies over links of a type have one size, what the latency takes
/// the bandwidth could take, too.
fn latencies(problem: &Problem<'_>, options: &FitOptions, used: &[LinkId]) -> (Vec<Parameter>, Option<String>) {
    let of_one_size = |parameter: &Parameter| {
        let all = 0..problem.experiments.len();
        let sizes: BTreeSet<u64> = all.flat_map(|e| problem.simulator.sizes_over(e, &parameter.links)).collect();
        options.bandwidth && sizes.len() < 2
    };
    let all = parameter::latencies(problem.machine, used);
    let (kept, told): (Vec<Parameter>, Vec<Parameter>) = all.into_iter().partition(of_one_size);
    let names: Vec<&str> = kept.iter().map(|parameter| &*parameter.name).collect();
    let note = format!(
        "{} as in the topology: one size of copies cannot tell a latency from a bandwidth",
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
