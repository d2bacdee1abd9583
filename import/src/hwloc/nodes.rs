//! The NUMA nodes of a dump of hwloc, and what lies within them.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use crate::bandwidth::Processor;
use crate::machine::{Machine, Root};
use crate::refusal::Refusal;
use crate::xml;

pub(super) fn objects<'a, 'd: 'a>(node: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    node.descendants().filter(|node| node.has_tag_name("object"))
}

pub(super) fn is(node: Node<'_, '_>, kind: &str) -> bool {
    node.attribute("type") == Some(kind)
}

/// Whether a NUMA node is what cores have as their memory: neither that of a GPU, nor a second kind of memory beside it.
fn is_main_memory(node: Node<'_, '_>) -> bool {
    let beside = ["GPUMemory", "MCDRAM", "HBM", "SPM", "NVM", "CXL-DRAM"];
    let cores = node.attribute("cpuset").is_none_or(|set| set.chars().any(|c| c.is_ascii_hexdigit() && c != '0'));
    cores && !node.attribute("subtype").is_some_and(|subtype| beside.contains(&subtype))
}

/// The NUMA nodes, and which of them lie within an object.
pub(super) struct Nodes {
    /// Per node of the document: the first NUMA node in it, and how many there are.
    within: BTreeMap<u32, (usize, usize)>,
}

impl Nodes {
    pub(super) fn new(document: &Document<'_>, machine: &mut Machine) -> Result<Self, Refusal> {
        let processor = processor(document);
        let packages: BTreeMap<u32, u32> = objects(document.root_element())
            .filter(|node| is(*node, "Package"))
            .map(|node| node.id().get())
            .zip(0..)
            .collect();
        machine.sockets = Some(packages.len()).filter(|&number| number > 0);
        let mut within = BTreeMap::new();
        for node in objects(document.root_element()).filter(|node| is(*node, "NUMANode") && is_main_memory(*node)) {
            let numa = xml::number(node, "os_index").filter(|&numa| numa < 1024);
            let package = node.ancestors().find_map(|above| packages.get(&above.id().get()).copied());
            let root = machine.root(Root { numa, processor, package, ..Root::default() })?;
            // Nesting is bounded, and so is the number of NUMA nodes.
            for above in node.ancestors() {
                within.entry(above.id().get()).or_insert((root, 0)).1 += 1;
            }
        }
        if machine.roots.is_empty() {
            machine.root(Root { processor, ..Root::default() })?;
        }
        Ok(Self { within })
    }

    /// The NUMA node that an object is near to: that of the smallest object around it that has some.
    pub(super) fn near(&self, node: Node<'_, '_>) -> (usize, bool) {
        let found = node.ancestors().find_map(|above| self.within.get(&above.id().get()));
        found.map_or((0, false), |&(root, count)| (root, count == 1))
    }
}

/// The processor, by the first package that names it, or by the architecture.
fn processor(document: &Document<'_>) -> Processor {
    let package = objects(document.root_element()).find(|node| is(*node, "Package"));
    let info = |node: Option<Node<'_, '_>>, key: &str| info(node?, key).map(str::to_owned);
    let number = |key: &str| info(package, key).and_then(|text| text.trim().parse().ok());
    let vendor = info(package, "CPUVendor").unwrap_or_default();
    match Processor::of_x86(&vendor, number("CPUFamilyNumber"), number("CPUModelNumber")) {
        Processor::Unknown => {
            let infos = document.descendants().filter(|node| node.has_tag_name("info"));
            let mut architecture = infos.filter(|node| node.attribute("name") == Some("Architecture"));
            match architecture.next().and_then(|node| node.attribute("value")).unwrap_or("") {
                text if text.starts_with("ppc64") => Processor::Power,
                "aarch64" | "arm64" => Processor::Arm,
                _ => Processor::Unknown,
            }
        }
        known => known,
    }
}

/// The value of an `<info>` of an object.
pub(super) fn info<'a>(node: Node<'a, '_>, key: &str) -> Option<&'a str> {
    let infos = node.children().filter(|child| child.has_tag_name("info"));
    infos.filter(|info| info.attribute("name") == Some(key)).find_map(|info| info.attribute("value"))
}
