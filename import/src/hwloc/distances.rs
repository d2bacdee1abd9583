//! `<distances2>` and `<distances2hetero>`: matrices of NVLink and xGMI bandwidths, in MB/s.
//!
//! hwloc's RSMI part (`hwloc/topology-rsmi.c`) writes [`LINKED`] for every pair of GPUs that xGMI joins, also over other GPUs, and how
//! many hops that takes to a matrix of its own.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::nodes::{Nodes, is, objects};
use crate::bandwidth::raw_of_one;
use crate::finding::Findings;
use crate::gpu::Gpu;
use crate::machine::{Device, DeviceKind, End, Machine, Wire};
use crate::module::{Joined, UNEVEN};
use crate::xml::Lines;

/// Links of one sort between two ends at most; *assumed*, as in NCCL's dumps.
const LINKS: u64 = 144;

/// The matrices of a dump, with what their rows refer to.
pub(super) struct Matrices<'t, 'a, 'd> {
    pub(super) topology: Node<'a, 'd>,
    pub(super) lines: &'t Lines,
    pub(super) nodes: &'t Nodes,
    /// The function of a bridge or device of the document.
    pub(super) functions: &'t BTreeMap<u32, usize>,
    /// The device of a function.
    pub(super) devices: &'t [Option<usize>],
}

/// What stands for an xGMI link of unknown bandwidth.
const LINKED: u64 = 100_000;

/// By pairs of ends, the smaller first.
type Pairs = BTreeMap<(End, End), u64>;

impl Matrices<'_, '_, '_> {
    /// Reads all matrices of bandwidths.
    pub(super) fn read(&self, machine: &mut Machine, findings: &mut Findings) {
        let is_matrix = |node: &Node<'_, '_>| matches!(node.tag_name().name(), "distances2" | "distances2hetero");
        let is_read = |node: &Node<'_, '_>| {
            matches!(node.attribute("name"), Some("NVLinkBandwidth" | "XGMIBandwidth" | "XGMIHops"))
        };
        let (matrices, others): (Vec<Node<'_, '_>>, Vec<_>) =
            self.topology.children().filter(is_matrix).partition(is_read);
        for node in others {
            findings.note(unread(node, self.lines.line(node)));
        }
        if matrices.is_empty() {
            return;
        }
        let ends = self.all_ends(machine);
        let mut read = |name: &str| -> Vec<Pairs> {
            let named = matrices.iter().filter(|node| node.attribute("name") == Some(name));
            let read = named.filter_map(|node| matrix(*node, self.lines.line(*node), &ends, findings));
            read.map(|(rows, values)| pairs(&rows, &values)).collect()
        };
        let (nvlink, xgmi, hops) = (read("NVLinkBandwidth"), read("XGMIBandwidth"), read("XGMIHops"));
        for ((a, b), value) in nvlink.into_iter().flatten() {
            machine.lateral(a, b, wire(gpu_of(machine, a, b), value, false));
        }
        let hops = hops.into_iter().reduce(|mut all, more| {
            all.extend(more);
            all
        });
        add_xgmi(machine, xgmi.into_iter().flatten().collect(), hops.as_ref(), findings);
    }

    /// What an object is as an end of links, by its `gp_index`.
    fn all_ends(&self, machine: &Machine) -> BTreeMap<u64, End> {
        let end = |node: Node<'_, '_>| match node.attribute("type")? {
            "Package" | "NUMANode" => Some(End::Root(self.nodes.near(node).0)),
            "PCIDev" | "OSDev" => {
                let pci = node.ancestors().find(|above| is(*above, "PCIDev"))?;
                match self.devices[*self.functions.get(&pci.id().get())?] {
                    Some(device) if machine.devices[device].kind == DeviceKind::Gpu => Some(End::Device(device)),
                    // What NVLinks lead to beside GPUs and processors is a switch, also one that has lost its class.
                    _ => is(node, "PCIDev").then_some(End::NvSwitch),
                }
            }
            _ => None,
        };
        objects(self.topology)
            .filter_map(|node| Some((node.attribute("gp_index")?.parse().ok()?, end(node)?)))
            .collect()
    }
}

/// Why a matrix is not used.
fn unread(node: Node<'_, '_>, line: u32) -> String {
    let name: String = node.attribute("name").unwrap_or("without a name").chars().take(40).collect();
    match node.attribute("type") {
        Some("NUMANode") => format!(
            "line {line}: the matrix of NUMA nodes ({name}) is not used: relative latencies such as 10 and 21 say nothing of bandwidths; \
             links between NUMA nodes have the processor's figure"
        ),
        _ => format!("line {line}: the matrix ({name}) is not used: only those of NVLink and xGMI are read"),
    }
}

