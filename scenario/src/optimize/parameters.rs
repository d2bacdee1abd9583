//! `parameters`: paths into the scenario, each with the values that stand there in turn.

use super::ScenarioParts;
use crate::context::{Context, Read};
use crate::diagnostic::{Position, quoted};
use crate::files::Files;
use crate::format::{KeyTable, Shape, optional, required};
use crate::reach;
use crate::units::{Range, RangeError};
use crate::yaml::{self, Data, Entry, Path, Value};
use weir_optimize::search::Vary;

/// Paths, each with its values: listed, or as a range.
pub(super) const AXES: Shape =
    Shape::SomeByName(1, PARAMETERS, &Shape::Either(&[Shape::List(1, &Shape::Anything), Shape::Map(&RANGE)]));

/// The range of a parameter.
static RANGE: KeyTable = KeyTable::new(
    "range",
    "The values of a parameter as a range.",
    &[
        required("from", Shape::Text, "The first value."),
        required("to", Shape::Text, "The end; a value too when the steps meet it."),
        optional("step", Shape::Text, "Added from one value to the next, in the unit of `from`."),
        optional("factor", Shape::Text, "By which one value is multiplied to give the next; above 1."),
    ],
)
.in_one_of(&[&["step"], &["factor"]]);

/// Parameters of one search at most; *assumed*, more have more candidates than anybody waits for.
const PARAMETERS: usize = 64;

/// A value of the scenario that takes several in turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Where it stands, as `--set` takes it.
    pub path: String,
    /// The values that it takes in turn.
    pub axis: AxisSpec,
    /// What stands there in the baseline, as a YAML text; `None` where there is nothing yet.
    pub own: Option<String>,
    /// Where that is written.
    pub position: Position,
}

/// The values of a parameter: YAML texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AxisSpec {
    /// These.
    List(Vec<String>),
    /// From one to another.
    Range(Range),
}

impl Parameter {
    /// Its values as YAML texts, in order.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        match &self.axis {
            AxisSpec::List(values) => values.clone(),
            AxisSpec::Range(range) => range.values(),
        }
    }

    /// Of what a search varies, that which decides this value itself, so that it cannot be a parameter.
    #[must_use]
    pub fn decided_by(&self, vary: Vary) -> Option<Vary> {
        let first = self.path.split(['.', '[']).next();
        let decides = |&&(kind, key, _): &&(Vary, &str, &str)| vary.has(kind) && first == Some(key);
        DECIDED.iter().find(decides).map(|&(kind, ..)| kind)
    }
}

pub(super) fn read(
    context: &mut Context,
    files: &mut Files,
    value: &Value,
    scenario: ScenarioParts<'_>,
) -> Read<Vec<Parameter>> {
    let help = "write `parameters: { workload[0].transfer.size: [1MB, 4MB] }`";
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
        let found = path(context, files, entry, scenario);
        let axis = axis(context, &entry.value, &entry.key);
        let position = context.sources.position(entry.key_span);
        let own = found?.map(|value| yaml::flow(&value));
        Ok(Parameter { path: entry.key.to_string(), axis: axis?, own, position })
    })
}

/// What a search decides itself: where that stands in the scenario.
const DECIDED: [(Vary, &str, &str); 2] =
    [(Vary::Placement, "ranks", "the device of each rank"), (Vary::Order, "order", "the order of each source")];

/// Refuses parameters that say what the search itself decides: ranks beside placements, orders beside orders.
pub(super) fn vary_apart(context: &mut Context, value: &Value, vary: Vary) -> Read<()> {
    let Data::Mapping(entries) = &value.data else { return Ok(()) };
    context.each(entries, |context, entry| {
        let path = Path::at(context, &entry.key, entry.key_span)?;
        for (kind, key, what) in DECIDED.into_iter().filter(|&(kind, ..)| vary.has(kind)) {
            if let Some(span) = path.starts_with(key) {
                let message =
                    format!("`{key}` cannot be a parameter beside `vary: {}`: the search decides {what}", kind.word());
                let help = format!("leave out the parameter, or `{}` of `vary`", kind.word());
                return Err(context.error(span, message, help));
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Checks that the scenario has a value at a path, or takes a new one there as `--set` does; returns the value.
fn path(context: &mut Context, files: &mut Files, entry: &Entry, scenario: ScenarioParts<'_>) -> Read<Option<Value>> {
    let path = Path::at(context, &entry.key, entry.key_span)?.in_scenario(scenario.root);
    if let Some(span) = path.starts_with("optimize") {
        return Err(context.error(span, "`optimize` cannot vary itself", "name another value of the scenario"));
    }
    let below = path.below("topology");
    let (tree, path) = match (&below, scenario.topology_file) {
        (Some(below), Some(tree)) => (tree, below),
        _ => (scenario.root, &path),
    };
    reach::check(context, files, tree, path)?;
    reach::find(context, files, tree, path)
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
    let fields = context.fields(value, &what, &RANGE)?;
    let text = |context: &mut Context, key: &str| {
        let value = fields.require(context, key)?;
        context.text(value, &format!("`{key}` of {what}")).map(str::to_owned)
    };
    let (from, to) = (text(context, "from"), text(context, "to"));
    let read = match (fields.get("step"), fields.get("factor")) {
        (Some(_), None) => text(context, "step").and_then(|step| Ok(Range::by_step(&from?, &to?, &step))),
        (None, Some(_)) => text(context, "factor").and_then(|factor| Ok(Range::by_factor(&from?, &to?, &factor))),
        (step, _) => {
            let message = format!("{what} needs either `step` or `factor`");
            let help = if step.is_some() { "keep one of the two" } else { "add one, as in `step: 0.05`" };
            Err(context.error(value.span, message, help))
        }
    };
    let wrong = |error: RangeError| context.error(value.span, format!("{what}: {error}"), error.help());
    read?.map(AxisSpec::Range).map_err(wrong)
}
