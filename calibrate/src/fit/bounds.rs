//! What the wire of a link carries at most, by its generation and width: no fit goes above that. A fit that would is a sign
//! of a link that the topology lacks, of other devices than the log means, or of another algorithm than is simulated.
//!
//! The raw figure is that of `generation` and `width` of a link type, or of a type whose name says what it is as imported
//! types do: `pcie4-x16`, `nvlink-x18`, `xgmi-x1`. Types that are named as doubtful or assumed have none.

use weir_plugin_api::{LinkId, LinkKind, NodeKind};
use weir_report::rate;
use weir_scenario::{BandwidthForm, Machine, pcie_raw_figure};

use super::error::{AboveTheWire, FitError};
use super::outcome::{Fit, Fitted, Known};
use super::parameter::{Parameter, ParameterKind};
use super::problem::Problem;
use crate::measurement::{Experiment, MeasuredEnd};
use crate::text::row_text;

/// How far above the raw figure a fit may lie; *assumed*: logs round, and clocks of links may be 0.03 % off (PCI Express
/// Base Specification 6.0, section 8.6: ±300 ppm).
const ABOVE: f64 = 1.01;
/// The generation of an NVLink or xGMI whose name does not say it is that with the most.
const NEWEST: usize = usize::MAX;
/// One NVLink each way by generation, B/s (NVIDIA's data sheets: P100 160 GB/s both ways with 4 links, V100 300 with 6, A100
/// 600 with 12, H100 900 with 18, B200 1800 with 18).
const NVLINK: [f64; 5] = [20e9, 25e9, 25e9, 25e9, 50e9];
/// One xGMI link each way, B/s, of the fastest GPUs that have one (AMD's data sheet of the MI350X: 153.6 GB/s both ways).
const XGMI: [f64; 1] = [76.8e9];

/// The most that a link carries each way.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct WireBound {
    /// Bytes per second.
    pub(super) most: f64,
    /// Of what it is the raw figure.
    pub(super) what: String,
}

/// The bound of a link, where its type says what it is.
pub(super) fn of_link(machine: &Machine, link: LinkId) -> Option<WireBound> {
    let link_type = &machine.types[machine.type_of(link)?];
    let name = link_type.name.to_ascii_lowercase();
    if name.contains("doubtful") || name.contains("assumed") {
        return None;
    }
    if link_type.form == BandwidthForm::Generation {
        let efficiency = link_type.efficiency.as_ref().map_or(Some(1.0), |text| text.trim().parse::<f64>().ok())?;
        let most = machine.fabric.link(link).bandwidth / efficiency;
        return Some(WireBound { most, what: "PCIe of its generation and width".to_owned() });
    }
    by_name(&name)
}

/// The bound that a name tells: a word, a generation, and `x` before a number of lanes or links.
fn by_name(name: &str) -> Option<WireBound> {
    let word_end = name.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, rest) = name.split_at(word_end);
    let (generation, rest) = number(rest.trim_start_matches(['-', '_', '.']).trim_start_matches("gen"))
        .map_or((None, rest), |(generation, rest)| (Some(generation), rest));
    let rest = rest.trim_start_matches(['-', '_', '.']);
    let (width, _) = number(rest.strip_prefix('x')?)?;
    let of_links = |table: &[f64], each: &str| {
        let at = generation.map_or(NEWEST, |generation| generation.saturating_sub(1) as usize);
        let most = table[at.min(table.len() - 1)] * width as f64;
        WireBound { most, what: format!("{width} {each} each way") }
    };
    match word {
        "pcie" | "pci" | "gen" => {
            let most = pcie_raw_figure(generation?, width)?;
            Some(WireBound { most, what: format!("PCIe {}.0 x{width}", generation?) })
        }
        "nvlink" => Some(of_links(&NVLINK, "NVLinks")),
        "xgmi" => Some(of_links(&XGMI, "xGMI links")),
        _ => None,
    }
}

