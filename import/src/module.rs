//! GPUs that come as modules on a board with links to each other (SXM and OAM modules, superchips), by their PCI device ids.
//!
//! A dump without these links leaves most of such a machine's bandwidth out, see `missing`.

use std::fmt;
use std::str::FromStr;

use crate::gpu::{Gpu, VENDOR_AMD, VENDOR_NVIDIA};

/// A model of a module, with the links that each has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Module {
    /// The word on the command line.
    word: &'static str,
    pub(crate) name: &'static str,
    /// What names of `lspci` or `nvidia-smi` contain.
    spellings: &'static [&'static str],
    /// Whole names of `nvidia-smi` that other models' names contain, too: `NVIDIA H200` is a module, `NVIDIA H200 NVL` a card.
    products: &'static [&'static str],
    vendor: u16,
    devices: &'static [u16],
    /// NVLinks or xGMI links of one module to others.
    pub(crate) links: u32,
    pub(crate) joined: Joined,
    /// Chip-to-chip links (NVLink-C2C) of one GPU to its processor.
    pub(crate) chip_links: u32,
}

/// How links join the modules of a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Joined {
    /// NVLinks of each with the NVSwitches.
    Switched,
    /// NVLinks with each other: eight in a hybrid cube mesh, four all with all.
    Paired,
    /// xGMI links of each with all others of a board of so many.
    AllToAll(u32),
    /// In a way that is the machine's own.
    OfMachine,
}

/// Why one link for each pair is a guess between GPUs that are [`Joined::OfMachine`]. The hops of some machines count one for every pair
/// (open-mpi/hwloc, issue 775).
pub(crate) const UNEVEN: &str = "; GPUs of this model have several links to some and none to others";

use Joined::{AllToAll, OfMachine, Paired, Switched};

const fn model(
    vendor: u16,
    word: &'static str,
    name: &'static str,
    spellings: &'static [&'static str],
    devices: &'static [u16],
    links: u32,
    joined: Joined,
) -> Module {
    Module { word, name, spellings, products: &[], vendor, devices, links, joined, chip_links: 0 }
}

