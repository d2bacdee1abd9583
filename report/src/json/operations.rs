//! Operations in a result. Of one that a model planned, the closed forms and how far the simulated time is from them.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_plugin_api::Estimate;
use weir_sim_core::TaskId;

use super::list::RowMaker;
use crate::Run;
use crate::bandwidths::{bandwidths, cut, of_bound};
use crate::difference::{Difference, difference};
use crate::operations::{Operation, operations};
use crate::schemas::{object, time};
use crate::served::Served;
use crate::spread::EndSpreadJson;
use crate::units::{picoseconds, seconds};
use weir_scenario::{Choice, PlannedOperation};

/// All operations of a run that are not plain transfers.
pub(crate) struct Operations<'a> {
    run: &'a Run<'a>,
    served: Served<'a>,
}

impl<'a> RowMaker for Operations<'a> {
    type ResultRow = OperationRow<'a>;

    fn rows(&self) -> impl Iterator<Item = OperationRow<'a>> {
        operations(self.run).map(|operation| match operation {
            Operation::Own(task, kind) => self.own(task, kind),
            Operation::Planned(planned) => self.planned(planned),
        })
    }
}

impl<'a> Operations<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Self {
        Self { run, served: Served::new(run) }
    }

    fn own(&self, task: TaskId, kind: &'static str) -> OperationRow<'a> {
        let times = self.run.outcome.tasks[task.index()];
        OperationRow {
            id: self.run.scenario.task_name(task),
            kind: kind.into(),
            start_s: seconds(times.ready),
            end_s: seconds(times.end),
            end_ps: picoseconds(times.end),
            end_spread_s: None,
            time_spread_s: None,
            estimates: Vec::new(),
            details: Map::new(),
        }
    }

    fn planned(&self, operation: &'a PlannedOperation) -> OperationRow<'a> {
        let (released, end) = (self.run.released(operation), self.run.ended(operation));
        let spread = self.run.spread.and_then(|spread| spread.operation(operation));
        OperationRow {
            id: (&*operation.id).into(),
            kind: (&*operation.kind).into(),
            start_s: seconds(released),
            end_s: seconds(end),
            end_ps: picoseconds(end),
            end_spread_s: spread.map(|spread| spread.end.into()),
            time_spread_s: spread.map(|spread| spread.time.seconds()),
            estimates: operation.estimates.iter().map(EstimateRow::from).collect(),
            details: self.details(operation),
        }
    }

    /// What the host knows, then what the model adds: a key of the host's is not overwritten.
    fn details(&self, operation: &PlannedOperation) -> Map<String, Value> {
        let own = Details {
            model: Some(operation.into()),
            simulated_s: Some(self.run.simulated(operation).map(|span| span.seconds())),
            alone_s: self.run.operation_alone(operation).map(|alone| alone.seconds()),
            slowdown: self.run.operation_slowdown(operation),
            difference: difference(self.run, &self.served, operation).map(DifferenceJson::from),
            choice: operation.choice.as_ref().map(ChoiceJson::from),
            bandwidths: Some(bandwidths(self.run, operation)).filter(|bandwidths| !bandwidths.is_empty()),
            of_bound: of_bound(self.run, operation),
            bound_at: cut(self.run, operation).and_then(|cut| cut.at),
        };
        let Ok(Value::Object(mut details)) = serde_json::to_value(own) else { return Map::new() };
        for (key, value) in &operation.details {
            details.entry(key).or_insert_with(|| value.clone());
        }
        details
    }
}

/// An operation of the workload that is not a plain transfer.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Operation")]
pub(crate) struct OperationRow<'a> {
    /// Its id. Its transfers over the fabric stand under `transfers` as `<id>/<task>`.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// `compute`, `barrier`, or the key under which an operation of a model stands.
    #[serde(borrow)]
    pub(crate) kind: Cow<'a, str>,
    /// Its release: all it waited for had ended; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) start_s: Option<f64>,
    /// Its end, of a planned operation that of its last task; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) end_s: Option<f64>,
    /// The same in picoseconds, exact.
    pub(crate) end_ps: Option<u64>,
    /// Where `spread` is given, of an operation that a model planned: its end in those runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end_spread_s: Option<EndSpreadJson>,
    /// Where `spread` is given: the longest less the shortest time from release to end in those runs, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub(crate) time_spread_s: Option<f64>,
    /// The same operation by closed forms; the last one is that of the operation itself.
    #[serde(borrow)]
    estimates: Vec<EstimateRow<'a>>,
    /// What is known beside; of an operation that a model planned also what its model adds.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "Details<'static>")]
    pub(crate) details: Map<String, Value>,
}

