//! What a PCI device is, by its class and vendor (PCI Code and ID Assignment Specification 1.11, section 1).

use crate::gpu::{VENDOR_AMD, VENDOR_INTEL, VENDOR_NVIDIA, VENDOR_XILINX};
use crate::machine::DeviceKind;

/// What is known of a device before it is one of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Identity {
    /// Base class and sub-class, 0x0302 for a 3D controller.
    class: u16,
    /// `None` where the dump does not say.
    vendor: Option<u16>,
    device: Option<u16>,
    /// Whether it sits on the bus of the root complex, as graphics inside processors do.
    on_bus_0: bool,
}

/// Makers of display controllers of servers and of virtual machines, which have no other graphics: ASPEED, Matrox, Silicon Motion, XGI,
/// SiS, Cirrus, Huawei (iBMC), and the virtual ones of QEMU, Red Hat, VMware, VirtualBox, Hyper-V and Xen (`pci.ids`).
const MANAGEMENT: [u16; 14] =
    [0x1a03, 0x102b, 0x126f, 0x18ca, 0x1039, 0x1013, 0x19e5, 0x1234, 0x1b36, 0x1af4, 0x15ad, 0x80ee, 0x1414, 0x5853];

/// ATI's chips for conventional PCI and AGP that servers have as their display: Rage, RV100 (Radeon 7000) and ES1000 (`pci.ids`, vendor
/// 1002, all whose names have Rage, R100, RV100 or ES1000; 5969 is an ES1000 too, by Linux, `include/drm/drm_pciids.h`).
const OLD_ATI: [u16; 42] = [
    0x4742, 0x4744, 0x4749, 0x474d, 0x474e, 0x474f, 0x4750, 0x4752, 0x4753, 0x4754, 0x4755, 0x4756, 0x4757, 0x4759,
    0x475a, 0x4c42, 0x4c46, 0x4c47, 0x4c49, 0x4c4d, 0x4c4e, 0x4c50, 0x4c52, 0x4c57, 0x4c58, 0x4c59, 0x4d46, 0x5046,
    0x5050, 0x5052, 0x5144, 0x5157, 0x5159, 0x515e, 0x5245, 0x5246, 0x524b, 0x524c, 0x534d, 0x5446, 0x5452, 0x5969,
];

/// Graphics inside AMD's processors, first and last of a range (`pci.ids` of 2026-08-22, vendor 1002: Krackan, Kaveri, Granite Ridge,
/// Mendocino, Strix, Phoenix, Raven, Picasso, Renoir, Cezanne, Van Gogh, Lucienne, Rembrandt, Raphael, Hawk Point, Sumo, Wrestler, Kabini,
/// Mullins, Carrizo, Stoney, Trinity and Richland; for the ranges up to Rembrandt also Linux, `amdgpu_drv.c`, `AMD_IS_APU`).
const AMD_PROCESSORS: [(u16, u16); 23] = [
    (0x1114, 0x1114),
    (0x1304, 0x131d),
    (0x13c0, 0x13c0),
    (0x1506, 0x1506),
    (0x150e, 0x150e),
    (0x1586, 0x1586),
    (0x15bf, 0x15bf),
    (0x15c8, 0x15c8),
    (0x15d8, 0x15d8),
    (0x15dd, 0x15dd),
    (0x15e7, 0x15e7),
    (0x1636, 0x1638),
    (0x163f, 0x163f),
    (0x164c, 0x164f),
    (0x1681, 0x1681),
    (0x1900, 0x1902),
    (0x9640, 0x964f),
    (0x9802, 0x980a),
    (0x9830, 0x983f),
    (0x9850, 0x985f),
    (0x9870, 0x9877),
    (0x98e4, 0x98e4),
    (0x9900, 0x99a4),
];

/// What those who import say of graphics inside processors.
pub(crate) const OF_PROCESSOR: &str = "graphics inside processors, which do not count as GPUs";

/// Classes by how `lspci` names them, as far as they matter.
const NAMES: [(&str, u16); 10] = [
    ("PCI bridge", 0x0604),
    ("3D controller", 0x0302),
    ("Display controller", 0x0380),
    ("VGA compatible controller", 0x0300),
    ("Processing accelerators", 0x1200),
    ("Ethernet", 0x0200),
    ("Infiniband", 0x0207),
    ("InfiniBand", 0x0207),
    ("Network controller", 0x0280),
    ("Fabric controller", 0x0208),
];

/// The class and sub-class of a text: `0x030200`, `0302`, `3D controller [0302]`, `3D controller`. Of five and six digits the last two
/// are the programming interface.
pub(crate) fn of_text(text: &str) -> Option<u16> {
    let text = text.trim();
    let inner = text.rsplit_once('[').and_then(|(_, rest)| rest.strip_suffix(']')).unwrap_or(text);
    let digits = inner.strip_prefix("0x").or_else(|| inner.strip_prefix("0X")).unwrap_or(inner);
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
    match (number, digits.len()) {
        (Some(number), 3 | 4) => Some(number as u16),
        (Some(number), 5 | 6) => Some((number >> 8) as u16),
        _ => NAMES.iter().find(|(name, _)| text.starts_with(name)).map(|(_, class)| *class),
    }
}