/// Device ids and names: the PCI ID repository (`pci.ids` of 2026-08-22); B300 and GB300, and the names of products: NVIDIA's
/// open-gpu-kernel-modules, README, "Compatible GPUs"; 74a8, 74b6, 74bc, 75b0 and 75b3: AMD's libdrm (`data/amdgpu.ids`) and
/// MxGPU-Virtualization. NVLinks of one GPU:
/// NVIDIA's data sheets, whose totals for both directions are P100 160 GB/s (4 links), V100 300 (6), A100 600 (12), A800 400 (8), H100,
/// H200, H20 and GH200 900 (18), H800 400 (8), B100, B200, B300 1800 (18). GH200 boards join two GPUs directly (NVL2), four (Alps) or more
/// over NVSwitches (NVL32). Boards: NVIDIA's DGX-1 white paper (P100 and V100 SXM2: hybrid cube
/// mesh), DGX-2, DGX A100, DGX H100 and DGX B200 user guides (NVSwitch). xGMI: AMD's data sheets of the MI300X, MI325X, MI350X and MI355X
/// platforms (8 modules, each with 7 links to the others) and RCCL's models of them (`tools/topo_expl/models/topo_8p_942vm.xml`,
/// `topo_8p_950.xml`); MI250X has 8 links a die (AMD's CDNA 2 white paper), MI300A 6 to others (AMD's CDNA 3 white paper).
///
/// Chip-to-chip links: GH200 10, as `nvidia-smi c2c -s` lists them (dmlc/xgboost, `tests/cpp/common/test_cuda_dr_utils.cc`); GB300 5, by
/// NCCL's dumps (`<c2c bw="44712" count="5"/>`); GB200 as GB300, *assumed*: NVIDIA's data sheets give both 900 GB/s for two GPUs, as much
/// as GH200 for one.
const MODELS: [Module; 22] = [
    model(VENDOR_NVIDIA, "p100", "P100 SXM2", &["P100 SXM2", "P100-SXM2"], &[0x15f9, 0x15fc], 4, Paired),
    model(
        VENDOR_NVIDIA,
        "v100",
        "V100 SXM2",
        &["V100 SXM2", "V100-SXM2", "V100 DGXS", "GV100 DGX1-V", "GV100 SXM2"],
        &[0x1db0, 0x1db1, 0x1db2, 0x1db5, 0x1db7, 0x1dbd, 0x1df5],
        6,
        Paired,
    ),
    model(VENDOR_NVIDIA, "v100-sxm3", "V100 SXM3", &["V100 SXM3", "V100-SXM3"], &[0x1db8], 6, Switched),
    model(VENDOR_NVIDIA, "a100", "A100 SXM4", &["A100 SXM", "A100-SXM"], &[0x20b0, 0x20b2, 0x20b3], 12, Switched),
    model(VENDOR_NVIDIA, "a800", "A800 SXM4", &["A800 SXM", "A800-SXM"], &[0x20bd, 0x20f3], 8, Switched),
    model(
        VENDOR_NVIDIA,
        "h100",
        "H100 SXM5",
        &["H100 SXM", "H100-SXM", "H100 80GB HBM3", "H100 96GB HBM3"],
        &[0x2330, 0x2336, 0x2337, 0x2338, 0x2339],
        18,
        Switched,
    ),
    model(VENDOR_NVIDIA, "h800", "H800 SXM5", &["[H800]", "H800 SXM"], &[0x2324], 8, Switched)
        .with_products(&["NVIDIA H800"]),
    model(VENDOR_NVIDIA, "h20", "H20", &["[H20]", "[H20 "], &[0x230e, 0x2328, 0x2329, 0x232c], 18, Switched)
        .with_products(&["NVIDIA H20", "NVIDIA H20-3e"]),
    model(VENDOR_NVIDIA, "h200", "H200 SXM5", &["H200 SXM"], &[0x2335], 18, Switched).with_products(&["NVIDIA H200"]),
    model(VENDOR_NVIDIA, "gh200", "GH200", &["GH200"], &[0x2342, 0x2348], 18, OfMachine).with_chip_links(10),
    model(VENDOR_NVIDIA, "b100", "B100", &["B100]"], &[0x2920, 0x29bc], 18, Switched).with_products(&["NVIDIA B100"]),
    model(VENDOR_NVIDIA, "b200", "B200", &["[B200]", "NVIDIA B200"], &[0x2901], 18, Switched),
    model(VENDOR_NVIDIA, "gb200", "GB200", &["GB200"], &[0x2941], 18, Switched).with_chip_links(5),
    model(VENDOR_NVIDIA, "b300", "B300", &["B300 SXM"], &[0x3182], 18, Switched),
    model(VENDOR_NVIDIA, "gb300", "GB300", &["GB300"], &[0x31a1, 0x31c2, 0x31c3], 18, Switched).with_chip_links(5),
    model(VENDOR_AMD, "mi250x", "MI250X", &["MI250X"], &[0x7408, 0x740c], 8, OfMachine),
    model(VENDOR_AMD, "mi300a", "MI300A", &["MI300A"], &[0x74a0], 6, OfMachine),
    model(VENDOR_AMD, "mi300x", "MI300X", &["MI300X"], &[0x74a1, 0x74a9, 0x74b5, 0x74bd], 7, AllToAll(8)),
    model(VENDOR_AMD, "mi308x", "MI308X", &["MI308X"], &[0x74a2, 0x74a8, 0x74b6, 0x74bc], 7, AllToAll(8)),
    model(VENDOR_AMD, "mi325x", "MI325X", &["MI325X"], &[0x74a5, 0x74b9], 7, AllToAll(8)),
    model(VENDOR_AMD, "mi350x", "MI350X", &["MI350X"], &[0x75a0, 0x75b0], 7, AllToAll(8)),
    model(VENDOR_AMD, "mi355x", "MI355X", &["MI355X"], &[0x75a3, 0x75b3], 7, AllToAll(8)),
];

/// Cards of chips of which there are modules, too (NVIDIA's open-gpu-kernel-modules, README, "Compatible GPUs", and `pci.ids`): P100, V100,
/// GV100; A30, A100, A800; H100, H800 and H200 (NVL).
const CARDS: [u16; 18] = [
    0x15f7, 0x15f8, 0x1db4, 0x1db6, 0x1dba, 0x1df6, 0x20b5, 0x20b7, 0x20b8, 0x20b9, 0x20f1, 0x20f5, 0x20f6, 0x2321,
    0x2322, 0x2331, 0x233a, 0x233b,
];

