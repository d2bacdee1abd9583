//! Names in a workload that is written out. An operation `a` of a repeated group becomes `a#1`, `a#2` and so on; within a
//! repetition `after: a` means that of the same repetition, after the group the last.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Place;
use crate::brackets::NAME_BYTES;
use crate::context::{Context, Read};
use crate::source::Span;
use crate::yaml::{Data, Entry, Scalar, Value};

/// The repetitions around an operation, the outermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterations(Vec<Iteration>);

/// One repetition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Iteration {
    /// The group that is repeated: a number of its own for each time that it is written out.
    group: u32,
    /// From 1.
    number: u64,
}

impl Iterations {
    /// How many there are.
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    /// One more, within these.
    pub(super) fn with(&self, group: u32, number: u64) -> Self {
        Self(self.0.iter().copied().chain([Iteration { group, number }]).collect())
    }

    /// The name of what is called so in the file.
    pub(super) fn of(&self, id: &str) -> Box<str> {
        self.of_outer(self.0.len(), id)
    }

    /// The name under the outermost repetitions alone.
    fn of_outer(&self, depth: usize, id: &str) -> Box<str> {
        let mut name = id.to_owned();
        for Iteration { number, .. } in &self.0[..depth] {
            let _ = write!(name, "#{number}");
        }
        name.into()
    }

    /// The last of so many outermost ones; none of none.
    fn innermost(&self, depth: usize) -> Option<Iteration> {
        depth.checked_sub(1).map(|at| self.0[at])
    }
}

/// Ids of operations, and what waits for what.
#[derive(Default)]
pub(super) struct Names {
    /// Ids as they are in the file, with the values of loops.
    ids: FxHashSet<Box<str>>,
    /// Names of operations, with the repetition that they end with.
    defined: FxHashMap<Box<str>, Option<Iteration>>,
    /// What a name means that stands for several repetitions, the last, and the repetition that it ends with.
    last: FxHashMap<Box<str>, (Box<str>, Option<Iteration>)>,
    joins: usize,
    groups: u32,
    /// What operations wait for as groups say it, by index.
    waits: BTreeMap<usize, Vec<Box<str>>>,
    references: Vec<Reference>,
}

/// The ids in `after` of an operation, or of a group that begins with it.
struct Reference {
    item: usize,
    after: Vec<Value>,
    iterations: Iterations,
}

/// Gives the operation of an index the name that it has among all repetitions; returns the one that it has in the file.
pub(super) fn name(kind: &str, fields: &mut Vec<Entry>, span: Span, place: &Place, index: usize) -> String {
    let id = match fields.iter_mut().find(|field| &*field.key == "id") {
        Some(field) => field,
        None => {
            let text = default_id(kind, fields, place, index);
            let value = Value { span, data: Data::Scalar(Scalar { text: text.into(), plain: true }) };
            fields.insert(0, Entry { key: "id".into(), key_span: span, value });
            &mut fields[0]
        }
    };
    // What is wrong with an id that is no text is said when the operation is read.
    let Data::Scalar(scalar) = &mut id.value.data else { return String::new() };
    let base = scalar.text.to_string();
    scalar.text = place.iterations.of(&base);
    base
}

/// What an operation without an id is called, with the values of loops; by its index where that is no id, as it is too long.
fn default_id(kind: &str, fields: &[Entry], place: &Place, index: usize) -> String {
    let text = |key: &str| match &fields.iter().find(|field| &*field.key == key)?.value.data {
        Data::Scalar(scalar) => Some(&*scalar.text),
        _ => None,
    };
    let own = match kind {
        "pattern" => text("kind").map(str::to_owned),
        "trace" => text("file").and_then(|file| Some(Path::new(file).file_stem()?.to_string_lossy().into_owned())),
        _ => None,
    };
    let id = own.unwrap_or_else(|| place.path.clone()) + &place.label;
    if place.iterations.of(&id).len() <= NAME_BYTES { id } else { format!("operation[{index}]") }
}

/// The ids of a value of `after`.
pub(super) fn ids_of(context: &mut Context, after: Value) -> Read<Vec<Value>> {
    let ids = match after.data {
        Data::Sequence(ids) => ids,
        _ => vec![after],
    };
    ids.iter().try_for_each(|id| context.text(id, "an id in `after`").map(drop))?;
    Ok(ids)
}

impl Names {
    /// Notes an operation.
    pub(super) fn define(&mut self, id: &str, iterations: &Iterations) {
        let name = iterations.of(id);
        for depth in 0..iterations.0.len() {
            self.last.insert(iterations.of_outer(depth, id), (name.clone(), iterations.innermost(depth)));
        }
        self.defined.insert(name, iterations.innermost(iterations.depth()));
        if !self.ids.contains(id) {
            self.ids.insert(id.into());
        }
    }

