//! One operation of the workload: transfer, compute, barrier; patterns and traces have modules of their own.

use weir_plugin_api::{NodeId, SimTime};
use weir_sim_core::{EngineId, ServiceId, Task, TaskId, Work};

use super::attributes::{PlacedId, attributes, given_id};
use super::expansion::Expansion;
use super::group::{Group, Names, TaskKind};
use super::model::read::Plain;
use super::traffic::Made;
use crate::context::{Context, Fields, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::units;
use crate::yaml::{Data, Entry, Value};

/// Operations that can be read.
pub(crate) const OPERATIONS: [&str; 5] = ["transfer", "pattern", "trace", "compute", "barrier"];
/// Keys of a transfer.
pub(crate) const TRANSFER_KEYS: [&str; 11] =
    ["id", "from", "to", "size", "start", "after", "weight", "priority", "limit", "repeat", "model"];

impl<'a> Expansion<'a> {
    /// Expands the operation at an index of the list.
    pub(super) fn item(&mut self, context: &mut Context, files: &mut Files, item: &'a Value, index: usize) -> Read<()> {
        let help = "write one of `transfer:`, `pattern:`, `trace:`, `compute:`, `barrier:` with its map";
        let Data::Mapping(entries) = &item.data else {
            let message = format!("an operation must be a map with one key, not {}", item.describe());
            return Err(context.error(item.span, message, help));
        };
        let [Entry { key, key_span, value }] = &entries[..] else {
            let message = format!("an operation must have one key, not {}", entries.len());
            let span = entries.get(1).map_or(item.span, |e| e.key_span);
            return Err(context.error(span, message, format!("{help}; begin each with `-`")));
        };
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
                Some(entry) => self.modelled(context, files, entry, (key, value), index),
                None => {
                    let models = self.models.registry.models().flat_map(|entry| &entry.operations);
                    let models = models.map(String::as_str).filter(|&key| key != "transfer");
                    let known: Vec<&str> = OPERATIONS.into_iter().chain(models).collect();
                    let help = context.suggestion(other, known, "operations");
                    Err(context.error(*key_span, format!("unknown operation {}", quoted(other)), help))
                }
            },
        }
    }

    fn transfer(&mut self, context: &mut Context, files: &mut Files, value: &'a Value, index: usize) -> Read<()> {
        let fields = context.fields(value, "a transfer", &TRANSFER_KEYS)?;
        let from = fields.require(context, "from").and_then(|v| self.end(context, v, "`from` of a transfer"));
        let to = fields.require(context, "to").and_then(|v| self.end(context, v, "`to` of a transfer"));
        let bytes = fields.parse(context, "size", units::byte_size);
        let attributes = attributes(context, &fields);
        let repeat = self.repeat(context, &fields);
        let plain = match (from, to, bytes, attributes, repeat) {
            (Ok(from), Ok(to), Ok(bytes), Ok(attributes), Ok(repeat)) => {
                let made = from.1.zip(to.1).map(|(from, to)| Made { from, to, bytes, count: repeat.unwrap_or(1) });
                match made {
                    Some(made) => self.traffic.transfer(made),
                    None => self.traffic.fixed(fields.span),
                }
                Ok(Plain { ends: (from.0, to.0), bytes, attributes, repeat })
            }
            _ => Err(Reported),
        };
        if let Some(model) = fields.get("model") {
            return self.transfer_by_model(context, files, &fields, model, index, plain?);
        }
        let id = self.id(context, &fields, index);
        let after = self.after(context, fields.get("after"));
        let (id, after, plain) = (id?, after?, plain?);
        let span = id.span;
        let count = plain.repeat.unwrap_or(1);
        self.reserve(context, fields.get("repeat").map_or(span, |v| v.span), count)?;
        let first = self.next();
        let place = fields.get("to").map_or(span, |v| v.span);
        for i in 0..count {
            let task = self.carry(plain.ends, plain.bytes, plain.attributes);
            let task = task.map_err(|problem| context.error(place, problem.message, problem.help))?;
            if i > 0 {
                self.builder.wait(task, TaskId(task.0 - 1));
            }
        }
        self.wait(first, 1, after);
        let names = if plain.repeat.is_some() { Names::Repeat } else { Names::Own };
        self.add(context, id, TaskKind::Transfer, first, names)
    }

    fn compute(&mut self, context: &mut Context, value: &Value, index: usize) -> Read<()> {
        let fields = context.fields(value, "a compute", &["id", "device", "time", "after"])?;
        let id = self.id(context, &fields, index)?;
        let device = fields.require(context, "device").and_then(|v| self.end(context, v, "`device` of a compute"));
        let time = fields.parse(context, "time", units::duration);
        let after = self.after(context, fields.get("after"))?;
        let work = Work::Lasts(time?);
        let (device, _) = device?;
        let engine = self.builder.engine(device, "compute", 1).map_err(|error| {
            let problem = self.slots_differ(device, &error);
            context.error(fields.span, problem.message, problem.help)
        })?;
        let task = self.builder.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work });
        self.wait(task, 1, after);
        self.add(context, id, TaskKind::Compute, task, Names::Own)
    }

    fn barrier(&mut self, context: &mut Context, value: &Value, index: usize) -> Read<()> {
        let fields = context.fields(value, "a barrier", &["id", "after"])?;
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
            Some(value) => given_id(context, value),
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
