//! Names of nodes: short and unique.

use crate::machine::{DeviceKind, End, Machine};

/// The name of each device, by its index.
#[derive(Debug)]
pub(crate) struct Names {
    devices: Vec<String>,
}

/// The node that stands for all NVSwitches.
pub(crate) const NVSWITCH: &str = "nvswitch";

impl Names {
    /// `gpu0` … by the dump's own numbers, or else by bus id, as CUDA and `nvidia-smi` number them; the others in the order of the tree.
    pub(crate) fn of(machine: &Machine) -> Self {
        let order = machine.in_order();
        let mut devices = vec![String::new(); machine.devices.len()];
        let mut gpus: Vec<usize> =
            order.iter().copied().filter(|&i| machine.devices[i].kind == DeviceKind::Gpu).collect();
        // A file that joins several machines repeats the numbers: each machine's come after those before.
        if gpus.iter().all(|&gpu| machine.devices[gpu].number.is_some()) {
            gpus.sort_by_key(|&gpu| (machine.roots[machine.root_of(gpu)].host, machine.devices[gpu].number));
        } else if gpus.iter().all(|&gpu| machine.devices[gpu].bus.is_some()) {
            gpus.sort_by_key(|&gpu| (machine.roots[machine.root_of(gpu)].host, machine.devices[gpu].bus));
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
