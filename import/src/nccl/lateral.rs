//! `<nvlink>`, `<xgmi>` and `<c2c>` below a `<gpu>`.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::{Reader, cut, elements};
use crate::bus::BusId;
use crate::machine::{End, Wire};
use crate::xml;

/// Links of one sort between two ends at most; *assumed*: a GPU has 18 NVLinks today.
const LINKS: u32 = 144;

/// Links as each of two ends tells them, the end with the smaller number first.
type Told = BTreeMap<(End, End, bool), [u32; 2]>;

impl<'a, 'd: 'a> Reader<'_, 'a, 'd> {
    /// Reads the links of all GPUs.
    pub(super) fn laterals(&mut self) {
        let mut by_bus: BTreeMap<(usize, BusId), usize> = BTreeMap::new();
        for (index, device) in self.machine.devices.iter().enumerate() {
            if let Some(bus) = device.bus {
                let host = self.machine.roots[self.machine.root_of(index)].host;
                if by_bus.insert((host, bus), index).is_some() {
                    let message = format!("two devices have the bus id {bus}");
                    self.findings.warning(message, "links name the second one; give each device its own `busid`");
                }
            }
        }
        let mut told = Told::new();
        for (gpu, node) in std::mem::take(&mut self.gpus) {
            for link in elements(node) {
                match link.tag_name().name() {
                    "nvlink" => self.link(&by_bus, gpu, link, false, &mut told),
                    "xgmi" => self.link(&by_bus, gpu, link, true, &mut told),
                    "c2c" => self.c2c(gpu, link),
                    _ => {}
                }
            }
        }
        for ((a, b, xgmi), counts) in told {
            self.add(a, b, xgmi, counts);
        }
    }

    fn id(&self, device: usize) -> String {
        self.machine.devices[device].bus.map_or_else(|| "a GPU without bus id".to_owned(), |bus| bus.to_string())
    }

    fn link(
        &mut self,
        by_bus: &BTreeMap<(usize, BusId), usize>,
        gpu: usize,
        node: Node<'_, '_>,
        xgmi: bool,
        told: &mut Told,
    ) {
        let (id, line) = (self.id(gpu), xml::line(node));
        let count = xml::number(node, "count").filter(|count| (1..=LINKS).contains(count));
        let Some(count) = count else {
            let given = cut(node.attribute("count").unwrap_or(""));
            let message = format!("{id}, line {line}: a link with count `{given}` is left out");
            self.findings.warning(message, "write the number of links, 1 to 144, and import again");
            return;
        };
        let target = node.attribute("target").unwrap_or("");
        let class = node.attribute("tclass").unwrap_or("").trim().trim_start_matches("0x").to_ascii_lowercase();
        let root = self.machine.root_of(gpu);
        let host = self.machine.roots[root].host;
        let found = BusId::read(target).and_then(|bus| by_bus.get(&(host, bus)).copied());
        let other = match found {
            Some(device) if device == gpu => {
                let message = format!("{id}, line {line}: a link whose target is its own GPU is left out");
                self.findings.warning(message, "write the bus id of the other GPU in `target`, and import again");
                return;
            }
            Some(device) => End::Device(device),
            None if class.starts_with("0680") && class != "068001" => End::NvSwitch,
            None if class == "068001" => End::Root(root),
            None => {
                let message = format!("{id}, line {line}: no device `{}` for a link to it", cut(target));
                self.findings.warning(message, "the link is left out; dump with all GPUs of the machine");
                return;
            }
        };
        let own = End::Device(gpu);
        let sums = told.entry((own.min(other), own.max(other), xgmi)).or_default();
        let side = usize::from(own > other);
        sums[side] = sums[side].saturating_add(count).min(LINKS);
    }

    fn c2c(&mut self, gpu: usize, node: Node<'_, '_>) {
        let each = u64::from(xml::number(node, "bw").unwrap_or(0));
        let megabytes = each * u64::from(xml::number(node, "count").unwrap_or(0));
        if !(1..=100_000_000).contains(&megabytes) {
            let message = format!("{}, line {}: a chip-to-chip link without bandwidth", self.id(gpu), xml::line(node));
            self.findings.warning(message, "it is left out; write `count` and `bw` (MB/s), and import again");
            return;
        }
        let root = self.machine.root_of(gpu);
        self.machine.lateral(End::Device(gpu), End::Root(root), Wire::C2c(megabytes));
    }

    fn add(&mut self, a: End, b: End, xgmi: bool, [from_a, from_b]: [u32; 2]) {
        let both = matches!((a, b), (End::Device(_), End::Device(_)));
        if both && from_a != from_b {
            let (a, b) = (self.end(a), self.end(b));
            let message = format!("{a} tells of {from_a} links to {b}, which tells of {from_b}");
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
