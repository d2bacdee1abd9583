//! `order` of a pattern: in which order each device sends its messages.

use rustc_hash::FxHashMap;
use weir_plugin_api::NodeId;

use super::Message;
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Definition, Key, Shape, optional};
use crate::topology::Topology;
use crate::yaml::{Data, Entry, Value};

pub(super) const ORDER: Key = optional("order", Shape::Named(&MESSAGES), "");

static MESSAGES: Definition = Definition {
    name: "message_order",
    about: "Per device the messages that it sends, as `0-1` from rank 0 to rank 1 (`0-1#2` for the second such one), \
            in the order to send those that are ready at the same instant.",
    shape: Shape::ByName(&Shape::Distinct(&Shape::Text)),
};

/// A message, and the how many-th it is between its ranks, from 1.
pub(super) type Numbered = (Message, u32);

/// Messages named at most.
const SHOWN: usize = 8;

/// Puts the messages of each device that has an order into it; those of others stay where they are.
pub(super) fn arrange(
    context: &mut Context,
    topology: &Topology,
    ranks: &[NodeId],
    order: &Value,
    messages: &mut [Numbered],
) -> Read<()> {
    let Data::Mapping(entries) = &order.data else {
        let message = format!("`order` must be a map, not {}", order.describe());
        return Err(context.error(order.span, message, "write `order: { gpu0: [0-1, 0-2] }`"));
    };
    let mut sent: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (i, (message, _)) in messages.iter().enumerate() {
        sent.entry(ranks[message.from as usize]).or_default().push(i);
    }
    context.each(entries, |context, entry| {
        let device = topology.names.resolve(&entry.key);
        let device = device.map_err(|problem| context.problem(entry.key_span, "`order`", problem))?;
        // Each device is taken once, so one with two names has no messages left.
        let Some(places) = sent.remove(&device) else {
            let message = format!("{} sends no message of this pattern, or has an order already", quoted(&entry.key));
            return Err(context.error(entry.key_span, message, "remove it"));
        };
        let listed = listed(context, entry, messages, &places)?;
        let moved: Vec<Numbered> = listed.into_iter().map(|at| messages[at]).collect();
        places.iter().zip(moved).for_each(|(&at, message)| messages[at] = message);
        Ok(())
    })?;
    Ok(())
}

/// The messages that an order lists, by their places: all of the device's, each once.
fn listed(context: &mut Context, entry: &Entry, messages: &[Numbered], places: &[usize]) -> Read<Vec<usize>> {
    let mut left: FxHashMap<String, usize> = places.iter().map(|&at| (name(&messages[at]), at)).collect();
    let what = format!("a message in the order of {}", quoted(&entry.key));
    let items = context.list(&entry.value, &format!("the order of {}", quoted(&entry.key)))?;
    let listed = context.each(items, |context, item| {
        context.parse(item, &what, |text| {
            left.remove(text).ok_or_else(|| {
                let twice = places.iter().any(|&at| name(&messages[at]) == text);
                let (problem, help) = match twice {
                    true => ("is listed twice", "keep one of the two".to_owned()),
                    false => ("is none that it sends", format!("it sends {}", some(messages, places.iter().copied()))),
                };
                Problem::new(format!("{} {problem}", quoted(text)), help)
            })
        })
    })?;
    if left.is_empty() {
        return Ok(listed);
    }
    let mut missing: Vec<usize> = left.into_values().collect();
    missing.sort_unstable();
    let message = format!("the order of {} lacks {}", quoted(&entry.key), some(messages, missing.into_iter()));
    Err(context.error(entry.value.span, message, "list each message of the device once"))
}

fn name(&(message, number): &Numbered) -> String {
    let pair = format!("{}-{}", message.from, message.to);
    if number == 1 { pair } else { format!("{pair}#{number}") }
}

/// The first few of some messages.
fn some(messages: &[Numbered], places: impl ExactSizeIterator<Item = usize>) -> String {
    let more = places.len().saturating_sub(SHOWN);
    let names: Vec<String> = places.take(SHOWN).map(|at| quoted(&name(&messages[at]))).collect();
    let end = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &end
}