/// The time of an operation by a closed form.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Estimate")]
struct EstimateRow<'a> {
    /// The formula, as the model names it.
    #[serde(borrow)]
    formula: Cow<'a, str>,
    /// The time that it gives, seconds.
    seconds: f64,
}

impl<'a> From<&'a Estimate> for EstimateRow<'a> {
    fn from(estimate: &'a Estimate) -> Self {
        Self { formula: (&*estimate.formula).into(), seconds: estimate.seconds }
    }
}

/// What the host adds to the details of an operation that a model planned; computations and barriers have none, and
/// models add keys of their own.
#[derive(Serialize, JsonSchema)]
struct Details<'a> {
    /// The model that planned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelJson<'a>>,
    /// From its release to its end; null if it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_s: Option<Option<f64>>,
    /// The same when nothing else of the workload runs, seconds; absent where nothing else is there, or that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    alone_s: Option<f64>,
    /// The simulated time over `alone_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    slowdown: Option<f64>,
    /// The simulated time against the last estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceJson<'a>>,
    /// What the scenario left open, and how it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<ChoiceJson<'a>>,
    /// Bytes that the model counts (its `moved`) over the simulated time, B/s by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidths: Option<Map<String, Value>>,
    /// The model's lower bound on the time (its estimate `bound`) over the simulated time.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_bound: Option<f64>,
    /// Where that bound is: what bytes leave, or enter (`out of gpu0`); absent where it is all links of all ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_at: Option<String>,
}

/// The model of an operation.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Model")]
struct ModelJson<'a> {
    /// The model, as scenarios name it.
    name: &'a str,
    /// Version that the model states of itself.
    version: &'a str,
    /// SHA-256 of the library it was loaded from; absent for built-in models.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
}

impl<'a> From<&'a PlannedOperation> for ModelJson<'a> {
    fn from(planned: &'a PlannedOperation) -> Self {
        Self { name: &planned.model, version: &planned.version, sha256: planned.sha256.as_deref() }
    }
}

/// The simulated time against a closed form.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Difference")]
struct DifferenceJson<'a> {
    /// The formula, as the model names it.
    formula: &'a str,
    /// Simulated less formula; null if the operation has not ended.
    seconds: Option<f64>,
    /// The same over the formula's time; null also where that is 0.
    relative: Option<f64>,
    /// Why they differ by more than 1e-9 and 1 ps per instant of its events, as far as is known.
    because: Vec<String>,
}

impl<'a> From<Difference<'a>> for DifferenceJson<'a> {
    fn from(difference: Difference<'a>) -> Self {
        Self {
            formula: &difference.estimate.formula,
            seconds: difference.seconds,
            relative: difference.relative(),
            because: difference.because,
        }
    }
}

/// A choice and the ways to do the operation.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Choice")]
struct ChoiceJson<'a> {
    /// The key that was left open; absent where the alternatives differ in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    /// The alternative that was taken, such as `512KiB`.
    chosen: Option<&'a str>,
    /// True where the alternatives were tried under the scenario's other traffic; absent where each was tried alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    under_load: bool,
    /// Every way that was tried, with its simulated time.
    alternatives: Vec<AlternativeJson<'a>>,
    /// Ways that the model refuses; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    not_tried: Vec<NotTriedJson<'a>>,
}

/// A way that was not tried.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "NotTried")]
struct NotTriedJson<'a> {
    /// The value that it would set.
    label: &'a str,
    /// Why the model refuses it.
    reason: &'a str,
}

/// One way to do an operation.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Alternative")]
struct AlternativeJson<'a> {
    /// The value that it sets, such as `512KiB`.
    label: &'a str,
    /// Simulated time of the operation from release to end, alone or under load, seconds.
    seconds: f64,
}

impl<'a> From<&'a Choice> for ChoiceJson<'a> {
    fn from(choice: &'a Choice) -> Self {
        let ways = choice.alternatives.iter();
        let alternatives = ways.map(|(label, time)| AlternativeJson { label, seconds: time.seconds() }).collect();
        let key = Some(&*choice.key).filter(|key| !key.is_empty());
        let not_tried = choice.not_tried.iter();
        let not_tried = not_tried.map(|way| NotTriedJson { label: &way.label, reason: &way.reason }).collect();
        Self { key, chosen: choice.label(), under_load: choice.under_load, alternatives, not_tried }
    }
}
