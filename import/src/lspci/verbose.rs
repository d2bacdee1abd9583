//! The list of `lspci -vv`: a line per function, with indented lines that tell its bus, NUMA node and link.

use std::collections::{BTreeMap, BTreeSet};

use super::name::{self, DeviceName, label};
use crate::bus::BusId;
use crate::class::{self, Identity};
use crate::finding::{Findings, Ids, Level};
use crate::functions::{Function, Functions, Port};
use crate::machine::{DeviceKind, Machine, Root};
use crate::pcie::{self, PcieLink};
use crate::refusal::Refusal;

/// What the list says of a function.
#[derive(Debug, Default)]
struct Listed {
    bus: Option<BusId>,
    class: String,
    name: String,
    /// Of a bridge: the bus behind it, and the last of all buses below it.
    secondary: Option<u8>,
    subordinate: Option<u8>,
    numa: Option<u32>,
    port: Port,
    /// What the link can: generation and width.
    can: (Option<u8>, Option<u8>),
    /// What it has at the moment.
    has: (Option<u8>, Option<u8>),
}

pub(super) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let listed = functions(text)?;
    if listed.iter().all(|f| f.can == (None, None) && f.has == (None, None)) {
        findings.warning("no function reports its link", "run it as root: `sudo lspci -Dvvnn`");
    }
    let slow = listed.iter().filter(|f| f.has.0.is_some() && f.has.0 < f.can.0).count();
    if slow > 0 {
        findings.note(format!("{slow} functions run below their highest speed: the highest is written, as in NCCL"));
    }
    place(listed, findings)
}

/// All functions of the list.
fn functions(text: &str) -> Result<Vec<Listed>, Refusal> {
    let mut listed: Vec<Listed> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim().is_empty() {
            continue;
        }
        if text.starts_with([' ', '\t']) {
            match listed.last_mut() {
                Some(function) => detail(function, text.trim()),
                None => {
                    let help = "give the whole output of `sudo lspci -Dvvnn`, from its first line on";
                    return Err(Refusal::new("details before the first function").at(line).help(help));
                }
            }
            continue;
        }
        let (id, rest) = text.split_once(' ').unwrap_or((text, ""));
        let Some(bus) = BusId::read(id) else {
            let help = "give the whole output of `sudo lspci -Dvvnn`";
            return Err(Refusal::new("a line that begins with no bus id such as 07:00.0").at(line).help(help));
        };
        let (class, name) = rest.split_once(": ").unwrap_or((rest, ""));
        listed.push(Listed { bus: Some(bus), class: class.to_owned(), name: name.to_owned(), ..Listed::default() });
    }
    Ok(listed)
}

fn detail(function: &mut Listed, text: &str) {
    let after = |word: &str| Some(text.split_once(word)?.1.split([',', ' ']).next().unwrap_or(""));
    if text.starts_with("Bus: ") {
        let bus = |word| after(word).and_then(|bus| u8::from_str_radix(bus, 16).ok());
        (function.secondary, function.subordinate) = (bus("secondary="), bus("subordinate="));
    } else if let Some(numa) = text.strip_prefix("NUMA node: ") {
        function.numa = numa.trim().parse().ok().filter(|&numa| numa < 1024);
    } else if text.starts_with("LnkCap:") || text.starts_with("LnkSta:") {
        // `Speed 16GT/s (ok), Width x16`, of old versions without the words in brackets.
        let speed = text.split_once("Speed ").map(|(_, rest)| rest.split(',').next().unwrap_or(""));
        let link = (speed.and_then(pcie::generation), after("Width ").and_then(pcie::width));
        if text.starts_with("LnkCap:") { function.can = link } else { function.has = link }
    } else if text.starts_with("Capabilities:") && text.contains("Express") {
        let port = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if port(&["Upstream Port"]) {
            function.port = Port::Up;
        } else if port(&["Root Port", "Downstream Port"]) {
            function.port = Port::Down;
        }
    }
}

/// Puts the functions below the bridges that lead to their buses, and those by NUMA node below root complexes.
fn place(mut listed: Vec<Listed>, findings: &mut Findings) -> Result<Machine, Refusal> {
    listed.sort_by_key(|function| function.bus);
    check_twins(&listed, findings);
    let mut machine = Machine::default();
    let flat = is_flat(&listed);
    if flat {
        machine.bridges = listed.iter().filter(|function| kind(function) == Some(DeviceKind::Switch)).count();
        report_flat(machine.bridges, findings);
    }
    let trees = Trees::of(&listed, findings);
    let mut numa = trees.numa_nodes(&listed, findings);
    put_on_only_node(&listed, &trees, &mut numa, findings);
    let roots = root_complexes(&listed, &trees, &numa, &mut machine)?;
    let mut functions = Functions::default();
    for (index, function) in listed.into_iter().enumerate() {
        let root = roots.get(&numa[trees.top[index]]).copied().unwrap_or(0);
        let mut function = as_function(function, trees.above[index], root);
        // Bridges that lead nowhere are no ports of anything.
        function.kind = function.kind.filter(|kind| !flat || *kind != DeviceKind::Switch);
        functions.add(function)?;
    }
    if roots.contains_key(&None) {
        findings.assumed(
            "devices without a NUMA node are below a root complex of their own",
            "move them in the written file",
        );
    }
    functions.place(&mut machine, findings)?;
    machine.join_sockets();
    Ok(machine)
}

