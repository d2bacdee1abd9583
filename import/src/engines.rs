//! How many copies a GPU sends at once, the `engines` of its node.

use crate::adding::gpus;
use crate::finding::Findings;
use crate::gpu::Gpu;
use crate::machine::Machine;

/// Gives each GPU whose generation is known the engines of its chip, or else one for each other GPU, *assumed*: in the measurements of
/// docs/accuracy.md devices serve all copies at once. Others, and one GPU alone, keep the usual number.
pub(crate) fn complete(machine: &mut Machine, findings: &mut Findings) {
    let gpus = gpus(machine, None);
    let peers = gpus.len().saturating_sub(1);
    let (mut known, mut assumed, mut nameless) = (false, false, false);
    for gpu in gpus {
        let device = &mut machine.devices[gpu];
        device.engines = match device.gpu {
            _ if peers == 0 => None,
            Gpu::Unknown => None,
            gpu => gpu.engines().or(Some(peers)),
        };
        known |= device.gpu.engines().is_some();
        assumed |= device.engines.is_some() && device.gpu.engines().is_none();
        nameless |= device.gpu == Gpu::Unknown;
    }
    let help = "change `engines` of these nodes where you know better; `weir calibrate` fits them to copies from one GPU to several";
    if known {
        findings.note(
            "`engines: 1` of GPUs of the generations Fermi and Kepler: they have one copy engine for each direction",
        );
    }
    if assumed {
        let others = if peers == 1 { "the other GPU" } else { "each other GPU" };
        findings.assumed(format!("`engines: {peers}` of GPUs: a copy engine for {others}"), help);
    }
    if nameless && peers > 1 {
        findings.assumed(
            "GPUs whose generation the dump does not tell send one copy at a time: they have no `engines`",
            help,
        );
    }
}
