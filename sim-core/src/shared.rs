//! Bandwidths that several directed links share.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use weir_plugin_api::{LinkId, NodeId};

/// A bandwidth that several directed links have together, beside that of each: both directions of a link that is no full
/// duplex, or all links of a node, such as those of a memory.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedBandwidth {
    /// Bytes per second. A transfer takes part of it for each link that it goes over, and for a node each time that it starts,
    /// ends or passes there.
    pub bandwidth: f64,
    /// The links, ascending.
    pub links: Vec<LinkId>,
    /// The node whose links these are; `None` for both directions of a link.
    pub node: Option<NodeId>,
}

/// All of a fabric, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedLinks {
    all: Vec<SharedBandwidth>,
    /// Per directed link that shares any: which.
    numbers: FxHashMap<LinkId, SmallVec<[u32; 2]>>,
}

impl SharedLinks {
    pub(crate) fn push(&mut self, shared: SharedBandwidth) {
        let number = self.all.len() as u32;
        shared.links.iter().for_each(|&link| self.numbers.entry(link).or_default().push(number));
        self.all.push(shared);
    }

    pub(crate) fn set(&mut self, number: u32, bandwidth: f64) {
        self.all[number as usize].bandwidth = bandwidth;
    }

    pub(crate) fn all(&self) -> &[SharedBandwidth] {
        &self.all
    }

    /// What a link shares.
    pub(crate) fn of(&self, link: LinkId) -> &[u32] {
        self.numbers.get(&link).map_or(&[], |numbers| numbers)
    }

    /// The first link of a route that shares a bandwidth.
    pub(crate) fn first(&self, number: u32, route: &[LinkId]) -> LinkId {
        let shares = |link: &LinkId| self.of(*link).contains(&number);
        route.iter().copied().find(shares).unwrap_or(LinkId::NONE)
    }

    /// What a branch of a route shares, and how many times; `enters` is the node at the end of a link.
    pub(crate) fn crossed(&self, branch: &[LinkId], enters: impl Fn(LinkId) -> NodeId) -> SmallVec<[(u32, u32); 4]> {
        let mut crossed: SmallVec<[(u32, u32); 4]> = SmallVec::new();
        for (at, &link) in branch.iter().enumerate() {
            for &number in self.of(link) {
                // A node is passed by two links, of which the second counts where the branch starts only.
                let again = self.all[number as usize].node.is_some_and(|node| enters(link) != node && at > 0);
                match crossed.iter_mut().find(|(known, _)| *known == number) {
                    _ if again => {}
                    Some((_, times)) => *times += 1,
                    None => crossed.push((number, 1)),
                }
            }
        }
        crossed.sort_unstable();
        crossed
    }
}
