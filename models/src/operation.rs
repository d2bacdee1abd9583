//! What all models have in common: reading an operation, writing it with a choice made, routes, refusals, task names.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use weir_plugin_api::{
    Alternative, CallError, Estimate, Estimates, NodeId, PS_PER_S, Plan, Relation, RouteInfo, Surroundings,
};

/// Longest time of a task, ps: 100 days (the contract of plans).
pub(crate) const MOST_TIME_PS: f64 = 8.64e18;
/// Most tasks of one plan: the scenario format's bound on expanded transfers.
pub(crate) const MOST_TASKS: u64 = 10_000_000;

/// A word of a file as messages show it: short.
pub(crate) fn shown(word: &str) -> String {
    shortened(word, 32)
}

/// A text of so many characters at most, with a mark where it was cut.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// An operation as the host gives it; `operation` and `id` are of no use here.
#[derive(Deserialize)]
pub(crate) struct Operation<P> {
    pub(crate) params: P,
    pub(crate) transfer: Option<PlainTransfer>,
}

/// What is said of a plain transfer beside its model.
#[derive(Deserialize)]
pub(crate) struct PlainTransfer {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: u64,
    /// B/s.
    pub(crate) limit: Option<f64>,
    /// Of the source's engine `send`.
    pub(crate) slots: Option<u32>,
}

/// The only value of keys such as `over`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Over {
    // The bytes travel the topology.
    Fabric,
}

/// An operation of a built-in model with every value resolved.
pub(crate) trait Resolved: Sized {
    const NAME: &'static str;
    /// The key of the workload's items.
    const KEY: &'static str = Self::NAME;
    /// The map under the key.
    type Params: DeserializeOwned + JsonSchema;

    fn new(operation: Operation<Self::Params>, surroundings: &Surroundings<'_>) -> Result<Self, CallError>;

    fn plan(&self, plan: &mut Plan);

    fn estimates(&self, surroundings: &Surroundings<'_>) -> Result<Estimates, CallError>;

    /// See [`weir_plugin_api::Model::alternatives`]; such an operation cannot be resolved yet.
    fn alternatives(_: &str, _: &Surroundings<'_>, _: &mut Vec<Alternative>) -> Result<(), CallError> {
        Ok(())
    }
}

/// Reads and resolves an operation.
pub(crate) fn read<R: Resolved>(operation: &str, surroundings: &Surroundings<'_>) -> Result<R, CallError> {
    R::new(parse::<R>(operation)?, surroundings)
}

/// Reads an operation as it was written.
pub(crate) fn parse<R: Resolved>(operation: &str) -> Result<Operation<R::Params>, CallError> {
    serde_json::from_str(operation).map_err(|error| {
        refused(format!("the operation does not fit the model `{}`: {error}; see its schema", R::NAME))
    })
}

/// The operation last planned: the host asks for its estimates next, and reading it again would take as long and as much
/// memory. One instance of a model serves one scenario.
pub(crate) struct Planned<R>(Option<(u64, usize, R)>);

impl<R> Planned<R> {
    /// Keeps what was planned.
    pub(crate) fn keep(&mut self, operation: &str, surroundings: &Surroundings<'_>, resolved: R) {
        self.0 = Some((digest(operation), place(surroundings), resolved));
    }

    /// What was planned last, where it was this operation.
    pub(crate) fn take(&mut self, operation: &str, surroundings: &Surroundings<'_>) -> Option<R> {
        let (of, at, resolved) = self.0.take()?;
        (of == digest(operation) && at == place(surroundings)).then_some(resolved)
    }
}

impl<R> Default for Planned<R> {
    fn default() -> Self {
        Self(None)
    }
}

impl<R> fmt::Debug for Planned<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Planned").field(&self.0.is_some()).finish()
    }
}

fn digest(operation: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    operation.hash(&mut hasher);
    hasher.finish()
}

/// Which fabric surrounds an operation.
fn place(surroundings: &Surroundings<'_>) -> usize {
    surroundings.fabric.node_kind.as_ptr().addr()
}

pub(crate) fn refused(text: impl Into<String>) -> CallError {
    CallError::Refused(text.into())
}

