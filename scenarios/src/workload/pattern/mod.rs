//! Patterns: many transfers from one rule, in the order that the format fixes.

mod grid;
mod list;
mod random;

use std::rc::Rc;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use weir_plugin_api::{NodeId, SimDuration, SimTime};

use super::group::Names;
use super::item::{given_id, start};
use super::ranks::devices;
use super::{Attributes, Expansion};
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::scenario::TaskKind;
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::{Data, Value};
use grid::Grid;

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

/// The kinds, with the keys of each beside the common ones.
const KINDS: [(&str, &[&str]); 9] = [
    ("halo", &["size", "grid", "weights", "axis_order"]),
    ("torus", &["size", "grid", "weights", "axis_order", "wrap2"]),
    ("hypercube", &["size", "dimensions", "weights"]),
    ("ring", &["size"]),
    ("all-to-all", &["size"]),
    ("scatter", &["size", "root"]),
    ("gather", &["size", "root"]),
    ("graph", &["edges", "unit"]),
    ("random", &["size", "count", "seed", "within"]),
];
const COMMON: [&str; 5] = ["kind", "id", "ranks", "start", "after"];

impl Expansion<'_> {
    /// Expands a pattern.
    pub(super) fn pattern(&mut self, context: &mut Context, value: &Value) -> Read<()> {
        let (kind, keys) = kind(context, value)?;
        let what = format!("a pattern of the kind {kind}");
        let keys: Vec<&str> = COMMON.iter().chain(keys).copied().collect();
        let fields = context.fields(value, &what, &keys)?;
        let id = match fields.get("id") {
            Some(value) => given_id(context, value)?,
            None => (kind.into(), fields.span),
        };
        let ranks = match fields.get("ranks") {
            Some(value) => devices(context, self.topology, value, "`ranks`")?,
            None => self.scenario_ranks(context, fields.span)?,
        };
        let begin = start(context, &fields)?;
        let after = self.after(context, fields.get("after"))?;
        let rule = rule(context, kind, &fields, ranks.len() as u32)?;
        self.reserve(context, fields.span, rule.count(ranks.len() as u32))?;
        if let Rule::Random(_) = rule {
            self.generator = Some(random::GENERATOR);
        }
        let first = self.next();
        let (pairs, occurrence) = self.messages(context, fields.span, &rule, &ranks, begin)?;
        self.wait(first, pairs.len() as u32, after);
        match fields.get("ranks") {
            Some(value) => self.traffic.fixed(value.span),
            None => self.traffic.pattern(first, pairs.len() as u32, rule.unit()),
        }
        let names = Names::Pattern { pairs, occurrence, index: OnceLock::new() };
        self.add(context, id, TaskKind::Transfer, first, names)
    }

    /// Adds the transfers of a rule; returns the ranks of each and which occurrence of its pair it is.
    #[expect(clippy::type_complexity, reason = "two columns, taken apart at once")]
    fn messages(
        &mut self,
        context: &mut Context,
        span: Span,
        rule: &Rule,
        ranks: &Rc<[NodeId]>,
        begin: SimTime,
    ) -> Read<(Vec<(u32, u32)>, Vec<u32>)> {
        let (mut pairs, mut occurrence) = (Vec::new(), Vec::new());
        let mut seen: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        rule.each(ranks.len() as u32, &mut |message: Message| {
            let pair = (message.from, message.to);
            let ends = (ranks[pair.0 as usize], ranks[pair.1 as usize]);
            let start = begin.after(SimDuration(message.start.0));
            if start.is_never() {
                return Err(context.error(
                    span,
                    "a start beyond the horizon",
                    "`start` and `within` add up to at most 100d",
                ));
            }
            let attributes = Attributes { start, ..Attributes::USUAL };
            self.carry(ends, message.bytes, attributes).map_err(|problem| {
                let what = format!("from rank {} to rank {}", pair.0, pair.1);
                context.problem(span, &what, problem)
            })?;
            pairs.push(pair);
            if rule.repeats() {
                let n = seen.entry(pair).or_insert(0);
                *n += 1;
                occurrence.push(*n);
            }
            Ok(())
        })?;
        if occurrence.iter().all(|&n| n == 1) {
            occurrence = Vec::new();
        }
        Ok((pairs, occurrence))
    }
}

fn kind(context: &mut Context, value: &Value) -> Read<(&'static str, &'static [&'static str])> {
    let Data::Mapping(entries) = &value.data else {
        let message = format!("a pattern must be a map, not {}", value.describe());
        return Err(context.error(value.span, message, "write `pattern: { kind: ring, size: 4MB }`"));
    };
    let Some(entry) = entries.iter().find(|e| &*e.key == "kind") else {
        let help = format!("add `kind: …`, one of {}", KINDS.map(|(kind, _)| kind).join(", "));
        return Err(context.error(value.span, "a pattern needs the key `kind`", help));
    };
    let word = context.text(&entry.value, "the kind of a pattern")?;
    KINDS.into_iter().find(|(kind, _)| *kind == word).ok_or_else(|| {
        let help = context.suggestion(word, KINDS.iter().map(|(kind, _)| *kind), "kinds");
        context.error(entry.value.span, format!("no pattern has the kind {}", quoted(word)), help)
    })
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
    let span = fields.get(key).map_or(fields.span, |v| v.span);
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
