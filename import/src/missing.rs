//! GPUs that have NVLink by their model, in a dump that has none: what it lacks, what that costs, and `--add nvswitch`.

use std::collections::BTreeSet;

use crate::bandwidth::{Figures, gigabytes, nvlinks};
use crate::finding::{Findings, Ids, Level};
use crate::machine::{Device, DeviceKind, End, Machine, Parent, Up, Wire};
use crate::names::Names;
use crate::refusal::Refusal;
use crate::sxm::{Addition, Joined, Sxm};

/// Adds what the user asks for.
pub(crate) fn add(machine: &mut Machine, addition: Addition, findings: &mut Findings) -> Result<(), Refusal> {
    let Addition::NvSwitch(named) = addition;
    let gpus = gpus(machine, None);
    let model = model_for_switch(machine, &gpus, named)?;
    for &gpu in &gpus {
        machine.devices[gpu].gpu = model.gpu();
        machine.lateral(End::Device(gpu), End::NvSwitch, Wire::NvLink(model.gpu(), model.links));
    }
    let few = if gpus.len() <= 4 { "; boards of four GPUs and fewer may join them directly instead" } else { "" };
    findings.assumed(
        format!(
            "`--add nvswitch`: {} GPUs have {} NVLinks each to one NVSwitch, as {} has by NVIDIA's data sheet; the dump has none{few}",
            gpus.len(),
            model.links,
            model.name
        ),
        "compare with `nvidia-smi topo -m` of the machine",
    );
    Ok(())
}

/// The model whose NVLinks are added.
fn model_for_switch(machine: &Machine, gpus: &[usize], named: Option<Sxm>) -> Result<Sxm, Refusal> {
    let refused = |message: String, help: String| Err(Refusal::new(format!("--add nvswitch: {message}")).help(help));
    let joined = with_laterals(machine);
    if gpus.iter().any(|gpu| joined.contains(gpu)) {
        return refused("the dump has links between GPUs already".to_owned(), "leave out `--add`".to_owned());
    }
    let hosts: BTreeSet<usize> = gpus.iter().map(|&gpu| machine.roots[machine.root_of(gpu)].host).collect();
    if gpus.len() < 2 || hosts.len() > 1 {
        let message = format!("the dump has {} GPUs on {} machines", gpus.len(), hosts.len());
        return refused(message, "give the dump of one machine with several GPUs".to_owned());
    }
    let known: Vec<Option<Sxm>> = gpus.iter().map(|&gpu| machine.devices[gpu].sxm).collect();
    let named_by_id = known.iter().flatten().next().copied();
    if let (Some(named), Some(known)) = (named, named_by_id.filter(|known| named != Some(*known))) {
        let message = format!("the dump's GPUs are {}, not {}", known.name, named.name);
        return refused(message, "leave out the model".to_owned());
    }
    let Some(model) = named.or(named_by_id.filter(|_| known.iter().all(|one| *one == known[0]))) else {
        let message = "the dump does not say that its GPUs are of one SXM model".to_owned();
        return refused(
            message,
            format!("name the model if they are: `--add nvswitch=MODEL`, one of {}", Sxm::words()),
        );
    };
    match model.joined {
        Joined::ByNvSwitch => Ok(model),
        Joined::Directly => refused(format!("{} has no NVSwitch: {MESH}", model.name), DIRECTLY.to_owned()),
    }
}

const MESH: &str = "its NVLinks join GPUs directly, eight in a hybrid cube mesh (DGX-1, NDv2, p3.16xlarge)";
const DIRECTLY: &str = "dump the running machine, which says who is joined with whom (`NCCL_TOPO_DUMP_FILE=topology.xml`, or \
     `nvidia-smi topo -m`), or write the pairs under `links` with `kind: nvlink`";

/// Reports GPUs with NVLinks that the dump does not have.
pub(crate) fn report(machine: &Machine, names: &Names, figures: Figures, findings: &mut Findings) {
    let hosts: BTreeSet<usize> = machine.roots.iter().map(|root| root.host).collect();
    let joined = with_laterals(machine);
    for host in hosts {
        let gpus = gpus(machine, Some(host));
        let without: Vec<usize> = gpus.iter().copied().filter(|gpu| !joined.contains(gpu)).collect();
        if gpus.len() < 2 || without.is_empty() {
            continue;
        }
        let rate = all_to_all(machine, &gpus, figures).filter(|_| without.len() == gpus.len());
        let rate = rate.map_or_else(String::new, |rate| {
            format!(": all-to-all between them runs over PCIe and sockets, at {} GB/s per GPU", rounded(rate))
        });
        let models: BTreeSet<&str> =
            without.iter().filter_map(|&gpu| machine.devices[gpu].sxm).map(|m| m.name).collect();
        for name in models {
            let of_model = |gpu: &&usize| machine.devices[**gpu].sxm.is_some_and(|model| model.name == name);
            let of_model: Vec<usize> = without.iter().filter(of_model).copied().collect();
            missing(machine, names, &of_model, &rate, figures, findings);
        }
        if machine.is_preset && without.iter().all(|&gpu| machine.devices[gpu].is_nameless()) {
            unknown(without.len(), &rate, findings);
        }
    }
}

