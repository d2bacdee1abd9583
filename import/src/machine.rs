//! A machine as all formats describe it: NUMA nodes with trees of devices below, and links beside the trees.

use std::collections::BTreeMap;

use crate::bandwidth::Processor;
use crate::bus::BusId;
use crate::gpu::Gpu;
use crate::module::Module;
use crate::pcie::{Doubt, PcieLink};
use crate::refusal::Refusal;

/// Bridges above each other at most; *assumed*, real machines have 6. Topology files nest twice as deep, and may 64 times.
pub(crate) const DEPTH: usize = 24;
/// Devices at most; *assumed*, so that the file that is written stays below 16 MiB.
pub(crate) const DEVICES: usize = 50_000;
/// NUMA nodes at most; *assumed*. Every pair gets a link.
pub(crate) const ROOTS: usize = 256;

/// A machine. Devices stand in the order of the dump, parents before children.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) roots: Vec<Root>,
    pub(crate) devices: Vec<Device>,
    /// By their ends, the smaller first.
    pub(crate) laterals: BTreeMap<(End, End), Wire>,
    /// Whether there is a node `nvswitch`.
    pub(crate) nvswitch: bool,
    /// PCI bridges of the dump, switch ports included.
    pub(crate) bridges: usize,
    /// Packages of the dump, where it lists them.
    pub(crate) sockets: Option<usize>,
    /// Whether the dump is a static file for NCCL, not made on the running machine.
    pub(crate) is_preset: bool,
}

/// A NUMA node: its memory, and the root complex of its PCIe devices.
#[derive(Debug, Default)]
pub(crate) struct Root {
    pub(crate) numa: Option<u32>,
    /// Which machine, where a dump holds several.
    pub(crate) host: usize,
    pub(crate) processor: Processor,
    /// The package (socket) that it is in, where the dump says.
    pub(crate) package: Option<u32>,
    pub(crate) children: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum DeviceKind {
    Switch,
    /// A port of a switch or root complex, see `complete`.
    Port,
    Gpu,
    Nic,
    Fpga,
}

/// The link to the parent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Up {
    Pcie(PcieLink),
    /// A network card that the dump hangs below a processor without PCIe: what its ports carry, in Mb/s.
    Network(u32),
}

/// What a device hangs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parent {
    Root(usize),
    Device(usize),
}

#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) kind: DeviceKind,
    pub(crate) bus: Option<BusId>,
    pub(crate) up: Up,
    /// Whether the link was trained to all the lanes that one of its ends has: it cannot have more.
    pub(crate) has_all_lanes: bool,
    pub(crate) parent: Parent,
    pub(crate) children: Vec<usize>,
    /// The number that the dump gives a GPU.
    pub(crate) number: Option<u32>,
    /// Vendor id, where the dump tells it.
    pub(crate) vendor: Option<u16>,
    pub(crate) gpu: Gpu,
    /// Whether the dump gives its model by numbers of vendor and device.
    pub(crate) has_model: bool,
    /// Whether these numbers are of a GPU that may be a module, and that is not known here.
    pub(crate) may_be_module: bool,
    /// Whether these numbers are of a card of a chip of which there are modules, too.
    pub(crate) is_card: bool,
    /// The model, where it is known and is a module with links to others.
    pub(crate) module: Option<Module>,
    /// Whether the memory of a GPU is a NUMA node, as that of superchips is.
    pub(crate) has_memory_node: bool,
    /// How many copies a GPU sends at once, where it is known or assumed.
    pub(crate) engines: Option<usize>,
    /// Name or model; may be any text of the dump.
    pub(crate) label: String,
    /// Number of bridges above it.
    pub(crate) depth: usize,
}

impl Device {
    /// A device before it is put into a machine.
    pub(crate) fn new(kind: DeviceKind, bus: Option<BusId>, up: Up) -> Self {
        let (parent, children, depth) = (Parent::Root(0), Vec::new(), 0);
        let (number, gpu, module, label) = (None, Gpu::Unknown, None, String::new());
        let (vendor, has_model, has_all_lanes, engines) = (None, false, false, None);
        Self {
            kind,
            bus,
            up,
            has_all_lanes,
            parent,
            children,
            number,
            vendor,
            gpu,
            has_model,
            may_be_module: false,
            is_card: false,
            module,
            has_memory_node: false,
            engines,
            label,
            depth,
        }
    }

