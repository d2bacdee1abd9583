//! Edits of the tree by path: `workload[0].transfer.size=4MB`.

use std::borrow::Cow;

use super::{Data, Entry, Value};
use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::source::Span;

/// One edit, ready to be applied.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    path: Path,
    value: Value,
}

/// Where in a tree an edit goes.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    steps: Vec<Step>,
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

/// What to do about a text that is no path.
const PATHS: &str = "write paths like `workload[0].transfer.size`, with quotes around keys that have dots or brackets: \
                     `topology.tree.\"gpu[0-3]\".link`";

/// What to do about a path below `fidelity` that leads nowhere.
const IN_FIDELITY: &str = "write it as a map, `--fidelity '{packet: {buffer: 64KiB}}'`; with `fidelity: packet` set a whole key, \
                           `fidelity.packet.buffer=64KiB`, and in a list name the item, `fidelity[1].packet.buffer=64KiB`";

impl Path {
    /// Reads a path that a file names at `span`: what is wrong with any of it is said there.
    pub(crate) fn at(context: &mut Context, path: &str, span: Span) -> Read<Self> {
        let mut steps = steps(path, span.source)
            .map_err(|_| context.error(span, format!("{} is not a path", quoted(path)), PATHS))?;
        steps.iter_mut().for_each(|step| step.span = span);
        Ok(Self { steps })
    }

    /// The place of the first key, when that key is `first`.
    pub(crate) fn starts_with(&self, first: &str) -> Option<Span> {
        let head = self.steps.first()?;
        matches!(&head.to, To::Key(key) if &**key == first).then_some(head.span)
    }

    /// The same path below the first key, when that key is `first`.
    pub(crate) fn below(&self, first: &str) -> Option<Self> {
        let (_, rest) = self.steps.split_first()?;
        let fits = self.starts_with(first).is_some() && !rest.is_empty();
        fits.then(|| Self { steps: rest.to_vec() })
    }

    /// The same path from the scenario on: a key of the topology may stand first, as in `link_types.pcie.bandwidth`.
    pub(crate) fn in_scenario(mut self, root: &Value) -> Self {
        /// Keys of a topology that a scenario lacks.
        const OF_TOPOLOGY: [&str; 5] = ["link_types", "machines", "tree", "links", "networks"];
        let is_of_topology = OF_TOPOLOGY.iter().any(|key| self.starts_with(key).is_some() && root.get(key).is_none());
        if let (true, Some(span)) =
            (is_of_topology && root.get("topology").is_some(), self.steps.first().map(|s| s.span))
        {
            self.steps.insert(0, Step { to: To::Key("topology".into()), span });
        }
        self
    }

    /// How many steps lead to the name of a file that the value lies in, where it does: the topology's, or a machine's.
    fn steps_to_file(&self, root: &Value) -> Option<usize> {
        let mut at = root;
        for (taken, pair) in self.steps.windows(2).enumerate() {
            at = at.at(&pair[0].to)?;
            let before = taken.checked_sub(1).map(|before| &self.steps[before].to);
            let is_file = match (&pair[0].to, &at.data) {
                (To::Key(key), Data::Scalar(word)) => before.is_none() && &**key == "topology" && !word.is_null(),
                (To::Key(key), Data::Mapping(fields)) => {
                    let is_machine = &**key == "machine" || before.is_some_and(|to| to.is("machines"));
                    is_machine && matches!(&fields[..], [field] if &*field.key == "file") && !pair[1].to.is("file")
                }
                _ => false,
            };
            if is_file {
                return Some(taken + 1);
            }
        }
        None
    }

