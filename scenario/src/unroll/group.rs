//! One group: its keys, and the operations that it repeats.

use std::borrow::Cow;

use super::{Place, Unroller, values};
use crate::context::{Fields, Read, Reported};
use crate::format::{KeyTable, Shape, optional};
use crate::source::Span;
use crate::yaml::{Data, Entry, Value};

/// The lists of operations that a group has one of: one after the other, and all at once.
pub(crate) const LISTS: [&str; 2] = ["sequence", "parallel"];
/// What makes an item of the workload a group.
pub(crate) const GROUP: [&str; 5] = ["sequence", "parallel", "for", "repeat", "sizes"];
/// A group, as the printed schema has it; beside these keys stands one operation where neither list is given.
pub(crate) static GROUPED: KeyTable = KeyTable::new(
    "group",
    "Operations written once for many: `sequence` (one after the other), `parallel` (all at once), or one operation, \
     repeated. Texts in it may have variables, as `gpu{(i + 1) mod 8}`.",
    &[
        optional("sequence", Shape::List(1, &Shape::Anything), "Items that run one after the other."),
        optional("parallel", Shape::List(1, &Shape::Anything), "Items that run at the same time."),
        optional(
            "for",
            Shape::ByName(&Shape::OneOrMore(0, &Shape::Text)),
            "Variables, each with its values: `[0..7]`, or words.",
        ),
        optional("repeat", Shape::Text, "How often all of it runs, one after the other; ids become id#1, id#2, ..."),
        optional("sizes", Shape::Map(&values::SIZES), ""),
        optional("id", Shape::Text, "A name for the end of all of it."),
        optional("after", Shape::Anything, "One id or a list of ids that must have ended before it begins."),
    ],
);

/// What a list of operations has beside these.
const OWN: [&str; 2] = ["id", "after"];

/// One group, with what it repeats.
pub(super) struct Group<'v> {
    pub(super) fields: Fields<'v>,
    /// Its items, with their paths in the file.
    pub(super) items: Vec<(String, Cow<'v, Value>)>,
    pub(super) is_sequence: bool,
}

/// Whether an item of the workload is a group.
pub(super) fn is_group(item: &Value) -> bool {
    GROUP.iter().any(|key| item.get(key).is_some())
}

/// The key of a group's list, or of the one operation that it repeats, and the map that has its id.
pub(super) fn head(group: &Value) -> (&str, &Value) {
    let Data::Mapping(entries) = &group.data else { return ("", group) };
    if let Some(list) = entries.iter().find(|entry| LISTS.contains(&&*entry.key)) {
        return (&list.key, group);
    }
    let operation = entries.iter().find(|entry| !GROUP.contains(&&*entry.key));
    operation.map_or(("", group), |operation| (&operation.key, &operation.value))
}

impl Unroller<'_> {
    /// Reads what a group repeats.
    pub(super) fn group<'v>(&mut self, item: &'v Value, place: &Place) -> Read<Group<'v>> {
        let Data::Mapping(entries) = &item.data else { return Err(self.no_list(item.span)) };
        let lists: Vec<&Entry> = entries.iter().filter(|entry| LISTS.contains(&&*entry.key)).collect();
        match lists[..] {
            [list] => {
                let keys = GROUP.iter().chain(&OWN).copied();
                let fields = self.context.fields_among(item, "a group", keys)?;
                let items = self.context.list(&list.value, &format!("`{}`", list.key))?;
                if items.is_empty() {
                    return Err(self.context.error(
                        list.value.span,
                        "the group is empty",
                        "add operations, or remove it",
                    ));
                }
                let path = |(i, item)| (format!("{}.{}[{i}]", place.path, list.key), Cow::Borrowed(item));
                let items = items.iter().enumerate().map(path).collect();
                Ok(Group { fields, items, is_sequence: &*list.key == LISTS[0] })
            }
            [] => self.single(item, entries, place),
            [_, other, ..] => {
                let help = "put one into the other, as an item of its list";
                Err(self.context.error(other.key_span, "a group is either a `sequence` or `parallel`", help))
            }
        }
    }

    /// One operation with `for`, `repeat` or `sizes` beside it.
    fn single<'v>(&mut self, item: &'v Value, entries: &'v [Entry], place: &Place) -> Read<Group<'v>> {
        let mut operations = entries.iter().filter(|entry| !GROUP.contains(&&*entry.key));
        let Some(operation) = operations.next() else { return Err(self.no_list(item.span)) };
        if let Some(other) = operations.next() {
            let message = "beside `for`, `repeat` and `sizes` stands one operation";
            let help =
                "write several as `sequence: [ … ]` or `parallel: [ … ]`; `id` and `after` go into the operation";
            return Err(self.context.error(other.key_span, message, help));
        }
        let keys = GROUP.iter().copied().chain([&*operation.key]);
        let fields = self.context.fields_among(item, "a group", keys)?;
        let alone = Value { span: item.span, data: Data::Mapping(vec![operation.clone()]) };
        Ok(Group { fields, items: vec![(place.path.clone(), Cow::Owned(alone))], is_sequence: false })
    }

    fn no_list(&mut self, span: Span) -> Reported {
        let help = "add an operation, or a list of them as `sequence: [ … ]` or `parallel: [ … ]`";
        self.context.error(span, "a group without operations", help)
    }
}
