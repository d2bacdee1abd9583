//! The arbiters that a scenario asks for, their parameters checked against the JSON Schema that each arbiter gives.

use serde_json::{Map, Value as Json};
use weir_plugin_api::Registry;

use crate::Position;
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::schema::{NoNames, Schema};
use crate::yaml::{self, Data, Entry, Value};

/// One arbiter the scenario asks for, parameters checked against its schema, quantities turned into numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct ArbiterSpec {
    /// Name in the registry.
    pub name: String,
    /// The parameters given (not the defaults), as a JSON object.
    pub params: Map<String, Json>,
    /// Where it stands in the file; `None` when given on the command line, or by default.
    pub position: Option<Position>,
}

/// The arbiters of the file, or of the command line in their place; those of the file are checked, used or not.
pub(crate) fn read(
    context: &mut Context,
    given: Option<&Value>,
    options: &[String],
    registry: &Registry,
) -> Read<Vec<ArbiterSpec>> {
    let written = written(context, given, registry);
    if options.is_empty() {
        return written;
    }
    let asked = context.each(options, |context, text| option(context, text, registry));
    let (written, asked) = (written?, asked?);
    if let Some(given) = given {
        for spec in asked.iter().filter(|spec| spec.params.is_empty()) {
            let left = written.iter().find(|w| w.name == spec.name && !w.params.is_empty());
            left.inspect(|left| warn_of_defaults(context, given, left));
        }
    }
    Ok(asked)
}

/// A name on the command line stands for the arbiter with its defaults, whatever the file gives one of this name.
fn warn_of_defaults(context: &mut Context, given: &Value, left: &ArbiterSpec) {
    let name = &left.name;
    let params: Vec<String> = left.params.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    context.warn(
        given.span,
        format!("`--arbiter {name}` runs {name} with its default parameters, not with these"),
        format!("leave `--arbiter` out, or give them as well: --arbiter '{{name: {name}, {}}}'", params.join(", ")),
    );
}

fn written(context: &mut Context, given: Option<&Value>, registry: &Registry) -> Read<Vec<ArbiterSpec>> {
    match given {
        None => {
            let default = |name: &str| ArbiterSpec { name: name.to_owned(), params: Map::new(), position: None };
            Ok(registry.default_arbiter().map(default).into_iter().collect())
        }
        Some(Value { data: Data::Sequence(items), span }) => {
            if items.is_empty() {
                return Err(context.error(*span, "the list of arbiters is empty", "name one, or leave `arbiter` out"));
            }
            context.each(items, |context, item| spec(context, item, registry))
        }
        Some(value) => Ok(vec![spec(context, value, registry)?]),
    }
}

/// An arbiter of the command line: a name or a map.
fn option(context: &mut Context, text: &str, registry: &Registry) -> Read<ArbiterSpec> {
    let source = context.sources.add("--arbiter", text);
    let value = yaml::parse(context, source)?;
    Ok(ArbiterSpec { position: None, ..spec(context, &value, registry)? })
}

fn spec(context: &mut Context, value: &Value, registry: &Registry) -> Read<ArbiterSpec> {
    let (name_value, entries): (&Value, &[Entry]) = match &value.data {
        Data::Mapping(entries) => match entries.iter().find(|e| &*e.key == "name") {
            Some(entry) => (&entry.value, entries),
            None => {
                let help = "write `{ name: NAME, PARAMETER: VALUE }`, or the name alone";
                return Err(context.error(value.span, "an arbiter needs the key `name`", help));
            }
        },
        _ => (value, &[]),
    };
    let name = context.text(name_value, "the name of an arbiter")?;
    let Some(entry) = registry.get(name) else {
        let help = context.suggestion(name, registry.iter().map(|a| &*a.name).collect::<Vec<_>>(), "arbiters");
        let problem = Problem::new(format!("no arbiter is named {}", quoted(name)), help);
        return Err(context.unknown(name_value.span, name, problem));
    };
    let schema: Json = serde_json::from_str(&entry.params_schema).unwrap_or_else(|_| Json::Object(Map::new()));
    let given = entries.iter().filter(|e| &*e.key != "name");
    let params = Schema::new(&schema).object(context, &mut NoNames, value.span, given, &format!("arbiter `{name}`"))?;
    Ok(ArbiterSpec { name: name.to_owned(), params, position: Some(context.sources.position(value.span)) })
}
