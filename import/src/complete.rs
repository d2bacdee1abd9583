//! Completes a machine, whatever format it was read from: functions of one card become one, doubtful links are marked, and ports
//! are put where a lateral link must be the shorter route.

use std::collections::{BTreeMap, BTreeSet};

use crate::adding::with_c2c;
use crate::finding::{Findings, Ids, Level};
use crate::machine::{Device, DeviceKind, End, Machine, Parent, Up};
use crate::pcie::{Doubt, PcieLink, USUAL_WIDTH};

pub(crate) fn complete(machine: &mut Machine, findings: &mut Findings) {
    merge_functions(machine, findings);
    inner_links(machine, findings);
    links_of_chips(machine);
    doubt_gpus(machine);
    doubt_bridges(machine);
    machine.guess_processors();
    add_ports(machine);
}

fn parents(machine: &Machine) -> Vec<Parent> {
    let roots = (0..machine.roots.len()).map(Parent::Root);
    roots.chain((0..machine.devices.len()).map(Parent::Device)).collect()
}

/// Functions of one network card have one link: they become one node, as in NCCL (`src/graph/topo.cc`, `ncclTopoAddPci`).
fn merge_functions(machine: &mut Machine, findings: &mut Findings) {
    for parent in parents(machine) {
        let mut first: BTreeMap<(u32, u8, u8), usize> = BTreeMap::new();
        let mut gone = Vec::new();
        for &child in machine.children(parent) {
            let device = &machine.devices[child];
            let Some(bus) = device.bus.filter(|_| device.kind == DeviceKind::Nic) else { continue };
            match first.get(&(bus.domain, bus.bus, bus.device)) {
                Some(&kept) => gone.push((child, kept)),
                None => drop(first.insert((bus.domain, bus.bus, bus.device), child)),
            }
        }
        if gone.is_empty() {
            continue;
        }
        for &(child, kept) in &gone {
            let (bus, label) = (machine.devices[child].bus, std::mem::take(&mut machine.devices[child].label));
            let bus = bus.map_or_else(String::new, |bus| bus.to_string());
            findings.left_out("further functions of a card, which share its link", &bus);
            let all = &mut machine.devices[kept].label;
            if !all.contains(&label) && all.len() < 200 {
                let separator = if all.is_empty() { "" } else { ", " };
                all.extend([separator, &label]);
            }
        }
        let gone: BTreeSet<usize> = gone.into_iter().map(|(child, _)| child).collect();
        machine.children_mut(parent).retain(|child| !gone.contains(child));
    }
}

/// A GPU that reports a newer generation than its chip can reports a link inside its package, such as that below the bridges inside AMD's
/// accelerators: it gets the chip's, so that no bridge above seems too slow. Where the dump gives only a bandwidth, another generation
/// would be another bandwidth: it stays.
fn inner_links(machine: &mut Machine, findings: &mut Findings) {
    let mut ids = Ids::default();
    for device in machine.devices.iter_mut().filter(|device| device.kind == DeviceKind::Gpu) {
        let Some(chip) = device.gpu.pcie_generation() else { continue };
        if let Up::Pcie(link) = &mut device.up
            && link.generation > chip
            && !link.doubt.is_some_and(|doubt| doubt.lacks_speed() || matches!(doubt, Doubt::Product | Doubt::Ends(..)))
        {
            link.generation = chip;
            ids.add(&device.bus.map_or_else(String::new, |bus| bus.to_string()));
        }
    }
    if !ids.is_empty() {
        let message = "GPUs {} report a newer PCIe than their chips can, as a link inside a package does: that of the chip is written";
        findings.of_ids(Level::Note, message, &ids, None);
    }
}

/// Links of which the dump gives no speed: a GPU runs at what its chip can, as slots are made for the cards in them, and a bridge above it
/// carries no less; *assumed*.
fn links_of_chips(machine: &mut Machine) {
    let mut below: Vec<Option<u8>> = vec![None; machine.devices.len()];
    // Parents stand before their children.
    for index in (0..machine.devices.len()).rev() {
        let device = &mut machine.devices[index];
        let is_gpu = device.kind == DeviceKind::Gpu;
        let chip = if is_gpu { device.gpu.pcie_generation() } else { below[index] };
        if let (Up::Pcie(link), Some(generation)) = (&mut device.up, chip)
            && let Some(doubt @ (Doubt::Nothing | Doubt::Speed)) = link.doubt
        {
            let with = if is_gpu { Doubt::OfChip } else { Doubt::OfChipsBelow };
            (link.generation, link.doubt) = (generation, Some(with(doubt == Doubt::Speed)));
        }
        if let Parent::Device(above) = device.parent {
            below[above] = below[above].max(chip);
        }
    }
}

/// How much less a bridge carries than a device below it where it is doubtful: two generations, or a quarter of the lanes; *assumed*, with
/// room for line encodings. One generation or half of the lanes is what real boards have.
const FAR_SLOWER: f64 = 3.9;

