//! Jobs in a result.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_scenario::Job;

use crate::Run;
use crate::schemas::time;
use crate::units::{picoseconds, seconds};

/// An item of the workload beside others that is many tasks: a group, a pattern, a trace.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Job")]
pub(crate) struct JobRow<'a> {
    /// Its id; of a group without one its place, `workload[2]`.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// The key that it stands under: `sequence`, `parallel`, `pattern`, `trace`.
    #[serde(borrow)]
    kind: Cow<'a, str>,
    /// When the first of its tasks is ready; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) start_s: Option<f64>,
    /// The end of its last task; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) end_s: Option<f64>,
    /// The same in picoseconds, exact.
    pub(crate) end_ps: Option<u64>,
    /// From start to end when nothing else of the workload runs, seconds; null where that is not known.
    #[serde(deserialize_with = "time")]
    pub(crate) alone_s: Option<f64>,
    /// From start to end over `alone_s`; null where that is not known.
    pub(crate) slowdown: Option<f64>,
}

impl<'a> JobRow<'a> {
    pub(super) fn all(run: &Run<'a>) -> Vec<Self> {
        run.scenario.jobs.iter().map(|job| Self::new(run, job)).collect()
    }

    fn new(run: &Run<'a>, job: &'a Job) -> Self {
        let (start, end) = (run.job_begins(job), run.job_ends(job));
        Self {
            id: (&*job.id).into(),
            kind: (&*job.kind).into(),
            start_s: seconds(start),
            end_s: seconds(end),
            end_ps: picoseconds(end),
            alone_s: run.job_alone(job).map(|alone| alone.seconds()),
            slowdown: run.job_slowdown(job),
        }
    }
}
