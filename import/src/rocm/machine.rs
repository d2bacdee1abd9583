//! The tree: each GPU hangs on the root complex of its NUMA node.

use std::collections::{BTreeMap, BTreeSet};

use super::COMMAND;
use super::listed::Listed;
use super::text::Topology;
use crate::finding::{Findings, Ids, Level};
use crate::machine::{Device, DeviceKind, Machine, Parent, Root, Up};
use crate::pcie::PcieLink;
use crate::refusal::Refusal;

/// The machine without xGMI. Its devices are the GPUs, in the order of the matrices.
pub(super) fn of(
    topology: &Topology,
    listed: &BTreeMap<u32, Listed>,
    findings: &mut Findings,
) -> Result<Machine, Refusal> {
    report_lost(topology, findings);
    report_parts(topology, listed, findings);
    let (mut machine, mut roots) = (Machine::default(), BTreeMap::new());
    let known: BTreeSet<u32> = topology.gpus.iter().filter_map(|gpu| topology.numa.get(gpu)).copied().collect();
    for &numa in &known {
        roots.insert(numa, machine.root(Root { numa: Some(numa), ..Root::default() })?);
    }
    if known.is_empty() {
        machine.root(Root::default())?;
    }
    for &number in &topology.gpus {
        // Where the node is not known: the first one.
        let root = topology.numa.get(&number).and_then(|numa| roots.get(numa)).copied().unwrap_or(0);
        let mut device = Device::new(DeviceKind::Gpu, None, Up::Pcie(PcieLink::new(None, None)));
        device.number = Some(number);
        device.label = format!("GPU{number}");
        if let Some(listed) = listed.get(&number) {
            (device.bus, device.gpu, device.module) = (listed.bus, listed.gpu(), listed.module());
            if !listed.name.is_empty() {
                device.label.clone_from(&listed.name);
            }
        }
        machine.device(Parent::Root(root), device)?;
    }
    Ok(machine)
}

/// GPUs without NUMA node.
fn report_lost(topology: &Topology, findings: &mut Findings) {
    let is_lost = |gpu: &&u32| !topology.numa.contains_key(gpu);
    let lost: Ids = topology.gpus.iter().filter(is_lost).map(|gpu| format!("GPU{gpu}")).collect();
    if !lost.is_empty() {
        let message = "the text does not show the NUMA node of {}: they are put on the first root complex";
        let help = format!("run {COMMAND}, whose section `Numa Nodes` shows them, or move them in the written file");
        findings.of_ids(Level::Warning, message, &lost, Some(help));
    }
}

/// Partitions of one GPU (CPX, DPX …), which share its link.
fn report_parts(topology: &Topology, listed: &BTreeMap<u32, Listed>, findings: &mut Findings) {
    let bus = |gpu: &u32| listed.get(gpu).and_then(|listed| listed.bus).map(|bus| (bus.domain, bus.bus, bus.device));
    let mut seen = BTreeSet::new();
    let parts: Ids = topology
        .gpus
        .iter()
        .filter(|gpu| bus(gpu).is_some_and(|bus| !seen.insert(bus)))
        .map(|gpu| format!("GPU{gpu}"))
        .collect();
    if !parts.is_empty() {
        let message = "{} have the bus id of another GPU, as its partitions do: each gets a PCIe link of its own, though they share one";
        let help =
            "dump again with `rocm-smi --setcomputepartition SPX`, or put them below one switch in the written file";
        findings.of_ids(Level::Warning, message, &parts, Some(help.to_owned()));
    }
}
