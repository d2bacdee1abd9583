//! Values that name devices and tables.

use serde_json::{Map, Value as Json};
use weir_plugin_api::NodeId;

use super::Schema;
use crate::brackets::NamePattern;
use crate::context::{Context, Problem, Read, Reported};
use crate::yaml::{Data, Value};

/// What is known around an operation.
pub(crate) trait Names {
    /// The device that a single name means, or a rank: `{ rank: 3 }`.
    fn node(&mut self, context: &mut Context, value: &Value, what: &str) -> Read<NodeId>;

    /// The devices of a name with brackets, or of a rank, added to a list.
    fn nodes(&mut self, context: &mut Context, value: &Value, what: &str, found: &mut Vec<Json>) -> Read<()>;

    /// The rows of a table, one list each, cells in the order of `columns`.
    fn table(&mut self, context: &mut Context, value: &Value, columns: &[&str], what: &str) -> Read<Json>;

    /// The content of a file, or of several that a name with brackets stands for, added to a list.
    fn files(&mut self, context: &mut Context, value: &Value, what: &str, found: &mut Vec<Json>) -> Read<()>;

    /// The cpu or host with the fewest hops from a node.
    fn nearest(&mut self, node: u64) -> Option<NodeId>;

    /// Copy engines of a node, 1 or 2, where the topology decides them.
    fn copy_engines(&self, node: u64) -> Option<u32>;
}

/// Arbiters know of no operation.
pub(crate) struct NoNames;

impl NoNames {
    fn refuse(context: &mut Context, value: &Value, what: &str) -> Reported {
        let problem = Problem::new("only operations of models name devices and tables", "report it to its author");
        context.problem(value.span, what, problem)
    }
}

impl Names for NoNames {
    fn node(&mut self, context: &mut Context, value: &Value, what: &str) -> Read<NodeId> {
        Err(Self::refuse(context, value, what))
    }

    fn nodes(&mut self, context: &mut Context, value: &Value, what: &str, _: &mut Vec<Json>) -> Read<()> {
        Err(Self::refuse(context, value, what))
    }

    fn table(&mut self, context: &mut Context, value: &Value, _: &[&str], what: &str) -> Read<Json> {
        Err(Self::refuse(context, value, what))
    }

    fn files(&mut self, context: &mut Context, value: &Value, what: &str, _: &mut Vec<Json>) -> Read<()> {
        Err(Self::refuse(context, value, what))
    }

    fn nearest(&mut self, _: u64) -> Option<NodeId> {
        None
    }

    fn copy_engines(&self, _: u64) -> Option<u32> {
        None
    }
}

/// Reads one name with or without brackets; `each` is given the names.
pub(crate) fn expand(
    context: &mut Context,
    value: &Value,
    what: &str,
    most: u64,
    mut each: impl FnMut(&mut Context, &str) -> Read<()>,
) -> Read<u64> {
    let pattern = context.parse(value, what, NamePattern::read)?;
    let count = pattern.count();
    if count > most {
        let problem = Problem::new("too many names in this scenario's operations", "give fewer");
        return Err(context.problem(value.span, what, problem));
    }
    let mut name = String::new();
    for i in 0..count {
        pattern.write(i, &mut name);
        each(context, &name)?;
    }
    Ok(count)
}

impl<'a> Schema<'a> {
    /// The columns of the table that a value names.
    pub(super) fn table(self) -> Option<Vec<&'a str>> {
        let columns = self.here.get("x-weir-table")?.as_array()?;
        Some(columns.iter().filter_map(Json::as_str).collect())
    }

    /// A name with brackets, or a list of such: of nodes or of files.
    pub(super) fn several(self, context: &mut Context, names: &mut dyn Names, value: &Value, what: &str) -> Read<Json> {
        let items = match &value.data {
            Data::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let mut found = Vec::new();
        context.each(items, |context, item| match self.is("x-weir-files") {
            true => names.files(context, item, what, &mut found),
            false => names.nodes(context, item, what, &mut found),
        })?;
        self.check_length(context, value.span, found.len(), what)?;
        Ok(Json::Array(found))
    }

    /// Adds the numbers of copy engines that are not given, of devices whose number the topology decides.
    pub(super) fn fill_copy_engines(self, names: &dyn Names, object: &mut Map<String, Json>) {
        let properties = self.here.get("properties").and_then(Json::as_object);
        for (key, property) in properties.into_iter().flatten().filter(|(key, _)| !key.is_empty()) {
            let device = self.at(property).resolved().here.get("x-weir-copy-engines").and_then(Json::as_str);
            let device = device.filter(|_| !object.contains_key(key)).and_then(|device| object.get(device)?.as_u64());
            if let Some(count) = device.and_then(|device| names.copy_engines(device)) {
                object.insert(key.clone(), count.into());
            }
        }
    }

    /// Adds the nodes that are to be nearest to others, where they are not given.
    pub(super) fn fill_nearest(self, names: &mut dyn Names, object: &mut Map<String, Json>) {
        let properties = self.here.get("properties").and_then(Json::as_object);
        for (key, property) in properties.into_iter().flatten().filter(|(key, _)| !key.is_empty()) {
            let property = self.at(property).resolved();
            let Some(of) = property.here.get("x-weir-nearest").filter(|_| !object.contains_key(key)) else { continue };
            let only_if = property.here.get("x-weir-nearest-if").and_then(Json::as_str);
            if only_if.is_some_and(|place| !is_true(object, place)) {
                continue;
            }
            let many = property.is("x-weir-nodes");
            let keys: Vec<&str> = match of {
                Json::Array(keys) => keys.iter().filter_map(Json::as_str).collect(),
                of => of.as_str().into_iter().collect(),
            };
            let nodes = keys.into_iter().map(|key| object.get(key).map(ids).filter(|ids| !ids.is_empty()));
            let Some(nodes) = nodes.collect::<Option<Vec<_>>>().map(|lists| lists.concat()) else { continue };
            let wanted = if many { nodes.len() } else { 1 };
            let near = nodes.into_iter().take(wanted).map(|node| names.nearest(node).map(|near| near.0.into()));
            let Some(mut near) = near.collect::<Option<Vec<Json>>>() else { continue };
            let value = if many { Some(Json::Array(near)) } else { near.pop() };
            value.into_iter().for_each(|value| drop(object.insert(key.clone(), value)));
        }
    }
}

/// Whether the value at a place such as `message.staging` is `true`.
fn is_true(object: &Map<String, Json>, place: &str) -> bool {
    let mut keys = place.split('.');
    let first = keys.next().and_then(|key| object.get(key));
    keys.fold(first, |value, key| value?.get(key)).is_some_and(|value| value == true)
}

/// The ids in a value: one, or a list of them.
fn ids(value: &Json) -> Vec<u64> {
    match value {
        Json::Array(list) => list.iter().filter_map(Json::as_u64).collect(),
        one => one.as_u64().into_iter().collect(),
    }
}
