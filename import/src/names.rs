//! Names of nodes: short and unique.

use crate::adding::gpus;
use crate::finding::{Findings, Level};
use crate::gpu::{Gpu, VENDOR_AMD, VENDOR_INTEL, VENDOR_NVIDIA};
use crate::machine::{Device, DeviceKind, End, Machine};

/// The name of each device, by its index.
#[derive(Debug)]
pub(crate) struct Names {
    devices: Vec<String>,
}

/// The node that stands for all NVSwitches.
pub(crate) const NVSWITCH: &str = "nvswitch";

/// Makers of GPUs, in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Maker {
    /// Or not known: the dump does not say the vendor, which is 0 or 0xffff in virtual machines.
    Nvidia,
    Amd,
    Intel,
    Other,
}

fn maker(gpu: &Device) -> Maker {
    match (gpu.vendor, gpu.gpu) {
        (Some(VENDOR_AMD), _) | (_, Gpu::Amd(_)) => Maker::Amd,
        (Some(VENDOR_INTEL), _) => Maker::Intel,
        (Some(VENDOR_NVIDIA | 0 | 0xffff) | None, _) => Maker::Nvidia,
        (Some(_), _) => Maker::Other,
    }
}

/// Whether the dump says that it is NVIDIA's.
fn is_nvidia(gpu: &Device) -> bool {
    gpu.vendor == Some(VENDOR_NVIDIA) || matches!(gpu.gpu, Gpu::Nvidia(_) | Gpu::TeslaK20)
}

impl Names {
    /// `gpu0` … by the dump's own numbers, or else by bus id, as CUDA and `nvidia-smi` number them; the others in the order of the tree.
    /// Other makers' GPUs come after NVIDIA's, as each maker's tools number its own alone.
    pub(crate) fn of(machine: &Machine) -> Self {
        let order = machine.in_order();
        let mut devices = vec![String::new(); machine.devices.len()];
        let mut gpus: Vec<usize> =
            order.iter().copied().filter(|&i| machine.devices[i].kind == DeviceKind::Gpu).collect();
        // A file that joins several machines repeats the numbers: each machine's come after those before.
        let group = |gpu: usize| (machine.roots[machine.root_of(gpu)].host, maker(&machine.devices[gpu]));
        if gpus.iter().all(|&gpu| machine.devices[gpu].number.is_some()) {
            gpus.sort_by_key(|&gpu| (group(gpu), machine.devices[gpu].number));
        } else if gpus.iter().all(|&gpu| machine.devices[gpu].bus.is_some()) {
            gpus.sort_by_key(|&gpu| (group(gpu), machine.devices[gpu].bus));
        }
        for (number, gpu) in gpus.into_iter().enumerate() {
            devices[gpu] = format!("gpu{number}");
        }
        let words = [
            (DeviceKind::Switch, "plx"),
            (DeviceKind::Port, "port"),
            (DeviceKind::Nic, "nic"),
            (DeviceKind::Fpga, "fpga"),
        ];
        for (kind, word) in words {
            let of_kind = order.iter().filter(|&&device| machine.devices[device].kind == kind);
            for (number, &device) in of_kind.enumerate() {
                devices[device] = format!("{word}{number}");
            }
        }
        Self { devices }
    }

    /// Notes GPUs of several makers, of which only NVIDIA's have CUDA's numbers.
    pub(crate) fn report_makers(&self, machine: &Machine, findings: &mut Findings) {
        let gpus = gpus(machine, None);
        let (first, mut others): (Vec<usize>, Vec<usize>) =
            gpus.into_iter().partition(|&gpu| maker(&machine.devices[gpu]) == Maker::Nvidia);
        // By number: names of one length are in its order.
        others.sort_by_key(|&gpu| (self.device(gpu).len(), self.device(gpu)));
        if first.iter().any(|&gpu| is_nvidia(&machine.devices[gpu])) && !others.is_empty() {
            let message = "GPUs of several makers: NVIDIA's come first, with the numbers of CUDA; {} are the others'";
            findings.of_ids(Level::Note, message, &others.iter().map(|&gpu| self.device(gpu)).collect(), None);
        }
    }

    /// The name of a device.
    pub(crate) fn device(&self, device: usize) -> &str {
        &self.devices[device]
    }

    /// The name of an end of a lateral link.
    pub(crate) fn end(&self, end: End) -> String {
        match end {
            End::Root(root) => format!("rc{root}"),
            End::Device(device) => self.devices[device].clone(),
            End::NvSwitch => NVSWITCH.to_owned(),
        }
    }
}
