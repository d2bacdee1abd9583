//! Pattern and machine as the searches see them: whole weights, whole costs, groups of interchangeable devices.

use super::machine::Machine;
use super::number::Number;
use super::pattern::Pattern;

/// Ranks, padded with ranks that send nothing up to the number of devices, are put into the groups of the hierarchy, each
/// of which takes as many as it has devices.
pub(super) struct Problem<'a, T> {
    pub(super) machine: &'a Machine,
    /// Ranks of the pattern; the ranks from here on are padding.
    pub(super) ranks: usize,
    /// Ranks with padding: the number of devices.
    pub(super) padded: usize,
    /// Neighbours of the ranks as compressed rows: (rank, weight), ascending.
    offsets: Vec<u32>,
    neighbours: Vec<(u32, T)>,
    pub(super) groups: usize,
    /// Cost between two groups; on the diagonal between two devices of the group (0 if it has one).
    cost: Vec<T>,
}

/// Bits that every sum of a search stays below: eight times all weight at the largest cost.
pub(super) fn bits(pattern: &Pattern, machine: &Machine) -> Option<u32> {
    let common = pattern.common();
    let weight = pattern.edges().iter().try_fold(0_u128, |sum, e| sum.checked_add(e.2 / common))?;
    let joint = machine.tree.nodes.iter().map(|n| n.joint.unsigned_abs()).max().unwrap_or(0);
    let leaf = machine.tree.groups.iter().map(|g| g.leaf.unsigned_abs()).max().unwrap_or(0);
    let largest = machine.matrix.largest().max(joint).max(leaf).max(1);
    Some(u128::BITS - weight.max(1).checked_mul(largest)?.checked_mul(8)?.leading_zeros())
}

impl<'a, T: Number> Problem<'a, T> {
    pub(super) fn new(pattern: &Pattern, machine: &'a Machine) -> Self {
        let padded = machine.devices();
        let common = pattern.common();
        let mut offsets = vec![0_u32; padded + 1];
        for &(u, v, _) in pattern.edges() {
            offsets[u as usize + 1] += 1;
            offsets[v as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![(0, T::ZERO); pattern.edges().len() * 2];
        let mut put = |at: u32, other: u32, weight: T| {
            let slot = &mut next[at as usize];
            neighbours[*slot as usize] = (other, weight);
            *slot += 1;
        };
        for &(u, v, bytes) in pattern.edges() {
            let weight = T::of((bytes / common) as i128);
            put(u, v, weight);
            put(v, u, weight);
        }
        let groups = &machine.tree.groups;
        let mut cost = Vec::with_capacity(groups.len() * groups.len());
        for a in groups {
            for b in groups {
                let same = a.devices[0] == b.devices[0];
                let other = if same { *b.devices.last().unwrap_or(&0) } else { b.devices[0] };
                cost.push(T::of(machine.matrix.at(a.devices[0] as usize, other as usize) as i128));
            }
        }
        Self { machine, ranks: pattern.ranks(), padded, offsets, neighbours, groups: groups.len(), cost }
    }

    /// The neighbours of a rank and the weights of their edges.
    #[inline]
    pub(super) fn neighbours(&self, rank: usize) -> &[(u32, T)] {
        &self.neighbours[self.offsets[rank] as usize..self.offsets[rank + 1] as usize]
    }

    /// Costs from a group to all.
    #[inline]
    pub(super) fn costs(&self, group: usize) -> &[T] {
        &self.cost[group * self.groups..(group + 1) * self.groups]
    }

    /// The objective of an assignment of ranks to groups.
    pub(super) fn total(&self, group_of: &[u32]) -> T {
        let mut twice = T::ZERO;
        for rank in 0..self.ranks {
            let costs = self.costs(group_of[rank] as usize);
            for &(other, weight) in self.neighbours(rank) {
                if (other as usize) < rank {
                    twice += weight * costs[group_of[other as usize] as usize];
                }
            }
        }
        twice
    }

    /// The group of each device.
    pub(super) fn group_of_device(&self) -> Vec<u32> {
        let mut group_of = vec![0; self.padded];
        for (group, g) in self.machine.tree.groups.iter().enumerate() {
            for &device in &g.devices {
                group_of[device as usize] = group as u32;
            }
        }
        group_of
    }

    /// The groups of a placement of the ranks; padding takes the devices that are left, ascending.
    pub(super) fn to_groups(&self, placement: &[usize]) -> Vec<u32> {
        let group_of_device = self.group_of_device();
        let mut free = vec![true; self.padded];
        for &device in placement {
            free[device] = false;
        }
        let left = (0..self.padded).filter(|&d| free[d]);
        placement.iter().copied().chain(left).map(|d| group_of_device[d]).collect()
    }

    /// The smallest placement, in the order of its entries, with these groups: in each the ranks ascend with the devices.
    pub(super) fn to_placement(&self, group_of: &[u32]) -> Vec<usize> {
        let mut taken = vec![0; self.groups];
        let mut device_of = |&group: &u32| {
            let slot = &mut taken[group as usize];
            *slot += 1;
            self.machine.tree.groups[group as usize].devices[*slot - 1] as usize
        };
        group_of[..self.ranks].iter().map(&mut device_of).collect()
    }
}