/// Whether no bridge tells which bus is behind it, as in the output of `lspci` without `-v`: nothing tells what hangs on what.
fn is_flat(listed: &[Listed]) -> bool {
    let mut bridges = listed.iter().filter(|function| kind(function) == Some(DeviceKind::Switch)).peekable();
    bridges.peek().is_some() && bridges.all(|bridge| bridge.secondary.is_none())
}

fn report_flat(bridges: usize, findings: &mut Findings) {
    let message = format!(
        "the switches are missing: the list has {bridges} bridges, but not which buses are behind them (no line `Bus: … secondary=…`); all \
         devices are put on the root complexes, whatever is above them"
    );
    findings
        .warning(message, "give the output of `sudo lspci -Dvvnn`; without root `lspci -tv` shows the bridges, too");
}

/// Where the list has one NUMA node, as of laptops whose firmware names it for one device alone, the rest is put there.
fn put_on_only_node(listed: &[Listed], trees: &Trees, numa: &mut [Option<u32>], findings: &mut Findings) {
    let nodes: BTreeSet<u32> = listed.iter().filter_map(|function| function.numa).collect();
    let Some(node) = nodes.first().copied().filter(|_| nodes.len() == 1) else { return };
    let lost = |(index, function): (usize, &Listed)| numa[trees.top[index]].is_none() && kind(function).is_some();
    if listed.iter().enumerate().any(lost) {
        let message = format!("devices without a NUMA node are put on NUMA node {node}, the only one in the list");
        findings.assumed(message, "move them in the written file, if the machine has more");
    }
    numa.iter_mut().for_each(|numa| *numa = Some(node));
}

/// How the functions of a list hang on each other, by their places in the list.
struct Trees {
    /// The bridge above.
    above: Vec<Option<usize>>,
    /// The bridge or device on the root complex, itself included.
    top: Vec<usize>,
}

impl Trees {
    /// Of a list in the order of bus ids: bridges stand before what is below them.
    fn of(listed: &[Listed], findings: &mut Findings) -> Self {
        let mut bridges = Bridges::default();
        let mut trees = Self { above: Vec::with_capacity(listed.len()), top: Vec::with_capacity(listed.len()) };
        for (index, function) in listed.iter().enumerate() {
            let above = function.bus.and_then(|bus| bridges.above(bus)).map(|bridge| bridge.index);
            trees.above.push(above);
            trees.top.push(above.map_or(index, |above| trees.top[above]));
            let Some(bus) = function.bus else { continue };
            if let Some(secondary) = function.secondary.filter(|&secondary| secondary > bus.bus) {
                let last = function.subordinate.unwrap_or(secondary).max(secondary);
                bridges.add(bus.domain, secondary, Bridge { index, last });
            }
        }
        bridges.report_orphans(findings);
        trees
    }

    /// The NUMA node of each tree, by its top: what the top tells, or else the first below it that tells one.
    fn numa_nodes(&self, listed: &[Listed], findings: &mut Findings) -> Vec<Option<u32>> {
        let mut numa: Vec<Option<u32>> = vec![None; listed.len()];
        for (index, function) in listed.iter().enumerate() {
            let of_tree = &mut numa[self.top[index]];
            *of_tree = of_tree.or(function.numa);
        }
        let other = |index: usize, f: &Listed| f.numa.is_some() && f.numa != numa[self.top[index]];
        let others = listed.iter().enumerate().filter(|&(index, f)| other(index, f) && kind(f).is_some());
        let others: Ids = others.filter_map(|(_, f)| f.bus).map(|bus| bus.to_string()).collect();
        if !others.is_empty() {
            let message = "{} report another NUMA node than the root port or the devices above them: the node of those is written";
            let help = "look at the lines `NUMA node:`; move the tree below the other `rc` in the written file if those are right";
            findings.of_ids(Level::Warning, message, &others, Some(help.to_owned()));
        }
        numa
    }
}

