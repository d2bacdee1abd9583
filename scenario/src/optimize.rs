//! `optimize`: what `weir optimize` may change, and what it looks for. It changes nothing about a run.

mod matrix;

use weir_plugin_api::NodeId;

use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::{Position, quoted};
use crate::files::Files;
use crate::nearest::suggestion;
use crate::source::Span;
use crate::topology::Topology;
use crate::units::{self, RangeError};
use crate::workload::devices;
use crate::yaml::{self, Data, Entry, Path, Value};
pub use matrix::MeasuredMatrix;
use weir_optimize::search::{Method, Objective, Vary};

/// A value of the scenario that takes several in turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Where it stands, as `--set` takes it.
    pub path: String,
    /// What it becomes.
    pub axis: AxisSpec,
    /// Where that is written.
    pub position: Position,
}

/// The values of a parameter: YAML texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AxisSpec {
    /// These.
    List(Vec<String>),
    /// From one to another.
    Range {
        /// The first.
        from: String,
        /// The end.
        to: String,
        /// How to go on.
        by: Growth,
    },
}

impl Parameter {
    /// Its values as YAML texts, in order.
    ///
    /// # Errors
    /// A range that has no values, or too many.
    pub fn values(&self) -> Result<Vec<String>, RangeError> {
        match &self.axis {
            AxisSpec::List(values) => Ok(values.clone()),
            AxisSpec::Range { from, to, by: Growth::Step(step) } => units::by_step(from, to, step),
            AxisSpec::Range { from, to, by: Growth::Factor(factor) } => units::by_factor(from, to, factor),
        }
    }
}

/// From one value of a range to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Growth {
    /// This much more.
    Step(String),
    /// This many times as much.
    Factor(String),
}

/// What `optimize` says.
#[derive(Clone, PartialEq, Debug)]
pub struct OptimizeSpec {
    /// What may change.
    pub vary: Vary,
    /// With [`Vary::Parameters`]: the values that do, in file order; at least one. With [`Vary::Order`]: those for each of
    /// which an order is searched.
    pub parameters: Vec<Parameter>,
    /// With [`Vary::Placement`]: the devices to choose from, all different; the ranks' own if `None`.
    pub devices: Option<Vec<NodeId>>,
    /// What is to become small; another than the makespan only with [`Vary::Placement`].
    pub objective: Objective,
    /// With [`Objective::Distance`]: the cost of each level, from the closest switch outward; finite, at least 0.
    pub level_costs: Option<Vec<f64>>,
    /// With [`Objective::Latency`] and [`Objective::Bandwidth`]: measured values instead of the topology's.
    pub matrix: Option<MeasuredMatrix>,
    /// How.
    pub method: Method,
    /// Where it stands.
    pub position: Position,
}

/// Parameters of one search at most; *assumed*, more have more candidates than anybody waits for.
const PARAMETERS: usize = 64;
pub(crate) const KEYS: [&str; 7] = ["vary", "parameters", "devices", "objective", "level_costs", "matrix", "method"];

/// What the paths and devices of `optimize` are looked up in.
#[derive(Clone, Copy)]
pub(crate) struct ScenarioParts<'a> {
    /// The tree of the scenario.
    pub(crate) root: &'a Value,
    /// The tree of the topology, where that is a file of its own.
    pub(crate) topology_file: Option<&'a Value>,
    pub(crate) topology: &'a Topology,
    /// The devices of the ranks, where there are ranks.
    pub(crate) ranks: Option<&'a [NodeId]>,
}