/// Reports GPUs of one model.
fn missing(machine: &Machine, names: &Names, gpus: &[usize], rate: &str, figures: Figures, findings: &mut Findings) {
    let Some(model) = gpus.first().and_then(|&gpu| machine.devices[gpu].sxm) else { return };
    let id =
        |&gpu: &usize| machine.devices[gpu].bus.map_or_else(|| names.device(gpu).to_owned(), |bus| bus.to_string());
    let ids: Ids = gpus.iter().map(id).collect();
    let with = nvlinks(model.gpu(), model.links, figures);
    let carry = format!("{} GB/s ({})", gigabytes(with.megabytes), with.source);
    let message = format!(
        "NVLink is missing: GPUs {{}} are {}, by device id or name, and have {} NVLinks each, of which the dump has none{rate}; their \
         NVLinks carry {carry} of each GPU",
        model.name, model.links
    );
    let help = match model.joined {
        Joined::ByNvSwitch => {
            "import again with `--add nvswitch`, which adds them; or dump the running machine: `NCCL_TOPO_DUMP_FILE=topology.xml`"
                .to_owned()
        }
        Joined::Directly => format!("`--add nvswitch` is not for them: {MESH}; {DIRECTLY}"),
    };
    findings.of_ids(Level::Warning, &message, &ids, Some(help));
}

/// Reports the GPUs of a preset that names no model.
fn unknown(gpus: usize, rate: &str, findings: &mut Findings) {
    let message = format!(
        "NVLink may be missing: the file is a static preset that names no model of its {gpus} GPUs and no NVLink, which NCCL finds when it \
         runs{rate}"
    );
    let help = format!(
        "if they are SXM GPUs with NVSwitches, import again with `--add nvswitch=MODEL` (one of {}); V100 SXM2 (NDv2) has a hybrid cube \
         mesh instead; best: dump the running machine",
        Sxm::words()
    );
    findings.warning(message, help);
}

/// The GPUs of a machine of the dump, or of all.
fn gpus(machine: &Machine, host: Option<usize>) -> Vec<usize> {
    let is = |&index: &usize| {
        let gpu = machine.devices[index].kind == DeviceKind::Gpu;
        gpu && host.is_none_or(|host| machine.roots[machine.root_of(index)].host == host)
    };
    machine.in_order().into_iter().filter(is).collect()
}

/// The devices that have links beside PCIe to others.
fn with_laterals(machine: &Machine) -> BTreeSet<usize> {
    let wires = machine.laterals.iter().filter(|(_, wire)| !matches!(wire, Wire::C2c(_)));
    let ends = wires.flat_map(|((a, b), _)| [*a, *b]);
    ends.filter_map(|end| if let End::Device(device) = end { Some(device) } else { None }).collect()
}

/// What each GPU sends in all, in MB/s, where all send to all others at one rate: that of the link with the least bandwidth for each of
/// the pairs that cross it. `None` where that does not join all.
fn all_to_all(machine: &Machine, gpus: &[usize], figures: Figures) -> Option<u64> {
    let all = gpus.len() as u64;
    let (mut below, mut in_root) = (vec![0_u64; machine.devices.len()], vec![0_u64; machine.roots.len()]);
    for &gpu in gpus {
        let mut at = Parent::Device(gpu);
        while let Parent::Device(device) = at {
            below[device] += 1;
            at = machine.devices[device].parent;
        }
        in_root[machine.root_of(gpu)] += 1;
    }
    let share = |megabytes: u64, pairs: u64| (pairs > 0).then(|| megabytes / pairs);
    let up = |(device, &inside): (&Device, &u64)| match device.up {
        Up::Pcie(link) => share(link.megabytes(figures), inside * (all - inside)),
        Up::Network(_) => None,
    };
    let sockets = machine.laterals.iter().filter_map(|(ends, wire)| match (ends, wire) {
        ((End::Root(a), End::Root(b)), Wire::Socket(processor) | Wire::Package(processor)) => {
            share(processor.socket_link().megabytes, in_root[*a] * in_root[*b])
        }
        _ => None,
    });
    let least = machine.devices.iter().zip(&below).filter_map(up).chain(sockets).min()?;
    Some(least * (all - 1))
}

/// MB/s as GB/s with one digit behind the point.
fn rounded(megabytes: u64) -> String {
    format!("{:.1}", megabytes as f64 / 1000.0)
}
