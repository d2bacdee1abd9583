//! What the wire of a link carries at most, by its generation and width: no fit goes above that. A fit that would is a sign
//! of a link that the topology lacks, of other devices than the log means, or of another algorithm than is simulated.

use weir_plugin_api::{LinkId, LinkKind, NodeKind};
use weir_report::rate;
use weir_scenario::Machine;

use super::error::{AboveTheWire, FitError};
use super::outcome::{Fit, Fitted, Known};
use super::parameter::{Parameter, ParameterKind};
use super::problem::Problem;
use super::wires::{WireBound, may_reduce, of_link};
use crate::cuts::asked_of;
use crate::measurement::{Experiment, MeasuredEnd};
use crate::read::Collective;
use crate::text::row_text;

/// How far above the raw figure a fit may lie; *assumed*: logs round, and clocks of links may be 0.03 % off (PCI Express
/// Base Specification 6.0, section 8.6: ±300 ppm).
const ABOVE: f64 = 1.01;

/// What a link carries at most, bytes per second, as a fit may have it; `None` where its type does not say what it is.
pub(crate) fn most_of_wire(machine: &Machine, link: LinkId) -> Option<f64> {
    of_link(machine, link).map(|bound| bound.most * ABOVE)
}

fn of_parameter(problem: &Problem<'_>, parameter: &Parameter) -> Option<WireBound> {
    let bounds = parameter.links.iter().filter_map(|&link| of_link(problem.machine, link));
    bounds.min_by(|a, b| a.most.total_cmp(&b.most))
}

/// Whether the wire carries as much as a value of a parameter.
pub(super) fn allow(problem: &Problem<'_>, parameter: &Parameter, value: f64) -> bool {
    parameter.kind != ParameterKind::Bandwidth
        || of_parameter(problem, parameter).is_none_or(|bound| value <= bound.most * ABOVE)
}

/// Refuses a fit of which a bandwidth is above what its links carry.
pub(super) fn check(problem: &Problem<'_>, fit: &Fit) -> Result<(), FitError> {
    let bandwidths = fit.parameters.iter().enumerate();
    for (at, fitted) in bandwidths.filter(|(_, f)| f.parameter.kind == ParameterKind::Bandwidth) {
        let (Some(bound), Some((name, value))) = (of_parameter(problem, &fitted.parameter), told(fit, at)) else {
            continue;
        };
        if value > bound.most * ABOVE {
            let (value, most) = (rate(value), rate(bound.most));
            let (row, reason) = why(problem, fitted, &bound);
            let above = AboveTheWire { name, value, most, what: bound.what, row, reason };
            return Err(FitError::AboveTheWire(Box::new(above)));
        }
    }
    Ok(())
}

/// What the rows tell of a bandwidth, bytes per second, and its name: by itself, or as B * (1 - p) with a parameter p of the arbiter.
fn told(fit: &Fit, at: usize) -> Option<(String, f64)> {
    let Fitted { parameter, value, known } = &fit.parameters[at];
    let (name, value) = (parameter.name.clone(), *value);
    match known {
        Known::Error(_) | Known::IfNarrowest(_) | Known::Exactly => Some((name, value)),
        // It was moved up to hold no row back, so that the rows ask for as much.
        Known::Enough => Some((name, value)).filter(|_| value > parameter.start),
        Known::Together => {
            let group = fit.unclear.iter().find(|group| group.told.is_some() && group.parameters.contains(&at))?;
            let mut all = group.parameters.iter().map(|&other| &fit.parameters[other]);
            let arbiter = all.find(|other| other.parameter.kind == ParameterKind::Arbiter)?;
            let key = &arbiter.parameter.marked.as_ref()?.parameter.key;
            Some((format!("{name} * (1 - {key})"), value * (1.0 - arbiter.value)))
        }
        _ => None,
    }
}

/// The fastest row over the links of a parameter, or group if that asks more of one of them, and the likely reason why they cannot
/// carry it.
fn why(problem: &Problem<'_>, fitted: &Fitted, bound: &WireBound) -> (String, String) {
    let links = &fitted.parameter.links;
    let crosses = |e: usize| links.iter().any(|l| problem.simulator.links(e).binary_search(l).is_ok());
    let mut fastest: Option<Asked<'_>> = None;
    for (_, experiment) in problem.experiments.iter().enumerate().filter(|&(e, _)| problem.fitted[e] && crosses(e)) {
        let lone = experiment.rows.iter().enumerate().map(|(row, measured)| Asked {
            throughput: throughput(experiment, row) / measured.seconds,
            experiment,
            row,
            transfers: 1,
        });
        // Transfers of a collective are those of an algorithm that is assumed.
        let together = asked_of(&problem.machine.fabric, experiment, links).filter(|_| !experiment.kernels);
        let together = together.map(|(throughput, transfers)| Asked { throughput, experiment, row: 0, transfers });
        for asked in lone.chain(together) {
            if fastest.as_ref().is_none_or(|most| asked.throughput > most.throughput) {
                fastest = Some(asked);
            }
        }
    }
    let Some(asked @ Asked { throughput, experiment, row, transfers }) = fastest else { return <_>::default() };
    let (ends, bytes) = row_text(problem.machine, experiment, row);
    let (place, throughput) = (&experiment.rows[row].place, rate(throughput));
    let text = match transfers {
        1 => format!("the fastest row: `{}` {ends}, {bytes}, {throughput} ({place})", experiment.name),
        n => format!(
            "the fastest group: {n} transfers of `{}` over one link, {throughput} together ({place})",
            experiment.name
        ),
    };
    (text, reason(problem, fitted, &asked, bound))
}

