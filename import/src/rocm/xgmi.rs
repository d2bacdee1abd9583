//! xGMI links between GPUs that are neighbours.
//!
//! The output says of which pairs some way is xGMI, also where it leads over other GPUs. Neighbours are told by, the surest first:
//!
//! - the bandwidths of `--shownodesbw`: 0-0 where two GPUs are not joined directly, else what one link and what all links between them
//!   carry (Linux, `amdgpu_amdkfd.c`, `amdgpu_amdkfd_get_xgmi_bandwidth_mbytes`);
//! - weights and hops together. A weight is 15 for each xGMI hop (AMD SMI's documentation, `amdsmi_topo_get_link_weight`); the section of
//!   hops of some machines counts one hop for every pair (ROCm/rocm-systems, issue 5763).

use super::COMMAND;
use super::text::{Kind, Pair, Topology};
use crate::bandwidth::{Figures, gigabytes, xgmis};
use crate::finding::{Findings, Level};
use crate::gpu::Gpu;
use crate::machine::{Device, End, Machine, Wire};
use crate::module::{Joined, UNEVEN};

/// The weight of two hops.
const TWO_HOPS: u64 = 30;
/// Links between two GPUs at most; *assumed*, as in NCCL's dumps.
const LINKS: u64 = 144;

/// Adds the links to a machine whose devices are the GPUs of the matrices.
pub(super) fn add(topology: &Topology, machine: &mut Machine, findings: &mut Findings) {
    report_cells(topology, findings);
    let has_numbers = topology.pairs.values().any(|pair| links_of(pair).is_some_and(|links| links > 0));
    let (mut near, mut far) = (0, 0);
    for (&(i, j), pair) in topology.pairs.iter().filter(|(_, pair)| pair.kind == Kind::Xgmi) {
        let links = if has_numbers { links_of(pair).unwrap_or(0) } else { u32::from(is_near(pair)) };
        if links == 0 {
            far += 1;
            continue;
        }
        near += 1;
        let gpu = machine.devices[i].gpu;
        machine.lateral(End::Device(i), End::Device(j), Wire::Xgmi(gpu, links));
    }
    if near + far > 0 {
        report(topology, machine, has_numbers, (near, far), findings);
    }
}

/// The number of links that the bandwidths of a pair show.
fn links_of(pair: &Pair) -> Option<u32> {
    match pair.bandwidth? {
        (0, 0) => Some(0),
        (0, _) => None,
        (one, all) => Some((all / one).clamp(1, LINKS) as u32),
    }
}

fn is_near(pair: &Pair) -> bool {
    pair.hops.is_none_or(|hops| hops <= 1) && pair.weight.is_none_or(|weight| weight < TWO_HOPS)
}

/// What the sections leave open: links of no known type, and GPUs that do not reach each other.
fn report_cells(topology: &Topology, findings: &mut Findings) {
    let unknown = topology.names(|pair| pair.kind == Kind::Unknown);
    if !unknown.is_empty() {
        let message = "no link type between {}: they get no link beside PCIe";
        let help = "dump again as root; if xGMI joins them, write that under `links` in the written file".to_owned();
        findings.of_ids(Level::Warning, message, &unknown, Some(help));
    }
    let apart = topology.names(|pair| pair.access == Some(false));
    if !apart.is_empty() {
        let message = "{} do not reach each other's memory: copies between them pass host memory, which the written tree does not show";
        findings.of_ids(Level::Note, message, &apart, None);
    }
}

fn report(topology: &Topology, machine: &Machine, has_numbers: bool, (near, far): (u32, u32), findings: &mut Findings) {
    let apart = match far {
        0 => String::new(),
        _ => format!("; {far} pairs that xGMI joins only over other GPUs have none of their own"),
    };
    if has_numbers {
        findings.note(format!("xGMI: {near} pairs have the links that the section of bandwidths shows{apart}"));
    } else {
        let (vague, why) = vague(topology, machine);
        let message =
            format!("xGMI: {near} pairs get one link each, as the text does not give their number{apart}{why}");
        let help = format!("run {COMMAND}, which shows the numbers, or change the list `links` where you know better");
        if vague { findings.warning(message, help) } else { findings.assumed(message, help) }
    }
    let nameless = |device: &Device| device.gpu == Gpu::Unknown;
    if near > 0 && machine.devices.iter().any(nameless) {
        report_nameless(findings);
    }
}

/// Whether one link for each pair is more than an assumption, and why.
fn vague(topology: &Topology, machine: &Machine) -> (bool, &'static str) {
    let told = topology.pairs.values().any(|pair| pair.weight.is_some() || pair.hops.is_some());
    let mut models = machine.devices.iter().filter_map(|device| device.module);
    let uneven = models.any(|module| module.joined == Joined::OfMachine);
    match (told, uneven) {
        (false, _) => (true, "; there are neither weights nor hops, so some may lead over other GPUs"),
        (true, true) => (true, UNEVEN),
        (true, false) => (false, ""),
    }
}

/// The figure of xGMI between GPUs that the text does not name.
fn report_nameless(findings: &mut Findings) {
    let one = gigabytes(xgmis(Gpu::Unknown, 1, Figures::Effective).megabytes);
    let message = format!(
        "the text does not name all GPUs: an xGMI link of theirs carries {one} GB/s, RCCL's figure for older ones"
    );
    let help = format!("run {COMMAND}, which names them, or change the types `xgmi-x…` where you know better");
    findings.warning(message, help);
}