    /// Where the value lies in a file that a tree names, the value that names the file, and the rest of the path.
    pub(crate) fn through_file<'v>(&self, root: &'v Value) -> Option<(&'v Value, Self)> {
        let (to_file, rest) = self.steps.split_at(self.steps_to_file(root)?);
        let named = to_file.iter().try_fold(root, |at, step| at.at(&step.to))?;
        Some((named, Self { steps: rest.to_vec() }))
    }

    /// As [`Self::through_file`], to put the content of the file in place of its name.
    pub(crate) fn through_file_mut<'v>(&self, root: &'v mut Value) -> Option<(&'v mut Value, Self)> {
        let (to_file, rest) = self.steps.split_at(self.steps_to_file(root)?);
        let named = to_file.iter().try_fold(root, |at, step| at.at_mut(&step.to))?;
        Some((named, Self { steps: rest.to_vec() }))
    }

    /// The value there.
    pub(crate) fn find<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(root, |at, step| at.at(&step.to))
    }

    /// Whether a value can be put there. The last key may be new; all before must exist. An arbiter given as a word
    /// stands for a map with its name, and `packet` as a fidelity for a map without keys.
    pub(crate) fn check(&self, context: &mut Context, root: &Value) -> Read<()> {
        let (mut at, in_arbiter) = (root, self.starts_with("arbiter").is_some());
        for (i, step) in self.steps.iter().enumerate() {
            let last = i + 1 == self.steps.len();
            at = match (&step.to, &at.data) {
                (To::Key(name), Data::Mapping(entries)) => match entries.iter().find(|e| *e.key == **name) {
                    Some(entry) => &entry.value,
                    None if last => return Ok(()),
                    None => {
                        let help = match self.starts_with("fidelity").filter(|_| i == 0) {
                            Some(_) => IN_FIDELITY.to_owned(),
                            None => context.suggestion(name, entries.iter().map(|e| &*e.key), "keys"),
                        };
                        let message = format!("the scenario has no {} here", quoted(name));
                        return Err(context.error(step.span, message, help));
                    }
                },
                (To::Key(_), Data::Scalar(word)) if in_arbiter && last && !word.is_null() => return Ok(()),
                (To::Key(_), Data::Scalar(_)) if self.is_of_packets(i, at) && i + 2 >= self.steps.len() => {
                    return Ok(());
                }
                (To::Key(name), _) => {
                    let message = format!("{} is not a key here: there is {}", quoted(name), at.describe());
                    let help = match self.starts_with("fidelity").filter(|_| i < 3) {
                        Some(_) => IN_FIDELITY,
                        None => "name an item of a list by its index, as in `[0]`",
                    };
                    return Err(context.error(step.span, message, help));
                }
                (To::Item(index), Data::Sequence(items)) => items.get(*index).ok_or_else(|| {
                    let help = format!("the list has {} items, numbered from 0", items.len());
                    context.error(step.span, format!("there is no item {index}"), help)
                })?,
                (To::Item(index), _) => {
                    let message = format!("no item {index} here: there is {}", at.describe());
                    return Err(context.error(step.span, message, "name a key of a map after a dot"));
                }
            };
        }
        Ok(())
    }

    /// Puts a value there; nothing happens where [`Self::check`] refuses.
    fn put(&self, root: &mut Value, new: &Value) {
        let (mut at, in_arbiter) = (root, self.starts_with("arbiter").is_some());
        for (i, step) in self.steps.iter().enumerate() {
            at = match &step.to {
                To::Key(name) => {
                    if in_arbiter {
                        name_to_map(at);
                    } else if self.is_of_packets(i, at) {
                        packet_to_map(at);
                    }
                    let Data::Mapping(entries) = &mut at.data else { return };
                    let index = entries.iter().position(|e| e.key == *name).unwrap_or_else(|| {
                        entries.push(Entry { key: name.clone(), key_span: step.span, value: new.clone() });
                        entries.len() - 1
                    });
                    &mut entries[index].value
                }
                To::Item(index) => {
                    let Data::Sequence(items) = &mut at.data else { return };
                    let Some(item) = items.get_mut(*index) else { return };
                    item
                }
            };
        }
        at.clone_from(new);
    }
}

impl Path {
    /// Whether step `i` leads to the keys of packets where the fidelity is the word `packet`.
    fn is_of_packets(&self, i: usize, at: &Value) -> bool {
        let is_word = matches!(&at.data, Data::Scalar(word) if &*word.text == "packet");
        is_word && self.starts_with("fidelity").is_some() && self.steps[i].to.is("packet")
    }
}

