//! Patterns: many transfers from one rule, in the order that the format fixes.

mod grid;
mod keys;
mod list;
mod order;
mod random;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use weir_plugin_api::{NodeId, SimDuration, SimTime};

use super::attributes::{Attributes, Ends, PlacedId, read_id, start};
use super::expansion::Expansion;
use super::group::{Names, TaskKind};
use super::messages::{Pair, Pairs, Plans};
use super::model::read::{Plain, TransferModel};
use super::ranks::devices;
use super::routing::rules::{Routing, Way};
use super::traffic::Made;
use crate::context::{Context, Fields, Problem, Read, Reported};
use crate::files::Files;
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::Value;
use grid::Grid;
pub(super) use keys::PATTERN;

/// One transfer of a pattern, by ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Message {
    from: u32,
    to: u32,
    bytes: u64,
    /// After the pattern's own start.
    start: SimTime,
}

/// A rule, checked, that can say how many messages it makes before it makes them.
enum Rule {
    Halo(Grid),
    Torus(Grid),
    Hypercube { bytes: Vec<u64>, unit: u64 },
    Ring { bytes: u64 },
    AllToAll { bytes: u64 },
    Scatter { root: u32, bytes: u64 },
    Gather { root: u32, bytes: u64 },
    Graph { edges: list::Edges, unit: u64 },
    Random(random::Random),
}

/// Who sends the messages of a pattern, and when.
struct Sending<'a> {
    id: PlacedId,
    span: Span,
    ranks: Rc<[NodeId]>,
    begin: SimTime,
    after: Vec<PlacedId>,
    routing: Routing,
    /// In which order devices send, where the pattern says it.
    order: Option<&'a Value>,
    model: Option<TransferModel<'a>>,
}

impl<'a> Expansion<'a> {
    pub(super) fn pattern(&mut self, context: &mut Context, files: &mut Files, value: &'a Value) -> Read<()> {
        let (kind, own) = keys::kind(context, value)?;
        let what = format!("a pattern of the kind {kind}");
        let fields = context.fields_among(value, &what, keys::with(own))?;
        let sending = self.sending(context, files, kind, &fields, value)?;
        let ranks = sending.ranks.len() as u32;
        let rule = rule(context, kind, &fields, ranks)?;
        let count = rule.count(ranks);
        let transfers = self.allowed(context, fields.span, count)?;
        if let Rule::Random(_) = rule {
            self.generator = Some(random::GENERATOR);
        }
        let own_ranks = fields.get("ranks").map(|value| value.span);
        if let Some(span) = own_ranks {
            self.traffic.fixed(span);
        }
        match sending.model {
            // Each plan reserves its own tasks.
            Some(_) => self.planned_messages(context, &rule, sending, own_ranks.is_none()),
            None => {
                self.transfers = transfers;
                self.plain_messages(context, &rule, sending, own_ranks.is_none())
            }
        }
    }

