//! What a GPU is, as far as its links depend on it.

/// Generation of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Gpu {
    /// NVIDIA, with ten times its compute capability.
    Nvidia(u16),
    /// AMD, with its gfx number: 0x906, 0x90a, 0x942.
    Amd(u16),
    /// The dump does not say.
    #[default]
    Unknown,
}

/// Chips by the first device id of their range: the chips' names are those of the PCI ID repository (`pci.ids`, vendor 10de; ids that
/// it lacks within a range are *assumed* to be of the same chip), their compute capabilities those of NVIDIA's list "CUDA GPUs".
const NVIDIA: [(u16, Option<u16>); 18] = [
    (0x0000, None),
    (0x15f0, Some(60)),  // GP100
    (0x1600, None),      // GM20x, and audio and USB functions of later chips
    (0x1b00, Some(61)),  // GP10x
    (0x1d80, Some(70)),  // GV100
    (0x1e00, Some(75)),  // TU10x
    (0x2080, Some(80)),  // GA100
    (0x2180, Some(75)),  // TU116
    (0x2200, Some(86)),  // GA102
    (0x2240, None),      // audio functions, and NVSwitches of H100 (22a3)
    (0x2300, Some(90)),  // GH100
    (0x2400, Some(86)),  // GA103 to GA107
    (0x2600, Some(89)),  // AD10x
    (0x2900, Some(100)), // GB100, GB102
    (0x2b00, Some(120)), // GB20x, which have no NVLink
    (0x3000, None),      // GR100: no figures are known
    (0x3180, Some(103)), // GB110, GB112
    (0x3300, None),
];

/// Chips by device id (`pci.ids`, vendor 1002, and AMD's libdrm, `data/amdgpu.ids`; LLVM, "User Guide for AMDGPU Backend", processors).
const AMD: [(u16, u16); 28] = [
    (0x66a0, 0x906),
    (0x66a1, 0x906),
    (0x66a2, 0x906),
    (0x66a3, 0x906),
    (0x66a7, 0x906),
    (0x66af, 0x906),
    (0x7388, 0x908),
    (0x738c, 0x908),
    (0x738e, 0x908),
    (0x7408, 0x90a),
    (0x740c, 0x90a),
    (0x740f, 0x90a),
    (0x74a0, 0x942),
    (0x74a1, 0x942),
    (0x74a2, 0x942),
    (0x74a5, 0x942),
    (0x74a8, 0x942),
    (0x74a9, 0x942),
    (0x74b5, 0x942),
    (0x74b6, 0x942),
    (0x74b9, 0x942),
    (0x74bc, 0x942),
    (0x74bd, 0x942),
    (0x75a0, 0x950),
    (0x75a3, 0x950),
    (0x75a8, 0x950),
    (0x75b0, 0x950),
    (0x75b3, 0x950),
];

/// Products whose links matter, with ten times their compute capability; what is not here has no NVLink, or is not known.
const PRODUCTS: [(&str, u16); 21] = [
    ("P100", 60),
    ("V100", 70),
    ("GV100", 70),
    ("T4", 75),
    ("A100", 80),
    ("A800", 80),
    ("A30", 80),
    ("A10", 86),
    ("A10G", 86),
    ("A40", 86),
    ("A6000", 86),
    ("L4", 89),
    ("L40", 89),
    ("L40S", 89),
    ("H100", 90),
    ("H200", 90),
    ("H800", 90),
    ("H20", 90),
    ("B200", 100),
    ("GB200", 100),
    ("B300", 103),
];

/// Vendor ids of PCI (pci-ids.ucw.cz).
pub(crate) const VENDOR_NVIDIA: u16 = 0x10de;
pub(crate) const VENDOR_AMD: u16 = 0x1002;
pub(crate) const VENDOR_INTEL: u16 = 0x8086;
pub(crate) const VENDOR_XILINX: u16 = 0x10ee;

impl Gpu {
    /// By vendor and device id.
    pub(crate) fn of_ids(vendor: u16, device: u16) -> Self {
        match vendor {
            VENDOR_NVIDIA => {
                let range = NVIDIA.iter().rev().find(|(first, _)| *first <= device);
                range.and_then(|(_, sm)| *sm).map_or(Self::Unknown, Self::Nvidia)
            }
            VENDOR_AMD => AMD.iter().find(|(id, _)| *id == device).map_or(Self::Unknown, |(_, gfx)| Self::Amd(*gfx)),
            _ => Self::Unknown,
        }
    }

