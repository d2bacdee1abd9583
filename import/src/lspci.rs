//! `lspci -tv` (the tree, without speeds and classes) and `lspci -vv` (each function with its link, best as root).

mod tree;
mod verbose;

use crate::bus::BusId;
use crate::finding::Findings;
use crate::gpu::{Gpu, VENDOR_AMD, VENDOR_INTEL, VENDOR_NVIDIA, VENDOR_XILINX};
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
            let help = "give the output of `lspci -tv`, or better `sudo lspci -Dvvnn`, from its first line on";
            Err(Refusal::new("neither a tree nor a list of lspci").at(first.map_or(1, |(line, _)| line)).help(help))
        }
    }
}

/// Words of names that are neither GPU nor network card, though a maker of those made them.
const ASIDE: [&str; 13] = [
    "Audio", "USB", "UCSI", "Bridge", "bridge", "NVSwitch", "SMBus", "Serial", "Switch", "NVMe", "SSD", "RAID", "SATA",
];

/// Words of the names of AMD's GPUs.
const ACCELERATORS: [&str; 10] =
    ["Instinct", "Radeon", "Vega", "Navi", "Aldebaran", "Arcturus", "Aqua Vanjaram", "MI2", "MI3", "FirePro"];

/// Words of the names of network cards, in small letters: `Elastic Network Adapter`, `Virtio network device`.
const CARDS: [&str; 9] = [
    "mellanox",
    "connectx",
    "ethernet",
    "infiniband",
    "bluefield",
    "netxtreme",
    "elastic fabric",
    "omni-path",
    "network",
];

/// Makers by words of their names.
const MAKERS: [(&str, u16); 4] = [
    ("NVIDIA Corporation", VENDOR_NVIDIA),
    ("[AMD/ATI]", VENDOR_AMD),
    ("Intel Corporation", VENDOR_INTEL),
    ("Xilinx", VENDOR_XILINX),
];

/// What a name tells.
#[derive(Clone, Debug, Default)]
struct Named {
    vendor: Option<u16>,
    gpu: Gpu,
    /// The same for all functions of a card.
    maker: String,
    is_virtual: bool,
    /// Whether lspci's list of names lacks the device: `NVIDIA Corporation Device 22a3`.
    is_nameless: bool,
}

impl Named {
    fn of(name: &str) -> Self {
        let label = label(name);
        let number = label.rsplit_once("Device ").map(|(_, number)| number).filter(|number| number.len() == 4);
        let number = number.and_then(|number| u16::from_str_radix(number, 16).ok());
        let ids = ids(name);
        let maker = MAKERS.iter().find(|(words, _)| name.contains(words)).map(|(_, vendor)| *vendor);
        let vendor = ids.map(|(vendor, _)| vendor).or(maker);
        let device = ids.map(|(_, device)| device).or(number);
        let first = name.split_whitespace().next().unwrap_or("");
        Self {
            vendor,
            gpu: vendor.zip(device).map_or(Gpu::Unknown, |(vendor, device)| Gpu::of_ids(vendor, device)),
            maker: ids.map_or_else(|| first.to_owned(), |(vendor, _)| format!("{vendor:04x}")),
            is_virtual: name.contains("Virtual Function"),
            is_nameless: number.is_some() || label.ends_with("Device"),
        }
    }
}

/// What a device is by its name alone, as `lspci -tv` gives it. Without a name only the number of a known chip tells that it is a GPU.
fn by_name(name: &str, named: &Named) -> Option<Kind> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&ASIDE) {
        return None;
    }
    let gpu = match named.vendor {
        Some(VENDOR_NVIDIA) => !named.is_nameless,
        Some(VENDOR_AMD) => has(&ACCELERATORS) || (ids(name).is_some() && !named.is_nameless),
        Some(VENDOR_INTEL) => has(&["Data Center GPU", "Ponte Vecchio", "Arc "]),
        _ => false,
    };
    let small = name.to_lowercase();
    match () {
        () if gpu || named.gpu != Gpu::Unknown => Some(Kind::Gpu),
        () if CARDS.iter().any(|word| small.contains(word)) => Some(Kind::Nic),
        () => has(&["Xilinx", "Alveo"]).then_some(Kind::Fpga),
    }
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
