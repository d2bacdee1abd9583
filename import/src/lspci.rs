//! `lspci -tv` (the tree, without speeds and classes) and `lspci -vv` (each function with its link, best as root).

mod tree;
mod verbose;

use crate::bus::BusId;
use crate::finding::Findings;
use crate::gpu::{Gpu, VENDOR_AMD, VENDOR_INTEL, VENDOR_NVIDIA};
use crate::machine::{Kind, Machine};
use crate::refusal::Refusal;

/// Whether a line may be the first of a tree.
pub(crate) fn is_tree(line: &str) -> bool {
    line.starts_with("-[") || line.starts_with("-+-[")
}

/// Whether a line may be the first of a list: `00:00.0 Host bridge: …`.
pub(crate) fn is_list(line: &str) -> bool {
    let id = line.split(' ').next().unwrap_or("");
    BusId::read(id).is_some() && line.len() > id.len()
}

/// Reads a dump.
pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let first = (1..).zip(text.lines()).find(|(_, line)| !line.trim().is_empty());
    match first {
        Some((_, line)) if is_tree(line) => tree::read(text, findings),
        Some((_, line)) if is_list(line) => verbose::read(text, findings),
        first => {
            let help = "give the output of `lspci -tv`, or better `sudo lspci -Dvv`, from its first line on";
            Err(Refusal::new("neither a tree nor a list of lspci").at(first.map_or(1, |(line, _)| line)).help(help))
        }
    }
}

/// Words of names that are neither GPU nor network card, though a maker of those made them.
const ASIDE: [&str; 11] =
    ["Audio", "USB", "UCSI", "Bridge", "bridge", "NVSwitch", "SMBus", "Serial", "Switch", "NVMe", "SSD"];

/// Words of the names of AMD's GPUs.
const ACCELERATORS: [&str; 10] =
    ["Instinct", "Radeon", "Vega", "Navi", "Aldebaran", "Arcturus", "Aqua Vanjaram", "MI2", "MI3", "FirePro"];

/// Words of the names of network cards.
const CARDS: [&str; 9] = [
    "Mellanox",
    "ConnectX",
    "Ethernet",
    "InfiniBand",
    "Infiniband",
    "BlueField",
    "NetXtreme",
    "Elastic Fabric",
    "Omni-Path",
];

/// What a device is by its name alone, as `lspci -tv` gives it.
fn by_name(name: &str) -> (Option<Kind>, Gpu) {
    let name = name.trim();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let gpu = ids(name).map_or(Gpu::Unknown, |(vendor, device)| Gpu::of_ids(vendor, device));
    if has(&ASIDE) {
        return (None, gpu);
    }
    let vendor = ids(name).map(|(vendor, _)| vendor);
    let amd = vendor == Some(VENDOR_AMD) || has(&["[AMD/ATI]"]);
    let intel = vendor == Some(VENDOR_INTEL) || has(&["Intel Corporation"]);
    if vendor == Some(VENDOR_NVIDIA) || has(&["NVIDIA Corporation"]) {
        return (Some(Kind::Gpu), gpu);
    }
    if (amd && (has(&ACCELERATORS) || vendor.is_some()))
        || (intel && has(&["Data Center GPU", "Ponte Vecchio", "Arc "]))
    {
        return (Some(Kind::Gpu), gpu);
    }
    if has(&CARDS) {
        return (Some(Kind::Nic), gpu);
    }
    (has(&["Xilinx", "Alveo"]).then_some(Kind::Fpga), gpu)
}

/// A name without the numbers and the revision behind it.
fn label(name: &str) -> String {
    let name = name.split(" (rev ").next().unwrap_or("").split(" (prog-if ").next().unwrap_or("");
    let numbers = name.rfind(" [").filter(|&at| ids(&name[at + 1..]).is_some());
    name[..numbers.unwrap_or(name.len())].trim().chars().take(60).collect()
}

/// The last `[10de:2330]` of a name, as `-nn` writes it, or `10de:2330` at its beginning, as `-n` does.
fn ids(name: &str) -> Option<(u16, u16)> {
    let parts = name.rsplit('[').filter_map(|part| part.split_once(']')).map(|(inner, _)| inner);
    let mut parts = parts.chain(name.split_whitespace().next());
    let hexadecimal = |text: &str| (text.len() == 4).then(|| u16::from_str_radix(text, 16).ok()).flatten();
    parts.find_map(|inner| {
        let (vendor, device) = inner.split_once(':')?;
        Some((hexadecimal(vendor)?, hexadecimal(device)?))
    })
}
