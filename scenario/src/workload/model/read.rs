//! Reads operations of models: the host's keys, and the others by the model's schema.

use serde_json::Value as Json;
use weir_plugin_api::ModelEntry;

use super::check::TaskNames;
use super::names::Site;
use super::request::Request;
use super::tasks::Shares;
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::format::{Key, Shape, optional};
use crate::schema::Schema;
use crate::workload::after::AFTER;
use crate::workload::attributes::{Attributes, Ends, ID, PlacedId, START, start};
use crate::workload::expansion::Expansion;
use crate::yaml::{Data, Entry, Value};

/// Keys of every operation of a model that are not the model's.
pub(crate) const HOST: [Key; 4] = [ID, START, AFTER, UNDER];

/// What alternatives are tried with.
const UNDER: Key = optional(
    "under",
    Shape::Choice(|| [ALONE, LOAD].map(Into::into).to_vec()),
    "What the alternatives of `auto` are tried with: nothing else (alone, the default), or the rest of the scenario (load).",
);
const ALONE: &str = "alone";
const LOAD: &str = "load";

/// `model` of a transfer, or of a pattern for all of its messages.
pub(in crate::workload) struct TransferModel<'a> {
    entry: &'a ModelEntry,
    /// As it was written, to point at it.
    value: &'a Value,
    params: serde_json::Map<String, Json>,
}

/// A plain transfer that goes by a model, without the model.
pub(in crate::workload) struct Plain {
    pub(in crate::workload) ends: Ends,
    pub(in crate::workload) bytes: u64,
    pub(in crate::workload) attributes: Attributes,
    pub(in crate::workload) repeat: Option<u64>,
}

impl<'a> Expansion<'a> {
    /// An operation under a key that a model serves.
    pub(in crate::workload) fn modelled(
        &mut self,
        context: &mut Context,
        files: &mut Files,
        entry: &'a ModelEntry,
        item: &'a Entry,
        index: usize,
    ) -> Read<()> {
        let (key, value) = (&*item.key, &item.value);
        let article = if key.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let what = format!("{article} {key}");
        let schema = self.models.schema(entry);
        let Some(schema) = Schema::new(&schema).property(key) else {
            return Err(self.no_schema(context, entry, key, value));
        };
        let host = HOST.map(|key| key.name);
        let keys = host.into_iter().chain(schema.keys().filter(|key| !host.contains(key)));
        let fields = context.fields_among(value, &what, keys)?;
        let id = self.id(context, &fields, index);
        let start = start(context, &fields);
        let after = self.after(context, fields.get("after"));
        let under_load = fields.parse_or(context, UNDER.name, false, |text| match text {
            ALONE => Ok(false),
            LOAD => Ok(true),
            _ => Err(Problem::new(format!("{} is neither", quoted(text)), "write `alone` or `load`")),
        });
        let params = self.params(context, files, schema, value, &host, &what);
        self.traffic.fixed(fields.span);
        let request = Request {
            key,
            entry,
            id: id?,
            params_at: value,
            params: params?,
            transfer: None,
            start: start?,
            after: after?,
            shares: Shares { weight: Attributes::USUAL.weight, priority: Attributes::USUAL.priority },
            repeat: None,
            under_load: under_load?.then(|| fields.span_of(UNDER.name)),
        };
        self.operation(context, request)
    }

    /// A plain transfer with `model`.
    pub(in crate::workload) fn transfer_by_model(
        &mut self,
        context: &mut Context,
        files: &mut Files,
        fields: &Fields<'_>,
        model: &'a Value,
        index: usize,
        plain: Plain,
    ) -> Read<()> {
        let id = self.id(context, fields, index)?;
        let after = self.after(context, fields.get("after"))?;
        let model = self.transfer_model(context, files, model)?;
        let Plain { ends: Ends { from, to }, repeat, .. } = plain;
        if from == to {
            let problem = self.no_route(from, to);
            return Err(context.error(fields.span_of("to"), problem.message, problem.help));
        }
        let request = self.transfer_request(&model, id, plain);
        self.operation(context, Request { after, repeat, ..request })
    }