/// Reads `optimize`.
pub(crate) fn read(
    context: &mut Context,
    files: &mut Files,
    entry: &Entry,
    scenario: ScenarioParts<'_>,
) -> Read<OptimizeSpec> {
    let before = context.errors();
    let fields = context.fields(&entry.value, "`optimize`", &KEYS)?;
    fields.require(context, "vary")?;
    let vary = word(context, &fields, "vary", &Vary::ALL.map(|vary| (vary.word(), vary)), Vary::Order)?;
    let objectives = Objective::ALL.map(|objective| (objective.word(), objective));
    let objective = word(context, &fields, "objective", &objectives, Objective::Makespan);
    let methods = Method::ALL.map(|method| (method.word(), method));
    let method = word(context, &fields, "method", &methods, Method::Auto);
    belongs(context, &fields, vary);
    let parameters = match fields.get("parameters") {
        Some(value) => parameters(context, value, scenario),
        None if vary == Vary::Parameters => fields.require(context, "parameters").map(|_| Vec::new()),
        None => Ok(Vec::new()),
    };
    let devices = match fields.get("devices") {
        Some(value) => devices(context, scenario.topology, value, "`devices`").map(|list| Some(list.to_vec())),
        None => Ok(None),
    };
    let level_costs = fields.get("level_costs").map(|value| level_costs(context, value)).transpose();
    let matrix = fields.get("matrix").map(|value| matrix::read(context, files, scenario.topology, value)).transpose();
    let spec = OptimizeSpec {
        vary,
        parameters: parameters?,
        devices: devices?,
        objective: objective?,
        level_costs: level_costs?,
        matrix: matrix?,
        method: method?,
        position: context.sources.position(entry.key_span),
    };
    fits(context, &fields, &spec);
    if vary == Vary::Placement {
        places(context, fields.entry("devices").map_or(entry.key_span, |e| e.value.span), &spec, scenario);
        if let (Some(matrix), Some(value)) = (&spec.matrix, fields.get("matrix")) {
            let chosen = spec.devices.as_deref().or(scenario.ranks).unwrap_or_default();
            matrix::covers(context, value.span, scenario.topology, matrix, chosen);
        }
    }
    if context.errors() > before { Err(crate::context::Reported) } else { Ok(spec) }
}