/// A root complex for each NUMA node that a tree with a device of interest hangs on.
fn root_complexes(
    listed: &[Listed],
    trees: &Trees,
    numa: &[Option<u32>],
    machine: &mut Machine,
) -> Result<BTreeMap<Option<u32>, usize>, Refusal> {
    let of_interest = |numa: Option<u32>, kind: Option<DeviceKind>| match kind {
        Some(DeviceKind::Switch) => numa.is_some(),
        kind => kind.is_some(),
    };
    let all = listed.iter().enumerate().map(|(index, function)| (numa[trees.top[index]], kind(function)));
    let mut roots: BTreeMap<Option<u32>, usize> =
        all.filter(|&(numa, kind)| of_interest(numa, kind)).map(|(numa, _)| (numa, 0)).collect();
    if roots.is_empty() {
        roots.insert(None, 0);
    }
    for (numa, root) in &mut roots {
        *root = machine.root(Root { numa: *numa, ..Root::default() })?;
    }
    Ok(roots)
}

/// Warns of functions that stand in the list twice.
fn check_twins(listed: &[Listed], findings: &mut Findings) {
    let twins = listed.windows(2).filter(|pair| pair[0].bus == pair[1].bus).filter_map(|pair| pair[0].bus);
    let twins: Ids = twins.map(|bus| bus.to_string()).collect();
    if !twins.is_empty() {
        let help = "both are kept; paste the output of one `lspci` only";
        findings.of_ids(Level::Warning, "twice in the list: {}", &twins, Some(help.to_owned()));
    }
}

/// A bridge of the list.
#[derive(Clone, Copy)]
struct Bridge {
    index: usize,
    /// The last of all buses below it.
    last: u8,
}

/// Bridges by domain and the bus behind them. A bridge stands before the buses below it, whose numbers are larger, once the list is in
/// order.
#[derive(Default)]
struct Bridges {
    behind: BTreeMap<(u32, u8), Bridge>,
    /// Buses whose own bridge is not in the list.
    orphans: BTreeSet<(u32, u8)>,
}

impl Bridges {
    fn add(&mut self, domain: u32, secondary: u8, bridge: Bridge) {
        self.behind.entry((domain, secondary)).or_insert(bridge);
    }

    /// The bridge that leads to a bus, or else the nearest one whose range of buses it is in.
    fn above(&mut self, bus: BusId) -> Option<Bridge> {
        let before = self.behind.range((bus.domain, 0)..=(bus.domain, bus.bus)).rev();
        let found = before.map(|(&(_, first), bridge)| (first, *bridge)).find(|(_, bridge)| bridge.last >= bus.bus);
        if found.is_some_and(|(first, _)| first != bus.bus) {
            self.orphans.insert((bus.domain, bus.bus));
        }
        found.map(|(_, bridge)| bridge)
    }

    fn report_orphans(&self, findings: &mut Findings) {
        let buses: Ids = self.orphans.iter().map(|(domain, bus)| format!("{domain:04x}:{bus:02x}")).collect();
        if !buses.is_empty() {
            let help = "their devices hang on the bridge above; paste all of `sudo lspci -Dvvnn`";
            findings.of_ids(Level::Warning, "no bridge to the buses {} is in the list", &buses, Some(help.to_owned()));
        }
    }
}

fn as_function(listed: Listed, above: Option<usize>, root: usize) -> Function {
    let (kind, is_of_processor, named) = (kind(&listed), is_of_processor(&listed), DeviceName::of(&listed.name));
    // A link is as wide as it was trained; its speed goes down when it is idle.
    let link = PcieLink::new(listed.can.0.or(listed.has.0), listed.has.1.or(listed.can.1));
    Function {
        kind,
        bus: listed.bus,
        link: Some(link),
        lanes: listed.can.1,
        port: listed.port,
        vendor: named.vendor,
        gpu: named.gpu,
        module: named.module,
        is_card: named.is_card,
        maker: named.maker,
        is_virtual: named.is_virtual,
        is_of_processor,
        label: label(&listed.name),
        above,
        root,
        ..Function::default()
    }
}

/// What a function is: by the number of its class where `-nn` gives it, else by the class's name.
fn kind(listed: &Listed) -> Option<DeviceKind> {
    let class = class::of_text(&listed.class)?;
    let named = DeviceName::of(&listed.name);
    match identity(listed, &named, class).kind() {
        Some(DeviceKind::Gpu) if is_of_processor(listed) => None,
        // Without numbers the name tells whose display it is.
        Some(DeviceKind::Gpu) if class == 0x0300 && named.vendor.is_none() => name::kind(&listed.name, &named),
        kind => kind,
    }
}

fn identity(listed: &Listed, named: &DeviceName, class: u16) -> Identity {
    let on_bus_0 = listed.bus.is_some_and(|bus| bus.bus == 0);
    Identity::of_vendor(class, named.vendor, named.device, on_bus_0)
}

/// Whether a function is graphics inside a processor, by its numbers or name.
fn is_of_processor(listed: &Listed) -> bool {
    let named = DeviceName::of(&listed.name);
    let identity = class::of_text(&listed.class).map(|class| identity(listed, &named, class));
    identity.is_some_and(|identity| identity.is_of_processor() || (identity.is_display() && named.is_of_processor))
}
