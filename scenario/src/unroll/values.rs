//! What loops run over: `for`, `repeat`, and the rows of `sizes`.

use super::expression::{Variables, filled, is_name};
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::{Files, YAML_BYTES};
use crate::format::{KeyTable, Shape, required};
use crate::source::Span;
use crate::table::{LineReader, Rows};
use crate::units;
use crate::yaml::{Data, Value};

pub(super) static SIZES: KeyTable = KeyTable::new(
    "sizes",
    "A table with a row for each repetition of a group.",
    &[required("from", Shape::Path, "CSV; each column is a variable of the name in its first line.")],
);

/// Digits of the ends of a range at most, zeros included.
const DIGITS: usize = 20;
/// Variables that a text may name, at most; *assumed*.
const MOST_VARIABLES: usize = 1000;

/// Values of one variable; ranges are not written out.
pub(super) struct Loop {
    pub(super) name: Box<str>,
    /// Each with the number of values up to its end.
    parts: Vec<(u64, Part)>,
}

enum Part {
    Word(Box<str>),
    /// So many numbers from the first on, padded with zeros to a width.
    Numbers {
        first: i64,
        count: u64,
        width: usize,
    },
}

impl Loop {
    pub(super) fn count(&self) -> u64 {
        self.parts.last().map_or(0, |&(end, _)| end)
    }

    /// The value at an index below [`Self::count`].
    pub(super) fn value(&self, index: u64) -> Box<str> {
        let at = self.parts.partition_point(|&(end, _)| end <= index);
        match self.parts.get(at) {
            None => Box::default(),
            Some((_, Part::Word(word))) => word.clone(),
            Some((end, Part::Numbers { first, count, width })) => {
                format!("{:0width$}", first + (index - (end - count)) as i64).into()
            }
        }
    }
}

impl Part {
    fn count(&self) -> u64 {
        match self {
            Self::Word(_) => 1,
            Self::Numbers { count, .. } => *count,
        }
    }
}

/// Reads `for`: a map from variables to their values.
pub(super) fn loops(context: &mut Context, value: Option<&Value>, outer: &Variables) -> Read<Vec<Loop>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Data::Mapping(entries) = &value.data else {
        let message = format!("`for` must be a map, not {}", value.describe());
        return Err(context.error(value.span, message, "write `for: { i: [0..7] }`"));
    };
    if entries.len() > MOST_VARIABLES {
        return Err(context.error(value.span, format!("more than {MOST_VARIABLES} variables"), "give fewer"));
    }
    context.each(entries, |context, entry| {
        let name = &entry.key;
        new_name(name, outer).map_err(|problem| context.problem(entry.key_span, "`for`", problem))?;
        let items = match &entry.value.data {
            Data::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(&entry.value),
        };
        let what = format!("{} in `for`", quoted(name));
        let parts = context.each(items, |context, item| {
            let text = context.text(item, &what)?;
            filled(text, outer)
                .and_then(|text| part(&text))
                .map_err(|problem| context.problem(item.span, &what, problem))
        })?;
        let mut end = 0_u64;
        let placed = |part: Part| {
            end = end.saturating_add(part.count());
            (end, part)
        };
        Ok(Loop { name: name.clone(), parts: parts.into_iter().map(placed).collect() })
    })
}

/// How many combinations of values `for` has at least, as far as that is known before variables have values.
pub(super) fn least(value: &Value) -> u64 {
    let Data::Mapping(entries) = &value.data else { return 1 };
    let count = |value: &Value| match &value.data {
        Data::Scalar(scalar) => part(&scalar.text).map_or(0, |part| part.count()),
        _ => 0,
    };
    entries.iter().fold(1, |product: u64, entry| {
        product.saturating_mul(match &entry.value.data {
            Data::Sequence(items) => items.iter().fold(0, |sum: u64, item| sum.saturating_add(count(item))),
            _ => count(&entry.value),
        })
    })
}

/// Checks the name of a new variable.
fn new_name(name: &str, outer: &Variables) -> Result<(), Problem> {
    if !is_name(name) {
        let message = format!("{} cannot name a variable", quoted(name));
        return Err(Problem::new(message, "use letters, digits and `_`, a letter first, and not `mod`"));
    }
    if outer.len() >= MOST_VARIABLES {
        return Err(Problem::new(format!("more than {MOST_VARIABLES} variables"), "give fewer"));
    }
    match outer.iter().any(|(known, _)| &**known == name) {
        true => Err(Problem::new(format!("{} is a variable already", quoted(name)), "give it another name")),
        false => Ok(()),
    }
}

/// A word, or the numbers of a range such as `0..7`, both ends included.
fn part(text: &str) -> Result<Part, Problem> {
    let is_number = |text: &str| text.trim().parse::<i64>().is_ok();
    let ends = text.split_once("..").filter(|(first, last)| is_number(first) || is_number(last));
    // A path may have dots, too.
    let Some((first, last)) = ends else { return Ok(Part::Word(text.into())) };
    let number = |end: &str| -> Result<i64, Problem> {
        let wrong = || format!("the range {} has an end that is no whole number", quoted(text));
        end.trim().parse().map_err(|_| Problem::new(wrong(), "write `0..7`"))
    };
    let (from, to) = (number(first)?, number(last)?);
    // One before the first is the range without numbers: `{i + 1}..7` when i is 7.
    let count = i128::from(to) - i128::from(from) + 1;
    if count < 0 {
        let message = format!("the range {} ends before it begins", quoted(text));
        return Err(Problem::new(message, "write the smaller number first"));
    }
    let first = first.trim();
    if first.len() > DIGITS {
        let message = format!("the range {} has an end of more than {DIGITS} digits", quoted(text));
        return Err(Problem::new(message, "write fewer zeros"));
    }
    let width = if first.len() > 1 && first.starts_with('0') { first.len() } else { 0 };
    Ok(Part::Numbers { first: from, count: u64::try_from(count).unwrap_or(u64::MAX), width })
}

