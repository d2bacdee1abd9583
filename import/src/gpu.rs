//! What a GPU is, as far as its links depend on it.

/// Generation of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Gpu {
    /// NVIDIA, with ten times its compute capability.
    Nvidia(u16),
    /// Tesla K20 and K20X: compute capability 3.5 as K40, but PCIe 2.0.
    TeslaK20,
    /// AMD, with its gfx number: 0x906, 0x90a, 0x942.
    Amd(u16),
    /// The dump does not say.
    #[default]
    Unknown,
}

/// Chips by the first device id of their range: the chips' names are those of the PCI ID repository (`pci.ids`, vendor 10de; ids that
/// it lacks within a range are *assumed* to be of the same chip), their compute capabilities those of NVIDIA's list "CUDA GPUs".
///
/// Fermi and Kepler by envytools, `docs/hw/pciid.rst`; what it lacks of GK110 (K40, K80) by `pci.ids`.
const NVIDIA: [(u16, Option<u16>); 38] = [
    (0x0000, None),
    (0x06c0, Some(20)), // GF100
    (0x06e0, None),
    (0x0dc0, Some(21)), // GF106, GF108
    (0x0e00, None),     // audio functions
    (0x0e22, Some(21)), // GF104
    (0x0e3c, None),
    (0x0f00, Some(21)), // GF108
    (0x0f02, None),     // audio functions, too
    (0x0fc0, Some(30)), // GK107
    (0x1000, Some(35)), // GK110, GK110B
    (0x102d, Some(37)), // GK210
    (0x102e, Some(35)), // GK110B
    (0x1040, Some(21)), // GF119
    (0x1080, Some(20)), // GF110
    (0x10c0, None),
    (0x1140, Some(21)),  // GF117
    (0x1180, Some(30)),  // GK104, GK106
    (0x1200, Some(21)),  // GF114, GF116
    (0x1280, Some(35)),  // GK208
    (0x1340, None),      // GM10x
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

/// The device ids of Tesla K20 and K20X (`pci.ids`).
const TESLA_K20: [u16; 7] = [0x101e, 0x101f, 0x1020, 0x1021, 0x1022, 0x1026, 0x1028];

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

/// Products by the words of their names, those that differ from others of their chip first.
///
/// Compute capabilities: NVIDIA's list "CUDA GPUs".
const PRODUCTS: [(Gpu, &[&str]); 16] = [
    (Gpu::TeslaK20, &["K20", "K20c", "K20m", "K20s", "K20X", "K20Xm"]),
    (Gpu::Nvidia(20), &["C2050", "C2070", "C2075", "M2050", "M2070", "M2075", "M2090"]),
    (Gpu::Nvidia(30), &["K10"]),
    (Gpu::Nvidia(35), &["K40", "K40c", "K40m", "K40s", "K40t"]),
    (Gpu::Nvidia(37), &["K80"]),
    (Gpu::Nvidia(60), &["P100"]),
    (
        Gpu::Nvidia(61),
        &["P4", "P6", "P40", "1050", "1060", "1070", "1080", "P1000", "P2000", "P4000", "P5000", "P6000"],
    ),
    (Gpu::Nvidia(70), &["V100", "TITAN V"]),
    (
        Gpu::Nvidia(75),
        &[
            "T4",
            "T4G",
            "1630",
            "1650",
            "1660",
            "2060",
            "2070",
            "2080",
            "Quadro RTX",
            "TITAN RTX",
            "T400",
            "T600",
            "T1000",
        ],
    ),
    (Gpu::Nvidia(80), &["A100", "A100X", "A800", "A30", "A30X"]),
    (
        Gpu::Nvidia(86),
        &[
            "A2", "A10", "A10G", "A10M", "A16", "A40", "A400", "A1000", "A2000", "A4000", "A4500", "A5000", "A5500",
            "A6000", "3050", "3060", "3070", "3080", "3090",
        ],
    ),
    (Gpu::Nvidia(89), &["L2", "L4", "L20", "L40", "L40G", "L40S", "Ada", "4050", "4060", "4070", "4080", "4090"]),
    (Gpu::Nvidia(90), &["H100", "H200", "H800", "H20", "GH200"]),
    (Gpu::Nvidia(103), &["B300", "GB300"]),
    (Gpu::Nvidia(100), &["B100", "B200", "GB200"]),
    (Gpu::Nvidia(120), &["Blackwell", "5050", "5060", "5070", "5080", "5090"]),
];

/// Chips by the names that `lspci` prints, without the letters behind their number.
const CHIPS: [(Gpu, &[&str]); 16] = [
    (Gpu::Nvidia(20), &["GF100", "GF110"]),
    (Gpu::Nvidia(21), &["GF104", "GF106", "GF108", "GF114", "GF116", "GF117", "GF119"]),
    (Gpu::Nvidia(30), &["GK104", "GK106", "GK107"]),
    (Gpu::Nvidia(35), &["GK110", "GK180", "GK208"]),
    (Gpu::Nvidia(37), &["GK210"]),
    (Gpu::Nvidia(50), &["GM107", "GM108"]),
    (Gpu::Nvidia(52), &["GM200", "GM204", "GM206"]),
    (Gpu::Nvidia(60), &["GP100"]),
    (Gpu::Nvidia(61), &["GP102", "GP104", "GP106", "GP107", "GP108"]),
    (Gpu::Nvidia(70), &["GV100"]),
    (Gpu::Nvidia(75), &["TU102", "TU104", "TU106", "TU116", "TU117"]),
    (Gpu::Nvidia(80), &["GA100"]),
    (Gpu::Nvidia(86), &["GA102", "GA103", "GA104", "GA106", "GA107"]),
    (Gpu::Nvidia(89), &["AD102", "AD103", "AD104", "AD106", "AD107"]),
    (Gpu::Nvidia(90), &["GH100"]),
    (Gpu::Nvidia(120), &["GB202", "GB203", "GB205", "GB206", "GB207"]),
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
            VENDOR_NVIDIA if TESLA_K20.contains(&device) => Self::TeslaK20,
            VENDOR_NVIDIA => {
                let range = NVIDIA.iter().rev().find(|(first, _)| *first <= device);
                range.and_then(|(_, sm)| *sm).map_or(Self::Unknown, Self::Nvidia)
            }
            VENDOR_AMD => AMD.iter().find(|(id, _)| *id == device).map_or(Self::Unknown, |(_, gfx)| Self::Amd(*gfx)),
            _ => Self::Unknown,
        }
    }

    /// The newest generation of PCIe that the chip can, by the makers' data sheets: Fermi and Tesla K20 have 2.0 (board specifications of
    /// Tesla M2090 and K20, "PCI Express Gen2 x16"); other Kepler GPUs (that of K40, "PCI Express Gen3 x16"), Maxwell, Pascal, V100 and TU10x 3.0; A100, GA10x, AD10x, MI50
    /// to MI250X 4.0; H100, B200, GB20x, MI300 and MI350 5.0; B300 6.0.
    pub(crate) fn pcie_generation(self) -> Option<u8> {
        match self {
            Self::Nvidia(103) => Some(6),
            Self::Nvidia(90..=100 | 120) => Some(5),
            Self::Nvidia(80..=89) => Some(4),
            Self::Nvidia(30..=75) => Some(3),
            Self::Nvidia(20..=21) | Self::TeslaK20 => Some(2),
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
            Self::Nvidia(_) | Self::TeslaK20 | Self::Amd(_) | Self::Unknown => None,
        }
    }

    /// NVLinks that a GPU of the chip has at most, by the same papers (TU102 two, GA102 four); 0 where it has none, `None` where that is
    /// not known.
    pub(crate) fn most_nvlinks(self) -> Option<u32> {
        match self {
            Self::Nvidia(60 | 86) => Some(4),
            Self::Nvidia(70) => Some(6),
            Self::Nvidia(75) => Some(2),
            Self::Nvidia(80) => Some(12),
            Self::Nvidia(90..=103) => Some(18),
            Self::Nvidia(_) | Self::TeslaK20 => Some(0),
            Self::Amd(_) | Self::Unknown => None,
        }
    }

    /// How many copies the chip sends at once, where it is known: Fermi and Kepler GPUs have at most one copy engine for each direction (NVIDIA,
    /// white papers of Fermi and Kepler GK110; Martinasso et al., SC16, step A, of K80).
    pub(crate) fn engines(self) -> Option<usize> {
        matches!(self, Self::Nvidia(20..=37) | Self::TeslaK20).then_some(1)
    }

    /// By the name that NVIDIA's tools or `lspci` print: its product, or else its chip.
    pub(crate) fn of_product(name: &str) -> Self {
        let words: Vec<&str> =
            name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let has = |product: &str| {
            let parts: Vec<&str> = product.split(' ').collect();
            words.windows(parts.len()).any(|some| some == parts)
        };
        // `GK110BGL` is a GK110.
        let is_chip = |chip: &str| words.iter().any(|word| word.strip_prefix(chip).is_some_and(is_variant));
        let product = PRODUCTS.iter().find(|(_, products)| products.iter().any(|product| has(product)));
        let chip = || CHIPS.iter().find(|(_, chips)| chips.iter().any(|chip| is_chip(chip)));
        product.or_else(chip).map_or(Self::Unknown, |(gpu, _)| *gpu)
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

/// Whether this is what chips have behind their number: nothing, or letters.
fn is_variant(letters: &str) -> bool {
    letters.chars().all(|letter| letter.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations() {
        let nvidia = [0x15f9, 0x1db8, 0x20b0, 0x2235, 0x2330, 0x25b6, 0x26b1, 0x2901, 0x2bb5, 0x3182];
        let expected = [60, 70, 80, 86, 90, 86, 89, 100, 120, 103].map(Gpu::Nvidia);
        assert_eq!(nvidia.map(|id| Gpu::of_ids(0x10de, id)), expected);
        let old = [0x06d1, 0x1091, 0x118f, 0x1021, 0x1028, 0x1023, 0x1024, 0x102d];
        let expected_old = [Gpu::Nvidia(20), Gpu::Nvidia(20), Gpu::Nvidia(30), Gpu::TeslaK20, Gpu::TeslaK20];
        let expected_old = expected_old.into_iter().chain([35, 35, 37].map(Gpu::Nvidia));
        assert!(old.into_iter().map(|id| Gpu::of_ids(0x10de, id)).eq(expected_old));
        let pcie = old.map(|id| Gpu::of_ids(0x10de, id).pcie_generation().unwrap_or(0));
        assert_eq!(pcie, [2, 2, 3, 2, 2, 3, 3, 3]);
        let named = ["Tesla M2090", "Tesla K20Xm", "Tesla K40m", "Tesla K80", "GK210GL [Tesla K80]"];
        let named = named.map(|name| Gpu::of_product(name).pcie_generation().unwrap_or(0));
        assert_eq!(named, [2, 2, 3, 3, 3]);
        let lately = [
            ("Quadro RTX 6000", 75),
            ("NVIDIA RTX 6000 Ada Generation", 89),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 120),
            ("NVIDIA GeForce RTX 4090 D", 89),
            ("NVIDIA GeForce RTX 3060 Ti", 86),
            ("NVIDIA Corporation TU104GL [Tesla T4]", 75),
            ("NVIDIA Corporation AD102 [GeForce RTX 4090]", 89),
            ("NVIDIA Corporation GK110GL", 35),
            ("NVIDIA Corporation GM204GL [Tesla M60]", 52),
            ("NVIDIA GB300", 103),
        ];
        assert!(lately.into_iter().all(|(name, sm)| Gpu::of_product(name) == Gpu::Nvidia(sm)));
        // A number alone, and a chip's within another word.
        assert_eq!(["RTX 6000", "NVIDIA GA1022x", "XGA102"].map(Gpu::of_product), [Gpu::Unknown; 3]);
        assert!(old.into_iter().all(|id| Gpu::of_ids(0x10de, id).engines() == Some(1)));
        assert!(expected.iter().all(|gpu| gpu.engines().is_none()));
        assert_eq!([0x10c3, 0x3001, 0xffff, 0x22a3, 0x1af1].map(|id| Gpu::of_ids(0x10de, id)), [Gpu::Unknown; 5]);
        let nvlink = expected.map(|gpu| gpu.nvlink_generation());
        assert_eq!(nvlink, [Some(1), Some(2), Some(3), Some(3), Some(4), Some(3), None, Some(5), None, Some(5)]);
        let most = expected.map(Gpu::most_nvlinks);
        assert_eq!(most, [4, 6, 12, 4, 18, 4, 0, 18, 0, 18].map(Some));
        assert!(
            expected.iter().all(|gpu| gpu.nvlink_generation().is_some() == gpu.most_nvlinks().is_some_and(|n| n > 0))
        );
        assert_eq!((Gpu::Nvidia(75).most_nvlinks(), Gpu::Unknown.most_nvlinks()), (Some(2), None));
        assert_eq!((Gpu::Unknown.nvlink_generation(), Gpu::Amd(0x942).nvlink_generation()), (None, None));
        assert_eq!(Gpu::of_ids(0x1002, 0x74a1), Gpu::Amd(0x942));
        assert_eq!(Gpu::of_gcn("gfx90a:sramecc+:xnack-"), Gpu::Amd(0x90a));
        assert_eq!((Gpu::of_gcn("906"), Gpu::of_gcn("910")), (Gpu::Amd(0x906), Gpu::Amd(0x90a)));
        assert_eq!(Gpu::of_gcn(""), Gpu::Unknown);
    }
}
