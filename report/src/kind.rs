//! What a line of weir's JSON is: every result says it in its key `kind`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// The kind of a result that is saved as JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResultKind {
    /// `weir run`: one scenario under one arbiter.
    Run,
    /// `weir compare`: several runs and their ratios.
    Comparison,
    /// `weir explain`.
    Explanation,
    /// `weir optimize` and `weir merge`.
    Search,
    /// `weir optimize` of a search at each point of a grid.
    Sweep,
    /// `weir tune`.
    Tuning,
    /// `weir validate`.
    Validation,
    /// `weir calibrate`.
    Calibration,
    /// `weir whatif`.
    #[serde(rename = "whatif")]
    WhatIf,
    /// `weir plugin list`.
    PluginList,
}

impl ResultKind {
    /// The command that writes it.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Self::Run => "weir run --json",
            Self::Comparison => "weir compare --json",
            Self::Explanation => "weir explain --json",
            Self::Search | Self::Sweep => "weir optimize --json",
            Self::Tuning => "weir tune --json",
            Self::Validation => "weir validate --json",
            Self::Calibration => "weir calibrate --json",
            Self::WhatIf => "weir whatif --json",
            Self::PluginList => "weir plugin list --json",
        }
    }
}

/// Whether a text is what weir has saved as JSON, rather than a scenario: an object that does not say what to do.
#[must_use]
pub fn is_saved(text: &str) -> bool {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return false;
    }
    match serde_json::Deserializer::from_str(text).into_iter::<BTreeMap<String, IgnoredAny>>().next() {
        Some(Ok(object)) => !["topology", "tree", "workload"].iter().any(|key| object.contains_key(*key)),
        _ => is_begun(text),
    }
}

/// The kind of the first result in a text, where it says one.
#[must_use]
pub fn saved_kind(text: &str) -> Option<ResultKind> {
    #[derive(Deserialize)]
    struct Marked {
        kind: ResultKind,
    }
    let first = serde_json::Deserializer::from_str(text).into_iter::<Marked>().next();
    first?.ok().map(|marked| marked.kind)
}

/// Whether a text that is no whole object, as it was cut off, begins as all of weir's results do, however it was indented.
fn is_begun(text: &str) -> bool {
    /// What results begin with; a scenario has no key `kind`.
    const BEGIN: &str = r#"{"weir":1,"kind":""#;
    /// Longer than the beginning, with any indentation.
    const HEAD: usize = 200;
    let head: String = text.chars().take(HEAD).filter(|c| !c.is_whitespace()).collect();
    // A scenario as JSON may begin with its version, too: what is cut before the second key may be either.
    head.starts_with(BEGIN) || (head.starts_with(r#"{"weir":1,""#) && BEGIN.starts_with(&head))
}
