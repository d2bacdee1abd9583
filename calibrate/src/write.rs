//! The topology with the fitted values: edits of its file where types stay types, else the tree written in full.

use std::fmt::Write as _;
use std::path::Path;

use weir_plugin_api::{Direction as Way, LinkId, LinkKind, NodeId};
use weir_scenarios::{BandwidthForm, Change, Diagnostic, LoadOptions, Machine, rewrite, rewrite_topology};

use crate::fit::parameter::{Direction, Kind, Setting, picoseconds};
use crate::fit::{Fit, Known, rms};
use crate::text::{quantity, uncertainty};

/// The text of the calibrated topology; of a scenario, the scenario with its topology in place.
///
/// Comments at the beginning say what was fitted, to how many rows and how well. They name no date, so that equal fits
/// write equal bytes.
///
/// # Errors
/// A file that cannot be read again or rewritten.
pub fn write_topology(
    path: &Path,
    machine: &Machine,
    fit: &Fit,
    (options, logs): (&LoadOptions, &[String]),
) -> Result<String, Vec<Diagnostic>> {
    let comment = comment(fit, logs);
    let moved = fit.parameters.iter().filter(|f| !matches!(f.known, Known::Unseen));
    let by_type = moved.clone().all(|f| f.parameter.of_type.is_some() || f.parameter.links.is_empty());
    if !by_type && !machine.is_scenario {
        return Ok(comment + &in_full(machine, &fit.setting));
    }
    if !by_type {
        let message = "single links have values of their own, which cannot be written into a scenario";
        let help = "calibrate the topology file itself, or fit types only: --per-link no";
        return Err(vec![Diagnostic::error(message).with_help(help)]);
    }
    let prefix = if machine.is_scenario { "topology." } else { "" };
    let mut edits = edits(machine, fit, prefix);
    if !machine.is_scenario {
        let set = [options.set.clone(), edits].concat();
        return rewrite_topology(path, &set).map(|text| comment + &text);
    }
    let tau = fit.parameters.iter().find(|f| f.parameter.kind == Kind::Tau && !matches!(f.known, Known::Unseen));
    if let (Some(tau), true) = (tau, options.arbiters.is_empty() && machine.arbiters.len() == 1) {
        edits.push(("arbiter.tau".to_owned(), digits(tau.value)));
    }
    let changes: Vec<Change> = edits.into_iter().map(|(path, value)| Change::Set(path, value)).collect();
    rewrite(path, options, &changes).map(|text| comment + &text)
}

/// Edits of the types' values.
fn edits(machine: &Machine, fit: &Fit, prefix: &str) -> Vec<(String, String)> {
    let mut edits = Vec::new();
    for (at, text) in machine.types.iter().enumerate() {
        let of = |kind| {
            fit.parameters.iter().filter(move |f| {
                f.parameter.of_type == Some(at) && f.parameter.kind == kind && !matches!(f.known, Known::Unseen)
            })
        };
        let path = format!("{prefix}link_types.{}", text.name);
        let bandwidths: Vec<_> = of(Kind::Bandwidth).collect();
        let latency = of(Kind::Latency).next().map(|f| time(f.value));
        let plain = text.form == BandwidthForm::Both && text.efficiency.is_none();
        let sided = text.form == BandwidthForm::UpDown && text.efficiency.is_none();
        let one = bandwidths.iter().find(|f| f.parameter.direction == Direction::Both);
        if bandwidths.is_empty() || (plain && one.is_some()) || (sided && one.is_none()) {
            for found in bandwidths {
                let key = match found.parameter.direction {
                    Direction::Both => "bandwidth",
                    Direction::Up => "up",
                    Direction::Down => "down",
                };
                edits.push((format!("{path}.{key}"), bandwidth(found.value)));
            }
            edits.extend(latency.map(|latency| (format!("{path}.latency"), latency)));
            continue;
        }
        edits.push((path, whole(machine, fit, at, latency)));
    }
    edits
}

/// A type written anew.
fn whole(machine: &Machine, fit: &Fit, at: usize, latency: Option<String>) -> String {
    let of_type = |l: &LinkId| machine.type_of(*l) == Some(at);
    let links = || (0..machine.fabric.links().len()).map(LinkId::from_index).filter(of_type);
    let side = |down: u32| links().find(|l| l.0 % 2 == down).map_or(0.0, |l| fit.setting.bandwidth[l.index()]);
    let (up, down) = (side(0), side(1));
    let mut map = match up == down {
        true => format!("{{ bandwidth: {}", bandwidth(up)),
        false => format!("{{ up: {}, down: {}", bandwidth(up), bandwidth(down)),
    };
    if let Some(latency) = latency.or_else(|| machine.types[at].latency.clone()) {
        let _ = write!(map, ", latency: {latency}");
    }
    if let Some(kind) = &machine.types[at].kind {
        let _ = write!(map, ", kind: {kind}");
    }
    map + " }"
}