    /// A number for a group that is repeated.
    pub(super) fn new_group(&mut self) -> u32 {
        self.groups += 1;
        self.groups
    }

    /// A name for a barrier that no group asked for.
    pub(super) fn new_join(&mut self) -> String {
        self.joins += 1;
        format!("join[{}]", self.joins - 1)
    }

    /// Notes that an operation waits for these.
    pub(super) fn wait(&mut self, item: usize, names: &[Box<str>]) {
        self.waits.entry(item).or_default().extend_from_slice(names);
    }

    /// Notes the ids in `after` of an operation.
    pub(super) fn refer(&mut self, item: usize, after: Vec<Value>, iterations: &Iterations) {
        self.references.push(Reference { item, after, iterations: iterations.clone() });
    }

    /// What operations wait for, by index, in the order of the file.
    pub(super) fn resolved(mut self) -> Vec<(usize, Value)> {
        let mut all: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
        for Reference { item, after, iterations } in std::mem::take(&mut self.references) {
            for mut id in after {
                if let Data::Scalar(scalar) = &mut id.data
                    && let Some(name) = self.meaning(&scalar.text, &iterations)
                {
                    scalar.text = name;
                }
                all.entry(item).or_default().push(id);
            }
        }
        let text = |text: Box<str>| Value { span: Span::default(), data: Data::Scalar(Scalar { text, plain: true }) };
        for (item, names) in self.waits {
            all.entry(item).or_default().extend(names.into_iter().map(text));
        }
        let listed = |(item, mut ids): (usize, Vec<Value>)| {
            let mut seen = FxHashSet::default();
            ids.retain(|id| matches!(&id.data, Data::Scalar(scalar) if seen.insert(scalar.text.clone())));
            (item, list(ids))
        };
        all.into_iter().map(listed).collect()
    }

    /// The name that a name in `after` means. It is an id of the file, the longest that it begins with, and the rest: numbers of
    /// repetitions, or a part of an operation, as in `a#2`, `a.0-1`, `a/h0` and `a:7`. What is behind the id counts within the
    /// innermost of the repetitions `outer` that is also around that id.
    fn meaning(&self, name: &str, outer: &Iterations) -> Option<Box<str>> {
        let ends = name.char_indices().rev().filter(|&(_, c)| matches!(c, '.' | '#' | '/' | ':')).map(|(at, _)| at);
        let mut ids = std::iter::once(name.len()).chain(ends);
        let at = ids.find(|&at| self.ids.contains(&name[..at]))?;
        let (id, rest) = name.split_at(at);
        let within = (0..=outer.depth()).rev().map(|depth| (outer.of_outer(depth, id), outer.innermost(depth)));
        let within: Vec<_> = within.filter(|(name, around)| self.iteration(name) == Some(*around)).collect();
        // As many of the numbers behind the id as are those of repetitions; the others are of the operation itself.
        number_ends(rest).into_iter().rev().find_map(|end| {
            within.iter().find_map(|(id, _)| {
                let found = self.known(&format!("{id}{}", &rest[..end]))?;
                Some(format!("{found}{}", &rest[end..]).into())
            })
        })
    }

    /// The operation that a name means.
    fn known(&self, name: &str) -> Option<&str> {
        let of_defined = self.defined.get_key_value(name).map(|(name, _)| &**name);
        of_defined.or_else(|| self.last.get(name).map(|(last, _)| &**last))
    }

    /// The repetition that the name of an operation, or of several repetitions of one, ends with.
    fn iteration(&self, name: &str) -> Option<Option<Iteration>> {
        self.defined.get(name).copied().or_else(|| self.last.get(name).map(|(_, iteration)| *iteration))
    }
}

/// Where the numbers at the beginning of a text end, as in `#1#2.0-1`: at 0, 2 and 4.
fn number_ends(text: &str) -> Vec<usize> {
    let mut ends = vec![0];
    let mut rest = text;
    while let Some(number) = rest.strip_prefix('#') {
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            break;
        }
        rest = &number[digits..];
        ends.push(text.len() - rest.len());
    }
    ends
}

/// One id alone, or a list.
fn list(mut ids: Vec<Value>) -> Value {
    match ids.len() {
        1 => ids.swap_remove(0),
        _ => Value { span: ids.first().map(|id| id.span).unwrap_or_default(), data: Data::Sequence(ids) },
    }
}
