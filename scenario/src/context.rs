//! Collects what is wrong while a scenario is read.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use weir_plugin_api::{PortEntry, Registry};

use crate::diagnostic::{Diagnostic, Severity, quoted};
use crate::format::{Key, KeyTable};
use crate::nearest::suggestion;
use crate::source::{Sources, Span};
use crate::table::Origins;
use crate::yaml::{self, Data, Entry, Value};

/// Something is wrong and was written to the [`Context`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reported;

/// A value, or the note that the problem was written down.
pub(crate) type Read<T> = Result<T, Reported>;

/// What is wrong with a piece of text, before it is known where the text stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: String,
}

impl Problem {
    /// A message and a remedy.
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// The texts read so far and what was found in them.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub(crate) sources: Sources,
    /// The rows that values come from.
    pub(crate) rows: Origins,
    /// The port arbiters that link types may name, in name order.
    pub(crate) ports: Vec<Arc<PortEntry>>,
    found: Vec<Diagnostic>,
    errors: usize,
    /// Errors that say the same of the same place as one before.
    same: usize,
    warnings: usize,
}

impl Context {
    /// One that knows the port arbiters of a registry.
    pub(crate) fn of(registry: &Registry) -> Self {
        Self { ports: registry.ports().cloned().collect(), ..Self::default() }
    }

    /// Errors, and warnings, shown at most; later ones are counted, and nothing is built for them.
    pub(crate) const MOST: usize = 20;

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Reported {
        self.error_with_notes(span, Problem::new(message, help), Vec::new())
    }

    /// Writes an error down that belongs to several places.
    pub(crate) fn error_with_notes(
        &mut self,
        span: Span,
        problem: Problem,
        mut notes: Vec<(String, Span)>,
    ) -> Reported {
        if self.full() {
            self.errors += 1;
            return Reported;
        }
        notes.extend(self.rows.row_of(span).map(|row| ("the value is from".to_owned(), row)));
        let mut diagnostic = self.sources.at(span, Diagnostic::error(problem.message).with_help(problem.help));
        diagnostic.notes = notes.into_iter().map(|(note, other)| (note, self.sources.position(other))).collect();
        self.push(diagnostic)
    }

    /// Writes down that a plugin failed at what stands at a place.
    pub(crate) fn plugin_error(&mut self, span: Span, problem: Problem) -> Reported {
        let diagnostic = Diagnostic::error(problem.message).with_help(problem.help);
        let diagnostic = self.sources.at(span, Diagnostic { plugin: true, ..diagnostic });
        self.push(diagnostic)
    }

    /// Writes down that reading was asked to end at what stands at a place.
    pub(crate) fn cancelled(&mut self, span: Span, message: String) -> Reported {
        let diagnostic = self.sources.at(span, Diagnostic { cancelled: true, ..Diagnostic::error(message) });
        self.push(diagnostic)
    }

    /// Writes down that the registry has nothing of a name.
    pub(crate) fn unknown(&mut self, span: Span, name: &str, problem: Problem) -> Reported {
        let diagnostic = Diagnostic::error(problem.message).with_help(problem.help);
        let diagnostic = self.sources.at(span, Diagnostic { unknown: Some(name.to_owned()), ..diagnostic });
        self.push(diagnostic)
    }

    /// Writes a problem of the object `what` down.
    pub(crate) fn problem(&mut self, span: Span, what: &str, problem: Problem) -> Reported {
        self.error(span, format!("{what}: {}", problem.message), problem.help)
    }