/// What stands above the topology.
fn comment(fit: &Fit, logs: &[String]) -> String {
    let count = |held: bool| fit.rows.iter().filter(|r| r.held_out == held).count();
    let percent = |held: bool| {
        let found = rms(fit.rows.iter().filter(|r| r.held_out == held));
        found.map_or_else(|| "no rows".to_owned(), |rms| format!("{:.3} %", rms * 100.0))
    };
    let mut out = format!("# Calibrated by `weir calibrate` from {}.\n", logs.join(", "));
    let _ = writeln!(
        out,
        "# {} rows fitted, mean error {}; {} held out, {}.",
        count(false),
        percent(false),
        count(true),
        percent(true)
    );
    for fitted in &fit.parameters {
        let value = quantity(fitted.parameter.kind, fitted.value);
        let _ = writeln!(out, "# {}: {value}, {}", fitted.parameter.name, uncertainty(fitted));
    }
    if let Some(tau) =
        fit.parameters.iter().find(|f| f.parameter.kind == Kind::Tau && !matches!(f.known, Known::Unseen))
    {
        let _ = writeln!(out, "# In scenarios: arbiter: {{ name: pcie-congestion, tau: {} }}", digits(tau.value));
    }
    if fit.parameters.iter().any(|f| f.parameter.kind.is_loggp()) {
        let of = |kind| fit.parameters.iter().find(|f| f.parameter.kind == kind).map_or(0.0, |f| f.value);
        let (l, o, g) = (of(Kind::LoggpLatency), of(Kind::LoggpOverhead), of(Kind::LoggpGap));
        let per_byte = digits(of(Kind::LoggpPerByte) * 1e12);
        let _ = writeln!(
            out,
            "# In scenarios: model: {{ name: loggp, latency: {}, overhead: {}, gap: {}, per_byte: {per_byte}ps }}",
            time(l),
            time(o),
            time(g)
        );
    }
    out
}

/// A number with nine significant digits, without zeros at its end.
pub(crate) fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    format!("{rounded}")
}

fn bandwidth(value: f64) -> String {
    format!("{}GB/s", digits(value / 1e9))
}

fn time(seconds: f64) -> String {
    let ps = picoseconds(seconds).0;
    format!("{}ns", ps as f64 / 1000.0)
}

/// The whole tree, every link with its own values.
fn in_full(machine: &Machine, setting: &Setting) -> String {
    let mut out = "weir: 1\ntree:\n".to_owned();
    for (at, node) in machine.fabric.nodes().iter().enumerate() {
        if node.parent.is_none() {
            tree(machine, setting, (NodeId::from_index(at), 1), &mut out);
        }
    }
    let laterals = machine.fabric.links().iter().enumerate();
    let mut laterals = laterals.filter(|(at, l)| l.direction == Way::Lateral && at % 2 == 0).peekable();
    if laterals.peek().is_some() {
        out.push_str("links:\n");
    }
    for (at, link) in laterals {
        let (from, to) = (machine.path(link.from), machine.path(link.to));
        let values = link_map(machine, setting, LinkId::from_index(at));
        let _ = writeln!(out, "  - {{ between: [{from:?}, {to:?}], type: {values} }}");
    }
    out
}

fn tree(machine: &Machine, setting: &Setting, (id, depth): (NodeId, usize), out: &mut String) {
    let node = machine.fabric.node(id);
    let indent = "  ".repeat(depth);
    let path = machine.path(id);
    let name = path.rsplit('/').next().unwrap_or(&path);
    let _ = writeln!(out, "{indent}{name:?}:\n{indent}  kind: {}", node.kind.word());
    if !node.up.is_none() {
        let _ = writeln!(out, "{indent}  link: {}", link_map(machine, setting, node.up));
    }
    if let Some(slots) = machine.send_slots(id) {
        let _ = writeln!(out, "{indent}  engines: {slots}");
    }
    let mut child = NodeId(id.0 + 1);
    if child.0 < node.subtree_end {
        let _ = writeln!(out, "{indent}  children:");
    }
    while child.0 < node.subtree_end {
        tree(machine, setting, (child, depth + 2), out);
        child = NodeId(machine.fabric.node(child).subtree_end);
    }
}

/// A link in the place of a type, from its first half.
fn link_map(machine: &Machine, setting: &Setting, up: LinkId) -> String {
    let down = LinkId(up.0 + 1);
    let (first, second) = (setting.bandwidth[up.index()], setting.bandwidth[down.index()]);
    let kind = match machine.fabric.link(up).kind {
        LinkKind::PCIE => "pcie",
        LinkKind::QPI => "qpi",
        LinkKind::NVLINK => "nvlink",
        LinkKind::NETWORK => "network",
        _ => "other",
    };
    let width = match first == second {
        true => format!("bandwidth: {}", bandwidth(first)),
        false => format!("up: {}, down: {}", bandwidth(first), bandwidth(second)),
    };
    let latency = setting.latency[up.index()];
    let latency = if latency > 0.0 { format!(", latency: {}", time(latency)) } else { String::new() };
    format!("{{ {width}{latency}, kind: {kind} }}")
}
