//! The `<cpu>`s of a dump of NCCL with the trees below them.

use roxmltree::Node;

use crate::bandwidth::Processor;
use crate::bus::BusId;
use crate::class::{self, Identity};
use crate::finding::{Findings, Ids, Level};
use crate::gpu::Gpu;
use crate::machine::{Device, DeviceKind, Machine, Parent, Root, Up};
use crate::module::{self, Module};
use crate::pcie::{self, PcieLink};
use crate::refusal::Refusal;
use crate::xml::{self, Lines};

/// The machine as far as it was read.
pub(super) struct Reader<'f, 'a, 'd> {
    pub(super) machine: Machine,
    pub(super) findings: &'f mut Findings,
    /// The `host_hash` of each machine of the dump.
    hosts: Vec<String>,
    /// GPUs of the machine, each with its `<gpu>`.
    pub(super) gpus: Vec<(usize, Node<'a, 'd>)>,
    pub(super) lines: &'f Lines,
    /// Devices of which the file says nothing but the bus id, and the line of the first.
    without_class: Ids,
    first_without_class: Option<u32>,
}

impl<'f, 'a, 'd: 'a> Reader<'f, 'a, 'd> {
    pub(super) fn new(findings: &'f mut Findings, lines: &'f Lines) -> Self {
        let (machine, hosts, gpus, without_class) = (Machine::default(), Vec::new(), Vec::new(), Ids::default());
        Self { machine, findings, hosts, gpus, lines, without_class, first_without_class: None }
    }

    /// Refuses a file that does not show which of its devices are GPUs; else warns of devices without a class.
    pub(super) fn check_classes(&mut self) -> Result<(), Refusal> {
        let Some(line) = self.first_without_class else { return Ok(()) };
        let run = "dump the running machine: any NCCL program with `NCCL_TOPO_DUMP_FILE=topology.xml` in its environment, which adds \
                   classes, speeds and `<gpu>`s";
        if self.machine.devices.iter().any(|device| device.kind == DeviceKind::Gpu) {
            let message = "left out, devices without a class, which may be GPUs or network cards: {}";
            self.findings.of_ids(Level::Warning, message, &self.without_class, Some(run.to_owned()));
            return Ok(());
        }
        let message =
            "no GPU: the devices have a bus id but no `class`, as in a preset that NCCL completes when it runs";
        Err(Refusal::new(message).at(line).help(run))
    }

    pub(super) fn child_of_system(&mut self, node: Node<'a, 'd>) -> Result<(), Refusal> {
        if node.has_tag_name("cpu") {
            return self.cpu(node);
        }
        let (line, name) = (self.lines.line(node), cut(node.tag_name().name()));
        let message = format!("line {line}: `<{name}>` below `<system>` is left out");
        self.findings.warning(message, "only `<cpu>` is read there");
        Ok(())
    }

    fn cpu(&mut self, node: Node<'a, 'd>) -> Result<(), Refusal> {
        let host = self.host(node.attribute("host_hash").unwrap_or(""));
        let numa = xml::number(node, "numaid").filter(|&numa| numa < 1024);
        let line = self.lines.line(node);
        match node.attribute("numaid").map(str::trim) {
            _ if numa.is_some() => {}
            // The system does not know it.
            None | Some("" | "-1") => self.findings.note(format!("line {line}: `<cpu>` has no NUMA number (`numaid`)")),
            Some(other) => self.findings.warning(
                format!("line {line}: the NUMA number `{}` is none from 0 to 1023", cut(other)),
                "it is left out; write the right one to `numaid`, and import again",
            ),
        }
        let same = |root: &Root| numa.is_some() && root.numa == numa && root.host == host;
        if self.machine.roots.iter().any(same) {
            let message = format!("line {}: a second `<cpu>` with the same `numaid`", self.lines.line(node));
            self.findings.warning(message, "both are kept; remove one `<cpu>` if they are one");
        }
        let root = Root { numa, host, processor: processor(node), ..Root::default() };
        let root = self.machine.root(root)?;
        self.below(node, root)
    }

    /// All that is below a `<cpu>`.
    fn below(&mut self, node: Node<'a, 'd>, root: usize) -> Result<(), Refusal> {
        let mut stack: Vec<_> = elements(node).rev().map(|child| (child, Parent::Root(root))).collect();
        while let Some((node, parent)) = stack.pop() {
            match node.tag_name().name() {
                "pci" => {
                    if let Some(below) = self.pci(node, parent)? {
                        stack.extend(elements(node).rev().map(|child| (child, below)));
                    }
                }
                // Of a device: read with it.
                "gpu" | "pcilink" => {}
                "nic" => self.nic_without_pcie(node, parent)?,
                other => {
                    let message = format!("line {}: `<{}>` is left out", self.lines.line(node), cut(other));
                    self.findings.note(message);
                }
            }
        }
        Ok(())
    }

    /// Warns that the dump is of several machines.
    pub(super) fn report_hosts(&mut self) {
        let roots = |host: usize| {
            let of_host = self.machine.roots.iter().enumerate().filter(|(_, root)| root.host == host);
            of_host.map(|(index, _)| format!("rc{index}")).collect::<Vec<_>>().join(" ")
        };
        let named: Vec<String> = self
            .hosts
            .iter()
            .enumerate()
            .map(|(host, hash)| format!("{} ({})", cut(hash), roots(host)))
            .take(8)
            .collect();
        if self.hosts.len() > 1 {
            let message = format!(
                "the dump is of {} machines, by their `host_hash`: {}; no link but NVLink joins them",
                self.hosts.len(),
                named.join(", ")
            );
            let help = "import the `<cpu>`s of one machine, or join the network cards by a node `kind: network` in the written file";
            self.findings.warning(message, help);
        }
    }

    fn host(&mut self, hash: &str) -> usize {
        self.hosts.iter().position(|known| known == hash).unwrap_or_else(|| {
            self.hosts.push(hash.to_owned());
            self.hosts.len() - 1
        })
    }

    /// Adds a device; returns what its children hang on.
    fn pci(&mut self, node: Node<'a, 'd>, parent: Parent) -> Result<Option<Parent>, Refusal> {
        let bus = node.attribute("busid").and_then(BusId::read);
        if bus.is_none() {
            let given = cut(node.attribute("busid").unwrap_or(""));
            self.findings.warning(
                format!("line {}: `{given}` is no bus id", self.lines.line(node)),
                "the device is kept without one; write `busid=\"0000:07:00.0\"`",
            );
        }
        let kind = self.kind(node);
        let Some(kind) = kind else {
            let class = cut(node.attribute("class").unwrap_or("").trim());
            let id = bus.map_or_else(String::new, |bus| bus.to_string());
            if class.is_empty() {
                self.without_class.add(&id);
                self.first_without_class = self.first_without_class.or(Some(self.lines.line(node)));
            } else {
                self.findings.left_out(&format!("devices of class {class}"), &id);
            }
            return Ok(Some(parent));
        };
        let gpu = self.gpu(node, bus);
        let device = device(node, kind, bus, gpu);
        self.machine.bridges += usize::from(kind == DeviceKind::Switch);
        let index = self.machine.device(parent, device)?;
        self.gpus.extend(gpu.map(|gpu| (index, gpu)));
        // Nothing passes through a device: what a file hangs below one is put beside it.
        Ok((kind != DeviceKind::Nic || !is_leaf(node)).then_some(if kind == DeviceKind::Switch {
            Parent::Device(index)
        } else {
            parent
        }))
    }

    /// The first `<gpu>` of a device; notes further ones.
    fn gpu(&mut self, node: Node<'a, 'd>, bus: Option<BusId>) -> Option<Node<'a, 'd>> {
        let mut gpus = elements(node).filter(|child| child.has_tag_name("gpu"));
        let gpu = gpus.next();
        let more = gpus.count();
        if more > 0 {
            let id = bus.map_or_else(|| "a GPU without bus id".to_owned(), |bus| bus.to_string());
            let (line, all) = (self.lines.line(node), more + 1);
            let message = format!("{id}, line {line}: {all} `<gpu>`, instances of one GPU (MIG): they are one node");
            self.findings.note(message);
        }
        gpu
    }

    /// What a device is; `None` for what is neither bridge, GPU, network card nor FPGA.
    fn kind(&self, node: Node<'_, '_>) -> Option<DeviceKind> {
        let has = |name: &str| elements(node).any(|child| child.has_tag_name(name));
        if has("gpu") {
            return Some(DeviceKind::Gpu);
        }
        if has("nic") {
            return Some(DeviceKind::Nic);
        }
        let class = class::of_text(node.attribute("class").unwrap_or("")).unwrap_or(0);
        let id = |key| xml::number(node, key).map(|id| id as u16);
        let kind = Identity::of_vendor(class, id("vendor"), id("device"), false).kind();
        // NCCL takes what it does not know for a switch.
        kind.or_else(|| has("pci").then_some(DeviceKind::Switch))
    }

    /// A card that hangs on a processor: virtual, or without a path in the system's files.
    fn nic_without_pcie(&mut self, node: Node<'a, 'd>, parent: Parent) -> Result<(), Refusal> {
        if matches!(parent, Parent::Device(_)) || node.parent_element().is_some_and(|p| p.has_tag_name("pci")) {
            return Ok(());
        }
        if is_virtual(node) {
            self.findings
                .left_out("interfaces of containers and bridges in software, which are no cards", &nets(node).0);
            return Ok(());
        }
        let (label, speed) = nets(node);
        let speed = if speed == 0 { 10_000 } else { speed };
        let mut device = Device::new(DeviceKind::Nic, None, Up::Network(speed));
        self.findings.note(format!("network card {label} has no PCIe link in the dump; its port's speed is its link"));
        device.label = label;
        self.machine.device(parent, device).map(drop)
    }
}

