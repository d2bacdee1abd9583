//! Process groups of Chakra traces: which ranks do collectives among themselves.

use std::sync::Arc;

use weir_plugin_api::CallError;

use super::operations::{COLLECTIVES, shown};
use super::params::ProcessGroup;
use crate::operation::refused;

/// Of [`COLLECTIVES`] of a group.
pub(super) const GROUP_BITS: u32 = COLLECTIVES.ilog2();
/// Groups that have tags of their own, that of all ranks included.
const MOST_GROUPS: usize = 1 << (31 - GROUP_BITS);

/// Ranks that do collectives among themselves.
pub(super) struct Group {
    pub(super) name: String,
    /// In their order.
    pub(super) ranks: Arc<[u32]>,
    /// Those of the rank that is read, so far.
    pub(super) collectives: u32,
}

/// The group of all ranks, and those that are given.
pub(super) fn groups(given: &[ProcessGroup], ranks: u32) -> Result<Vec<Group>, CallError> {
    let mut groups = vec![Group { name: String::new(), ranks: (0..ranks).collect(), collectives: 0 }];
    if given.len() >= MOST_GROUPS {
        return Err(refused(format!("groups: more than {}; give those that the traces name", MOST_GROUPS - 1)));
    }
    for ProcessGroup { name, ranks: of_group } in given {
        let mut sorted = of_group.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let wrong = if groups.iter().any(|group| group.name == *name) {
            "is given twice; give each group once"
        } else if of_group.is_empty() {
            "has no ranks; name them"
        } else if sorted.len() < of_group.len() {
            "has a rank twice; name each once"
        } else if sorted.last().is_some_and(|&last| last >= ranks) {
            "has a rank without a trace; correct it"
        } else {
            groups.push(Group { name: name.clone(), ranks: of_group.as_slice().into(), collectives: 0 });
            continue;
        };
        return Err(refused(format!("groups: `{}` {wrong}", shown(name))));
    }
    Ok(groups)
}
