//! XML of hwloc 2 and 3 (`lstopo --of xml`): `<object>`s of types Machine, Package, NUMANode, Bridge, PCIDev and OSDev inside each
//! other (`hwloc2.dtd`), and matrices of bandwidths.
//!
//! A link has only its bandwidth there, and that of the moment: idle GPUs go back to 2.5 GT/s.

mod distances;
mod nodes;

use std::collections::BTreeMap;

use roxmltree::Node;

use crate::bus::BusId;
use crate::class::Identity;
use crate::finding::{Findings, Ids, Level};
use crate::functions::{Function, Functions};
use crate::gpu::Gpu;
use crate::machine::{DeviceKind, Machine};
use crate::module::{self, Module};
use crate::pcie::{self, PcieLink};
use crate::refusal::Refusal;
use crate::xml::{self, Dump};
use distances::Matrices;
use nodes::{Nodes, info, is, objects};

pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let Dump { document, lines } = xml::parse(text)?;
    let topology = document.root_element();
    let version = topology.attribute("version").unwrap_or("");
    check_root(topology, version)?;
    let mut machine = Machine::default();
    let nodes = Nodes::new(&document, &mut machine)?;
    let mut reader = Reader::default();
    for node in objects(topology) {
        reader.object(node, &nodes, version.starts_with('3'))?;
    }
    if reader.unsure > 0 {
        let message =
            format!("{} host bridges are near to several NUMA nodes, or to none: put below the first", reader.unsure);
        findings.warning(message, "move their devices below the right `rc` in the written file");
    }
    reader.report_speeds(findings);
    reader.functions.check_twins(findings);
    let devices = reader.functions.place(&mut machine, findings)?;
    let matrices = Matrices { topology, lines: &lines, nodes: &nodes, functions: &reader.of_node, devices: &devices };
    matrices.read(&mut machine, findings);
    machine.join_sockets();
    Ok(machine)
}

/// Refuses what is no file of hwloc 2 or 3.
fn check_root(topology: Node<'_, '_>, version: &str) -> Result<(), Refusal> {
    if !topology.has_tag_name("topology") || !matches!(version.split('.').next(), Some("2" | "3")) {
        if topology.has_tag_name("system") {
            let refusal =
                Refusal::new("this is NCCL's XML, not that of hwloc").help("use `--as nccl`, or leave it out");
            return Err(xml::refused(topology, refusal));
        }
        let message = "this is not the XML of hwloc 2 or 3";
        let help = "convert a file of hwloc 1: `lstopo -i old.xml --of xml new.xml` with hwloc 2 or 3";
        return Err(xml::refused(topology, Refusal::new(message).help(help)));
    }
    Ok(())
}

#[derive(Default)]
struct Reader {
    functions: Functions,
    /// The function of a bridge or device.
    of_node: BTreeMap<u32, usize>,
    /// Host bridges whose NUMA node is not sure.
    unsure: usize,
    /// Speeds that are no product of a generation and a width, and whose they are.
    odd: BTreeMap<String, (Option<PcieLink>, Ids)>,
}

impl Reader {
    fn object(&mut self, node: Node<'_, '_>, nodes: &Nodes, version_3: bool) -> Result<(), Refusal> {
        match node.attribute("type") {
            Some("Bridge") if node.attribute("bridge_type").is_some_and(|text| text.starts_with("0-")) => {
                self.unsure += usize::from(!nodes.near(node).1);
            }
            Some("Bridge" | "PCIDev") => self.function(node, nodes)?,
            Some("OSDev") => self.os_device(node, version_3),
            _ => {}
        }
        Ok(())
    }

    fn function(&mut self, node: Node<'_, '_>, nodes: &Nodes) -> Result<(), Refusal> {
        let bus = node.attribute("pci_busid").and_then(BusId::read);
        let (class, ids) = identity(node.attribute("pci_type").unwrap_or(""));
        let on_bus_0 = bus.is_some_and(|bus| bus.bus == 0);
        let identity = Identity::new(class.unwrap_or(0), ids, on_bus_0);
        let bridge = is(node, "Bridge");
        let function = Function {
            // hwloc lists devices with bridges inside as bridges, whatever their class.
            kind: if bridge {
                Some(DeviceKind::Switch)
            } else {
                identity.kind().filter(|kind| *kind != DeviceKind::Switch)
            },
            bus,
            link: Some(self.link(node, identity.kind().is_some())),
            maker: ids.map_or_else(String::new, |(vendor, _)| format!("{vendor:04x}")),
            is_virtual: info(node, "PCIDevice").is_some_and(|name| name.contains("Virtual Function")),
            is_of_processor: identity.is_of_processor(),
            vendor: ids.map(|(vendor, _)| vendor),
            gpu: ids.map_or(Gpu::Unknown, |(vendor, device)| Gpu::of_ids(vendor, device)),
            module: ids.and_then(|(vendor, device)| Module::of_ids(vendor, device)),
            is_card: ids.is_some_and(|(vendor, device)| module::is_card(vendor, device)),
            above: node.parent().and_then(|above| self.of_node.get(&above.id().get()).copied()),
            root: nodes.near(node).0,
            ..Function::default()
        };
        let index = self.functions.add(function)?;
        self.of_node.insert(node.id().get(), index);
        Ok(())
    }

