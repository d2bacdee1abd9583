//! Which saved lines of JSON a page shows, by their key `kind`.

use crate::ResultKind;
use crate::object::Object;

/// Why a line is not shown.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Unshown {
    /// What it is, and what to give instead.
    Other(&'static str),
    /// It is not weir's.
    NotWeir,
    /// It does not say what it is, as before results had a kind.
    Unmarked,
    /// A key that weir would have written.
    Lacks(ResultKind, &'static str),
}

/// Keys of what weir writes that is no result by itself.
const PARTS: [(&str, &str); 2] = [
    ("weir_part", "a part of a search: join all parts with `weir merge` first"),
    (
        "alone_s",
        "a transfer that `weir run --stream` wrote: give the scenario itself, or the result of a run without --stream",
    ),
];

/// The keys that the page cannot do without, or what to give in place of a kind that it does not show.
fn needs(kind: ResultKind) -> Result<&'static [&'static str], Unshown> {
    Ok(match kind {
        ResultKind::Run => &[
            "scenario",
            "file",
            "arbiter",
            "complete",
            "fingerprint",
            "makespan_s",
            "makespan_ps",
            "events",
            "transfers",
            "links",
            "operations",
        ],
        ResultKind::Search => &["scenario", "file", "arbiter", "vary", "method", "evaluated", "complete", "objective"],
        ResultKind::Sweep => &[
            "scenario",
            "file",
            "arbiter",
            "vary",
            "axes",
            "searches",
            "totals",
            "points",
            "complete",
            "proved_optimal",
        ],
        ResultKind::Tuning => &["scenario", "file", "arbiter", "operations"],
        ResultKind::Validation => &[
            "scenario",
            "file",
            "arbiter",
            "within_15_percent",
            "mean_error",
            "lowest_error",
            "highest_error",
            "transfers",
        ],
        ResultKind::Comparison => &["results"],
        ResultKind::Explanation => {
            return Err(Unshown::Other(
                "a result of `weir explain`: give the scenario itself, its page has the explanation",
            ));
        }
        ResultKind::Calibration => {
            return Err(Unshown::Other("a result of `weir calibrate`: give that of `weir validate`"));
        }
        ResultKind::PluginList => return Err(Unshown::Other("a list of plugins: give the result of a run")),
    })
}

/// What an object is, where a page shows it and it is whole.
pub(super) fn of(object: &Object<'_>) -> Result<ResultKind, Unshown> {
    if let Some((_, what)) = PARTS.iter().find(|(key, _)| object.get(key).is_some()) {
        return Err(Unshown::Other(what));
    }
    let kind = object.get("kind").and_then(|kind| serde_json::from_str(kind.get()).ok());
    if object.get("weir").is_none() {
        return Err(Unshown::NotWeir);
    }
    let kind: ResultKind = kind.ok_or(Unshown::Unmarked)?;
    match needs(kind)?.iter().find(|key| object.get(key).is_none()) {
        Some(key) => Err(Unshown::Lacks(kind, key)),
        None => Ok(kind),
    }
}
