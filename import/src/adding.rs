//! `--add nvswitch`, `--add xgmi` and `--add c2c`: links of GPU modules that a dump lacks. What a warning proposes and what the command
//! accepts is decided by one function, [`plan`].

use std::collections::BTreeSet;

use crate::finding::{Findings, Ids, Level};
use crate::gpu::Gpu;
use crate::machine::{DeviceKind, End, Machine, Wire};
use crate::module::{AddedLinks, Addition, Joined, Module};
use crate::refusal::Refusal;

/// Links that can be added.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) model: Module,
    /// The GPUs that get them.
    pub(crate) gpus: Vec<usize>,
    /// Those that get none: of no module, or of a model that the dump does not tell.
    others: Vec<usize>,
}

/// Adds what the user asks for.
pub(crate) fn add(machine: &mut Machine, addition: Addition, findings: &mut Findings) -> Result<(), Refusal> {
    let plan = plan(machine, addition)?;
    if addition.links != AddedLinks::C2c {
        join(machine, &plan, addition.links);
        findings.assumed(added(addition.links, plan.model, plan.gpus.len()), compare(addition.links));
    }
    add_chip_links(machine, &plan, addition.links, findings);
    let Plan { model, others, .. } = plan;
    if !others.is_empty() {
        let message = format!(
            "GPUs {{}} get no links by `--add {}`: the dump does not say that they are {}",
            addition.links.word(),
            model.name
        );
        let help = "add theirs under `links` in the written file, if they have some".to_owned();
        findings.of_ids(Level::Warning, &message, &ids(machine, &others), Some(help));
    }
    Ok(())
}

/// Joins the GPUs with each other.
fn join(machine: &mut Machine, Plan { model, gpus, .. }: &Plan, links: AddedLinks) {
    for (at, &gpu) in gpus.iter().enumerate() {
        machine.devices[gpu].gpu = model.gpu();
        match (links, model.joined) {
            (AddedLinks::Xgmi, Joined::AllToAll(board)) => {
                let wire = Wire::Xgmi(model.gpu(), model.links / (board - 1));
                gpus[at + 1..].iter().for_each(|&other| machine.lateral(End::Device(gpu), End::Device(other), wire));
            }
            _ => machine.lateral(End::Device(gpu), End::NvSwitch, Wire::NvLink(model.gpu(), model.links)),
        }
    }
}

/// Joins the GPUs of superchips with their processors, where the dump does not.
fn add_chip_links(machine: &mut Machine, plan: &Plan, links: AddedLinks, findings: &mut Findings) {
    let (model, joined) = (plan.model, with_c2c(machine));
    let without: Vec<usize> = plan.gpus.iter().copied().filter(|gpu| !joined.contains(gpu)).collect();
    if model.chip_links == 0 || without.is_empty() {
        return;
    }
    for &gpu in &without {
        machine.devices[gpu].gpu = model.gpu();
        let root = machine.root_of(gpu);
        machine.lateral(End::Device(gpu), End::Root(root), Wire::C2c(model.chip_links));
    }
    let message = format!(
        "`--add {}`: {} GPUs have {} chip-to-chip links each to their processors, as {} has; the dump has none",
        links.word(),
        without.len(),
        model.chip_links,
        model.name
    );
    findings.assumed(message, compare(AddedLinks::C2c));
}

fn added(links: AddedLinks, model: Module, gpus: usize) -> String {
    let name = model.name;
    match (links, model.joined) {
        (AddedLinks::Xgmi, Joined::AllToAll(board)) => format!(
            "`--add xgmi`: {gpus} GPUs have {} xGMI link each to every other one, as a board of {board} {name} has by AMD's data sheet; the \
             dump has none",
            model.links / (board - 1)
        ),
        _ => {
            let few = if gpus <= 4 { "; boards of four GPUs and fewer may join them directly instead" } else { "" };
            format!(
                "`--add nvswitch`: {gpus} GPUs have {} NVLinks each to one NVSwitch, as {name} has by NVIDIA's data sheet; the dump has \
                 none{few}",
                model.links
            )
        }
    }
}

fn compare(links: AddedLinks) -> &'static str {
    match links {
        AddedLinks::NvSwitch => "compare with `nvidia-smi topo -m` of the machine",
        AddedLinks::Xgmi => "compare with `rocm-smi --showtopo` of the machine",
        AddedLinks::C2c => "compare with `nvidia-smi c2c -s` of the machine",
    }
}

/// The links that can be added, or why not.
pub(crate) fn plan(machine: &Machine, Addition { links, model: named }: Addition) -> Result<Plan, Refusal> {
    let refused =
        |message: String, help: String| Err(Refusal::new(format!("--add {}: {message}", links.word())).help(help));
    let all = gpus(machine, None);
    let (joined, what) = match links {
        AddedLinks::C2c => (with_c2c(machine), "chip-to-chip links"),
        _ => (with_laterals(machine), "links between GPUs"),
    };
    if all.iter().any(|gpu| joined.contains(gpu)) {
        return refused(format!("the dump has {what} already"), "leave out `--add`".to_owned());
    }
    let model = match model(machine, &all, links, named) {
        Ok(model) => model,
        Err((message, help)) => return refused(message, help),
    };
    if let Some((message, help)) = unfit(model, links) {
        return refused(message, help);
    }
    let told = all.iter().any(|&gpu| machine.devices[gpu].module.is_some());
    let may_be = |gpu: usize| {
        let device = &machine.devices[gpu];
        if told {
            device.module == Some(model)
        } else {
            !device.is_card && (device.gpu == Gpu::Unknown || device.gpu == model.gpu())
        }
    };
    let (gpus, others): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&gpu| may_be(gpu));
    let hosts: BTreeSet<usize> = gpus.iter().map(|&gpu| machine.roots[machine.root_of(gpu)].host).collect();
    let name = model.name;
    let fits = match links {
        AddedLinks::C2c => !gpus.is_empty(),
        _ => gpus.len() > 1 && hosts.len() == 1,
    };
    if !fits {
        let message =
            format!("of GPUs that are or may be {name} the dump has {} on {} machines", gpus.len(), hosts.len());
        return refused(message, "give the dump of one machine with several GPUs".to_owned());
    }
    if let Joined::AllToAll(board) = model.joined
        && gpus.len() > board as usize
    {
        let message = format!("the dump has {} GPUs, a board of {name} {board}", gpus.len());
        return refused(message, dump_running(model));
    }
    Ok(Plan { model, gpus, others })
}

