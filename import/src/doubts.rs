//! What is doubtful or assumed about PCIe links, and how to change it.

use std::collections::BTreeMap;

use crate::finding::{Findings, Ids, Level};
use crate::format::Format;
use crate::link_types::{Change, LinkTypes};
use crate::machine::{DeviceKind, Machine};
use crate::names::Names;
use crate::pcie::{Doubt, PcieLink};

/// Devices with one doubt about links of one type.
#[derive(Debug)]
struct DoubtfulLinks {
    ids: Ids,
    link: PcieLink,
    /// The newest generation that their chips can, where it is known.
    chips: Option<u8>,
}

/// Reports doubtful links by reason and link type.
pub(crate) fn report(machine: &Machine, names: &Names, types: &LinkTypes, format: Format, findings: &mut Findings) {
    let sure = machine.devices.iter().filter_map(|device| device.pcie()).filter(|link| link.doubt.is_none());
    let fastest = sure.map(|link| link.generation).max().unwrap_or(4);
    let mut settings = false;
    for ((doubt, name), group) in groups(machine, names, types) {
        let alternatives = alternatives(doubt, &group, fastest);
        let quoted = |changes: &Vec<Change>| {
            let settings = types.settings(&name, group.link, changes);
            settings.iter().map(|setting| format!("`{setting}`")).collect::<Vec<_>>().join(" and ")
        };
        let sets: Vec<String> = alternatives.iter().map(quoted).collect();
        settings |= !sets.is_empty();
        let level = level(doubt, format);
        findings.of_ids(level, &message(doubt, &name), &group.ids, Some(help(doubt, &sets.join(" or "))));
    }
    if settings {
        findings.note(
                "a `--set` above goes behind `weir run` and the like, with the numbers of your machine; or change the same key of \
                 `link_types` in the written file, once",
            );
    }
}

/// The devices whose links are in doubt, by reason and link type.
fn groups(machine: &Machine, names: &Names, types: &LinkTypes) -> BTreeMap<(Doubt, String), DoubtfulLinks> {
    let mut groups: BTreeMap<(Doubt, String), DoubtfulLinks> = BTreeMap::new();
    for index in machine.in_order() {
        let device = &machine.devices[index];
        let Some((link, doubt)) = device.pcie().and_then(|link| link.doubt.map(|doubt| (link, doubt))) else {
            continue;
        };
        if device.kind != DeviceKind::Port {
            let id = device.bus.map_or_else(|| names.device(index).to_owned(), |bus| bus.to_string());
            let new = DoubtfulLinks { ids: Ids::default(), link, chips: None };
            let group = groups.entry((doubt, types.pcie(link).to_owned())).or_insert(new);
            group.ids.add(&id);
            group.chips = group.chips.max(device.gpu.pcie_generation());
        }
    }
    groups
}

/// What the links may rather be: the one or the other list of changes, none of which is empty.
fn alternatives(doubt: Doubt, group: &DoubtfulLinks, fastest: u8) -> Vec<Vec<Change>> {
    let now = group.link;
    let other = if now.generation == 5 { 4 } else { 5 };
    let likely = [group.chips, Some(fastest)].into_iter().flatten().find(|&generation| generation != now.generation);
    let generation = (group.chips != Some(now.generation)).then(|| Change::Generation(likely.unwrap_or(other)));
    // A GPU with fewer lanes than this is in doubt.
    let lanes = (now.width < 8).then_some(Change::Width(16));
    let both = |generation: u8, width: u8| {
        let generation = (generation != now.generation).then_some(Change::Generation(generation));
        generation.into_iter().chain((width != now.width).then_some(Change::Width(width))).collect()
    };
    let lists: Vec<Vec<Change>> = match doubt {
        Doubt::Nothing | Doubt::OfChip(false) | Doubt::OfChipsBelow(false) => {
            vec![generation.into_iter().collect(), vec![Change::Width(8)]]
        }
        Doubt::Speed | Doubt::OfChip(true) | Doubt::OfChipsBelow(true) => vec![generation.into_iter().collect()],
        Doubt::Capped => vec![generation.into_iter().chain(lanes).collect()],
        Doubt::IdleGpu | Doubt::NarrowGpu if now.generation <= 2 => vec![generation.into_iter().chain(lanes).collect()],
        Doubt::IdleGpu | Doubt::NarrowGpu => vec![lanes.into_iter().collect()],
        Doubt::Width => vec![vec![Change::Width(8)]],
        Doubt::Product => Vec::new(),
        Doubt::SlowBridge(generation, width) | Doubt::Ends(generation, width) => vec![both(generation, width)],
    };
    lists.into_iter().filter(|list| !list.is_empty()).collect()
}

/// How much a doubt matters. Where a whole format has no links, its reader says so once.
fn level(doubt: Doubt, format: Format) -> Level {
    let lacks_all = matches!(doubt, Doubt::Nothing | Doubt::OfChip(false) | Doubt::OfChipsBelow(false));
    match (doubt, format) {
        (Doubt::Product, _) => Level::Assumed,
        (_, Format::NvidiaSmi | Format::RocmSmi | Format::Lspci) if lacks_all => Level::Assumed,
        _ => Level::Warning,
    }
}

fn help(doubt: Doubt, sets: &str) -> String {
    match doubt {
        Doubt::Product => {
            "a newer generation with fewer lanes reads the same; the bandwidth is right all the same".to_owned()
        }
        Doubt::IdleGpu => format!("dump again while the GPUs are busy, or {sets}"),
        Doubt::NarrowGpu => format!("check that the cards sit right; if the report is wrong, {sets}"),
        _ if sets.is_empty() => "nothing, if the slots are as fast as the chips, which cannot do more".to_owned(),
        _ => format!("change it by {sets}"),
    }
}

fn message(doubt: Doubt, name: &str) -> String {
    match doubt {
        Doubt::Nothing => format!("no link speed and width of {{}}: type `{name}`, as NCCL does"),
        Doubt::Speed => format!("no link speed of {{}} that is one: type `{name}`, as NCCL does"),
        Doubt::Width => format!("no link width of {{}} that is one: type `{name}`, as NCCL does"),
        Doubt::OfChip(width) => format!(
            "no link speed{} of {{}}: type `{name}`, the newest generation that these GPUs' chips can, by the maker's data sheet",
            if width { "" } else { " and width" }
        ),
        Doubt::OfChipsBelow(width) => format!(
            "no link speed{} of {{}}: type `{name}`, as the GPUs below these bridges can",
            if width { "" } else { " and width" }
        ),
        Doubt::Product => {
            format!("only the bandwidth of the links of {{}} is in the dump: `{name}`, the widest link that has it")
        }
        Doubt::Capped => format!(
            "GPUs {{}} are faster than type `{name}`, which the dump reports: hwloc with NVML reports no speed above 8 GT/s; it \
             is written as reported"
        ),
        Doubt::SlowBridge(generation, width) => format!(
            "bridges {{}} report type `{name}`, far below the PCIe {generation}.0 x{width} of a device under them: switches report so of \
             their management port, virtual machines of any; it is written as reported, and limits all below"
        ),
        Doubt::IdleGpu => {
            format!("GPUs {{}} report type `{name}`, to which idle GPUs fall back; it is written as reported")
        }
        Doubt::Ends(generation, width) => format!(
            "the port above {{}} reports another link, PCIe {generation}.0 x{width}, than they do: type `{name}` is what they report"
        ),
        Doubt::NarrowGpu => format!("GPUs {{}} report fewer than 8 lanes (type `{name}`); it is written as reported"),
    }
}
