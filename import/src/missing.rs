//! GPUs that have NVLink, xGMI or chip-to-chip links by their model, in a dump that has none: what it lacks, and what that costs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::adding::{self, MESH, dump_running, gpus, with_c2c, with_laterals};
use crate::all_to_all::{all_to_all, rounded};
use crate::bandwidth::{Figures, Processor, c2cs, gigabytes, nvlinks, xgmis};
use crate::detours::rate_to_root;
use crate::finding::{Findings, Ids, Level};
use crate::gpu::Gpu;
use crate::machine::{End, Machine, Wire};
use crate::module::{AddedLinks, Addition, Joined, Module};
use crate::names::Names;

/// Reports GPUs with links that the dump does not have.
pub(crate) fn report(machine: &Machine, names: &Names, figures: Figures, findings: &mut Findings) {
    let hosts: BTreeSet<usize> = machine.roots.iter().map(|root| root.host).collect();
    let joined = with_laterals(machine);
    report_other_counts(machine, names, findings);
    for host in hosts {
        let gpus = gpus(machine, Some(host));
        let models: BTreeSet<&str> =
            gpus.iter().filter_map(|&gpu| machine.devices[gpu].module).map(|model| model.name).collect();
        for name in models {
            let is = |gpu: &usize| machine.devices[*gpu].module.is_some_and(|model| model.name == name);
            let all: Vec<usize> = gpus.iter().copied().filter(is).collect();
            let without: Vec<usize> = all.iter().copied().filter(|gpu| !joined.contains(gpu)).collect();
            let model = Lacking { machine, names, all, without };
            model.report(figures, findings);
            model.report_chip_links(figures, findings);
        }
        let may_have = |gpu: Gpu| gpu == Gpu::Unknown || gpu.nvlink_generation().is_some();
        let nameless = |&gpu: &usize| {
            let device = &machine.devices[gpu];
            // A running machine's dump has the NVLinks of models that are not known here, too.
            let is_unknown = machine.is_preset && device.may_be_module;
            (device.is_nameless() && may_have(device.gpu) || is_unknown) && !joined.contains(&gpu)
        };
        report_processors(machine, names, &gpus, findings);
        report_memory_nodes(machine, names, &gpus, figures, findings);
        if gpus.len() > 1 && gpus.iter().all(nameless) {
            unknown(machine, &gpus, figures, findings);
        }
    }
}

/// The links of each GPU, and whether all of them go to NVSwitches.
fn links_by_gpu(machine: &Machine) -> BTreeMap<usize, (u32, bool)> {
    let mut links: BTreeMap<usize, (u32, bool)> = BTreeMap::new();
    for (&(a, b), wire) in &machine.laterals {
        let (Wire::NvLink(_, count) | Wire::Xgmi(_, count)) = *wire else { continue };
        for (end, other) in [(a, b), (b, a)] {
            if let End::Device(device) = end {
                let (links, are_switched) = links.entry(device).or_insert((0, true));
                *links += count;
                *are_switched &= other == End::NvSwitch;
            }
        }
    }
    links
}

/// Warns of GPUs with more links than their model, or any of their chip, has, and of those with fewer to NVSwitches.
fn report_other_counts(machine: &Machine, names: &Names, findings: &mut Findings) {
    let mut alike: BTreeMap<(String, &str), Ids> = BTreeMap::new();
    for (index, (links, are_switched)) in links_by_gpu(machine) {
        let device = &machine.devices[index];
        let of_model = device
            .module
            .map(|model| (model.links, model.kind(), format!("their model, {}, has {}", model.name, model.links)));
        let of_chip = || {
            let most = device.gpu.most_nvlinks()?;
            let has = if most == 0 { "none".to_owned() } else { format!("{most} at most") };
            Some((most, "NVLinks", format!("GPUs of their chip have {has}")))
        };
        let Some((most, kind, has)) = of_model.or_else(of_chip) else { continue };
        let help = match links.cmp(&most) {
            Ordering::Greater => MORE,
            Ordering::Less if are_switched && device.module.is_some() => FEWER,
            _ => continue,
        };
        let kind = if links == 1 { kind.trim_end_matches('s') } else { kind };
        let message = format!("GPUs {{}} have {links} {kind} in the dump, and {has}");
        let id = device.bus.map_or_else(|| names.device(index).to_owned(), |bus| bus.to_string());
        alike.entry((message, help)).or_default().add(&id);
    }
    for ((message, help), ids) in alike {
        findings.of_ids(Level::Warning, &message, &ids, Some(help.to_owned()));
    }
}