/// The device of a `<pci>`.
fn device(node: Node<'_, '_>, kind: DeviceKind, bus: Option<BusId>, gpu: Option<Node<'_, '_>>) -> Device {
    let generation = node.attribute("link_speed").and_then(pcie::generation);
    let width = node.attribute("link_width").and_then(pcie::width);
    let mut device = Device::new(kind, bus, Up::Pcie(PcieLink::new(generation, width)));
    if kind == DeviceKind::Nic {
        device.label = nets(node).0;
    }
    if kind == DeviceKind::Gpu {
        device.gpu = generation_of(node, gpu);
        // Files that somebody wrote have zeros there, where they do not know it.
        device.has_model = ids(node).is_some_and(|(vendor, _)| !matches!(vendor, 0 | 0xffff));
        device.may_be_module = ids(node).is_some_and(|(vendor, device)| module::is_unknown(vendor, device));
        device.is_card = ids(node).is_some_and(|(vendor, device)| module::is_card(vendor, device));
        device.module = ids(node).and_then(|(vendor, device)| Module::of_ids(vendor, device));
        device.vendor = ids(node).map(|(vendor, _)| vendor);
        device.number = gpu.and_then(|gpu| xml::number(gpu, "dev"));
    }
    device
}

pub(super) fn elements<'a, 'd: 'a>(node: Node<'a, 'd>) -> impl DoubleEndedIterator<Item = Node<'a, 'd>> {
    node.children().filter(Node::is_element)
}

