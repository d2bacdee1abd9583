//! Writes the topology file.

use std::fmt::Write;

use crate::bandwidth::Figures;
use crate::finding::{Finding, Level};
use crate::format::Format;
use crate::link_types::{LinkTypes, MEMORY_NAME};
use crate::machine::{DeviceKind, End, Machine, Parent, Wire};
use crate::names::{NVSWITCH, Names};
use crate::printable::printable;

/// What stands at the beginning.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    /// The name of the topology.
    pub(crate) name: &'a str,
    pub(crate) format: Format,
    pub(crate) figures: Figures,
}

pub(crate) fn write(
    machine: &Machine,
    names: &Names,
    types: &LinkTypes,
    head: &Head<'_>,
    findings: &[Finding],
) -> String {
    let mut out = String::new();
    write_head(&mut out, head, findings);
    out.push_str("link_types:\n");
    for (name, link) in types.all() {
        comment(&mut out, 2, &link.comment);
        let _ = writeln!(out, "  {name}: {}", link.body);
    }
    out.push_str("tree:\n");
    for index in 0..machine.roots.len() {
        root(&mut out, machine, names, types, index);
    }
    if machine.nvswitch {
        let text =
            "All NVSwitches are one node, as in NCCL: a route takes one way, and each GPU has all its links to it.";
        comment(&mut out, 2, text);
        let _ = writeln!(out, "  {NVSWITCH}: {{ kind: switch }}");
    }
    links(&mut out, machine, names, types);
    out
}

/// A root complex and all below it.
fn root(out: &mut String, machine: &Machine, names: &Names, types: &LinkTypes, index: usize) {
    let numa = machine.roots[index].numa;
    let inline = numa.map_or_else(String::new, |numa| format!(", numa: {numa}"));
    let line = numa.map_or_else(String::new, |numa| format!("    numa: {numa}\n"));
    let _ = writeln!(out, "  rc{index}:\n    kind: root-complex\n{line}    children:");
    let _ = writeln!(out, "      cpu{index}: {{ kind: cpu, link: {MEMORY_NAME}{inline} }}");
    for &child in machine.children(Parent::Root(index)) {
        node(out, machine, names, types, child, 6);
    }
}

fn write_head(out: &mut String, head: &Head<'_>, findings: &[Finding]) {
    comment(out, 0, "Which links do the devices of this machine share?");
    comment(out, 0, &format!("Made by `weir import` from a dump ({}).", head.format));
    comment(out, 0, &format!("Bandwidths: {}.", head.figures.words()));
    for finding in findings.iter().filter(|finding| finding.level != Level::Note || finding.whole.is_some()) {
        let message = finding.whole.as_ref().unwrap_or(&finding.message);
        comment(out, 0, &format!("{}: {}.", finding.level.word(), printable(message, ' ')));
    }
    let name = head.name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let _ = writeln!(out, "weir: 1\nname: \"{}\"", name.take(100).collect::<String>());
}

/// A device and all below it; `DEPTH` bounds how deep.
fn node(out: &mut String, machine: &Machine, names: &Names, types: &LinkTypes, index: usize, indent: usize) {
    let device = &machine.devices[index];
    let kind = match device.kind {
        DeviceKind::Switch | DeviceKind::Port => "switch",
        DeviceKind::Gpu => "gpu",
        DeviceKind::Nic => "nic",
        DeviceKind::Fpga => "fpga",
    };
    let (name, link) = (names.device(index), types.up(device.up));
    let engines = device.engines.map(|engines| format!("engines: {engines}"));
    let keys = engines.into_iter().chain(device.bus.map(|bus| format!("bus_id: \"{bus}\"")));
    if device.children.is_empty() {
        let keys: String = keys.map(|key| format!(", {key}")).collect();
        let line = format!("{:indent$}{name}: {{ kind: {kind}, link: {link}{keys} }}", "");
        let label = clean(&device.label, 80);
        if label.is_empty() {
            let _ = writeln!(out, "{line}");
        } else if line.len() + 4 + label.chars().count() > WIDTH {
            comment(out, indent, &label);
            let _ = writeln!(out, "{line}");
        } else {
            let _ = writeln!(out, "{line}  # {label}");
        }
        return;
    }
    let inner = indent + 2;
    let _ = writeln!(out, "{:indent$}{name}:\n{:inner$}kind: {kind}\n{:inner$}link: {link}", "", "", "");
    for key in keys {
        let _ = writeln!(out, "{:inner$}{key}", "");
    }
    let _ = writeln!(out, "{:inner$}children:", "");
    for &child in &device.children {
        node(out, machine, names, types, child, indent + 4);
    }
}

/// Lateral links; of a NUMA node to all later ones in one line where they are of one type.
fn links(out: &mut String, machine: &Machine, names: &Names, types: &LinkTypes) {
    if machine.laterals.is_empty() {
        return;
    }
    out.push_str("links:\n");
    let mut laterals = machine.laterals.iter().peekable();
    while let Some((&(a, b), &wire)) = laterals.next() {
        let mut last = b;
        if let (End::Root(_), End::Root(_), Wire::Socket(_) | Wire::Package(_)) = (a, b, wire) {
            while let Some((&(_, next), _)) =
                laterals.next_if(|&(&(from, to), &w)| from == a && w == wire && follows(last, to))
            {
                last = next;
            }
        }
        let to = match (b, last) {
            (End::Root(first), End::Root(last)) if first != last => format!("\"rc[{first}-{last}]\""),
            _ => names.end(b),
        };
        let _ = writeln!(out, "  - {{ between: [{}, {to}], type: {} }}", names.end(a), types.wire(wire));
    }
}

fn follows(last: End, next: End) -> bool {
    matches!((last, next), (End::Root(a), End::Root(b)) if b == a + 1)
}

/// A text of the dump within a comment: one line of printable characters.
fn clean(text: &str, most: usize) -> String {
    printable(text, ' ').chars().take(most).collect::<String>().trim().to_owned()
}

/// Characters of a line with a comment; *assumed*, as in the other files of the library.
const WIDTH: usize = 100;

/// A comment, in as many lines as it needs.
fn comment(out: &mut String, indent: usize, text: &str) {
    let (mut line, mut used) = (format!("{:indent$}#", ""), indent + 1);
    for word in text.split_whitespace() {
        let length = 1 + word.chars().count();
        if used + length > WIDTH && used > indent + 3 {
            let _ = writeln!(out, "{line}");
            (line, used) = (format!("{:indent$}#  ", ""), indent + 3);
        }
        line.extend([" ", word]);
        used += length;
    }
    let _ = writeln!(out, "{line}");
}
