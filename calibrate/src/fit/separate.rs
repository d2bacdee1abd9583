//! Which measurement would tell apart what the data do not: candidates are simulated, and the one whose time depends
//! most on the unseen change of the parameters is named.

use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::Machine;

use super::error::FitError;
use super::parameter::{Parameter, ParameterKind, Setting};
use super::problem::Problem;
use super::simulator::Simulator;
use crate::measurement::{Experiment, MeasuredEnd, MeasuredTime, Transfer};

/// Devices that candidates are made of at most, the first in file order; *assumed*.
const MOST_DEVICES: usize = 20;
/// Bytes of candidates, in words too: one that bandwidths decide, one that latencies do.
const SIZES: [(u64, &str); 2] = [(1 << 30, "1 GiB"), (1 << 10, "1 KiB")];
/// Change of ln time per unit change of the parameters from which a candidate separates; *assumed*.
const SEPARATES: f64 = 0.02;
/// Length of a step along an unseen change; derivatives are good to 10^-8 of it (*assumed*).
const STEP: f64 = 1e-3;

/// A parameter at a coordinate, and how far an unseen change of the parameters moves it.
pub(super) struct Shift<'a> {
    pub(super) parameter: &'a Parameter,
    pub(super) at: f64,
    pub(super) by: f64,
}

impl Shift<'_> {
    /// The value after a number of steps, not below the lowest that means something. A latency may go below 0: it is added to
    /// what was simulated, and held at 0 it would not make up for the others.
    fn value(&self, steps: f64) -> f64 {
        let free = self.parameter.kind.is_log() || self.parameter.kind == ParameterKind::Latency;
        let lowest = if free { f64::NEG_INFINITY } else { 0.0 };
        self.parameter.value((self.at + steps * STEP * self.by).max(lowest))
    }
}

/// What to measure to separate parameters that an unseen change couples, as a sentence.
pub(super) fn remedy(problem: &Problem<'_>, shifts: &[Shift<'_>]) -> Result<String, FitError> {
    if shifts.iter().any(|shift| shift.parameter.kind.is_loggp()) {
        return Ok(loggp(problem, shifts));
    }
    let moved = |steps: f64| {
        let mut shifted = problem.base.clone();
        shifts.iter().for_each(|shift| shifted.set(shift.parameter, shift.value(steps)));
        shifted
    };
    // Ahead alone: rows may change on the other side.
    measurement(problem, &moved(1.0), &moved(0.0), STEP)
}

/// What to measure to tell another setting from the fitted one, as a sentence.
pub(super) fn between(problem: &Problem<'_>, other: &Setting) -> Result<String, FitError> {
    measurement(problem, other, problem.base, 1.0)
}

/// The candidate whose time differs most between two settings that are `step` apart.
fn measurement(problem: &Problem<'_>, one: &Setting, other: &Setting, step: f64) -> Result<String, FitError> {
    let mut best: Option<(f64, String)> = None;
    for candidate in candidates(problem.machine) {
        // A candidate that cannot run (no route, refused) is none.
        let single = std::slice::from_ref(&candidate);
        let Ok(simulator) = Simulator::new(problem.machine, problem.arbiter, single) else { continue };
        let (above, below) = (simulator.seconds(one, |_| true)?, simulator.seconds(other, |_| true)?);
        let ratio = |(a, b): (&f64, &f64)| (libm::log(a / b) / step).abs();
        let effect = above[0].iter().zip(&below[0]).map(ratio).fold(0.0, f64::max);
        // Lone copies come first: something else must be clearly better.
        if effect > best.as_ref().map_or(SEPARATES, |(most, _)| most * 1.05) {
            best = Some((effect, candidate.name));
        }
    }
    Ok(best.map_or_else(
        || "none of the copies that weir tried separates them".to_owned(),
        |(_, name)| format!("measure {name} to separate them"),
    ))
}

/// What is known of LogGP without a simulation: one-way times hold 2·o + L + (k − 1)·G, windows of messages g and G.
/// What is missing is what no fitted row is.
fn loggp(problem: &Problem<'_>, shifts: &[Shift<'_>]) -> String {
    let has = |kind| shifts.iter().any(|shift| shift.parameter.kind == kind);
    if has(ParameterKind::LoggpGap) || has(ParameterKind::LoggpPerByte) {
        let fitted = || problem.experiments.iter().zip(problem.fitted).filter(|&(_, &fitted)| fitted);
        let [lone, windows] = [false, true].map(|several| fitted().any(|(e, _)| (e.messages > 1) == several));
        let what = match (lone, windows) {
            (false, true) => "lone messages, of small and large sizes (osu_latency)",
            (true, true) => "messages of more sizes, lone (osu_latency) and back to back (osu_bw)",
            _ => "messages back to back, of small and large sizes (osu_bw)",
        };
        return format!("measure {what}, to separate them");
    }
    "one-way times hold only 2·o + L: measure o at the sender (the time of a non-blocking send) to separate them; only \
     the sum counts in a simulation where nothing overlaps o"
        .to_owned()
}