    /// The link of a bandwidth in GB/s. Odd ones of devices of interest are kept for a finding.
    fn link(&mut self, node: Node<'_, '_>, of_interest: bool) -> PcieLink {
        let text = node.attribute("pci_link_speed").unwrap_or("").trim();
        let speed = text.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0);
        let none = PcieLink::new(None, None);
        let Some(speed) = speed else { return none };
        let found = pcie::of_bandwidth(speed);
        if of_interest && found.is_none_or(|found| found.is_cut) {
            let text = text.chars().take(20).collect();
            let id = node.attribute("pci_busid").unwrap_or("a device without bus id");
            self.odd.entry(text).or_insert((found.map(|found| found.link), Ids::default())).1.add(id);
        }
        found.map_or(none, |found| found.link)
    }

    fn report_speeds(&mut self, findings: &mut Findings) {
        for (text, (link, ids)) in std::mem::take(&mut self.odd) {
            let text = text.replace("{}", "");
            if let Some(link) = link {
                let (raw, generation, width) = (link.raw(), link.generation, link.width);
                let message = format!("{{}} report a speed of {text} GB/s: {raw:.2} GB/s cut to a whole number");
                let help = format!("it is taken for PCIe {generation}.0 x{width}");
                findings.of_ids(Level::Assumed, &message, &ids, Some(help));
            } else {
                let message = format!("{{}} report a speed of {text} GB/s, which no PCIe link has: it is left out");
                let help = "write the speed of a link in GB/s to `pci_link_speed`, such as 31.507692, and import again";
                findings.of_ids(Level::Warning, &message, &ids, Some(help.to_owned()));
            }
        }
    }

    /// What the system calls a device, and that a display is a GPU.
    fn os_device(&mut self, node: Node<'_, '_>, version_3: bool) {
        let Some(&index) = node.parent().and_then(|above| self.of_node.get(&above.id().get())) else { return };
        let name: String = node.attribute("name").unwrap_or("").chars().take(40).collect();
        let kind = xml::number(node, "osdev_type").unwrap_or(0);
        // hwloc 2: a number, 2 and 3 are networks, 5 is a coprocessor. hwloc 3: a mask, with bits 4, 5 and 3.
        let (network, coprocessor) = match version_3 {
            true => (kind & (16 | 32) != 0, kind & 8 != 0),
            false => (matches!(kind, 2 | 3), kind == 5),
        };
        let function = self.functions.get_mut(index);
        if coprocessor && function.kind.is_none() && !function.is_of_processor {
            function.kind = Some(DeviceKind::Gpu);
        }
        if network && function.kind == Some(DeviceKind::Nic) && function.label.len() < 200 {
            let separator = if function.label.is_empty() { "" } else { ", " };
            function.label.extend([separator, &name]);
        }
        if function.kind == Some(DeviceKind::Gpu) {
            let number = ["nvml", "rsmi"].iter().find_map(|word| name.strip_prefix(word)?.parse().ok());
            function.number = function.number.or(number);
            let Some(model) = info(node, "GPUModel") else { return };
            if function.label.is_empty() {
                function.label = model.chars().take(60).collect();
            }
            if function.gpu == Gpu::Unknown && function.vendor.is_none_or(|vendor| vendor == 0) {
                function.module = Module::of_name(model);
                let is_nvidia = info(node, "GPUVendor").is_some_and(|vendor| vendor.contains("NVIDIA"));
                let by_name = || if is_nvidia { Gpu::of_product(model) } else { Gpu::Unknown };
                function.gpu = function.module.map_or_else(by_name, Module::gpu);
            }
        }
    }
}

/// Class, and vendor and device, of `0302 [10de:1db8] [10de:131d] a1`.
fn identity(text: &str) -> (Option<u16>, Option<(u16, u16)>) {
    let mut words = text.split_whitespace();
    let class = words.next().and_then(|word| u16::from_str_radix(word, 16).ok());
    let ids = words.next().and_then(|word| word.strip_prefix('[')?.strip_suffix(']')?.split_once(':'));
    let hexadecimal = |text: &str| u16::from_str_radix(text, 16).ok();
    (class, ids.and_then(|(vendor, device)| Some((hexadecimal(vendor)?, hexadecimal(device)?))))
}
