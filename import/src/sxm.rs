//! GPUs that come on a board with NVLink (SXM modules and superchips), by their PCI device ids.
//!
//! A dump without NVLink leaves most of such a machine's bandwidth out, see `missing`.

use std::fmt;
use std::str::FromStr;

use crate::gpu::{Gpu, VENDOR_NVIDIA};

/// A model, with the NVLinks that each GPU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sxm {
    /// The word on the command line.
    word: &'static str,
    pub(crate) name: &'static str,
    /// What names of `lspci` contain.
    spellings: &'static [&'static str],
    devices: &'static [u16],
    /// NVLinks of one GPU.
    pub(crate) links: u32,
    pub(crate) joined: Joined,
}

/// How NVLinks join the GPUs of a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Joined {
    /// Each with the NVSwitches.
    ByNvSwitch,
    /// With each other: eight in a hybrid cube mesh, four all with all.
    Directly,
}

use Joined::{ByNvSwitch, Directly};

const fn model(
    word: &'static str,
    name: &'static str,
    spellings: &'static [&'static str],
    devices: &'static [u16],
    links: u32,
    joined: Joined,
) -> Sxm {
    Sxm { word, name, spellings, devices, links, joined }
}

/// Device ids and names: the PCI ID repository (`pci.ids` of 2025-07-11, vendor 10de); B300 and GB300: NVIDIA's
/// open-gpu-kernel-modules, README, "Compatible GPUs". NVLinks of one GPU: NVIDIA's data sheets, whose totals for both directions are
/// P100 160 GB/s (4 links), V100 300 (6), A100 600 (12), A800 400 (8), H100, H200 and H20 900 (18), H800 400 (8), B100, B200, B300
/// 1800 (18). Boards: NVIDIA's DGX-1 white paper (P100 and V100 SXM2: hybrid cube mesh), DGX-2, DGX A100, DGX H100 and DGX B200 user
/// guides (NVSwitch).
const MODELS: [Sxm; 14] = [
    model("p100", "P100 SXM2", &["P100 SXM2", "P100-SXM2"], &[0x15f9, 0x15fc], 4, Directly),
    model(
        "v100",
        "V100 SXM2",
        &["V100 SXM2", "V100-SXM2", "V100 DGXS", "GV100 DGX1-V", "GV100 SXM2"],
        &[0x1db0, 0x1db1, 0x1db2, 0x1db5, 0x1db7, 0x1dbd, 0x1df5],
        6,
        Directly,
    ),
    model("v100-sxm3", "V100 SXM3", &["V100 SXM3", "V100-SXM3"], &[0x1db8], 6, ByNvSwitch),
    model("a100", "A100 SXM4", &["A100 SXM", "A100-SXM"], &[0x20b0, 0x20b2, 0x20b3], 12, ByNvSwitch),
    model("a800", "A800 SXM4", &["A800 SXM", "A800-SXM"], &[0x20bd, 0x20f3], 8, ByNvSwitch),
    model("h100", "H100 SXM5", &["H100 SXM", "H100-SXM"], &[0x2330, 0x2336, 0x2337, 0x2338, 0x2339], 18, ByNvSwitch),
    model("h800", "H800 SXM5", &["[H800]", "H800 SXM"], &[0x2324], 8, ByNvSwitch),
    model("h20", "H20", &["[H20]", "[H20 "], &[0x230e, 0x2328, 0x2329, 0x232c], 18, ByNvSwitch),
    model("h200", "H200 SXM5", &["H200 SXM"], &[0x2335], 18, ByNvSwitch),
    model("b100", "B100", &["B100]"], &[0x2920, 0x29bc], 18, ByNvSwitch),
    model("b200", "B200", &["[B200]"], &[0x2901], 18, ByNvSwitch),
    model("gb200", "GB200", &["GB200]"], &[0x2941], 18, ByNvSwitch),
    model("b300", "B300", &["B300 SXM"], &[0x3182], 18, ByNvSwitch),
    model("gb300", "GB300", &["GB300]"], &[0x31c2], 18, ByNvSwitch),
];

