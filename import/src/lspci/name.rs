//! What the name of a device says: maker, chip, kind.

use crate::gpu::{Gpu, VENDOR_AMD, VENDOR_INTEL, VENDOR_NVIDIA, VENDOR_XILINX};
use crate::machine::DeviceKind;
use crate::module::{self, Module};

/// Words of names that are neither GPU nor network card, though a maker of those made them.
pub(super) const ASIDE: [&str; 13] = [
    "Audio", "USB", "UCSI", "Bridge", "bridge", "NVSwitch", "SMBus", "Serial", "Switch", "NVMe", "SSD", "RAID", "SATA",
];

/// Words of the names of AMD's GPUs.
const ACCELERATORS: [&str; 10] =
    ["Instinct", "Radeon", "Vega", "Navi", "Aldebaran", "Arcturus", "Aqua Vanjaram", "MI2", "MI3", "FirePro"];

/// How the names of graphics inside AMD's processors begin, behind the maker's: `pci.ids` calls them as the processor (`class` has the ids).
const AMD_PROCESSORS: [&str; 28] = [
    "Barcelo",
    "Carrizo",
    "Cezanne",
    "Granite Ridge",
    "Hawk Point",
    "HawkPoint",
    "Kabini",
    "Kaveri",
    "Krackan",
    "Lucienne",
    "Mendocino",
    "Mullins",
    "Phoenix",
    "Picasso",
    "Raphael",
    "Raven",
    "Rembrandt",
    "Renoir",
    "Richland",
    "Stoney",
    "Strix",
    "Sumo",
    "SuperSumo",
    "Temash",
    "Trinity",
    "VanGogh",
    "Wani",
    "Wrestler",
];

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

/// Makers by words of their names; lists of names before 2012 have `nVidia`.
const MAKERS: [(&str, u16); 5] = [
    ("NVIDIA Corporation", VENDOR_NVIDIA),
    ("nVidia Corporation", VENDOR_NVIDIA),
    ("[AMD/ATI]", VENDOR_AMD),
    ("Intel Corporation", VENDOR_INTEL),
    ("Xilinx", VENDOR_XILINX),
];

#[derive(Clone, Debug, Default)]
pub(super) struct DeviceName {
    pub(super) vendor: Option<u16>,
    pub(super) device: Option<u16>,
    pub(super) gpu: Gpu,
    pub(super) module: Option<Module>,
    /// Whether its numbers are of a card of a chip of which there are modules, too.
    pub(super) is_card: bool,
    /// The same for all functions of a card.
    pub(super) maker: String,
    pub(super) is_virtual: bool,
    /// Whether it is called as graphics inside a processor are.
    pub(super) is_of_processor: bool,
    /// Whether lspci's list of names lacks the device: `NVIDIA Corporation Device 22a3`.
    pub(super) is_nameless: bool,
}

impl DeviceName {
    pub(super) fn of(name: &str) -> Self {
        let label = label(name);
        let number = label.rsplit_once("Device ").map(|(_, number)| number).filter(|number| number.len() == 4);
        let number = number.and_then(|number| u16::from_str_radix(number, 16).ok());
        let ids = ids(name);
        let maker = MAKERS.iter().find(|(words, _)| name.contains(words)).map(|(_, vendor)| *vendor);
        let vendor = ids.map(|(vendor, _)| vendor).or(maker);
        let device = ids.map(|(_, device)| device).or(number);
        let first = name.split_whitespace().next().unwrap_or("");
        // A label is cut: it may lack the end of the name.
        let module = vendor.zip(device).and_then(|(v, d)| Module::of_ids(v, d)).or_else(|| Module::of_name(name));
        let gpu = vendor.zip(device).map_or(Gpu::Unknown, |(vendor, device)| Gpu::of_ids(vendor, device));
        // The number of a device that has no name is no product's.
        let product = || if number.is_some() { Gpu::Unknown } else { of_product(vendor, name) };
        Self {
            vendor,
            device,
            gpu: if gpu == Gpu::Unknown { module.map_or_else(product, Module::gpu) } else { gpu },
            module,
            is_card: vendor.zip(device).is_some_and(|(vendor, device)| module::is_card(vendor, device)),
            maker: ids.map_or_else(|| first.to_owned(), |(vendor, _)| format!("{vendor:04x}")),
            is_virtual: name.contains("Virtual Function"),
            is_of_processor: is_of_processor(name),
            is_nameless: number.is_some() || label.ends_with("Device"),
        }
    }
}

/// Whether a name is that of graphics inside a processor of AMD: also its audio and bridges are called so.
fn is_of_processor(name: &str) -> bool {
    let product = name.split_once("[AMD/ATI] ").map_or("", |(_, product)| product);
    AMD_PROCESSORS.iter().any(|word| product.starts_with(word)) && !ASIDE.iter().any(|word| name.contains(word))
}

/// A GPU of NVIDIA by its product, as `lspci -tv` names it; the ids behind the name are no part of it.
fn of_product(vendor: Option<u16>, name: &str) -> Gpu {
    let product = name.split("10de:").next().unwrap_or(name);
    if vendor == Some(VENDOR_NVIDIA) { Gpu::of_product(product) } else { Gpu::Unknown }
}

/// What a device is by its name alone, as `lspci -tv` gives it. Without a name it is a GPU only by the number of a known chip.
pub(super) fn kind(name: &str, named: &DeviceName) -> Option<DeviceKind> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&ASIDE) || named.is_of_processor {
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
        () if gpu || named.gpu != Gpu::Unknown => Some(DeviceKind::Gpu),
        () if CARDS.iter().any(|word| small.contains(word)) => Some(DeviceKind::Nic),
        () => has(&["Xilinx", "Alveo"]).then_some(DeviceKind::Fpga),
    }
}

/// A name without the numbers and the revision behind it.
pub(super) fn label(name: &str) -> String {
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