impl Edit {
    /// Reads `path` and the YAML text `value`.
    pub(crate) fn read(context: &mut Context, path: &str, value: &str) -> Read<Self> {
        let source = context.sources.add("--set", &format!("{path}={value}"));
        let steps = steps(path, source).map_err(|column| {
            let span = Span { source, line: 1, column, width: 1 };
            context.error(span, "not a path", PATHS)
        })?;
        let value = if matches!(value.trim(), "" | "~" | "null") {
            let start = Span { source, line: 1, column: path.chars().count() as u32 + 1, width: 1 };
            return Err(context.error(start, "no value after `=`", "write `--set path=value`"));
        } else {
            let source = context.sources.add(&format!("--set {path}"), value);
            super::parse(context, source)?
        };
        Ok(Self { path: Path { steps }, value })
    }

    /// The same edit, as [`Path::in_scenario`].
    pub(crate) fn in_scenario(self, root: &Value) -> Self {
        Self { path: self.path.in_scenario(root), ..self }
    }

    /// Where it goes.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Applies it, where [`Path::check`] allows it.
    pub(crate) fn apply(&self, context: &mut Context, root: &mut Value) -> Read<()> {
        self.path.check(context, root)?;
        self.path.put(root, &self.value);
        Ok(())
    }
}

impl To {
    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Key(key) if &**key == name)
    }
}

impl Value {
    fn at(&self, to: &To) -> Option<&Self> {
        match to {
            To::Key(key) => self.get(key),
            To::Item(index) => match &self.data {
                Data::Sequence(items) => items.get(*index),
                _ => None,
            },
        }
    }

    fn at_mut(&mut self, to: &To) -> Option<&mut Self> {
        match to {
            To::Key(key) => self.get_mut(key),
            To::Item(index) => match &mut self.data {
                Data::Sequence(items) => items.get_mut(*index),
                _ => None,
            },
        }
    }
}

/// A name becomes `{ name: NAME }`, so that parameters can be set beside it.
fn name_to_map(value: &mut Value) {
    if matches!(&value.data, Data::Scalar(scalar) if !scalar.is_null()) {
        let entry = Entry { key: "name".into(), key_span: value.span, value: value.clone() };
        value.data = Data::Mapping(vec![entry]);
    }
}

/// The word `packet` becomes `{ packet: {} }`, so that keys can be set below it.
fn packet_to_map(value: &mut Value) {
    let keys = Value { data: Data::Mapping(Vec::new()), span: value.span };
    value.data = Data::Mapping(vec![Entry { key: "packet".into(), key_span: value.span, value: keys }]);
}

impl Value {
    /// Gives every scalar to `each`, with the steps to it ([`path_of`]) and its place.
    pub(crate) fn each_text<'v>(&'v self, each: &mut dyn FnMut(&[Below<'v>], &str, Span)) {
        self.texts_below(&mut Vec::new(), each);
    }

    fn texts_below<'v>(&'v self, steps: &mut Vec<Below<'v>>, each: &mut dyn FnMut(&[Below<'v>], &str, Span)) {
        let mut below = |step: Below<'v>, value: &'v Self| {
            steps.push(step);
            value.texts_below(steps, each);
            steps.pop();
        };
        match &self.data {
            Data::Sequence(items) => items.iter().enumerate().for_each(|(i, item)| below(Below::Item(i), item)),
            Data::Mapping(entries) => entries.iter().for_each(|entry| below(Below::Key(&entry.key), &entry.value)),
            Data::Scalar(scalar) => each(steps, &scalar.text, self.span),
        }
    }
}

/// Where a value stands in the one around it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Below<'v> {
    Key(&'v str),
    Item(usize),
}

/// The path of these steps, as edits take it.
pub(crate) fn path_of(steps: &[Below<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Below::Item(i) => path.push_str(&format!("[{i}]")),
            Below::Key(key) => {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(&key_of_path(key));
            }
        }
    }
    path
}

/// A key as paths of edits name it.
#[must_use]
pub fn key_of_path(key: &str) -> Cow<'_, str> {
    let quoted = key.starts_with('"') || key.contains(['.', '[']);
    if quoted { Cow::Owned(format!("\"{key}\"")) } else { Cow::Borrowed(key) }
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