    /// Reads the keys that all kinds have.
    fn sending(
        &mut self,
        context: &mut Context,
        files: &mut Files,
        kind: &str,
        fields: &Fields<'_>,
        value: &'a Value,
    ) -> Read<Sending<'a>> {
        let id = match fields.get("id") {
            Some(value) => read_id(context, value)?,
            None => PlacedId { text: kind.into(), span: fields.span },
        };
        let ranks = match fields.get("ranks") {
            Some(value) => devices(context, self.topology, value, "`ranks`")?,
            None => self.scenario_ranks(context, fields.span)?,
        };
        let begin = start(context, fields)?;
        let after = self.after(context, fields.get("after"))?;
        // From the tree, which lives longer than these fields.
        let model = value.get("model");
        if model.is_some() {
            self.not_routed_by(context, fields)?;
        }
        let routing = self.routing(context, fields)?;
        let model = model.map(|model| self.transfer_model(context, files, model)).transpose()?;
        let order = value.get("order");
        Ok(Sending { id, span: fields.span, ranks, begin, after, routing, order, model })
    }

    /// Adds the transfers of a rule; `counted` where they go between the scenario's ranks.
    fn plain_messages(&mut self, context: &mut Context, rule: &Rule, by: Sending<'a>, counted: bool) -> Read<()> {
        let first = self.next();
        let pairs = self.messages(context, rule, &by, &mut |this, context, sent| {
            let attributes = Attributes { start: sent.start, ..Attributes::USUAL };
            let name = || sent.pair.name(&by.id.text);
            let way = Way { routing: by.routing, via: &[], id: &name };
            this.carry(sent.ends, sent.bytes, attributes, way)
                .map(drop)
                .map_err(|problem| sent.wrong(context, by.span, problem))
        })?;
        let count = pairs.len() as u32;
        self.wait(first, count, by.after);
        if counted {
            self.traffic.pattern(first, count, rule.unit());
        }
        self.add(context, by.id, TaskKind::Transfer, first, Names::Pattern(pairs))
    }

    /// Adds the operations of a rule whose messages go by a model, as transfers with `model` would be.
    fn planned_messages(&mut self, context: &mut Context, rule: &Rule, by: Sending<'a>, counted: bool) -> Read<()> {
        let Some(model) = &by.model else { return Ok(()) };
        let (first, mut plans, mut made) = (self.next(), Plans::default(), Vec::new());
        let pairs = self.messages(context, rule, &by, &mut |this, context, sent| {
            if sent.ends.from == sent.ends.to {
                return Err(sent.wrong(context, by.span, this.no_route(sent.ends.from, sent.ends.to)));
            }
            let release = this.next();
            let attributes = Attributes { start: sent.start, ..Attributes::USUAL };
            let plain = Plain { ends: sent.ends, bytes: sent.bytes, attributes, repeat: None };
            let id = sent.pair.name(&by.id.text).into();
            let names = this.message_by_model(context, model, PlacedId { text: id, span: by.id.span }, plain)?;
            this.wait(release, 1, by.after.clone());
            plans.push(release.0 - first.0, names);
            made.push(Made { from: sent.pair.from, to: sent.pair.to, bytes: sent.bytes, count: 1 });
            Ok(())
        })?;
        if counted {
            self.traffic.messages_of(made, rule.unit());
        }
        self.add(context, by.id, TaskKind::Planned, first, Names::PlannedPattern(pairs, plans))
    }

    /// Hands the messages of a rule over, in order; returns their ranks.
    fn messages(
        &mut self,
        context: &mut Context,
        rule: &Rule,
        by: &Sending<'a>,
        send: &mut dyn FnMut(&mut Self, &mut Context, Sent) -> Read<()>,
    ) -> Read<Pairs> {
        let mut pairs = Vec::new();
        let mut sent = |this: &mut Self, context: &mut Context, (message, occurrence): order::Numbered| {
            let pair = Pair { from: message.from, to: message.to, occurrence };
            let start = by.begin.after(SimDuration(message.start.0));
            if start.is_never() {
                let help = "`start` and `within` add up to at most 100d";
                return Err(context.error(by.span, "a start beyond the horizon", help));
            }
            let ends = Ends { from: by.ranks[pair.from as usize], to: by.ranks[pair.to as usize] };
            send(this, context, Sent { pair, ends, bytes: message.bytes, start })?;
            pairs.push(pair);
            Ok(())
        };
        let ranks = by.ranks.len() as u32;
        match by.order {
            None => rule.each_numbered(ranks, &mut |message| sent(self, context, message))?,
            Some(order) => {
                let mut all = Vec::new();
                rule.each_numbered(ranks, &mut |message| {
                    all.push(message);
                    Ok(())
                })?;
                order::arrange(context, self.topology, &by.ranks, order, &mut all)?;
                all.into_iter().try_for_each(|message| sent(self, context, message))?;
            }
        }
        Ok(Pairs::new(pairs))
    }
}

#[derive(Clone, Copy)]
struct Sent {
    pair: Pair,
    ends: Ends,
    bytes: u64,
    start: SimTime,
}

impl Sent {
    fn wrong(&self, context: &mut Context, span: Span, problem: Problem) -> Reported {
        context.problem(span, &format!("from rank {} to rank {}", self.pair.from, self.pair.to), problem)
    }
}

/// Reads the rule of a kind for a number of ranks.
fn rule(context: &mut Context, kind: &str, fields: &Fields<'_>, ranks: u32) -> Read<Rule> {
    Ok(match kind {
        "halo" => Rule::Halo(grid::read(context, fields, ranks)?),
        "torus" => Rule::Torus(grid::read(context, fields, ranks)?),
        "hypercube" => {
            let dimensions = fields.parse(context, "dimensions", |text| units::whole_number(text, 24))? as usize;
            enough(context, fields, "dimensions", 1 << dimensions, ranks)?;
            let (unit, bytes) = list::weighted(context, fields, dimensions)?;
            Rule::Hypercube { bytes, unit }
        }
        "ring" => Rule::Ring { bytes: size(context, fields, ranks)? },
        "all-to-all" => Rule::AllToAll { bytes: size(context, fields, ranks)? },
        "scatter" => Rule::Scatter { root: root(context, fields, ranks)?, bytes: size(context, fields, ranks)? },
        "gather" => Rule::Gather { root: root(context, fields, ranks)?, bytes: size(context, fields, ranks)? },
        "graph" => {
            let (unit, edges) = list::edges(context, fields, ranks)?;
            Rule::Graph { edges, unit }
        }
        _ => Rule::Random(random::read(context, fields, ranks)?),
    })
}

/// `size`, for rules in which every rank takes part.
fn size(context: &mut Context, fields: &Fields<'_>, ranks: u32) -> Read<u64> {
    two_ranks(context, fields, ranks)?;
    fields.parse(context, "size", units::byte_size)
}

fn two_ranks(context: &mut Context, fields: &Fields<'_>, ranks: u32) -> Read<()> {
    if ranks < 2 {
        return Err(context.error(
            fields.span,
            "a pattern needs at least two ranks",
            "name more devices under `ranks`",
        ));
    }
    Ok(())
}