    /// Whether the dump does not say which GPU it is: at most of which generation.
    pub(crate) fn is_nameless(&self) -> bool {
        !self.has_model && self.module.is_none() && self.label.is_empty()
    }

    pub(crate) fn pcie(&self) -> Option<PcieLink> {
        match self.up {
            Up::Pcie(link) => Some(link),
            Up::Network(_) => None,
        }
    }
}

/// An end of a lateral link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum End {
    Root(usize),
    Device(usize),
    NvSwitch,
}

/// What a lateral link is, and what its bandwidth depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Wire {
    /// Between two NUMA nodes, of two packages as far as the dump says.
    Socket(Processor),
    /// Between two NUMA nodes of one package.
    Package(Processor),
    NvLink(Gpu, u32),
    Xgmi(Gpu, u32),
    /// A number of chip-to-chip links between a GPU and its processor.
    C2c(u32),
    /// The same, of which the dump says how much they carry together, in MB/s.
    C2cSum(u64),
    /// Some NVLinks of which the dump says how much they carry together, in MB/s.
    NvLinkSum(u64),
    /// The same of some xGMI links.
    XgmiSum(u64),
}

impl Wire {
    /// Whether it is between the chips of one superchip.
    pub(crate) fn is_c2c(self) -> bool {
        matches!(self, Self::C2c(_) | Self::C2cSum(_))
    }
}

/// How many of what there are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// NUMA nodes, each a root complex.
    pub roots: usize,
    /// Sockets, the packages of a dump; `None` where it does not distinguish them from NUMA nodes.
    pub sockets: Option<usize>,
    /// PCI bridges of the dump: switches, and in dumps that list them their ports and the root ports.
    pub bridges: usize,
    /// Switches that are written.
    pub switches: usize,
    /// GPUs of the topology that is written.
    pub gpus: usize,
    /// Network cards; the functions of one card count once.
    pub nics: usize,
    /// FPGAs of the topology that is written.
    pub fpgas: usize,
    /// NVLinks, each pair of ends with all its links.
    pub nvlinks: u64,
    /// xGMI links between GPUs.
    pub xgmi: u64,
    /// PCIe links by (generation, width).
    pub pcie: BTreeMap<(u8, u8), usize>,
}

impl Machine {
    pub(crate) fn root(&mut self, root: Root) -> Result<usize, Refusal> {
        if self.roots.len() == ROOTS {
            return Err(Refusal::new(format!("more than {ROOTS} NUMA nodes")).help("give the dump of one machine"));
        }
        self.roots.push(root);
        Ok(self.roots.len() - 1)
    }

    /// Adds a device below a parent.
    pub(crate) fn device(&mut self, parent: Parent, mut device: Device) -> Result<usize, Refusal> {
        if self.devices.len() == DEVICES {
            return Err(Refusal::new(format!("more than {DEVICES} devices")).help("give the dump of one machine"));
        }
        let index = self.devices.len();
        device.parent = parent;
        device.depth = match parent {
            Parent::Root(root) => {
                self.roots[root].children.push(index);
                0
            }
            Parent::Device(above) => {
                self.devices[above].children.push(index);
                self.devices[above].depth + 1
            }
        };
        if device.depth > DEPTH {
            let id = device.bus.map_or_else(String::new, |bus| format!(" at {bus}"));
            let message = format!("bridges nest more than {DEPTH} deep{id}");
            return Err(Refusal::new(message).help("no machine has that; make the dump again"));
        }
        self.devices.push(device);
        Ok(index)
    }

    /// Adds a lateral link; of two between the same ends the later counts.
    pub(crate) fn lateral(&mut self, a: End, b: End, wire: Wire) {
        self.nvswitch |= a == End::NvSwitch || b == End::NvSwitch;
        self.laterals.insert((a.min(b), a.max(b)), wire);
    }

