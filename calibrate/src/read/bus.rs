//! Devices by the PCI addresses that a log prints beside their numbers, where the topology has them as `bus_id`.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::{Diagnostic, Machine};

use super::source::{Source, Span};

/// A PCI address; the domain is `None` where a log prints the bus alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct BusAddress {
    domain: Option<u32>,
    bus: u8,
    /// 0 where a log prints none: GPUs are the only device of their bus.
    device: u8,
}

impl BusAddress {
    /// Reads `0000:1b:00.0`, `00000000:1B:00`, `1b:00.0` or `0x1b`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let hex = |text: &str| u32::from_str_radix(text, 16).ok();
        let byte = |text: &str| u8::from_str_radix(text, 16).ok();
        if let Some(bus) = text.strip_prefix("0x") {
            return Some(Self { domain: None, bus: byte(bus)?, device: 0 });
        }
        let device = |text: &str| byte(text.split_once('.').map_or(text, |(device, _)| device));
        match text.split(':').collect::<Vec<_>>()[..] {
            [domain, bus, end] => Some(Self { domain: Some(hex(domain)?), bus: byte(bus)?, device: device(end)? }),
            [bus, end] => Some(Self { domain: None, bus: byte(bus)?, device: device(end)? }),
            _ => None,
        }
    }

    fn is(self, other: Self) -> bool {
        let domain = self.domain.is_none() || other.domain.is_none() || self.domain == other.domain;
        domain && (self.bus, self.device) == (other.bus, other.device)
    }
}

/// How devices are known by their addresses.
pub(super) const BY: &str = "the `bus_id` of the topology";
/// What to do about an address that no GPU has.
pub(super) const REMEDY: &str =
    "give the topology of the machine that the log is of, or name the devices in the order of the log by --devices";

/// A log with the devices at the addresses of its GPUs, by their numbers, unless `--devices` names them.
///
/// # Errors
/// An address that no GPU of the topology has.
pub(super) fn addressed<'a>(
    source: &Source<'a>,
    addresses: &BTreeMap<usize, String>,
) -> Result<Source<'a>, Box<Diagnostic>> {
    if source.options.devices.is_some() {
        return Ok(source.clone());
    }
    let found =
        devices(source.machine, addresses, "GPU").map_err(|message| source.error(Span::line(1), message, REMEDY))?;
    Ok(found.map_or_else(|| source.clone(), |devices| source.with_devices(devices, BY)))
}

/// The GPUs whose addresses the topology has.
fn known_addresses(machine: &Machine) -> Vec<(NodeId, BusAddress)> {
    let nodes = (0..machine.fabric.nodes().len()).map(NodeId::from_index);
    let gpus = nodes.filter(|&node| machine.fabric.node(node).kind == NodeKind::Gpu);
    gpus.filter_map(|node| Some((node, BusAddress::read(machine.bus_id(node)?)?))).collect()
}

/// The device of each number of a log by its address, up to the first number without one. `None` where log or topology have
/// no addresses, or the same one for several devices.
///
/// # Errors
/// An address that no GPU of the topology has.
pub(super) fn devices(
    machine: &Machine,
    addresses: &BTreeMap<usize, String>,
    number: &str,
) -> Result<Option<Vec<NodeId>>, String> {
    let known = known_addresses(machine);
    let gpus = machine.fabric.nodes().iter().filter(|node| node.kind == NodeKind::Gpu).count();
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    for at in 0..addresses.len() {
        let Some(text) = addresses.get(&at) else { return Ok(None) };
        let Some(address) = BusAddress::read(text) else { return Ok(None) };
        match known.iter().filter(|(_, own)| own.is(address)).collect::<Vec<_>>()[..] {
            [(node, _)] if seen.insert(*node) => all.push(*node),
            // Only a topology that has the address of every GPU is contradicted.
            [] if gpus > 0 && known.len() == gpus => {
                return Err(format!(
                    "{number} {at} is the device at {text}, and no GPU of the topology has that `bus_id`"
                ));
            }
            _ => return Ok(None),
        }
    }
    Ok((!all.is_empty()).then_some(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_tools_are_read() {
        let of = |text| BusAddress::read(text).map(|a| (a.domain, a.bus, a.device));
        for (text, expected) in [
            ("0000:1b:00.0", Some((Some(0), 0x1b, 0))),
            ("00000001:DF:02", Some((Some(1), 0xdf, 2))),
            ("0x07", Some((None, 7, 0))),
            ("3f:00.0", Some((None, 0x3f, 0))),
            ("", None),
            ("::", None),
            ("0xzz", None),
            ("a:b:c:d", None),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        assert!(BusAddress::read("0x1b").unwrap().is(BusAddress::read("0002:1b:00.0").unwrap()));
        assert!(!BusAddress::read("0001:1b:00.0").unwrap().is(BusAddress::read("0002:1b:00.0").unwrap()));
    }
}
