//! The formats of dumps.

use std::fmt;

/// What a dump is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    /// Topology XML of NCCL or RCCL.
    Nccl,
    /// XML of hwloc 2 or 3.
    Hwloc,
    /// The matrix of `nvidia-smi topo -m`.
    NvidiaSmi,
    /// The output of `rocm-smi --showtopo`.
    RocmSmi,
    /// `lspci -tv` or `lspci -vv`.
    Lspci,
}

impl Format {
    /// Every format, in the order in which lists name them.
    pub const ALL: [Self; 5] = [Self::Nccl, Self::Hwloc, Self::NvidiaSmi, Self::RocmSmi, Self::Lspci];

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nccl => "nccl",
            Self::Hwloc => "hwloc",
            Self::NvidiaSmi => "nvidia-smi",
            Self::RocmSmi => "rocm-smi",
            Self::Lspci => "lspci",
        }
    }

    /// The command that makes a dump which says more, or the best one of this kind. A preset is a file that was written for NCCL to
    /// read.
    pub(crate) fn better_dump(self, is_preset: bool) -> &'static str {
        match self {
            Self::Nccl if is_preset => {
                "this is a static preset (no GPU has a `<gpu>`), not a dump of the running machine: NCCL adds NVLinks and devices when it \
                 reads it. Run any NCCL or RCCL program, such as all_reduce_perf, on all GPUs of the machine with \
                 `NCCL_TOPO_DUMP_FILE=topology.xml` in its environment, and import topology.xml"
            }
            Self::Nccl => {
                "this is the most exact kind of dump; for another machine: `NCCL_TOPO_DUMP_FILE=topology.xml` in the \
                 environment of any NCCL or RCCL program, such as all_reduce_perf, run on all GPUs of the machine"
            }
            _ => {
                "run any NCCL or RCCL program, such as all_reduce_perf, on all GPUs of the machine with \
                 `NCCL_TOPO_DUMP_FILE=topology.xml` in its environment, and import topology.xml"
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nccl => "NCCL topology XML",
            Self::Hwloc => "hwloc XML",
            Self::NvidiaSmi => "nvidia-smi topo -m",
            Self::RocmSmi => "rocm-smi --showtopo",
            Self::Lspci => "lspci",
        })
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.word() == text).ok_or_else(|| format!("no dump is called `{text}`"))
    }
}
