//! Logs of measurements for `weir calibrate`, and why there is no fit.

use std::path::PathBuf;

use weir_calibrate::fit::{FitError, marks};
use weir_calibrate::{Log, ReadOptions};
use weir_plugin_api::Registry;
use weir_scenario::{ArbiterSpec, DEFAULT_KEY, Machine, key_of_path};

use crate::{Error, ErrorKind};

/// Reads logs of measurements on a machine.
///
/// # Errors
/// One cannot be read, or has nothing that can be used.
pub fn measured_logs(files: &[PathBuf], machine: &Machine, options: &ReadOptions) -> Result<Vec<Log>, Error> {
    let read = |path: &PathBuf| {
        let found = weir_calibrate::read_log(path, machine, options);
        let (_, log) = found.map_err(|error| Error::from(*error))?;
        match (log.experiments.is_empty(), log.skipped.first()) {
            (false, _) => Ok(log),
            (true, first) => {
                let failure = Error::input(format!("nothing in {} can be used", path.display()));
                Err(match first {
                    Some(first) => failure.noted(format!("{}: {}: {}", first.place, first.what, first.why)),
                    None => failure,
                })
            }
        }
    };
    files.iter().map(read).collect()
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
