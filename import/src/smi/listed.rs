//! The GPUs that `nvidia-smi -L` or `nvidia-smi` itself lists beside the matrix: their models, and bus ids.
//!
//! ```text
//! GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)
//! |   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
//! ```

use std::collections::BTreeMap;

use crate::bus::BusId;
use crate::gpu::Gpu;
use crate::module::Module;

/// A GPU of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) bus: Option<BusId>,
}

impl Listed {
    /// Its generation.
    pub(super) fn gpu(&self) -> Gpu {
        Gpu::of_product(&self.name)
    }

    /// The model, where it is a module with links to others. `nvidia-smi topo -mp` leaves these out.
    pub(super) fn module(&self) -> Option<Module> {
        Module::of_name(&self.name)
    }
}

/// The GPUs of a text by number; of two of one number the first, with a bus id where one has it.
pub(super) fn read(text: &str) -> BTreeMap<u32, Listed> {
    let mut all: BTreeMap<u32, Listed> = BTreeMap::new();
    for (number, listed) in text.lines().filter_map(|line| of_list(line).or_else(|| of_table(line))) {
        let known = all.entry(number).or_insert_with(|| listed.clone());
        known.bus = known.bus.or(listed.bus);
    }
    all
}

/// Whether a line lists a GPU.
pub(super) fn is_row(line: &str) -> bool {
    of_list(line).or_else(|| of_table(line)).is_some()
}

fn of_list(line: &str) -> Option<(u32, Listed)> {
    let (number, rest) = line.trim().strip_prefix("GPU ")?.split_once(": ")?;
    let (name, _) = rest.split_once(" (UUID")?;
    Some((number.parse().ok()?, Listed { name: cut(name), bus: None }))
}

/// A row of the table: the number and the name stand in the first column, before whether persistence is on, the bus id in the second.
fn of_table(line: &str) -> Option<(u32, Listed)> {
    let mut columns = line.trim().strip_prefix('|')?.split('|');
    let (first, second) = (columns.next()?.trim(), columns.next()?.trim());
    let bus = BusId::read(second.split(' ').next()?)?;
    let (number, rest) = first.split_once(' ')?;
    let name =
        rest.trim().rsplit_once(' ').filter(|(_, last)| matches!(*last, "On" | "Off" | "N/A")).map(|(name, _)| name)?;
    Some((number.parse().ok()?, Listed { name: cut(name), bus: Some(bus) }))
}

fn cut(name: &str) -> String {
    name.trim().chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let table = "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:2D:00.0 Off |                    0 |\n\
                     | N/A   31C    P0             72W /  700W |       0MiB /  81559MiB |      0%      Default |\n\
                     |    0   N/A  N/A      2211      C   python                           12MiB |\n";
        let list = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-2)\n  MIG 1g.10gb Device 0: (UUID: MIG-3)\n";
        let of = |text: &str| {
            let all = read(text).into_iter();
            all.map(|(n, l)| (n, l.name.clone(), l.bus.map(|bus| bus.to_string()), l.gpu())).collect::<Vec<_>>()
        };
        let h100 = || "NVIDIA H100 80GB HBM3".to_owned();
        assert_eq!(of(table), [(1, h100(), Some("0000:2d:00.0".to_owned()), Gpu::Nvidia(90))]);
        assert_eq!(of(list).len(), 2);
        assert_eq!(of(list)[0], (0, "NVIDIA A100-SXM4-80GB".to_owned(), None, Gpu::Nvidia(80)));
        assert_eq!(of(&format!("{list}{table}"))[1].2.as_deref(), Some("0000:2d:00.0"));
        assert!(of("GPU 0: \n| x | y |\n||\n|\nGPU x: a (UUID: b)\n").is_empty());
    }
}