/// Adds xGMI links: those of known bandwidth, and of those of unknown bandwidth the ones between neighbours.
fn add_xgmi(machine: &mut Machine, pairs: Pairs, hops: Option<&Pairs>, findings: &mut Findings) {
    let (mut linked, mut far) = (0, 0);
    for ((a, b), value) in pairs {
        let gpu = gpu_of(machine, a, b);
        if value != LINKED {
            machine.lateral(a, b, wire(gpu, value, true));
        } else if hops.is_some_and(|hops| hops.get(&(a, b)) != Some(&1)) {
            far += 1;
        } else {
            machine.lateral(a, b, Wire::Xgmi(gpu, 1));
            linked += 1;
        }
    }
    if linked + far > 0 {
        let how = match hops {
            Some(_) => format!("{far} pairs that are several hops apart have none of their own"),
            None => "there is no matrix `XGMIHops`, so some may lead over other GPUs".to_owned(),
        };
        let of_machine = |device: &Device| device.module.is_some_and(|module| module.joined == Joined::OfMachine);
        let uneven = machine.devices.iter().any(of_machine);
        let why = if uneven { UNEVEN } else { "" };
        let message = format!(
            "hwloc reports which GPUs xGMI joins (100000 in its matrix), but not how fast: {linked} pairs get one link each; {how}{why}"
        );
        let help = "change the types `xgmi-x1` and the list `links` where you know better; RCCL's dump has all, and `rocm-smi \
                    --showtopo --shownodesbw` shows who is joined by how many links";
        if uneven { findings.warning(message, help) } else { findings.assumed(message, help) }
    }
}

/// The GPU whose links these are.
fn gpu_of(machine: &Machine, a: End, b: End) -> Gpu {
    let gpus = [a, b].into_iter().filter_map(|end| match end {
        End::Device(device) => Some(machine.devices[device].gpu),
        _ => None,
    });
    gpus.into_iter().next().unwrap_or_default()
}

/// The ends that the rows of a matrix stand for, and its values; `None` for what is no square.
fn matrix(
    node: Node<'_, '_>,
    line: u32,
    ends: &BTreeMap<u64, End>,
    findings: &mut Findings,
) -> Option<(Vec<Option<End>>, Vec<u64>)> {
    let indexes = words(node, "indexes");
    let values = words(node, "u64values");
    if indexes.is_empty() || indexes.len().checked_mul(indexes.len()) != Some(values.len()) {
        let message =
            format!("line {line}: a matrix of {} objects with {} values is left out", indexes.len(), values.len());
        findings.warning(message, "make the dump again; until then its NVLinks are missing");
        return None;
    }
    let rows: Vec<Option<End>> = indexes.iter().map(|text| ends.get(&index(text)?).copied()).collect();
    let unknown = rows.iter().filter(|row| row.is_none()).count();
    if unknown > 0 {
        let message = format!("line {line}: {unknown} objects of a matrix are not in the dump");
        findings.warning(message, "their links are left out; dump all devices: `lstopo --whole-io --of xml`");
    }
    Some((rows, values.iter().map(|text| text.parse().unwrap_or(0)).collect()))
}

/// The words of all children of a name.
fn words<'a>(node: Node<'a, '_>, name: &str) -> Vec<&'a str> {
    let parts = node.children().filter(|child| child.has_tag_name(name));
    parts.filter_map(|part| part.text()).flat_map(str::split_whitespace).collect()
}

/// The number of `OSDev:802` or `802`.
fn index(text: &str) -> Option<u64> {
    text.rsplit(':').next()?.parse().ok()
}

/// The values of all pairs with a GPU: each pair once, all NVSwitches as one end.
fn pairs(rows: &[Option<End>], values: &[u64]) -> Pairs {
    let mut sums = Pairs::new();
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in rows.iter().enumerate().skip(i + 1) {
            let (Some(a), Some(b)) = (*a, *b) else { continue };
            let value = values[i * rows.len() + j].max(values[j * rows.len() + i]);
            let joins = matches!(a, End::Device(_)) || matches!(b, End::Device(_));
            if value > 0 && a != b && joins {
                let sum = sums.entry((a.min(b), a.max(b))).or_default();
                *sum = sum.saturating_add(value);
            }
        }
    }
    sums
}

fn wire(gpu: Gpu, value: u64, xgmi: bool) -> Wire {
    let links = raw_of_one(gpu)
        .filter(|one| value.is_multiple_of(*one) && value / one <= LINKS)
        .map(|one| (value / one) as u32);
    match links {
        Some(links) if xgmi => Wire::Xgmi(gpu, links),
        Some(links) => Wire::NvLink(gpu, links),
        // More than a bandwidth can be, 10^18 B/s, is cut.
        None if xgmi => Wire::XgmiSum(value.min(1_000_000_000)),
        None => Wire::NvLinkSum(value.min(1_000_000_000)),
    }
}