const MORE: &str = "all are written; look whether one stands twice in the dump, or pairs that a switch joins stand there as links of \
                    their own, or change `links`";
const FEWER: &str = "those are written; look whether the others are down (`nvidia-smi nvlink --status`)";

/// GPUs of one model.
struct Lacking<'m> {
    machine: &'m Machine,
    names: &'m Names,
    all: Vec<usize>,
    /// Those of them without links to others.
    without: Vec<usize>,
}

impl Lacking<'_> {
    fn report(&self, figures: Figures, findings: &mut Findings) {
        let Some(model) = self.without.first().and_then(|&gpu| self.machine.devices[gpu].module) else { return };
        let (name, fabric, kind, links) = (model.name, model.fabric(), model.kind(), model.links);
        if self.all.len() == 1 {
            let message = format!(
                "GPU {{}} is {name}, by device id or name: its {links} {kind} are left out, as they lead to no GPU of the dump"
            );
            findings.of_ids(Level::Note, &message, &self.ids(), None);
        } else if self.without.len() < self.all.len() {
            let message =
                format!("GPUs {{}} have no {fabric} in the dump, others of their model ({name}) have: {OVER_PCIE}");
            let show = if model.has_xgmi() { "rocm-smi --showtopo" } else { "nvidia-smi nvlink --status" };
            let help = format!("look at `{show}`, and dump again with all GPUs and working links");
            findings.of_ids(Level::Warning, &message, &self.ids(), Some(help));
        } else {
            self.missing(model, figures, findings);
        }
    }

    /// None of them has links.
    fn missing(&self, model: Module, figures: Figures, findings: &mut Findings) {
        let with = match model.has_xgmi() {
            true => xgmis(model.gpu(), model.links, figures),
            false => nvlinks(model.gpu(), model.links, figures),
        };
        let carry = format!("{} GB/s ({})", gigabytes(with.megabytes), with.source);
        let (name, fabric, kind, links) = (model.name, model.fabric(), model.kind(), model.links);
        let message = format!(
            "{fabric} is missing: GPUs {{}} are {name}, by device id or name, and have {links} {kind} each, of which the dump has none{}; \
             their {kind} carry {carry} of each GPU{}",
            rate(self.machine, &self.all, figures),
            if model.joined == Joined::Paired && is_power(self.machine) { TO_PROCESSOR } else { "" }
        );
        findings.of_ids(Level::Warning, &message, &self.ids(), Some(self.help(model)));
    }

    /// What to do: an addition is proposed where the command accepts it.
    fn help(&self, model: Module) -> String {
        let links = if model.has_xgmi() { AddedLinks::Xgmi } else { AddedLinks::NvSwitch };
        match (adding::plan(self.machine, Addition { links, model: None }), model.joined) {
            (Ok(_), _) => {
                let run = if model.has_xgmi() { "RCCL" } else { "NCCL" };
                format!(
                    "import again with `--add {}`, which adds them; or dump the running machine: `NCCL_TOPO_DUMP_FILE=topology.xml` in the \
                     environment of any {run} program",
                    links.word()
                )
            }
            (Err(_), Joined::Paired) => format!("`--add nvswitch` is not for them: {MESH}; {}", dump_running(model)),
            (Err(_), _) => dump_running(model),
        }
    }

    /// Superchips: copies from and to host memory take links between GPU and processor that only NCCL's dumps have.
    fn report_chip_links(&self, figures: Figures, findings: &mut Findings) {
        let joined = with_c2c(self.machine);
        let without: Vec<usize> = self.all.iter().copied().filter(|gpu| !joined.contains(gpu)).collect();
        let model = without.first().and_then(|&gpu| self.machine.devices[gpu].module);
        let Some(model) = model.filter(|model| model.chip_links > 0) else { return };
        let (name, with) = (model.name, c2cs(model.chip_links, figures));
        let over_pcie = without.iter().filter_map(|&gpu| rate_to_root(self.machine, gpu, figures)).max();
        let message = format!(
            "NVLink-C2C is missing: GPUs {{}} are {name}, by device id or name, and have {} chip-to-chip links each to their processor, of \
             which the dump has none: copies from and to host memory run over PCIe{}; these links carry {} GB/s ({}; NVIDIA's data sheets: \
             900 GB/s both ways of a processor)",
            model.chip_links,
            over_pcie.map_or_else(String::new, |rate| format!(", at most at {} GB/s", gigabytes(rate))),
            gigabytes(with.megabytes),
            with.source
        );
        findings.of_ids(Level::Warning, &message, &self.ids_of(&without), Some(self.help_on_chip_links(model)));
    }

    /// Likewise: an addition is proposed where the command accepts it.
    fn help_on_chip_links(&self, model: Module) -> String {
        let accepts = |links| adding::plan(self.machine, Addition { links, model: None }).is_ok();
        let dump = "`NCCL_TOPO_DUMP_FILE=topology.xml` in the environment of any NCCL program";
        match (accepts(AddedLinks::C2c), accepts(AddedLinks::NvSwitch)) {
            (true, true) => format!(
                "import again with `--add nvswitch`, which adds them together with the NVLinks, or with `--add c2c`, which adds them alone; \
                 or dump the running machine: {dump}"
            ),
            (true, false) => {
                format!("import again with `--add c2c`, which adds them; or dump the running machine: {dump}")
            }
            (false, _) => format!(
                "dump the running machine: {dump}; or look at `nvidia-smi c2c -s` and write a link between each GPU and its `rc` under \
                 `links`, of a type `{{ bandwidth: {}GB/s, kind: nvlink }}`",
                gigabytes(c2cs(model.chip_links, Figures::Effective).megabytes)
            ),
        }
    }

    fn ids(&self) -> Ids {
        self.ids_of(&self.without)
    }

    fn ids_of(&self, gpus: &[usize]) -> Ids {
        let id = |&gpu: &usize| {
            let bus = self.machine.devices[gpu].bus;
            bus.map_or_else(|| self.names.device(gpu).to_owned(), |bus| bus.to_string())
        };
        gpus.iter().map(id).collect()
    }
}

