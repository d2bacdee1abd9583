//! Topology XML of NCCL and RCCL: `<system>` of `<cpu>`s (NUMA nodes) with trees of `<pci>`; `<gpu>`, `<nic>` and `<net>` say what
//! a device is. Read as NCCL itself reads it (`src/graph/topo.cc`, `ncclTopoGetSystemFromXml`), but for devices without a
//! `<gpu>` or `<nic>`, which go by their class here, as files of cloud providers have no such tags.

mod lateral;
mod reader;

use roxmltree::Node;

use crate::finding::Findings;
use crate::machine::{DeviceKind, Machine};
use crate::refusal::Refusal;
use crate::xml;
use reader::{Reader, cut};

pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let dump = xml::parse(text)?;
    let system = dump.document.root_element();
    check_root(system)?;
    if !matches!(system.attribute("version"), Some("1" | "2")) {
        findings.note(format!(
            "version {} of the format is not known here",
            cut(system.attribute("version").unwrap_or("?"))
        ));
    }
    let mut reader = Reader::new(findings, &dump.lines);
    for node in system.children().filter(Node::is_element) {
        reader.child_of_system(node)?;
    }
    if reader.machine.roots.is_empty() {
        let refusal = Refusal::new("no `<cpu>` below `<system>`").help("make the dump again");
        return Err(xml::refused(system, refusal));
    }
    reader.check_classes()?;
    reader.report_hosts();
    reader.machine.is_preset =
        reader.gpus.is_empty() && reader.machine.devices.iter().any(|d| d.kind == DeviceKind::Gpu);
    reader.laterals();
    reader.machine.join_sockets();
    Ok(reader.machine)
}

/// Refuses what is no file of NCCL.
fn check_root(system: Node<'_, '_>) -> Result<(), Refusal> {
    if !system.has_tag_name("system") {
        let message = format!("the root is `{}`, not `system`", cut(system.tag_name().name()));
        let help = match system.has_tag_name("topology") {
            true => "this is hwloc's, use `--as hwloc`, or leave it out",
            false => "this is no topology of NCCL; leave out `--as`",
        };
        let refusal = Refusal::new(message).help(help);
        return Err(xml::refused(system, refusal));
    }
    Ok(())
}