    /// Adds a message of a pattern that goes by a model; returns the names of its tasks.
    pub(in crate::workload) fn message_by_model(
        &mut self,
        context: &mut Context,
        model: &TransferModel<'a>,
        id: PlacedId,
        plain: Plain,
    ) -> Read<TaskNames> {
        let request = self.transfer_request(model, id, plain);
        self.planned(context, &request)
    }

    pub(in crate::workload) fn transfer_model(
        &mut self,
        context: &mut Context,
        files: &mut Files,
        model: &'a Value,
    ) -> Read<TransferModel<'a>> {
        const NAME: [&str; 1] = ["name"];
        let entry = self.model_of_transfer(context, model)?;
        let schema = self.models.schema(entry);
        let Some(schema) = Schema::new(&schema).property("transfer") else {
            return Err(self.no_schema(context, entry, "transfer", model));
        };
        let what = format!("model `{}`", entry.name);
        let params = self.params(context, files, schema, model, &NAME, &what)?;
        Ok(TransferModel { entry, value: model, params })
    }

    /// A transfer as its model is asked for it, that waits for nothing and is done once.
    fn transfer_request(&self, model: &TransferModel<'a>, id: PlacedId, plain: Plain) -> Request<'a> {
        let Plain {
            ends: Ends { from, to }, bytes, attributes: Attributes { start, limit, weight, priority, .. }, ..
        } = plain;
        let slots = self.topology.engines.send_slots(from);
        let limit = Some(limit).filter(|limit| limit.is_finite());
        let transfer =
            serde_json::json!({ "from": from.0, "to": to.0, "bytes": bytes, "limit": limit, "slots": slots });
        Request {
            key: "transfer",
            entry: model.entry,
            id,
            params_at: model.value,
            params: model.params.clone(),
            transfer: Some(transfer),
            start,
            after: Vec::new(),
            shares: Shares { weight, priority },
            repeat: None,
            under_load: None,
        }
    }

    /// The model that `model` of a transfer names.
    fn model_of_transfer(&self, context: &mut Context, model: &Value) -> Read<&'a ModelEntry> {
        let named = match &model.data {
            Data::Mapping(entries) => entries.iter().find(|e| &*e.key == "name").map(|e| &e.value),
            _ => Some(model),
        };
        let Some(named) = named else {
            let help = "write `model: { name: loggp, … }`";
            return Err(context.error(model.span, "`model` of a transfer needs the key `name`", help));
        };
        let name = context.text(named, "`model` of a transfer")?;
        let registry = self.models.registry;
        let serves = |entry: &&ModelEntry| entry.operations.iter().any(|key| key == "transfer");
        registry.model(name).filter(serves).ok_or_else(|| {
            let names: Vec<&str> = registry.models().filter(serves).map(|entry| entry.name.as_str()).collect();
            let message = match registry.model(name) {
                Some(_) => format!("model {} does not serve transfers", quoted(name)),
                None => format!("no model is named {}", quoted(name)),
            };
            let help = context.suggestion(name, names, "models of transfers");
            context.unknown(named.span, name, Problem::new(message, help))
        })
    }

    /// The parameters of a map but for the keys of the host.
    fn params(
        &mut self,
        context: &mut Context,
        files: &mut Files,
        schema: Schema<'_>,
        value: &Value,
        host: &[&str],
        what: &str,
    ) -> Read<serde_json::Map<String, Json>> {
        let entries: &[Entry] = if let Data::Mapping(entries) = &value.data { entries } else { &[] };
        let params = entries.iter().filter(|e| !host.contains(&&*e.key));
        let (topology, has_topology) = (self.topology, self.has_topology);
        let mut site = Site { topology, has_topology, known: &mut self.known, ranks: &mut self.ranks, files };
        schema.object(context, &mut site, value.span, params, what)
    }

    fn no_schema(
        &self,
        context: &mut Context,
        entry: &ModelEntry,
        key: &str,
        value: &Value,
    ) -> crate::context::Reported {
        let message = format!("model `{}` has no schema for `{key}`", entry.name);
        let problem = Problem::new(message, "report it to its author");
        context.plugin_error(value.span, problem)
    }
}
