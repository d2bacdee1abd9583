//! One operation of a model as it was written, and what a model answers about it.

use serde_json::{Map, Value as Json};
use weir_plugin_api::{CallError, ModelEntry, SimTime};

use super::check::PlanError;
use super::tasks::Shares;
use crate::context::{Context, Problem, Reported};
use crate::diagnostic::quoted;
use crate::schema::Schema;
use crate::source::Span;
use crate::workload::attributes::PlacedId;
use crate::workload::expansion::JOIN;
use crate::yaml::{Data, Value};

/// The key of the details under which a model warns.
const WARNINGS: &str = "warnings";

/// What is to be planned.
pub(in crate::workload) struct Request<'a> {
    /// The key that it stands under.
    pub(in crate::workload) key: &'a str,
    pub(in crate::workload) entry: &'a ModelEntry,
    /// Id, and where it stands.
    pub(in crate::workload) id: PlacedId,
    /// The map with the parameters, to point at them.
    pub(in crate::workload) params_at: &'a Value,
    pub(in crate::workload) params: Map<String, Json>,
    /// Of a plain transfer: what it is without the model.
    pub(in crate::workload) transfer: Option<Json>,
    /// When it is released.
    pub(in crate::workload) start: SimTime,
    pub(in crate::workload) after: Vec<PlacedId>,
    /// Weight and priority of what it carries.
    pub(in crate::workload) shares: Shares,
    /// Times that it is done, one after the other.
    pub(in crate::workload) repeat: Option<u64>,
    /// Where it says that what it leaves open is tried under the scenario's other traffic.
    pub(in crate::workload) under_load: Option<Span>,
}