/// P100 and V100 SXM2 of POWER8 and POWER9 (IBM's Redpapers on the Power Systems S822LC and AC922).
const TO_PROCESSOR: &str =
    "; on POWER some of them lead to the processor, so copies from and to host memory lack theirs, too";

fn is_power(machine: &Machine) -> bool {
    machine.roots.iter().any(|root| root.processor == Processor::Power)
}

/// Warns where GPUs have NVLinks with each other and on POWER none with their processor, of which `nvidia-smi topo -m` shows nothing.
fn report_processors(machine: &Machine, names: &Names, gpus: &[usize], findings: &mut Findings) {
    let joined = with_laterals(machine);
    let to_processor =
        |gpu: usize| machine.laterals.keys().any(|(a, b)| matches!(a, End::Root(_)) && *b == End::Device(gpu));
    let paired = |gpu: usize| machine.devices[gpu].module.is_some_and(|model| model.joined == Joined::Paired);
    let lacking = gpus.iter().filter(|&&gpu| paired(gpu) && joined.contains(&gpu) && !to_processor(gpu));
    let ids: Ids = lacking.map(|&gpu| names.device(gpu)).collect();
    if is_power(machine) && !ids.is_empty() {
        let message = "NVLink between GPUs {} and their processors is missing: on POWER it joins these, and the dump shows none; copies from \
                       and to host memory run over PCIe";
        let help =
            "dump the running machine: `NCCL_TOPO_DUMP_FILE=topology.xml` in the environment of any NCCL program";
        findings.of_ids(Level::Warning, message, &ids, Some(help.to_owned()));
    }
}