/// The model whose links are added: the one that the dump tells, or else the one that the user names.
fn model(
    machine: &Machine,
    gpus: &[usize],
    links: AddedLinks,
    named: Option<Module>,
) -> Result<Module, (String, String)> {
    let mut told: Vec<Module> = gpus.iter().filter_map(|&gpu| machine.devices[gpu].module).collect();
    told.dedup();
    let names =
        || told.iter().map(|model| model.name).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" and ");
    match (&told[..], named) {
        ([], Some(named)) => Ok(named),
        ([told], None) => Ok(*told),
        ([told], Some(named)) if *told == named => Ok(named),
        ([_], Some(named)) => {
            Err((format!("the dump's GPUs are {}, not {}", names(), named.name), "leave out the model".to_owned()))
        }
        ([], None) => Err((
            "the dump does not say that its GPUs are of one model of modules".to_owned(),
            format!("name the model if they are: `--add {}=MODEL`, one of {}", links.word(), Module::words(links)),
        )),
        ([first, ..], _) => {
            Err((format!("the dump's GPUs are {}, which no board has together", names()), dump_running(*first)))
        }
    }
}

/// Why an addition does not fit a model.
fn unfit(model: Module, links: AddedLinks) -> Option<(String, String)> {
    let name = model.name;
    match (model.joined, links) {
        (_, AddedLinks::C2c) if model.chip_links > 0 => None,
        (_, AddedLinks::C2c) => {
            Some((format!("{name} has no chip-to-chip links to a processor"), "leave out `--add`".to_owned()))
        }
        (Joined::Switched, AddedLinks::NvSwitch) | (Joined::AllToAll(_), AddedLinks::Xgmi) => None,
        (Joined::Paired, AddedLinks::NvSwitch) => {
            Some((format!("{name} has no NVSwitch: {MESH}"), dump_running(model)))
        }
        (Joined::AllToAll(_), AddedLinks::NvSwitch) => {
            Some((format!("{name} has xGMI, no NVLink"), "use `--add xgmi`".to_owned()))
        }
        (Joined::Switched, AddedLinks::Xgmi) => {
            Some((format!("{name} has NVLink, no xGMI"), "use `--add nvswitch`".to_owned()))
        }
        _ => Some((format!("{name} has no links that are the same on all machines"), dump_running(model))),
    }
}

pub(crate) const MESH: &str = "its NVLinks join GPUs directly, eight in a hybrid cube mesh (DGX-1, NDv2, p3.16xlarge)";

/// How to get a dump with the links of a model.
pub(crate) fn dump_running(model: Module) -> String {
    let (show, kind) =
        if model.has_xgmi() { ("rocm-smi --showtopo", "xgmi") } else { ("nvidia-smi topo -m", "nvlink") };
    format!(
        "dump the running machine, which says who is joined with whom (`NCCL_TOPO_DUMP_FILE=topology.xml` in the environment of any {} \
         program), or look at `{show}` and write the pairs under `links` with `kind: {kind}`",
        if model.has_xgmi() { "RCCL" } else { "NCCL" }
    )
}

/// The GPUs of a machine of the dump, or of all.
pub(crate) fn gpus(machine: &Machine, host: Option<usize>) -> Vec<usize> {
    let is = |&index: &usize| {
        let gpu = machine.devices[index].kind == DeviceKind::Gpu;
        gpu && host.is_none_or(|host| machine.roots[machine.root_of(index)].host == host)
    };
    machine.in_order().into_iter().filter(is).collect()
}

/// The devices that have links beside PCIe to others.
pub(crate) fn with_laterals(machine: &Machine) -> BTreeSet<usize> {
    with(machine, |wire| !wire.is_c2c())
}

/// The GPUs that have chip-to-chip links to their processors.
pub(crate) fn with_c2c(machine: &Machine) -> BTreeSet<usize> {
    with(machine, Wire::is_c2c)
}

/// The devices at lateral links of some sort.
fn with(machine: &Machine, fits: impl Fn(Wire) -> bool) -> BTreeSet<usize> {
    let wires = machine.laterals.iter().filter(|(_, wire)| fits(**wire));
    let ends = wires.flat_map(|((a, b), _)| [*a, *b]);
    ends.filter_map(|end| if let End::Device(device) = end { Some(device) } else { None }).collect()
}

/// The bus ids of GPUs, or what the dump calls them.
fn ids(machine: &Machine, gpus: &[usize]) -> Ids {
    let id = |&gpu: &usize| {
        machine.devices[gpu].bus.map_or_else(|| machine.devices[gpu].label.clone(), |bus| bus.to_string())
    };
    gpus.iter().map(id).collect()
}
