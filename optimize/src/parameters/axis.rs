//! One path of the scenario and the values that stand there in turn.

use serde::{Deserialize, Serialize};

/// One path of the scenario and the values that stand there in turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// A path as `--set` takes them: `workload[0].put.packet`.
    pub path: String,
    /// YAML texts, as a scenario writes them.
    pub values: Vec<String>,
}

impl Axis {
    /// An axis over a list.
    #[must_use]
    pub fn list(path: impl Into<String>, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { path: path.into(), values: values.into_iter().map(Into::into).collect() }
    }
}
