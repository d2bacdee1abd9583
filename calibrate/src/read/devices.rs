//! Which devices the numbers and names of a log stand for.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::{Diagnostic, Machine};

use super::options::ReadOptions;

/// Candidates that an error names at most.
const MOST_NAMED: usize = 8;

/// What is wrong with the names of an option, and the remedy.
type NamesError = (String, String);

fn of_option(option: &str, (message, help): NamesError) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(format!("{option}: {message}")).with_help(help))
}

/// The devices that a log numbers from 0.
pub(super) fn numbered(machine: &Machine, options: &ReadOptions) -> Result<Vec<NodeId>, Box<Diagnostic>> {
    let Some(names) = &options.devices else { return Ok(gpus(machine)) };
    let devices = machine.devices(names).map_err(|problem| of_option("--devices", problem))?;
    once_each(machine, &devices).map_err(|problem| of_option("--devices", problem))?;
    Ok(devices)
}

/// Refuses host memory among the devices that `--devices` names: logs of GPUs do not number it.
pub(super) fn no_hosts(machine: &Machine, options: &ReadOptions, devices: &[NodeId]) -> Result<(), Box<Diagnostic>> {
    let host = devices.iter().find(|&&node| is_host(machine, node).is_ok());
    let Some(&host) = host.filter(|_| options.devices.is_some()) else { return Ok(()) };
    let message = format!("`{}` is host memory, and the log numbers GPUs", machine.node_name(host));
    Err(of_option("--devices", (message, "name the GPUs in the order of the log; host memory by --host".to_owned())))
}

pub(super) fn host(machine: &Machine, options: &ReadOptions) -> Result<Option<NodeId>, Box<Diagnostic>> {
    let Some(name) = &options.host else { return Ok(None) };
    let host = machine.device(name).and_then(|host| is_host(machine, host).map(|()| host));
    host.map(Some).map_err(|problem| of_option("--host", problem))
}

/// The two devices of a log of one pair.
#[derive(Clone, Copy)]
pub(super) struct DevicePair {
    pub(super) first: NodeId,
    pub(super) second: NodeId,
}

pub(super) fn pair(machine: &Machine, options: &ReadOptions) -> Result<Option<DevicePair>, Box<Diagnostic>> {
    let Some(names) = &options.pair else { return Ok(None) };
    let devices = machine.devices(names).map_err(|problem| of_option("--pair", problem))?;
    match devices[..] {
        [first, second] if first != second => Ok(Some(DevicePair { first, second })),
        _ => {
            let message = format!("`{names}` are not two devices");
            Err(of_option("--pair", (message, "write `--pair gpu0,gpu1`".to_owned())))
        }
    }
}

/// The cpu with the fewest links to a device, among equals the first.
pub(super) fn nearest_cpu(machine: &Machine, device: NodeId) -> Option<NodeId> {
    let fabric = &machine.fabric;
    let mut routes = weir_sim_core::Routes::new();
    let nodes = fabric.nodes().iter().enumerate();
    let cpus = nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Cpu | NodeKind::Host));
    let far = cpus.filter_map(|(at, _)| {
        let cpu = NodeId::from_index(at);
        let route = routes.between(fabric, cpu, device)?;
        Some((routes.links(route).len(), cpu))
    });
    far.min().map(|(_, cpu)| cpu)
}

/// Refuses devices that are named twice: each is one number of the log.
fn once_each(machine: &Machine, devices: &[NodeId]) -> Result<(), NamesError> {
    let mut seen = BTreeMap::new();
    for (number, device) in devices.iter().enumerate() {
        if let Some(before) = seen.insert(device, number) {
            let name = machine.node_name(*device);
            let message = format!("`{name}` is named twice, as number {before} and as number {number} of the log");
            return Err((message, "name each device once, in the order in which the log numbers them".to_owned()));
        }
    }
    Ok(())
}

/// Refuses a device that has no host memory.
fn is_host(machine: &Machine, node: NodeId) -> Result<(), NamesError> {
    let host = |kind| matches!(kind, NodeKind::Cpu | NodeKind::Host);
    if host(machine.fabric.node(node).kind) {
        return Ok(());
    }
    let nodes = machine.fabric.nodes().iter().enumerate().filter(|(_, n)| host(n.kind));
    let names: Vec<&str> = nodes.map(|(at, _)| machine.node_name(NodeId::from_index(at))).take(MOST_NAMED).collect();
    let help = match names[..] {
        [] => "this topology has no cpu: add one with its memory".to_owned(),
        _ => format!("name one of {}", names.join(", ")),
    };
    Err((format!("`{}` is no host memory", machine.node_name(node)), help))
}

/// The GPUs as tools number them: by the numbers of their names where all are one word and different numbers (`gpu0`,
/// `gpu1`, …), as a tree lists them by NUMA node; else in the order of the file.
fn gpus(machine: &Machine) -> Vec<NodeId> {
    let nodes = machine.fabric.nodes().iter().enumerate();
    let mut all: Vec<NodeId> =
        nodes.filter(|(_, node)| node.kind == NodeKind::Gpu).map(|(at, _)| NodeId::from_index(at)).collect();
    let numbered = |&node: &NodeId| {
        let name = machine.node_name(node);
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((word, name[word.len()..].parse::<u64>().ok()?))
    };
    let names: Option<Vec<(&str, u64)>> = all.iter().map(numbered).collect();
    let of_one_word = |names: &Vec<(&str, u64)>| {
        let distinct: BTreeSet<_> = names.iter().collect();
        distinct.len() == names.len() && names.iter().all(|name| name.0 == names[0].0)
    };
    if names.is_some_and(|names| of_one_word(&names)) {
        all.sort_by_key(|node| numbered(node).map(|name| name.1));
    }
    all
}