/// The repetitions of a group.
pub(super) struct Repetitions {
    /// How often it runs; `None` where neither `repeat` nor `sizes` is given.
    pub(super) count: Option<u64>,
    pub(super) table: Option<Table>,
}

/// The variables that each repetition has.
pub(super) struct Table {
    names: Vec<Box<str>>,
    rows: Vec<Vec<Box<str>>>,
    /// Where each row stands.
    places: Vec<Span>,
}

impl Table {
    /// The variables of a repetition, from 0.
    pub(super) fn row(&self, repetition: u64) -> impl Iterator<Item = (Box<str>, Box<str>)> {
        self.names.iter().cloned().zip(self.rows[repetition as usize].iter().cloned())
    }

    /// Where the values of a repetition stand, from 0.
    pub(super) fn place(&self, repetition: u64) -> Option<Span> {
        self.places.get(repetition as usize).copied()
    }
}

/// Reads `repeat` and `sizes`.
pub(super) fn repetitions(
    context: &mut Context,
    files: &mut Files,
    fields: &Fields<'_>,
    outer: &Variables,
) -> Read<Repetitions> {
    let repeat = fields.get("repeat").map(|value| {
        context.parse(value, "`repeat`", |text| match units::whole_number(&filled(text, outer)?, u64::MAX)? {
            0 => Err(Problem::new("`0` is too few", "give at least 1, or remove the group")),
            n => Ok(n),
        })
    });
    let repeat = repeat.transpose()?;
    let Some(sizes) = fields.get("sizes") else { return Ok(Repetitions { count: repeat, table: None }) };
    let table = table(context, files, sizes, outer)?;
    let rows = table.rows.len() as u64;
    if let Some(repeat) = repeat.filter(|&repeat| repeat != rows) {
        let message = format!("`sizes` has {rows} rows for {repeat} repetitions");
        return Err(context.error(sizes.span, message, format!("write `repeat: {rows}`, or leave it out")));
    }
    Ok(Repetitions { count: Some(rows), table: Some(table) })
}

/// Reads `sizes: { from: FILE }`.
fn table(context: &mut Context, files: &mut Files, value: &Value, outer: &Variables) -> Read<Table> {
    let fields = context.fields(value, "`sizes`", &SIZES)?;
    let from = fields.require(context, "from")?;
    let named = context.parse(from, "`from` of `sizes`", |text| filled(text, outer).map(String::from))?;
    let (file, source) = files.open_table(context, from.span, &named, YAML_BYTES, "give fewer rows")?;
    let mut rows = Rows::new(source, LineReader::new(file, files));
    if !rows.next(context)? {
        return Err(context.error(rows.place(0), "the table is empty", "name the columns in the first line"));
    }
    if rows.record.len() > MOST_VARIABLES {
        return Err(context.error(rows.place(0), format!("more than {MOST_VARIABLES} columns"), "give fewer"));
    }
    let mut names: Vec<Box<str>> = Vec::new();
    for (field, bytes) in rows.record.iter().enumerate() {
        let name: Box<str> = String::from_utf8_lossy(bytes.trim_ascii()).into();
        let twice =
            names.contains(&name).then(|| Problem::new(format!("{} is given twice", quoted(&name)), "keep one"));
        if let Err(problem) = twice.map_or_else(|| new_name(&name, outer), Err) {
            return Err(context.problem(rows.place(field), "a column", problem));
        }
        names.push(name);
    }
    let (mut all, mut places) = (Vec::new(), Vec::new());
    while rows.next(context)? {
        all.push(row(context, &rows, names.len())?);
        places.push(rows.place(0));
    }
    match all.is_empty() {
        true => Err(context.error(from.span, "the table has no rows", "give a row for each repetition")),
        false => Ok(Table { names, rows: all, places }),
    }
}

fn row(context: &mut Context, rows: &Rows<'_>, width: usize) -> Read<Vec<Box<str>>> {
    if rows.record.len() != width {
        let message = format!("a row of {} fields under {width} columns", rows.record.len());
        return Err(context.error(rows.place(0), message, "give each row as many fields as there are columns"));
    }
    let text =
        |bytes: &[u8]| std::str::from_utf8(bytes.trim_ascii()).ok().filter(|text| !text.is_empty()).map(Box::from);
    let fields: Vec<Option<Box<str>>> = rows.record.iter().map(text).collect();
    match fields.iter().position(Option::is_none) {
        Some(field) => Err(context.error(rows.place(field), "an empty field, or no UTF-8", "give a value")),
        None => Ok(fields.into_iter().flatten().collect()),
    }
}
