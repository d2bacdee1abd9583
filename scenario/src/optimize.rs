//! `optimize`: what `weir optimize` may change, and what it looks for. It changes nothing about a run.

mod matrix;
mod objective;
mod parameters;

use serde_json::{Value as Json, json};
use weir_plugin_api::NodeId;

use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::{Position, quoted};
use crate::files::Files;
use crate::format::{KeyTable, Shape, optional, required};
use crate::nearest::suggestion;
use crate::source::Span;
use crate::topology::Topology;
use crate::units;
use crate::workload::{RANKS, Workload, devices};
use crate::yaml::{Data, Entry, Value};
pub use matrix::MeasuredMatrix;
pub use objective::{ObjectiveItem, counted};
pub use parameters::{AxisSpec, Parameter};
use weir_optimize::search::{Method, Objective, Vary};

/// What a scenario says under `optimize`: the search that `weir optimize` makes.
#[derive(Clone, PartialEq, Debug)]
pub struct OptimizeSpec {
    /// Send orders, the places of ranks, values of the scenario, or several of these together.
    pub vary: Vary,
    /// Where parameters vary: the values that do, in file order; at least one. With [`Vary::Order`] alone: those for each of
    /// which an order is searched.
    pub parameters: Vec<Parameter>,
    /// Where the placement varies: the devices to choose from, all different; the ranks' own if `None`.
    pub devices: Option<Vec<NodeId>>,
    /// What is to become small, or large; a cost of pairs of devices only with [`Vary::Placement`].
    pub objective: Objective,
    /// The items that it is about; empty for the whole workload.
    pub items: Vec<ObjectiveItem>,
    /// With [`Objective::Distance`]: the cost of each level, from the closest switch outward; finite, at least 0.
    pub level_costs: Option<Vec<f64>>,
    /// With [`Objective::Latency`] and [`Objective::Bandwidth`]: measured values instead of the topology's.
    pub matrix: Option<MeasuredMatrix>,
    /// The way to search; [`Method::Auto`] where nothing is said.
    pub method: Method,
    /// The place of the key `optimize`, for messages.
    pub position: Position,
}

pub(crate) static OPTIMIZE: KeyTable = KeyTable::new(
    "optimize",
    "What `weir optimize` may change, and what it looks for; no effect on a run.",
    &[
        required(
            "vary",
            Shape::OneOrMore(1, &Shape::Choice(|| Vary::ALL.map(|vary| vary.word().into()).to_vec())),
            "The send order of each source, the device of each rank, values of the scenario, or a list of these: together.",
        ),
        optional(
            "parameters",
            parameters::AXES,
            "Where parameters vary: paths as `--set` takes them, each with its values. With `vary: order`: an order is \
             searched for each combination of values.",
        ),
        optional(
            "devices",
            Shape::Named(&RANKS),
            "Where the placement varies: the devices to choose from; by default those of the ranks.",
        ),
        optional(
            "objective",
            objective::OBJECTIVE,
            "What to minimise, or the throughput to maximise; makespan by default. Costs of pairs of devices go with \
             `vary: placement` alone.",
        ),
        optional(
            "level_costs",
            Shape::List(1, &Shape::Number(&[("minimum", 0)])),
            "With `objective: distance`: the cost of each level, from the closest switch outward; by default 1, 2, 3, …",
        ),
        optional(
            "matrix",
            Shape::Path,
            "With `objective: latency` or `bandwidth`: a CSV file of what was measured between devices, \
             `device,gpu0,gpu1,…` and a row for each.",
        ),
        optional(
            "method",
            Shape::Choice(|| Method::ALL.map(|method| method.word().into()).to_vec()),
            "How to search; auto by default.",
        ),
    ],
);

/// Keys that go with some values of `vary` only, and how messages name these.
const BELONGS: [(&str, &[Vary], &str); 4] = [
    ("parameters", &[Vary::Parameters, Vary::Order], "`vary: parameters` or `vary: order`"),
    ("devices", &[Vary::Placement], "`vary: placement`"),
    ("level_costs", &[Vary::Placement], "`vary: placement`"),
    ("matrix", &[Vary::Placement], "`vary: placement`"),
];

/// Whether a key of [`BELONGS`] goes with what varies. Beside orders, parameters mean a search for each: not where orders
/// vary together with something else.
fn goes_with(key: &str, of: &[Vary], vary: Vary) -> bool {
    let joint = matches!(vary, Vary::Joint(_));
    of.iter().any(|&kind| vary.has(kind) && !(joint && key == "parameters" && kind == Vary::Order))
}