    /// The newest generation of PCIe that the chip can, by the makers' data sheets: P100, V100 and T4 have 3.0; A100, GA10x, AD10x, MI50
    /// to MI250X 4.0; H100, B200, GB20x, MI300 and MI350 5.0; B300 6.0.
    pub(crate) fn pcie_generation(self) -> Option<u8> {
        match self {
            Self::Nvidia(103) => Some(6),
            Self::Nvidia(90..=100 | 120) => Some(5),
            Self::Nvidia(80..=89) => Some(4),
            Self::Nvidia(60..=75) => Some(3),
            Self::Amd(0x940..=0x95f) => Some(5),
            Self::Amd(0x906 | 0x908 | 0x90a) => Some(4),
            Self::Nvidia(_) | Self::Amd(_) | Self::Unknown => None,
        }
    }

    /// The generation of NVLink that the chip has (NVIDIA's white papers and data sheets: P100 has 1; V100 and TU10x 2; A100 and GA10x 3; H100
    /// 4; B200 and B300 5). `None` where it has none, or no paper says.
    pub(crate) fn nvlink_generation(self) -> Option<u8> {
        match self {
            Self::Nvidia(60) => Some(1),
            Self::Nvidia(70..=75) => Some(2),
            Self::Nvidia(80..=86) => Some(3),
            Self::Nvidia(90) => Some(4),
            Self::Nvidia(100..=103) => Some(5),
            Self::Nvidia(_) | Self::Amd(_) | Self::Unknown => None,
        }
    }

    /// By the product name that NVIDIA's tools print, by its first word that is a model: compute capabilities by NVIDIA's list "CUDA GPUs".
    pub(crate) fn of_product(name: &str) -> Self {
        let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let known = |word: &str| PRODUCTS.iter().find(|(model, _)| *model == word).map(|(_, sm)| Self::Nvidia(*sm));
        words.filter_map(known).next().unwrap_or_default()
    }

    /// By RCCL's attribute `gcn`: `906`, `910` for gfx90a in old dumps, `gfx90a:sramecc+`.
    pub(crate) fn of_gcn(text: &str) -> Self {
        let word = text.split(':').next().unwrap_or("").trim();
        let word = word.strip_prefix("gfx").unwrap_or(word);
        match word {
            // RCCL wrote the decimal 910 for gfx90a (its `gcn` was 9 · 100 + 10).
            "910" => Self::Amd(0x90a),
            _ => u16::from_str_radix(word, 16).map_or(Self::Unknown, Self::Amd),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations() {
        let nvidia = [0x15f9, 0x1db8, 0x20b0, 0x2235, 0x2330, 0x25b6, 0x26b1, 0x2901, 0x2bb5, 0x3182];
        let expected = [60, 70, 80, 86, 90, 86, 89, 100, 120, 103].map(Gpu::Nvidia);
        assert_eq!(nvidia.map(|id| Gpu::of_ids(0x10de, id)), expected);
        assert_eq!([0x1021, 0x3001, 0xffff, 0x22a3, 0x1af1].map(|id| Gpu::of_ids(0x10de, id)), [Gpu::Unknown; 5]);
        let nvlink = expected.map(|gpu| gpu.nvlink_generation());
        assert_eq!(nvlink, [Some(1), Some(2), Some(3), Some(3), Some(4), Some(3), None, Some(5), None, Some(5)]);
        assert_eq!((Gpu::Unknown.nvlink_generation(), Gpu::Amd(0x942).nvlink_generation()), (None, None));
        assert_eq!(Gpu::of_ids(0x1002, 0x74a1), Gpu::Amd(0x942));
        assert_eq!(Gpu::of_gcn("gfx90a:sramecc+:xnack-"), Gpu::Amd(0x90a));
        assert_eq!((Gpu::of_gcn("906"), Gpu::of_gcn("910")), (Gpu::Amd(0x906), Gpu::Amd(0x90a)));
        assert_eq!(Gpu::of_gcn(""), Gpu::Unknown);
    }
}
