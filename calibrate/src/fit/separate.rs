//! Which measurement would tell apart what the data do not: candidates are simulated, and the one whose time depends
//! most on the unseen change of the parameters is named.

use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::Machine;

use super::parameter::{Kind, Parameter, Setting};
use super::simulator::Simulator;
use super::{FitError, Under};
use crate::measurement::{Experiment, Row, Seen, Transfer};

/// Devices that candidates are made of at most, the first in file order; *assumed*.
const MOST_DEVICES: usize = 20;
/// Sizes of candidates.
const SIZES: [(u64, &str); 2] = [(1 << 30, "1 GiB"), (1 << 10, "1 KiB")];
/// Change of ln time per unit change of the parameters from which a candidate separates; *assumed*.
const SEPARATES: f64 = 0.02;
/// Step of the change.
const STEP: f64 = 1e-3;

/// What to measure, as a sentence.
pub(super) fn remedy(
    machine: &Machine,
    under: Under<'_>,
    setting: &Setting,
    direction: &[(Parameter, f64, f64)],
) -> Result<String, FitError> {
    if direction.iter().any(|(p, ..)| p.kind.is_loggp()) {
        return Ok(loggp(direction));
    }
    let moved = |sign: f64| {
        let mut shifted = setting.clone();
        direction.iter().for_each(|(p, at, by)| shifted.set(p, p.value((at + sign * STEP * by).max(lowest(p)))));
        shifted
    };
    told_by(machine, under, (&moved(1.0), &moved(-1.0)), 2.0 * STEP)
}

/// What to measure to tell two settings apart, as a sentence.
pub(super) fn between(machine: &Machine, under: Under<'_>, of: (&Setting, &Setting)) -> Result<String, FitError> {
    told_by(machine, under, of, 1.0)
}

fn told_by(
    machine: &Machine,
    under: Under<'_>,
    (one, other): (&Setting, &Setting),
    step: f64,
) -> Result<String, FitError> {
    let mut best: Option<(f64, String)> = None;
    for candidate in candidates(machine) {
        // A candidate that cannot run (no route, refused) is none.
        let single = std::slice::from_ref(&candidate);
        let Ok(simulator) = Simulator::new(machine, (under.entry, under.params), single) else { continue };
        let (above, below) = (simulator.seconds(one, |_| true)?, simulator.seconds(other, |_| true)?);
        let ratio = |(a, b): (&f64, &f64)| (libm::log(a / b) / step).abs();
        let effect = above[0].iter().zip(&below[0]).map(ratio).fold(0.0, f64::max);
        // Lone copies come first: something else must be clearly better.
        if effect > best.as_ref().map_or(SEPARATES, |(most, _)| most * 1.05) {
            best = Some((effect, candidate.name));
        }
    }
    Ok(best.map_or_else(
        || "no copy between the devices of this topology separates them".to_owned(),
        |(_, name)| format!("measure {name} to separate them"),
    ))
}

/// The lowest coordinate that means something.
fn lowest(parameter: &Parameter) -> f64 {
    if parameter.kind.is_log() { f64::NEG_INFINITY } else { 0.0 }
}

/// What is known of LogGP without a simulation: one-way times hold 2·o + L + (k − 1)·G, windows of messages g and G.
fn loggp(direction: &[(Parameter, f64, f64)]) -> String {
    let has = |kind| direction.iter().any(|(p, ..)| p.kind == kind);
    if has(Kind::LoggpGap) || has(Kind::LoggpPerByte) {
        return "measure messages back to back, of small and large sizes (osu_bw), to separate them".to_owned();
    }
    "one-way times hold only 2·o + L: measure o at the sender (the time of a non-blocking send) to separate them; only \
     the sum counts in a simulation where nothing overlaps o"
        .to_owned()
}

/// Lone copies between all devices, copies both ways, two into one, and all at once between host and devices.
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
    for &host in devices.iter().filter(|&&d| matches!(machine.fabric.node(d).kind, NodeKind::Cpu | NodeKind::Host)) {
        let others: Vec<NodeId> = devices.iter().copied().filter(|&d| d != host).collect();
        let title = format!("copies of 1 GiB from {} to every device at once", name(host));
        all.push(experiment(title, SIZES[0].0, &others.iter().map(|&d| (host, d)).collect::<Vec<_>>()));
        let title = format!("copies of 1 GiB from every device to {} at once", name(host));
        all.push(experiment(title, SIZES[0].0, &others.iter().map(|&d| (d, host)).collect::<Vec<_>>()));
    }
    all
}

fn experiment(name: String, bytes: u64, pairs: &[(NodeId, NodeId)]) -> Experiment {
    let place = weir_scenario::Position { file: "".into(), line: 0, column: 0 };
    let row = |at: usize| Row { place: place.clone(), seconds: 1.0, seen: Seen::End(at) };
    Experiment {
        transfers: pairs.iter().map(|&(from, to)| Transfer { from, to, bytes }).collect(),
        rows: (0..pairs.len()).map(row).collect(),
        ..Experiment::plain(name)
    }
}
