//! Groups of the workload, written out: `sequence`, `parallel`, `for`, `repeat` and `sizes` become a plain list of
//! operations, whose `after` says what the groups said.

mod expression;
mod group;
mod names;
mod values;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use crate::context::{Context, Read, Reported};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::source::Span;
use crate::yaml::{Data, Entry, Scalar, Value};
use expression::filled;
pub(crate) use group::{GROUP, GROUPED, LISTS};
use group::{Group, head, is_group};
use names::{Iterations, Names};
use values::Loop;

/// Values of a workload that is written out, at most; *assumed*, about a GB. A long text counts as several.
const VALUES: u64 = 5_000_000;

/// Bytes of a text that count as one more value.
const TEXT: u64 = 32;
/// Waits of several operations for several others that are written one by one; *assumed*, of eight GPUs for eight.
const DIRECT: usize = 64;

/// The workload without groups.
pub(crate) struct Unrolled<'w> {
    /// Its operations: the workload itself where it has no groups.
    pub(crate) workload: Cow<'w, Value>,
    /// What groups of its own list became, in its order.
    pub(crate) groups: Vec<WrittenGroup>,
    /// Per operation the row of `sizes` that gives its variables their values; empty where the workload has no groups.
    pub(crate) rows: Vec<Option<Span>>,
}

/// A group that is written out.
pub(crate) struct WrittenGroup {
    /// Its id, or its place in the file.
    pub(crate) id: Box<str>,
    /// `sequence` or `parallel`; of one operation that is repeated the key of that.
    pub(crate) kind: Box<str>,
    /// Its operations, by index.
    pub(crate) items: Range<usize>,
}

/// Writes out the groups of a workload.
pub(crate) fn unrolled<'w>(context: &mut Context, files: &mut Files, workload: &'w Value) -> Read<Unrolled<'w>> {
    let plain = Unrolled { workload: Cow::Borrowed(workload), groups: Vec::new(), rows: Vec::new() };
    let Data::Sequence(items) = &workload.data else { return Ok(plain) };
    if !items.iter().any(is_group) {
        return Ok(plain);
    }
    let size = items.iter().fold(0, |size: u64, item| size.saturating_add(size_of(item)));
    let (names, left) = (Names::default(), VALUES);
    let mut unroller =
        Unroller { context, files, items: Vec::new(), rows: Vec::new(), groups: Vec::new(), names, left };
    if size > VALUES {
        return Err(unroller.too_large(items.iter().find(|item| is_group(item)).unwrap_or(workload).span));
    }
    unroller.each_item(items)?;
    let (groups, rows) = (std::mem::take(&mut unroller.groups), std::mem::take(&mut unroller.rows));
    let items = unroller.finish()?;
    let workload = Cow::Owned(Value { span: workload.span, data: Data::Sequence(items) });
    Ok(Unrolled { workload, groups, rows })
}

/// Values that an item becomes at least, as far as that is known before variables have values.
fn size_of(item: &Value) -> u64 {
    if !is_group(item) {
        return item.count(usize::MAX) as u64;
    }
    let lists = LISTS.iter().filter_map(|key| item.get(key));
    let inner = lists.fold(0, |size: u64, list| match &list.data {
        Data::Sequence(items) => items.iter().fold(size, |size, item| size.saturating_add(size_of(item))),
        _ => size,
    });
    let repeat = item.get("repeat").and_then(|value| match &value.data {
        Data::Scalar(scalar) => scalar.text.parse().ok(),
        _ => None,
    });
    inner.max(1).saturating_mul(repeat.unwrap_or(1)).saturating_mul(item.get("for").map_or(1, values::least))
}

/// What of a group waits for what is before it, and what must have ended before what follows it.
#[derive(Default)]
struct Ends {
    /// Items by index.
    first: Vec<usize>,
    /// Ids.
    last: Vec<Box<str>>,
}