/// One of some words.
fn word<T: Copy>(
    context: &mut Context,
    fields: &Fields<'_>,
    key: &str,
    words: &[(&'static str, T)],
    default: T,
) -> Read<T> {
    fields.parse_or(context, key, default, |text| {
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        found.ok_or_else(|| {
            let names = words.iter().map(|&(word, _)| word);
            Problem::new(format!("{} is not one of the words allowed", quoted(text)), suggestion(text, names, "words"))
        })
    })
}

/// Refuses keys that say nothing about what varies.
fn belongs(context: &mut Context, fields: &Fields<'_>, vary: Vary) {
    let keys: [(&str, &[Vary], &str); 4] = [
        ("parameters", &[Vary::Parameters, Vary::Order], "`vary: parameters` or `vary: order`"),
        ("devices", &[Vary::Placement], "`vary: placement`"),
        ("level_costs", &[Vary::Placement], "`vary: placement`"),
        ("matrix", &[Vary::Placement], "`vary: placement`"),
    ];
    for (key, of, words) in keys {
        if let Some(entry) = fields.entry(key).filter(|_| !of.contains(&vary)) {
            let message = format!("`{key}` goes with {words} only");
            let _ = context.error(entry.key_span, message, format!("remove it, or write {words}"));
        }
    }
}

/// Refuses an objective or a method that what varies has not.
fn fits(context: &mut Context, fields: &Fields<'_>, spec: &OptimizeSpec) {
    let place = |key: &str| fields.get(key).map_or(fields.span, |value| value.span);
    if spec.objective != Objective::Makespan && spec.vary != Vary::Placement {
        let help = "leave `objective` out: what counts is the makespan";
        let _ = context.error(place("objective"), "only a placement has another objective than the makespan", help);
    }
    if let (Some(entry), Vary::Placement, false) =
        (fields.entry("level_costs"), spec.vary, spec.objective == Objective::Distance)
    {
        let message = "`level_costs` goes with `objective: distance` only";
        let _ = context.error(entry.key_span, message, "remove it, or write `objective: distance`");
    }
    let measured = matches!(spec.objective, Objective::Latency | Objective::Bandwidth);
    if let (Some(entry), Vary::Placement, false) = (fields.entry("matrix"), spec.vary, measured) {
        let message = "`matrix` goes with `objective: latency` or `bandwidth` only";
        let _ = context.error(entry.key_span, message, "remove it, or name what was measured as the objective");
    }
    let methods = spec.vary.methods();
    if !methods.contains(&spec.method) {
        let what = match spec.vary {
            Vary::Order => "an order",
            Vary::Placement => "a placement",
            Vary::Parameters => "parameters",
        };
        let help = format!("write {}", methods.iter().map(|method| method.word()).collect::<Vec<_>>().join(" or "));
        let _ = context.error(place("method"), format!("no method of this name searches for {what}"), help);
    }
}

/// Refuses devices that cannot hold the ranks, each one rank.
fn places(context: &mut Context, span: Span, spec: &OptimizeSpec, scenario: ScenarioParts<'_>) {
    let chosen = spec.devices.as_deref().or(scenario.ranks).unwrap_or_default();
    let mut sorted = chosen.to_vec();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = quoted(scenario.topology.names.shown(twice[0]));
        let message = format!("{name} is listed twice, but each device takes one rank");
        let help = "name different devices under `devices` or, without them, `ranks`";
        let _ = context.error(span, message, help);
    }
    let ranks = scenario.ranks.map_or(0, <[NodeId]>::len);
    if chosen.len() < ranks {
        let message = format!("{} devices for {ranks} ranks", chosen.len());
        let _ = context.error(span, message, "name at least as many devices as there are ranks");
    }
}

fn parameters(context: &mut Context, value: &Value, scenario: ScenarioParts<'_>) -> Read<Vec<Parameter>> {
    let help = "write `parameters: { arbiter.tau: [0.1, 0.2] }`";
    let Data::Mapping(entries) = &value.data else {
        return Err(context.error(value.span, format!("`parameters` must be a map, not {}", value.describe()), help));
    };
    if entries.is_empty() || entries.len() > PARAMETERS {
        let message = match entries.is_empty() {
            true => "`parameters` is empty".to_owned(),
            false => format!("more than {PARAMETERS} parameters"),
        };
        return Err(context.error(value.span, message, help));
    }
    context.each(entries, |context, entry| {
        let path = path(context, entry, scenario);
        let axis = axis(context, &entry.value, &entry.key);
        let position = context.sources.position(entry.key_span);
        path.and_then(|()| Ok(Parameter { path: entry.key.to_string(), axis: axis?, position }))
    })
}

/// Checks that the scenario has a value at a path, or takes a new one there as `--set` does.
fn path(context: &mut Context, entry: &Entry, scenario: ScenarioParts<'_>) -> Read<()> {
    let path = Path::at(context, &entry.key, entry.key_span)?;
    if let Some(span) = path.starts_with("optimize") {
        return Err(context.error(span, "`optimize` cannot vary itself", "name another value of the scenario"));
    }
    match (path.below("topology"), scenario.topology_file) {
        (Some(below), Some(tree)) => below.check(context, tree),
        _ => path.check(context, scenario.root),
    }
}

fn axis(context: &mut Context, value: &Value, name: &str) -> Read<AxisSpec> {
    let what = format!("parameter {}", quoted(name));
    match &value.data {
        Data::Sequence(items) if items.is_empty() => {
            Err(context.error(value.span, format!("{what} has no values"), "list at least one"))
        }
        Data::Sequence(items) => context.each(items, |context, item| text(context, item, &what)).map(AxisSpec::List),
        Data::Mapping(_) => range(context, value, &what),
        Data::Scalar(_) => {
            let help = "list its values, as in `[0.1, 0.2]`, or give a range, as in `{ from: 0, to: 0.4, step: 0.1 }`";
            Err(context.error(value.span, format!("{what} needs several values, not {}", value.describe()), help))
        }
    }
}

/// A value as `--set` takes it.
fn text(context: &mut Context, value: &Value, what: &str) -> Read<String> {
    if value.is_null() {
        return Err(context.error(value.span, format!("an empty value of {what}"), "give a value, or leave it out"));
    }
    Ok(yaml::flow(value))
}

fn range(context: &mut Context, value: &Value, what: &str) -> Read<AxisSpec> {
    let what = format!("the range of {what}");
    let fields = context.fields(value, &what, &["from", "to", "step", "factor"])?;
    let text = |context: &mut Context, key: &str| {
        let value = fields.require(context, key)?;
        context.text(value, &format!("`{key}` of {what}")).map(str::to_owned)
    };
    let (from, to) = (text(context, "from"), text(context, "to"));
    let by = match (fields.get("step"), fields.get("factor")) {
        (Some(_), None) => text(context, "step").map(Growth::Step),
        (None, Some(_)) => text(context, "factor").map(Growth::Factor),
        (given, _) => {
            let message = format!("{what} needs either `step` or `factor`");
            let help = if given.is_some() { "keep one of the two" } else { "add one, as in `step: 0.05`" };
            Err(context.error(value.span, message, help))
        }
    };
    Ok(AxisSpec::Range { from: from?, to: to?, by: by? })
}

fn level_costs(context: &mut Context, value: &Value) -> Read<Vec<f64>> {
    let items = context.list(value, "`level_costs`")?;
    if items.is_empty() {
        return Err(context.error(
            value.span,
            "`level_costs` is empty",
            "give a cost for each level, as in `[1, 2, 5]`",
        ));
    }
    context.each(items, |context, item| {
        context.parse(item, "a cost of `level_costs`", |text| {
            let cost = units::decimal(text)?.to_f64();
            let help = "give a finite number";
            if cost.is_finite() { Ok(cost) } else { Err(Problem::new(format!("{} is too large", quoted(text)), help)) }
        })
    })
}
