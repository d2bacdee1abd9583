//! One path of the scenario and the values that stand there in turn.

use serde::{Deserialize, Serialize};

use super::error::ParameterError;
use super::range::Range;

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

    /// An axis over a range.
    ///
    /// # Errors
    /// As [`Range::values`].
    pub fn range(path: impl Into<String>, range: &Range) -> Result<Self, ParameterError> {
        let path = path.into();
        match range.values() {
            Ok(values) => Ok(Self { path, values }),
            Err(error) => Err(ParameterError::Range { path, error }),
        }
    }
}