    /// Joins all NUMA nodes of one machine with each other, as NCCL does (`src/graph/topo.cc`, `ncclTopoConnectCpus`).
    pub(crate) fn join_sockets(&mut self) {
        for a in 0..self.roots.len() {
            for b in a + 1..self.roots.len() {
                let (one, other) = (&self.roots[a], &self.roots[b]);
                if one.host == other.host {
                    let within = one.package.is_some() && one.package == other.package;
                    let wire = if within { Wire::Package(one.processor) } else { Wire::Socket(one.processor) };
                    self.lateral(End::Root(a), End::Root(b), wire);
                }
            }
        }
    }

    /// The newest generation of PCIe in the tree: that of links that are sure, or else what the GPUs' chips can.
    pub(crate) fn pcie_generation(&self) -> Option<u8> {
        let of_tree = self.devices.iter().filter(|device| device.kind != DeviceKind::Nic);
        let sure = of_tree.filter_map(Device::pcie);
        let sure = sure.filter(|link| matches!(link.doubt, None | Some(Doubt::Product | Doubt::Width)));
        let sure = sure.map(|link| link.generation).max();
        sure.or_else(|| self.devices.iter().filter_map(|device| device.gpu.pcie_generation()).max())
    }

    /// Names the processors that the dump does not name by their generation of PCIe.
    pub(crate) fn guess_processors(&mut self) {
        let generation = self.pcie_generation();
        self.roots.iter_mut().for_each(|root| root.processor = root.processor.or_by_generation(generation));
        self.join_sockets();
    }

    /// Sets the processor of all NUMA nodes.
    pub(crate) fn set_processor(&mut self, processor: Processor) {
        self.roots.iter_mut().for_each(|root| root.processor = processor);
    }

    /// The NUMA node that a device is below.
    pub(crate) fn root_of(&self, mut device: usize) -> usize {
        loop {
            match self.devices[device].parent {
                Parent::Root(root) => return root,
                Parent::Device(above) => device = above,
            }
        }
    }

    /// The children of a parent.
    pub(crate) fn children(&self, parent: Parent) -> &[usize] {
        match parent {
            Parent::Root(root) => &self.roots[root].children,
            Parent::Device(device) => &self.devices[device].children,
        }
    }

    pub(crate) fn children_mut(&mut self, parent: Parent) -> &mut Vec<usize> {
        match parent {
            Parent::Root(root) => &mut self.roots[root].children,
            Parent::Device(device) => &mut self.devices[device].children,
        }
    }

    /// Devices that are written, in the order of the tree.
    pub(crate) fn in_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.devices.len());
        let mut stack: Vec<usize> = self.roots.iter().flat_map(|root| &root.children).rev().copied().collect();
        while let Some(device) = stack.pop() {
            order.push(device);
            stack.extend(self.devices[device].children.iter().rev());
        }
        order
    }

    /// How many of what there are.
    pub(crate) fn counts(&self) -> Counts {
        let (roots, sockets, bridges) = (self.roots.len(), self.sockets, self.bridges);
        let mut counts = Counts { roots, sockets, bridges, ..Counts::default() };
        for device in self.in_order().into_iter().map(|index| &self.devices[index]) {
            match device.kind {
                DeviceKind::Switch => counts.switches += 1,
                DeviceKind::Port => continue,
                DeviceKind::Gpu => counts.gpus += 1,
                DeviceKind::Nic => counts.nics += 1,
                DeviceKind::Fpga => counts.fpgas += 1,
            }
            if let Up::Pcie(link) = device.up {
                *counts.pcie.entry((link.generation, link.width)).or_default() += 1;
            }
        }
        for wire in self.laterals.values() {
            match wire {
                Wire::NvLink(_, links) => counts.nvlinks += u64::from(*links),
                Wire::NvLinkSum(_) => counts.nvlinks += 1,
                Wire::Xgmi(_, links) => counts.xgmi += u64::from(*links),
                Wire::XgmiSum(_) => counts.xgmi += 1,
                Wire::Socket(_) | Wire::Package(_) | Wire::C2c(_) | Wire::C2cSum(_) => {}
            }
        }
        counts
    }
}