impl Request<'_> {
    /// The operation as the model is given it.
    pub(super) fn json(&self) -> Json {
        let mut json = Map::new();
        json.insert("operation".to_owned(), self.key.into());
        json.insert("id".to_owned(), (*self.id.text).into());
        if let Some(transfer) = &self.transfer {
            json.insert("transfer".to_owned(), transfer.clone());
        }
        json.insert("params".to_owned(), Json::Object(self.params.clone()));
        Json::Object(json)
    }

    /// `put `p``.
    pub(super) fn what(&self) -> String {
        format!("{} {}", self.key, quoted(&self.id.text))
    }

    /// An answer that is no answer.
    pub(super) fn failed(&self, context: &mut Context, schema: Schema<'_>, error: &CallError) -> Reported {
        let message = match error {
            CallError::Refused(text) => return self.refused(context, schema, text),
            error => format!("model `{}` failed at {}: {error}", self.entry.name, self.what()),
        };
        context.plugin_error(self.id.span, Problem::new(message, "report it to its author"))
    }

    /// A refusal, at the key that it begins with.
    fn refused(&self, context: &mut Context, schema: Schema<'_>, text: &str) -> Reported {
        let (key, span, text) = self.placed(context, schema, text);
        let (what, usual) = match key {
            Some(key) => (format!("{} of {}", quoted(key), self.what()), format!("change {}", quoted(key))),
            None => (self.what(), "change the operation".to_owned()),
        };
        let (message, help) = text.split_once("; ").unwrap_or((text, &usual));
        context.problem(span, &what, Problem::new(message, help))
    }

    /// The warnings in the details of a model, each at the key that it begins with. None names the operation: one that is
    /// repeated has the same warning each time, which is shown once.
    pub(super) fn warn(&self, context: &mut Context, schema: Schema<'_>, details: &Map<String, Json>) {
        let texts = details.get(WARNINGS).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        for text in texts {
            let (key, span, text) = self.placed(context, schema, text);
            let (message, help) = text.split_once("; ").unwrap_or((text, "change the operation"));
            let of = key.map_or_else(String::new, |key| format!("{} of ", quoted(key)));
            context.warn(span, format!("{of}{}: {message}", quoted(self.key)), help);
        }
    }

    /// The key that a text of the model begins with, where that stands, and the rest of the text.
    fn placed<'t>(&self, context: &Context, schema: Schema<'_>, text: &'t str) -> (Option<&'t str>, Span, &'t str) {
        let known = |path: &&str| path.split(['.', '[']).next().is_some_and(|key| schema.keys().any(|k| k == key));
        let keyed = text.split_once(": ").and_then(|(path, rest)| Some((Some(path).filter(known)?, rest)));
        match keyed {
            Some((path, rest)) => match self.item(context, path) {
                Some((list, item)) => (Some(list), item, rest),
                None => (Some(path), self.place(path).unwrap_or(self.params_at.span), rest),
            },
            None => (None, self.id.span, text),
        }
    }

    /// Of a path such as `read.curve[3]` that of the list, and where its item stands, or the row of the table that it names: the
    /// place says which one it is.
    fn item<'t>(&self, context: &Context, path: &'t str) -> Option<(&'t str, Span)> {
        let (list, item) = path.strip_suffix(']')?.rsplit_once('[')?;
        let row = context.rows.row(self.place(list)?, item.parse().ok()?);
        Some((list, row.or_else(|| self.place(path))?))
    }

    /// Where the value of a dotted path stands, or the last that is given of the maps and lists around it.
    fn place(&self, path: &str) -> Option<Span> {
        let (mut at, mut found) = (self.params_at, None);
        for part in path.split(['.', '[']).map(|part| part.trim_end_matches(']')) {
            let next = match &at.data {
                Data::Mapping(entries) => entries.iter().find(|e| &*e.key == part).map(|e| &e.value),
                Data::Sequence(items) => part.parse().ok().and_then(|i: usize| items.get(i)),
                Data::Scalar(_) => None,
            };
            let Some(next) = next else { break };
            (at, found) = (next, Some(next.span));
        }
        found
    }

    /// A plan that is refused. Where bytes cannot go, the scenario is as likely to be wrong as the model.
    pub(super) fn wrong_plan(
        &self,
        context: &mut Context,
        error: &PlanError,
        name: impl Fn(weir_plugin_api::NodeId) -> String,
    ) -> Reported {
        let carries = |task: &str| format!("{}: its task {} carries bytes", self.what(), quoted(task));
        let (message, help) = match error {
            PlanError::Outside { task, node } => {
                let node = quoted(&name(*node));
                let message = format!("{} from or to {node}, a device without links", carries(task));
                (message, format!("add {node} to the topology, or give times instead of the fabric"))
            }
            PlanError::Forwards { task, node } => {
                let message = format!("{} from or to {}, which only forwards", carries(task), quoted(&name(*node)));
                (message, "name a device: gpu, fpga, cpu, nic or host".to_owned())
            }
            PlanError::NoRoute { task, from, to } if from == to => {
                let message = format!("{} from {} to itself", carries(task), quoted(&name(*from)));
                (message, "name two different devices".to_owned())
            }
            PlanError::NoRoute { task, from, to } => {
                let (from, to) = (quoted(&name(*from)), quoted(&name(*to)));
                let message = format!("{}, but {to} cannot be reached from {from}", carries(task));
                (message, format!("give times instead of the fabric, or {JOIN}"))
            }
            // Too much of what the scenario asks for, as likely as a wrong model.
            PlanError::Time { task, what, value } if value.is_finite() && *value > 0.0 => {
                let message = format!("{}: the {what} of its task {} is above 100 days", self.what(), quoted(task));
                (message, "check sizes, times and times per byte".to_owned())
            }
            PlanError::Bytes { task, bytes } => {
                let message = format!("{}: its task {} carries {bytes} bytes", self.what(), quoted(task));
                (message, "give at most 2^53 bytes (8PiB) for one task".to_owned())
            }
            error => return self.wrong_answer(context, &format!("planned {error}")),
        };
        context.error(self.id.span, message, help)
    }

    /// Any other answer that breaks the contract.
    pub(super) fn wrong_answer(&self, context: &mut Context, answer: &str) -> Reported {
        let message = format!("{}: model `{}` {answer}", self.what(), self.entry.name);
        context.plugin_error(self.id.span, Problem::new(message, "report it to its author"))
    }
}
