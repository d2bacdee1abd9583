//! The tree of PCI functions that hwloc and lspci show, made into a machine: a switch is there a bridge (its upstream port)
//! above further bridges (its downstream ports), and root ports are bridges too. Ports become part of the switch or root complex
//! that they belong to, as in NCCL (`src/graph/xml.cc`, which goes up two steps for each switch), and bridges that lead to no
//! device of interest are left out.

mod function;
mod sriov;

pub(crate) use function::{Function, Functions, Port};

use std::collections::BTreeSet;

use crate::class::OF_PROCESSOR;
use crate::finding::Findings;
use crate::machine::{Device, DeviceKind, Machine, Parent, Up};
use crate::pcie::{Doubt, PcieLink};
use crate::refusal::Refusal;

/// Where a function goes: below which device, how deep below the root complex, and the port above it, which is the other end of its link.
#[derive(Clone, Copy)]
struct Place {
    parent: Parent,
    level: usize,
    port: Option<usize>,
}

impl Functions {
    /// Puts them into a machine; returns the device of each function that became one.
    pub(crate) fn place(
        mut self,
        machine: &mut Machine,
        findings: &mut Findings,
    ) -> Result<Vec<Option<usize>>, Refusal> {
        self.without_virtual(findings);
        let wanted = self.wanted();
        machine.bridges += self.list.iter().filter(|function| function.kind == Some(DeviceKind::Switch)).count();
        let mut devices = vec![None; self.list.len()];
        let place = |top: usize| Place { parent: Parent::Root(self.list[top].root), level: 0, port: None };
        let mut stack: Vec<(usize, Place)> = self.tops.iter().rev().map(|&top| (top, place(top))).collect();
        while let Some((index, place)) = stack.pop() {
            if !wanted[index] {
                continue;
            }
            let below = if self.is_port(index, place.level, &wanted) {
                Place { parent: place.parent, level: place.level + 1, port: Some(index) }
            } else {
                let device = self.device(index, place.port);
                let device = machine.device(place.parent, device)?;
                devices[index] = Some(device);
                Place { parent: Parent::Device(device), level: place.level + 1, port: None }
            };
            if self.list[index].kind == Some(DeviceKind::Switch) {
                stack.extend(self.list[index].children.iter().rev().map(|&child| (child, below)));
            }
        }
        self.report_ports(&devices, findings);
        for function in self.list.iter().filter(|function| function.is_of_processor) {
            findings.left_out(OF_PROCESSOR, &function.bus.map_or_else(String::new, |bus| bus.to_string()));
        }
        Ok(devices)
    }

    /// Notes the bridges that became no node.
    fn report_ports(&self, devices: &[Option<usize>], findings: &mut Findings) {
        let functions = self.list.iter().zip(devices);
        let ports = functions.filter(|(f, device)| f.kind == Some(DeviceKind::Switch) && device.is_none()).count();
        if ports > 0 {
            findings.note(format!(
                "of the bridges, {ports} are ports of switches or root complexes, or lead to no device of interest: they \
                 are no nodes of their own"
            ));
        }
    }

    /// Which functions are of interest, or lead to one that is.
    fn wanted(&self) -> Vec<bool> {
        let mut wanted = vec![false; self.list.len()];
        for (index, function) in self.list.iter().enumerate().rev() {
            if function.kind.is_some_and(|kind| kind != DeviceKind::Switch) {
                wanted[index] = true;
            }
            if let (true, Some(above)) = (wanted[index], function.above) {
                wanted[above] = true;
            }
        }
        wanted
    }

    /// Whether a bridge is a port that leads down, with one device below it. With several there is a bus that they share.
    fn is_port(&self, index: usize, level: usize, wanted: &[bool]) -> bool {
        let function = &self.list[index];
        let down = match function.port {
            Port::Down => true,
            Port::Up => false,
            Port::Unknown => level.is_multiple_of(2),
        };
        let below = function.children.iter().filter(|&&child| wanted[child]);
        let devices: BTreeSet<_> =
            below.map(|&child| self.list[child].bus.map(|b| (b.domain, b.bus, b.device))).collect();
        function.kind == Some(DeviceKind::Switch) && down && devices.len() <= 1
    }

    /// The device of a function; `port` is the other end of its link.
    fn device(&mut self, index: usize, port: Option<usize>) -> Device {
        let (port, lanes) = port.map_or((None, None), |port| (self.list[port].link, self.list[port].lanes));
        let function = &mut self.list[index];
        let own = function.link.unwrap_or(PcieLink::new(None, None));
        let known = |link: &PcieLink| link.doubt.is_none_or(|doubt| doubt == Doubt::Product);
        let link = match port.filter(known) {
            Some(port) if !known(&own) => port,
            // Both ends are known: the link is as good as the lesser of them.
            Some(port) if own.doubt.is_none() && port.doubt.is_none() => {
                PcieLink::new(Some(own.generation.min(port.generation)), Some(own.width.min(port.width)))
            }
            Some(port) if (port.generation, port.width) != (own.generation, own.width) => {
                PcieLink { doubt: Some(Doubt::Ends(port.generation, port.width)), ..own }
            }
            _ => own,
        };
        let kind = function.kind.unwrap_or(DeviceKind::Switch);
        let mut device = Device::new(kind, function.bus, Up::Pcie(link));
        // Bridges may report lanes that they do not have, of their management port.
        let most = [lanes, function.lanes.filter(|_| kind == DeviceKind::Gpu)];
        device.has_all_lanes = own.doubt.is_none() && own.width == link.width && most.contains(&Some(link.width));
        device.vendor = function.vendor;
        device.gpu = function.gpu;
        device.has_model = !function.maker.is_empty();
        device.is_card = function.is_card;
        device.module = function.module.filter(|_| kind == DeviceKind::Gpu);
        device.number = function.number;
        device.label = std::mem::take(&mut function.label);
        device
    }
}