/// Lone copies between all devices, copies both ways, two into one, and all at once between a host and all devices, or those
/// below one switch.
fn candidates(machine: &Machine) -> Vec<Experiment> {
    let nodes = machine.fabric.nodes().iter().enumerate();
    let device = |kind: NodeKind| matches!(kind, NodeKind::Gpu | NodeKind::Fpga | NodeKind::Cpu | NodeKind::Host);
    let devices: Vec<NodeId> = nodes.filter(|(_, n)| device(n.kind)).map(|(at, _)| NodeId::from_index(at)).collect();
    let devices = &devices[..devices.len().min(MOST_DEVICES)];
    let name = |node| machine.node_name(node);
    let pairs = || devices.iter().flat_map(move |&a| devices.iter().filter(move |&&b| a != b).map(move |&b| (a, b)));
    let mut all = Vec::new();
    for (a, b) in pairs() {
        for (bytes, size) in SIZES {
            let title = format!("a lone copy of {size} from {} to {}", name(a), name(b));
            all.push(experiment(title, bytes, &[(a, b)]));
        }
    }
    for (a, b) in pairs().filter(|(a, b)| a < b) {
        let title = format!("copies of 1 GiB between {} and {}, both ways at once", name(a), name(b));
        all.push(experiment(title, SIZES[0].0, &[(a, b), (b, a)]));
    }
    for (a, b) in pairs() {
        if let Some(&c) = devices.iter().find(|&&c| c != a && c != b) {
            let title = format!("copies of 1 GiB from {} and {} into {} at once", name(a), name(c), name(b));
            all.push(experiment(title, SIZES[0].0, &[(a, b), (c, b)]));
        }
    }
    all.extend(devices.iter().flat_map(|&host| host_candidates(machine, host, devices)));
    all
}

/// Copies at once from a host to every device, or to all below one switch, and back; none for a device that is no host.
fn host_candidates(machine: &Machine, host: NodeId, devices: &[NodeId]) -> Vec<Experiment> {
    if !matches!(machine.fabric.node(host).kind, NodeKind::Cpu | NodeKind::Host) {
        return Vec::new();
    }
    let others: Vec<NodeId> = devices.iter().copied().filter(|&device| device != host).collect();
    let sets = std::iter::once(("every device".to_owned(), others.clone())).chain(below_switches(machine, &others));
    sets.flat_map(|(which, set)| both_ways(machine.node_name(host), host, &which, &set)).collect()
}

/// The devices below each switch that has several of them, and not all.
fn below_switches(machine: &Machine, devices: &[NodeId]) -> impl Iterator<Item = (String, Vec<NodeId>)> {
    let nodes = machine.fabric.nodes().iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch);
    nodes.filter_map(move |(at, node)| {
        let within = at..node.subtree_end as usize;
        let set: Vec<NodeId> = devices.iter().copied().filter(|device| within.contains(&device.index())).collect();
        let switch = machine.node_name(NodeId::from_index(at));
        (1 < set.len() && set.len() < devices.len()).then(|| (format!("every device below {switch}"), set))
    })
}

/// Copies at once from a host to a set of devices, and back.
fn both_ways(name: &str, host: NodeId, which: &str, set: &[NodeId]) -> [Experiment; 2] {
    let (down, up): (Vec<_>, Vec<_>) = set.iter().map(|&device| ((host, device), (device, host))).unzip();
    [
        experiment(format!("copies of 1 GiB from {name} to {which} at once"), SIZES[0].0, &down),
        experiment(format!("copies of 1 GiB from {which} to {name} at once"), SIZES[0].0, &up),
    ]
}

fn experiment(name: String, bytes: u64, pairs: &[(NodeId, NodeId)]) -> Experiment {
    let place = weir_scenario::Position { file: "".into(), line: 0, column: 0 };
    let row = |at: usize| MeasuredTime { place: place.clone(), seconds: 1.0, end: MeasuredEnd::Transfer(at) };
    Experiment {
        transfers: pairs.iter().map(|&(from, to)| Transfer { from, to, bytes }).collect(),
        rows: (0..pairs.len()).map(row).collect(),
        ..Experiment::plain(name)
    }
}
