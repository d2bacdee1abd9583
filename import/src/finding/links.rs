//! What is doubtful or assumed about PCIe links.

use std::collections::BTreeMap;

use super::{Findings, Ids};
use crate::link_types::LinkTypes;
use crate::machine::{Kind, Machine};
use crate::names::Names;
use crate::pcie::Doubt;

impl Findings {
    /// Tells it by reason and link type.
    pub(crate) fn of_links(&mut self, machine: &Machine, names: &Names, types: &LinkTypes) {
        let sure = machine.devices.iter().filter_map(|device| device.pcie()).filter(|link| link.doubt.is_none());
        let fastest = sure.map(|link| link.generation).max().unwrap_or(4);
        for ((doubt, name), ids) in groups(machine, names, types) {
            let key = format!(
                "change it by `--set topology.link_types.{name}.generation={fastest}` (and `.width=8`) at each run, or edit the key \
                 `link_types.{name}` of the written file"
            );
            let message = message(doubt, &name, &ids);
            match doubt {
                Doubt::Nothing => self.assumed(message, key),
                Doubt::Product => self.assumed(
                    message,
                    "a newer generation with fewer lanes reads the same; the bandwidth is right all the same",
                ),
                Doubt::IdleGpu => self.warning(message, format!("dump again while the GPUs are busy, or {key}")),
                Doubt::NarrowGpu => self.warning(message, format!("look whether the cards sit right; {key}")),
                Doubt::Speed | Doubt::Width | Doubt::SlowBridge | Doubt::Ends => self.warning(message, key),
            }
        }
    }
}

/// The devices whose links are in doubt, by reason and link type.
fn groups(machine: &Machine, names: &Names, types: &LinkTypes) -> BTreeMap<(Doubt, String), Ids> {
    let mut groups: BTreeMap<(Doubt, String), Ids> = BTreeMap::new();
    for index in machine.in_order() {
        let device = &machine.devices[index];
        let Some((link, doubt)) = device.pcie().and_then(|link| link.doubt.map(|doubt| (link, doubt))) else {
            continue;
        };
        if device.kind != Kind::Port {
            let id = device.bus.map_or_else(|| names.device(index).to_owned(), |bus| bus.to_string());
            groups.entry((doubt, types.pcie(link).to_owned())).or_default().add(&id);
        }
    }
    groups
}

fn message(doubt: Doubt, name: &str, ids: &Ids) -> String {
    match doubt {
        Doubt::Nothing => format!("no link speed and width of {ids}: type `{name}`, as NCCL does"),
        Doubt::Speed => format!("no link speed of {ids} that is one: type `{name}`, as NCCL does"),
        Doubt::Width => format!("no link width of {ids} that is one: type `{name}`, as NCCL does"),
        Doubt::Product => {
            format!("only the bandwidth of the links of {ids} is in the dump: `{name}`, the widest link that has it")
        }
        Doubt::SlowBridge => format!(
            "bridges {ids} report type `{name}`, two or more generations below the devices under them: switches report so of \
             their management port; it is written as reported"
        ),
        Doubt::IdleGpu => {
            format!("GPUs {ids} report type `{name}`, to which idle GPUs fall back; it is written as reported")
        }
        Doubt::Ends => format!("the port above {ids} tells another link than they do: type `{name}` is what they tell"),
        Doubt::NarrowGpu => format!("GPUs {ids} report fewer than 8 lanes (type `{name}`); it is written as reported"),
    }
}
