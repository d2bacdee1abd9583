//! The tree that a matrix suggests: devices of one NUMA node hang on one root complex, those with only bridges between
//! them on one switch, those with one bridge between them on one switch below that.

use std::collections::{BTreeMap, BTreeSet};

use super::check::Groups;
use super::listed::Listed;
use super::matrix::{Matrix, NumaNodes, Way};
use crate::finding::{Findings, Ids, Level};
use crate::gpu::Gpu;
use crate::machine::{Device, DeviceKind, End, Machine, Parent, Root, Up, Wire};
use crate::pcie::PcieLink;
use crate::refusal::Refusal;

/// NVLinks of one GPU at most (18 on NVIDIA's H100 and B200), where the text does not name its model.
const LINKS: u32 = 18;

pub(super) fn machine(
    matrix: &Matrix,
    listed: &BTreeMap<u32, Listed>,
    findings: &mut Findings,
) -> Result<Machine, Refusal> {
    let nodes = numa_nodes(matrix, findings);
    let boards = groups(matrix, |i, j| matrix.ways[i][j] <= Way::Pxb);
    let switches = groups(matrix, |i, j| matrix.ways[i][j] == Way::Pix);
    Groups { matrix, nodes: &nodes, boards: &boards, switches: &switches }.check(findings);
    let places = places(matrix, &nodes, findings);
    report_several(matrix, findings);
    let mut guess = Guess { machine: Machine::default(), roots: BTreeMap::new(), switches: BTreeMap::new() };
    let mut devices = Vec::with_capacity(matrix.names.len());
    for (i, name) in matrix.names.iter().enumerate() {
        let mut parent = Parent::Root(guess.root(matrix, &places, places[i])?);
        for (lower, groups) in [(false, &boards), (true, &switches)] {
            let size = groups.iter().filter(|&&group| group == groups[i]).count();
            let same = lower && size == boards.iter().filter(|&&group| group == boards[i]).count();
            if size > 1 && !same {
                parent = Parent::Device(guess.switch(parent, lower, groups[i])?);
            }
        }
        let kind = if name.starts_with("GPU") { DeviceKind::Gpu } else { DeviceKind::Nic };
        let mut device = Device::new(kind, None, Up::Pcie(PcieLink::new(None, None)));
        device.number = name.strip_prefix("GPU").and_then(|number| number.parse().ok());
        device.label.clone_from(name);
        device.has_memory_node = matrix.has_memory_node[i];
        if let Some(listed) = device.number.and_then(|number| listed.get(&number)) {
            device.label.clone_from(&listed.name);
            (device.bus, device.gpu, device.module) = (listed.bus, listed.gpu(), listed.module());
        }
        devices.push(guess.machine.device(parent, device)?);
    }
    let Guess { mut machine, switches, .. } = guess;
    machine.bridges = switches.len();
    nvlinks(matrix, &mut machine, &devices, findings);
    machine.join_sockets();
    Ok(machine)
}

struct Guess {
    machine: Machine,
    /// By group of devices of one NUMA node.
    roots: BTreeMap<usize, usize>,
    /// By level, lower or not, and group.
    switches: BTreeMap<(bool, usize), usize>,
}

impl Guess {
    /// The root complex of a group, made when the first device of the group comes.
    fn root(&mut self, matrix: &Matrix, nodes: &[usize], group: usize) -> Result<usize, Refusal> {
        if let Some(&root) = self.roots.get(&group) {
            return Ok(root);
        }
        let taken: Vec<u32> = self.machine.roots.iter().filter_map(|root| root.numa).collect();
        let members = || (0..matrix.names.len()).filter(|&j| nodes[j] == group).map(|j| &matrix.numa[j]);
        // A device that is near to one node tells more than those that are near to several.
        let (several, one): (Vec<&NumaNodes>, Vec<_>) = members().partition(|numa| numa.are_several());
        let numa = one.into_iter().chain(several).find_map(|numa| numa.first_but(&taken));
        let root = self.machine.root(Root { numa, ..Root::default() })?;
        self.roots.insert(group, root);
        Ok(root)
    }

    /// The switch of a group, likewise.
    fn switch(&mut self, parent: Parent, lower: bool, group: usize) -> Result<usize, Refusal> {
        if let Some(&device) = self.switches.get(&(lower, group)) {
            return Ok(device);
        }
        let mut device = Device::new(DeviceKind::Switch, None, Up::Pcie(PcieLink::new(None, None)));
        device.label = "a guess".to_owned();
        let device = self.machine.device(parent, device)?;
        self.switches.insert((lower, group), device);
        Ok(device)
    }
}

/// Per device the smallest member of its group: those that a relation joins, also by others.
fn groups(matrix: &Matrix, joined: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let n = matrix.names.len();
    let mut group: Vec<usize> = vec![usize::MAX; n];
    for start in 0..n {
        if group[start] != usize::MAX {
            continue;
        }
        let mut stack = vec![start];
        while let Some(i) = stack.pop() {
            if group[i] == usize::MAX {
                group[i] = start;
                stack.extend((0..n).filter(|&j| group[j] == usize::MAX && joined(i, j)));
            }
        }
    }
    group
}