/// What the schema says of the keys that depend on `vary`: one alternative for each of its values.
pub(crate) fn alternatives() -> Json {
    let together = [
        &[Vary::Order, Vary::Placement][..],
        &[Vary::Order, Vary::Parameters],
        &[Vary::Placement, Vary::Parameters],
        &Vary::ALL,
    ];
    let joint = together.into_iter().filter_map(Vary::of);
    Vary::ALL.into_iter().chain(joint).map(alternative).collect()
}

fn alternative(vary: Vary) -> Json {
    let methods: Vec<_> = vary.methods().iter().map(|method| method.word()).collect();
    let words: Vec<Json> = vary.singles().map(|kind| kind.word().into()).collect();
    let contains: Vec<Json> = words.iter().map(|word| json!({ "contains": { "const": word } })).collect();
    let count = words.len();
    let list = json!({ "type": "array", "minItems": count, "maxItems": count, "allOf": contains });
    let of_vary = if count == 1 { json!({ "anyOf": [{ "const": vary.word() }, list] }) } else { list };
    let mut properties = json!({ "vary": of_vary, "method": { "enum": methods } });
    for (key, of, _) in BELONGS {
        if !goes_with(key, of, vary) {
            properties[key] = false.into();
        }
    }
    if vary != Vary::Placement {
        let costs: Vec<_> = Objective::ALL.into_iter().filter(|o| o.is_cost()).map(Objective::word).collect();
        properties["objective"] = json!({ "not": { "enum": costs } });
    }
    let required: &[&str] = if vary.has(Vary::Parameters) { &["parameters"] } else { &[] };
    json!({ "properties": properties, "required": required })
}

/// What the paths and devices of `optimize` are looked up in.
#[derive(Clone, Copy)]
pub(crate) struct ScenarioParts<'a> {
    /// The tree of the scenario.
    pub(crate) root: &'a Value,
    /// The tree of the topology, where that is a file of its own.
    pub(crate) topology_file: Option<&'a Value>,
    pub(crate) topology: &'a Topology,
    /// What runs; `None` where that is wrong itself, or is streamed.
    pub(crate) workload: Option<&'a Workload>,
}

impl<'a> ScenarioParts<'a> {
    /// The devices of the ranks, where there are ranks.
    fn ranks(&self) -> Option<&'a [NodeId]> {
        self.workload?.ranks.as_deref()
    }
}

pub(crate) fn read(
    context: &mut Context,
    files: &mut Files,
    entry: &Entry,
    scenario: ScenarioParts<'_>,
) -> Read<OptimizeSpec> {
    let before = context.errors();
    let fields = context.fields(&entry.value, "`optimize`", &OPTIMIZE)?;
    let vary = fields.require(context, "vary").and_then(|value| vary(context, value))?;
    let objective = match fields.get("objective") {
        Some(value) => objective::read(context, value, scenario),
        None => Ok((Objective::Makespan, Vec::new())),
    };
    let method = fields.parse_or(context, "method", Method::Auto, one_of(&Method::ALL, Method::word));
    belongs(context, &fields, vary);
    let parameters = match fields.get("parameters") {
        Some(value) => parameters::read(context, files, value, scenario).and_then(|read| {
            parameters::vary_apart(context, value, vary)?;
            Ok(read)
        }),
        None if vary.has(Vary::Parameters) => fields.require(context, "parameters").map(|_| Vec::new()),
        None => Ok(Vec::new()),
    };
    let devices = match fields.get("devices") {
        Some(value) => devices(context, scenario.topology, value, "`devices`").map(|list| Some(list.to_vec())),
        None => Ok(None),
    };
    let level_costs = fields.get("level_costs").map(|value| level_costs(context, value)).transpose();
    let matrix = fields.get("matrix").map(|value| matrix::read(context, files, scenario.topology, value)).transpose();
    let (objective, items) = objective?;
    let spec = OptimizeSpec {
        vary,
        parameters: parameters?,
        devices: devices?,
        objective,
        items,
        level_costs: level_costs?,
        matrix: matrix?,
        method: method?,
        position: context.sources.position(entry.key_span),
    };
    fits(context, &fields, &spec);
    if vary.has(Vary::Placement) {
        placeable(context, &fields, entry, &spec, scenario);
    }
    if context.errors() > before { Err(crate::context::Reported) } else { Ok(spec) }
}

/// Refuses devices that ranks cannot be placed on, and a matrix that lacks some of them.
fn placeable(
    context: &mut Context,
    fields: &Fields<'_>,
    entry: &Entry,
    spec: &OptimizeSpec,
    scenario: ScenarioParts<'_>,
) {
    places(context, fields.entry("devices").map_or(entry.key_span, |e| e.value.span), spec, scenario);
    if let (Some(matrix), Some(value)) = (&spec.matrix, fields.get("matrix")) {
        let chosen = spec.devices.as_deref().or(scenario.ranks()).unwrap_or_default();
        matrix::covers(context, value.span, scenario.topology, matrix, chosen);
    }
}

