//! `<nvlink>`, `<xgmi>` and `<c2c>` below a `<gpu>`.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::Node;

use super::reader::{Reader, cut, elements};
use crate::bandwidth::Processor;
use crate::bus::BusId;
use crate::finding::Level;
use crate::machine::{DeviceKind, End, Wire};
use crate::xml;

/// Links of one sort between two ends at most; *assumed*: a GPU has 18 NVLinks today.
const LINKS: u32 = 144;

/// Devices by host and bus id.
type ByBus = BTreeMap<(usize, BusId), usize>;

/// Numbers of links as each of two ends counts them, the end with the smaller number first.
type LinkCounts = BTreeMap<(End, End, bool), [u32; 2]>;

impl<'a, 'd: 'a> Reader<'_, 'a, 'd> {
    /// Reads the links of all GPUs.
    pub(super) fn laterals(&mut self) {
        let by_bus = self.by_bus();
        let mut counted = LinkCounts::new();
        for (gpu, node) in std::mem::take(&mut self.gpus) {
            for link in elements(node) {
                match link.tag_name().name() {
                    "nvlink" | "xgmi" => self.link(&by_bus, gpu, link, &mut counted),
                    "c2c" => self.c2c(gpu, link),
                    _ => {}
                }
            }
        }
        for ((a, b, xgmi), counts) in counted {
            self.add(a, b, xgmi, counts);
        }
    }

    /// The devices by host and bus id.
    fn by_bus(&mut self) -> ByBus {
        let (mut by_bus, mut twins) = (ByBus::new(), BTreeSet::new());
        for (index, device) in self.machine.devices.iter().enumerate() {
            let Some(bus) = device.bus else { continue };
            let host = self.machine.roots[self.machine.root_of(index)].host;
            if by_bus.insert((host, bus), index).is_some() {
                twins.insert(bus.to_string());
            }
        }
        if !twins.is_empty() {
            let help = "links name the last one; give each device its own `busid`";
            let message = "two devices have the bus id {}";
            self.findings.of_ids(Level::Warning, message, &twins.iter().collect(), Some(help.to_owned()));
        }
        by_bus
    }

    fn id(&self, device: usize) -> String {
        self.machine.devices[device].bus.map_or_else(|| "a GPU without bus id".to_owned(), |bus| bus.to_string())
    }

    /// Reads one `<nvlink>` or `<xgmi>`.
    fn link(&mut self, by_bus: &ByBus, gpu: usize, node: Node<'_, '_>, counted: &mut LinkCounts) {
        let (id, line) = (self.id(gpu), self.lines.line(node));
        let count = xml::number(node, "count").filter(|count| (1..=LINKS).contains(count));
        let Some(count) = count else {
            let given = cut(node.attribute("count").unwrap_or(""));
            let message = format!("{id}, line {line}: a link with count `{given}` is left out");
            self.findings.warning(message, "write the number of links, 1 to 144, and import again");
            return;
        };
        let target = node.attribute("target").unwrap_or("");
        let Some(other) = self.target(by_bus, gpu, target, node.attribute("tclass").unwrap_or("")) else {
            let message = format!("{id}, line {line}: no GPU `{}` for a link to it", cut(target));
            self.findings.warning(message, "the link is left out; dump with all GPUs of the machine");
            return;
        };
        let own = End::Device(gpu);
        if own == other {
            let message = format!("{id}, line {line}: a link whose target is its own GPU is left out");
            self.findings.warning(message, "write the bus id of the other GPU in `target`, and import again");
            return;
        }
        let xgmi = node.has_tag_name("xgmi");
        let sums = counted.entry((own.min(other), own.max(other), xgmi)).or_default();
        let side = usize::from(own > other);
        sums[side] = sums[side].saturating_add(count).min(LINKS);
    }

    /// What a link leads to: the GPU of a bus id, or else what the class of the target says, as in NCCL (`src/graph/topo.cc`,
    /// `ncclTopoAddNvLinks`): a processor where it is 0x068001, and what is no GPU an NVSwitch.
    fn target(&self, by_bus: &ByBus, gpu: usize, target: &str, class: &str) -> Option<End> {
        let root = self.machine.root_of(gpu);
        let known = &self.machine.roots[root];
        let found = BusId::read(target).and_then(|bus| by_bus.get(&(known.host, bus)).copied());
        if let Some(device) = found.filter(|&device| self.machine.devices[device].kind == DeviceKind::Gpu) {
            return Some(End::Device(device));
        }
        let class = class.trim().trim_start_matches("0x").to_ascii_lowercase();
        match class.get(..4)? {
            _ if class == "068001" => Some(End::Root(root)),
            "0680" => Some(End::NvSwitch),
            // Bridges of other sorts: POWER's own lead to the processor.
            bridge if bridge.starts_with("06") && known.processor == Processor::Power => Some(End::Root(root)),
            bridge if bridge.starts_with("06") => Some(End::NvSwitch),
            _ => None,
        }
    }

    fn c2c(&mut self, gpu: usize, node: Node<'_, '_>) {
        let each = u64::from(xml::number(node, "bw").unwrap_or(0));
        let megabytes = each * u64::from(xml::number(node, "count").unwrap_or(0));
        if !(1..=100_000_000).contains(&megabytes) {
            let message =
                format!("{}, line {}: a chip-to-chip link without bandwidth", self.id(gpu), self.lines.line(node));
            self.findings.warning(message, "it is left out; write `count` and `bw` (MB/s), and import again");
            return;
        }
        let root = self.machine.root_of(gpu);
        self.machine.lateral(End::Device(gpu), End::Root(root), Wire::C2cSum(megabytes));
    }

    fn add(&mut self, a: End, b: End, xgmi: bool, [from_a, from_b]: [u32; 2]) {
        let both = matches!((a, b), (End::Device(_), End::Device(_)));
        if both && from_a != from_b {
            let (a, b) = (self.end(a), self.end(b));
            let message = format!("{a} reports {from_a} links to {b}, which reports {from_b}");
            self.findings.warning(message, "the larger number is written; change it under `links` if it is wrong");
        }
        let links = from_a.max(from_b);
        let gpu = [a, b].into_iter().find_map(|end| match end {
            End::Device(device) => Some(self.machine.devices[device].gpu),
            _ => None,
        });
        let gpu = gpu.unwrap_or_default();
        self.machine.lateral(a, b, if xgmi { Wire::Xgmi(gpu, links) } else { Wire::NvLink(gpu, links) });
    }

    fn end(&self, end: End) -> String {
        match end {
            End::Device(device) => self.id(device),
            End::Root(root) => format!("NUMA node {root}"),
            End::NvSwitch => "the NVSwitch".to_owned(),
        }
    }
}