/// The NUMA node of each device. NVLinks hide what is between two GPUs: then affinities decide, else it is assumed.
fn numa_nodes(matrix: &Matrix, findings: &mut Findings) -> Vec<usize> {
    let has_cpus = |i: usize| matrix.cpus[i].starts_with(|c: char| c.is_ascii_digit());
    let near = |i: usize, j: usize| {
        let (a, b) = (&matrix.numa[i], &matrix.numa[j]);
        let known = a.is_known() && b.is_known();
        if known { a == b } else { has_cpus(i) && has_cpus(j) && matrix.cpus[i] == matrix.cpus[j] }
    };
    let nodes = groups(matrix, |i, j| match matrix.ways[i][j] {
        Way::Pix | Way::Pxb | Way::Phb | Way::Node => true,
        Way::Nv(_) => near(i, j),
        // Virtual machines show a bus of its own for each device, but the affinities of the real one.
        Way::Sys => matrix.of_one_node(i, j),
        Way::Own => false,
    });
    let alone = (0..nodes.len()).filter(|&i| !matrix.numa[i].is_known() && !has_cpus(i));
    let hidden = alone.filter(|&i| matrix.ways[i].iter().all(|way| matches!(way, Way::Nv(_) | Way::Own)));
    let hidden: Vec<&str> = hidden.map(|i| matrix.names[i].as_str()).take(8).collect();
    if !hidden.is_empty() && nodes.len() > 1 {
        let message =
            format!("the matrix does not show where {} belong: each gets a NUMA node of its own", hidden.join(", "));
        findings.warning(message, "paste the columns `CPU Affinity` and `NUMA Affinity` too");
    }
    nodes
}

/// Devices whose affinity is of several NUMA nodes, as in virtual machines and where a socket is cut into several nodes.
fn report_several(matrix: &Matrix, findings: &mut Findings) {
    let several: Ids =
        (0..matrix.names.len()).filter(|&i| matrix.numa[i].are_several()).map(|i| &matrix.names[i]).collect();
    if !several.is_empty() {
        let message = "{} are near to several NUMA nodes by their affinity: each is put on the first, or the first that no other \
                       root complex has";
        let help = "move them below the right `rc` in the written file, if one node is nearer than the others";
        findings.of_ids(Level::Assumed, message, &several, Some(help.to_owned()));
    }
}

/// On which root complex each device is put, by group: that of its NUMA node. Network cards that are `SYS` to all GPUs, without an
/// affinity of their own, do not show their node. Where GPUs show two and more nodes, such cards are put on the first; where they show
/// one, the cards are on another one, the same for all.
fn places(matrix: &Matrix, nodes: &[usize], findings: &mut Findings) -> Vec<usize> {
    let is_gpu = |i: usize| matrix.names[i].starts_with("GPU");
    let all = 0..nodes.len();
    let shown: BTreeSet<usize> =
        all.clone().filter(|&i| is_gpu(i) || matrix.numa[i].is_known()).map(|i| nodes[i]).collect();
    let lost: Vec<usize> = all.filter(|&i| !shown.contains(&nodes[i])).collect();
    let Some(&first) = lost.first() else { return nodes.to_vec() };
    let several = shown.len() > 1;
    let target = shown.first().copied().filter(|_| several).unwrap_or(nodes[first]);
    let ids: Ids = lost.iter().map(|&i| &matrix.names[i]).collect();
    let (put, level) = match several {
        true => ("they are put on the first", Level::Warning),
        false => ("they are put on one NUMA node of their own", Level::Assumed),
    };
    let message = format!("{{}} are SYS to all GPUs, and the matrix does not show their NUMA node: {put}");
    findings.of_ids(level, &message, &ids, Some("move them below the right `rc` in the written file".to_owned()));
    nodes.iter().map(|&node| if shown.contains(&node) { node } else { target }).collect()
}

/// NVLinks that a GPU has at most.
fn links_of(machine: &Machine, gpu: usize) -> u32 {
    machine.devices[gpu].module.filter(|model| !model.has_xgmi()).map_or(LINKS, |model| model.links)
}

/// Lateral links. Where a GPU would have more NVLinks than its model has, all of them lead to an NVSwitch.
fn nvlinks(matrix: &Matrix, machine: &mut Machine, devices: &[usize], findings: &mut Findings) {
    let links = |i: usize, j: usize| match matrix.ways[i][j] {
        Way::Nv(links) => links.min(LINKS),
        _ => 0,
    };
    let all = 0..matrix.names.len();
    let limit = |i: usize| links_of(machine, devices[i]);
    let above = all.clone().find(|&i| all.clone().map(|j| links(i, j)).sum::<u32>() > limit(i)).map(limit);
    let through_switch = above.is_some();
    let mut any = false;
    for i in all.clone() {
        let most = all.clone().map(|j| links(i, j)).max().unwrap_or(0);
        any |= most > 0;
        if through_switch && most > 0 {
            let gpu = machine.devices[devices[i]].gpu;
            machine.lateral(End::Device(devices[i]), End::NvSwitch, Wire::NvLink(gpu, most));
        }
        for j in i + 1..matrix.names.len() {
            if !through_switch && links(i, j) > 0 {
                let wire = Wire::NvLink(machine.devices[devices[i]].gpu, links(i, j));
                machine.lateral(End::Device(devices[i]), End::Device(devices[j]), wire);
            }
        }
    }
    if any {
        let how = match above {
            Some(links) => format!("lead to NVSwitches, as there are more than {links} in a row"),
            None => "join GPUs directly".to_owned(),
        };
        let unknown = devices.iter().any(|&device| {
            machine.devices[device].kind == DeviceKind::Gpu && machine.devices[device].gpu == Gpu::Unknown
        });
        let (each, help) = match unknown {
            true => (
                "; the text does not name the GPUs: each carries as much as those of the slowest generation with so many",
                "change the types `nvlink-x…` where you know better, or put the output of `nvidia-smi -L` before the matrix",
            ),
            false => ("", "compare with `nvidia-smi nvlink --status`"),
        };
        findings.assumed(format!("NVLinks {how}{each}"), help);
    }
}
