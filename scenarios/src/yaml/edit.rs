//! Edits of the tree by path: `workload[0].transfer.size=4MB`.

use super::{Data, Entry, Value};
use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::source::Span;

/// One edit, ready to be applied.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    steps: Vec<Step>,
    value: Value,
}

/// One step of a path with its place in the text of the path.
#[derive(Clone, Debug)]
struct Step {
    to: To,
    span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum To {
    Key(Box<str>),
    Item(usize),
}

impl Edit {
    /// Reads `path` and the YAML text `value`.
    pub(crate) fn read(context: &mut Context, path: &str, value: &str) -> Read<Self> {
        let source = context.sources.add("--set", &format!("{path}={value}"));
        let steps = steps(path, source).map_err(|column| {
            let span = Span { source, line: 1, column, width: 1 };
            context.error(span, "not a path", "write paths like `workload[0].transfer.size` or `arbiter.tau`")
        })?;
        let value = if value.is_empty() {
            let start = Span { source, line: 1, column: path.chars().count() as u32 + 1, width: 1 };
            return Err(context.error(start, "no value after `=`", "write `--set path=value`"));
        } else {
            let source = context.sources.add(&format!("--set {path}"), value);
            super::parse(context, source)?
        };
        Ok(Self { steps, value })
    }

    /// The place of the first key of the path, when that key is `first`.
    pub(crate) fn starts_with(&self, first: &str) -> Option<Span> {
        let head = self.steps.first()?;
        matches!(&head.to, To::Key(key) if &**key == first).then_some(head.span)
    }

    /// The same edit below the first key, when that key is `first`.
    pub(crate) fn below(&self, first: &str) -> Option<Self> {
        let (head, rest) = self.steps.split_first()?;
        let fits = matches!(&head.to, To::Key(key) if &**key == first) && !rest.is_empty();
        fits.then(|| Self { steps: rest.to_vec(), value: self.value.clone() })
    }

    /// Applies it. The last key may be new; all before must exist. A name given as a word stands for a map with it.
    pub(crate) fn apply(&self, context: &mut Context, root: &mut Value) -> Read<()> {
        let (mut at, mut key): (_, Option<&str>) = (root, None);
        for (i, step) in self.steps.iter().enumerate() {
            let last = i + 1 == self.steps.len();
            at = match (&step.to, &mut *at) {
                (To::Key(name), value) => {
                    if key == Some("arbiter") {
                        name_to_map(value);
                    }
                    let Value { data: Data::Mapping(entries), .. } = value else {
                        let message = format!("{} is not a key here: there is {}", quoted(name), value.describe());
                        return Err(context.error(
                            step.span,
                            message,
                            "name an item of a list by its index, as in `[0]`",
                        ));
                    };
                    key = Some(&**name);
                    &mut entry(context, entries, name, step.span, last.then_some(&self.value))?.value
                }
                (To::Item(index), Value { data: Data::Sequence(items), .. }) => {
                    let length = items.len();
                    items.get_mut(*index).ok_or_else(|| {
                        let help = format!("the list has {length} items, numbered from 0");
                        context.error(step.span, format!("there is no item {index}"), help)
                    })?
                }
                (To::Item(index), value) => {
                    let message = format!("no item {index} here: there is {}", value.describe());
                    return Err(context.error(step.span, message, "name a key of a map after a dot"));
                }
            };
        }
        at.clone_from(&self.value);
        Ok(())
    }
}

/// `pcie-congestion` becomes `{ name: pcie-congestion }`, so that parameters can be set beside it.
fn name_to_map(value: &mut Value) {
    if matches!(&value.data, Data::Scalar(scalar) if !scalar.is_null()) {
        let entry = Entry { key: "name".into(), key_span: value.span, value: value.clone() };
        value.data = Data::Mapping(vec![entry]);
    }
}

/// The entry of a key; a missing one is made of `new`, which is given at the end of a path only.
fn entry<'a>(
    context: &mut Context,
    entries: &'a mut Vec<Entry>,
    name: &str,
    span: Span,
    new: Option<&Value>,
) -> Read<&'a mut Entry> {
    let index = match (entries.iter().position(|e| &*e.key == name), new) {
        (Some(index), _) => index,
        (None, Some(value)) => {
            entries.push(Entry { key: name.into(), key_span: span, value: value.clone() });
            entries.len() - 1
        }
        (None, None) => {
            let help = context.suggestion(name, entries.iter().map(|e| &*e.key), "keys");
            return Err(context.error(span, format!("the scenario has no {} here", quoted(name)), help));
        }
    };
    Ok(&mut entries[index])
}

/// The steps of a path, or the column where it is wrong. Keys with dots or brackets stand in double quotes.
fn steps(path: &str, source: u32) -> Result<Vec<Step>, u32> {
    let column = |at: usize| path[..at].chars().count() as u32 + 1;
    let (mut steps, mut at) = (Vec::new(), 0);
    while at < path.len() {
        let rest = &path[at..];
        let begin = at;
        let to = if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']').ok_or(column(at))?;
            at += end + 2;
            let digits = Some(&inner[..end]).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            To::Item(digits.and_then(|text| text.parse().ok()).ok_or(column(begin))?)
        } else {
            let rest = match (rest.strip_prefix('.'), steps.is_empty()) {
                (Some(rest), false) => rest,
                (None, true) => rest,
                _ => return Err(column(at)),
            };
            at = path.len() - rest.len();
            let (key, length) = match rest.strip_prefix('"') {
                Some(inner) => inner.find('"').map(|end| (&inner[..end], end + 2)).ok_or(column(at))?,
                None => {
                    let end = rest.find(['.', '[']).unwrap_or(rest.len());
                    (&rest[..end], end)
                }
            };
            if key.is_empty() {
                return Err(column(at));
            }
            at += length;
            To::Key(key.into())
        };
        let width = path[begin..at].chars().count() as u32;
        steps.push(Step { to, span: Span { source, line: 1, column: column(begin), width } });
    }
    if steps.is_empty() { Err(1) } else { Ok(steps) }
}