/// A bridge far below its devices reports its management port, or is a virtual machine's, or has lost lanes.
fn doubt_bridges(machine: &mut Machine) {
    let mut below: Vec<Option<PcieLink>> = vec![None; machine.devices.len()];
    let faster = |a: Option<PcieLink>, b: Option<PcieLink>| match (a, b) {
        (Some(one), Some(other)) if one.raw() >= other.raw() => a,
        (_, None) => a,
        _ => b,
    };
    // Parents stand before their children.
    for index in (0..machine.devices.len()).rev() {
        let device = &mut machine.devices[index];
        let fastest = if device.kind == DeviceKind::Switch { below[index] } else { own_link(device) };
        let Up::Pcie(link) = &mut device.up else { continue };
        let sure = matches!(link.doubt, None | Some(Doubt::Product));
        if let (DeviceKind::Switch, true, Some(fastest)) = (device.kind, sure, fastest) {
            let older = link.doubt.is_none() && fastest.generation >= link.generation + 2;
            let slower = !device.has_all_lanes && fastest.raw() >= FAR_SLOWER * link.raw();
            if older || slower {
                let (generation, width) = (fastest.generation.max(link.generation), fastest.width.max(link.width));
                link.doubt = Some(Doubt::SlowBridge(generation, width));
            }
        }
        if let Parent::Device(above) = device.parent {
            below[above] = faster(below[above], fastest);
        }
    }
}

/// The link of a device as far as it is sure, or of a doubtful GPU what its chip can.
fn own_link(device: &Device) -> Option<PcieLink> {
    let link = device.pcie()?;
    match link.doubt {
        Some(doubt) if doubt.lacks_speed() => None,
        Some(Doubt::IdleGpu | Doubt::NarrowGpu | Doubt::Capped) => {
            let generation = device.gpu.pcie_generation().unwrap_or(link.generation);
            let width = if device.has_all_lanes { link.width } else { USUAL_WIDTH };
            Some(PcieLink { generation, width, doubt: None })
        }
        _ => Some(link),
    }
}

/// GPUs at speeds that no present GPU has at work: an idle one goes back to 2.5 GT/s, some to 5 GT/s. A bandwidth of generation 3 of a
/// chip made for more is the most that hwloc gets from NVML. Few lanes are right where an end of the link has no more, and where a
/// chip-to-chip link carries the data.
fn doubt_gpus(machine: &mut Machine) {
    let beside = with_c2c(machine);
    for (index, device) in machine.devices.iter_mut().enumerate().filter(|(_, device)| device.kind == DeviceKind::Gpu) {
        let Up::Pcie(link) = &mut device.up else { continue };
        let chip = device.gpu.pcie_generation();
        let more = chip.is_some_and(|generation| generation >= 4);
        // The newest that the chip can is no sign of rest: 5 GT/s of a GPU of PCIe 2.0.
        let is_superchip = beside.contains(&index) || device.module.is_some_and(|model| model.chip_links > 0);
        let idle = link.generation <= 2 && chip.is_none_or(|chip| link.generation < chip);
        link.doubt = match link.doubt {
            None | Some(Doubt::Product) if idle => Some(Doubt::IdleGpu),
            Some(Doubt::Product) if link.generation == 3 && more => Some(Doubt::Capped),
            None | Some(Doubt::Product) if link.width < 8 && !is_superchip && !device.has_all_lanes => {
                Some(Doubt::NarrowGpu)
            }
            doubt => doubt,
        };
    }
}

/// Routes are the shortest in links, and of equal ones that of the tree. A route over the NVSwitch, or over a processor's
/// NVLink, has two links; so has one between two children of a switch. GPUs for which both would be equal get a node
/// for the switch port that they hang on: it changes no rate, and the lateral route is the shorter one.
fn add_ports(machine: &mut Machine) {
    let mut on_nvswitch = vec![false; machine.devices.len()];
    let mut on_root = vec![false; machine.devices.len()];
    for (a, b) in machine.laterals.keys() {
        match (*a, *b) {
            (End::Device(device), End::NvSwitch) => on_nvswitch[device] = true,
            (End::Root(_), End::Device(device)) => on_root[device] = true,
            _ => {}
        }
    }
    for parent in parents(machine) {
        let children = machine.children(parent);
        let together = children.iter().filter(|&&child| on_nvswitch[child]).count() > 1;
        let at_root = matches!(parent, Parent::Root(_));
        let needs = |child: usize| (together && on_nvswitch[child]) || (at_root && on_root[child]);
        let places: Vec<usize> = (0..children.len()).filter(|&i| needs(children[i])).collect();
        for place in places {
            insert_port(machine, parent, place);
        }
    }
}

fn insert_port(machine: &mut Machine, parent: Parent, place: usize) {
    let child = machine.children(parent)[place];
    let index = machine.devices.len();
    let mut port = Device::new(DeviceKind::Port, None, machine.devices[child].up);
    port.parent = parent;
    port.depth = machine.devices[child].depth;
    port.children = vec![child];
    machine.devices.push(port);
    machine.children_mut(parent)[place] = index;
    machine.devices[child].parent = Parent::Device(index);
}