/// Reads what varies: a word, or a list of words.
fn vary(context: &mut Context, value: &Value) -> Read<Vary> {
    let kind = one_of(&Vary::ALL, Vary::word);
    let Data::Sequence(items) = &value.data else { return context.parse(value, "`vary` of `optimize`", kind) };
    let kinds = context.each(items, |context, item| context.parse(item, "`vary` of `optimize`", &kind))?;
    Vary::of(&kinds).ok_or_else(|| {
        let message = if kinds.is_empty() { "`vary` is empty" } else { "`vary` names something twice" };
        context.error(value.span, message, "name each of what varies once, as in `[order, placement]`")
    })
}

/// Reads one of some values by its word.
fn one_of<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> impl Fn(&str) -> Result<T, Problem> {
    move |text| {
        let found = all.iter().copied().find(|&one| word(one) == text);
        found.ok_or_else(|| {
            let names = all.iter().map(|&one| word(one));
            Problem::new(format!("{} is not one of the words allowed", quoted(text)), suggestion(text, names, "words"))
        })
    }
}

/// Refuses keys that say nothing about what varies.
fn belongs(context: &mut Context, fields: &Fields<'_>, vary: Vary) {
    for (key, of, words) in BELONGS {
        if let Some(entry) = fields.entry(key).filter(|_| !goes_with(key, of, vary)) {
            let message = format!("`{key}` goes with {words} only");
            let _ = context.error(entry.key_span, message, format!("remove it, or write {words}"));
        }
    }
}

/// Refuses an objective or a method that what varies has not.
fn fits(context: &mut Context, fields: &Fields<'_>, spec: &OptimizeSpec) {
    if spec.objective.is_cost() && spec.vary != Vary::Placement {
        let word = quoted(spec.objective.word());
        let message = format!("only a placement alone has the objective {word}, a cost of pairs of devices");
        let help = "leave `objective` out for the makespan, or name what is to end early, as in `{ end: [a, b] }`";
        let _ = context.error(fields.span_of("objective"), message, help);
    }
    let placed = spec.vary.has(Vary::Placement);
    if let (Some(entry), true, false) = (fields.entry("level_costs"), placed, spec.objective == Objective::Distance) {
        let message = "`level_costs` goes with `objective: distance` only";
        let _ = context.error(entry.key_span, message, "remove it, or write `objective: distance`");
    }
    let measured = matches!(spec.objective, Objective::Latency | Objective::Bandwidth);
    if let (Some(entry), true, false) = (fields.entry("matrix"), placed, measured) {
        let message = "`matrix` goes with `objective: latency` or `bandwidth` only";
        let _ = context.error(entry.key_span, message, "remove it, or name what was measured as the objective");
    }
    let simulated = match spec.vary {
        Vary::Order => spec.objective != Objective::Makespan,
        Vary::Placement => !spec.objective.is_cost(),
        _ => false,
    };
    let methods = spec.vary.methods();
    if simulated && spec.method.is_fast() && methods.contains(&spec.method) {
        let (method, objective) = (quoted(spec.method.word()), quoted(spec.objective.word()));
        let message = format!("the method {method} does not simulate, which the objective {objective} needs");
        let costs = if spec.vary == Vary::Placement { ", or a cost as the objective, such as `distance`" } else { "" };
        let help = format!("write exhaustive or local-search{costs}");
        let _ = context.error(fields.span_of("method"), message, help);
    }
    if !methods.contains(&spec.method) {
        let what = match spec.vary {
            Vary::Order => "an order",
            Vary::Placement => "a placement",
            Vary::Parameters => "parameters",
            Vary::Joint(_) => "several kinds together",
        };
        let help = format!("write {}", methods.iter().map(|method| method.word()).collect::<Vec<_>>().join(" or "));
        let _ = context.error(fields.span_of("method"), format!("no method of this name searches for {what}"), help);
    }
}

/// Refuses devices that cannot hold the ranks, each one rank.
fn places(context: &mut Context, span: Span, spec: &OptimizeSpec, scenario: ScenarioParts<'_>) {
    let chosen = spec.devices.as_deref().or(scenario.ranks()).unwrap_or_default();
    let mut sorted = chosen.to_vec();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = quoted(scenario.topology.names.unique_name(twice[0]));
        let message = format!("{name} is listed twice, but each device takes one rank");
        let help = "name different devices under `devices` or, without them, `ranks`";
        let _ = context.error(span, message, help);
    }
    let ranks = scenario.ranks().map_or(0, <[NodeId]>::len);
    if chosen.len() < ranks {
        let message = format!("{} devices for {ranks} ranks", chosen.len());
        let _ = context.error(span, message, "name at least as many devices as there are ranks");
    }
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