/// The number at the beginning of a text, 1 to 99, and what follows.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let value = text[..end].parse().ok().filter(|value| (1..100).contains(value))?;
    Some((value, &text[end..]))
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
    let told = |f: &&Fitted| match f.known {
        Known::Error(_) | Known::Exactly => true,
        // It was moved up to hold no row back, so that the rows ask for as much.
        Known::Enough => f.value > f.parameter.start,
        _ => false,
    };
    let bandwidth = |f: &&Fitted| f.parameter.kind == ParameterKind::Bandwidth;
    for fitted in fit.parameters.iter().filter(bandwidth).filter(told) {
        let Some(bound) = of_parameter(problem, &fitted.parameter) else { continue };
        if fitted.value > bound.most * ABOVE {
            let name = fitted.parameter.name.clone();
            let (value, most) = (rate(fitted.value), rate(bound.most));
            let (row, reason) = why(problem, fitted);
            let above = AboveTheWire { name, value, most, what: bound.what, row, reason };
            return Err(FitError::AboveTheWire(Box::new(above)));
        }
    }
    Ok(())
}

/// The fastest row over the links of a parameter, and the likely reason why they cannot carry it.
fn why(problem: &Problem<'_>, fitted: &Fitted) -> (String, String) {
    let crosses = |e: usize| fitted.parameter.links.iter().any(|l| problem.simulator.links(e).binary_search(l).is_ok());
    let mut fastest: Option<(f64, &Experiment, usize)> = None;
    for (_, experiment) in problem.experiments.iter().enumerate().filter(|&(e, _)| problem.fitted[e] && crosses(e)) {
        for (at, row) in experiment.rows.iter().enumerate() {
            let throughput = throughput(experiment, at) / row.seconds;
            if fastest.is_none_or(|(most, ..)| throughput > most) {
                fastest = Some((throughput, experiment, at));
            }
        }
    }
    let Some((throughput, experiment, at)) = fastest else { return (String::new(), String::new()) };
    let (ends, bytes) = row_text(problem.machine, experiment, at);
    let place = &experiment.rows[at].place;
    (
        format!("`{}` {ends}, {bytes}, {} ({place})", experiment.name, rate(throughput)),
        reason(problem, fitted, experiment),
    )
}

/// Bytes that a row counts.
fn throughput(experiment: &Experiment, row: usize) -> f64 {
    let messages = f64::from(experiment.messages);
    match experiment.rows[row].end {
        MeasuredEnd::Transfer(at) => experiment.transfers[at].bytes as f64 * messages,
        MeasuredEnd::Last => experiment.transfers.iter().map(|t| t.bytes as f64).fold(0.0, f64::max) * messages,
    }
}

fn reason(problem: &Problem<'_>, fitted: &Fitted, experiment: &Experiment) -> String {
    let fabric = &problem.machine.fabric;
    let gpu = |node| fabric.node(node).kind == NodeKind::Gpu;
    let between_gpus = experiment.transfers.iter().all(|t| gpu(t.from) && gpu(t.to));
    let pcie = fitted.parameter.links.iter().any(|&link| fabric.link(link).kind == LinkKind::PCIE);
    let mapping = "the log's devices are others than these: see --devices, --host and --pair";
    let mut all = Vec::new();
    if experiment.kernels {
        all.push(
            "the collective ran by another algorithm than is simulated, such as reduction in the switch (NVLS, \
                  SHARP): measure with NCCL_ALGO=Ring and NCCL_NVLS_ENABLE=0",
        );
    }
    if between_gpus && pcie {
        all.push(
            "the topology lacks a link between these GPUs, such as NVLink or xGMI: add it under `links`, or import \
                  a dump that has it (`weir import`)",
        );
    } else if between_gpus {
        all.push("more links join these GPUs than the topology has");
    }
    all.push(mapping);
    all.push("the link is wider or of a later generation than the topology says: idle links show a lower one in dumps");
    all.join("; or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_say_what_the_wire_carries() {
        let most = |name: &str| by_name(name).map(|bound| (bound.most / 1e8).round() / 10.0);
        let known = [
            ("pcie4-x16", 31.5),
            ("pcie5-x16-gpu1", 63.0),
            ("pcie3x8", 7.9),
            ("pcie-gen4-x16", 31.5),
            ("gen5x16", 63.0),
            ("pcie2_x16", 8.0),
            ("nvlink-x18", 900.0),
            ("nvlink4-x18", 450.0),
            ("nvlink3-x12", 300.0),
            ("xgmi-x1", 76.8),
            ("xgmi-x4", 307.2),
        ];
        for (name, expected) in known {
            assert_eq!(most(name), Some(expected), "{name}");
        }
        for name in [
            "pcie",
            "pcie-x16",
            "pcie9-x16",
            "pcie4-x17",
            "memory",
            "socket",
            "nvlink-450GB",
            "x16",
            "",
            "xgmi",
            "4-x16",
        ] {
            assert_eq!(most(name), None, "{name}");
        }
    }
}
