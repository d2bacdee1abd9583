//! What a saved line of JSON is, told by its keys.

use serde::Deserialize;

use crate::object::Object;

/// A line of weir's JSON that a page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Run,
    Search,
    Sweep,
    Tuning,
    Validation,
    /// Holds runs.
    Comparison,
}

/// Why a line is not shown.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Unshown {
    /// What it is, and what to give instead.
    Other(&'static str),
    /// It is not weir's.
    NotWeir,
    /// A key that weir would have written.
    Lacks(Kind, &'static str),
}

/// A key that only this result has, and what it is, in the order in which they are looked for.
const SHOWN: [(&str, Kind); 6] = [
    ("fingerprint", Kind::Run),
    ("makespan_ps", Kind::Run),
    ("within_15_percent", Kind::Validation),
    ("ratios", Kind::Comparison),
    ("axes", Kind::Sweep),
    ("vary", Kind::Search),
];

/// Keys of results that have no place in a page, though they may look like others.
const FIRST: [(&str, &str); 2] = [
    ("weir_part", "a part of a search: join all parts with `weir merge` first"),
    (
        "alone_s",
        "a transfer that `weir run --stream` wrote: give the scenario itself, or the result of a run without --stream",
    ),
];

/// Keys of other results that have no place.
const OTHERS: [(&str, &str); 2] = [
    ("phases", "a result of `weir explain`: give the scenario itself, its page has the explanation"),
    ("rms_fitted", "a result of `weir calibrate`: give that of `weir validate`"),
];

impl Kind {
    /// The command that writes it.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Run => "weir run --json",
            Self::Search | Self::Sweep => "weir optimize --json",
            Self::Tuning => "weir tune --json",
            Self::Validation => "weir validate --json",
            Self::Comparison => "weir compare --json",
        }
    }

    /// Keys that the page cannot do without.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Run => &[
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
            Self::Search => &["scenario", "file", "arbiter", "vary", "method", "evaluated", "complete", "objective"],
            Self::Sweep => &[
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
            Self::Tuning => &["scenario", "file", "arbiter", "operations"],
            Self::Validation => &[
                "scenario",
                "file",
                "arbiter",
                "within_15_percent",
                "mean_error",
                "lowest_error",
                "highest_error",
                "transfers",
            ],
            Self::Comparison => &["results"],
        }
    }

    /// What an object is.
    pub(super) fn of(object: &Object<'_>) -> Result<Self, Unshown> {
        let kind = Self::told(object)?;
        match kind.needs().iter().find(|key| object.get(key).is_none()) {
            Some(key) => Err(Unshown::Lacks(kind, key)),
            None => Ok(kind),
        }
    }

    fn told(object: &Object<'_>) -> Result<Self, Unshown> {
        let has = |key: &str| object.get(key).is_some();
        if let Some((_, what)) = FIRST.iter().find(|(key, _)| has(key)) {
            return Err(Unshown::Other(what));
        }
        if !has("weir") {
            return Err(Unshown::NotWeir);
        }
        if let Some((_, kind)) = SHOWN.iter().find(|(key, _)| has(key)) {
            return Ok(*kind);
        }
        if is_tuning(object) {
            return Ok(Self::Tuning);
        }
        let other = OTHERS.iter().find(|(key, _)| has(key));
        Err(other.map_or(Unshown::NotWeir, |(_, what)| Unshown::Other(what)))
    }
}

/// Whether its operations have sizes.
fn is_tuning(object: &Object<'_>) -> bool {
    #[derive(Deserialize)]
    struct Sized {
        #[serde(rename = "sizes")]
        _sizes: serde::de::IgnoredAny,
    }
    let operations = object.get("operations");
    operations.is_some_and(|list| serde_json::from_str::<Vec<Sized>>(list.get()).is_ok_and(|list| !list.is_empty()))
}

/// Whether a text is what weir has saved as JSON, rather than a scenario: an object that does not say what to do.
pub(super) fn is_saved(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return false;
    }
    match serde_json::Deserializer::from_str(text).into_iter::<Object<'_>>().next() {
        Some(Ok(object)) => !["topology", "tree", "workload"].iter().any(|key| object.get(key).is_some()),
        _ => is_begun(text),
    }
}

/// Whether a text that is no whole object, as it was cut off, begins as all of weir's results do, however it was indented.
fn is_begun(text: &str) -> bool {
    /// Longer than every beginning below, with any indentation.
    const HEAD: usize = 200;
    let head: String = text.chars().take(HEAD).filter(|c| !c.is_whitespace()).collect();
    // A scenario as JSON may begin with its version, too: what is cut before the second key may be either.
    [r#"{"weir":1,"version":""#, r#"{"weir":1,"scenario":""#]
        .iter()
        .any(|begin| head.starts_with(begin) || (head.starts_with(r#"{"weir":1,""#) && begin.starts_with(&head)))
}