    pub(crate) fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.warn_of(span, || Problem::new(message, help));
    }

    /// Writes a warning down that is made only when it will be shown.
    pub(crate) fn warn_of(&mut self, span: Span, make: impl FnOnce() -> Problem) {
        self.warnings += 1;
        if self.warnings <= Self::MOST {
            let Problem { message, help } = make();
            let diagnostic = self.sources.at(span, Diagnostic::warning(message).with_help(help));
            if self.found.contains(&diagnostic) {
                self.warnings -= 1;
            } else {
                self.found.push(diagnostic);
            }
        }
    }

    /// Writes an error about the whole input down.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) -> Reported {
        self.errors += 1;
        if self.found.contains(&diagnostic) {
            // A line that is repeated is wrong each time.
            self.same += 1;
        } else if self.errors <= Self::MOST {
            self.found.push(diagnostic);
        }
        Reported
    }

    /// A remedy for a wrong name, as [`suggestion`]; nothing is compared for an error that will not be shown.
    pub(crate) fn suggestion<'a>(
        &self,
        wrong: &str,
        names: impl IntoIterator<Item = &'a str> + Clone,
        plural: &str,
    ) -> String {
        if self.full() { String::new() } else { suggestion(wrong, names, plural) }
    }

    /// Reads every item: one wrong item does not hide the next, until enough are wrong.
    pub(crate) fn each<I, T>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut read: impl FnMut(&mut Self, I) -> Read<T>,
    ) -> Read<Vec<T>> {
        let (mut all, mut fine) = (Vec::new(), Ok(()));
        for item in items {
            match read(self, item) {
                Ok(value) => all.push(value),
                Err(reported) => fine = Err(reported),
            }
            if fine.is_err() && self.full() {
                break;
            }
        }
        fine.map(|()| all)
    }

    /// Warns of the first item of a list of runs that stands there before: both come out the same.
    pub(crate) fn warn_of_repeats(&mut self, items: &[Value]) {
        let mut seen = FxHashSet::default();
        if let Some(item) = items.iter().find(|item| !seen.insert(yaml::flow(item))) {
            self.warn(item.span, "this is in the list twice: both runs are the same", "remove one of them");
        }
    }

    /// Whether an error was written down.
    pub(crate) fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Number of errors so far: reading a part went well when it is the same after.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether so many errors were written down that looking for more is of no use.
    pub(crate) fn full(&self) -> bool {
        self.errors >= Self::MOST
    }

    /// Everything that was found: errors first; files in the order of first findings, then by place.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        let mut files: Vec<Arc<str>> = Vec::new();
        self.found.sort_by_cached_key(|d| {
            let place = d.position.as_ref().map(|p| {
                let file = files.iter().position(|f| *f == p.file).unwrap_or_else(|| {
                    files.push(Arc::clone(&p.file));
                    files.len() - 1
                });
                (file, p.line, p.column)
            });
            (std::cmp::Reverse(d.severity), place)
        });
        let shown = self.found.iter().filter(|d| d.severity == Severity::Error).count();
        if self.errors > shown + self.same {
            let more = self.errors - shown - self.same;
            self.found.insert(shown, Diagnostic::error(format!("{more} more errors")));
        }
        self.count_warnings();
        self.found
    }

    /// Says how many warnings were not kept.
    fn count_warnings(&mut self) {
        if self.warnings > Self::MOST {
            self.found.push(Diagnostic::warning(format!("{} more warnings", self.warnings - Self::MOST)));
        }
    }

    /// The warnings, when there was no error.
    pub(crate) fn take_warnings(&mut self) -> Vec<Diagnostic> {
        debug_assert!(self.found.iter().all(|d| d.severity == Severity::Warning));
        self.count_warnings();
        std::mem::take(&mut self.found)
    }

    /// The fields of a map, whose keys must be those of a table. `what` names the object: "a transfer".
    pub(crate) fn fields<'a>(&mut self, value: &'a Value, what: &'a str, table: &KeyTable) -> Read<Fields<'a>> {
        let fields = self.known_fields(value, what, table.names(), |key| table.holder_of(key))?;
        Ok(Fields { table: table.keys, ..fields })
    }

    /// The fields of a map, all of whose keys must be among `keys`.
    pub(crate) fn fields_among<'a, 'k>(
        &mut self,
        value: &'a Value,
        what: &'a str,
        keys: impl Iterator<Item = &'k str> + Clone,
    ) -> Read<Fields<'a>> {
        self.known_fields(value, what, keys, |_| None)
    }

    /// The fields of a map; `holder` names the key below which a wrong one would be right.
    fn known_fields<'a, 'k>(
        &mut self,
        value: &'a Value,
        what: &'a str,
        keys: impl Iterator<Item = &'k str> + Clone,
        holder: impl Fn(&str) -> Option<&'static str>,
    ) -> Read<Fields<'a>> {
        let Data::Mapping(entries) = &value.data else {
            let help = match keys.clone().next() {
                None => "write `{}`".to_owned(),
                Some(_) => format!("write a map with these keys: {}", keys.collect::<Vec<_>>().join(", ")),
            };
            return Err(self.error(value.span, format!("{what} must be a map, not {}", value.describe()), help));
        };
        let mut fine = Ok(());
        for entry in entries.iter().filter(|e| !keys.clone().any(|key| key == &*e.key)) {
            let message = format!("unknown key {} in {what}", quoted(&entry.key));
            let help = match holder(&entry.key) {
                Some(holder) => format!("it is a key of `{holder}`: move it into that map"),
                None => self.suggestion(&entry.key, keys.clone(), "keys"),
            };
            fine = Err(self.error(entry.key_span, message, help));
            if self.full() {
                break;
            }
        }
        fine.map(|()| Fields { what, span: value.span, entries, table: &[] })
    }

    /// The items of a list.
    pub(crate) fn list<'a>(&mut self, value: &'a Value, what: &str) -> Read<&'a [Value]> {
        match &value.data {
            Data::Sequence(items) => Ok(items),
            _ => Err(self.error(value.span, format!("{what} must be a list, not {}", value.describe()), "write `[…]`")),
        }
    }

    /// The text of a scalar.
    pub(crate) fn text<'a>(&mut self, value: &'a Value, what: &str) -> Read<&'a str> {
        match &value.data {
            Data::Scalar(scalar) if !scalar.is_null() => Ok(&scalar.text),
            _ => {
                let message = format!("{what} must be one value, not {}", value.describe());
                Err(self.error(value.span, message, "write a single word, number or quantity"))
            }
        }
    }

    /// A scalar read by one of the functions of [`crate::units`].
    pub(crate) fn parse<T>(
        &mut self,
        value: &Value,
        what: &str,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Read<T> {
        let text = self.text(value, what)?;
        read(text).map_err(|problem| self.problem(value.span, what, problem))
    }
}

