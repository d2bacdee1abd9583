//! The arbiters that a scenario asks for, their parameters checked against the JSON Schema that each arbiter gives.

mod outside_pcie;
mod parameter;
mod regions;

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use weir_plugin_api::{ArbiterEntry, Registry};
use weir_sim_core::Sharing;

use crate::Position;
use crate::context::{Context, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::packets::PacketPlan;
use crate::schema::{NoNames, Schema};
use crate::source::Span;
use crate::yaml::{self, Data, Entry, Value};
pub use parameter::{ArbiterParameter, ArbiterValues};
use regions::PolicyMap;
pub(crate) use regions::place;
pub use regions::{DEFAULT_KEY, RegionInfo, Regions};

/// From this many transfers on, an arbiter with an incremental side is computed by it (docs/incremental.md). Smaller runs take
/// milliseconds either way, and keep the arbiter's own ends and bottlenecks.
const INCREMENTAL_FROM: usize = 1000;

/// One arbiter the scenario asks for, parameters checked against its schema, quantities turned into numbers.
#[derive(Clone, Debug)]
pub struct ArbiterSpec {
    /// Name in the registry; of a policy per link kind, the map as it can be written.
    pub name: String,
    /// The parameters of the scenario or the command (not the defaults) as policies get them: quantities are numbers.
    pub params: Map<String, Json>,
    /// The same as they are written: quantities are texts with units. Results have these.
    pub written: Map<String, Json>,
    /// Where it stands in the file; `None` when given on the command line, or by default.
    pub position: Option<Position>,
    /// What the registry knows of it, with its constructor.
    pub entry: Arc<ArbiterEntry>,
    /// The parts of the fabric that have a policy each; `None` where one policy has the whole fabric.
    pub regions: Option<Arc<Regions>>,
    /// How packets cross the fabric; `None` where bandwidth is divided by rates.
    pub packets: Option<Arc<PacketPlan>>,
    /// What the registry knows of a policy for the whole fabric that `entry` composes over its connected parts.
    whole: Option<Arc<ArbiterEntry>>,
}

impl ArbiterSpec {
    /// An arbiter of the registry with its default parameters.
    #[must_use]
    pub fn plain(entry: &Arc<ArbiterEntry>) -> Self {
        let (name, entry) = (entry.name.clone(), entry.clone());
        Self {
            name,
            params: Map::new(),
            written: Map::new(),
            position: None,
            entry,
            regions: None,
            packets: None,
            whole: None,
        }
    }

    /// The arbiter as the scenario writes it: the name, or a map.
    #[must_use]
    pub fn text(&self) -> String {
        if self.regions.is_some() || self.written.is_empty() {
            return self.name.clone();
        }
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), |text| yaml::key(text).into_owned());
        let param = |(key, value): (&String, &Json)| format!("{}: {}", yaml::key(key), text(value));
        let params: Vec<String> = self.written.iter().map(param).collect();
        format!("{{name: {}, {}}}", yaml::key(&self.name), params.join(", "))
    }

    /// The parameters as the JSON text that arbiters are made from.
    #[must_use]
    pub fn params_json(&self) -> String {
        Json::Object(self.params.clone()).to_string()
    }

    /// How a run divides the bandwidth: a large one by the incremental side, where there is one, with the peaks of links below
    /// so many transfers. `params` are [`Self::params_json`].
    #[must_use]
    pub fn sharing<'a>(&'a self, params: &'a str, peaks_below: usize) -> Sharing<'a> {
        let incremental = |entry| Sharing::Incremental { entry, params, from: INCREMENTAL_FROM, peaks_below };
        self.entry.incremental.as_ref().map_or(Sharing::ByArbiter, incremental)
    }
}

/// An arbiter as it is written: the links are not known yet.
pub(crate) enum Written {
    /// One policy for the whole fabric.
    Whole(ArbiterSpec),
    /// A policy per link kind.
    PerKind(PolicyMap),
}

/// The arbiters of the file, or of the command line in their place; those of the file are checked, used or not.
pub(crate) fn read(
    context: &mut Context,
    value: Option<&Value>,
    options: &[String],
    registry: &Registry,
) -> Read<Vec<Written>> {
    let written = written(context, value, registry);
    if options.is_empty() {
        return written;
    }
    let asked = context.each(options, |context, text| option(context, text, registry));
    let (written, asked) = (written?, asked?);
    if let Some(value) = value {
        for spec in asked.iter().filter_map(Written::whole).filter(|spec| spec.params.is_empty()) {
            let mut left = written.iter().filter_map(Written::whole);
            let left = left.find(|left| left.name == spec.name && !left.params.is_empty());
            left.inspect(|left| warn_of_defaults(context, value, left));
        }
    }
    Ok(asked)
}