fn is_leaf(node: Node<'_, '_>) -> bool {
    !elements(node).any(|child| child.has_tag_name("pci"))
}

/// Mb/s of a port at most; *assumed*: 1.6 Tb/s are announced, and some cards report numbers far above.
const MOST_PORT: u32 = 10_000_000;

/// The names of the ports below a `<nic>`, or the `<nic>` of a `<pci>`, and their speeds together in Mb/s.
fn nets(node: Node<'_, '_>) -> (String, u32) {
    let nic = elements(node).find(|child| child.has_tag_name("nic")).unwrap_or(node);
    let (mut names, mut speed) = (Vec::new(), 0_u32);
    for net in elements(nic).filter(|child| child.has_tag_name("net")) {
        let megabits = xml::number(net, "speed").filter(|&megabits| megabits <= MOST_PORT).unwrap_or(0);
        speed = speed.saturating_add(megabits);
        let name = cut(net.attribute("name").unwrap_or("?"));
        names.push(if megabits > 0 { format!("{name} {} Gb/s", f64::from(megabits) / 1000.0) } else { name });
    }
    (names.join(", "), speed)
}

/// Whether all ports of a `<nic>` are Linux's interfaces without hardware, by the names that Docker, libvirt and the kernel give them.
fn is_virtual(nic: Node<'_, '_>) -> bool {
    let of_software = |name: &str| ["br-", "veth", "docker", "virbr"].iter().any(|word| name.starts_with(word));
    let mut ports = elements(nic).filter(|child| child.has_tag_name("net")).peekable();
    ports.peek().is_some() && ports.all(|port| port.attribute("name").is_some_and(of_software))
}

fn processor(node: Node<'_, '_>) -> Processor {
    match node.attribute("arch").unwrap_or("") {
        "ppc64" | "ppc64le" => Processor::Power,
        "arm64" | "aarch64" => Processor::Arm,
        _ => {
            let (family, model) = (xml::number(node, "familyid"), xml::number(node, "modelid"));
            Processor::of_x86(node.attribute("vendor").unwrap_or(""), family, model)
        }
    }
}

fn generation_of(pci: Node<'_, '_>, gpu: Option<Node<'_, '_>>) -> Gpu {
    let by_gcn = gpu.and_then(|gpu| gpu.attribute("gcn")).map(Gpu::of_gcn);
    let by_sm = || {
        let sm = gpu.and_then(|gpu| xml::number(gpu, "sm"))?;
        // RCCL writes a number of its own there.
        gpu.is_some_and(|gpu| !gpu.has_attribute("gcn")).then_some(Gpu::Nvidia(sm as u16))
    };
    let by_ids = || ids(pci).map(|(vendor, device)| Gpu::of_ids(vendor, device));
    by_gcn.or_else(by_sm).or_else(by_ids).unwrap_or_default()
}

/// Vendor and device id.
fn ids(pci: Node<'_, '_>) -> Option<(u16, u16)> {
    Some((xml::number(pci, "vendor")? as u16, xml::number(pci, "device")? as u16))
}

/// A text of the dump in a message.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}
