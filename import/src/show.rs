//! The machine as a tree for a person.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::bandwidth::Figures;
use crate::link_types::LinkTypes;
use crate::machine::{Device, DeviceKind, End, Machine, Up, Wire};
use crate::names::Names;
use crate::printable::is_unseen;

/// Lines at most; *assumed*, more than fits on some screens.
const LINES: usize = 400;

/// The tree, and the lateral links below it.
pub(crate) fn tree(machine: &Machine, names: &Names, types: &LinkTypes) -> String {
    let mut lines = Vec::new();
    for (index, root) in machine.roots.iter().enumerate() {
        let numa = root.numa.map_or_else(|| "NUMA node unknown".to_owned(), |numa| format!("NUMA node {numa}"));
        lines.push(format!("rc{index}  {numa}"));
        let count = root.children.len();
        lines.push(format!("{} cpu{index}  memory", if count == 0 { "└─" } else { "├─" }));
        let mut stack: Vec<(usize, String, bool)> = Vec::new();
        push(&mut stack, &root.children, "");
        while let Some((device, indent, last)) = stack.pop() {
            let branch = if last { "└─" } else { "├─" };
            lines.push(format!("{indent}{branch} {}", line(&machine.devices[device], names.device(device), types)));
            let deeper = format!("{indent}{}", if last { "   " } else { "│  " });
            push(&mut stack, &machine.devices[device].children, &deeper);
        }
    }
    lines.extend(laterals(machine, names, types));
    let mut out = String::new();
    for line in lines.iter().take(LINES) {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if lines.len() > LINES {
        let _ = writeln!(out, "… {} more lines: see the written file", lines.len() - LINES);
    }
    out
}

/// Which bandwidths are written, and a line for each link type.
pub(crate) fn bandwidths(types: &LinkTypes, figures: Figures) -> String {
    let mut out = format!("bandwidths: {}\n", figures.words());
    let longest = types.all().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, link) in types.all() {
        let _ = writeln!(out, "  {name:longest$}  {}", link.comment.trim_end_matches('.'));
    }
    out
}

fn push(stack: &mut Vec<(usize, String, bool)>, children: &[usize], indent: &str) {
    let children = children.iter().enumerate().rev();
    let last = children.len().saturating_sub(1);
    stack.extend(children.map(|(i, &child)| (child, indent.to_owned(), i == last)));
}

fn line(device: &Device, name: &str, types: &LinkTypes) -> String {
    let bus = device.bus.map_or_else(String::new, |bus| bus.to_string());
    let what = match (device.kind, device.up) {
        (DeviceKind::Port, _) => "(the port it hangs on)".to_owned(),
        (_, Up::Pcie(_) | Up::Network(_)) => types.up(device.up).to_owned(),
    };
    let label: String = device.label.chars().filter(|&c| !is_unseen(c)).take(60).collect();
    let parts = [name, &bus, &what, &label];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

/// `gpu0 – nvswitch  nvlink4-x18`; sockets are summed up.
fn laterals(machine: &Machine, names: &Names, types: &LinkTypes) -> Vec<String> {
    let mut lines = Vec::new();
    let mut between: BTreeMap<&str, usize> = BTreeMap::new();
    for wire in machine.laterals.values().filter(|wire| matches!(wire, Wire::Socket(_) | Wire::Package(_))) {
        *between.entry(types.wire(*wire)).or_default() += 1;
    }
    lines.extend(between.into_iter().map(|(name, n)| format!("{} between NUMA nodes  {name}", plural(n, "link"))));
    for (&(a, b), &wire) in &machine.laterals {
        if !matches!((a, b), (End::Root(_), End::Root(_))) {
            lines.push(format!("{} – {}  {}", names.end(a), names.end(b), types.wire(wire)));
        }
    }
    lines
}

/// `1 link`, `2 links`.
fn plural(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