/// Whether ids are of an NVIDIA GPU that is no known module, and may be one: of a chip of which there are modules, or of an unknown chip,
/// and no known card.
pub(crate) fn is_unknown(vendor: u16, device: u16) -> bool {
    let is_chip = matches!(Gpu::of_ids(vendor, device), Gpu::Unknown | Gpu::Nvidia(60 | 70 | 80 | 90 | 100 | 103));
    vendor == VENDOR_NVIDIA && is_chip && !is_card(vendor, device) && Module::of_ids(vendor, device).is_none()
}

/// Whether ids are of a card of a chip of which there are modules, too.
pub(crate) fn is_card(vendor: u16, device: u16) -> bool {
    vendor == VENDOR_NVIDIA && CARDS.contains(&device)
}

impl Module {
    /// By vendor and device id; `None` for all GPUs that are cards, and for those that are not known.
    pub(crate) fn of_ids(vendor: u16, device: u16) -> Option<Self> {
        MODELS.into_iter().find(|model| model.vendor == vendor && model.devices.contains(&device))
    }

    /// By the name that `lspci` or `nvidia-smi` prints.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let maker = |model: &Self| if model.has_xgmi() { "AMD" } else { "NVIDIA" };
        let fits = |model: &Self| {
            model.products.contains(&name.trim()) || model.spellings.iter().any(|spelling| name.contains(spelling))
        };
        MODELS.into_iter().find(|model| (name.contains(maker(model)) || name.starts_with("Tesla ")) && fits(model))
    }

    const fn with_products(self, products: &'static [&'static str]) -> Self {
        Self { products, ..self }
    }

    const fn with_chip_links(self, chip_links: u32) -> Self {
        Self { chip_links, ..self }
    }

    /// Its generation.
    pub(crate) fn gpu(self) -> Gpu {
        self.devices.first().map_or(Gpu::Unknown, |&device| Gpu::of_ids(self.vendor, device))
    }

    /// Whether its links are xGMI, not NVLink.
    pub(crate) fn has_xgmi(self) -> bool {
        self.vendor == VENDOR_AMD
    }

    /// What its links are called.
    pub(crate) fn fabric(self) -> &'static str {
        if self.has_xgmi() { "xGMI" } else { "NVLink" }
    }

    /// What several of them are called.
    pub(crate) fn kind(self) -> &'static str {
        if self.has_xgmi() { "xGMI links" } else { "NVLinks" }
    }

    /// All models.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        MODELS.into_iter()
    }

    /// The words of all models whose links an addition adds.
    pub(crate) fn words(added: AddedLinks) -> String {
        let fits = MODELS.iter().filter(|model| match added {
            AddedLinks::NvSwitch => model.joined == Switched,
            AddedLinks::Xgmi => matches!(model.joined, AllToAll(_)),
            AddedLinks::C2c => model.chip_links > 0,
        });
        fits.map(|model| model.word).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

/// Which links an import adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddedLinks {
    /// NVLinks from each GPU to an NVSwitch; of a superchip also its chip-to-chip links.
    NvSwitch,
    /// xGMI links from each GPU to each other one.
    Xgmi,
    /// The chip-to-chip links of each GPU to its processor.
    C2c,
}

impl AddedLinks {
    const ALL: [Self; 3] = [Self::NvSwitch, Self::Xgmi, Self::C2c];

    /// The word on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::NvSwitch => "nvswitch",
            Self::Xgmi => "xgmi",
            Self::C2c => "c2c",
        }
    }
}

/// What an import adds to what the dump has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addition {
    /// Which links.
    pub(crate) links: AddedLinks,
    /// The model whose links they are; the dump's where it is not given.
    pub(crate) model: Option<Module>,
}

