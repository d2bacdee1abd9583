//! Logs of measurements for `weir calibrate`, and why there is no fit.

use std::cmp::Reverse;
use std::path::PathBuf;

use weir_calibrate::fit::{FitError, marks};
use weir_calibrate::{Log, ReadOptions, Skipped};
use weir_plugin_api::Registry;
use weir_scenario::{ArbiterSpec, DEFAULT_KEY, Machine, key_of_path};

use crate::{Error, ErrorKind};

/// Different reasons that are counted; *assumed*, programs have few.
const MOST_REASONS: usize = 100;
/// Reasons that a message has; *assumed*, what a person reads.
const SHOWN_REASONS: usize = 4;

/// Reads logs of measurements on a machine.
///
/// # Errors
/// One cannot be read, or has nothing that can be used.
pub fn measured_logs(files: &[PathBuf], machine: &Machine, options: &ReadOptions) -> Result<Vec<Log>, Error> {
    let read = |path: &PathBuf| {
        let found = weir_calibrate::read_log(path, machine, options);
        let (kind, log) = found.map_err(|error| Error::from(*error))?;
        if !log.experiments.is_empty() {
            return Ok(log);
        }
        let failure = Error::input(format!("nothing in {} can be used", path.display()));
        let reasons = reasons(&log.skipped);
        let lines = reasons.iter().take(SHOWN_REASONS).map(|(first, count)| {
            let others = if *count > 1 { format!(" (and {} more for this reason)", count - 1) } else { String::new() };
            format!("{}: {}: {}{others}", first.place, first.what, first.why)
        });
        // A reason that names an option says what to do.
        let says = reasons.iter().any(|(part, _)| part.why.contains("--"));
        let used = (!says).then(|| format!("of {} weir uses {}", kind.word(), kind.uses()));
        Err(failure.noted(lines.chain(used).collect::<Vec<_>>().join("\nnote: ")))
    };
    files.iter().map(read).collect()
}

/// The first part with each reason and how many parts have it, the reason of most parts first; of equals the one that comes first.
fn reasons(skipped: &[Skipped]) -> Vec<(&Skipped, usize)> {
    let mut counts: Vec<(&Skipped, usize)> = Vec::new();
    for part in skipped {
        match counts.iter().position(|(first, _)| first.why == part.why) {
            Some(at) => counts[at].1 += 1,
            None if counts.len() < MOST_REASONS => counts.push((part, 1)),
            None => {}
        }
    }
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

/// Why there is no fit, with where the arbiter has the parameter that was asked for, or the arbiters that have it.
#[must_use]
pub fn unfitted(error: &FitError, machine: &Machine, registry: &Registry) -> Error {
    if matches!(error, FitError::Cancelled) {
        return Error::new(ErrorKind::Cancelled, error);
    }
    let FitError::NotMarked { key, marked, .. } = error else { return Error::input(error) };
    let paths = marked.iter().filter(|parameter| parameter.key == *key).map(ToString::to_string);
    let paths: Vec<String> = paths.collect();
    if !paths.is_empty() {
        return Error::input(format!("{error}: use --fit {}", paths.join(" or ")));
    }
    let those = registry.iter().filter(|entry| marks(&entry.params_schema, key));
    let arguments = those.map(|entry| {
        let map = ArbiterSpec::plain(entry).map_of_links(&machine.fabric, &machine.default_arbiter);
        let of_map = |map| format!("'{map}' --fit {DEFAULT_KEY}.{}", key_of_path(key));
        map.map_or_else(|| entry.name.clone(), of_map)
    });
    let arguments: Vec<String> = arguments.collect();
    match arguments.is_empty() {
        true => Error::input(format!(
            "{error}: fit bandwidth, latency, weight, loggp or a parameter that the arbiter marks"
        )),
        false => Error::input(format!("{error}: use --arbiter {}", arguments.join(" or "))),
    }
}

#[cfg(test)]
mod tests {
    use weir_scenario::Position;

    use super::*;

    #[test]
    fn the_reason_of_most_parts_comes_first() {
        let part = |line: u32, why: &str| {
            let place = Position { file: "log".into(), line, column: 1 };
            Skipped { place, what: "a row".to_owned(), why: why.to_owned() }
        };
        let of = |parts: &[Skipped]| -> Vec<(u32, usize)> {
            reasons(parts).into_iter().map(|(first, count)| (first.place.line, count)).collect()
        };
        let parts = [part(1, "no bytes"), part(2, "no collective"), part(3, "no collective")];
        assert_eq!((of(&parts), of(&parts[..2]), of(&[])), (vec![(2, 2), (1, 1)], vec![(1, 1), (2, 1)], vec![]));
    }
}
