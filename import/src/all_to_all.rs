//! The rate of an all-to-all over the PCIe tree and the links between NUMA nodes, for findings on links that a dump lacks.

use crate::bandwidth::Figures;
use crate::machine::{Device, End, Machine, Parent, Up, Wire};

/// What each GPU sends in all, in MB/s, where all send to all others at one rate: that of the link with the least bandwidth for each of
/// the pairs that cross it. `None` where that does not join all.
pub(crate) fn all_to_all(machine: &Machine, gpus: &[usize], figures: Figures) -> Option<u64> {
    let all = gpus.len() as u64;
    let (mut below, mut in_root) = (vec![0_u64; machine.devices.len()], vec![0_u64; machine.roots.len()]);
    for &gpu in gpus {
        let mut at = Parent::Device(gpu);
        while let Parent::Device(device) = at {
            below[device] += 1;
            at = machine.devices[device].parent;
        }
        in_root[machine.root_of(gpu)] += 1;
    }
    let share = |megabytes: u64, pairs: u64| (pairs > 0).then(|| megabytes / pairs);
    let up = |(device, &inside): (&Device, &u64)| match device.up {
        Up::Pcie(link) => share(link.megabytes(figures), inside * (all - inside)),
        Up::Network(_) => None,
    };
    let sockets = machine.laterals.iter().filter_map(|(ends, wire)| match (ends, wire) {
        ((End::Root(a), End::Root(b)), Wire::Socket(processor) | Wire::Package(processor)) => {
            share(processor.socket_link().megabytes, in_root[*a] * in_root[*b])
        }
        _ => None,
    });
    let least = machine.devices.iter().zip(&below).filter_map(up).chain(sockets).min()?;
    Some(least * (all - 1))
}

/// MB/s as GB/s with one digit behind the point.
pub(crate) fn rounded(megabytes: u64) -> String {
    format!("{:.1}", megabytes as f64 / 1000.0)
}