impl FromStr for Addition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (what, model) = text.split_once('=').map_or((text, None), |(what, model)| (what, Some(model)));
        let links = AddedLinks::ALL.into_iter().find(|links| links.word() == what);
        let Some(links) = links else {
            return Err("write nvswitch, xgmi or c2c, or one with its model, such as nvswitch=h100".to_owned());
        };
        let known = |word: &str| MODELS.into_iter().find(|model| model.word.eq_ignore_ascii_case(word));
        let unknown = |word: &str| format!("no model `{word}`; write one of {}", Module::words(links));
        let model = model.map(|word| known(word).ok_or_else(|| unknown(word))).transpose()?;
        Ok(Self { links, model })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_by_id_and_name() {
        let word = |device| Module::of_ids(VENDOR_NVIDIA, device).map(|model| model.word);
        let ids = [0x1db1, 0x1db8, 0x20b0, 0x20b2, 0x20bd, 0x2330, 0x2324, 0x2335, 0x2901, 0x2941];
        let words = ["v100", "v100-sxm3", "a100", "a100", "a800", "h100", "h800", "h200", "b200", "gb200"];
        assert_eq!(ids.map(word), words.map(Some));
        // Cards: V100 PCIe, A100 PCIe, H100 PCIe, H200 NVL, A10G, L40S, RTX PRO 6000.
        assert_eq!([0x1db4, 0x20f1, 0x2331, 0x233b, 0x2237, 0x26b9, 0x2bb5].map(word), [None; 7]);
        let word = |device| Module::of_ids(VENDOR_AMD, device).map(|model| model.word);
        assert_eq!([0x74a1, 0x74b5, 0x75a3].map(word), ["mi300x", "mi300x", "mi355x"].map(Some));
        // NVIDIA's number, and cards: MI210, MI100.
        assert_eq!([0x20b0, 0x740f, 0x738c].map(word), [None; 3]);
        let named = |name| Module::of_name(name).map(|model| model.word);
        assert_eq!(named("NVIDIA Corporation GA100 [A100 SXM4 40GB]"), Some("a100"));
        assert_eq!(named("NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)"), Some("h100"));
        assert_eq!(named("NVIDIA Corporation GA100 [A100 PCIe 40GB]"), None);
        let smi = [
            "NVIDIA A100-SXM4-80GB",
            "Tesla V100-SXM2-32GB",
            "NVIDIA H100 80GB HBM3",
            "NVIDIA H100 PCIe",
            "NVIDIA H200 NVL",
        ];
        assert_eq!(smi.map(named), [Some("a100"), Some("v100"), Some("h100"), None, None]);
        // Names without the form of the board are those of modules; cards have more words.
        let modules =
            ["NVIDIA H200", "NVIDIA H800", "NVIDIA H20", "NVIDIA H20-3e", "NVIDIA B100", "NVIDIA H100 96GB HBM3"];
        assert_eq!(modules.map(named), ["h200", "h800", "h20", "h20", "b100", "h100"].map(Some));
        let generations = modules.map(Gpu::of_product);
        assert_eq!(generations, modules.map(|name| Module::of_name(name).map_or(Gpu::Unknown, Module::gpu)));
        let cards = ["NVIDIA H200 NVL", "NVIDIA H800 PCIe", "NVIDIA H800 NVL", "NVIDIA H100 NVL", "NVIDIA H20A"];
        assert_eq!(cards.map(named), [None; 5]);
        let mi300x = "Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X]";
        assert_eq!((named(mi300x), named("x [Instinct MI300X]")), (Some("mi300x"), None));
    }

    #[test]
    fn each_id_is_of_one_model_of_a_known_generation() {
        let ids: Vec<u16> = MODELS.iter().flat_map(|model| model.devices).copied().collect();
        for model in MODELS {
            for &device in model.devices {
                assert_eq!(ids.iter().filter(|&&id| id == device).count(), 1, "{device:x}");
                assert_eq!(Gpu::of_ids(model.vendor, device), model.gpu(), "{device:x}");
            }
            assert_ne!(model.gpu(), Gpu::Unknown, "{model:?}");
            let links = if model.has_xgmi() { AddedLinks::Xgmi } else { AddedLinks::NvSwitch };
            assert_eq!(format!("{}={model}", links.word()).parse(), Ok(Addition { links, model: Some(model) }));
        }
        assert_eq!("nvswitch".parse(), Ok(Addition { links: AddedLinks::NvSwitch, model: None }));
        assert!("nvswitch=x100".parse::<Addition>().expect_err("unknown").contains("b200"));
        assert!("xgmi=x100".parse::<Addition>().expect_err("unknown").contains("mi300x"));
        assert!("switch".parse::<Addition>().is_err());
    }
}
