//! Link types of a written topology: their names, bodies and the comments that say where their numbers are from.

use std::collections::{BTreeMap, BTreeSet};

use crate::bandwidth::{Figures, MEMORY, Sourced, c2cs, gigabytes, nvlinks, xgmis};
use crate::gpu::Gpu;
use crate::machine::{Machine, Up, Wire};
use crate::pcie::{Doubt, PcieLink};

/// A link type as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LinkType {
    /// The map behind its name.
    pub(crate) body: String,
    /// Which bandwidth it is, and where from.
    pub(crate) comment: String,
}

/// All types of a machine.
#[derive(Debug)]
pub(crate) struct LinkTypes {
    figures: Figures,
    by_name: BTreeMap<String, LinkType>,
    pcie: BTreeMap<PcieLink, String>,
    networks: BTreeMap<u32, String>,
    wires: BTreeMap<Wire, String>,
}

/// What a person may change of a link type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Generation(u8),
    Width(u8),
}

/// The type of host memory, and its kind.
pub(crate) const MEMORY_NAME: &str = "memory";

impl LinkTypes {
    /// The types that a machine needs.
    pub(crate) fn of(machine: &Machine, figures: Figures) -> Self {
        let (by_name, pcie, networks, wires) = Default::default();
        let mut types = Self { figures, by_name, pcie, networks, wires };
        let memory = LinkType {
            body: format!("{{ bandwidth: {}GB/s, kind: memory }}", gigabytes(MEMORY)),
            comment: format!(
                "Memory of a NUMA node: {} GB/s, 8 channels of DDR4-3200, peak (assumed, as no dump has it).",
                gigabytes(MEMORY)
            ),
        };
        types.by_name.insert(MEMORY_NAME.to_owned(), memory);
        for index in machine.in_order() {
            match machine.devices[index].up {
                Up::Pcie(link) => types.add_pcie(link, figures),
                Up::Network(megabits) => types.add_network(megabits),
            }
        }
        for wire in machine.laterals.values() {
            types.add_wire(*wire, figures);
        }
        types
    }

    /// All of them by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &LinkType)> {
        self.by_name.iter().map(|(name, link)| (name.as_str(), link))
    }

    /// The kinds of links that are no part of a PCIe tree: host memory, and links between GPUs or to them.
    pub(crate) fn kinds_beside_pcie(&self) -> Vec<&'static str> {
        let between_gpus = |wire: &&Wire| !matches!(wire, Wire::Socket(_) | Wire::Package(_));
        let wires = self.wires.keys().filter(between_gpus).map(|wire| parts(*wire, self.figures).1);
        let kinds: BTreeSet<&str> = wires.collect();
        std::iter::once(MEMORY_NAME).chain(kinds).collect()
    }

    /// The name of the type of a PCIe link.
    pub(crate) fn pcie(&self, link: PcieLink) -> &str {
        self.pcie.get(&link).map_or("", String::as_str)
    }

    /// What changes numbers of the type of a PCIe link, so that it has the figure of a dump that says them. Generations reach
    /// different shares of the raw figure: a type that changes its generation is changed as a whole.
    pub(crate) fn settings(&self, name: &str, link: PcieLink, changes: &[Change]) -> Vec<String> {
        let target = changes.iter().fold(link, |link, change| match *change {
            Change::Generation(generation) => PcieLink { generation, ..link },
            Change::Width(width) => PcieLink { width, ..link },
        });
        let key = format!("--set topology.link_types.{name}");
        let raw = self.figures == Figures::Raw;
        if raw || (link.efficiency().is_some() && link.efficiency() == target.efficiency()) {
            let one = |change: &Change| match change {
                Change::Generation(generation) => format!("{key}.generation={generation}"),
                Change::Width(width) => format!("{key}.width={width}"),
            };
            return changes.iter().map(one).collect();
        }
        if link.efficiency().is_none() && target.efficiency().is_none() {
            return vec![format!("{key}.bandwidth={}GB/s", effective(target))];
        }
        vec![format!("--set 'topology.link_types.{name}={}'", pcie_type(target, self.figures, "").body)]
    }

    /// The name of the type of a link to a parent.
    pub(crate) fn up(&self, up: Up) -> &str {
        match up {
            Up::Pcie(link) => self.pcie(link),
            Up::Network(megabits) => self.networks.get(&megabits).map_or("", String::as_str),
        }
    }

    /// The name of the type of a lateral link.
    pub(crate) fn wire(&self, wire: Wire) -> &str {
        self.wires.get(&wire).map_or("", String::as_str)
    }

    fn add_pcie(&mut self, link: PcieLink, figures: Figures) {
        let suffix = match link.doubt {
            None | Some(Doubt::Product) => "",
            // `weir calibrate` knows by the name that the wire carries no more.
            Some(Doubt::OfChip(_)) => "-chip-assumed",
            Some(doubt) if doubt.is_assumption() => "-assumed",
            Some(_) => "-doubtful",
        };
        let name = format!("pcie{}-x{}{suffix}", link.generation, link.width);
        self.pcie.insert(link, name.clone());
        let doubt = match suffix {
            "-chip-assumed" => " Assumed: the dump lacks the speed, it is the newest generation that the chip can.",
            "-assumed" => " Assumed: the dump lacks a part of it.",
            "-doubtful" => " As reported, but doubtful: see above.",
            _ => "",
        };
        self.by_name.insert(name, pcie_type(link, figures, doubt));
    }

    fn add_network(&mut self, megabits: u32) {
        let name = format!("port-{megabits}Mb");
        let body = format!("{{ bandwidth: {megabits}Mb/s }}");
        let comment = "A card without PCIe link in the dump: the speed of its ports.".to_owned();
        self.networks.insert(megabits, name.clone());
        self.by_name.insert(name, LinkType { body, comment });
    }

    fn add_wire(&mut self, wire: Wire, figures: Figures) {
        if self.wires.contains_key(&wire) {
            return;
        }
        let (name, kind, what, sourced) = parts(wire, figures);
        let bandwidth = gigabytes(sourced.megabytes);
        let body = format!("{{ bandwidth: {bandwidth}GB/s, kind: {kind} }}");
        let comment = format!("{what}: {bandwidth} GB/s each way, {}.", sourced.source);
        let link = LinkType { body, comment };
        // GPUs or processors of two sorts have links of one name but two bandwidths.
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let free = |name: &String| self.by_name.get(name).is_none_or(|known| *known == link);
        let name = std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or_default();
        self.wires.insert(wire, name.clone());
        self.by_name.insert(name, link);
    }
}

