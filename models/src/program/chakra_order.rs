//! The nodes of a trace of Chakra in the order in which its rank can begin them.
//!
//! **Definition.** Each node comes behind those that it waits for; of those that are ready the first of the file. So the k-th
//! collective of a rank is the k-th that it can begin, as with messages ([`super::matching`]).

use std::collections::BTreeMap;

use super::matching;
use super::operations::{Dependency, Problem, Successors};
use super::protobuf::{Field, Value, fields, messages};

/// A node as far as its place among the others needs.
pub(super) struct Head<'m> {
    /// The place of its message in the file, from 0.
    pub(super) number: u32,
    pub(super) message: &'m [u8],
    pub(super) id: u64,
    pub(super) dependencies: Vec<u64>,
}

impl<'m> Head<'m> {
    /// `None` for a message of `GlobalMetadata`, which may stand first: it has neither the number of a node nor a type.
    fn read(number: u32, message: &'m [u8]) -> Result<Option<Self>, Problem> {
        let mut head = Self { number, message, id: 0, dependencies: Vec::new() };
        let mut is_node = number > 0;
        for field in fields(message) {
            match field? {
                Field { number: 1, value: Value::Number(id) } => (head.id, is_node) = (id, true),
                Field { number: 3, value: Value::Number(_) } => is_node = true,
                Field { number: 4 | 5, value } => head.dependencies.extend(value.numbers()?),
                _ => {}
            }
        }
        Ok(is_node.then_some(head))
    }
}

/// The nodes of a file.
pub(super) fn in_order(file: &[u8]) -> Result<Vec<Head<'_>>, Problem> {
    let mut heads = Vec::new();
    for (number, message) in (0..).zip(messages(file)) {
        let head = Head::read(number, message?);
        heads.extend(head.map_err(|problem| format!("message {number}: {problem}"))?);
    }
    let places: BTreeMap<u64, u32> = (0..).zip(&heads).map(|(place, head)| (head.id, place)).collect();
    let waits = (0..).zip(&heads).flat_map(|(of, head)| head.dependencies.iter().map(move |on| (of, on)));
    // Nodes that are not there are told of when the others have been read.
    let known = waits.filter_map(|(of, on)| places.get(on).map(|&on| Dependency { of, on, begin: false }));
    let dependencies: Vec<Dependency> = known.collect();
    if dependencies.iter().all(|dependency| dependency.on < dependency.of) {
        return Ok(heads);
    }
    let successors = Successors::new(heads.len(), &dependencies);
    let order = matching::in_order(Successors::waits(heads.len(), &dependencies), &successors);
    let mut heads: Vec<Option<Head<'_>>> = heads.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|place| heads[place as usize].take()).collect())
}