fn root(context: &mut Context, fields: &Fields<'_>, ranks: u32) -> Read<u32> {
    fields.parse_or(context, "root", 0, |text| {
        let root = units::whole_number(text, u64::from(u32::MAX))? as u32;
        let help = format!("there are {ranks} ranks, numbered from 0");
        if root < ranks { Ok(root) } else { Err(Problem::new(format!("there is no rank {root}"), help)) }
    })
}

/// Checks that a rule has the ranks it needs; says so when it leaves some out.
fn enough(context: &mut Context, fields: &Fields<'_>, key: &str, needed: u64, ranks: u32) -> Read<()> {
    let span = fields.span_of(key);
    let help = "name the devices that take part under `ranks`";
    let said = format!("`{key}` needs {needed} ranks; there are {ranks}");
    match needed.cmp(&u64::from(ranks)) {
        std::cmp::Ordering::Greater => Err(context.error(span, said, help)),
        std::cmp::Ordering::Less => {
            context.warn(span, format!("{said}: the last {} take no part", u64::from(ranks) - needed), help);
            Ok(())
        }
        std::cmp::Ordering::Equal => Ok(()),
    }
}

/// Whole bytes of a size times a weight.
fn times(size: &Decimal, weight: &Decimal) -> Result<u64, Problem> {
    units::whole_bytes(&size.product(weight)).map_err(|problem| Problem {
        message: format!("the size times this weight {}", problem.message),
        help: problem.help,
    })
}

impl Rule {
    /// Number of messages, computed without making them.
    fn count(&self, ranks: u32) -> u64 {
        let all = u64::from(ranks);
        match self {
            Self::Halo(grid) => grid.messages(false),
            Self::Torus(grid) => grid.messages(true),
            Self::Hypercube { bytes, .. } => (bytes.len() as u64) << bytes.len(),
            Self::Ring { .. } => all,
            Self::AllToAll { .. } => all.saturating_mul(all - 1),
            Self::Scatter { .. } | Self::Gather { .. } => all - 1,
            Self::Graph { edges, .. } => 2 * edges.len() as u64,
            Self::Random(random) => random.count,
        }
    }

    /// Its `size`, or `unit`: what weights are relative to.
    fn unit(&self) -> u64 {
        match self {
            Self::Halo(grid) | Self::Torus(grid) => grid.unit,
            Self::Hypercube { unit, .. } | Self::Graph { unit, .. } => *unit,
            Self::Ring { bytes }
            | Self::AllToAll { bytes }
            | Self::Scatter { bytes, .. }
            | Self::Gather { bytes, .. } => *bytes,
            Self::Random(random) => random.size.0,
        }
    }

    /// Whether a pair of ranks may occur twice.
    fn repeats(&self) -> bool {
        matches!(self, Self::Torus(_) | Self::Graph { .. } | Self::Random(_))
    }

    /// Makes the messages in order, each with its number between its ranks.
    fn each_numbered(&self, ranks: u32, emit: &mut dyn FnMut(order::Numbered) -> Read<()>) -> Read<()> {
        if !self.repeats() {
            return self.each(ranks, &mut |message| emit((message, 1)));
        }
        let mut seen: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        self.each(ranks, &mut |message| {
            let number = seen.entry((message.from, message.to)).or_insert(0);
            *number += 1;
            emit((message, *number))
        })
    }

    /// Makes the messages in order.
    fn each(&self, ranks: u32, emit: &mut dyn FnMut(Message) -> Read<()>) -> Read<()> {
        let mut send = |from, to, bytes| emit(Message { from, to, bytes, start: SimTime::ZERO });
        match self {
            Self::Halo(grid) => grid.each(false, &mut send),
            Self::Torus(grid) => grid.each(true, &mut send),
            Self::Hypercube { bytes, .. } => {
                let dimensions = bytes.len() as u32;
                (0..1 << dimensions)
                    .try_for_each(|r| (0..dimensions).try_for_each(|b| send(r, r ^ (1 << b), bytes[b as usize])))
            }
            Self::Ring { bytes } => (0..ranks).try_for_each(|r| send(r, (r + 1) % ranks, *bytes)),
            Self::AllToAll { bytes } => {
                let to = |r: u32, k: u32| ((u64::from(r) + u64::from(k)) % u64::from(ranks)) as u32;
                (0..ranks).try_for_each(|r| (1..ranks).try_for_each(|k| send(r, to(r, k), *bytes)))
            }
            Self::Scatter { root, bytes } => (0..ranks).filter(|r| r != root).try_for_each(|r| send(*root, r, *bytes)),
            Self::Gather { root, bytes } => (0..ranks).filter(|r| r != root).try_for_each(|r| send(r, *root, *bytes)),
            Self::Graph { edges, .. } => edges.iter().try_for_each(|&(u, v, bytes)| {
                send(u, v, bytes)?;
                send(v, u, bytes)
            }),
            Self::Random(random) => random.each(ranks, emit),
        }
    }
}