/// Warns of GPUs of no known model whose memory is a NUMA node: so it is where chip-to-chip links join it with its processor.
fn report_memory_nodes(machine: &Machine, names: &Names, gpus: &[usize], figures: Figures, findings: &mut Findings) {
    let joined = with_c2c(machine);
    let is = |&gpu: &usize| {
        let device = &machine.devices[gpu];
        device.has_memory_node && device.module.is_none() && !joined.contains(&gpu)
    };
    let lacking: Vec<usize> = gpus.iter().copied().filter(is).collect();
    if lacking.is_empty() || is_power(machine) {
        return;
    }
    let over_pcie = lacking.iter().filter_map(|&gpu| rate_to_root(machine, gpu, figures)).max();
    let message = format!(
        "NVLink-C2C is missing: the memory of GPUs {{}} is a NUMA node, as that of superchips, whose chip-to-chip links the dump does not \
         have: copies from and to host memory run over PCIe{}",
        over_pcie.map_or_else(String::new, |rate| format!(", at most at {} GB/s", gigabytes(rate)))
    );
    let fits = |model: &Module| adding::plan(machine, Addition { links: AddedLinks::C2c, model: Some(*model) }).is_ok();
    let models: Vec<String> = Module::all().filter(fits).map(|model| model.to_string()).collect();
    let dump = "dump the running machine: `NCCL_TOPO_DUMP_FILE=topology.xml` in the environment of any NCCL program";
    let help = match models.is_empty() {
        true => dump.to_owned(),
        false => {
            format!("import again with `--add c2c=MODEL`, one of {}, which adds them; or {dump}", models.join(", "))
        }
    };
    let ids = lacking.iter().map(|&gpu| names.device(gpu)).collect();
    findings.of_ids(Level::Warning, &message, &ids, Some(help));
}

const OVER_PCIE: &str = "copies to and from them run over PCIe and sockets";

/// What GPUs get without their links.
fn rate(machine: &Machine, gpus: &[usize], figures: Figures) -> String {
    all_to_all(machine, gpus, figures).map_or_else(String::new, |rate| {
        format!(": all-to-all between them runs over PCIe and sockets, at {} GB/s per GPU", rounded(rate))
    })
}

/// Reports the GPUs of a file that names no model of them: real dumps do.
fn unknown(machine: &Machine, gpus: &[usize], figures: Figures, findings: &mut Findings) {
    let (file, count) = (if machine.is_preset { "the file is a static preset that" } else { "the file" }, gpus.len());
    let what = match gpus.iter().all(|&gpu| machine.devices[gpu].is_nameless()) {
        true => format!("{file} names no model of its {count} GPUs and no NVLink"),
        false => format!("{file} has {count} GPUs whose device ids weir does not know, and no NVLink"),
    };
    let message =
        format!("NVLink may be missing: {what}, which NCCL finds when it runs{}", rate(machine, gpus, figures));
    let fits =
        |&model: &Module| adding::plan(machine, Addition { links: AddedLinks::NvSwitch, model: Some(model) }).is_ok();
    let models: Vec<String> = Module::all().filter(fits).map(|model| model.to_string()).collect();
    let help = if models.is_empty() {
        "dump the running machine: `NCCL_TOPO_DUMP_FILE=topology.xml` in the environment of any NCCL program".to_owned()
    } else {
        // Of the models without an NVSwitch, clouds have this one.
        let mesh = if models.iter().any(|word| word.starts_with("v100")) {
            "; V100 SXM2 (NDv2) has a hybrid cube mesh instead"
        } else {
            ""
        };
        format!(
            "if they are SXM GPUs with NVSwitches, import again with `--add nvswitch=MODEL` (one of {}){mesh}; best: dump the running machine",
            models.join(", ")
        )
    };
    findings.warning(message, help);
}
