//! The GPUs that `rocm-smi` names beside the matrices: their models and bus ids.
//!
//! ```text
//! GPU[0]          : Card Series: AMD Instinct MI300X
//! GPU[0]          : Card Model: 0x74a1
//! GPU[0]          : GFX Version: gfx942
//! GPU[0]          : PCI Bus: 0000:0C:00.0
//! 0       2     0x74a1,   1017   43.0°C      155.0W    NPS1, SPX, 0   …
//! ```

use std::collections::BTreeMap;

use crate::bus::BusId;
use crate::gpu::{Gpu, VENDOR_AMD};
use crate::module::Module;

/// Generations by the names of AMD's accelerators, for versions of the tool that print neither device id nor gfx number (LLVM, "User
/// Guide for AMDGPU Backend", processors).
const NAMES: [(&str, u16); 13] = [
    ("MI50", 0x906),
    ("MI60", 0x906),
    ("MI100", 0x908),
    ("MI210", 0x90a),
    ("MI250", 0x90a),
    ("MI250X", 0x90a),
    ("MI300A", 0x942),
    ("MI300X", 0x942),
    ("MI308X", 0x942),
    ("MI325X", 0x942),
    ("MI350X", 0x950),
    ("MI355X", 0x950),
    ("VII", 0x906),
];

/// What the text says of a GPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Listed {
    pub(super) name: String,
    device: Option<u16>,
    gfx: Option<Gpu>,
    pub(super) bus: Option<BusId>,
}

impl Listed {
    /// Its generation: by device id, else by gfx number, else by name.
    pub(super) fn gpu(&self) -> Gpu {
        let named = || {
            let mut words = self.name.split(|c: char| !c.is_ascii_alphanumeric());
            words.find_map(|word| NAMES.iter().find(|(name, _)| *name == word)).map(|(_, gfx)| Gpu::Amd(*gfx))
        };
        self.by_device().or(self.gfx).or_else(named).unwrap_or_default()
    }

    /// The model, where it is a module with links to others.
    pub(super) fn module(&self) -> Option<Module> {
        let by_name = || Module::of_name(&format!("AMD {}", self.name)).filter(|module| module.has_xgmi());
        self.device.and_then(|device| Module::of_ids(VENDOR_AMD, device)).or_else(by_name)
    }

    /// Versions before ROCm 6 print the card's number in place of the device id: such are not known.
    fn by_device(&self) -> Option<Gpu> {
        let gpu = Gpu::of_ids(VENDOR_AMD, self.device?);
        (gpu != Gpu::Unknown).then_some(gpu)
    }

    fn take(&mut self, key: &str, value: &str) {
        match key.to_ascii_lowercase().as_str() {
            "card series" | "device name" if self.name.is_empty() && !value.eq_ignore_ascii_case("n/a") => {
                self.name = value.chars().take(60).collect();
            }
            "card model" | "device id" | "gpu id" => self.device = self.device.or_else(|| hexadecimal(value)),
            "gfx version" => self.gfx = self.gfx.or(Some(Gpu::of_gcn(value)).filter(|gpu| *gpu != Gpu::Unknown)),
            "pci bus" => self.bus = self.bus.or_else(|| BusId::read(value)),
            _ => {}
        }
    }
}

fn hexadecimal(text: &str) -> Option<u16> {
    let digits = text.trim().strip_prefix("0x")?;
    u16::from_str_radix(digits, 16).ok()
}

/// The GPUs of a text by number.
pub(super) fn read(text: &str) -> BTreeMap<u32, Listed> {
    let mut all: BTreeMap<u32, Listed> = BTreeMap::new();
    for line in text.lines() {
        if let Some((gpu, key, value)) = of_gpu(line) {
            all.entry(gpu).or_default().take(key, value);
        } else if let Some((gpu, device)) = of_table(line) {
            all.entry(gpu).or_default().take("device id", device);
        }
    }
    all
}

/// Whether a line says something of one GPU.
pub(super) fn is_row(line: &str) -> bool {
    of_gpu(line).is_some()
}

/// The GPU, the key and the value of `GPU[0] : Card Series: AMD Instinct MI300X`; web pages lose the brackets: `GPU 0 : …`.
pub(super) fn of_gpu(line: &str) -> Option<(u32, &str, &str)> {
    let (number, rest) = line.trim().strip_prefix("GPU")?.split_once(':')?;
    let number = number.trim().trim_start_matches('[').trim_end_matches(']').trim();
    let (key, value) = rest.split_once(':')?;
    Some((number.parse().ok()?, key.trim(), value.trim()))
}

/// The GPU and the device id in a row of the table that `rocm-smi` prints without options.
fn of_table(line: &str) -> Option<(u32, &str)> {
    let mut words = line.split_whitespace();
    let (gpu, node, device) = (words.next()?.parse().ok()?, words.next()?, words.next()?.strip_suffix(',')?);
    node.bytes().all(|byte| byte.is_ascii_digit()).then_some((gpu, device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_versions() {
        let one = |text: &str| {
            let listed = read(text).remove(&3).unwrap_or_default();
            (listed.gpu(), listed.module().map(|module| module.name), listed.bus.map(|bus| bus.to_string()))
        };
        let six = "GPU[3]\t\t: Card Series: \t\tAMD Instinct MI300X VF\nGPU[3]\t\t: Card Model: \t\t0x74b5\nGPU[3]\t\t: Subsystem ID: \t0x74a1\n\
                   GPU[3]\t\t: GFX Version: \t\tgfx942\nGPU[3]\t\t: PCI Bus: 0000:9C:00.0\n";
        assert_eq!(one(six), (Gpu::Amd(0x942), Some("MI300X"), Some("0000:9c:00.0".to_owned())));
        let five = "GPU[3] : Card series: Instinct MI210\nGPU[3] : Card model: 0x0c34\n";
        assert_eq!(one(five), (Gpu::Amd(0x90a), None, None));
        assert_eq!(one("GPU 3 : Card series: Instinct MI250X\n"), (Gpu::Amd(0x90a), Some("MI250X"), None));
        assert_eq!(one("GPU[3] : GFX Version: gfx908\n"), (Gpu::Amd(0x908), None, None));
        let table = "3       5     0x74a2,   11217  41.0°C      155.0W    NPS1, SPX, 0        95Mhz\n";
        assert_eq!(one(table), (Gpu::Amd(0x942), Some("MI308X"), None));
        for nothing in [
            "GPU[3] : Card Series: N/A\n",
            "GPU[3]\n",
            "GPU[3] :\n",
            "GPU[] : a: b\n",
            "3 5 x\n",
            "GPU[3] : Card Series: A100 SXM4\n",
        ] {
            assert_eq!(one(nothing), (Gpu::Unknown, None, None), "{nothing}");
        }
    }
}
