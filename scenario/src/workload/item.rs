//! One operation of the workload: transfer, compute, barrier; patterns and traces have modules of their own.

use weir_plugin_api::{NodeId, SimTime};
use weir_sim_core::{EngineId, ServiceId, Task, TaskId, Work};

use super::after::AFTER;
use super::attributes::{Ends, ID, PlacedId, START, attributes, read_id};
use super::expansion::Expansion;
use super::group::{Group, Names, TaskKind};
use super::model::read::Plain;
use super::pattern::PATTERN;
use super::ranks::ENDPOINT;
use super::routing::rules::Way;
use super::routing::{NIC, ROUTING, VIA};
use super::trace::TRACE;
use super::traffic::Made;
use crate::context::{Context, Fields, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::format::{KeyTable, Shape, optional, required};
use crate::units;
use crate::unroll::LISTS;
use crate::yaml::{Data, Entry, Value};

/// An item of the workload: one of the operations that need no model.
pub(crate) static OPERATION: KeyTable = KeyTable::new(
    "operation",
    "One operation, under its name.",
    &[
        optional("transfer", Shape::Map(&TRANSFER), ""),
        optional("pattern", Shape::Map(&PATTERN), ""),
        optional("trace", Shape::Map(&TRACE), ""),
        optional("compute", Shape::Map(&COMPUTE), ""),
        optional("barrier", Shape::Map(&BARRIER), ""),
    ],
);

static TRANSFER: KeyTable = KeyTable::new(
    "transfer",
    "Bytes from one device to another.",
    &[
        ID,
        required("from", Shape::Named(&ENDPOINT), "The source."),
        required("to", Shape::Named(&ENDPOINT), "The destination."),
        required("size", Shape::Named(&units::BYTES), "Payload."),
        START,
        AFTER,
        optional("weight", Shape::Named(&units::WEIGHT), "Share under arbiters that read it; 1 by default."),
        optional("priority", Shape::Whole(&[]), "Larger is served first under arbiters that read it; 0 by default."),
        optional("limit", Shape::Named(&units::BANDWIDTH), "Largest rate."),
        optional(
            "channel",
            Shape::Whole(&[("minimum", 0), ("maximum", 7)]),
            "Virtual channel of its packets, with buffers of its own; 0 by default.",
        ),
        optional(
            "read",
            Shape::Choice(|| vec![true.into(), false.into()]),
            "Whether the destination asks for the data by requests, with an engine of its own.",
        ),
        optional("repeat", Shape::Whole(&[("minimum", 1)]), "id#1, id#2, ... one after the other."),
        ROUTING,
        NIC,
        VIA,
        optional("model", Shape::Registered("transfer_model"), ""),
    ],
);

static COMPUTE: KeyTable = KeyTable::new(
    "compute",
    "A computation, which keeps the compute engine of a device busy.",
    &[
        ID,
        required("device", Shape::Named(&ENDPOINT), "Where it runs."),
        required("time", Shape::Named(&units::TIME), "How long it takes."),
        AFTER,
    ],
);

static BARRIER: KeyTable = KeyTable::new("barrier", "A join, which takes no time.", &[ID, AFTER]);

impl<'a> Expansion<'a> {
    /// Expands the operation at an index of the list.
    pub(super) fn item(&mut self, context: &mut Context, files: &mut Files, item: &'a Value, index: usize) -> Read<()> {
        let help = "write one of `transfer:`, `pattern:`, `trace:`, `compute:`, `barrier:` with its map";
        let Data::Mapping(entries) = &item.data else {
            let message = format!("an operation must be a map with one key, not {}", item.describe());
            return Err(context.error(item.span, message, help));
        };
        let [entry] = &entries[..] else {
            let message = format!("an operation must have one key, not {}", entries.len());
            let span = entries.get(1).map_or(item.span, |e| e.key_span);
            return Err(context.error(span, message, format!("{help}; begin each with `-`")));
        };
        let Entry { key, key_span, value } = entry;
        if self.stream.is_some() && &**key != "trace" {
            let message = format!("{} cannot be streamed: workload[{index}] is not a trace", quoted(key));
            return Err(context.error(*key_span, message, "write it as rows of a trace, or run without --stream"));
        }
        match &**key {
            "transfer" => self.transfer(context, files, value, index),
            "pattern" => self.pattern(context, files, value),
            "trace" => self.trace(context, files, value),
            "compute" => self.compute(context, value, index),
            "barrier" => self.barrier(context, value, index),
            other => match self.models.registry.model_of(other) {
                Some(model) => self.modelled(context, files, model, entry, index),
                None => {
                    let models = self.models.registry.models().flat_map(|entry| &entry.operations);
                    let models = models.map(String::as_str).filter(|&key| key != "transfer");
                    let own = OPERATION.names().chain(LISTS).map(|name| -> &str { name });
                    let known: Vec<&str> = own.chain(models).collect();
                    let help = context.suggestion(other, known, "operations");
                    Err(context.unknown(
                        *key_span,
                        other,
                        Problem::new(format!("unknown operation {}", quoted(other)), help),
                    ))
                }
            },
        }
    }

    fn transfer(&mut self, context: &mut Context, files: &mut Files, value: &'a Value, index: usize) -> Read<()> {
        let fields = context.fields(value, "a transfer", &TRANSFER)?;
        let plain = self.plain(context, &fields);
        if let Some(model) = fields.get("model") {
            self.not_routed_by(context, &fields)?;
            if let Some(entry) = ["channel", "read"].iter().find_map(|key| fields.entry(key)) {
                let message = format!("`{}` has no effect on a transfer with a model", entry.key);
                return Err(context.error(entry.key_span, message, "leave one of them out"));
            }
            return self.transfer_by_model(context, files, &fields, model, index, plain?);
        }
        let id = self.id(context, &fields, index);
        let after = self.after(context, fields.get("after"));
        let (routing, plain) = (self.routing(context, &fields), plain?);
        let via = self.via(context, &fields, plain.ends);
        let (id, after, routing, via) = (id?, after?, routing?, via?);
        let span = id.span;
        let count = plain.repeat.unwrap_or(1);
        self.reserve(context, fields.get("repeat").map_or(span, |v| v.span), count)?;
        let first = self.next();
        let names = if plain.repeat.is_some() { Names::Repeat } else { Names::Own };
        let place = fields.span_of(if via.is_empty() { "to" } else { VIA.name });
        for i in 0..count {
            let name = || names.of(&id.text, i as u32).into_owned();
            let way = Way { routing, via: &via, id: &name };
            let task = self.carry(plain.ends, plain.bytes, plain.attributes, way);
            let task = task.map_err(|problem| context.error(place, problem.message, problem.help))?;
            if i > 0 {
                self.builder.wait(task, TaskId(task.0 - 1));
            }
        }
        self.wait(first, 1, after);
        self.add(context, id, TaskKind::Transfer, first, names)
    }

    /// What every transfer has, by whatever model.
    fn plain(&mut self, context: &mut Context, fields: &Fields<'_>) -> Read<Plain> {
        let from = fields.require(context, "from").and_then(|v| self.end(context, v, "`from` of a transfer"));
        let to = fields.require(context, "to").and_then(|v| self.end(context, v, "`to` of a transfer"));
        let bytes = fields.parse(context, "size", units::byte_size);
        let attributes = attributes(context, fields);
        let repeat = self.repeat(context, fields);
        match (from, to, bytes, attributes, repeat) {
            (Ok(from), Ok(to), Ok(bytes), Ok(attributes), Ok(repeat)) => {
                let made = from.1.zip(to.1).map(|(from, to)| Made { from, to, bytes, count: repeat.unwrap_or(1) });
                match made {
                    Some(made) => self.traffic.transfer(made),
                    None => self.traffic.fixed(fields.span),
                }
                Ok(Plain { ends: Ends { from: from.0, to: to.0 }, bytes, attributes, repeat })
            }
            _ => Err(Reported),
        }
    }

    fn compute(&mut self, context: &mut Context, value: &Value, index: usize) -> Read<()> {
        let fields = context.fields(value, "a compute", &COMPUTE)?;
        let id = self.id(context, &fields, index)?;
        let device = fields.require(context, "device").and_then(|v| self.end(context, v, "`device` of a compute"));
        let time = fields.parse(context, "time", units::duration);
        let after = self.after(context, fields.get("after"))?;
        let work = Work::Lasts(time?);
        let (device, _) = device?;
        let engine = self.topology.engines.of_computation(&mut self.builder, device).map_err(|differ| {
            let problem = self.slots_differ(&differ);
            context.error(fields.span, problem.message, problem.help)
        })?;
        let task = self.builder.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work });
        self.wait(task, 1, after);
        self.add(context, id, TaskKind::Compute, task, Names::Own)
    }

    fn barrier(&mut self, context: &mut Context, value: &Value, index: usize) -> Read<()> {
        let fields = context.fields(value, "a barrier", &BARRIER)?;
        let id = self.id(context, &fields, index)?;
        let after = self.after(context, fields.get("after"))?;
        let work = Work::Nothing { counted: true };
        let task =
            self.builder.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work });
        self.wait(task, 1, after);
        self.add(context, id, TaskKind::Barrier, task, Names::Own)
    }

    /// A device by its name, or by its rank, which is returned too.
    fn end(&mut self, context: &mut Context, value: &Value, what: &str) -> Read<(NodeId, Option<u32>)> {
        if !matches!(value.data, Data::Mapping(_)) {
            return self.device(context, value, what).map(|device| (device, None));
        }
        self.ranks.one(context, self.topology, value, what).map(|(rank, device)| (device, Some(rank)))
    }

    /// The id that is given, with its place, or one made of the place in the list.
    pub(super) fn id(&self, context: &mut Context, fields: &Fields<'_>, index: usize) -> Read<PlacedId> {
        match fields.get("id") {
            Some(value) => read_id(context, value),
            None => Ok(PlacedId { text: format!("workload[{index}]").into(), span: fields.span }),
        }
    }

    /// Adds the group of all tasks since `first`.
    pub(super) fn add(
        &mut self,
        context: &mut Context,
        id: PlacedId,
        kind: TaskKind,
        first: TaskId,
        names: Names,
    ) -> Read<()> {
        let PlacedId { text: id, span } = id;
        let count = self.next().0 - first.0;
        let message = format!("the id {} is given twice", quoted(&id));
        self.groups.add(Group { first: first.0, count, kind, span, id, names }).map_err(|other| {
            if other == span {
                let help = "a group makes it several times: put a variable into the id, as in `a{i}`";
                return context.error(span, message, help);
            }
            let notes = vec![("first given at".to_owned(), other)];
            context.error_with_notes(span, Problem::new(message, "give each operation its own id"), notes)
        })
    }

    fn repeat(&mut self, context: &mut Context, fields: &Fields<'_>) -> Read<Option<u64>> {
        fields.parse_or(context, "repeat", None, |text| match units::whole_number(text, u64::MAX)? {
            0 => Err(Problem::new("`0` is too few", "give at least 1, or remove the transfer")),
            n => Ok(Some(n)),
        })
    }
}