/// What an experiment asks of a link.
struct Asked<'e> {
    /// Bytes per second.
    throughput: f64,
    experiment: &'e Experiment,
    /// A row of it.
    row: usize,
    /// Transfers that cross the link together.
    transfers: usize,
}

/// Bytes that a row counts.
fn throughput(experiment: &Experiment, row: usize) -> f64 {
    let messages = f64::from(experiment.messages);
    match experiment.rows[row].end {
        MeasuredEnd::Transfer(at) => experiment.transfers[at].bytes as f64 * messages,
        MeasuredEnd::Last => experiment.transfers.iter().map(|t| t.bytes as f64).fold(0.0, f64::max) * messages,
    }
}

/// What a ring's links would have to carry at most for an all-reduce that the switch computes (NVLS) over links of a raw figure.
///
/// Of S bytes over n ranks, a GPU lets the switch read all its S, one part for each rank, and sends its reduced part of S/n to
/// be multicast; it receives as much. So a link carries (n + 1)/n · S each way, where a ring's carries 2(n − 1)/n · S (PTX ISA,
/// `multimem.ld_reduce` and `multimem.st`, with one part of S/n for each rank).
fn in_switch(raw: f64, ranks: usize) -> f64 {
    let n = ranks as f64;
    raw * 2.0 * (n - 1.0) / (n + 1.0)
}

/// Of an all-reduce that is too fast for a ring: what the switch could do, where that is enough.
fn by_the_switch(fitted: &Fitted, experiment: &Experiment, bound: &WireBound) -> Option<String> {
    let all_reduce = experiment.kernels && experiment.name.starts_with(Collective::AllReduce.word());
    let most = in_switch(bound.most, experiment.transfers.len());
    (all_reduce && fitted.value > bound.most && fitted.value <= most * ABOVE).then(|| {
        format!(
            "the all-reduce is above what a ring can carry on this topology, and below the {} that one which the switch computes \
             (NVLS) can: measure with NCCL_ALGO=Ring and NCCL_NVLS_ENABLE=0",
            rate(most)
        )
    })
}

/// What a collective that is too fast ran by. The switch reduces only where there is one that can.
fn of_collective(problem: &Problem<'_>, fitted: &Fitted, experiment: &Experiment, bound: &WireBound) -> Option<String> {
    let ran = "the collective ran by another algorithm than is simulated";
    if !experiment.kernels {
        None
    } else if fitted.parameter.links.iter().any(|&link| may_reduce(problem.machine, link)) {
        let text = || {
            format!(
                "{ran}, such as reduction in the switch (NVLS, SHARP): measure with NCCL_ALGO=Ring and NCCL_NVLS_ENABLE=0"
            )
        };
        Some(by_the_switch(fitted, experiment, bound).unwrap_or_else(text))
    } else {
        Some(format!("{ran}: measure with NCCL_ALGO=Ring"))
    }
}

/// Whether a device with a number of send slots sends several transfers of an experiment.
fn sends_several(problem: &Problem<'_>, experiment: &Experiment) -> bool {
    let of = |from| experiment.transfers.iter().filter(|transfer| transfer.from == from).count();
    experiment.transfers.iter().any(|t| problem.machine.send_slots(t.from).is_some() && of(t.from) > 1)
}

fn reason(problem: &Problem<'_>, fitted: &Fitted, asked: &Asked<'_>, bound: &WireBound) -> String {
    let experiment = asked.experiment;
    let fabric = &problem.machine.fabric;
    let gpu = |node| fabric.node(node).kind == NodeKind::Gpu;
    let between_gpus = experiment.transfers.iter().all(|t| gpu(t.from) && gpu(t.to));
    let pcie = fitted.parameter.links.iter().any(|&link| fabric.link(link).kind == LinkKind::PCIE);
    let mut all: Vec<String> = of_collective(problem, fitted, experiment, bound).into_iter().collect();
    if asked.transfers > 1 {
        let text = "the topology makes these transfers share a link that they do not share, such as an uplink: add what it lacks";
        all.push(text.to_owned());
        all.push("they were not under way at once: give each its own group, or its device `engines`".to_owned());
    } else if between_gpus && pcie {
        let text = "the topology lacks a link between these GPUs, such as NVLink or xGMI: add it under `links`, or import \
                    a dump that has it (`weir import`)";
        all.push(text.to_owned());
    } else if between_gpus {
        all.push("more links join these GPUs than the topology has".to_owned());
    }
    if asked.transfers == 1 && sends_several(problem, experiment) {
        all.push("a device sends more of these transfers at once than its `engines` say".to_owned());
    }
    all.push("the log's devices are others than these: see --devices, --host and --pair".to_owned());
    let wider =
        "the link is wider or of a later generation than the topology says: idle links show a lower one in dumps";
    all.push(wider.to_owned());
    all.join("; or ")
}