/// The JSON Schema of an item whose keys are `operations` and whose map is `P`.
pub(crate) fn schema<P: JsonSchema>(operation: &str) -> String {
    let mut inner = schemars::schema_for!(P);
    // References are written from the root, so definitions move there.
    let definitions = inner.remove("$defs");
    inner.remove("$schema");
    inner.remove("title");
    let mut outer = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { operation: inner },
    });
    if let (Some(definitions), Some(object)) = (definitions, outer.as_object_mut()) {
        object.insert("$defs".to_owned(), definitions);
    }
    outer.to_string()
}

/// The operation with values chosen for one key of `params`; `list`, a key of the values to choose from, is left out: many
/// choices would carry it many times.
pub(crate) fn choose(
    operation: &str,
    key: &str,
    list: Option<&str>,
    choices: impl Iterator<Item = (String, Json)>,
    out: &mut Vec<Alternative>,
) -> Result<(), CallError> {
    let broken = |error: serde_json::Error| refused(format!("the operation is not JSON: {error}"));
    let mut json: Json = serde_json::from_str(operation).map_err(broken)?;
    if let (Some(list), Some(params)) = (list, json["params"].as_object_mut()) {
        params.shift_remove(list);
    }
    for (label, value) in choices {
        json["params"][key] = value;
        out.push(Alternative { label, operation: json.to_string() });
    }
    Ok(())
}

/// Where bytes come from and go to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ends {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

impl Ends {
    pub(crate) fn new(from: u32, to: u32) -> Self {
        Self { from: NodeId(from), to: NodeId(to) }
    }
}

/// Why links may join two devices, and yet there is no route.
pub(crate) const FORWARD: &str = "only switches, root complexes, networks and NICs forward";

/// The route between two nodes, or a refusal that begins with `key`.
pub(crate) fn route(
    surroundings: &Surroundings<'_>,
    ends: Ends,
    key: &str,
    what: &str,
) -> Result<RouteInfo, CallError> {
    surroundings.routes.route(ends.from, ends.to).ok_or_else(|| {
        let help = format!("add links, or give times instead of the fabric; {FORWARD}");
        refused(format!("{key}: the topology has no route {what}; {help}"))
    })
}

/// The time per byte of a route: one over its narrowest bandwidth, ps.
pub(crate) fn per_byte(route: &RouteInfo) -> f64 {
    PS_PER_S as f64 / route.bandwidth
}

/// An estimate; times so long that they are not numbers any more are refused.
pub(crate) fn estimate(formula: &str, ps: f64, relation: Relation, because: &str) -> Result<Estimate, CallError> {
    if !ps.is_finite() {
        return Err(refused(format!("the time by {formula} is too long to compute; give smaller sizes or times")));
    }
    let (formula, because) = (formula.to_owned(), because.to_owned());
    Ok(Estimate { formula, seconds: seconds(ps), relation, because })
}

/// The details of an operation as JSON text.
pub(crate) fn details(details: &impl Serialize) -> Result<String, CallError> {
    let failed = |error| CallError::Failed(format!("the details could not be written: {error}"));
    serde_json::to_string(details).map_err(failed)
}

/// Seconds of a number of ps.
pub(crate) fn seconds(ps: f64) -> f64 {
    ps / PS_PER_S as f64
}

/// Refuses plans of more tasks than a run may have.
pub(crate) fn check_count(tasks: u64, remedy: &str) -> Result<(), CallError> {
    if tasks <= MOST_TASKS {
        return Ok(());
    }
    Err(refused(format!("{remedy} (this would be {tasks} tasks, more than {MOST_TASKS})")))
}

/// Task names, built in one buffer: plans have up to 10^7 of them.
#[derive(Default)]
pub(crate) struct Name(String);

impl Name {
    /// Such as `h0`.
    pub(crate) fn of(&mut self, letter: &str, number: u64) -> &str {
        self.0.clear();
        self.0.push_str(letter);
        let _ = write!(self.0, "{number}"); // writing to a String cannot fail
        &self.0
    }

    /// Such as `r3.1`.
    pub(crate) fn pair(&mut self, letter: &str, first: u64, second: u64) -> &str {
        self.of(letter, first);
        let _ = write!(self.0, ".{second}");
        &self.0
    }
}
