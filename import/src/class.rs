//! What a PCI device is, by its class and vendor (PCI Code and ID Assignment Specification 1.11, section 1).

use crate::gpu::{VENDOR_AMD, VENDOR_INTEL, VENDOR_NVIDIA, VENDOR_XILINX};
use crate::machine::DeviceKind;

/// What is known of a device before it is one of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Identity {
    /// Base class and sub-class, 0x0302 for a 3D controller.
    pub(crate) class: u16,
    /// `None` where the dump does not say.
    pub(crate) vendor: Option<u16>,
    /// Whether it sits on the bus of the root complex, as graphics inside processors do.
    pub(crate) on_bus_0: bool,
}

impl Identity {
    /// The kind; `None` for what is neither bridge, GPU, network card nor FPGA.
    pub(crate) fn kind(self) -> Option<DeviceKind> {
        match self.class {
            0x0604 => Some(DeviceKind::Switch),
            0x0302 => Some(DeviceKind::Gpu),
            // Graphics inside a processor without a screen.
            0x0380 if self.vendor == Some(VENDOR_INTEL) && self.on_bus_0 => None,
            0x0380 => Some(DeviceKind::Gpu),
            // A display: also that of a management controller, and of a processor.
            0x0300 => match self.vendor {
                None | Some(VENDOR_NVIDIA | VENDOR_AMD | 0xffff) => Some(DeviceKind::Gpu),
                Some(VENDOR_INTEL) if !self.on_bus_0 => Some(DeviceKind::Gpu),
                Some(_) => None,
            },
            // Processing accelerators: AMD's Instinct cards of late are such.
            0x1200 if self.vendor == Some(VENDOR_XILINX) => Some(DeviceKind::Fpga),
            0x1200 => Some(DeviceKind::Gpu),
            0x0200..=0x02ff => Some(DeviceKind::Nic),
            _ => None,
        }
    }
}
