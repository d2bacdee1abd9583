//! Virtual functions (SR-IOV): a card shows them beside its own function, with which they share the link. In a virtual machine there
//! may be nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::function::{Function, Functions};
use crate::bus::BusId;
use crate::finding::{Findings, Ids, Level};
use crate::machine::DeviceKind;
use crate::pcie::Doubt;

/// Where a card and its virtual functions are alike: kind, maker, and the bridge above, or else the bus.
type Card<'f> = (DeviceKind, &'f str, Option<usize>, Option<(u32, u8)>);

impl Functions {
    /// Leaves out the virtual functions of cards that are there themselves.
    pub(super) fn without_virtual(&mut self, findings: &mut Findings) {
        let gone = {
            let own: BTreeSet<Card<'_>> = self.list.iter().filter(|f| !f.is_virtual).filter_map(card).collect();
            let first: BTreeMap<BusId, &Function> = self
                .list
                .iter()
                .filter_map(|f| Some((f.bus.filter(|b| (b.device, b.function) == (0, 0))?, f)))
                .collect();
            let is_gone = |f: &Function| match f.is_virtual {
                true => card(f).is_some_and(|card| own.contains(&card)),
                false => is_silent_part(f, &first),
            };
            (0..self.list.len()).filter(|&index| is_gone(&self.list[index])).collect::<Vec<_>>()
        };
        for index in gone {
            let id = self.list[index].bus.map_or_else(String::new, |bus| bus.to_string());
            findings.left_out("virtual functions of cards, whose link they share", &id);
            self.list[index].kind = None;
        }
    }

    /// Warns of devices with one bus id.
    pub(crate) fn check_twins(&self, findings: &mut Findings) {
        let mut seen = BTreeSet::new();
        let devices = self.list.iter().filter(|f| f.kind.is_some_and(|kind| kind != DeviceKind::Switch));
        let twins: Ids =
            devices.filter_map(|f| f.bus).filter(|bus| !seen.insert(*bus)).map(|bus| bus.to_string()).collect();
        if !twins.is_empty() {
            let help = "both are kept; give each device its own `pci_busid`, or remove one";
            findings.of_ids(Level::Warning, "two devices have the bus id {}", &twins, Some(help.to_owned()));
        }
    }
}

fn card(function: &Function) -> Option<Card<'_>> {
    let bus = function.bus.filter(|_| function.above.is_none()).map(|bus| (bus.domain, bus.bus));
    Some((function.kind?, &function.maker, function.above, bus))
}

/// Whether a function without a link of its own stands behind a bridge beside one of the same sort that has number 00.0 and tells its
/// link. Behind a port of PCIe there is one device only, so that further numbers are functions of it (PCI Express Base Specification 6.0,
/// section 6.13, alternative routing-ID interpretation). Functions of one number of a network card are joined elsewhere.
fn is_silent_part(function: &Function, first: &BTreeMap<BusId, &Function>) -> bool {
    let silent = |f: &Function| f.link.is_some_and(|link| link.doubt == Some(Doubt::Nothing));
    let Some(bus) = function.bus.filter(|bus| (bus.device, bus.function) != (0, 0)) else { return false };
    let Some(own) = first.get(&BusId { device: 0, function: 0, ..bus }) else { return false };
    let alike = function.kind.is_some_and(|kind| kind != DeviceKind::Switch) && card(function) == card(own);
    let joined = function.kind == Some(DeviceKind::Nic) && bus.device == 0;
    function.above.is_some() && alike && !joined && silent(function) && !silent(own)
}