impl Sxm {
    /// By vendor and device id; `None` for all GPUs that are cards, and for those that are not known.
    pub(crate) fn of_ids(vendor: u16, device: u16) -> Option<Self> {
        MODELS.into_iter().find(|model| vendor == VENDOR_NVIDIA && model.devices.contains(&device))
    }

    /// By the name that `lspci` prints.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let fits = |model: &Sxm| model.spellings.iter().any(|spelling| name.contains(spelling));
        MODELS.into_iter().find(|model| name.contains("NVIDIA") && fits(model))
    }

    /// Its generation.
    pub(crate) fn gpu(self) -> Gpu {
        self.devices.first().map_or(Gpu::Unknown, |&device| Gpu::of_ids(VENDOR_NVIDIA, device))
    }

    /// The words of all models that an NVSwitch joins.
    pub(crate) fn words() -> String {
        let switched = MODELS.iter().filter(|model| model.joined == ByNvSwitch);
        switched.map(|model| model.word).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Sxm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

/// What an import adds to what the dump has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addition {
    /// NVLinks from each GPU to an NVSwitch. The model is the dump's where it is not given.
    NvSwitch(Option<Sxm>),
}

impl FromStr for Addition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (what, model) = text.split_once('=').map_or((text, None), |(what, model)| (what, Some(model)));
        if what != "nvswitch" {
            return Err("write nvswitch, or nvswitch=MODEL such as nvswitch=h100".to_owned());
        }
        let known = |word: &str| MODELS.into_iter().find(|model| model.word.eq_ignore_ascii_case(word));
        let unknown = |word: &str| format!("no model `{word}`; write one of {}", Sxm::words());
        let model = model.map(|word| known(word).ok_or_else(|| unknown(word))).transpose()?;
        Ok(Self::NvSwitch(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_by_id_and_name() {
        let word = |device| Sxm::of_ids(VENDOR_NVIDIA, device).map(|model| model.word);
        let ids = [0x1db1, 0x1db8, 0x20b0, 0x20b2, 0x20bd, 0x2330, 0x2324, 0x2335, 0x2901, 0x2941];
        let words = ["v100", "v100-sxm3", "a100", "a100", "a800", "h100", "h800", "h200", "b200", "gb200"];
        assert_eq!(ids.map(word), words.map(Some));
        // Cards: V100 PCIe, A100 PCIe, H100 PCIe, H200 NVL, A10G, L40S, RTX PRO 6000.
        assert_eq!([0x1db4, 0x20f1, 0x2331, 0x233b, 0x2237, 0x26b9, 0x2bb5].map(word), [None; 7]);
        assert_eq!(Sxm::of_ids(0x1002, 0x20b0), None);
        let named = |name| Sxm::of_name(name).map(|model| model.word);
        assert_eq!(named("NVIDIA Corporation GA100 [A100 SXM4 40GB]"), Some("a100"));
        assert_eq!(named("NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)"), Some("h100"));
        assert_eq!(named("NVIDIA Corporation GA100 [A100 PCIe 40GB]"), None);
    }

    #[test]
    fn each_id_is_of_one_model_of_a_known_generation() {
        let ids: Vec<u16> = MODELS.iter().flat_map(|model| model.devices).copied().collect();
        for model in MODELS {
            for &device in model.devices {
                assert_eq!(ids.iter().filter(|&&id| id == device).count(), 1, "{device:x}");
                assert_eq!(Gpu::of_ids(VENDOR_NVIDIA, device), model.gpu(), "{device:x}");
            }
            assert_ne!(model.gpu(), Gpu::Unknown, "{model:?}");
            assert_eq!(format!("nvswitch={model}").parse(), Ok(Addition::NvSwitch(Some(model))));
        }
        assert_eq!("nvswitch".parse(), Ok(Addition::NvSwitch(None)));
        assert!("nvswitch=x100".parse::<Addition>().expect_err("unknown").contains("b200"));
        assert!("switch".parse::<Addition>().is_err());
    }
}