impl Identity {
    /// Of a class, vendor and device. Vendor ids 0000 and ffff are nobody's: dumps write them where they know none.
    pub(crate) fn new(class: u16, ids: Option<(u16, u16)>, on_bus_0: bool) -> Self {
        let ids = ids.filter(|(vendor, _)| !matches!(vendor, 0 | 0xffff));
        Self { class, vendor: ids.map(|(vendor, _)| vendor), device: ids.map(|(_, device)| device), on_bus_0 }
    }

    /// The same where only the vendor may be known.
    pub(crate) fn of_vendor(class: u16, vendor: Option<u16>, device: Option<u16>, on_bus_0: bool) -> Self {
        Self { device, ..Self::new(class, vendor.map(|vendor| (vendor, 0)), on_bus_0) }
    }

    /// The kind; `None` for what is neither bridge, GPU, network card nor FPGA.
    pub(crate) fn kind(self) -> Option<DeviceKind> {
        match self.class {
            0x0604 => Some(DeviceKind::Switch),
            0x0300..=0x03ff if self.is_management_display() => None,
            0x0300..=0x03ff if self.is_of_processor() => None,
            0x0302 | 0x0380 => Some(DeviceKind::Gpu),
            // A display: also that of a management controller.
            0x0300 => match self.vendor {
                None | Some(VENDOR_NVIDIA | VENDOR_AMD | VENDOR_INTEL) => Some(DeviceKind::Gpu),
                Some(_) => None,
            },
            // Processing accelerators: AMD's Instinct cards of late are such.
            0x1200 if self.vendor == Some(VENDOR_XILINX) => Some(DeviceKind::Fpga),
            0x1200 => Some(DeviceKind::Gpu),
            // 0c06: InfiniBand host adapters before there was 0207, such as ConnectX-2 and TrueScale.
            0x0200..=0x02ff | 0x0c06 => Some(DeviceKind::Nic),
            _ => None,
        }
    }

    /// Whether it is graphics inside a processor: Intel's have their place on the bus of the root complex, with a screen or without; AMD's
    /// have a bus of their own, behind a bridge inside.
    pub(crate) fn is_of_processor(self) -> bool {
        let of_amd = |id: u16| AMD_PROCESSORS.iter().any(|&(first, last)| (first..=last).contains(&id));
        match self.vendor {
            Some(VENDOR_INTEL) => matches!(self.class, 0x0300 | 0x0380) && self.on_bus_0,
            Some(VENDOR_AMD) => self.is_display() && self.device.is_some_and(of_amd),
            _ => false,
        }
    }

    /// Whether it is of the class of displays.
    pub(crate) fn is_display(self) -> bool {
        matches!(self.class, 0x0300..=0x03ff)
    }

    /// Whether it is the display of a server or virtual machine, which computes nothing.
    fn is_management_display(self) -> bool {
        let old_ati = self.vendor == Some(VENDOR_AMD) && self.device.is_some_and(|device| OLD_ATI.contains(&device));
        old_ati || self.vendor.is_some_and(|vendor| MANAGEMENT.contains(&vendor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_in_all_spellings() {
        for text in
            ["0x030200", "0X030200", "030200", "0302", "0x0302", "0x30200", "3D controller [0302]", " 3D controller"]
        {
            assert_eq!(of_text(text), Some(0x0302), "{text}");
        }
        assert_eq!((of_text("0x000100"), of_text("Infiniband controller [0207]")), (Some(1), Some(0x0207)));
        assert_eq!(["", "0x", "[]", "+302", "zz", "12345678"].map(of_text), [None; 6]);
    }

    #[test]
    fn displays_of_servers_are_no_gpus() {
        let kind = |class, vendor, device| Identity::new(class, Some((vendor, device)), false).kind();
        for (vendor, device) in
            [(0x1002, 0x515e), (0x1002, 0x4752), (0x1a03, 0x2000), (0x102b, 0x0534), (0x1234, 0x1111)]
        {
            assert_eq!(
                [0x0300, 0x0302, 0x0380].map(|class| kind(class, vendor, device)),
                [None; 3],
                "{vendor:x}:{device:x}"
            );
        }
        for (vendor, device) in [(0x1002, 0x66a1), (0x1002, 0x687f), (0x10de, 0x1b38), (0, 0), (0xffff, 0xffff)] {
            assert_eq!(kind(0x0300, vendor, device), Some(DeviceKind::Gpu), "{vendor:x}:{device:x}");
        }
        assert_eq!(
            (kind(0x0c06, 0x15b3, 0x673c), kind(0x0c06, 0x1077, 0x7322)),
            (Some(DeviceKind::Nic), Some(DeviceKind::Nic))
        );
        assert_eq!(kind(0x0c03, 0x15b3, 0x673c), None);
    }
}