/// The fields of a map whose keys are known to be right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) what: &'a str,
    pub(crate) span: Span,
    entries: &'a [Entry],
    /// The keys that the map may have; empty where they are in no table.
    table: &'static [Key],
}

impl<'a> Fields<'a> {
    /// The value of a key, if given.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.entry(key).map(|e| &e.value)
    }

    /// Key and value, if given. A key that its table requires is read by [`Self::require`].
    pub(crate) fn entry(&self, key: &str) -> Option<&'a Entry> {
        debug_assert!(!self.table.iter().any(|known| known.name == key && known.required), "`{key}` is required");
        self.find(key)
    }

    /// Where the value of a key stands; where it is not given, the map.
    pub(crate) fn span_of(&self, key: &str) -> Span {
        self.find(key).map_or(self.span, |entry| entry.value.span)
    }

    pub(crate) fn find(&self, key: &str) -> Option<&'a Entry> {
        debug_assert!(
            self.table.is_empty() || self.table.iter().any(|known| known.name == key),
            "no table has `{key}`"
        );
        self.entries.iter().find(|e| &*e.key == key)
    }

    /// The value of a key that must be given.
    pub(crate) fn require(&self, context: &mut Context, key: &str) -> Read<&'a Value> {
        self.find(key).map(|entry| &entry.value).ok_or_else(|| {
            context.error(self.span, format!("{} needs the key `{key}`", self.what), format!("add `{key}: …`"))
        })
    }

    /// The value of a key read as a scalar, or `default` when the key is not given.
    pub(crate) fn parse_or<T>(
        &self,
        context: &mut Context,
        key: &str,
        default: T,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Read<T> {
        self.get(key).map_or(Ok(default), |value| context.parse(value, &format!("`{key}` of {}", self.what), read))
    }

    /// The value of a key that must be given, read as a scalar.
    pub(crate) fn parse<T>(
        &self,
        context: &mut Context,
        key: &str,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Read<T> {
        let value = self.require(context, key)?;
        context.parse(value, &format!("`{key}` of {}", self.what), read)
    }
}
