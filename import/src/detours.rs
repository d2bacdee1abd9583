//! GPUs that xGMI joins only over other GPUs: a topology routes their copies over PCIe, as the route with the fewest links.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::bandwidth::{Figures, gigabytes};
use crate::finding::{Findings, Ids, Level};
use crate::machine::{End, Machine, Parent, Up, Wire};
use crate::names::Names;

/// GPUs at most whose pairs are looked at; *assumed*, a machine has some tens.
const MOST: usize = 1024;

/// Warns of such pairs, with the rate that a lone copy between them gets.
pub(crate) fn report(machine: &Machine, names: &Names, figures: Figures, findings: &mut Findings) {
    let joined = joined(machine);
    if joined.len() > MOST {
        return;
    }
    let group = groups(&joined);
    let (mut pairs, mut rates) = (Ids::default(), BTreeSet::new());
    for (&a, near) in &joined {
        for &b in joined.keys().filter(|&&b| b > a && group[&a] == group[&b] && !near.contains(&b)) {
            let Some(rate) = rate_over_pcie(machine, a, b, figures) else { continue };
            pairs.add(&format!("{} and {}", names.device(a), names.device(b)));
            rates.insert(rate);
        }
    }
    let (Some(least), Some(most)) = (rates.first(), rates.last()) else { return };
    let rate = match least == most {
        true => gigabytes(*least),
        false => format!("{} to {}", gigabytes(*least), gigabytes(*most)),
    };
    let message = format!(
        "xGMI joins {{}} only over other GPUs, and a topology sends nothing over a GPU: copies between them take PCIe, at {rate} GB/s alone"
    );
    let help =
        "where they are faster on the machine, add a link with the measured rate for each such pair under `links`";
    findings.of_ids(Level::Warning, &message, &pairs, Some(help.to_owned()));
}

/// The GPUs with xGMI, each with those that it has links to.
fn joined(machine: &Machine) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut joined: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for ((a, b), wire) in &machine.laterals {
        if let (&End::Device(a), &End::Device(b), Wire::Xgmi(..) | Wire::XgmiSum(_)) = (a, b, wire) {
            joined.entry(a).or_default().insert(b);
            joined.entry(b).or_default().insert(a);
        }
    }
    joined
}

/// The first GPU of each GPU's group of those that xGMI joins, also over others.
fn groups(joined: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeMap<usize, usize> {
    let mut group = BTreeMap::new();
    for &first in joined.keys() {
        let mut stack = vec![first];
        while let Some(gpu) = stack.pop() {
            if let Entry::Vacant(free) = group.entry(gpu) {
                free.insert(first);
                stack.extend(&joined[&gpu]);
            }
        }
    }
    group
}

/// What the narrowest link of the way through the tree carries, in MB/s.
fn rate_over_pcie(machine: &Machine, a: usize, b: usize, figures: Figures) -> Option<u64> {
    let (up_a, up_b) = (above(machine, a), above(machine, b));
    let (root_a, root_b) = (machine.root_of(a), machine.root_of(b));
    // Links above a switch of both are not taken.
    let own =
        up_a.iter().filter(|device| !up_b.contains(device)).chain(up_b.iter().filter(|device| !up_a.contains(device)));
    let pcie = own.filter_map(|&device| match machine.devices[device].up {
        Up::Pcie(link) => Some(link.megabytes(figures)),
        Up::Network(_) => None,
    });
    let ends = (End::Root(root_a.min(root_b)), End::Root(root_a.max(root_b)));
    let socket = match machine.laterals.get(&ends).filter(|_| root_a != root_b) {
        Some(Wire::Socket(processor) | Wire::Package(processor)) => Some(processor.socket_link().megabytes),
        _ => None,
    };
    pcie.chain(socket).min()
}

/// What the narrowest PCIe link between a device and its root complex carries, in MB/s.
pub(crate) fn rate_to_root(machine: &Machine, device: usize, figures: Figures) -> Option<u64> {
    above(machine, device)
        .into_iter()
        .filter_map(|device| machine.devices[device].pcie())
        .map(|link| link.megabytes(figures))
        .min()
}

/// A device and the bridges above it.
fn above(machine: &Machine, device: usize) -> Vec<usize> {
    let mut all = vec![device];
    while let Parent::Device(above) = machine.devices[all[all.len() - 1]].parent {
        all.push(above);
    }
    all
}
