//! `<distances2>` and `<distances2hetero>`: matrices of NVLink and xGMI bandwidths, in MB/s.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::{Nodes, is, objects};
use crate::bandwidth::raw_of_one;
use crate::finding::Findings;
use crate::gpu::Gpu;
use crate::machine::{End, Kind, Machine, Wire};
use crate::xml;

/// Links of one sort between two ends at most; *assumed*, as in NCCL's dumps.
const LINKS: u64 = 144;

/// Reads all matrices of bandwidths.
pub(super) fn read(
    topology: Node<'_, '_>,
    machine: &mut Machine,
    nodes: &Nodes,
    functions: &BTreeMap<u32, usize>,
    devices: &[Option<usize>],
    findings: &mut Findings,
) {
    let matrices =
        topology.children().filter(|node| matches!(node.tag_name().name(), "distances2" | "distances2hetero"));
    let mut ends: Option<BTreeMap<u64, End>> = None;
    for matrix in matrices {
        let xgmi = match matrix.attribute("name") {
            Some("NVLinkBandwidth") => false,
            Some("XGMIBandwidth") => true,
            _ => continue,
        };
        let ends = ends.get_or_insert_with(|| all_ends(topology, machine, nodes, functions, devices));
        let indexes = words(matrix, "indexes");
        let values = words(matrix, "u64values");
        if indexes.is_empty() || indexes.len().checked_mul(indexes.len()) != Some(values.len()) {
            let message = format!(
                "line {}: a matrix of {} objects with {} values is left out",
                xml::line(matrix),
                indexes.len(),
                values.len()
            );
            findings.warning(message, "make the dump again; until then its NVLinks are missing");
            continue;
        }
        let rows: Vec<Option<End>> = indexes.iter().map(|text| ends.get(&index(text)?).copied()).collect();
        let unknown = rows.iter().filter(|row| row.is_none()).count();
        if unknown > 0 {
            let message = format!("line {}: {unknown} objects of a matrix are not in the dump", xml::line(matrix));
            findings.warning(message, "their links are left out; dump all devices: `lstopo --whole-io --of xml`");
        }
        let values: Vec<u64> = values.iter().map(|text| text.parse().unwrap_or(0)).collect();
        add(machine, &rows, &values, xgmi);
    }
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

/// What an object is as an end of links, by its `gp_index`.
fn all_ends(
    topology: Node<'_, '_>,
    machine: &Machine,
    nodes: &Nodes,
    functions: &BTreeMap<u32, usize>,
    devices: &[Option<usize>],
) -> BTreeMap<u64, End> {
    let end = |node: Node<'_, '_>| match node.attribute("type")? {
        "Package" | "NUMANode" => Some(End::Root(nodes.near(node).0)),
        "PCIDev" | "OSDev" => {
            let pci = node.ancestors().find(|above| is(*above, "PCIDev"))?;
            match devices[*functions.get(&pci.id().get())?] {
                Some(device) if machine.devices[device].kind == Kind::Gpu => Some(End::Device(device)),
                // What NVLinks lead to beside GPUs and processors is a switch, also one that has lost its class.
                _ => is(node, "PCIDev").then_some(End::NvSwitch),
            }
        }
        _ => None,
    };
    objects(topology).filter_map(|node| Some((node.attribute("gp_index")?.parse().ok()?, end(node)?))).collect()
}

/// Adds the links: each pair once, all NVSwitches as one.
fn add(machine: &mut Machine, rows: &[Option<End>], values: &[u64], xgmi: bool) {
    let mut sums: BTreeMap<(End, End), u64> = BTreeMap::new();
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
    for ((a, b), value) in sums {
        let gpu = [a, b].into_iter().find_map(|end| match end {
            End::Device(device) => Some(machine.devices[device].gpu),
            _ => None,
        });
        machine.lateral(a, b, wire(gpu.unwrap_or_default(), value, xgmi));
    }
}

fn wire(gpu: Gpu, value: u64, xgmi: bool) -> Wire {
    let links = raw_of_one(gpu)
        .filter(|one| value.is_multiple_of(*one) && value / one <= LINKS)
        .map(|one| (value / one) as u32);
    match links {
        Some(links) if xgmi => Wire::Xgmi(gpu, links),
        Some(links) => Wire::NvLink(gpu, links),
        // More than a bandwidth can be, 10^18 B/s, is cut.
        None => Wire::Told(value.min(1_000_000_000)),
    }
}