/// A name on the command line stands for the arbiter with its defaults, whatever the file gives one of this name.
fn warn_of_defaults(context: &mut Context, value: &Value, left: &ArbiterSpec) {
    let name = &left.name;
    context.warn(
        value.span,
        format!("`--arbiter {name}` runs {name} with its default parameters, not with these"),
        format!("leave `--arbiter` out, or give them as well: --arbiter '{}'", left.text()),
    );
}

fn written(context: &mut Context, value: Option<&Value>, registry: &Registry) -> Read<Vec<Written>> {
    match value {
        None => {
            let default = registry.default_arbiter().and_then(|name| registry.get(name));
            Ok(default.map(|entry| Written::Whole(ArbiterSpec::plain(entry))).into_iter().collect())
        }
        Some(Value { data: Data::Sequence(items), span }) => {
            if items.is_empty() {
                return Err(context.error(*span, "the list of arbiters is empty", "name one, or leave `arbiter` out"));
            }
            let all = context.each(items, |context, item| one(context, item, registry))?;
            context.warn_of_repeats(items);
            Ok(all)
        }
        Some(value) => Ok(vec![one(context, value, registry)?]),
    }
}

/// A policy for the whole fabric, or one per link kind.
fn one(context: &mut Context, value: &Value, registry: &Registry) -> Read<Written> {
    match &value.data {
        Data::Mapping(entries) if entries.iter().all(|entry| &*entry.key != "name") => {
            PolicyMap::read(context, value, entries, registry).map(Written::PerKind)
        }
        _ => spec(context, value, registry).map(Written::Whole),
    }
}

impl Written {
    fn whole(&self) -> Option<&ArbiterSpec> {
        match self {
            Self::Whole(spec) => Some(spec),
            Self::PerKind(_) => None,
        }
    }
}

/// An arbiter of the command line: a name or a map.
fn option(context: &mut Context, text: &str, registry: &Registry) -> Read<Written> {
    let source = context.sources.add("--arbiter", text);
    let value = yaml::parse(context, source)?;
    let mut written = one(context, &value, registry)?;
    match &mut written {
        Written::Whole(spec) => spec.position = None,
        Written::PerKind(map) => map.position = None,
    }
    Ok(written)
}

fn spec(context: &mut Context, value: &Value, registry: &Registry) -> Read<ArbiterSpec> {
    let (name_value, entries): (&Value, &[Entry]) = match &value.data {
        Data::Mapping(entries) => match entries.iter().find(|e| &*e.key == "name") {
            Some(entry) => (&entry.value, entries),
            None => {
                if let Some(entry) = entries.iter().find(|entry| is_fidelity(&entry.key)) {
                    return Err(refuse_fidelity(context, entry.key_span, &entry.key));
                }
                let help = "write `{ name: NAME, PARAMETER: VALUE }`, or the name alone";
                return Err(context.error(value.span, "an arbiter needs the key `name`", help));
            }
        },
        _ => (value, &[]),
    };
    let name = context.text(name_value, "the name of an arbiter")?;
    let Some(entry) = registry.get(name) else {
        if is_fidelity(name) {
            return Err(refuse_fidelity(context, name_value.span, name));
        }
        let help = context.suggestion(name, registry.iter().map(|a| &*a.name).collect::<Vec<_>>(), "arbiters");
        let problem = Problem::new(format!("no arbiter is named {}", quoted(name)), help);
        return Err(context.unknown(name_value.span, name, problem));
    };
    let schema: Json = serde_json::from_str(&entry.params_schema).unwrap_or_else(|_| Json::Object(Map::new()));
    let entries = entries.iter().filter(|e| &*e.key != "name");
    let own = entries.clone();
    let params = Schema::new(&schema).object(context, &mut NoNames, value.span, own, &format!("arbiter `{name}`"))?;
    let of_entry = |e: &Entry| Some((e.key.to_string(), as_written(&yaml::flow(&e.value), params.get(&*e.key)?)));
    let written = entries.filter_map(of_entry).collect();
    let position = Some(context.sources.position(value.span));
    Ok(ArbiterSpec { params, written, position, ..ArbiterSpec::plain(entry) })
}

fn is_fidelity(word: &str) -> bool {
    matches!(word, "fidelity" | "packet" | "fluid")
}

/// Packets are no policy of a region, and of no arbiter.
fn refuse_fidelity(context: &mut Context, span: Span, word: &str) -> Reported {
    let message = format!("{} is not part of an arbiter: a run sends packets on all links or on none", quoted(word));
    context.error(span, message, "write `fidelity: packet` beside `arbiter`, or name an arbiter here")
}

/// A parameter as results have it: a quantity with its unit, everything else as the policy gets it.
fn as_written(text: &str, value: &Json) -> Json {
    let is_quantity = value.is_number() && serde_json::from_str::<serde_json::Number>(text).is_err();
    if is_quantity { text.into() } else { value.clone() }
}