const CHIP_TO_CHIP: &str = "Chip to chip, GPU and processor";

/// The name of the type of a lateral link, its kind, what it is, and its bandwidth.
fn parts(wire: Wire, figures: Figures) -> (String, &'static str, &'static str, Sourced) {
    match wire {
        Wire::Socket(processor) => {
            ("socket".to_owned(), processor.link_kind(), "Between two NUMA nodes", processor.socket_link())
        }
        Wire::Package(processor) => {
            let Sourced { megabytes, source } = processor.socket_link();
            let source = format!("as between sockets, since NCCL does not distinguish the two: {source}");
            ("package".to_owned(), "package", "Between two NUMA nodes of one package", Sourced { megabytes, source })
        }
        Wire::NvLink(gpu, links) => (nvlink_name(gpu, links), "nvlink", "NVLink", nvlinks(gpu, links, figures)),
        Wire::Xgmi(gpu, links) => (format!("xgmi-x{links}"), "xgmi", "xGMI", xgmis(gpu, links, figures)),
        Wire::C2c(links) => ("c2c".to_owned(), "nvlink", CHIP_TO_CHIP, c2cs(links, figures)),
        Wire::C2cSum(megabytes) => {
            let source = "as reported".to_owned();
            ("c2c".to_owned(), "nvlink", CHIP_TO_CHIP, Sourced { megabytes, source })
        }
        Wire::NvLinkSum(megabytes) => {
            let source = "raw, as reported; the dump does not name the GPUs".to_owned();
            (format!("nvlink-{}GB", gigabytes(megabytes)), "nvlink", "NVLink", Sourced { megabytes, source })
        }
        Wire::XgmiSum(megabytes) => {
            let source = "raw, as reported; the dump does not give the number of links".to_owned();
            (format!("xgmi-{}GB", gigabytes(megabytes)), "xgmi", "xGMI", Sourced { megabytes, source })
        }
    }
}

/// `nvlink4-x18`: with the generation where the GPU tells it, since only then `weir calibrate` knows what the wires carry.
fn nvlink_name(gpu: Gpu, links: u32) -> String {
    let generation = gpu.nvlink_generation().map_or_else(String::new, |generation| generation.to_string());
    format!("nvlink{generation}-x{links}")
}

/// The effective figure of a link, in GB/s.
fn effective(link: PcieLink) -> String {
    gigabytes(link.megabytes(Figures::Effective))
}

/// The type of a PCIe link; `doubt` is added to its comment.
fn pcie_type(link: PcieLink, figures: Figures, doubt: &str) -> LinkType {
    let (generation, width) = (link.generation, link.width);
    let effective = effective(link);
    let raw = (link.raw() * 100.0).round() / 100.0;
    let source = link.source();
    let head = format!("PCIe {generation}.0 x{width}:");
    let (body, comment) = match (figures, link.efficiency()) {
        (Figures::Raw, _) => (
            format!("{{ generation: {generation}, width: {width} }}"),
            format!("{head} {raw} GB/s raw, after line encoding.{doubt}"),
        ),
        (Figures::Effective, Some(efficiency)) => (
            format!("{{ generation: {generation}, width: {width}, efficiency: {efficiency} }}"),
            format!("{head} {effective} GB/s effective, {source}; {raw} raw.{doubt}"),
        ),
        (Figures::Effective, None) => (
            format!("{{ bandwidth: {effective}GB/s }}"),
            format!("{head} {effective} GB/s effective, {source}; {raw} raw.{doubt}"),
        ),
    };
    LinkType { body, comment }
}
