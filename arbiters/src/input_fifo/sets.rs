//! The sets of a phase: transfers that share links, directly or through others.

use weir_plugin_api::{LinkId, PhaseView};

use crate::common::groups::{ClassGroup, NONE};
use crate::common::ports::Port;

/// Groups by set, in order of the sets' first groups.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// Per group: another of its set, at last the first one, which is its own.
    parent: Vec<u32>,
    /// Per first group of a set: the number of the set.
    number: Vec<u32>,
    /// The groups of set s are `members[starts[s]..starts[s + 1]]`, in order.
    starts: Vec<u32>,
    members: Vec<u32>,
    touched: Vec<LinkId>,
}

impl Sets {
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn members(&self, set: usize) -> &[u32] {
        &self.members[self.starts[set] as usize..self.starts[set + 1] as usize]
    }

    /// Finds the sets of a phase. `local` of the ports is [`NONE`] before and after.
    pub(super) fn find(&mut self, phase: &PhaseView<'_>, groups: &[ClassGroup], ports: &mut [Port]) {
        self.parent.clear();
        self.parent.extend(0..groups.len() as u32);
        for (group, index) in groups.iter().zip(0_u32..) {
            for &link in phase.route(group.first as usize) {
                let port = &mut ports[link.index()];
                if port.local == NONE {
                    port.local = index;
                    self.touched.push(link);
                } else {
                    self.join(port.local, index);
                }
            }
        }
        for link in self.touched.drain(..) {
            ports[link.index()].local = NONE;
        }
        self.list(groups.len() as u32);
    }

    fn root(&mut self, mut group: u32) -> u32 {
        while self.parent[group as usize] != group {
            let above = self.parent[self.parent[group as usize] as usize];
            self.parent[group as usize] = above;
            group = above;
        }
        group
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Sorts the groups by set.
    fn list(&mut self, groups: u32) {
        self.number.clear();
        self.number.resize(groups as usize, NONE);
        self.starts.clear();
        for group in 0..groups {
            let root = self.root(group) as usize;
            if self.number[root] == NONE {
                self.number[root] = self.starts.len() as u32;
                self.starts.push(0);
            }
            self.starts[self.number[root] as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            (*start, end) = (end, end + *start);
        }
        self.members.clear();
        self.members.resize(groups as usize, 0);
        for group in 0..groups {
            let root = self.root(group) as usize;
            let next = &mut self.starts[self.number[root] as usize];
            self.members[*next as usize] = group;
            *next += 1;
        }
        // Each start has moved to the end of its set.
        self.starts.insert(0, 0);
    }
}