/// Where an operation stands: what its texts may name, and how it is named itself.
#[derive(Clone, Default)]
struct Place {
    variables: Vec<(Box<str>, Box<str>)>,
    iterations: Iterations,
    /// Its path in the file.
    path: String,
    /// The values of loops, for operations without ids.
    label: String,
}

struct Unroller<'c> {
    context: &'c mut Context,
    files: &'c mut Files,
    items: Vec<Value>,
    /// Per item the row of `sizes` that gives its variables their values.
    rows: Vec<Option<Span>>,
    groups: Vec<WrittenGroup>,
    names: Names,
    /// Values that may still be made.
    left: u64,
}

impl Unroller<'_> {
    /// Writes out the items of the workload; one wrong item does not hide the next.
    fn each_item(&mut self, items: &[Value]) -> Read<()> {
        let mut fine = Ok(());
        for (index, item) in items.iter().enumerate() {
            let place = Place { path: format!("workload[{index}]"), ..Place::default() };
            let read = if is_group(item) { self.outermost(item, &place) } else { self.plain(item, &place) };
            fine = fine.and(read);
            if self.context.full() {
                break;
            }
        }
        fine
    }

    /// A group of the workload's own list.
    fn outermost(&mut self, item: &Value, place: &Place) -> Read<()> {
        let begin = self.items.len();
        self.item(item, place)?;
        let (kind, named) = head(item);
        let id = named.get("id").and_then(|id| match &id.data {
            Data::Scalar(scalar) => filled(&scalar.text, &place.variables).ok(),
            _ => None,
        });
        let id = id.unwrap_or(Cow::Borrowed(&place.path)).into();
        self.groups.push(WrittenGroup { id, kind: kind.into(), items: begin..self.items.len() });
        Ok(())
    }

    /// An item outside of groups stays as it is; its name must not depend on what groups become.
    fn plain(&mut self, item: &Value, place: &Place) -> Read<()> {
        self.spend(item.count(usize::MAX) as u64, item.span)?;
        self.operation(item.clone(), place).map(drop)
    }

    fn item(&mut self, item: &Value, place: &Place) -> Read<Ends> {
        if is_group(item) {
            let group = self.group(item, place)?;
            return self.repeated(&group, place);
        }
        let filled = self.filled(item, place)?;
        self.operation(filled, place)
    }

    /// Adds an operation, all of whose variables have values.
    fn operation(&mut self, mut item: Value, place: &Place) -> Read<Ends> {
        let index = self.items.len();
        let mut last = Vec::new();
        if let Data::Mapping(entries) = &mut item.data
            && let [Entry { key, value, .. }] = &mut entries[..]
            && let Data::Mapping(fields) = &mut value.data
        {
            let id = names::name(key, fields, value.span, place, index);
            if let Some(at) = fields.iter().position(|field| &*field.key == "after") {
                let after = names::ids_of(self.context, fields.remove(at).value)?;
                self.names.refer(index, after, &place.iterations);
            }
            self.names.define(&id, &place.iterations);
            last.push(place.iterations.of(&id));
            self.spend(place.iterations.depth() as u64 + place.label.len() as u64 / TEXT, item.span)?;
        }
        self.items.push(item);
        self.rows.push(self.context.rows.current());
        Ok(Ends { first: vec![index], last })
    }

    /// Writes out all repetitions of a group, one after the other.
    fn repeated(&mut self, group: &Group<'_>, place: &Place) -> Read<Ends> {
        let values::Repetitions { count, table } =
            values::repetitions(self.context, self.files, &group.fields, &place.variables)?;
        let mut whole = Ends::default();
        let number = self.names.new_group();
        for repetition in 0..count.unwrap_or(1) {
            // Nothing may come of a repetition, which takes time all the same.
            self.spend(1, group.fields.span)?;
            let mut place = place.clone();
            if count.is_some() {
                place.iterations = place.iterations.with(number, repetition + 1);
            }
            place.variables.extend(table.iter().flat_map(|table| table.row(repetition)));
            let row = table.as_ref().and_then(|table| table.place(repetition));
            let around = self.context.rows.current();
            self.context.rows.enter(row.or(around));
            let once = self.once(group, &place).and_then(|once| self.named(group, &place, once));
            self.context.rows.enter(around);
            let once = once?;
            self.follow(&mut whole, once, group.fields.span)?;
        }
        if let Some(after) = group.fields.get("after") {
            let (span, after) = (after.span, self.filled(after, place)?);
            let after = names::ids_of(self.context, after)?;
            self.begin_after(&mut whole, after, span, place)?;
        }
        Ok(whole)
    }

    /// Writes out one repetition of a group: its items for all values of its loops, the first loop the outermost.
    fn once(&mut self, group: &Group<'_>, place: &Place) -> Read<Ends> {
        let loops = values::loops(self.context, group.fields.get("for"), &place.variables)?;
        let mut ends = Ends::default();
        let combinations = loops.iter().fold(1, |product: u64, one| product.saturating_mul(one.count()));
        // Each takes more than one, whatever comes of it.
        if combinations > self.left {
            return Err(self.too_large(group.fields.span));
        }
        for combination in 0..combinations {
            self.spend(1 + loops.len() as u64, group.fields.span)?;
            let mut inner = place.clone();
            inner.add_values(&loops, combination);
            for (path, item) in &group.items {
                inner.path.clone_from(path);
                let next = self.item(item, &inner)?;
                if group.is_sequence {
                    self.follow(&mut ends, next, item.span)?;
                } else {
                    ends.first.extend(next.first);
                    ends.last.extend(next.last);
                }
            }
        }
        Ok(ends)
    }

    /// All of a group waits for what its `after` names; many wait for many through one barrier.
    fn begin_after(&mut self, whole: &mut Ends, after: Vec<Value>, span: Span, place: &Place) -> Read<()> {
        let pairs = whole.first.len() * after.len();
        if pairs <= DIRECT || after.len() == 1 {
            self.spend(pairs as u64, span)?;
            whole.first.iter().for_each(|&item| self.names.refer(item, after.clone(), &place.iterations));
            return Ok(());
        }
        let id = self.names.new_join();
        let join = self.barrier(&id, &Place::default(), span, Vec::new())?;
        self.spend(whole.first.len() as u64, span)?;
        whole.first.iter().for_each(|&item| self.names.wait(item, &join.last));
        join.first.iter().for_each(|&item| self.names.refer(item, after.clone(), &place.iterations));
        whole.first = join.first;
        Ok(())
    }

    /// Puts what is next behind what has been written out; many wait for many through one barrier.
    fn follow(&mut self, before: &mut Ends, next: Ends, span: Span) -> Read<()> {
        if next.first.is_empty() {
            return Ok(());
        }
        if before.last.is_empty() {
            *before = next;
            return Ok(());
        }
        if before.last.len() > 1 && next.first.len() > 1 && before.last.len() * next.first.len() > DIRECT {
            let id = self.names.new_join();
            before.last = self.barrier(&id, &Place::default(), span, std::mem::take(&mut before.last))?.last;
        }
        for &item in &next.first {
            self.spend(before.last.len() as u64, span)?;
            self.names.wait(item, &before.last);
        }
        before.last = next.last;
        Ok(())
    }

    /// One repetition of a group that has an id: the end of all of it has that name.
    fn named(&mut self, group: &Group<'_>, place: &Place, once: Ends) -> Read<Ends> {
        let Some(value) = group.fields.get("id") else { return Ok(once) };
        let id = self.context.parse(value, "an id", |text| filled(text, &place.variables).map(Cow::into_owned))?;
        let barrier = self.barrier(&id, place, value.span, once.last)?;
        let first = if once.first.is_empty() { barrier.first } else { once.first };
        Ok(Ends { first, last: barrier.last })
    }

    /// Adds a barrier that waits for these.
    fn barrier(&mut self, id: &str, place: &Place, span: Span, waits: Vec<Box<str>>) -> Read<Ends> {
        self.spend(3 + waits.len() as u64, span)?;
        let id = Value { span, data: Data::Scalar(Scalar { text: id.into(), plain: true }) };
        let entry = |key: &str, value| Entry { key: key.into(), key_span: span, value };
        let map = |key: &str, value| Value { span, data: Data::Mapping(vec![entry(key, value)]) };
        let ends = self.operation(map("barrier", map("id", id)), place)?;
        ends.first.iter().for_each(|&item| self.names.wait(item, &waits));
        Ok(ends)
    }

    /// A value with what its variables stand for.
    fn filled(&mut self, value: &Value, place: &Place) -> Read<Value> {
        self.spend(1, value.span)?;
        let span = value.span;
        let data = match &value.data {
            Data::Scalar(scalar) => Data::Scalar(self.filled_scalar(scalar, span, place)?),
            Data::Sequence(items) => {
                Data::Sequence(items.iter().map(|item| self.filled(item, place)).collect::<Read<_>>()?)
            }
            Data::Mapping(entries) => Data::Mapping(self.filled_entries(entries, place)?),
        };
        Ok(Value { span, data })
    }

    fn filled_scalar(&mut self, scalar: &Scalar, span: Span, place: &Place) -> Read<Scalar> {
        let text = filled(&scalar.text, &place.variables);
        if !matches!(text, Ok(Cow::Borrowed(_))) {
            self.context.rows.filled(span);
        }
        let text = text.map_err(|problem| self.context.error(span, problem.message, problem.help))?;
        self.spend(text.len() as u64 / TEXT, span)?;
        Ok(match text {
            Cow::Borrowed(_) => scalar.clone(),
            Cow::Owned(text) => Scalar { text: text.into(), plain: true },
        })
    }

    fn filled_entries(&mut self, entries: &[Entry], place: &Place) -> Read<Vec<Entry>> {
        let mut all: Vec<Entry> = Vec::with_capacity(entries.len());
        for Entry { key, key_span, value } in entries {
            let filled = filled(key, &place.variables);
            let key: Box<str> =
                filled.map_err(|problem| self.context.error(*key_span, problem.message, problem.help))?.into();
            if all.iter().any(|other| other.key == key) {
                let message = format!("the key {} is given twice", quoted(&key));
                return Err(self.context.error(*key_span, message, "let the expressions differ"));
            }
            all.push(Entry { key, key_span: *key_span, value: self.filled(value, place)? });
        }
        Ok(all)
    }

    /// Counts values before they are made.
    fn spend(&mut self, values: u64, span: Span) -> Read<()> {
        match self.left.checked_sub(values) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.too_large(span)),
        }
    }

    fn too_large(&mut self, span: Span) -> Reported {
        let message = format!("the groups of the workload become more than {VALUES} values");
        self.context.error(span, message, "repeat less, or write a pattern, or the rows of a trace")
    }

    /// The operations with what they wait for.
    fn finish(self) -> Read<Vec<Value>> {
        let Self { context, mut items, names, .. } = self;
        if context.failed() {
            return Err(Reported);
        }
        for (item, after) in names.resolved() {
            if let Data::Mapping(entries) = &mut items[item].data
                && let [Entry { key_span, value, .. }] = &mut entries[..]
                && let Data::Mapping(fields) = &mut value.data
            {
                fields.push(Entry { key: "after".into(), key_span: *key_span, value: after });
            }
        }
        Ok(items)
    }
}

impl Place {
    /// Adds the values of loops, of which the first is the outermost.
    fn add_values(&mut self, loops: &[Loop], mut combination: u64) {
        let before = self.variables.len();
        for one in loops.iter().rev() {
            self.variables.push((one.name.clone(), one.value(combination % one.count())));
            combination /= one.count();
        }
        self.variables[before..].reverse();
        for (name, value) in &self.variables[before..] {
            // Writing to a String cannot fail.
            let _ = write!(self.label, " {name}={value}");
        }
    }
}
